// Package linksession lets a member connect a bank, or sign in at it again. A link session is the
// short-lived process that creates or repairs a connection. A token opens its page, and the result
// of the bank's sign-in is exchanged once. The package must not distinguish providers. The
// connections belong to package connection.
package linksession

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// sessionLife is how long a member has to sign in at the bank.
const sessionLife = 30 * time.Minute

// Sessions manages the link sessions of one household.
type Sessions struct {
	db          *pg.DB
	connections *connection.Connections
	ring        *seal.Ring // nil without an encryption key
	lists       lists
	pages       string // the address of the pages
	webhooks    string // the address at which providers reach the server; "" if they cannot
}

// A Config holds what New needs.
type Config struct {
	DB          *pg.DB
	Connections *connection.Connections // where linked banks are stored
	Ring        *seal.Ring              // opens their secrets; nil without an encryption key
	Pages       string                  // the address of the pages
	Webhooks    string                  // the address at which providers reach the server; "" if they cannot
}

// New returns Sessions.
func New(c Config) *Sessions {
	return &Sessions{
		db: c.DB, connections: c.Connections, ring: c.Ring,
		pages: strings.TrimSuffix(c.Pages, "/"), webhooks: strings.TrimSuffix(c.Webhooks, "/"),
	}
}

// StartLink is the input of StartLink.
type StartLink struct {
	Provider    all.Remote `json:"provider" doc:"Provider"`
	UserID      *string    `json:"user_id,omitempty" minLength:"1" doc:"Owner of the bank login: UUID or short id; defaults to the caller, or else the oldest admin"`
	RedirectURL *string    `json:"redirect_url,omitempty" minLength:"8" maxLength:"2000" doc:"URL to open at the end: https, or http on this machine"`
	Fields      FormValues `json:"fields,omitempty"`
	Institution *string    `json:"institution_id,omitempty" minLength:"1" maxLength:"200" doc:"The bank, from GET /providers/{provider}/institutions; required where link.institutions of GET /providers is true"`
	Country     *string    `json:"country,omitempty" pattern:"^[A-Z]{2}$" hint:"be two capital letters, such as DE" doc:"Country of the bank, if the provider needs it beside institution_id"`
}

// A LinkSession leads a member to a bank's sign-in.
type LinkSession struct {
	Token          string                     `json:"token" doc:"Identifies the session; for half an hour, anyone with it can connect a bank to this household"`
	URL            string                     `json:"url" doc:"Page where the member connects the bank; it requires no key"`
	ExpiresAt      pg.Time                    `json:"expires_at"`
	ProviderConfig map[string]json.RawMessage `json:"provider_config" doc:"The configuration for the provider's widget, for a page that runs the widget itself; hosted_url is the provider's own page"`
}

// begun is a session that the provider has just started.
type begun struct {
	token   string // coffer's, not the provider's
	session bank.Session
	given   json.RawMessage // the values of the provider's form; nil if its page asks for them
}

// askSession starts a session with the provider.
func (l *Sessions) askSession(ctx context.Context, q pg.Querier, in StartLink) (begun, error) {
	if err := checkRedirect(in.RedirectURL); err != nil {
		return begun{}, err
	}
	member, err := l.connections.FindOwner(ctx, q, in.UserID)
	if err != nil {
		return begun{}, err
	}
	provider, linker, err := l.connections.Linker(ctx, string(in.Provider))
	if err != nil {
		return begun{}, err
	}
	given, err := in.Fields.check(provider)
	if err == nil {
		err = in.checkChoice()
	}
	if err != nil {
		return begun{}, err
	}
	b, err := l.begin(ctx, provider, member, func(ctx context.Context, r bank.LinkRequest) (bank.Session, error) {
		if in.Institution != nil {
			r.Institution = *in.Institution
		}
		return linker.Session(ctx, r)
	})
	b.given = given
	return b, err
}

// checkChoice rejects a bank if the provider does not let members choose one here, and a missing
// bank if it does.
func (in StartLink) checkChoice() error {
	spec, _ := all.Find(string(in.Provider))
	switch {
	case !spec.Link.Institutions && (in.Institution != nil || in.Country != nil):
		return errs.Field("institution_id", "conflict",
			"must be omitted, and country too: the member chooses the bank on the page of %s", spec.Title)
	case spec.Link.Institutions && in.Institution == nil:
		return errs.Field("institution_id", "required",
			"is required: {provider.institutions} lists the banks of a country")
	}
	return nil
}

// begin starts a session on the provider's own page if there is one: then no third-party script
// runs on coffer's page. If the provider does not allow coffer's account to use that page, the
// widget is used.
func (l *Sessions) begin(ctx context.Context, p bank.Provider, member id.ID,
	start func(context.Context, bank.LinkRequest) (bank.Session, error),
) (begun, error) {
	b := begun{token: id.Base62(tokenLength)}
	r := bank.LinkRequest{User: member.String()}
	if l.webhooks != "" {
		r.Webhook = l.webhooks + "/webhooks/" + p.Name()
	}
	if redirects(p.Name()) {
		r.Redirect = l.pages + ReturnPath
	}
	if _, ok := p.(bank.Hoster); ok {
		h := r
		h.Hosted, h.Redirect = true, l.pages+"/link/"+b.token
		var err error
		b.session, err = start(ctx, h)
		_, embeds := p.(bank.Embedder)
		if e, fromBank := errors.AsType[*bank.Error](err); !fromBank || e.Class != bank.Ours || !embeds {
			return b, err
		}
	}
	var err error
	b.session, err = start(ctx, r)
	return b, err
}

func checkRedirect(to *string) error {
	if to == nil {
		return nil
	}
	u, err := url.Parse(*to)
	if err == nil && u.Host != "" && u.User == nil &&
		(u.Scheme == "https" || u.Scheme == "http" && local(u.Hostname())) {
		return nil
	}
	return errs.Field("redirect_url", "pattern", "must be a complete https address, or http on this machine")
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// StartLink stores a session and returns the page for the member.
func (l *Sessions) StartLink(ctx context.Context, tx pg.Tx, in StartLink, b begun) (LinkSession, error) {
	member, err := l.connections.Owner(ctx, tx, in.UserID)
	if err != nil {
		return LinkSession{}, err
	}
	return l.keep(ctx, tx, session{
		Purpose: "new", Provider: string(in.Provider), MemberID: member,
		RedirectURL: in.RedirectURL,
	}, b)
}

// StartReauth is the input of StartReauth.
type StartReauth struct {
	ID          string     `json:"id" minLength:"1" doc:"The connection's UUID or short id"`
	RedirectURL *string    `json:"redirect_url,omitempty" minLength:"8" maxLength:"2000" doc:"URL to open at the end: https, or http on this machine"`
	Fields      FormValues `json:"fields,omitempty"`
}

// askRelink starts a session with the provider in which the member can sign in again.
func (l *Sessions) askRelink(ctx context.Context, q pg.Querier, in StartReauth) (begun, error) {
	if err := checkRedirect(in.RedirectURL); err != nil {
		return begun{}, err
	}
	c, provider, secret, err := l.connections.Repairable(ctx, q, in.ID)
	if err != nil {
		return begun{}, err
	}
	relinker, ok := provider.(bank.Relinker)
	if !ok {
		return begun{}, errs.New(errs.ConnNotSyncable,
			"%s does not support reconnecting; disconnect this bank and connect it again",
			provider.Traits().Title)
	}
	given, err := in.Fields.check(provider)
	if err != nil {
		return begun{}, err
	}
	b, err := l.begin(ctx, provider, c.UserID, func(ctx context.Context, r bank.LinkRequest) (bank.Session, error) {
		r.Accounts = c.NewAccountsAvailable
		return relinker.Relink(ctx, secret, r)
	})
	b.given = given
	return b, err
}

// StartReauth stores a session in which the member of a connection signs in again.
func (l *Sessions) StartReauth(ctx context.Context, tx pg.Tx, in StartReauth, b begun) (LinkSession, error) {
	c, err := l.connections.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return LinkSession{}, err
	}
	return l.keep(ctx, tx, session{
		Purpose: "reauth", Provider: string(c.Provider), MemberID: c.UserID,
		ConnectionID: &c.ID, RedirectURL: in.RedirectURL,
	}, b)
}

// A secret holds the confidential data of a session. It is stored sealed.
type secret struct {
	Page   string            `json:"page,omitempty"` // coffer's token of the page, if the bank redirects back
	Token  string            `json:"token"`          // the provider's token
	URL    string            `json:"url"`            // the address of the provider's own page
	Config map[string]any    `json:"config"`
	Given  []json.RawMessage `json:"given,omitempty"` // the result from the provider, until a person confirms that it is not a mistake
	Linked []exchanged       `json:"linked,omitempty"`
}

// exchanged is the result of an exchange that works only once.
type exchanged struct {
	Credentials     []byte    `json:"credentials"`
	ConnectionID    string    `json:"connection_id"`
	InstitutionID   string    `json:"institution_id"`
	InstitutionName string    `json:"institution_name"`
	ConsentEnds     time.Time `json:"consent_ends,omitzero"`
}

// A session is a stored link session.
type session struct {
	ID           id.ID   `db:"id"`
	Purpose      string  `db:"purpose"`
	Provider     string  `db:"provider"`
	MemberID     id.ID   `db:"member_id"`
	ConnectionID *id.ID  `db:"connection_id"`
	Sealed       []byte  `db:"secret"`
	Hosted       bool    `db:"hosted"`
	RedirectURL  *string `db:"redirect_url"`
	State        string  `db:"state"`
	ErrorCode    *string `db:"error_code"`
	ErrorMessage *string `db:"error_message"`
	ExpiresAt    pg.Time `db:"expires_at"`
	Expired      bool    `db:"expired"`
}

const sessionRows = `
	select id, purpose, provider, member_id, connection_id, secret, hosted, redirect_url, state, error_code,
		error_message, expires_at, expires_at < clock_timestamp() as expired
	from link_session`

func secretPlace(session id.ID) seal.Place {
	return seal.Place{Table: "link_session", Column: "secret", Row: session.String()}
}

func hashed(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}

const tokenLength = 32

// keep stores a session. The response contains its token. The database stores a hash of the token
// and, if the bank redirects back, also the sealed token.
func (l *Sessions) keep(ctx context.Context, tx pg.Tx, s session, b begun) (LinkSession, error) {
	made, token := b.session, b.token
	s.ID, s.Hosted = id.New(), made.URL != "" && !redirects(s.Provider)
	kept := secret{Token: made.Token, URL: made.URL, Config: made.Config}
	if redirects(s.Provider) {
		kept.Page = token
	}
	if b.given != nil { // the sweep exchanges these values once, after this commits
		kept.Given = []json.RawMessage{b.given}
	}
	sealed, err := l.sealSecret(s.ID, kept)
	if err != nil {
		return LinkSession{}, err
	}
	life := sessionLife
	if left := time.Until(made.ExpiresAt); !made.ExpiresAt.IsZero() && left < life {
		life = left
	}
	out := LinkSession{Token: token, URL: l.pages + "/link/" + token, ProviderConfig: map[string]json.RawMessage{}}
	for name, value := range made.Config {
		if out.ProviderConfig[name], err = json.Marshal(value); err != nil {
			return LinkSession{}, err
		}
	}
	if made.URL != "" {
		if out.ProviderConfig["hosted_url"], err = json.Marshal(made.URL); err != nil {
			return LinkSession{}, err
		}
	}
	out.ExpiresAt, err = pg.Value[pg.Time](ctx, tx, `
		insert into link_session (id, token_hash, purpose, provider, member_id, connection_id, provider_hash, secret,
			hosted, redirect_url, look_at, expires_at)
		values (@id, @token, @purpose, @provider, @member, @connection, @session, @secret, @hosted, @redirect,
			clock_timestamp() + make_interval(secs => case when @given then 0 when @hosted then 5 else @life end),
				clock_timestamp() + make_interval(secs => @life))
		returning expires_at`, pg.Args{
		"id": s.ID, "token": hashed(token), "purpose": s.Purpose, "provider": s.Provider, "member": s.MemberID,
		"connection": s.ConnectionID, "session": hashed(s.Provider, made.Token),
		"secret": sealed, "hosted": s.Hosted, "given": b.given != nil, "redirect": s.RedirectURL,
		"life": life.Seconds(),
	})
	return out, err
}

func (l *Sessions) sealSecret(at id.ID, v secret) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return l.ring.Seal(secretPlace(at), plain)
}

func (l *Sessions) openSecret(s session) (secret, error) {
	if l.ring == nil {
		return secret{}, errs.New(errs.EncryptionKeyNeeded,
			"COFFER_ENCRYPTION_KEY is not set on this server, so the session cannot be decrypted")
	}
	var v secret
	plain, err := l.ring.Open(secretPlace(s.ID), s.Sealed)
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	return v, err
}

// storedSecret is openSecret with the secret that is stored now: another call may have exchanged
// the sign-in meanwhile.
func (l *Sessions) storedSecret(ctx context.Context, s *session) (secret, error) {
	var err error
	if s.Sealed, err = pg.Value[[]byte](ctx, l.db, `select secret from link_session where id = $1`, s.ID); err != nil {
		return secret{}, err
	}
	return l.openSecret(*s)
}

// A LinkToken names a session.
type LinkToken struct {
	Token string `json:"token" minLength:"1" maxLength:"100" doc:"The token returned by POST /connections/link-session"`
}

// A LinkOutcome is the state of a session.
type LinkOutcome struct {
	State        string     `json:"state" enum:"pending,done,failed"`
	ConnectionID *id.ID     `json:"connection_id" doc:"The new connection, once connected; the first one if the member chose several banks"`
	Error        *LinkFault `json:"error" doc:"Why it failed; for a pending session, the decision needed on its page"`
}

// A LinkFault is what prevents a session from succeeding.
type LinkFault struct {
	Code    string `json:"code" doc:"A stable error code"`
	Message string `json:"message" doc:"What to do about it"`
}

// LinkOutcome returns the state of a session. Callers that wait for it poll every few seconds.
func (l *Sessions) LinkOutcome(ctx context.Context, q pg.Querier, in LinkToken) (LinkOutcome, error) {
	s, err := findSession(ctx, q, in.Token)
	return s.outcome(), err
}

func (s session) outcome() LinkOutcome {
	out := LinkOutcome{State: s.State}
	if s.State == "done" {
		out.ConnectionID = s.ConnectionID
	}
	if s.ErrorCode != nil && s.ErrorMessage != nil {
		out.Error = &LinkFault{*s.ErrorCode, *s.ErrorMessage}
	}
	return out
}

// findSession returns the session of a token, until one day after it expires.
func findSession(ctx context.Context, q pg.Querier, token string) (session, error) {
	s, err := pg.One[session](ctx, q, sessionRows+` where token_hash = $1
		and expires_at > clock_timestamp() - interval '1 day'`, hashed(token))
	return s, pg.Found(err, "link session", "it has ended or does not exist; start a new one")
}

// Ops returns the operations of link sessions.
func (l *Sessions) Ops() []*op.Op {
	return []*op.Op{
		op.Calling(op.Spec{
			Name: "connection.session", Route: "POST /connections/link-session",
			Summary: "Starts connecting a bank: returns the page where the member signs in, and the " +
				"configuration for the provider's widget.",
		}, l.askSession, l.StartLink),
		op.Asking(op.Spec{
			Name: "provider.institutions", Route: "GET /providers/{provider}/institutions",
			Summary: "Lists the banks of a country that can be connected through a provider.",
		}, l.askInstitutions, l.Institutions),
		op.Reading(op.Spec{
			Name: "connection.outcome", Route: "GET /connections/link-session/{token}",
			Summary: "Shows the state of a link session.",
		}, l.LinkOutcome),
		op.Calling(op.Spec{
			Name: "connection.reauth", Route: "POST /connections/{id}/reauth-session",
			Summary: "Starts reconnecting a bank: returns the page where the member signs in, and the " +
				"configuration for the provider's widget.",
		}, l.askRelink, l.StartReauth),
	}
}
