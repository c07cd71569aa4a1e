package signin

import (
	"context"
	"net/http"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

// The page on which members manage their own sign-in methods and sessions.

var accountBody = htmlpage.Parse(`
<p class="lead">{{.User.Name}}{{with .User.Email}} · {{.}}{{end}} · {{.User.Role}}</p>
{{with .Note}}<p class="note" role="status">{{.}}</p>{{end}}
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<p><a class="button" href="/">Open coffer</a></p>
<h2>Sign-in methods</h2>
{{range .Logins}}<form class="row" method="post" action="/account/logins/end"><p>{{if eq .Kind "password"}}Password{{else if eq .Kind "passkey"}}Passkey{{else}}Single sign-on{{end}} <span class="dim">{{.Identifier}}</span></p>
{{if and $.Proved (gt (len $.Logins) 1)}}<input type="hidden" name="login" value="{{.ShortID}}"><button class="quiet">Remove</button>{{end}}</form>{{end}}
<form class="row" method="post" action="/account/recovery"><p>Recovery codes <span class="dim">{{if .Codes}}{{.Codes}} left{{else}}None. Create them in case you lose your password or passkey.{{end}}</span></p>
{{if .Proved}}<button class="quiet">{{if .Codes}}Create new recovery codes{{else}}Create recovery codes{{end}}</button>{{end}}</form>
{{if .Proved}}<p class="warn" id="fault" role="alert" hidden></p>
<div class="actions start"><div class="passkey" hidden><button class="quiet" id="new-passkey" data-origin="{{.Origin}}">Add a passkey</button></div>
{{with .Issuer}}<form method="post" action="/account/oidc"><button class="quiet">Add {{.}}</button></form>{{end}}
{{if .Codes}}<form method="post" action="/account/recovery/end"><button class="quiet">Delete recovery codes</button></form>{{end}}</div>
{{else}}<p><a class="button quiet" href="/login?again=1&amp;next=%2Faccount">Sign in again to make changes</a></p>{{end}}
{{if .HasPassword}}<details><summary>Change your password</summary>
<form method="post" action="/account/password">
<input type="hidden" name="username" autocomplete="username" value="{{with .User.Email}}{{.}}{{end}}">
{{if not .Recovered}}<label>Current password <input name="old" type="password" autocomplete="current-password" required></label>
{{end}}<label><span>New password <small>At least 10 characters</small></span><input name="new" type="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<p><button>Change password</button></p>
</form></details>{{end}}
<h2>Sessions</h2>
{{range .Sessions}}<form class="row" method="post" action="/account/sessions/end"><p>{{.Name}} <span class="dim">signed in {{.CreatedAt.Time.Format "2 Jan 2006, 15:04 MST"}}</span></p>
{{if eq .ShortID $.Current}}<span class="dim">This browser</span>{{else}}<input type="hidden" name="session" value="{{.ShortID}}"><button class="quiet">End session</button>{{end}}</form>{{end}}
<form method="post" action="/logout"><p><button class="quiet">Sign out</button></p></form>
{{define "fine"}}<footer><p>See <a href="/account/assistants">the assistants connected to your account</a>.</p>
{{if eq .User.Role "admin"}}<p>Setting up the command line on another computer? <a href="/device">Enter its code</a>.</p>{{end}}</footer>{{end}}`)

type accountPage struct {
	User                        auth.User
	Logins                      []auth.Login
	Sessions                    []auth.Session
	Current                     string
	Note, Fault, Issuer, Origin string
	HasPassword, Proved         bool
	Codes                       int  // unused recovery codes
	Recovered                   bool // signed in with a recovery code, so the current password may be forgotten
}

var notes = map[string]string{
	"password": "Password changed. You've been signed out on other devices.",
	"session":  "Session ended.",
	"login":    "Sign-in method removed. You've been signed out on other devices.",
	"recovery": "You used a recovery code. Change your password or add a passkey now.",
	"codes":    "Recovery codes deleted.",
	"oidc":     "You can now sign in with this account.",
	"passkey":  "You can now sign in with this passkey.",
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
	p.Codes, p.Recovered, p.Origin = home.Codes, home.Recovered, d.passkeyOrigin()
	for _, l := range p.Logins {
		p.HasPassword = p.HasPassword || l.Kind == auth.Password
	}
	if d.Issuer != nil {
		p.Issuer = d.Issuer.Name
	}
	return withScript(htmlpage.Page{Title: "Your account", Body: accountBody, Data: p}).Because(because).Write(w)
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
