package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/mcp"
	"coffer/internal/surface/rest"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// TestGoldens compares the contract with committed files, so that every change of it is a diff that
// someone reviews.
func TestGoldens(t *testing.T) {
	t.Parallel()
	golden(t, "../../api/openapi.yaml", rest.Document(app.Menu(), app.RawMenu(), app.Groups, app.JobResults()).YAML())
	var tools []any
	for _, o := range app.Menu() {
		if o.Tool != "" {
			tools = append(tools, mcp.Describe(o))
		}
	}
	golden(t, "../../api/tools.json", pretty(tools))
	var codes strings.Builder
	for _, c := range errs.Codes() {
		fmt.Fprintf(&codes, "%d %s\n", c.Status(), c)
	}
	golden(t, "../../api/errors.txt", codes.String())
	golden(t, "testdata/help.txt", allHelp(t))
}

// allHelp returns the help of every command.
func allHelp(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	seen := map[string]bool{}
	var walk func(path []string)
	walk = func(path []string) {
		var page bytes.Buffer
		if code := app.Main(append(path, "--help"), strings.NewReader(""), &page, &page); code != 0 {
			t.Fatalf("coffer %s --help: exit %d", strings.Join(path, " "), code)
		}
		text := strings.TrimRight(page.String(), "\n")
		if seen[text] {
			return
		}
		seen[text] = true
		fmt.Fprintf(&out, "$ coffer %s\n%s\n\n", strings.Join(append(path, "--help"), " "), text)
		listing := false
		for line := range strings.Lines(text) {
			switch {
			case strings.HasSuffix(strings.TrimSpace(line), ":"):
				listing = !strings.HasPrefix(line, "Usage") && !strings.HasPrefix(line, "Examples") &&
					!strings.HasPrefix(line, "Flags") && !strings.HasPrefix(line, "Global")
			case listing && strings.HasPrefix(line, "  "):
				name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				if name != "help" && name != "completion" {
					walk(append(slices.Clip(path), name))
				}
			}
		}
	}
	walk(nil)
	return out.String()
}

var document = sync.OnceValues(func() (routers.Router, error) {
	results := app.JobResults()
	for _, kind := range []string{"count", "trouble"} { // kinds of jobs that only tests have
		results[kind] = []*op.Schema{op.SchemaOf[countWork]()}
	}
	b, err := json.Marshal(rest.Document(app.Menu(), app.RawMenu(), app.Groups, results))
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, err
	}
	doc.Servers = nil
	return gorillamux.NewRouter(doc)
})

// validateResponse checks a real response against the published document.
func validateResponse(t testing.TB, x exchange, r reply) {
	t.Helper()
	router, err := document()
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), x.method, "http://127.0.0.1"+x.path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	route, params, err := router.FindRoute(req)
	if err != nil {
		t.Errorf("%s %s is not in the document: %v", x.method, x.path, err)
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 r.status, Header: r.header, Body: io.NopCloser(strings.NewReader(r.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	if req.URL.Query().Has("fields") {
		// The document describes the whole record, and the query's fields parameter left out a part
		// of it.
		in.Options.ExcludeResponseBody = true
	}
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/tab-separated-values") {
		in.Options.ExcludeResponseBody = true // text has no schema
	}
	if err := openapi3filter.ValidateResponse(t.Context(), in); err != nil {
		t.Errorf("%s %s: the answer %d is not what the document says: %v", x.method, x.path, r.status, err)
	}
}

// TestResponseValidatorControl shows that the validation can fail.
func TestResponseValidatorControl(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reply{
		"wrong type":     {200, `{"id":1}`, http.Header{"Content-Type": {"application/json"}}},
		"missing field":  {200, `{"slug":"a"}`, http.Header{"Content-Type": {"application/json"}}},
		"unknown status": {418, `{}`, http.Header{"Content-Type": {"application/json"}}},
	} {
		probe := &recorder{TB: t}
		validateResponse(probe, exchange{method: "GET", path: "/api/v1/tags/needs-review"}, r)
		if !probe.failed {
			t.Errorf("%s was accepted", name)
		}
	}
}

type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

// componentVerbs are the first words in the names of request bodies: the verb comes before the
// noun.
var componentVerbs = []string{
	"Add", "Apply", "Bulk", "Categorize", "Create", "Erase", "Link", "Merge", "Patch", "Preview", "Put", "Rehearse",
	"Revert", "Revoke", "Set", "SignIn", "Start", "Sync", "Tag", "Undo", "Update",
}

// componentNouns are nouns that are not groups of the menu.
var componentNouns = []string{"ApiKey", "Device", "Error", "File", "Household", "LinkSession", "Login", "Note", "Token"}

// TestComponentsBeginWithTheirNoun: a component's name must show its subject without the package of
// its Go type. internal/surface/rest/names.go renames types that do not.
func TestComponentsBeginWithTheirNoun(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(rest.Document(app.Menu(), app.RawMenu(), app.Groups, app.JobResults()))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	begin := slices.Concat(componentVerbs, componentNouns)
	for group := range app.Groups {
		noun := ""
		for part := range strings.SplitSeq(group, "-") {
			noun += strings.ToUpper(part[:1]) + part[1:]
		}
		begin = append(begin, noun, strings.TrimSuffix(noun, "y")+"ies")
	}
	for name := range doc.Components.Schemas {
		if !slices.ContainsFunc(begin, func(noun string) bool { return strings.HasPrefix(name, noun) }) {
			t.Errorf("component %s does not begin with its noun; give it another name in internal/surface/rest/names.go", name)
		}
	}
	if len(doc.Components.Schemas) < 100 {
		t.Error("control: that is too few")
	}
}
