package signin

import (
	"net/http"
	"net/url"
	"strings"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

// pages returns the pages for people.
func (d *Desk) pages() []Route {
	return []Route{
		{Pattern: "GET /login", Serve: d.page(d.showLogin)},
		{Pattern: "POST /login", Serve: d.page(d.postLogin)},
		{Pattern: "POST /logout", Serve: d.page(d.postLogout)},
		{Pattern: "GET " + account, Serve: d.page(d.showAccount)},
		{Pattern: "POST /account/password", Serve: d.page(d.postPassword)},
		{Pattern: "POST /account/sessions/end", Serve: d.page(d.postEnd)},
		{Pattern: "POST /account/logins/end", Serve: d.page(d.postEndLogin)},
		{Pattern: "GET /setup/{token}", Serve: d.page(d.showSetup)},
		{Pattern: "POST /setup/{token}", Serve: d.page(d.postSetup)},
		{Pattern: "GET /join/{token}", Serve: d.page(d.showJoin)},
		{Pattern: "POST /join/{token}", Serve: d.page(d.postJoin)},
		{Pattern: "GET /device", Serve: d.page(d.showDevice)},
		{Pattern: "POST /device", Serve: d.page(d.postDevice)},
		{Pattern: "GET " + script.Path, Serve: func(w http.ResponseWriter,
			r *http.Request,
		) error {
			script.ServeHTTP(w, r)
			return nil
		}},
	}
}

// page turns a page function into a route: an error becomes an error page, and a POST must come
// from one of our pages.
func (d *Desk) page(f func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := d.local(r)
		if err == nil {
			err = form(r)
		}
		if err == nil {
			err = op.Passing(f(w, r))
		}
		if err != nil {
			request := w.Header().Get("X-Request-Id")
			if errs.Public(err, request).Code.Status() >= http.StatusInternalServerError && d.Log != nil {
				d.Log.ErrorContext(r.Context(), "page", "request", request, "route", r.Pattern, "error",
					errs.LogText(err))
			}
			htmlpage.Fail(w, err, request)
		}
		return nil
	}
}

const (
	account = "/account" // where members manage their own account
	home    = "/"        // where a sign-in leads by default
)

// inside returns next if it is a path of this server, else home. A link must not lead from our
// sign-in page to another site.
func inside(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return home
	}
	return u.RequestURI()
}

// member returns the signed-in member. If there is none, it redirects to /login, which returns to
// this page (GET) or to form (POST).
func (d *Desk) member(w http.ResponseWriter, r *http.Request, form string) (op.Actor, bool, error) {
	actor, err := d.visitor(r)
	if err != nil || actor.Session != nil {
		return actor, err == nil, err
	}
	if r.Method == http.MethodGet {
		form = r.URL.RequestURI()
	}
	http.Redirect(w, r, "/login?next="+url.QueryEscape(form), http.StatusSeeOther)
	return actor, false, nil
}

// proven reports whether the member has proven who they are within the last minutes. If not, it
// redirects to /login, which returns to form.
func (d *Desk) proven(w http.ResponseWriter, r *http.Request, actor op.Actor, form string) bool {
	if op.Proven(actor) == nil {
		return true
	}
	http.Redirect(w, r, "/login?again=1&next="+url.QueryEscape(form), http.StatusSeeOther)
	return false
}

var loginBody = htmlpage.Parse(`
{{if .Again}}<p class="lead">For your security, sign in again to continue.</p>{{end}}
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
{{if .Plain}}<p class="warn">` + plain + `</p>{{end}}
<div class="passkey" hidden><button id="passkey" data-origin="{{.Origin}}" data-next="{{.Next}}">{{template "key"}}Sign in with a passkey</button><p class="or">or with a password</p></div>
<p class="warn" id="fault" role="alert" hidden></p>
<form method="post" action="/login">
<input type="hidden" name="next" value="{{.Next}}">{{if .Again}}<input type="hidden" name="again" value="1">{{end}}
<label>Email <input name="email" type="email" autocomplete="username webauthn" required{{if not .Email}} autofocus{{end}} value="{{.Email}}"></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required{{if .Email}} autofocus{{end}}></label>
<button>Sign in</button>
</form>
{{with .Issuer}}<p><a class="button quiet" href="/login/oidc?next={{$.Next}}{{if $.Again}}&amp;again=1{{end}}">Sign in with {{.}}</a></p>{{end}}
<p class="dim">Can't sign in? <a href="/login/recovery?next={{.Next}}">Use a recovery code</a> or ask an admin for a new invitation link.</p>
`)

// plain is the warning for a browser that will not keep a session.
const plain = "This page isn't using HTTPS, so you can't stay signed in. Open the https address, or use the " +
	"server itself."

type loginPage struct {
	Next, Email, Fault, Issuer, Origin string
	Plain, Again                       bool
}

func (d *Desk) showLogin(w http.ResponseWriter, r *http.Request) error {
	p := loginPage{Next: inside(r.URL.Query().Get("next"))}
	if r.URL.Query().Get("again") != "" {
		actor, err := d.visitor(r)
		if err == nil && actor.Session != nil {
			p.Again = true
			p.Email, err = d.Auth.SignsInWith(r.Context(), actor)
		}
		if err != nil {
			return err
		}
	}
	return d.writeLogin(w, r, p, nil)
}

func (d *Desk) writeLogin(w http.ResponseWriter, r *http.Request, p loginPage, because error) error {
	p.Plain, p.Origin = d.deaf(r), d.passkeyOrigin()
	if d.Issuer != nil && !d.plain(r) {
		p.Issuer = d.Issuer.Name
	}
	title, heading := "Sign in", "Welcome back"
	if p.Again {
		title, heading = "Confirm it's you", ""
	}
	// The page may be part of a consent, in a window that an assistant's site opened.
	return withScript(htmlpage.Page{
		Title: title, Heading: heading, Scene: true, Body: loginBody, Data: p,
		Allow: htmlpage.Sources{Opened: true},
	}).Because(because).Write(w)
}

// plain reports whether a request comes over plain HTTP and may sign in nevertheless.
func (d *Desk) plain(r *http.Request) bool { return d.Plain && !d.safe(r) }

// deaf reports whether a browser will not keep a session at the address of this request.
func (d *Desk) deaf(r *http.Request) bool { return !d.Plain && !d.safe(r) }

// Warns reports whether pages warn that this request came over plain HTTP.
func (d *Desk) Warns(r *http.Request) bool { return d.plain(r) }

// confidential rejects a request over plain HTTP, for secrets that must not cross a network
// unencrypted.
func (d *Desk) confidential(r *http.Request) error {
	return op.Confidential(op.Actor{Plain: d.plain(r)})
}

// safe reports whether a browser will keep our cookie: over HTTPS, including HTTPS that a proxy
// terminates, and on loopback.
func (d *Desk) safe(r *http.Request) bool {
	if r.TLS != nil || strings.HasPrefix(d.Base, "https://") {
		return true
	}
	u := url.URL{Host: r.Host}
	name := u.Hostname()
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasPrefix(name, "127.") ||
		name == "::1"
}

func (d *Desk) postLogin(w http.ResponseWriter, r *http.Request) error {
	p := loginPage{
		Next: inside(r.PostForm.Get("next")), Email: r.PostForm.Get("email"),
		Again: r.PostForm.Get("again") != "",
	}
	if p.Email == "" || r.PostForm.Get("password") == "" {
		err := errs.New(errs.ValidationError, "enter your email and password")
		p.Fault = formError(err)
		return d.writeLogin(w, r, p, err)
	}
	e, err := d.Auth.SignIn(r.Context(), p.Email, r.PostForm.Get("password"), address(r))
	if errs.Is(err, errs.InvalidLogin) || errs.Is(err, errs.RateLimited) {
		p.Fault = formError(err)
		return d.writeLogin(w, r, p, err)
	}
	if err != nil {
		return err
	}
	if e.MustReplace {
		return d.replace(w, r, e)
	}
	if _, err := d.open(w, r, e); err != nil {
		return err
	}
	http.Redirect(w, r, p.Next, http.StatusSeeOther)
	return nil
}

// formError returns an error's text for the person who filled in a form, one sentence per field.
func formError(err error) string {
	face := errs.Public(err, "")
	if len(face.Details) == 0 {
		return htmlpage.Sentence(face.Message)
	}
	var all []string
	seen := map[string]bool{} // an empty field breaks several rules; the first fault is enough to fix it
	for _, fault := range face.Details {
		if !seen[fault.Field] {
			all = append(all, htmlpage.Sentence(fault.Field+" "+fault.Message))
		}
		seen[fault.Field] = true
	}
	return strings.Join(all, " ")
}

func (d *Desk) postLogout(w http.ResponseWriter, r *http.Request) error {
	if err := d.leave(w, r); err != nil {
		return err
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

var setupBody = htmlpage.Parse(`
<p class="lead">Create the first account. You'll be the household's admin.</p>
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<form method="post">
<label>Name <input name="name" autocomplete="name" required maxlength="200" autofocus value="{{.Name}}"></label>
<label>Email <input name="email" type="email" autocomplete="username" required value="{{.Email}}"></label>
<label><span>Password <small>At least 10 characters</small></span><input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<p class="dim">Your email is only used to sign in; coffer never sends email. Tip: use a sentence as your password.</p>
<button>Create household</button>
</form>
`)

type setupPage struct{ Name, Email, Fault string }

func (d *Desk) showSetup(w http.ResponseWriter, r *http.Request) error {
	if err := d.Auth.Holds(r.Context(), auth.SetupTicket, r.PathValue("token")); err != nil {
		return err
	}
	return writeSetup(w, setupPage{}, nil)
}

func writeSetup(w http.ResponseWriter, p setupPage, because error) error {
	return htmlpage.Page{Title: "Create household", Scene: true, Body: setupBody, Data: p}.Because(because).Write(w)
}

func (d *Desk) postSetup(w http.ResponseWriter, r *http.Request) error {
	in := auth.FirstAdmin{
		Name:  strings.TrimSpace(r.PostForm.Get("name")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Password: r.PostForm.Get("password"),
		Currency: currencyOf(r.Header.Get("Accept-Language")),
	}
	u, err := d.Auth.SetUp(r.Context(), in, r.PathValue("token"))
	if errs.Is(err, errs.ValidationError) {
		return writeSetup(w, setupPage{in.Name, in.Email, formError(err)}, err)
	}
	if err != nil {
		return err
	}
	if _, err := d.open(w, r, auth.SignIn{User: u, By: auth.Password}); err != nil {
		return err
	}
	http.Redirect(w, r, home, http.StatusSeeOther)
	return nil
}
