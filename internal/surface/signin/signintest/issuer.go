// Package signintest is an identity provider for tests. It vouches for any subject that a test
// chooses. It is written from the standard alone and must not import signin, so that the client is
// not checked by its own code.
package signintest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// An Issuer is an identity provider. Tests change its behavior with Set.
type Issuer struct {
	URL string

	key   *rsa.PrivateKey // it publishes the public half
	mu    sync.Mutex
	is    Behavior
	codes map[string]url.Values // the requests, by code
}

// A Behavior determines whom an issuer vouches for, and what is wrong with its responses.
type Behavior struct {
	Refuses  bool   // the visitor declines
	Subject  string // "248289761001" if empty
	Nonce    string // in place of the requested one
	Audience string // "coffer" if empty
	Forged   bool   // signed with another key
	Age      int    // seconds since the subject signed in there; 0 omits the claim
}

// New starts an issuer that signs everyone in as the same subject.
func New(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.about)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	i.URL = s.URL
	return i
}

// Set changes the issuer's behavior.
func (i *Issuer) Set(b Behavior) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.is = b
}

var b64 = base64.RawURLEncoding.EncodeToString

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // texts and lists; a reader that has gone needs no answer
}

func (i *Issuer) about(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"jwks_uri":                              i.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	e := binary.BigEndian.AppendUint32(nil, uint32(i.key.E)) // 65537
	write(w, http.StatusOK, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig",
		"kid": "1", "n": b64(i.key.N.Bytes()), "e": b64(e[1:]),
	}}})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	answer := url.Values{"state": {q.Get("state")}}
	if i.is.Refuses {
		answer.Set("error", "access_denied")
	} else {
		answer.Set("code", rand.Text())
		i.codes[answer.Get("code")] = q
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther) //nolint:gosec // to whoever asks: it is a test's own
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	code := r.FormValue("code")
	asked, ok := i.codes[code]
	delete(i.codes, code)
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || asked.Get("code_challenge") != b64(sum[:]) || asked.Get("code_challenge_method") != "S256" {
		write(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	either := func(given, usual string) string {
		if given == "" {
			return usual
		}
		return given
	}
	now := time.Now()
	payload := map[string]any{
		"iss": i.URL, "sub": either(i.is.Subject, "248289761001"), "aud": either(i.is.Audience, "coffer"),
		"nonce": either(i.is.Nonce, asked.Get("nonce")),
		"iat":   now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
	if i.is.Age > 0 {
		payload["auth_time"] = now.Unix() - int64(i.is.Age)
	}
	signer := i.key
	if i.is.Forged {
		signer, _ = rsa.GenerateKey(rand.Reader, 2048) // the length is valid
	}
	claims, _ := json.Marshal(payload) //nolint:errchkjson // texts and numbers
	signed := b64([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + b64(claims)
	hash := sha256.Sum256([]byte(signed))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, signer, crypto.SHA256, hash[:]) // the hash has its length
	write(w, http.StatusOK, map[string]any{
		"access_token": "x", "token_type": "Bearer",
		"id_token": signed + "." + b64(signature),
	})
}
