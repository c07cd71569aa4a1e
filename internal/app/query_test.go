package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

// malformedQueries are query strings that url.URL.Query reads only in part, without an error.
var malformedQueries = []string{
	"search=50%", "search=a;b", "%", "a=%zz", "limit=5;cursor=x", "search=%E2%8", "=%",
	"x;=1", ";",
}

// routePath returns the route's method and its path with an id in place of each variable.
func routePath(route string) (method, path string) {
	method, path, named := strings.Cut(route, " ")
	if !named {
		method, path = http.MethodGet, route
	}
	path = strings.ReplaceAll(path, "{$}", "")
	for strings.Contains(path, "{") {
		before, after, _ := strings.Cut(path, "{")
		_, after, _ = strings.Cut(after, "}")
		path = before + "k3xK9a2Q" + after
	}
	return method, path
}

// refusesQuery reports whether a response refuses the query string and says how to write it.
func refusesQuery(a formAnswer) bool {
	return a.status == http.StatusBadRequest && strings.Contains(a.body, "%25") && strings.Contains(a.body, "%3B")
}

// TestMalformedQueries: no route ignores a part of a query string that it cannot read. Ignoring a
// filter would widen the result.
func TestMalformedQueries(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 1)
	var routes []string
	for _, o := range b.ops {
		if o.Route != "" && !o.Own { // these ops check the session first, and this caller has none
			routes = append(routes, o.Method+" /api/v1"+o.Path)
		}
	}
	for _, r := range b.Rest().Raw {
		if r.Resource == "" { // these routes check the access token first, and this caller has none
			routes = append(routes, r.Route)
		}
	}
	passed := 0
	for _, route := range routes {
		method, path := routePath(route)
		for _, q := range malformedQueries {
			if a := b.serve(t, exchange{method: method, path: path + "?" + q}).read(); !refusesQuery(a) {
				t.Errorf("%s %s?%s: %d %.200s", method, path, q, a.status, a.body)
			}
		}
		// The control: without the malformed query, the same routes respond differently.
		if method == http.MethodGet && !strings.HasPrefix(path, "/mcp") {
			if a := b.serve(t, exchange{
				method: method, path: path,
				header: map[string]string{"Accept": "*/*"},
			}).read(); !refusesQuery(a) {
				passed++
			}
		}
	}
	if passed < 40 {
		t.Errorf("control: only %d routes answer otherwise without a malformed query", passed)
	}
	for _, path := range []string{
		"/api/v1/health", "/api/v1/health/live", "/api/v1/health/ready",
		"/api/v1/jobs/k3xK9a2Q/events",
	} {
		if a := b.serve(t, exchange{
			method: "GET",
			path:   path + "?verbose=1",
		}).read(); a.fault.Code != errs.ValidationError {
			t.Errorf("%s with a parameter: %d %.200s", path, a.status, a.body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if a := b.serve(t, exchange{
			method: method, path: "/api/v1/health/ready",
			header: map[string]string{"User-Agent": "kube-probe/1.33"},
		}); a.status != http.StatusOK {
			t.Errorf("an orchestrator's %s: %d %s", method, a.status, a.body)
		}
	}
	if a := b.serve(t, exchange{
		method: "GET", path: "/api/v1/tags?a=%",
		header: map[string]string{"X-API-Key": "wrong"},
	}); a.status != http.StatusUnauthorized {
		t.Errorf("a bad key is 401 whatever else is sent: %d %s", a.status, a.body)
	}
}

// oddNumbers are spellings of numbers that JSON does not allow but some parsers accept, and numbers
// at the ends of their ranges.
var oddNumbers = []string{
	"+5", "-5", "007", "-007", "+0", "-0", "00", ".5", "-.5", "+.5", "5.", "5.0", "05.50", "007.50", "1e2", "1E2",
	"1e-2", "0x10", "0b1", "1_000", "1,000", "1.234", "0.123456789", "1e-9", "1000000000",
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "2147483648", "-2147483649",
	"99999999999999999999", "9999999999.99", "-9999999999.99", "10000000000",
	"NaN", "Infinity", "-Infinity", "null", "true", "", " 5", "5 ", "٥", "५", "５", "−5", "5\u200b", "--5", "+-5", "5+",
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1",
}

// numberPlaces returns the numbers in an op's input.
func numberPlaces(o *op.Op) []formPlace {
	var out []formPlace
	var walk func(*op.Schema, []string)
	walk = func(s *op.Schema, path []string) {
		for _, p := range s.Props {
			at := append(slices.Clone(path), p.Name)
			switch formOne(p.Schema).Type {
			case "object":
				walk(formOne(p.Schema), at)
			case "integer", "number":
				out = append(out, formPlace{op: o, path: at, prop: p})
			}
		}
	}
	walk(o.In, nil)
	return out
}

// TestOddNumbers: every op accepts or refuses a number in any spelling, and never fails with an
// internal error. Each spelling is sent as text, and also as a JSON number if JSON allows it.
func TestOddNumbers(t *testing.T) { //nolint:tparallel // the group waits for its parallel parts, so that their counts can be compared
	t.Parallel()
	b := newFormBook(t, 50)
	var places, taken, refused atomic.Int64
	t.Run("places", func(t *testing.T) {
		for _, o := range b.ops {
			for _, p := range numberPlaces(o) {
				places.Add(1)
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					for _, spelled := range oddNumbers {
						values := []any{spelled}
						if json.Valid([]byte(spelled)) && spelled != "true" && spelled != "null" {
							values = append(values, json.Number(spelled))
						}
						for _, v := range values {
							cast := b.cast(o)
							for road, call := range b.formSurfaces(o) {
								a := call(t, o, p.args(v, cast.valid(t)))
								switch {
								case a.status >= http.StatusInternalServerError || a.fault.Code == errs.InternalError:
									t.Errorf("%.40q (%T) by %s: %d %.300s", spelled, v, road, a.status, a.body)
								case a.fault.Code != "":
									refused.Add(1)
								default:
									taken.Add(1)
								}
							}
						}
					}
				})
			}
		}
	})
	t.Logf("%d places, %d taken, %d refused", places.Load(), taken.Load(), refused.Load())
	if places.Load() < 40 || taken.Load() < 100 || refused.Load() < 1000 {
		t.Error("control: that is too few")
	}
}

// TestSpelledNumbersMeanThemselves: an accepted number has the value that its spelling says.
func TestSpelledNumbersMeanThemselves(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 9)
	for query, rows := range map[string]int{
		"limit=%2B5": 5, "limit=007": 7, "limit=-0": -1, "min_amount=.5": 9, "min_amount=-.5": 9, "max_amount=.5": 0,
		"min_amount=%2B5": 0, "min_amount=001.00": 9, "max_amount=%2B1.00": 9, "limit=5.": -1, "min_amount=1e0": -1,
	} {
		a := b.serve(t, exchange{method: "GET", path: "/api/v1/transactions?" + query}).read()
		page, _ := a.value.(map[string]any)
		list, _ := page["transactions"].([]any)
		if a.status == http.StatusOK && len(list) != rows || a.status != http.StatusOK &&
			(rows >= 0 || a.fault.Code != errs.ValidationError) {
			t.Errorf("%s: %d with %d rows, not %d: %.200s", query, a.status, len(list), rows, a.body)
		}
	}
}
