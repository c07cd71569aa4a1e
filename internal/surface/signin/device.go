package signin

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
	"coffer/internal/surface/htmlpage"
)

// DeviceGrant is the grant type of RFC 8628.
const DeviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// DeviceRequest is the form with which a program requests a key.
type DeviceRequest struct {
	ClientID string `json:"client_id" maxLength:"200" doc:"The name the program gives itself; it is shown to the admin who decides" example:"coffer on laptop"`
	Scope    string `json:"scope,omitempty" enum:"read_only,full_access" default:"read_only"`
}

// A DeviceAnswer contains the code that the program shows and the secret that it stores.
type DeviceAnswer struct {
	DeviceCode              string `json:"device_code" doc:"A secret of the program; never show it"`
	UserCode                string `json:"user_code" doc:"Entered by a person at verification_uri" example:"WDJB-MJHT"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int    `json:"expires_in" doc:"Seconds"`
	Interval                int    `json:"interval" doc:"Seconds to wait between two calls of /oauth/token"`
}

// TokenRequest is the form with which a program fetches its key or its tokens.
type TokenRequest struct {
	GrantType    string `json:"grant_type" enum:"urn:ietf:params:oauth:grant-type:device_code,authorization_code,refresh_token"`
	DeviceCode   string `json:"device_code,omitempty" doc:"For the device grant"`
	ClientID     string `json:"client_id,omitempty" doc:"For an assistant that a member connects at /mcp, as below"`
	Code         string `json:"code,omitempty" doc:"For the code grant: valid once, for one minute"`
	CodeVerifier string `json:"code_verifier,omitempty" doc:"For the code grant: the PKCE verifier (S256)"`
	RedirectURI  string `json:"redirect_uri,omitempty" doc:"For the code grant"`
	RefreshToken string `json:"refresh_token,omitempty" doc:"Valid once; the response contains the next one"`
	Scope        string `json:"scope,omitempty" doc:"With a refresh token: read, to get less than was granted"`
	Resource     string `json:"resource,omitempty" doc:"URL that the token is for"`
}

// A TokenAnswer contains the granted credential: a key for a device, or an access token for a
// program that a member allowed.
type TokenAnswer struct {
	AccessToken  string `json:"access_token" doc:"An API key, for X-API-Key; or an access token, for Authorization: Bearer"`
	TokenType    string `json:"token_type" example:"Bearer"`
	ExpiresIn    int    `json:"expires_in,omitempty" doc:"Seconds; for an access token"`
	RefreshToken string `json:"refresh_token,omitempty" doc:"Gets the next access token; valid once"`
	Scope        string `json:"scope" doc:"read_only or full_access for a key; read, or read and write, for an access token"`
}

// RevokeRequest is the form with which the holder of a key or token revokes it.
type RevokeRequest struct {
	Token string `json:"token" doc:"The key or token; revoking a token ends everything that came from the same consent"`
}

// revoke sends the same response whether the key existed or not. The standard requires this, and
// someone who guesses keys learns nothing.
func (d *Desk) revoke(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil || r.PostForm.Get("token") == "" {
		return refuse(w, "invalid_request", "send a form with the token")
	}
	if err := d.Auth.GiveBack(r.Context(), r.PostForm.Get("token")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (d *Desk) grants() []Route {
	refusals := []int{http.StatusTooManyRequests}
	return []Route{
		{
			Pattern: "POST /oauth/device_authorization", Serve: d.deviceAuthorization, Name: "auth.device", Form: true,
			In: op.SchemaOf[DeviceRequest](), Out: op.SchemaOf[DeviceAnswer](), Refusals: refusals,
			Summary: "Starts the device grant of RFC 8628: a program requests a key, which an admin approves " +
				"at /device.",
		},
		{
			Pattern: "POST /oauth/revoke", Serve: d.revoke, Name: "auth.revoke", Form: true,
			In:      op.SchemaOf[RevokeRequest](),
			Summary: "Revokes the given key or token (RFC 7009); anyone who holds one can revoke it.",
		},
		{
			Pattern: "POST /oauth/token", Serve: d.token, Name: "auth.token", Form: true,
			In: op.SchemaOf[TokenRequest](), Out: op.SchemaOf[TokenAnswer](), Refusals: refusals,
			Summary: "Exchanges a grant for a key or tokens. If nothing is granted, or not yet, the response is an " +
				"error of RFC 6749 or RFC 8628 with status 400.",
		},
	}
}

// refuse writes an error in the form of RFC 6749.
func refuse(w http.ResponseWriter, code, description string) error {
	return Refuse(w, http.StatusBadRequest, code, description)
}

func (d *Desk) deviceAuthorization(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return refuse(w, "invalid_request", "send a form of plain text")
	}
	client := text.Line(r.PostForm.Get("client_id"), 100).Plain()
	scope := r.PostForm.Get("scope")
	switch {
	case client == "":
		return refuse(w, "invalid_request", "client_id is required: the name of the program")
	case scope == "":
		scope = "read_only"
	case scope != "read_only" && scope != "full_access":
		return refuse(w, "invalid_scope", "scope must be read_only or full_access")
	}
	asking, code, err := d.Auth.Ask(r.Context(), client, scope, address(r))
	if err != nil {
		return err
	}
	page := d.Base + "/device"
	return answer(w, DeviceAnswer{
		DeviceCode: code, UserCode: asking.UserCode, VerificationURI: page,
		VerificationURIComplete: page + "?user_code=" + url.QueryEscape(asking.UserCode),
		ExpiresIn:               int(auth.DeviceLife / time.Second), Interval: int(auth.DevicePause / time.Second),
	})
}

func (d *Desk) token(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return refuse(w, "invalid_request", "send a form of plain text")
	}
	switch r.PostForm.Get("grant_type") {
	case DeviceGrant:
	case "":
		return refuse(w, "invalid_request", "grant_type is required")
	default:
		if grant, ok := d.Grants[r.PostForm.Get("grant_type")]; ok {
			return grant(w, r)
		}
		return refuse(w, "unsupported_grant_type", "")
	}
	key, at, err := d.Auth.Fetch(r.Context(), r.PostForm.Get("device_code"))
	if err != nil {
		return err
	}
	if at != auth.Granted {
		return refuse(w, string(at), "")
	}
	w.Header().Set("Pragma", "no-cache")
	return answer(w, TokenAnswer{AccessToken: key.Secret, TokenType: "Bearer", Scope: key.Scope})
}

var (
	codeBody = htmlpage.Parse(`
<p class="lead">Enter the code shown on your device.</p>
{{with .Fault}}<p class="warn" role="alert">{{.}}</p>{{end}}
<form method="get" action="/device">
<label>Code <input name="user_code" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" placeholder="XXXX-XXXX" value="{{.Code}}"></label>
<p class="actions"><button>Continue</button></p>
</form>`)
	askBody = htmlpage.Parse(`
<p class="lead">Did you just start this, and does it show <strong class="code">{{.UserCode}}</strong>?</p>
<dl>
<dt>Name</dt><dd>{{.Client}}</dd>
<dt>Address</dt><dd>{{.Address}}</dd>
<dt>Requested at</dt><dd>{{.CreatedAt.Time.Format "15:04:05 MST"}}</dd>
<dt>Requested access</dt><dd>{{if eq .Scope "full_access"}}View and edit{{else}}View only{{end}}</dd>
</dl>
<p class="warn">If someone sent you this code, deny it. The key would give them access to all your data.</p>
<form class="deliberate" method="post" action="/device">
<input type="hidden" name="user_code" value="{{.UserCode}}">
<fieldset><legend>Permissions</legend>
<label class="choice"><input type="radio" name="scope" value="read_only" checked> View only <small>Reads accounts, transactions, budgets and reports. Changes nothing.</small></label>
<label class="choice"><input type="radio" name="scope" value="full_access"> View and edit <small>Also changes transactions and rules. Changes are recorded and can be undone.</small></label>
</fieldset>
<div class="actions"><button class="quiet" name="decision" value="refuse">Deny</button><button name="decision" value="grant">Authorize</button></div>
</form>`)
	decidedBody = htmlpage.Parse(`
{{if .Scope}}<p class="lead">{{.Client}} is connected with {{if eq .Scope "full_access"}}edit{{else}}view-only{{end}} access.</p>
<p class="dim">You can revoke it anytime under API keys.</p>
{{else}}<p class="lead">{{.Client}} gets no access.</p>{{end}}`)
)

type codePage struct{ Code, Fault string }

// admin returns the signed-in admin; for other members it returns an error.
func (d *Desk) admin(w http.ResponseWriter, r *http.Request, form string) (op.Actor, bool, error) {
	actor, ok, err := d.member(w, r, form)
	if ok {
		err = op.Confidential(actor)
	}
	if err != nil {
		return actor, false, err
	}
	if ok && actor.Role != op.RoleAdmin {
		return actor, false, errs.New(errs.Forbidden,
			"only admins can authorize a device; ask an admin to open this page")
	}
	return actor, ok, err
}

func (d *Desk) showDevice(w http.ResponseWriter, r *http.Request) error {
	if _, ok, err := d.admin(w, r, ""); !ok {
		return err
	}
	code := r.URL.Query().Get("user_code")
	if code == "" {
		return htmlpage.Page{Title: "Authorize a device", Body: codeBody, Data: codePage{}}.Write(w)
	}
	asking, err := d.Auth.Asked(r.Context(), code)
	if errs.Is(err, errs.NotFound) {
		return htmlpage.Page{
			Title: "Authorize a device", Body: codeBody,
			Data: codePage{strings.ToUpper(code), formError(err)},
		}.Because(err).Write(w)
	}
	if err != nil {
		return err
	}
	return htmlpage.Page{Title: "Authorize this device?", Body: askBody, Data: asking}.Write(w)
}

func (d *Desk) postDevice(w http.ResponseWriter, r *http.Request) error {
	form := "/device?user_code=" + url.QueryEscape(r.PostForm.Get("user_code"))
	actor, ok, err := d.admin(w, r, form)
	if !ok {
		return err
	}
	scope := ""
	if r.PostForm.Get("decision") == "grant" {
		if !d.proven(w, r, actor, form) {
			return nil
		}
		if scope = r.PostForm.Get("scope"); scope != "full_access" {
			scope = "read_only"
		}
	}
	asking, err := d.Auth.Decide(r.Context(), actor, r.PostForm.Get("user_code"), scope)
	if err != nil {
		return err
	}
	asking.Scope = scope
	title := "Device authorized"
	if scope == "" {
		title = "Request denied"
	}
	return htmlpage.Page{Title: title, Body: decidedBody, Data: asking}.Write(w)
}
