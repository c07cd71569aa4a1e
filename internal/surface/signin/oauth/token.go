package oauth

import (
	"errors"
	"net/http"
	"net/url"

	"coffer/internal/people/auth"
	"coffer/internal/surface/signin"
)

const (
	codeGrant    = "authorization_code"
	refreshGrant = "refresh_token"
)

// Grants returns the grant types that this package adds to the token endpoint.
func (s *Server) Grants() map[string]func(http.ResponseWriter, *http.Request) error {
	return map[string]func(http.ResponseWriter, *http.Request) error{codeGrant: s.redeem, refreshGrant: s.refresh}
}

// client returns the program that sends a form. A program has no secret: its verifier or its token
// is the proof. Some programs send their client_id only as the user of HTTP's basic authentication,
// and put it in the form only after that failed.
func (s *Server) client(w http.ResponseWriter, r *http.Request) (string, bool, error) {
	name := r.PostForm.Get("client_id")
	user, _, basic := r.BasicAuth()
	if name == "" && basic {
		if plain, err := url.QueryUnescape(user); err == nil {
			name = plain
		}
	}
	if name == "" {
		return "", false, signin.Refuse(w, http.StatusBadRequest, "invalid_request", "client_id is required")
	}
	_, err := s.auth().Client(r.Context(), name)
	if errors.Is(err, auth.ErrNoClient) {
		if basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="coffer"`)
		}
		return "", false, signin.Refuse(w, http.StatusUnauthorized, "invalid_client",
			"this client is not known; register again")
	}
	return name, err == nil, err
}

func (s *Server) redeem(w http.ResponseWriter, r *http.Request) error {
	if fault := repeated(r.PostForm, "code", "code_verifier", "redirect_uri", "client_id", "resource"); fault != "" {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_request", fault)
	}
	name, ok, err := s.client(w, r)
	if !ok {
		return err
	}
	form := r.PostForm
	if form.Get("code") == "" || !isVerifier(form.Get("code_verifier")) {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_request", "code and code_verifier are required")
	}
	g, err := s.auth().Exchange(r.Context(), auth.Redemption{
		Client: name, Code: form.Get("code"), Verifier: form.Get("code_verifier"),
		RedirectURI: form.Get("redirect_uri"), Resource: form.Get("resource"),
	})
	return granted(w, g, err)
}

func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	if fault := repeated(r.PostForm, "refresh_token", "client_id", "scope", "resource"); fault != "" {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_request", fault)
	}
	name, ok, err := s.client(w, r)
	if !ok {
		return err
	}
	in := auth.Renewal{Client: name, Refresh: r.PostForm.Get("refresh_token"), Resource: r.PostForm.Get("resource")}
	if asked := r.PostForm.Get("scope"); asked != "" {
		if in.Scope, ok = parseScope(asked); !ok {
			return signin.Refuse(w, http.StatusBadRequest, "invalid_scope", "scope must be read, or read and write")
		}
	}
	g, err := s.auth().Refresh(r.Context(), in)
	return granted(w, g, err)
}

var faults = map[error]string{
	auth.ErrInvalidGrant: "it was already used, has expired, was revoked, or belongs to another client; ask the " +
		"member again",
	auth.ErrInvalidTarget: "the member's consent is for another address",
}

func granted(w http.ResponseWriter, g auth.Tokens, err error) error {
	for refusal, why := range faults {
		if errors.Is(err, refusal) {
			return signin.Refuse(w, http.StatusBadRequest, refusal.Error(), why)
		}
	}
	if err != nil {
		return err
	}
	w.Header().Set("Pragma", "no-cache")
	return signin.Answer(w, http.StatusOK, signin.TokenAnswer{
		AccessToken: g.Access, TokenType: "Bearer", ExpiresIn: int(auth.AccessLife.Seconds()), RefreshToken: g.Refresh,
		Scope: scopes(g.Scope),
	})
}

// isVerifier checks a verifier by RFC 7636: 43 to 128 unreserved characters.
func isVerifier(v string) bool { return len(v) >= 43 && len(v) <= 128 && unreserved(v) }

func unreserved(v string) bool {
	for _, c := range []byte(v) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '.' && c != '_' &&
			c != '~' {
			return false
		}
	}
	return true
}

// repeated returns an error text if a parameter occurs twice, because it is unclear which one
// counts.
func repeated(v url.Values, names ...string) string {
	for _, n := range names {
		if len(v[n]) > 1 {
			return n + " is given more than once"
		}
	}
	return ""
}
