// Package linkpage serves the page on which a person connects or reconnects a bank. Its token opens
// the page; no key is needed. The package must not distinguish providers, and leaves all decisions
// to package linksession.
package linkpage

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/connections/linksession"
	"coffer/internal/platform/errs"
	"coffer/internal/surface/htmlpage"
)

//go:embed link.js
var linkJS string

//go:embed start.js
var startJS string

// Script starts the widgets of providers that have no page of their own.
var Script = htmlpage.NewFile("link.js", "text/javascript; charset=utf-8", script())

// script returns the script: a common part, the parts of the providers, and the common start.
func script() []byte {
	parts := []string{linkJS}
	for _, s := range all.Specs {
		if s.Script != "" {
			parts = append(parts, s.Script)
		}
	}
	return []byte(strings.Join(append(parts, startJS), "\n"))
}

// MaxBody is the maximum size of a widget's result.
const MaxBody = 64 << 10

// Pages shows link sessions.
type Pages struct {
	Sessions *linksession.Sessions
	Request  func(*http.Request) string // the request's id in the log
	Log      *slog.Logger
}

// again is how often a page checks for changes.
const again = 3 * time.Second

// A view is the data that the templates show.
type view struct {
	linksession.Visit
	Bank       string
	Trouble    string
	ConfigJSON string
}

// asked is the name of the hidden field that marks a filled-in form. The names of its other fields
// are the provider's.
const asked = "coffer-form"

// Show writes the page in its current state.
func (p *Pages) Show(w http.ResponseWriter, r *http.Request) { p.show(w, r, nil) }

// show writes the page, with the faults in the values of its form.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, wrong error) {
	v, err := p.Sessions.Visit(r.Context(), r.PathValue("token"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	out, err := render(v, wrong)
	if err == nil {
		err = out.Because(wrong).Write(w)
	}
	if err != nil {
		p.fail(w, r, err)
	}
}

func render(v linksession.Visit, wrong error) (htmlpage.Page, error) {
	d := view{Visit: v, Bank: v.Institution.Plain()}
	title := "Connect a bank"
	if v.Reauth {
		title = "Reconnect your bank"
	}
	out := htmlpage.Page{Title: title, Data: &d}
	switch {
	case v.State == "done":
		out.Title, out.Body = "Bank connected", done
		if v.Reauth {
			out.Title = "Bank reconnected"
		}
		if v.RedirectURL != "" {
			out.Refresh, out.Next = again, v.RedirectURL
		}
	case v.State == "failed":
		out.Title, out.Body = "Bank not connected", failed
		if v.Reauth {
			out.Title = "Bank still needs reconnecting"
		}
		if v.Error != nil {
			d.Trouble = htmlpage.Sentence(v.Error.Message)
		}
	case v.Decide:
		out.Title, out.Body = "Connect this bank again?", decide
	case len(v.Fields) > 0:
		out.Body = form
		if face := errs.Public(wrong, ""); face != nil {
			d.Trouble = htmlpage.Sentence(face.Message)
			if len(face.Details) > 0 {
				d.Trouble = htmlpage.Sentence("this " + face.Details[0].Message)
			}
		}
	case v.Returns:
		out.Body = redirect
		if face := errs.Public(wrong, ""); face != nil {
			d.Trouble = htmlpage.Sentence(face.Message)
			if len(face.Details) > 0 {
				d.Trouble = htmlpage.Sentence("this " + face.Details[0].Message)
			}
		}
	case v.HostedURL != "":
		out.Body, out.Refresh = hosted, again
	default:
		config, err := json.Marshal(v.Config)
		if err != nil {
			return htmlpage.Page{}, err
		}
		d.ConfigJSON = string(config)
		out.Body, out.Script, out.Allow = widget, Script, sources(v.Widget)
	}
	return out, nil
}

// sources lists exactly what that widget needs.
func sources(w bank.Widget) htmlpage.Sources {
	return htmlpage.Sources{
		Script: []string{w.Script}, Frame: w.Frames, Connect: w.Calls, Style: w.Assets, Image: w.Assets,
		Popups: true,
	}
}

// Act handles the widget's result, or the person's decision, and shows the page again.
func (p *Pages) Act(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	var err error
	form := r.PostFormValue(asked) != ""
	address := r.PostFormValue("address")
	switch given := r.PostFormValue("given"); {
	case r.PostFormValue("leave") != "":
		err = p.Sessions.Abandon(r.Context(), token)
	case r.PostFormValue("anyway") != "":
		err = p.Sessions.Complete(r.Context(), token, nil, true)
	case address != "":
		err = p.Sessions.Pasted(r.Context(), token, address)
	case form:
		err = p.Sessions.Complete(r.Context(), token, entered(r), false)
	case json.Valid([]byte(given)):
		err = p.Sessions.Complete(r.Context(), token, json.RawMessage(given), false)
	default:
		err = errs.Field("given", "type", "is not a result of the bank widget; go back and try again")
	}
	if (form || address != "") && errs.Is(err, errs.ValidationError) {
		p.show(w, r, err)
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/link/"+url.PathEscape(token), http.StatusSeeOther)
}

// Return passes the parameters with which a bank's page returned the browser to the session, and
// shows the session's page. It redirects at once, because the parameters may still grant access.
func (p *Pages) Return(w http.ResponseWriter, r *http.Request) {
	token, err := p.Sessions.Return(r.Context(), r.URL.Query())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/link/"+url.PathEscape(token), http.StatusSeeOther)
}

// entered returns the values of a form. It returns none if the person says that they have signed in
// and enters no new values.
func entered(r *http.Request) json.RawMessage {
	values := map[string]string{}
	for name := range r.PostForm {
		if name != asked && name != "same" {
			values[name] = r.PostForm.Get(name)
		}
	}
	if r.PostForm.Has("same") {
		clear(values)
	}
	given, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always encode
	}
	return given
}

func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	request := p.Request(r)
	if face := errs.Public(err, request); p.Log != nil && face.Code.Status() >= http.StatusInternalServerError {
		p.Log.ErrorContext(r.Context(), "page failed", "request", request, "route", r.Pattern, "code",
			string(face.Code), "error", errs.LogText(err))
	}
	htmlpage.Fail(w, err, request)
}

var hosted = htmlpage.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> needs you to sign in again.{{else}}Your bank needs you to sign in again.{{end}}{{else}}You'll sign in at your bank through {{.Provider}}. coffer never sees your password.{{end}}</p>
<p class="actions"><a class="button" href="{{.HostedURL}}" rel="noreferrer">Continue to {{.Provider}}</a></p>
<p class="dim">Come back here when you're done. This page updates automatically.</p>`)

var redirect = htmlpage.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> needs you to sign in again.{{else}}Your bank needs you to sign in again.{{end}}{{else}}You'll sign in at your bank through {{.Provider}}. coffer never sees your password.{{end}}</p>
{{with .Trouble}}<p class="warn" role="alert">{{.}}</p>{{end}}
<p class="actions"><a class="button" href="{{.HostedURL}}" rel="noreferrer">Continue to {{.Provider}}</a></p>
<p class="dim">Your bank then leads you back here.</p>
<details{{if .Trouble}} open{{end}}><summary>You signed in, and the browser shows an error?</summary>
<form method="post" autocomplete="off"><label><span>Address <small>Copy the address that the browser shows after the sign-in.</small></span><input name="address" autocomplete="off" spellcheck="false" maxlength="8000" required></label>
<div class="actions"><button>Connect</button></div></form></details>
<form class="actions" method="post"><button class="quiet" name="leave" value="yes">Cancel</button></form>`)

var widget = htmlpage.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> needs you to sign in again.{{else}}Your bank needs you to sign in again.{{end}}{{else}}You'll sign in at your bank through {{.Provider}}. coffer never sees your password.{{end}}</p>
<div id="widget" hidden data-connect="{{.Widget.Connect}}" data-config="{{.ConfigJSON}}"{{if .Reauth}} data-reauth="yes"{{end}}></div>
<p class="actions"><button id="open" type="button" disabled>{{if .Reauth}}Sign in{{else}}Choose your bank{{end}}</button></p>
<p id="trouble" class="warn" role="status" hidden></p>
<form id="give" method="post" hidden><input type="hidden" name="given"></form>
<noscript><p class="warn">{{.Provider}} runs in this page and needs JavaScript.</p></noscript>
<script src="{{.Widget.Script}}"></script>`)

var form = htmlpage.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> needs you to sign in again.{{else}}Your bank needs you to sign in again.{{end}}{{else}}You'll sign in at your bank through {{.Provider}}. coffer never sees your password.{{end}}</p>
{{with .Guide}}<p><a href="{{.}}" target="_blank" rel="noreferrer">Open {{$.Provider}} in a new tab</a></p>{{end}}
{{with .Trouble}}<p class="warn" role="alert">{{.}}</p>{{end}}
<form method="post" autocomplete="off"><input type="hidden" name="coffer-form" value="yes">
{{range .Fields}}<label><span>{{.Title}} <small>{{.Doc}}</small></span><input name="{{.Name}}"{{if .Secret}} type="password"{{end}} autocomplete="off" spellcheck="false" maxlength="{{.Limit}}"{{if and .Required (not $.Reauth)}} required{{end}}></label>
{{end}}<div class="actions"><button>{{if .Reauth}}Reconnect{{else}}Connect{{end}}</button>{{if .Reauth}}<button class="quiet" name="same" value="yes">I signed in there, try again</button>{{end}}<button class="quiet" name="leave" value="yes" formnovalidate>Cancel</button></div></form>`)

var decide = htmlpage.Parse(`
<p class="lead">Accounts with the same name and number are already connected.</p>
<p>At some banks a second connection ends the first, and transactions would count twice. If your bank only needs you to sign in again, cancel and choose Reconnect instead.</p>
<form class="actions" method="post"><button class="quiet" name="anyway" value="yes">Connect anyway</button><button name="leave" value="yes">Cancel</button></form>`)

var done = htmlpage.Parse(`
{{with .Bank}}<p class="lead"><strong>{{.}}</strong></p>{{end}}
<p>{{if .Reauth}}coffer is catching up now.{{else}}coffer is importing your accounts and history. This takes a minute or two; after that, new transactions arrive every few hours.{{end}}</p>
{{if .RedirectURL}}<p class="actions"><a class="button" href="{{.RedirectURL}}">Continue</a></p>{{else}}<p>You can close this page.</p>{{end}}`)

var failed = htmlpage.Parse(`
<p class="lead">{{.Trouble}}</p>
<p class="dim">{{with .Error}}{{.Code}}{{end}}</p>
{{with .RedirectURL}}<p class="actions"><a class="button" href="{{.}}">Continue</a></p>{{end}}`)
