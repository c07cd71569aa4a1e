// Package linkpage is the page where a person links a bank or signs in again: no key opens it, its token does.
// It must not know one provider from another beyond how its script starts their widgets, and decides nothing: feed does.
package linkpage

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/page"
)

//go:embed link.js
var linkJS []byte

// Script starts the widgets of providers that have no page of their own.
var Script = page.NewFile("link.js", "text/javascript; charset=utf-8", linkJS)

// MaxBody is how much a widget may give.
const MaxBody = 64 << 10

// Pages shows sessions of a feed.
type Pages struct {
	Feed    *feed.Feed
	Request func(*http.Request) string // the id under which the log knows a request
	Log     *slog.Logger
}

// again is how often a page looks whether something has happened.
const again = 3 * time.Second

// A view is what the templates show.
type view struct {
	feed.Visit
	Bank       string
	Trouble    string
	ConfigJSON string
}

// Show is the page as it stands now.
func (p *Pages) Show(w http.ResponseWriter, r *http.Request) {
	v, err := p.Feed.Visit(r.Context(), r.PathValue("token"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	out, err := render(v)
	if err == nil {
		err = out.Write(w)
	}
	if err != nil {
		p.fail(w, r, err)
	}
}

func render(v feed.Visit) (page.Page, error) {
	d := view{Visit: v, Bank: v.Institution.Plain()}
	title := "Link a bank"
	if v.Reauth {
		title = "Sign in at your bank again"
	}
	out := page.Page{Title: title, Data: &d}
	switch {
	case v.State == "done":
		out.Title, out.Body = "Your bank is linked", done
		if v.Reauth {
			out.Title = "Your bank works again"
		}
		if v.RedirectURL != "" {
			out.Refresh, out.Next = again, v.RedirectURL
		}
	case v.State == "failed":
		out.Title, out.Body = "The bank was not linked", failed
		if v.Reauth {
			out.Title = "The bank still needs you"
		}
		if v.Error != nil {
			d.Trouble = page.Sentence(v.Error.Message)
		}
	case v.Decide:
		out.Title, out.Body = "Link it a second time?", decide
	case v.HostedURL != "":
		out.Body, out.Refresh = hosted, again
	default:
		config, err := json.Marshal(v.Config)
		if err != nil {
			return page.Page{}, err
		}
		d.ConfigJSON = string(config)
		out.Body, out.Script, out.Allow = widget, Script, sources(v.Widget)
	}
	return out, nil
}

// sources are exactly what that widget needs, and only while it is to run.
func sources(w bank.Widget) page.Sources {
	return page.Sources{Script: []string{w.Script}, Frame: w.Frames, Connect: w.Calls, Style: w.Assets, Image: w.Assets, Popups: true}
}

// Act takes what the widget gave, or what the person decided, and shows the page anew.
func (p *Pages) Act(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	var err error
	switch given := r.PostFormValue("given"); {
	case r.PostFormValue("leave") != "":
		err = p.Feed.Abandon(r.Context(), token)
	case r.PostFormValue("anyway") != "":
		err = p.Feed.Complete(r.Context(), token, nil, true)
	case json.Valid([]byte(given)):
		err = p.Feed.Complete(r.Context(), token, json.RawMessage(given), false)
	default:
		err = errs.Field("given", "type", "is not what a widget gives; go back and try again")
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/link/"+url.PathEscape(token), http.StatusSeeOther)
}

func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	request := p.Request(r)
	if face := errs.Public(err, request); p.Log != nil && face.Code.Status() >= http.StatusInternalServerError {
		p.Log.ErrorContext(r.Context(), "a page failed", "request", request, "route", r.Pattern, "code", string(face.Code), "error", errs.Told(err))
	}
	page.Fail(w, err, request)
}

var hosted = page.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> wants you to sign in again.{{else}}Your bank wants you to sign in again.{{end}}{{else}}You sign in at your bank on a page of {{.Provider}}. coffer never sees your password.{{end}}</p>
<p><a class="button" href="{{.HostedURL}}" rel="noreferrer">Continue to {{.Provider}}</a></p>
<p class="dim">Come back here afterwards; this page looks by itself whether you are through.</p>`)

var widget = page.Parse(`
<p class="lead">{{if .Reauth}}{{if .Bank}}<strong>{{.Bank}}</strong> wants you to sign in again.{{else}}Your bank wants you to sign in again.{{end}}{{else}}You sign in at your bank in a window of {{.Provider}}. coffer never sees your password.{{end}}</p>
<div id="widget" data-connect="{{.Widget.Connect}}" data-config="{{.ConfigJSON}}"{{if .Reauth}} data-reauth="yes"{{end}}></div>
<p><button id="open" type="button" disabled>{{if .Reauth}}Sign in{{else}}Choose your bank{{end}}</button></p>
<p id="trouble" class="warn" hidden></p>
<form id="give" method="post"><input type="hidden" name="given"></form>
<noscript><p class="warn">{{.Provider}} runs in this page, and needs JavaScript for it.</p></noscript>
<script src="{{.Widget.Script}}"></script>`)

var decide = page.Parse(`
<p class="lead">Accounts with the same names and digits are linked already.</p>
<p>At some banks a second link ends the first, and its transactions would count twice. If the bank only asked you to sign in again, leave this and use “sign in again” for the connection that you have.</p>
<form method="post"><button name="leave" value="yes">Do not link it</button></form>
<form method="post"><button class="quiet" name="anyway" value="yes">Link it a second time</button></form>`)

var done = page.Parse(`
{{with .Bank}}<p class="lead"><strong>{{.}}</strong></p>{{end}}
<p>{{if .Reauth}}coffer reads what it missed now.{{else}}coffer reads your accounts and their history now; that takes a minute or two. Then your rules file every transaction, and coffer looks for new ones every few hours.{{end}}</p>
{{if .RedirectURL}}<p><a class="button" href="{{.RedirectURL}}">Continue</a></p>{{else}}<p>You can close this page.</p>{{end}}`)

var failed = page.Parse(`
<p class="lead">{{.Trouble}}</p>
<p class="dim">{{with .Error}}{{.Code}}{{end}}</p>
{{with .RedirectURL}}<p><a class="button" href="{{.}}">Continue</a></p>{{end}}`)
