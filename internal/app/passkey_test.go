package app_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/auth"
	"coffer/internal/pg/pgtest"
	"coffer/internal/seal"
)

var b64 = base64.RawURLEncoding.EncodeToString

// An authenticator is a device with one passkey, as the standard describes one.
type authenticator struct {
	key     *ecdsa.PrivateKey
	id      []byte
	user    string // the handle that it was made for
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

// create answers a registration.
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
	data := a.data(0x45, more) // present, verified, with a credential
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return a.answer(map[string]string{"clientDataJSON": b64(a.client("webauthn.create", challenge)), "attestationObject": b64(append(object, data...))})
}

// get answers a sign-in.
func (a *authenticator) get(challenge string) string {
	data, client := a.data(0x05, nil), a.client("webauthn.get", challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(bytes.Clone(data), hash[:]...))
	signature, _ := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	return a.answer(map[string]string{"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64([]byte(a.user))})
}

func (a *authenticator) answer(response map[string]string) string {
	b, _ := json.Marshal(map[string]any{"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{}})
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
	// What was begun by one member cannot be finished by another, and then is used up.
	_, cookie := v.session(t, "member")
	other := &visitor{world: v.world, cookie: cookie}
	if r := other.script(t, "/account/passkeys/finish?ticket="+c.Ticket, device.create(c.Options.Challenge, string(handle))); r.code() != "FORBIDDEN" {
		t.Errorf("finished by another: %d %s", r.status, r.body)
	}
	c = begin(t, v, "/account/passkeys/begin")
	if r := v.script(t, "/account/passkeys/finish?ticket="+c.Ticket, device.create("wrong", string(handle))); r.code() != "INVALID_LOGIN" {
		t.Errorf("for another challenge: %d %s", r.status, r.body)
	}
	c = begin(t, v, "/account/passkeys/begin")
	if r := v.script(t, "/account/passkeys/finish?ticket="+c.Ticket, device.create(c.Options.Challenge, string(handle))); r.status != 200 {
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
		if again := one.script(t, "/login/passkey/finish?ticket="+c.Ticket, tool.get(c.Options.Challenge)); again.status == 200 {
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
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'; ") || !strings.Contains(policy, "connect-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
}

// An issuer is an identity provider that vouches for whoever it is told to.
type issuer struct {
	*httptest.Server
	signer   *rsa.PrivateKey // whose public half it publishes, unless it is spoilt
	subject  string
	nonce    string
	audience string
	age      int // seconds since the subject signed in there; less than zero where it does not say
	codes    map[string]url.Values
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{signer: key, subject: "248289761001", audience: "coffer", age: -1, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		e := binary.BigEndian.AppendUint32(nil, uint32(key.E))
		write(w, map[string]any{"keys": []any{map[string]string{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": b64(key.N.Bytes()), "e": b64(e[1:])}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := rand.Text()
		i.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		asked, ok := i.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || asked.Get("code_challenge") != b64(sum[:]) || asked.Get("code_challenge_method") != "S256" {
			w.WriteHeader(http.StatusBadRequest)
			write(w, map[string]string{"error": "invalid_grant"})
			return
		}
		nonce := asked.Get("nonce")
		if i.nonce != "" {
			nonce = i.nonce
		}
		said := map[string]any{"iss": i.URL, "sub": i.subject, "aud": i.audience, "nonce": nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()}
		if i.age >= 0 {
			said["auth_time"] = time.Now().Unix() - int64(i.age)
		}
		claims, _ := json.Marshal(said)
		signed := b64([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + b64(claims)
		hash := sha256.Sum256([]byte(signed))
		signature, _ := rsa.SignPKCS1v15(rand.Reader, i.signer, crypto.SHA256, hash[:])
		write(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": signed + "." + b64(signature)})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// travel goes to the issuer and comes back, as a browser does.
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
	i := newIssuer(t)
	v := &visitor{world: newWorldOn(t, pgtest.URL(t), app.Config{OIDCIssuer: i.URL, OIDCClientID: "coffer", OIDCClientSecret: seal.NewSecret("secret"), OIDCName: "Example"})}
	ticket, err := v.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	v.do(t, "POST", "/setup/"+ticket, url.Values{"name": {"Robin"}, "email": {"robin@example.com"}, "password": {password}})
	sign := func() (*visitor, reply, string) {
		one := &visitor{world: v.world}
		r, to := one.do(t, "GET", "/login/oidc?next=/device", nil)
		back, next := one.travel(t, to, tripCookie(r))
		return one, back, next
	}
	if who, r, _ := sign(); r.status != http.StatusUnauthorized || who.cookie != "" {
		t.Errorf("someone whom nobody knows: %d %s", r.status, r.body)
	}
	// A member joins the account, on a page of ours that leads there.
	r, _ := v.do(t, "POST", "/account/oidc", url.Values{})
	to := strings.ReplaceAll(strings.SplitN(strings.SplitN(r.body, `class="button" href="`, 2)[1], `"`, 2)[0], "&amp;", "&")
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
	refused := func(name string, spoil, mend func()) {
		spoil()
		defer mend()
		if who, r, _ := sign(); r.status != http.StatusUnauthorized || who.cookie != "" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	refused("another subject", func() { i.subject = "other" }, func() { i.subject = "248289761001" })
	refused("another nonce", func() { i.nonce = "other" }, func() { i.nonce = "" })
	refused("another audience", func() { i.audience = "other" }, func() { i.audience = "coffer" })
	honest := i.signer
	refused("another key", func() { i.signer = must(rsa.GenerateKey(rand.Reader, 2048)) }, func() { i.signer = honest })
	// A stranger's link: the way back in a browser that did not set out.
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return v
}
