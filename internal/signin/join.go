package signin

import (
	"net/http"
	"strings"

	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/op"
	"coffer/internal/page"
)

// The page of an invitation. Looking at it uses nothing up, because the programs through which
// people send links look at them too.

var joinBody = page.Parse(`
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
{{if .Replaces}}<p class="lead">An admin set your password, and so knows it. Choose one of your own, {{.Name}}.</p>
{{else}}<p class="lead">Welcome, {{.Name}}. You are invited to a household’s books. Choose how you sign in; nobody else will know it.</p>{{end}}
{{if .Plain}}<p class="warn">This page was not loaded over HTTPS, so your browser will not keep you signed in. Use https, or open it on the server itself.</p>{{end}}
<p><button id="join-passkey" hidden>Use a passkey: your fingerprint, face or screen lock</button></p><p class="warn" id="fault" role="alert" hidden></p>
<form method="post">
{{if .Known}}<input type="hidden" name="username" autocomplete="username" value="{{.Email}}"><p>You sign in with <strong>{{.Email}}</strong>.</p>
{{else}}<label>E-mail address to sign in with <input name="email" type="email" autocomplete="username" required value="{{.Email}}"></label>
{{end}}<label>Password, at least 10 characters <input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" required autofocus></label>
<button{{if not .Replaces}} class="quiet"{{end}}>{{if .Replaces}}Set the password{{else}}Join with a password{{end}}</button>
</form>
<p class="dim">Nothing is ever sent to the address. A sentence makes a good password.</p>
`)

type joinPage struct {
	Name, Email, Fault     string
	Known, Replaces, Plain bool
}

func (d *Desk) showJoin(w http.ResponseWriter, r *http.Request) error {
	j, err := d.Auth.Joining(r.Context(), r.PathValue("token"), address(r))
	if err != nil {
		return err
	}
	return d.writeJoin(w, r, j, joinPage{}, nil)
}

func (d *Desk) writeJoin(w http.ResponseWriter, r *http.Request, j auth.Joining, p joinPage, because error) error {
	p.Name, p.Replaces, p.Plain = j.User.Name, j.Replaces, !d.safe(r)
	if j.Email != "" {
		p.Email, p.Known = j.Email, true
	}
	title := "Join the household"
	if j.Replaces {
		title = "Choose your own password"
	}
	return withScript(page.Page{Title: title, Body: joinBody, Data: p}).Because(because).Write(w)
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

// joined signs in whoever has just joined. Where they go on does not name the link.
func (d *Desk) joined(w http.ResponseWriter, r *http.Request, e auth.SignIn, on func(next string) error) error {
	if _, err := d.open(w, r, e); err != nil {
		return err
	}
	return on(account + "?done=joined")
}

// replace leads whoever came with a password that somebody else had set to where they choose one.
func (d *Desk) replace(w http.ResponseWriter, r *http.Request, e auth.SignIn) error {
	token, err := d.Auth.Replacing(r.Context(), e)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/join/"+token, http.StatusSeeOther) //nolint:gosec // letters and digits that we drew
	return nil
}

// invited is the member whom the link in the address lets in.
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
