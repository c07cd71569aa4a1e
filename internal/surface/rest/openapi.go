package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"coffer/internal/platform/op"
)

// ContractVersion is the version of the API that the document describes.
const ContractVersion = "1.0.0"

// Document returns the OpenAPI 3.1 description of ops and raw routes. It is the same for every
// build with the same ops. groups describes each noun, and results the results of jobs by kind.
func Document(ops []*op.Op, raw []Raw, groups map[string]string, results map[string][]*op.Schema) op.Tree {
	d := &document{
		schemas: map[string]op.Tree{}, shapes: map[string]string{}, statuses: map[int]bool{}, results: results,
	}
	paths := map[string]map[string]op.Tree{}
	add := func(path, method string, t op.Tree) {
		if paths[path] == nil {
			paths[path] = map[string]op.Tree{}
		}
		paths[path][strings.ToLower(method)] = t
	}
	used := map[string]bool{}
	for _, o := range ops {
		if o.Route != "" {
			used[o.Group()] = true
			add(Prefix+o.Path, o.Method, d.operation(o))
		}
	}
	for _, r := range raw {
		if r.Summary != "" {
			method, path, _ := strings.Cut(r.Route, " ")
			group, _, _ := strings.Cut(r.Name, ".")
			used[group] = true
			add(path, method, d.raw(r))
		}
	}
	var tags []op.Tree
	for _, g := range sorted(used) {
		tags = append(tags, op.Tree{{Key: "name", Value: g}, {Key: "description", Value: groups[g]}})
	}
	return op.Tree{
		{Key: "openapi", Value: "3.1.0"},
		{Key: "info", Value: op.Tree{
			{Key: "title", Value: "coffer"},
			{Key: "version", Value: ContractVersion},
			{Key: "summary", Value: "Your household's finances: exact, private and reversible."},
			{
				Key: "description",
				Value: "Amounts are exact decimals; positive is money out. Every record has a UUID `id` and an " +
					"8-character `short_id`; either is accepted wherever an id is expected. Unknown fields and " +
					"parameters are errors. In a PATCH, omitted fields stay and null clears a field.",
			},
			{Key: "license", Value: op.Tree{
				{Key: "name", Value: "Apache-2.0"},
				{Key: "identifier", Value: "Apache-2.0"},
			}},
		}},
		{Key: "servers", Value: []op.Tree{{
			{Key: "url", Value: "/"},
			{Key: "description", Value: "The server that serves this document"},
		}}},
		{Key: "security", Value: []op.Tree{
			{{Key: "apiKey", Value: []string{}}},
			{{Key: "session", Value: []string{}}},
		}},
		{Key: "tags", Value: tags},
		{Key: "paths", Value: orderedPaths(paths)},
		{Key: "components", Value: d.components()},
	}
}

type document struct {
	schemas  map[string]op.Tree
	shapes   map[string]string // the shape of each schema, to detect two with the same name
	statuses map[int]bool
	results  map[string][]*op.Schema // of jobs, by kind
}

// ref returns a struct's component and prints it on its first use.
func (d *document) ref(s *op.Schema) string {
	if s.Whole != nil { // its list explains that fields narrows it
		s = s.Whole
	}
	name := component(s.Name)
	if len(s.Spelled) > 0 {
		for _, m := range s.Spelled {
			d.schemas[m.Key], _ = m.Value.(op.Tree)
		}
		return schemaPath + name
	}
	var shape strings.Builder
	for _, p := range s.Props {
		shape.WriteString(p.Name + " " + p.Type + " " + p.Schema.Name + "\n")
	}
	if prior, ok := d.shapes[name]; ok && prior != shape.String() {
		panic("rest: two shapes share the name " + name)
	}
	d.shapes[name] = shape.String()
	if _, done := d.schemas[name]; !done {
		d.schemas[name] = nil // a placeholder, so that a recursive schema becomes a reference
		plain := *s
		plain.Nullable = false
		d.schemas[name] = plain.Inside(d.ref, false)
		if name == jobComponent {
			d.schemas[name] = d.job(d.schemas[name])
		}
	}
	return schemaPath + name
}

func (d *document) operation(o *op.Op) op.Tree {
	t := op.Tree{
		{Key: "operationId", Value: o.Name},
		{Key: "tags", Value: []string{o.Group()}},
		{Key: "summary", Value: strings.TrimSuffix(o.Summary, ".")},
	}
	t.Add("description", describe(o))
	t.Add("x-scope", o.Scope.String())
	if o.AdminsOnly() {
		t.Add("x-admin", true)
	}
	if o.Proof {
		t.Add("x-proof", true)
	}
	t.Add("x-people", o.People.JSON())
	t.Add("x-tool", o.Tool)
	switch {
	case o.Scope == op.Open:
		t = append(t, op.Member{Key: "security", Value: []op.Tree{}})
	case o.Own:
		t = append(t, op.Member{Key: "security", Value: []op.Tree{{{Key: "session", Value: []string{}}}}})
	}
	if params := d.parameters(o); len(params) > 0 {
		t.Add("parameters", params)
	}
	t.Add("requestBody", d.body(o))
	t.Add("responses", d.responses(o))
	return t
}

func describe(o *op.Op) string {
	text := o.Summary
	switch o.Scope {
	case op.Full:
		text += " Requires a key with scope full_access."
	case op.AnyKey:
		text += " Requires any valid key."
	case op.Open:
		text += " Requires no key."
	}
	if o.Own {
		text += " For signed-in members of every role; with a key the response is 404."
	}
	if o.AdminsOnly() {
		text += " Only admins can do this."
	}
	if o.Proof {
		text += " Requires a sign-in within the last five minutes; otherwise the error is PROOF_REQUIRED."
	}
	if rule := o.ForAgents(); rule != "" {
		text += " " + strings.ToUpper(rule[:1]) + rule[1:] + ", unless their key can administer."
	}
	if o.Tool != "" {
		text += fmt.Sprintf(" Agents call it as the tool `%s`.", o.Tool)
	}
	return text
}

func (d *document) body(o *op.Op) op.Tree {
	if field, kind := o.TextBody(); field != "" {
		content := op.Tree{{Key: kind, Value: op.Tree{{Key: "schema", Value: op.Tree{{Key: "type", Value: "string"}}}}}}
		if o.TakesFile() {
			whole := *o.In
			whole.Props = slices.DeleteFunc(slices.Clone(o.In.Props), func(p op.Prop) bool { return p.In == op.InPath })
			content = append(content, op.Member{
				Key:   jsonType,
				Value: op.Tree{{Key: "schema", Value: whole.Inside(d.ref, true)}},
			})
		}
		return op.Tree{{Key: "required", Value: true}, {Key: "content", Value: content}}
	}
	fields := *o.In
	fields.Props = slices.DeleteFunc(slices.Clone(o.In.Props), func(p op.Prop) bool { return p.In != op.InBody })
	if len(fields.Props) == 0 {
		return nil
	}
	required := slices.ContainsFunc(fields.Props, func(p op.Prop) bool { return p.Required }) ||
		o.Method == http.MethodPatch
	printed := fields.Inside(d.ref, true)
	if o.Method == http.MethodPatch {
		printed.Add("minProperties", 1)
	}
	name := component(fields.Name)
	if prior, ok := d.schemas[name]; ok && fmt.Sprint(prior) != fmt.Sprint(printed) {
		panic("rest: two bodies share the name " + name)
	}
	d.schemas[name] = printed
	ref := op.Tree{{Key: "$ref", Value: schemaPath + name}}
	return op.Tree{{Key: "required", Value: required}, {
		Key:   "content",
		Value: op.Tree{{Key: "application/json", Value: op.Tree{{Key: "schema", Value: ref}}}},
	}}
}

func (d *document) responses(o *op.Op) op.Tree {
	ok := op.Tree{{Key: "description", Value: "Done"}}
	var headers op.Tree
	if o.IsRecord() {
		headers.Add("ETag", op.Tree{{Key: "$ref", Value: "#/components/headers/ETag"}})
	}
	if o.Writes {
		headers.Add(op.ChangeHeader, op.Tree{{Key: "$ref", Value: "#/components/headers/Change"}})
	}
	ok.Add("headers", headers)
	switch {
	case o.Status == http.StatusNoContent:
	case o.TextOut != "":
		ok.Add("content", op.Tree{{
			Key:   o.TextOut,
			Value: op.Tree{{Key: "schema", Value: op.Tree{{Key: "type", Value: "string"}}}},
		}})
	default:
		ok.Add("content", op.Tree{{Key: "application/json", Value: op.Tree{{Key: "schema", Value: d.answer(o.Out)}}}})
	}
	t := op.Tree{{Key: strconv.Itoa(o.Status), Value: ok}}
	if o.Status == http.StatusAccepted {
		t = op.Tree{{Key: "200", Value: ok}, {
			Key: "202",
			Value: append(op.Tree{{Key: "description", Value: "Accepted; the job continues after this response"}},
				ok[1:]...),
		}}
	}
	return append(t, d.failures(failuresOf(o))...)
}

// answer prints an op's output. Its objects are open, so that a new field breaks no client.
func (d *document) answer(s *op.Schema) op.Tree {
	if s.Name != "" {
		return op.Tree{{Key: "$ref", Value: d.ref(s)}}
	}
	return s.Inside(d.ref, false)
}

func failuresOf(o *op.Op) []int {
	list := []int{
		http.StatusBadRequest, http.StatusNotAcceptable, http.StatusInternalServerError,
		http.StatusServiceUnavailable,
	}
	if o.Scope != op.Open {
		list = append(list, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if o.Scope == op.Full || o.Own && o.Writes {
		list = append(list, http.StatusForbidden)
	}
	if strings.Contains(o.Path, "{") || o.Own || o.Name == "key.me" {
		list = append(list, http.StatusNotFound)
	}
	if o.Writes {
		list = append(list, http.StatusConflict)
	}
	if o.Method != http.MethodGet { // a body, even if the op only reads
		list = append(list, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if (o.Seals || o.Provided) && !o.Asks() {
		list = append(list, http.StatusUnprocessableEntity)
	}
	if o.Asks() {
		list = append(list, http.StatusUnprocessableEntity, http.StatusBadGateway, http.StatusGatewayTimeout)
	}
	if o.Method == http.MethodPatch || o.Method == http.MethodPut {
		list = append(list, http.StatusPreconditionFailed)
	}
	if o.Method == http.MethodGet && o.IsRecord() {
		list = append(list, http.StatusNotModified)
	}
	sort.Ints(list)
	return list
}

func (d *document) failures(list []int) op.Tree {
	var t op.Tree
	for _, status := range list {
		d.statuses[status] = true
		t.Add(strconv.Itoa(status), op.Tree{{Key: "$ref", Value: "#/components/responses/" + responseName(status)}})
	}
	return t
}

// called returns a parameter's name in words, for a parameter without a description.
func called(name string) string {
	return strings.ReplaceAll(strings.ToUpper(name[:1])+name[1:], "_", " ")
}

func (d *document) raw(r Raw) op.Tree {
	group, _, _ := strings.Cut(r.Name, ".")
	t := op.Tree{
		{Key: "operationId", Value: r.Name},
		{Key: "tags", Value: []string{group}},
		{Key: "summary", Value: strings.TrimSuffix(r.Summary, ".")},
		{Key: "description", Value: r.Summary},
		{Key: "x-scope", Value: r.Scope.String()},
	}
	var parameters []op.Tree
	for _, m := range pathVariable.FindAllStringSubmatch(r.Route, -1) {
		parameters = append(parameters, op.Tree{
			{Key: "name", Value: m[1]},
			{Key: "in", Value: "path"},
			{Key: "description", Value: called(m[1])},
			{Key: "required", Value: true},
			{Key: "schema", Value: op.Tree{{Key: "type", Value: "string"}}},
		})
	}
	missing := len(parameters) > 0
	if r.Query != nil {
		for _, p := range r.Query.Props {
			parameters = append(parameters, d.parameter(p, op.InQuery))
		}
	}
	if r.In != nil {
		kind := jsonType
		if r.Form {
			kind = "application/x-www-form-urlencoded"
		}
		t.Add("requestBody", op.Tree{
			{Key: "required", Value: true},
			{Key: "content", Value: op.Tree{{Key: kind, Value: op.Tree{{Key: "schema", Value: d.answer(r.In)}}}}},
		})
	}
	failures := append([]int{http.StatusBadRequest, http.StatusServiceUnavailable}, r.Refusals...)
	if len(parameters) > 0 {
		t.Add("parameters", parameters)
	}
	if missing {
		failures = append(failures, http.StatusNotFound)
	}
	if r.Scope == op.Open {
		t = append(t, op.Member{Key: "security", Value: []op.Tree{}})
	} else {
		failures = append(failures, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if r.Out == nil && r.Type == "" {
		t.Add("responses", append(op.Tree{{Key: "204", Value: op.Tree{{Key: "description", Value: "Done"}}}},
			d.failures(failures)...))
		return t
	}
	ok := op.Tree{{Key: "description", Value: "Done"}}
	body := op.Tree{{Key: r.Type, Value: op.Tree{{Key: "schema", Value: op.Tree{{Key: "type", Value: "string"}}}}}}
	if r.Type == "" {
		body = op.Tree{{Key: "application/json", Value: op.Tree{{Key: "schema", Value: d.answer(r.Out)}}}}
	}
	ok.Add("content", body)
	responses := op.Tree{{Key: "200", Value: ok}}
	for _, status := range failures {
		if status == http.StatusServiceUnavailable && group == "health" {
			responses.Add("503", op.Tree{
				{Key: "description", Value: "Not ready; the body says why"},
				{Key: "content", Value: body},
			})
			continue
		}
		responses = append(responses, d.failures([]int{status})...)
	}
	t.Add("responses", responses)
	return t
}

var pathVariable = regexp.MustCompile(`\{(\w+)\}`)

func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

func orderedPaths(paths map[string]map[string]op.Tree) op.Tree {
	var t op.Tree
	for _, path := range sorted(keySet(paths)) {
		var item op.Tree
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			item.Add(method, paths[path][method])
		}
		t.Add(path, item)
	}
	return t
}

func keySet[V any](m map[string]V) map[string]bool {
	set := make(map[string]bool, len(m))
	for k := range m {
		set[k] = true
	}
	return set
}

func sorted[K int | string](set map[K]bool) []K {
	list := make([]K, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// Papers are the printed descriptions of the interface. They are the same for every server in a
// program.
type Papers struct {
	JSON, YAML []byte // the OpenAPI document
	Page       []byte // the reference, for people
}

// Print prints the descriptions of ops and routes.
func Print(ops []*op.Op, raw []Raw, groups map[string]string, results map[string][]*op.Schema, version string) (Papers,
	error,
) {
	doc := Document(ops, raw, groups, results)
	asJSON, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return Papers{}, fmt.Errorf("print the OpenAPI document: %w", err)
	}
	page, err := reference(ops, raw, groups, version)
	if err != nil {
		return Papers{}, fmt.Errorf("print the API reference: %w", err)
	}
	return Papers{asJSON, []byte(doc.YAML()), page}, nil
}

// documents serves the OpenAPI document and the reference page to anyone, without requests to other
// servers. They are printed on the first request.
func (s *Server) documents(mux *routes) {
	papers := s.Papers
	if papers == nil {
		papers = sync.OnceValues(func() (Papers, error) { return Print(s.Ops, s.Raw, s.Groups, nil, s.Version) })
	}
	serve := func(route, kind string, part func(Papers, *http.Request) []byte) {
		mux.Handle(route, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, err := papers()
			if err != nil {
				panic(err) // the ops are at fault; tests find this
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("Content-Security-Policy", pagePolicy)
			_, _ = w.Write(part(p, r))
		}))
	}
	serve("GET /openapi.json", "application/json", func(p Papers, _ *http.Request) []byte { return p.JSON })
	serve("GET /openapi.yaml", "application/yaml", func(p Papers, _ *http.Request) []byte { return p.YAML })
	serve("GET /docs", "text/html; charset=utf-8", func(p Papers, r *http.Request) []byte {
		return bytes.Replace(p.Page, []byte(sampleServer), []byte(template.HTMLEscapeString(s.reached(r))), 1)
	})
	serve("GET /docs/style.css", "text/css; charset=utf-8", func(Papers, *http.Request) []byte { return stylesheet })
}

// plainHost matches a host with an optional port. A reader copies it into a shell.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)

// reached returns the address at which the reader reached this server, because that address works
// for the reader. For the host of the configured address it returns the configured address, because
// a request through a reverse proxy that ends TLS looks like plain HTTP.
func (s *Server) reached(r *http.Request) string {
	base := cmp.Or(s.Base, sampleServer)
	if _, host, _ := strings.Cut(base, "://"); host == r.Host || !plainHost.MatchString(r.Host) {
		return base
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
