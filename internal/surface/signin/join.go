package signin

import (
	"net/http"
	"strings"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

// The page of an invitation. Opening it does not use the invitation up, because programs that
// deliver links also open them, for a preview.

var joinBody = htmlpage.Parse(`
<p class="lead">{{if .Replaces}}Hi {{.Name}}, an admin set your current password. Choose a new one that only you know.{{else}}Choose how you want to sign in.{{end}}</p>
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
{{if .Plain}}<p class="warn">` + plain + `</p>{{end}}
<div class="passkey" hidden><button id="join-passkey" data-origin="{{.Origin}}">{{template "key"}}Use a passkey</button><p class="dim">Fingerprint, face or screen lock</p><p class="or">or with a password</p></div>
<p class="warn" id="fault" role="alert" hidden></p>
<form method="post">
{{if .Known}}<input type="hidden" name="username" autocomplete="username" value="{{.Email}}"><p>You sign in with <strong>{{.Email}}</strong>.</p>
{{else}}<label>Email <input name="email" type="email" autocomplete="username" required value="{{.Email}}"></label>
{{end}}<label><span>Password <small>At least 10 characters</small></span><input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" required autofocus></label>
<button>{{if .Replaces}}Set password{{else}}Join with password{{end}}</button>
</form>
<p class="dim">coffer never sends email. Tip: use a sentence as your password.</p>
`)

type joinPage struct {
	Name, Email, Fault, Origin string
	Known, Replaces, Plain     bool
}

func (d *Desk) showJoin(w http.ResponseWriter, r *http.Request) error {
	j, err := d.Auth.Joining(r.Context(), r.PathValue("token"), address(r))
	if err != nil {
		return err
	}
	return d.writeJoin(w, r, j, joinPage{}, nil)
}

func (d *Desk) writeJoin(w http.ResponseWriter, r *http.Request, j auth.Joining, p joinPage, because error) error {
	p.Name, p.Replaces, p.Plain, p.Origin = j.User.Name, j.Replaces, d.deaf(r), d.passkeyOrigin()
	if j.Email != "" {
		p.Email, p.Known = j.Email, true
	}
	out := htmlpage.Page{
		Title: "Join the household", Heading: "Welcome, " + p.Name, Scene: true, Body: joinBody, Data: p,
	}
	if j.Replaces {
		out.Title, out.Heading = "Choose a new password", ""
	}
	return withScript(out).Because(because).Write(w)
}

func (d *Desk) postJoin(w http.ResponseWriter, r *http.Request) error {
	token, email := r.PathValue("token"), strings.TrimSpace(r.PostForm.Get("email"))
	e, err := d.Auth.JoinWithPassword(r.Context(), token, email, r.PostForm.Get("password"), address(r))
	if errs.Is(err, errs.ValidationError) || errs.Is(err, errs.Conflict) {
		j, gone := d.Auth.StillJoining(r.Context(), token)
		if gone != nil {
			return gone
		}
		return d.writeJoin(w, r, j, joinPage{Email: email, Fault: formError(err)}, err)
	}
	if err != nil {
		return err
	}
	return d.joined(w, r, e, func(next string) error {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	})
}

// joined signs in the member who has just joined, and opens the app.
func (d *Desk) joined(w http.ResponseWriter, r *http.Request, e auth.SignIn, on func(next string) error) error {
	if _, err := d.open(w, r, e); err != nil {
		return err
	}
	return on(home)
}

// replace redirects a member whose password was set by an admin to the page where they choose one.
func (d *Desk) replace(w http.ResponseWriter, r *http.Request, e auth.SignIn) error {
	token, err := d.Auth.Replacing(r.Context(), e)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/join/"+token, http.StatusSeeOther) //nolint:gosec // letters and digits that we drew
	return nil
}

// invited returns the member to whom the link in the address belongs.
func (d *Desk) invited(r *http.Request) (op.Actor, holder, error) {
	j, err := d.Auth.Joining(r.Context(), r.PathValue("token"), address(r))
	if err != nil {
		return op.Actor{}, holder{}, err
	}
	h, err := d.holder(r, j.User)
	return op.Actor{Member: &j.User.ID}, h, err
}

func (d *Desk) beginJoin(w http.ResponseWriter, r *http.Request) error {
	actor, h, err := d.invited(r)
	if err != nil {
		return err
	}
	return d.register(w, r, actor, h)
}

func (d *Desk) finishJoin(w http.ResponseWriter, r *http.Request) error {
	actor, h, err := d.invited(r)
	if err != nil {
		return err
	}
	credential, proof, err := d.registered(r, actor, h)
	if err != nil {
		return err
	}
	e, err := d.Auth.JoinWithPasskey(r.Context(), r.PathValue("token"), browser(r), credential, proof, address(r))
	if err != nil {
		return err
	}
	return d.joined(w, r, e, func(next string) error { return answer(w, Next{next}) })
}
