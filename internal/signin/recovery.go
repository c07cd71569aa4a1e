package signin

import (
	"net/http"

	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/page"
)

func (d *Desk) recoveryRoutes() []Route {
	return []Route{
		{Pattern: "GET /login/recovery", Serve: d.page(d.showRecovery)},
		{Pattern: "POST /login/recovery", Serve: d.page(d.postRecovery)},
		{Pattern: "POST /account/recovery", Serve: d.page(d.postCodes)},
		{Pattern: "POST /account/recovery/end", Serve: d.page(d.postEndCodes)},
	}
}

var recoveryBody = page.Parse(`
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<p class="lead">Use one of the ten codes that you wrote down when you set up recovery. Each code works once.</p>
<form method="post" action="/login/recovery">
<input type="hidden" name="next" value="{{.Next}}">
<label>Recovery code <input name="code" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" placeholder="XXXX-XXXX-XXXX-XXXX"></label>
<button>Sign in</button>
</form>
<p class="dim">If you have no code, an admin of the household can set a new password for you. <a href="/login?next={{.Next}}">Sign in another way</a></p>`)

type recoveryPage struct{ Next, Fault string }

func (d *Desk) showRecovery(w http.ResponseWriter, r *http.Request) error {
	return writeRecovery(w, recoveryPage{Next: inside(r.URL.Query().Get("next"))}, nil)
}

func writeRecovery(w http.ResponseWriter, p recoveryPage, because error) error {
	// as the page that signs in
	return page.Page{
		Title: "Sign in with a recovery code", Body: recoveryBody, Data: p,
		Allow: page.Sources{Opened: true},
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
	if p.Next == account || p.Next == home { // the account page says that the code is used up
		p.Next = account + "?done=recovery"
	}
	http.Redirect(w, r, p.Next, http.StatusSeeOther)
	return nil
}

var codesBody = page.Parse(`
<p class="lead">Write these codes down or print this page, and keep them in a safe place.</p>
<ul>{{range .}}<li><code class="code">{{.}}</code></li>{{end}}</ul>
<p class="warn">They are shown only once. Anyone who has a code can sign in as you, once per code. Your earlier codes no longer work.</p>
<p><a class="button" href="/account">I have saved them</a></p>`)

// postCodes shows a member the codes that are made for them.
func (d *Desk) postCodes(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok || !d.proven(w, r, actor, account) {
		return err
	}
	codes, err := d.Auth.NewCodes(r.Context(), actor)
	if err != nil {
		return err
	}
	return page.Page{Title: "Your recovery codes", Body: codesBody, Data: codes}.Write(w)
}

// postEndCodes ends the codes of a member, who may have lost the paper that they stand on.
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
