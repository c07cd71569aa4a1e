package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

//go:embed reference.html
var referenceHTML string

//go:embed reference.css
var referenceCSS []byte

var stylesheet = slices.Concat(htmlpage.Tokens, referenceCSS)

// sampleServer is the server's address in the printed page. Each response replaces it.
const sampleServer = "http://127.0.0.1:8080"

// pagePolicy lets the page load coffer's own stylesheet and typeface, and nothing else: no script,
// no foreign host.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

type refGroup struct {
	Name, About string
	Ops         []refOp
}

type refOp struct {
	*op.Op
	FullPath string
	Example  string
	Answer   string
}

// Parameters returns the inputs with the place where HTTP carries them.
func (r refOp) Parameters() []op.Prop { return r.In.Props }

// Command returns the op's command on the command line.
func (r refOp) Command() string { return strings.ReplaceAll(r.Name, ".", " ") }

// reference returns the API reference as one page without script, so that it reads the same
// offline, in a text browser and under the strictest policy.
func reference(ops []*op.Op, raw []Raw, about map[string]string, version string) ([]byte, error) {
	var groups []*refGroup
	at := map[string]*refGroup{}
	for _, o := range ops {
		if o.Route == "" {
			continue
		}
		if at[o.Group()] == nil {
			at[o.Group()] = &refGroup{Name: o.Group(), About: about[o.Group()]}
			groups = append(groups, at[o.Group()])
		}
		answer := ""
		if o.TextOut == "" && o.Status != http.StatusNoContent {
			b, err := json.MarshalIndent(sample(o.Out, o.Out.Description), "", "  ")
			if err != nil {
				return nil, err
			}
			answer = string(b)
		}
		g := at[o.Group()]
		g.Ops = append(g.Ops, refOp{Op: o, FullPath: Prefix + o.Path, Example: curl(o), Answer: answer})
	}
	type code struct {
		Code   errs.Code
		Status int
	}
	var codes []code
	for _, c := range errs.Codes() {
		codes = append(codes, code{c, c.Status()})
	}
	t, err := template.New("reference").Parse(referenceHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Icon": htmlpage.Icon.Path, "Groups": groups, "Codes": codes, "Raw": raw,
		"Contract": ContractVersion, "Version": version,
	})
	return b.Bytes(), err
}

// curl returns a call that a reader can copy.
func curl(o *op.Op) string {
	path, query := Prefix+o.Path, []string{}
	body := op.Tree{}
	for _, p := range o.In.Props {
		v := sample(p.Schema, p.Name)
		switch p.In {
		case op.InPath:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(v))
		case op.InQuery:
			if p.Required {
				query = append(query, p.Name+"="+fmt.Sprint(v))
			}
		case op.InBody:
			if p.Required || p.Example != nil {
				body.Add(p.Name, v)
			}
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	var b strings.Builder
	b.WriteString("curl")
	if o.Method != http.MethodGet {
		b.WriteString(" -X " + o.Method)
	}
	b.WriteString(` "$COFFER_SERVER` + path + `"`)
	if o.Scope != op.Open {
		b.WriteString(` -H "X-API-Key: $COFFER_API_KEY"`)
	}
	if field, kind := o.TextBody(); field != "" {
		b.WriteString(` \` + "\n  -H 'Content-Type: " + kind + "' --data-binary @categories.tsv")
	} else if len(body) > 0 {
		j, err := json.Marshal(body)
		if err == nil {
			b.WriteString(` \` + "\n  -H 'Content-Type: application/json' -d '" + string(j) + "'")
		}
	}
	return b.String()
}

// sample returns a plausible value of the schema.
func sample(s *op.Schema, name string) any {
	switch {
	case s.Example != nil:
		return s.Example
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case "object":
		t := op.Tree{}
		for _, p := range s.Props {
			v := sample(p.Schema, p.Name)
			t = append(t, op.Member{Key: p.Name, Value: v})
		}
		return t
	case "array":
		return []any{sample(s.Items, name)}
	case "integer":
		return 1
	case "number":
		return json.Number("12.50")
	case "boolean":
		return false
	case "string":
		if s.Format == "uuid" {
			return "019a3c5e-4000-7000-8d9c-f63a02285355"
		}
		if name == "short_id" || name == "id" {
			return "k3xK9a2Q"
		}
		return name
	}
	return nil
}
