package oauth

import (
	"errors"
	"maps"
	"net/http"
	"net/url"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

// A request is a program's request for access, which a member must decide.
type request struct {
	client   auth.Client
	redirect *url.URL
	scope    op.Scope
	resource string
	values   url.Values // as received
}

// parameters are the parameters that a request may have, each at most once.
var parameters = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
	"code_challenge_method", "resource",
}

// findClient returns the client and the address to send the browser back to. Errors here are shown
// to the member and not sent to the program, because the address may not belong to the client.
func (s *Server) findClient(r *http.Request, actor op.Actor, v url.Values) (request, error) {
	if fault := repeated(v, parameters...); fault != "" {
		return request{}, errs.New(errs.ValidationError, "the program that sent you here made a mistake: %s", fault)
	}
	client, err := s.find(r, actor, v.Get("client_id"))
	if err != nil {
		return request{}, err
	}
	if !matches(client.RedirectURIs, v.Get("redirect_uri")) {
		return request{}, errs.New(errs.ValidationError,
			"the program that sent you here wants the response at an address it did not register; do not continue")
	}
	u, _ := redirectable(v.Get("redirect_uri"))
	return request{client: client, redirect: u, values: v}, nil
}

func (s *Server) find(r *http.Request, actor op.Actor, name string) (auth.Client, error) {
	known, err := s.auth().Client(r.Context(), name)
	switch {
	case err == nil && known.Fresh:
		return known, nil
	case err != nil && !errors.Is(err, auth.ErrNoClient):
		return auth.Client{}, err
	case !isDocument(name):
		return auth.Client{}, errs.New(errs.ValidationError,
			"the program that sent you here is not known; remove coffer there and add it again")
	}
	if err := s.auth().MayRead(r.Context(), *actor.Member); err != nil {
		return auth.Client{}, err
	}
	client, lifetime, err := s.Docs.Read(r.Context(), name)
	if err != nil {
		return auth.Client{}, err
	}
	return s.auth().KeepDocument(r.Context(), client, lifetime)
}

// check checks the rest of a request by the protocol. It returns the protocol's name of the error
// and a description, which are sent to the program.
func (s *Server) check(q *request) (fault, why string) {
	v := q.values
	var ok bool
	if q.scope, ok = parseScope(v.Get("scope")); !ok {
		return "invalid_scope", "scope must be read, or read and write"
	}
	q.resource = v.Get("resource")
	if q.resource == "" {
		q.resource = s.Resource() // clients of older revisions omit the resource
	}
	switch challenge := v.Get("code_challenge"); {
	case v.Get("response_type") != "code":
		return "unsupported_response_type", "response_type must be code"
	case v.Get("code_challenge_method") != "S256" || len(challenge) != 43 || !unreserved(challenge):
		return "invalid_request", "code_challenge is required, with code_challenge_method=S256"
	case q.resource != s.Resource() && q.resource != s.API():
		return "invalid_target", "the resource must be " + s.Resource()
	}
	return "", ""
}

// back sends the browser back to the program, with the program's state and our issuer.
func (s *Server) back(w http.ResponseWriter, r *http.Request, q request, with url.Values) {
	u := *q.redirect
	v := u.Query()
	maps.Copy(v, with)
	if state, ok := q.values["state"]; ok {
		v["state"] = state
	}
	v.Set("iss", s.issuer())
	u.RawQuery = v.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}

// question returns the address of the page that asks a member the same question again.
func question(v url.Values) string {
	asked := url.Values{}
	for _, name := range parameters {
		if values, ok := v[name]; ok {
			asked[name] = values
		}
	}
	return issuerPath + "/authorize?" + asked.Encode()
}

// read returns a signed-in member's request. If ok is false, the response has been sent, or err is
// set.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v url.Values) (q request, actor op.Actor, ok bool,
	err error,
) {
	if actor, ok, err = s.Desk.Member(w, r, question(v)); !ok {
		return request{}, actor, false, err
	}
	if err := op.Confidential(actor); err != nil {
		return request{}, actor, false, err
	}
	if q, err = s.findClient(r, actor, v); err != nil {
		return request{}, actor, false, err
	}
	if fault, why := s.check(&q); fault != "" {
		s.back(w, r, q, url.Values{"error": {fault}, "error_description": {why}})
		return request{}, actor, false, nil
	}
	return q, actor, true, nil
}

var consentBody = htmlpage.Parse(`{{template "spark"}}
<p class="lead"><strong>{{.Title}}</strong> wants to access your household's data on your behalf.</p>
<dl>
{{with .Vouched}}<dt>Verified by</dt><dd>{{.}}</dd>{{end}}
<dt>Sends access to</dt><dd><strong>{{.Place}}</strong></dd>
<dt>Requested access</dt><dd>{{if .Asks}}View and edit{{else}}View only{{end}}</dd>
<dt>Signed in as</dt><dd>{{.Member}}</dd>
</dl>
{{if not .Vouched}}<p class="warn">This name isn't verified. Check where access is sent before you continue.</p>{{end}}
{{if .Local}}<p class="warn">Access goes to an app on this computer. Continue only if you just started this yourself.</p>{{end}}
<form class="deliberate" method="post" action="{{.Action}}">
{{range .Fields}}<input type="hidden" name="{{.Name}}" value="{{.Value}}">{{end}}
{{if .Write}}<fieldset><legend>Permissions</legend>
<label class="choice"><input type="radio" name="grant" value="read" checked> View only <small>Reads accounts, transactions, budgets and reports. Changes nothing.</small></label>
<label class="choice"><input type="radio" name="grant" value="write" data-choice="edit"> View and edit <small>Changes are recorded and can be undone.</small></label>
</fieldset>{{end}}
<p class="dim">{{if .Write}}Many assistants ask only once. To change this later, connect the assistant again. {{end}}Your data goes to the provider of this assistant, and other tools in it could see what it reads. coffer can't move money.</p>
<div class="actions"><button class="quiet" name="decision" value="refuse">Deny</button><button name="decision" value="allow"><span data-if="view">Allow view only</span><span data-if="edit">Allow view and edit</span></button></div>
</form>
{{define "fine"}}<footer>You can revoke access anytime under <a href="/account/assistants">your assistants</a>.</footer>{{end}}`)

type field struct{ Name, Value string }

type consentPage struct {
	Title, Vouched, Place, Member, Action string
	Local                                 bool
	Asks                                  bool // the program requests changes
	Write                                 bool // the member may grant changes
	Fields                                []field
}

// ask shows a member the program, its address and the requested scope. Regardless of the requested
// scope, the member chooses between read and write, and must choose write explicitly. So a program
// that requests too much gains nothing. A program that requests too little can still get write
// access, although it will not ask again.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) error {
	q, actor, ok, err := s.read(w, r, r.URL.Query())
	if !ok {
		return err
	}
	p := consentPage{
		Title: q.client.Title, Place: shownAddress(q.redirect), Member: actor.Name,
		Action: issuerPath + "/authorize", Local: q.redirect.Scheme != "https",
	}
	p.Asks, p.Write = q.scope == op.Full, actor.Scope == op.Full
	if q.client.Kind == auth.Document {
		u, err := url.Parse(q.client.Name)
		if err != nil {
			return err
		}
		p.Vouched = u.Host
	}
	for _, name := range parameters {
		if v, ok := q.values[name]; ok {
			p.Fields = append(p.Fields, field{name, v[0]})
		}
	}
	return htmlpage.Page{
		Title: "Connect an assistant", Heading: "Connect " + p.Title + "?", Body: consentBody, Data: p,
		Allow: htmlpage.Sources{Form: []string{target(q.redirect)}, Opened: true},
	}.Write(w)
}

// decide carries out the member's choice. The whole request is checked again, because the form came
// through a browser.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	q, actor, ok, err := s.read(w, r, r.PostForm)
	if !ok {
		return err
	}
	if r.PostForm.Get("decision") != "allow" {
		s.back(w, r, q, url.Values{"error": {"access_denied"}, "error_description": {"the member refused"}})
		return nil
	}
	scope := op.Read
	if r.PostForm.Get("grant") == write {
		scope = actor.Scope // a viewer cannot grant more than reading
	}
	if scope == op.Full && !s.Desk.Proven(w, r, actor, question(q.values)) {
		return nil
	}
	code, err := s.auth().Consent(r.Context(), actor, auth.Wish{
		Client: q.client, Scope: scope, Resource: q.resource, RedirectURI: q.values.Get("redirect_uri"),
		Challenge: q.values.Get("code_challenge"),
	})
	if err != nil {
		return err
	}
	s.back(w, r, q, url.Values{"code": {code}})
	return nil
}
