package signin

import (
	"net/http"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/surface/htmlpage"
)

func (d *Desk) recoveryRoutes() []Route {
	return []Route{
		{Pattern: "GET /login/recovery", Serve: d.page(d.showRecovery)},
		{Pattern: "POST /login/recovery", Serve: d.page(d.postRecovery)},
		{Pattern: "POST /account/recovery", Serve: d.page(d.postCodes)},
		{Pattern: "POST /account/recovery/end", Serve: d.page(d.postEndCodes)},
	}
}

var recoveryBody = htmlpage.Parse(`
<p class="lead">Enter one of your recovery codes. Each works once.</p>
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<form method="post" action="/login/recovery">
<input type="hidden" name="next" value="{{.Next}}">
<label>Recovery code <input name="code" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" placeholder="XXXX-XXXX-XXXX-XXXX"></label>
<button>Sign in</button>
</form>
<p class="dim">No code? Ask an admin for a new invitation link. <a href="/login?next={{.Next}}">Other sign-in options</a></p>`)

type recoveryPage struct{ Next, Fault string }

func (d *Desk) showRecovery(w http.ResponseWriter, r *http.Request) error {
	return writeRecovery(w, recoveryPage{Next: inside(r.URL.Query().Get("next"))}, nil)
}

func writeRecovery(w http.ResponseWriter, p recoveryPage, because error) error {
	// Opened is set for the same reason as on the sign-in page.
	return htmlpage.Page{
		Title: "Sign in with a recovery code", Scene: true, Body: recoveryBody, Data: p,
		Allow: htmlpage.Sources{Opened: true},
	}.Because(because).Write(w)
}

func (d *Desk) postRecovery(w http.ResponseWriter, r *http.Request) error {
	p := recoveryPage{Next: inside(r.PostForm.Get("next"))}
	var e auth.SignIn
	err := error(errs.New(errs.ValidationError, "enter a recovery code"))
	if code := r.PostForm.Get("code"); code != "" {
		e, err = d.Auth.Recover(r.Context(), code, address(r))
	}
	if errs.Is(err, errs.ValidationError) || errs.Is(err, errs.InvalidLogin) || errs.Is(err, errs.RateLimited) {
		p.Fault = formError(err)
		return writeRecovery(w, p, err)
	}
	if err != nil {
		return err
	}
	if _, err := d.open(w, r, e); err != nil {
		return err
	}
	if p.Next == account || p.Next == home { // the account page says that a code was used
		p.Next = account + "?done=recovery"
	}
	http.Redirect(w, r, p.Next, http.StatusSeeOther)
	return nil
}

var codesBody = htmlpage.Parse(`
<p class="lead">Print or save these codes and keep them somewhere safe.</p>
<ul class="codes">{{range .}}<li><code class="code">{{.}}</code></li>{{end}}</ul>
<p class="warn">You won't see them again. Anyone with a code can sign in as you. Older codes no longer work.</p>
<p class="actions"><a class="button" href="/account">I saved them</a></p>`)

// postCodes creates recovery codes for a member and shows them.
func (d *Desk) postCodes(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok || !d.proven(w, r, actor, account) {
		return err
	}
	codes, err := d.Auth.NewCodes(r.Context(), actor)
	if err != nil {
		return err
	}
	return htmlpage.Page{Title: "Your recovery codes", Body: codesBody, Data: codes}.Write(w)
}

// postEndCodes deletes the codes of a member, for example because the printed page was lost.
func (d *Desk) postEndCodes(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok || !d.proven(w, r, actor, account) {
		return err
	}
	if err := d.Auth.EndOwnCodes(r.Context(), actor); err != nil {
		return err
	}
	http.Redirect(w, r, account+"?done=codes", http.StatusSeeOther)
	return nil
}
