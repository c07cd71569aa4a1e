package signin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// An Issuer is an identity provider that members may sign in through.
type Issuer struct {
	URL, ClientID, Secret string
	Name                  string // for people

	client   *http.Client
	mu       sync.Mutex
	provider *oidc.Provider // nil until the issuer has described itself
	failed   time.Time      // when it last failed to
}

const (
	issuerLife = 10 * time.Minute // how long a sign-in at the issuer may take
	// issuerPause is the pause before a failed issuer is asked again. Without the pause, waiting
	// callers would each wait for the timeout, one after another.
	issuerPause = 5 * time.Second
)

func (d *Desk) issuerRoutes() []Route {
	if d.Issuer == nil {
		return nil
	}
	return []Route{
		{Pattern: "GET /login/oidc", Serve: d.page(d.beginIssuer)},
		{Pattern: "POST /account/oidc", Serve: d.page(d.joinIssuer)},
		{Pattern: "GET /login/oidc/callback", Serve: d.page(d.finishIssuer)},
	}
}

// find reads the issuer's description, once. While the issuer does not respond, sign-in with other
// methods still works.
func (i *Issuer) find(ctx context.Context) (*oidc.Provider, context.Context, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.client == nil {
		i.client = &http.Client{Timeout: 10 * time.Second}
	}
	ctx = oidc.ClientContext(ctx, i.client)
	if i.provider != nil {
		return i.provider, ctx, nil
	}
	err := errors.New("it did not respond a moment ago")
	if time.Since(i.failed) > issuerPause {
		if i.provider, err = oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), i.client),
			i.URL); err != nil {
			i.failed = time.Now()
		}
	}
	if err != nil {
		return nil, ctx, errs.Wrap(err, errs.ProviderError,
			"the identity provider does not respond; sign in another way, or try again").Later(issuerPause)
	}
	return i.provider, ctx, nil
}

func (d *Desk) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: d.Issuer.ClientID, ClientSecret: d.Issuer.Secret, Endpoint: p.Endpoint(),
		RedirectURL: d.Base + "/login/oidc/callback", Scopes: []string{oidc.ScopeOpenID},
	}
}

// A trip is the stored state of a sign-in at an issuer.
type trip struct {
	Nonce, Verifier, Next string
	Again                 bool // the issuer must make the member sign in again, and state when that was
}

// issuerCookie binds the return from the issuer to the browser that started the sign-in. Otherwise
// a stranger's link could sign someone in to the stranger's account.
const issuerCookie = "__Host-coffer-oidc"

func (d *Desk) beginIssuer(w http.ResponseWriter, r *http.Request) error {
	if err := d.Auth.Knock(r.Context(), "oidc", address(r)); err != nil {
		return err
	}
	to, err := d.depart(w, r, op.Actor{}, trip{
		Next:  inside(r.URL.Query().Get("next")),
		Again: r.URL.Query().Get("again") != "",
	})
	if err == nil {
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
	return err
}

func (d *Desk) joinIssuer(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := d.member(w, r, account)
	if !ok || !d.proven(w, r, actor, account) {
		return err
	}
	to, err := d.depart(w, r, actor, trip{Next: "/account?done=oidc"})
	if err != nil {
		return err
	}
	return htmlpage.Page{
		Title: "Add an account", Body: departBody,
		Data: map[string]string{"To": to, "Name": d.Issuer.Name},
	}.Write(w)
}

// departBody is a page with a link to the issuer, because our forms may only lead to this server.
var departBody = htmlpage.Parse(
	`<p class="lead">Sign in with the account that you want to use from now on.</p><p class="actions"><a class="button" href="{{.To}}">Continue to {{.Name}}</a></p>`)

// depart stores a trip and returns the issuer's address for it.
func (d *Desk) depart(w http.ResponseWriter, r *http.Request, actor op.Actor, t trip) (string, error) {
	if err := d.confidential(r); err != nil {
		return "", err
	}
	p, _, err := d.Issuer.find(r.Context())
	if err != nil {
		return "", err
	}
	t.Nonce, t.Verifier = rand.Text(), oauth2.GenerateVerifier()
	data, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("store the sign-in: %w", err)
	}
	state, err := d.Auth.Issue(r.Context(), auth.OIDCTicket, auth.Ticket{Member: actor.Member, Data: data}, issuerLife)
	if err != nil {
		return "", err
	}
	http.SetCookie(w, &http.Cookie{
		Name: issuerCookie, Value: state, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(issuerLife.Seconds()),
	})
	options := []oauth2.AuthCodeOption{oidc.Nonce(t.Nonce), oauth2.S256ChallengeOption(t.Verifier)}
	if t.Again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return d.oauth(p).AuthCodeURL(state, options...), nil
}

func (d *Desk) finishIssuer(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	set, err := r.Cookie(issuerCookie)
	if err != nil || set.Value != q.Get("state") {
		return errs.New(errs.InvalidLogin, "this sign-in was not started in this browser; sign in again")
	}
	http.SetCookie(w, &http.Cookie{
		Name: issuerCookie, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: -1,
	})
	ticket, err := d.Auth.Redeem(r.Context(), auth.OIDCTicket, q.Get("state"))
	if err != nil {
		return err
	}
	var t trip
	if err := json.Unmarshal(ticket.Data, &t); err != nil {
		return fmt.Errorf("read the stored sign-in: %w", err)
	}
	if q.Get("error") != "" {
		return errs.New(errs.InvalidLogin, "the identity provider refused the sign-in; sign in again")
	}
	subject, ago, err := d.vouched(r.Context(), q.Get("code"), t)
	if err != nil {
		return err
	}
	if ticket.Member != nil {
		actor, err := d.visitor(r)
		if err != nil {
			return err
		}
		if actor.Member == nil || *actor.Member != *ticket.Member {
			return errs.New(errs.Forbidden, "someone else is signed in now; start again")
		}
		if err := d.Auth.Join(r.Context(), *ticket.Member, d.Issuer.URL, subject); err != nil {
			return err
		}
	} else {
		e, err := d.Auth.Vouched(r.Context(), d.Issuer.URL, subject)
		if err != nil {
			return err
		}
		e.Ago = ago
		if _, err := d.open(w, r, e); err != nil {
			return err
		}
	}
	http.Redirect(w, r, t.Next, http.StatusSeeOther)
	return nil
}

// vouched returns the subject that the issuer vouches for in exchange for the code, and how long
// ago that person signed in there, because an issuer also has long sessions. ago is negative if the
// issuer does not state it.
func (d *Desk) vouched(ctx context.Context, code string, t trip) (subject string, ago time.Duration, err error) {
	p, ctx, err := d.Issuer.find(ctx)
	if err != nil {
		return "", 0, err
	}
	token, err := d.oauth(p).Exchange(ctx, code, oauth2.VerifierOption(t.Verifier))
	if err != nil {
		return "", 0, errs.Wrap(err, errs.InvalidLogin,
			"the identity provider did not confirm the sign-in; sign in again")
	}
	raw, _ := token.Extra("id_token").(string)
	claims, err := p.Verifier(&oidc.Config{ClientID: d.Issuer.ClientID}).Verify(ctx, raw)
	if err != nil {
		return "", 0, errs.Wrap(err, errs.InvalidLogin,
			"the identity provider's response could not be verified; sign in again")
	}
	var more struct {
		At int64 `json:"auth_time"`
	}
	if claims.Nonce != t.Nonce || claims.Subject == "" || claims.Claims(&more) != nil {
		return "", 0, errs.New(errs.InvalidLogin,
			"the identity provider's response belongs to another sign-in; start again")
	}
	ago = -1
	if more.At > 0 {
		ago = max(0, time.Since(time.Unix(more.At, 0)))
	}
	if t.Again && (ago < 0 || ago > auth.ProofLife) {
		return "", 0, errs.New(errs.InvalidLogin,
			"the identity provider does not confirm that you have just signed in there; use a passkey or a password, "+
				"which an admin can give you")
	}
	return claims.Subject, ago, nil
}
