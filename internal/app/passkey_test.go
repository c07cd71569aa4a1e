package app_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/surface/signin/signintest"
)

var b64 = base64.RawURLEncoding.EncodeToString

// An authenticator simulates a device with one passkey, as the WebAuthn standard describes it.
type authenticator struct {
	key     *ecdsa.PrivateKey
	id      []byte
	user    string // the user handle for which the passkey was created
	counter uint32
	origin  string
	rp      string
}

func (a *authenticator) data(flags byte, more []byte) []byte {
	a.counter++
	rp := sha256.Sum256([]byte(a.rp))
	out := append(rp[:], flags)
	out = binary.BigEndian.AppendUint32(out, a.counter)
	return append(out, more...)
}

func (a *authenticator) client(kind, challenge string) []byte {
	b, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	return b
}

// create returns the response to a registration.
func (a *authenticator) create(challenge, user string) string {
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.id = make([]byte, 32)
	_, _ = rand.Read(a.id)
	a.user = user
	public, _ := a.key.PublicKey.Bytes() // 4, x, y
	more := append(make([]byte, 16), 0, 32)
	more = append(more, a.id...)
	more = append(more, 0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20)
	more = append(more, public[1:33]...)
	more = append(more, 0x22, 0x58, 0x20)
	more = append(more, public[33:]...)
	data := a.data(0x45, more) // flags: user present, user verified, credential attached
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return a.answer(map[string]string{
		"clientDataJSON":    b64(a.client("webauthn.create", challenge)),
		"attestationObject": b64(append(object, data...)),
	})
}

// get returns the response to a sign-in.
func (a *authenticator) get(challenge string) string {
	data, client := a.data(0x05, nil), a.client("webauthn.get", challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(bytes.Clone(data), hash[:]...))
	signature, _ := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	return a.answer(map[string]string{
		"clientDataJSON": b64(client), "authenticatorData": b64(data),
		"signature": b64(signature), "userHandle": b64([]byte(a.user)),
	})
}

func (a *authenticator) answer(response map[string]string) string {
	b, _ := json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{},
	})
	return string(b)
}

func (v *visitor) script(t *testing.T, path, body string) reply {
	t.Helper()
	x := exchange{method: "POST", path: path, body: body, header: map[string]string{"Sec-Fetch-Site": "same-origin"}}
	if v.cookie != "" {
		x.header["Cookie"] = auth.SessionCookie + "=" + v.cookie
	}
	r := v.send(t, x)
	if set := r.header.Get("Set-Cookie"); set != "" {
		v.cookie = strings.TrimPrefix(strings.SplitN(set, ";", 2)[0], auth.SessionCookie+"=")
	}
	return r
}

type ceremony struct {
	Ticket  string `json:"ticket"`
	Options struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
		RP struct {
			ID string `json:"id"`
		} `json:"rp"`
		UserVerification string `json:"userVerification"`
	} `json:"options"`
}

func begin(t *testing.T, v *visitor, path string) ceremony {
	t.Helper()
	r := v.script(t, path, "")
	var c ceremony
	if err := json.Unmarshal([]byte(r.body), &c); err != nil || r.status != 200 || c.Ticket == "" {
		t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return c
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	v := settled(t)
	device := &authenticator{origin: "http://localhost", rp: "localhost"}
	c := begin(t, v, "/account/passkeys/begin")
	handle, _ := base64.RawURLEncoding.DecodeString(c.Options.User.ID)
	if c.Options.RP.ID != "localhost" {
		t.Errorf("the party is %q", c.Options.RP.ID)
	}
	stranger := &visitor{world: v.world}
	if r := stranger.script(t, "/account/passkeys/begin", ""); r.code() != "INVALID_LOGIN" {
		t.Errorf("nobody makes a passkey: %d %s", r.status, r.body)
	}
	// A registration begun by one member cannot be finished by another, and the try uses it up.
	_, cookie := v.session(t, "member")
	other := &visitor{world: v.world, cookie: cookie}
	if r := other.script(t, "/account/passkeys/finish?ticket="+c.Ticket,
		device.create(c.Options.Challenge, string(handle))); r.code() != "FORBIDDEN" {
		t.Errorf("finished by another: %d %s", r.status, r.body)
	}
	c = begin(t, v, "/account/passkeys/begin")
	if r := v.script(t, "/account/passkeys/finish?ticket="+c.Ticket,
		device.create("wrong", string(handle))); r.code() != "INVALID_LOGIN" {
		t.Errorf("for another challenge: %d %s", r.status, r.body)
	}
	c = begin(t, v, "/account/passkeys/begin")
	if r := v.script(t, "/account/passkeys/finish?ticket="+c.Ticket,
		device.create(c.Options.Challenge, string(handle))); r.status != 200 {
		t.Fatalf("make one: %d %s", r.status, r.body)
	}
	sign := func(spoil func(*authenticator)) (*visitor, reply) {
		one, tool := &visitor{world: v.world}, *device
		c := begin(t, one, "/login/passkey/begin")
		if c.Options.UserVerification != "required" {
			t.Error("the device need not verify who holds it")
		}
		if spoil != nil {
			spoil(&tool)
		}
		r := one.script(t, "/login/passkey/finish?next=/device&ticket="+c.Ticket, tool.get(c.Options.Challenge))
		if again := one.script(t, "/login/passkey/finish?ticket="+c.Ticket,
			tool.get(c.Options.Challenge)); again.status == 200 {
			t.Error("a challenge was used twice")
		}
		if r.status == 200 {
			device.counter = tool.counter
		}
		return one, r
	}
	one, r := sign(nil)
	if r.status != 200 || !strings.Contains(r.body, `"/device"`) {
		t.Fatalf("sign in: %d %s", r.status, r.body)
	}
	if r, _ := one.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, `"Robin"`) {
		t.Errorf("who came in: %s", r.body)
	}
	for name, spoil := range map[string]func(*authenticator){
		"another origin":   func(a *authenticator) { a.origin = "https://evil.example" },
		"another party":    func(a *authenticator) { a.rp = "evil.example" },
		"another key":      func(a *authenticator) { a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		"another member":   func(a *authenticator) { a.user = "someone" },
		"another device":   func(a *authenticator) { a.id = []byte("unknown, but long enough") },
		"an older counter": func(a *authenticator) { a.counter = 0 },
	} {
		if who, r := sign(spoil); r.code() != "INVALID_LOGIN" || who.cookie != "" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if _, r := sign(nil); r.status != 200 {
		t.Errorf("control: %d %s", r.status, r.body)
	}
	page, _ := v.do(t, "GET", "/login", nil)
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'; ") ||
		!strings.Contains(policy, "connect-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
}

// travel sends the browser to the issuer and back.
func (v *visitor) travel(t *testing.T, to, cookie string) (reply, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || back.Path != "/login/oidc/callback" {
		t.Fatalf("the issuer sends to %s", res.Header.Get("Location"))
	}
	both := "__Host-coffer-oidc=" + cookie
	if v.cookie != "" {
		both += "; " + auth.SessionCookie + "=" + v.cookie
	}
	return v.do(t, "GET", back.RequestURI(), nil, "Sec-Fetch-Site", "cross-site", "Cookie", both)
}

func tripCookie(r reply) string {
	for _, set := range r.header.Values("Set-Cookie") {
		if value, ok := strings.CutPrefix(set, "__Host-coffer-oidc="); ok {
			return strings.SplitN(value, ";", 2)[0]
		}
	}
	return ""
}

func TestIdentityProvider(t *testing.T) {
	t.Parallel()
	i := signintest.New(t)
	v := &visitor{world: newWorldOn(t, pgtest.URL(t), app.Config{
		OIDCIssuer: i.URL, OIDCClientID: "coffer",
		OIDCClientSecret: seal.NewSecret("secret"), OIDCName: "Example",
	})}
	ticket, err := v.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	v.do(t, "POST", "/setup/"+ticket, url.Values{
		"name": {"Robin"}, "email": {"robin@example.com"},
		"password": {password},
	})
	sign := func() (*visitor, reply, string) {
		one := &visitor{world: v.world}
		r, to := one.do(t, "GET", "/login/oidc?next=/device", nil)
		back, next := one.travel(t, to, tripCookie(r))
		return one, back, next
	}
	if who, r, _ := sign(); r.status != http.StatusUnauthorized || who.cookie != "" {
		t.Errorf("someone whom nobody knows: %d %s", r.status, r.body)
	}
	// The member adds the identity from the account page, which leads to the issuer.
	r, _ := v.do(t, "POST", "/account/oidc", url.Values{})
	to := strings.ReplaceAll(strings.SplitN(strings.SplitN(r.body, `class="button" href="`, 2)[1], `"`, 2)[0], "&amp;",
		"&")
	if back, next := v.travel(t, to, tripCookie(r)); next != "/account?done=oidc" {
		t.Fatalf("join: %d %s", back.status, back.body)
	}
	who, back, next := sign()
	if next != "/device" || who.cookie == "" {
		t.Fatalf("sign in: %d %s", back.status, back.body)
	}
	if r, _ := who.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, `"Robin"`) {
		t.Errorf("who came in: %s", r.body)
	}
	for name, spoilt := range map[string]signintest.Behavior{
		"another subject": {Subject: "other"}, "another nonce": {Nonce: "other"},
		"another audience": {Audience: "other"}, "another key": {Forged: true}, "a change of mind": {Refuses: true},
	} {
		i.Set(spoilt)
		if who, r, _ := sign(); r.status != http.StatusUnauthorized || who.cookie != "" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	i.Set(signintest.Behavior{})
	// An attacker sends somebody a link: the return address opens in a browser that did not start
	// the sign-in.
	one := &visitor{world: v.world}
	_, to = one.do(t, "GET", "/login/oidc", nil)
	if r, _ := (&visitor{world: v.world}).travel(t, to, ""); r.status != http.StatusUnauthorized {
		t.Errorf("without the cookie: %d", r.status)
	}
	if r, _ := (&visitor{world: v.world}).travel(t, to, "another"); r.status != http.StatusUnauthorized {
		t.Errorf("with another cookie: %d", r.status)
	}
	if page, _ := v.do(t, "GET", "/login", nil); !strings.Contains(page.body, "Sign in with Example") {
		t.Error("the page does not offer it")
	}
}
