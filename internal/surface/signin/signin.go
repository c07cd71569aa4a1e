// Package signin contains the routes and pages with which members sign in and out, and approve
// programs that request a key. It verifies and stores nothing itself: package auth decides who
// someone is and what they may do.
package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/go-webauthn/webauthn/webauthn"
)

// A Desk serves the sign-in routes and pages.
type Desk struct {
	Auth   *auth.Auth
	Log    *slog.Logger
	Issuer *Issuer // nil for none
	Plain  bool    // people may sign in over plain HTTP
	Base   string  // the server's address for people, without a slash at its end

	// Grants are further grants of the token endpoint, by grant_type. The form is already parsed.
	Grants map[string]func(http.ResponseWriter, *http.Request) error

	foreign http.CrossOriginProtection
	party   *webauthn.WebAuthn
}

// New returns a Desk for a server with this public address.
func New(a *auth.Auth, base, origin string) (*Desk, error) {
	d := &Desk{Auth: a, Base: base}
	if origin != "" {
		if err := d.foreign.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("COFFER_PUBLIC_URL: %w", err)
		}
	}
	var err error
	d.party, err = relyingParty(base)
	return d, err
}

// A Route is a route of the desk, outside the API proper. It needs no key.
type Route struct {
	Pattern  string
	Serve    func(http.ResponseWriter, *http.Request) error
	Name     string // name in the OpenAPI document; "" if it is not listed
	Summary  string
	In, Out  *op.Schema
	Form     bool
	Refusals []int
}

// Routes returns all routes of the desk.
func (d *Desk) Routes() []Route {
	return slices.Concat([]Route{
		{
			Pattern: "POST /auth/login", Serve: d.login, Name: "auth.login",
			Summary: "Signs a member in with a password; the session is returned as a cookie.",
			In:      op.SchemaOf[SignIn](), Out: op.SchemaOf[SignedIn](),
			Refusals: []int{
				http.StatusUnauthorized, http.StatusForbidden, http.StatusUnsupportedMediaType,
				http.StatusTooManyRequests,
			},
		},
		{
			Pattern: "POST /auth/logout", Serve: d.logout, Name: "auth.logout", Summary: "Ends the caller's session.",
			Refusals: []int{http.StatusForbidden},
		},
		{
			Pattern: "GET /auth/session", Serve: d.session, Name: "auth.session", Summary: "Shows who is signed in.",
			Out: op.SchemaOf[Current](),
		},
	}, d.grants(), d.pages(), d.passkeyRoutes(), d.issuerRoutes(), d.recoveryRoutes())
}

// SignIn is the body of a sign-in.
type SignIn struct {
	Email    string `json:"email" doc:"The email that the member signs in with" example:"robin@example.com"`
	Password string `json:"password" doc:"The member's password"`
}

// SignedIn is the member who has signed in, with the session.
type SignedIn struct {
	User    auth.User    `json:"user"`
	Session auth.Session `json:"session"`
}

// A Current is the signed-in member, if there is one.
type Current struct {
	SignedIn bool          `json:"signed_in"`
	User     *auth.User    `json:"user"`
	Session  *auth.Session `json:"session"`
	Can      Can           `json:"can" doc:"Permissions of the member's role; all false if no one is signed in"`
}

// A Can lists what a member's role allows, so clients need not know the roles.
type Can struct {
	Write bool `json:"write" doc:"Can use what requires full_access"`
	Admin bool `json:"admin" doc:"Can use what is reserved for admins (x-admin)"`
}

func (d *Desk) login(w http.ResponseWriter, r *http.Request) error {
	if err := d.local(r); err != nil {
		return err
	}
	var in SignIn
	if err := body(r, &in); err != nil {
		return err
	}
	if in.Email == "" || in.Password == "" {
		return errs.New(errs.ValidationError, "give email and password")
	}
	e, err := d.Auth.SignIn(r.Context(), in.Email, in.Password, address(r))
	if err != nil {
		return err
	}
	s, err := d.open(w, r, e)
	if err != nil {
		return err
	}
	return answer(w, SignedIn{e.User, s})
}

func (d *Desk) logout(w http.ResponseWriter, r *http.Request) error {
	if err := d.local(r); err != nil {
		return err
	}
	if err := d.leave(w, r); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (d *Desk) session(w http.ResponseWriter, r *http.Request) error {
	actor, err := d.visitor(r)
	if err != nil || actor.Session == nil {
		if err == nil {
			err = answer(w, Current{})
		}
		return err
	}
	s, u, err := d.Auth.CurrentSession(r.Context(), actor)
	if err != nil {
		return err
	}
	return answer(w, Current{true, &u, &s, Can{
		Write: op.Allowed(op.Full, actor) == nil, Admin: actor.Role == op.RoleAdmin,
	}})
}

// local rejects requests that a page of another site made a browser send. Everything that changes
// something calls it first, including sign-in: otherwise a stranger could sign someone in to the
// stranger's own account without their noticing.
func (d *Desk) local(r *http.Request) error {
	if err := d.foreign.Check(r); err != nil {
		return errs.Wrap(err, errs.Forbidden, "requests from pages of other sites are refused")
	}
	return nil
}

// visitor returns the actor of the browser's session, or an empty actor if there is no valid
// session.
func (d *Desk) visitor(r *http.Request) (op.Actor, error) {
	session, ok := auth.SessionIn(r)
	if !ok {
		return op.Actor{}, nil
	}
	actor, err := d.Auth.Session(r.Context(), session)
	if errs.Is(err, errs.InvalidLogin) {
		return op.Actor{}, nil
	}
	return actor, err
}

// open begins a session for a member who has proven who they are. It ends the browser's previous
// session, so that a browser has at most one.
func (d *Desk) open(w http.ResponseWriter, r *http.Request, e auth.SignIn) (auth.Session, error) {
	before, err := d.visitor(r)
	if err == nil {
		err = d.Auth.CloseSession(r.Context(), before)
	}
	if err != nil {
		return auth.Session{}, err
	}
	e.Plain = d.plain(r)
	s, secret, err := d.Auth.OpenSession(r.Context(), e, browser(r))
	if err != nil {
		return auth.Session{}, err
	}
	http.SetCookie(w, d.cookie(r, secret, auth.SessionLife))
	return s, nil
}

// leave ends the browser's session and deletes the cookie.
func (d *Desk) leave(w http.ResponseWriter, r *http.Request) error {
	actor, err := d.visitor(r)
	if err != nil {
		return err
	}
	http.SetCookie(w, d.cookie(r, "", -1))
	return d.Auth.CloseSession(r.Context(), actor)
}

// cookie returns the session's cookie. It is Lax and not Strict, so that someone who returns from a
// bank's or an assistant's page is still signed in.
func (d *Desk) cookie(r *http.Request, value string, life time.Duration) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // Secure is off only where plain HTTP was opted into
		Name: auth.SessionCookie, Value: value, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(life.Seconds()),
	}
	if d.plain(r) {
		c.Name, c.Secure = auth.PlainCookie, false
	}
	if life < 0 {
		c.MaxAge = -1
	}
	return c
}

func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// form parses the form of a request, from its address or its body. It rejects values that are not
// text, because the database would reject them as an internal error.
func form(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errs.Wrap(err, errs.InvalidBody, "the form did not arrive completely; send it again")
	}
	for _, values := range r.Form {
		if slices.ContainsFunc(values, func(v string) bool {
			return !utf8.ValidString(v) ||
				strings.ContainsRune(v, 0)
		}) {
			return errs.New(errs.InvalidBody,
				"a field contains something that is not text; remove it and send the form again")
		}
	}
	return nil
}

func body(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return errs.New(errs.UnsupportedMediaType,
			"send the body as application/json (header Content-Type: application/json)")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return errs.New(errs.PayloadTooLarge, "the body is too large")
		}
		return errs.New(errs.InvalidBody, "the body is not the JSON object that this address takes; /docs shows it")
	}
	return nil
}

func answer(w http.ResponseWriter, v any) error { return Answer(w, http.StatusOK, v) }
