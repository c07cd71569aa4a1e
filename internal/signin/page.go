package signin

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/op"
	"coffer/internal/page"
)

// pages are what people see.
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

// page makes a route of a page: what it returns as an error becomes an error page, and what it
// posts must come from a page of ours.
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
			page.Fail(w, err, request)
		}
		return nil
	}
}

const (
	account = "/account" // where members look after their own
	home    = "/"        // where signing in leads
)

// inside is a path of ours to go on to, or home: a link must not lead from our sign-in to somewhere
// else.
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

var loginBody = page.Parse(`
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
{{if .Again}}<p class="lead">This needs a sign-in from the last five minutes. Sign in again to continue.</p>{{end}}
{{if .Plain}}<p class="warn">This page was not loaded over HTTPS, so your browser will not keep you signed in. Use https, or open it on the server itself.</p>{{end}}
<form method="post" action="/login">
<input type="hidden" name="next" value="{{.Next}}">{{if .Again}}<input type="hidden" name="again" value="1">{{end}}
<label>E-mail address <input name="email" type="email" autocomplete="username webauthn" required{{if not .Email}} autofocus{{end}} value="{{.Email}}"></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required{{if .Email}} autofocus{{end}}></label>
<button>Sign in</button>
</form>
<p><button class="quiet" id="passkey" data-next="{{.Next}}" hidden>Sign in with a passkey</button></p><p class="warn" id="fault" role="alert" hidden></p>
{{with .Issuer}}<p><a class="button quiet" href="/login/oidc?next={{$.Next}}{{if $.Again}}&amp;again=1{{end}}">Sign in with {{.}}</a></p>{{end}}
<p class="dim"><a href="/login/recovery?next={{.Next}}">Use a recovery code</a></p>
`)

type loginPage struct {
	Next, Email, Fault, Issuer string
	Plain, Again               bool
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
	p.Plain = !d.safe(r)
	if d.Issuer != nil {
		p.Issuer = d.Issuer.Name
	}
	title := "Sign in"
	if p.Again {
		title = "Is it still you?"
	}
	// on the way to a consent, in a window that an assistant's site opened
	return withScript(page.Page{
		Title: title, Body: loginBody, Data: p,
		Allow: page.Sources{Opened: true},
	}).Because(because).Write(w)
}

// safe says whether a browser will keep our cookie: over HTTPS, also when a proxy speaks it for us,
// and on loopback.
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
		err := errs.New(errs.ValidationError, "enter your e-mail address and your password")
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

// formError is what an error says to whoever filled a form in, each fault by itself.
func formError(err error) string {
	face := errs.Public(err, "")
	if len(face.Details) == 0 {
		return page.Sentence(face.Message)
	}
	var all []string
	said := map[string]bool{} // an empty field breaks several rules, and the first is enough to mend it
	for _, fault := range face.Details {
		if !said[fault.Field] {
			all = append(all, page.Sentence(fault.Field+": "+fault.Message))
		}
		said[fault.Field] = true
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

var accountBody = page.Parse(`
{{with .Note}}<p class="note" role="status">{{.}}</p>{{end}}
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<p class="lead">{{.User.Name}}{{with .User.Email}} · {{.}}{{end}} · {{.User.Role}}</p>
<p><a class="button" href="/">Go to the overview</a></p>
<h2>Sign-in methods</h2>
{{range .Logins}}{{if and $.Proved (gt (len $.Logins) 1)}}<form class="card" method="post" action="/account/logins/end"><p>{{.Kind}} <span class="dim">{{.Identifier}}</span></p>
<input type="hidden" name="login" value="{{.ShortID}}"><button class="quiet">Remove</button></form>{{else}}<p>{{.Kind}} <span class="dim">{{.Identifier}}</span></p>{{end}}{{end}}
<p>recovery codes <span class="dim">{{.Codes}} left</span></p>
{{if .Proved}}<p><button class="quiet" id="new-passkey" hidden>Add a passkey</button></p><p class="warn" id="fault" role="alert" hidden></p>
{{with .Issuer}}<form method="post" action="/account/oidc"><button class="quiet">Add {{.}}</button></form>{{end}}
<form method="post" action="/account/recovery"><button class="quiet">{{if .Codes}}Create new recovery codes{{else}}Create recovery codes{{end}}</button></form>
{{if .Codes}}<form method="post" action="/account/recovery/end"><button class="quiet">Remove the recovery codes</button></form>{{end}}
{{else}}<p><a class="button quiet" href="/login?again=1&amp;next=%2Faccount">Sign in again to change these</a></p>{{end}}
{{if .HasPassword}}<details><summary>Change your password</summary>
<form method="post" action="/account/password">
<input type="hidden" name="username" autocomplete="username" value="{{with .User.Email}}{{.}}{{end}}">
{{if not .Recovered}}<label>Current password <input name="old" type="password" autocomplete="current-password" required></label>
{{end}}<label>New password, at least 10 characters <input name="new" type="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<button>Change password</button>
</form></details>{{end}}
<h2>Sessions</h2>
{{range .Sessions}}<form class="card" method="post" action="/account/sessions/end"><p>{{.Name}} <span class="dim">since {{.CreatedAt.Time.Format "2 January 2006, 15:04 MST"}}</span></p>
{{if eq .ShortID $.Current}}<p class="dim">This browser</p>{{else}}<input type="hidden" name="session" value="{{.ShortID}}"><button class="quiet">Sign out there</button>{{end}}</form>{{end}}
<form method="post" action="/logout"><button class="quiet">Sign out</button></form>
<p class="dim">Programs that act in your name are listed under <a href="/account/assistants">your assistants</a>.</p>
{{if eq .User.Role "admin"}}<p class="dim">Does a program on another machine need a key? <a href="/device">Enter its code</a>.</p>{{end}}
`)

type accountPage struct {
	User                auth.User
	Logins              []auth.Login
	Sessions            []auth.Session
	Current             string
	Note, Fault, Issuer string
	HasPassword, Proved bool
	Codes               int  // recovery codes that are left
	Recovered           bool // who came in with one may have forgotten the password
}

var notes = map[string]string{
	"password": "The password was changed. You were signed out everywhere else.",
	"session":  "You were signed out there.",
	"login":    "The sign-in method was removed. You were signed out everywhere else.",
	"recovery": "You signed in with a recovery code, which is now used up. Change your password or add a passkey.",
	"codes":    "The recovery codes no longer work.",
	"oidc":     "You can now sign in with this account.",
	"passkey":  "You can now sign in with this passkey.",
	"welcome":  "The household is set up, and you are its admin.",
	"joined": "You have joined the household, and nobody else knows how you sign in. Recovery codes help if you " +
		"lose that.",
}

func (d *Desk) showAccount(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok {
		return err
	}
	return d.writeAccount(w, r.Context(), actor, accountPage{Note: notes[r.URL.Query().Get("done")]}, nil)
}

func (d *Desk) writeAccount(
	w http.ResponseWriter, ctx context.Context, actor op.Actor, //nolint:revive // the writer comes first in handlers
	p accountPage, because error,
) error {
	home, err := d.Auth.Home(ctx, actor)
	if err != nil {
		return err
	}
	p.User, p.Logins, p.Sessions = home.User, home.Logins, home.Sessions
	p.Current, p.Proved = home.Session.ShortID, actor.Proved
	p.Codes, p.Recovered = home.Codes, home.Recovered
	for _, l := range p.Logins {
		p.HasPassword = p.HasPassword || l.Kind == auth.Password
	}
	if d.Issuer != nil {
		p.Issuer = d.Issuer.Name
	}
	return withScript(page.Page{Title: "Your account", Body: accountBody, Data: p}).Because(because).Write(w)
}

func (d *Desk) postPassword(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok {
		return err
	}
	err = d.Auth.ChangePassword(r.Context(), actor, r.PostForm.Get("old"), r.PostForm.Get("new"), address(r))
	if face := errs.Public(err, ""); face != nil && face.Code.Status() < http.StatusInternalServerError {
		return d.writeAccount(w, r.Context(), actor, accountPage{Fault: formError(err)}, err)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/account?done=password", http.StatusSeeOther)
	return nil
}

func (d *Desk) postEnd(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok {
		return err
	}
	if err := d.Auth.EndOwnSession(r.Context(), actor, r.PostForm.Get("session")); err != nil {
		return err
	}
	http.Redirect(w, r, "/account?done=session", http.StatusSeeOther)
	return nil
}

func (d *Desk) postEndLogin(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok || !d.proven(w, r, actor, account) {
		return err
	}
	if err := d.Auth.EndOwnLogin(r.Context(), actor, r.PostForm.Get("login")); err != nil {
		return err
	}
	http.Redirect(w, r, "/account?done=login", http.StatusSeeOther)
	return nil
}

var setupBody = page.Parse(`
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<p class="lead">Nobody can sign in here yet. The person who fills in this form becomes the household's first admin.</p>
<form method="post">
<label>Your name <input name="name" autocomplete="name" required maxlength="200" autofocus value="{{.Name}}"></label>
<label>E-mail address <input name="email" type="email" autocomplete="username" required value="{{.Email}}"></label>
<label>Password, at least 10 characters <input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<button>Set up the household</button>
</form>
<p class="dim">You sign in with this address; nothing is ever sent to it. A sentence makes a good password.</p>
`)

type setupPage struct{ Name, Email, Fault string }

func (d *Desk) showSetup(w http.ResponseWriter, r *http.Request) error {
	if err := d.Auth.Holds(r.Context(), auth.SetupTicket, r.PathValue("token")); err != nil {
		return err
	}
	return page.Page{Title: "Welcome to coffer", Body: setupBody, Data: setupPage{}}.Write(w)
}

func (d *Desk) postSetup(w http.ResponseWriter, r *http.Request) error {
	in := auth.FirstAdmin{
		Name:  strings.TrimSpace(r.PostForm.Get("name")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Password: r.PostForm.Get("password"),
	}
	u, err := d.Auth.SetUp(r.Context(), in, r.PathValue("token"))
	if errs.Is(err, errs.ValidationError) {
		return page.Page{
			Title: "Welcome to coffer", Body: setupBody,
			Data: setupPage{in.Name, in.Email, formError(err)},
		}.Because(err).Write(w)
	}
	if err != nil {
		return err
	}
	if _, err := d.open(w, r, auth.SignIn{User: u, By: auth.Password}); err != nil {
		return err
	}
	http.Redirect(w, r, "/account?done=welcome", http.StatusSeeOther)
	return nil
}
