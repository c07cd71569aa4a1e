package oauth

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"coffer/internal/platform/text"
	"coffer/internal/surface/signin"
)

const maxTitle = 80 // characters of a name that a member is shown

// A description is a client's data about itself, from its registration (RFC 7591) or its document.
// Other members are ignored, as the standards require.
type description struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method"`
}

// title returns the client's name in a form that can be shown: one short line of visible text.
func (d description) title() string {
	if shown := text.Line(d.Name, maxTitle).Plain(); shown != "" {
		return shown
	}
	return "A program without a name"
}

// redirects reports whether a browser may be sent to every redirect address.
func (d description) redirects() bool {
	for _, one := range d.RedirectURIs {
		if _, ok := redirectable(one); !ok {
			return false
		}
	}
	return len(d.RedirectURIs) > 0 && len(d.RedirectURIs) <= maxRedirects
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_client_metadata",
			"send a JSON object (header Content-Type: application/json)")
	}
	raw, err := io.ReadAll(r.Body)
	var d description
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_client_metadata",
			"the body is not the JSON object of RFC 7591")
	}
	if !d.redirects() {
		return signin.Refuse(w, http.StatusBadRequest, "invalid_redirect_uri",
			"give one to ten redirect_uris: https, http on the same computer, or a scheme of the program's own; no "+
				"fragment")
	}
	c, err := s.auth().Register(r.Context(), d.title(), d.RedirectURIs, signin.Address(r))
	if err != nil {
		return err
	}
	return signin.Answer(w, http.StatusCreated, map[string]any{
		"client_id": c.Name, "client_id_issued_at": c.CreatedAt.Time().Unix(), "client_name": c.Title,
		"redirect_uris": c.RedirectURIs,
		"grant_types":   []string{codeGrant, refreshGrant}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none", "scope": read + " " + write,
	})
}
