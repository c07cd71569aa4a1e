package hijack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// A route is an op as an attacker uses it over REST.
type route struct {
	*op.Op
	schema map[string]any
}

// title returns the name of a route in the counts.
func (r route) title() string { return r.Method + " " + r.Path }

// routesOf returns the ops that have a route, with the schemas in the API document.
func routesOf(t *testing.T, ops []*op.Op) []route {
	t.Helper()
	var out []route
	for _, o := range ops {
		if o.Route == "" {
			continue
		}
		printed, err := json.Marshal(o.In.JSON(func(*op.Schema) string { return "" }))
		if err != nil {
			t.Fatal(err)
		}
		r := route{Op: o}
		if err := json.Unmarshal(printed, &r.schema); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// A blow is one call of an attacker and its result.
type blow struct {
	name   string
	args   map[string]any
	said   string // the whole response
	code   string // the error's code; "" if the call succeeded
	broken bool   // no client could expect this response
}

// call makes one call over REST.
func (a *attacker) call(ctx context.Context, o route) blow {
	args, _ := a.object(o.Name, o.schema, 0).(map[string]any)
	delete(args, "wait") // waiting would only slow the test down
	if a.IntN(40) == 0 {
		args["surprise"] = a.text()
	}
	if strings.Count(o.Path, "{") > 1 && a.IntN(8) > 0 {
		a.loot.whole(args)
	}
	path, query, body := o.Path, url.Values{}, map[string]any{}
	raw, kind := "", "application/json"
	for name, v := range args {
		p := o.In.Prop(name)
		switch {
		case p == nil:
			body[name] = v
		case p.In == op.InPath:
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(fmt.Sprint(v)), 1)
		case p.In == op.InQuery:
			query[name] = words(v)
		case p.In == op.InText:
			raw = fmt.Sprint(v)
			_, kind = o.TextBody()
		default:
			body[name] = v
		}
	}
	if strings.Contains(path, "{") {
		path = strings.NewReplacer("{", "", "}", "").Replace(path)
	}
	if raw == "" && o.Method != http.MethodGet && o.Method != http.MethodDelete {
		printed, _ := json.Marshal(body)
		raw = string(printed)
	}
	out := blow{name: o.title(), args: args}
	r, err := http.NewRequestWithContext(ctx, o.Method, a.url+"/api/v1"+path+"?"+query.Encode(), strings.NewReader(raw))
	if err != nil {
		out.code = "unsent" // the address cannot be sent
		return out
	}
	r.Header.Set("X-API-Key", a.key)
	if raw != "" {
		r.Header.Set("Content-Type", kind)
	}
	res, err := a.client.Do(r)
	if err != nil {
		out.said, out.code, out.broken = err.Error(), "protocol", true
		return out
	}
	answer, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	out.said = string(answer)
	if res.StatusCode < http.StatusBadRequest {
		var v any
		if json.Unmarshal(answer, &v) == nil {
			a.loot.learn(o.Name, o.Group(), v)
		}
		out.broken = err != nil
		return out
	}
	var face struct {
		Error struct{ Code string } `json:"error"`
	}
	_ = json.Unmarshal(answer, &face) // a body that is not a coffer error has no code
	out.code, out.broken = face.Error.Code, err != nil || face.Error.Code == "" ||
		res.StatusCode == http.StatusInternalServerError
	return out
}

// words returns a value in the form in which a query contains it.
func words(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = fmt.Sprint(w)
	}
	return out
}

// csv returns a bank's file or something similar: new rows, and rows that may exist already under
// another name.
func (a *attacker) csv() string {
	lines := []string{"Date,Description,Amount,Transaction ID"}
	for n := range 1 + a.IntN(6) {
		lines = append(lines, fmt.Sprintf("2026-%02d-%02d,%s,%d.%02d,%08x", 1+a.IntN(3), 1+n,
			[]string{"EVIL SHOP", "GROCER", "RENT"}[a.IntN(3)], a.IntN(90)-45, a.IntN(100),
			uint32(a.IntN(40))*2654435761))
	}
	for _, forged := range []string{
		"2026-01-01,EVIL SHOP,-12.50,f3a91c77", "2026-01-20,GROCER,-12.50,f3a91c77",
		"2026-01-02,RENT TO EVIL,-900.00,0b7d52e4", "2026-02-03,SALARY,-2500.00,c41e88aa",
	} {
		if a.IntN(4) == 0 {
			lines = append(lines, forged)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
