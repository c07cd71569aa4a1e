package signin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

//go:embed passkey.js
var passkeyJS []byte

// script is the only script of these pages. Everything except passkeys works without it.
var script = htmlpage.NewFile("passkey.js", "text/javascript; charset=utf-8", passkeyJS)

// withScript lets a page run the script, and lets the script call the server.
func withScript(p htmlpage.Page) htmlpage.Page {
	p.Script, p.Allow.Connect = script, []string{"'self'"}
	return p
}

// passkeyLife is how long a member may take to touch the device.
const passkeyLife = 5 * time.Minute

// relyingParty returns the relying party of passkeys: the host at which people reach the server.
// Browsers reject numeric addresses. For these it uses localhost, which works on the server's own
// machine.
func relyingParty(base string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("COFFER_PUBLIC_URL: %w", err)
	}
	name, origin := u.Hostname(), u.Scheme+"://"+u.Host
	if name == "" || net.ParseIP(name) != nil {
		name, origin = "localhost", u.Scheme+"://localhost"
		if u.Port() != "" {
			origin += ":" + u.Port()
		}
	}
	return webauthn.New(&webauthn.Config{RPID: name, RPDisplayName: "coffer", RPOrigins: []string{origin}})
}

// passkeyOrigin returns the only address at which passkeys work. On pages at any other address the
// script offers none.
func (d *Desk) passkeyOrigin() string { return d.party.Config.RPOrigins[0] }

func (d *Desk) passkeyRoutes() []Route {
	return []Route{
		{Pattern: "POST /account/passkeys/begin", Serve: d.scripted(d.beginPasskey)},
		{Pattern: "POST /account/passkeys/finish", Serve: d.scripted(d.finishPasskey)},
		{Pattern: "POST /join/{token}/passkey/begin", Serve: d.scripted(d.beginJoin)},
		{Pattern: "POST /join/{token}/passkey/finish", Serve: d.scripted(d.finishJoin)},
		{Pattern: "POST /login/passkey/begin", Serve: d.scripted(d.beginPasskeyLogin)},
		{Pattern: "POST /login/passkey/finish", Serve: d.scripted(d.finishPasskeyLogin)},
	}
}

// scripted turns a function into a route for the script. Its requests are checked like those of a
// page, but its responses are like the API's.
func (d *Desk) scripted(f func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := d.local(r); err != nil {
			return err
		}
		if err := d.confidential(r); err != nil {
			return err
		}
		return f(w, r)
	}
}

// A holder is a member in the form that the passkey library expects.
type holder struct {
	user     auth.User
	passkeys []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return []byte(h.user.ID.String()) }
func (h holder) WebAuthnDisplayName() string                { return h.user.Name }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.passkeys }
func (h holder) WebAuthnName() string {
	if h.user.Email != nil {
		return *h.user.Email
	}
	return h.user.Name
}

func (d *Desk) holder(r *http.Request, u auth.User) (holder, error) {
	h := holder{user: u}
	proofs, err := d.Auth.Passkeys(r.Context(), u.ID)
	for _, p := range proofs {
		var c webauthn.Credential
		if e := json.Unmarshal([]byte(p), &c); e != nil {
			return h, fmt.Errorf("read a passkey: %w", e)
		}
		h.passkeys = append(h.passkeys, c)
	}
	return h, err
}

// A Ceremony is the data that the script passes to the browser, and a ticket. The script sends the
// ticket back together with the browser's response.
type Ceremony struct {
	Ticket  string `json:"ticket"`
	Options any    `json:"options"`
}

func (d *Desk) begun(w http.ResponseWriter, r *http.Request, actor op.Actor, options any,
	state *webauthn.SessionData,
) error {
	data, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("store a challenge: %w", err)
	}
	ticket, err := d.Auth.Issue(r.Context(), auth.PasskeyTicket, auth.Ticket{Member: actor.Member, Data: data},
		passkeyLife)
	if err != nil {
		return err
	}
	return answer(w, Ceremony{ticket, options})
}

// state returns the challenge that belongs to the ticket in the address, and uses the ticket up.
func (d *Desk) state(r *http.Request, actor op.Actor) (webauthn.SessionData, error) {
	var s webauthn.SessionData
	t, err := d.Auth.Redeem(r.Context(), auth.PasskeyTicket, r.URL.Query().Get("ticket"))
	if err != nil {
		return s, err
	}
	if (t.Member == nil) != (actor.Member == nil) || t.Member != nil && *t.Member != *actor.Member {
		return s, errs.New(errs.Forbidden, "someone else started this; start again")
	}
	if err := json.Unmarshal(t.Data, &s); err != nil {
		return s, fmt.Errorf("read a challenge: %w", err)
	}
	return s, nil
}

// signedIn returns the member whose browser runs the script.
func (d *Desk) signedIn(r *http.Request) (op.Actor, holder, error) {
	actor, err := d.visitor(r)
	if err != nil {
		return actor, holder{}, err
	}
	if actor.Session == nil {
		return actor, holder{}, errs.New(errs.InvalidLogin, "your session has ended; sign in again")
	}
	_, u, err := d.Auth.CurrentSession(r.Context(), actor)
	if err != nil {
		return actor, holder{}, err
	}
	h, err := d.holder(r, u)
	return actor, h, err
}

func (d *Desk) beginPasskey(w http.ResponseWriter, r *http.Request) error {
	actor, h, err := d.signedIn(r)
	if err == nil {
		err = op.Proven(actor)
	}
	if err != nil {
		return err
	}
	return d.register(w, r, actor, h)
}

// register starts to add a passkey for a member.
func (d *Desk) register(w http.ResponseWriter, r *http.Request, actor op.Actor, h holder) error {
	options, state, err := d.party.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.passkeys).CredentialDescriptors()),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		}))
	if err != nil {
		return fmt.Errorf("start to add a passkey: %w", err)
	}
	return d.begun(w, r, actor, options.Response, state)
}

func (d *Desk) finishPasskey(w http.ResponseWriter, r *http.Request) error {
	actor, h, err := d.signedIn(r)
	if err != nil {
		return err
	}
	credential, proof, err := d.registered(r, actor, h)
	if err != nil {
		return err
	}
	if err := d.Auth.AddPasskey(r.Context(), actor, browser(r), credential, proof); err != nil {
		return err
	}
	return answer(w, Next{"/account?done=passkey"})
}

// registered returns the id and the stored form of the passkey that the browser created.
func (d *Desk) registered(r *http.Request, actor op.Actor, h holder) (credential []byte, proof string, err error) {
	state, err := d.state(r, actor)
	if err != nil {
		return nil, "", err
	}
	c, err := d.party.FinishRegistration(h, state, r)
	if err != nil {
		return nil, "", errs.Wrap(err, errs.InvalidLogin, "this passkey cannot be used here; try again")
	}
	c.Attestation = webauthn.CredentialAttestation{} // names the maker of the device, which coffer does not need
	text, err := json.Marshal(c)
	if err != nil {
		return nil, "", fmt.Errorf("store a passkey: %w", err)
	}
	return c.ID, string(text), nil
}

// A Next is the address where the script continues.
type Next struct {
	Next string `json:"next"`
}

func (d *Desk) beginPasskeyLogin(w http.ResponseWriter, r *http.Request) error {
	if err := d.Auth.Knock(r.Context(), "passkey", address(r)); err != nil {
		return err
	}
	options, state, err := d.party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return fmt.Errorf("start a passkey sign-in: %w", err)
	}
	return d.begun(w, r, op.Actor{}, options.Response, state)
}

func (d *Desk) finishPasskeyLogin(w http.ResponseWriter, r *http.Request) error {
	state, err := d.state(r, op.Actor{})
	if err != nil {
		return err
	}
	find := func(credential, handle []byte) (webauthn.User, error) { //nolint:contextcheck // it is the request's
		u, err := d.Auth.PasskeyOwner(r.Context(), credential)
		if err != nil {
			return nil, err
		}
		if string(handle) != u.ID.String() {
			return nil, errs.New(errs.InvalidLogin, "this passkey belongs to someone else")
		}
		return d.holder(r, u)
	}
	_, c, err := d.party.FinishPasskeyLogin(find, state, r)
	if err != nil {
		return errs.Wrap(err, errs.InvalidLogin, "this passkey is not a sign-in method here")
	}
	if c.Authenticator.CloneWarning {
		return errs.New(errs.InvalidLogin, "this passkey seems to have been copied; sign in another way and delete it")
	}
	proof, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("store a passkey: %w", err)
	}
	e, err := d.Auth.UsePasskey(r.Context(), c.ID, string(proof))
	if err != nil {
		return err
	}
	if _, err := d.open(w, r, e); err != nil {
		return err
	}
	return answer(w, Next{inside(r.URL.Query().Get("next"))})
}
