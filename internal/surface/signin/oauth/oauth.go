// Package oauth gives assistants access to /mcp: a program requests access, a signed-in member
// consents on a page of coffer, and the program gets tokens that are valid only for that address.
// The package contains the protocol (OAuth 2.1 as MCP requires it) and its pages. Package auth
// stores and checks the grants. Package oauth must not know what a token is used for.
package oauth

import (
	"net/http"
	"slices"
	"strings"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/surface/signin"
)

// The scopes in the protocol; write includes read.
const (
	read  = "read"
	write = "write"
)

// A Server serves assistants that do not have a token yet.
type Server struct {
	Desk *signin.Desk
	Docs *Documents // reads the documents in which clients describe themselves
}

// All addresses begin with the configured address, never with an address from a request. The issuer
// has a path, so that there is no OAuth metadata at the root of the host. Clients that find
// metadata there ignore the key that they were given for /mcp/key.
const (
	issuerPath   = "/oauth"
	resourcePath = "/mcp"
	aboutPath    = "/.well-known/oauth-protected-resource" + resourcePath
	serverPath   = "/.well-known/oauth-authorization-server" + issuerPath
	apiPath      = "/api/v1"
)

func (s *Server) issuer() string { return s.Desk.Base + issuerPath }

// Resource returns the address that agents' tokens are issued for.
func (s *Server) Resource() string { return s.Desk.Base + resourcePath }

// API returns the address of the REST interface, for which tokens can also be issued.
func (s *Server) API() string { return s.Desk.Base + apiPath }

// Routes returns all routes of the server.
func (s *Server) Routes() []signin.Route {
	return []signin.Route{
		{Pattern: "GET " + aboutPath, Serve: s.about},
		{Pattern: "GET " + serverPath, Serve: s.metadata},
		{Pattern: "POST " + issuerPath + "/register", Serve: s.register},
		{Pattern: "GET " + issuerPath + "/authorize", Serve: s.Desk.Page(s.ask)},
		{Pattern: "POST " + issuerPath + "/authorize", Serve: s.Desk.Page(s.decide)},
		{Pattern: "GET /account/assistants", Serve: s.Desk.Page(s.list)},
		{Pattern: "POST /account/assistants/end", Serve: s.Desk.Page(s.end)},
	}
}

// about describes the protection of /mcp (RFC 9728). It lists both scopes, as the challenge does.
// Most clients request exactly the listed scopes, once, and never again. The member chooses which
// scope to grant.
func (s *Server) about(w http.ResponseWriter, _ *http.Request) error {
	return public(w, map[string]any{
		"resource": s.Resource(), "authorization_servers": []string{s.issuer()},
		"scopes_supported": []string{read, write}, "bearer_methods_supported": []string{"header"},
		"resource_name": "coffer",
	})
}

// metadata describes the abilities of the authorization server (RFC 8414).
func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) error {
	at := s.issuer()
	return public(w, map[string]any{
		"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
		"registration_endpoint": at + "/register",
		"revocation_endpoint":   at + "/revoke", "device_authorization_endpoint": at + "/device_authorization",
		"response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported":            []string{codeGrant, refreshGrant, signin.DeviceGrant},
		"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{read, write, offline},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": s.Docs.On(),
	})
}

// public writes a response that pages of every origin may read.
func public(w http.ResponseWriter, v any) error {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	return signin.Answer(w, http.StatusOK, v)
}

// Refused adds the address of the metadata to an error response, if the program has no valid token.
func (s *Server) Refused(h http.Header, err error) {
	face := errs.Public(err, "")
	if face.Kind() != errs.KindUnauthenticated {
		return
	}
	challenge := `Bearer resource_metadata="` + s.Desk.Base + aboutPath + `", scope="` + scopes(op.Full) + `"`
	if face.Code != errs.MissingAPIKey {
		challenge += `, error="invalid_token"`
	}
	h.Set("WWW-Authenticate", challenge)
}

// Further responds that the token's scope is not sufficient, and names the scope to request.
func (s *Server) Further(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scopes(op.Full)+
		`", resource_metadata="`+s.Desk.Base+aboutPath+
		`", error_description="this tool makes changes, and the token may only read"`)
	_ = signin.Answer(w, http.StatusForbidden, errs.New(errs.InsufficientScope,
		"this tool makes changes; ask the member for the scopes %s and %s", read, write).Face())
}

// scopes returns the protocol's names of a scope.
func scopes(s op.Scope) string {
	if s == op.Full {
		return read + " " + write
	}
	return read
}

const offline = "offline_access" // tokens can be renewed anyway; clients ask for it before they believe it

// parseScope reads the requested scope; an empty text means read. Unknown scopes are ignored. A
// member may grant less or more. The response states the granted scope, as RFC 6749 requires.
func parseScope(asked string) (scope op.Scope, ok bool) {
	names := strings.Fields(asked)
	switch {
	case slices.Contains(names, write):
		return op.Full, true
	case len(names) == 0, slices.Contains(names, read), slices.Contains(names, offline):
		return op.Read, true
	}
	return 0, false
}

// auth returns the household's Auth.
func (s *Server) auth() *auth.Auth { return s.Desk.Auth }
