package notify

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/reach"
	"coffer/internal/platform/seal"
)

// mostEndpoints is the maximum number of endpoints of a household.
const mostEndpoints = 20

// An Endpoint is an address to which notifications are sent.
type Endpoint struct {
	ID             id.ID    `json:"id" db:"id"`
	ShortID        string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	URL            string   `json:"url" db:"url" doc:"Only the host, unless the caller is an admin: the rest of the URL may be secret"`
	Description    *string  `json:"description" db:"description"`
	Events         []Type   `json:"events" db:"events" screen:"all" doc:"Types to send; empty means all"`
	Content        string   `json:"content" db:"content" enum:"lean,full" doc:"lean: ids, dates, amounts and your own names; full: also the names that banks and authors wrote"`
	Enabled        bool     `json:"enabled" db:"enabled"`
	DisabledReason *string  `json:"disabled_reason" db:"disabled_reason" doc:"gone: the endpoint responded 410. failing: three messages in a row could not be delivered. null if a person disabled it"`
	LastSuccessAt  *pg.Time `json:"last_success_at" db:"last_success_at"`
	CreatedAt      pg.Time  `json:"created_at" db:"created_at"`
	UpdatedAt      pg.Time  `json:"updated_at" db:"updated_at"`
}

const columns = `id, short_id, url, description, events, content, enabled, disabled_reason, last_success_at, created_at,
	updated_at`

// Endpoints lists all endpoints of a household.
type Endpoints struct {
	Endpoints []Endpoint `json:"endpoints"`
}

// A NewEndpoint is an Endpoint with its secret, which is shown only once.
type NewEndpoint struct {
	Endpoint
	Secret string `json:"secret" doc:"Signs every message; store it with the receiver, it is not shown again"`
}

// seen returns the endpoint with only what the caller may see.
func (e Endpoint) seen(a op.Actor) Endpoint {
	if a.Type == op.Agent || a.Scope != op.Full || a.Member != nil && a.Role != op.RoleAdmin {
		e.URL = host(e.URL)
	}
	return e
}

// Endpoints lists the endpoints, oldest first.
func (n *Notifier) Endpoints(ctx context.Context, q pg.Querier, _ op.None) (Endpoints, error) {
	list, err := pg.All[Endpoint](ctx, q, `select `+columns+` from endpoint order by id`)
	for i := range list {
		list[i] = list[i].seen(op.ActorOf(ctx))
	}
	return Endpoints{list}, err
}

// CreateEndpoint is the input of CreateEndpoint.
type CreateEndpoint struct {
	URL         string  `json:"url" minLength:"1" maxLength:"500" format:"line" doc:"https, or http to this machine and private networks" example:"https://home.example/hook"`
	Description *string `json:"description,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Events      []Type  `json:"events,omitempty" maxItems:"50" doc:"The types to send; all if omitted or empty"`
	Content     string  `json:"content,omitempty" enum:"lean,full" default:"lean" doc:"full adds the names that banks and authors wrote"`
}

// CreateEndpoint adds an endpoint.
func (n *Notifier) CreateEndpoint(ctx context.Context, tx pg.Tx, in CreateEndpoint) (NewEndpoint, error) {
	if err := checkURL(in.URL); err != nil {
		return NewEndpoint{}, err
	}
	// one at a time, so that the count is exact even with several servers
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, endpointLock); err != nil {
		return NewEndpoint{}, err
	}
	have, err := pg.Value[int](ctx, tx, `select count(*) from endpoint`)
	if err != nil {
		return NewEndpoint{}, err
	}
	if have >= mostEndpoints {
		return NewEndpoint{}, errs.New(errs.Conflict, "limit of %d endpoints reached; delete one first", have)
	}
	var out NewEndpoint
	err = pg.Redraw(ctx, tx, "endpoint_short_id", func(tx pg.Tx) error {
		newID := id.New()
		secret, stored, err := n.draw(newID)
		if err != nil {
			return err
		}
		out.Secret = secret
		out.Endpoint, err = pg.One[Endpoint](ctx, tx, `
			insert into endpoint (id, short_id, url, description, events, content, secret)
			values (@id, @short, @url, @description, @events, @content, @secret) returning `+columns, pg.Args{
			"id": newID, "short": newID.Short(), "url": in.URL, "description": in.Description,
			"events": append([]Type{}, in.Events...), "content": in.Content, "secret": stored,
		})
		return err
	})
	return out, err
}

// endpointLock is the advisory lock for adding endpoints.
const endpointLock = 0x6e6f7466

// draw creates a secret. It returns the secret for the receiver and its stored form.
func (n *Notifier) draw(endpoint id.ID) (secret string, stored []byte, err error) {
	raw := make([]byte, 32)
	rand.Read(raw) // never returns an error
	stored, err = n.ring.Seal(place("secret", endpoint), raw)
	if errors.Is(err, seal.ErrNoKey) {
		return "", nil, errs.New(errs.EncryptionKeyNeeded,
			"set COFFER_ENCRYPTION_KEY on the server first: secrets cannot be stored without it (create one: "+
				"openssl rand -base64 32)")
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(raw), stored, err
}

// checkURL rejects addresses that can never be used. Host names are checked at each attempt, by the
// addresses to which they resolve.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return errs.Field("url", "format",
			"must be an https:// or http:// URL without a user name or fragment")
	}
	if at, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil {
		return checkAddress(at, u.Scheme == "http")
	}
	return nil
}

func checkAddress(at netip.Addr, plain bool) error {
	switch {
	case reach.Allowed(at, plain):
		return nil
	case reach.Allowed(at, false):
		return errs.Field("url", "forbidden",
			"must begin with https://; http:// is allowed only to this machine and private networks")
	}
	return errs.Field("url", "forbidden", "must not be a link-local or metadata address")
}

// An EndpointRef names an endpoint.
type EndpointRef struct {
	ID string `json:"id" minLength:"1" doc:"The endpoint's UUID or short id"`
}

func noEndpoint(err error) error { return pg.Found(err, "endpoint", "{endpoint.list} lists them") }

func lock(ctx context.Context, tx pg.Tx, ref string) (Endpoint, error) {
	e, err := pg.One[Endpoint](ctx, tx, `select `+columns+` from endpoint
		where id = $1 or short_id = $2 for update`, pg.RefTo(ref).IDArgs()...)
	return e, noEndpoint(err)
}

// PatchEndpoint is the input of PatchEndpoint.
type PatchEndpoint struct {
	EndpointRef
	URL         *string         `json:"url,omitempty" minLength:"1" maxLength:"500" format:"line" doc:"https, or http to this machine and private networks"`
	Description op.Null[string] `json:"description,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"null removes it"`
	Events      *[]Type         `json:"events,omitempty" maxItems:"50" doc:"The types to send; empty means all"`
	Content     *string         `json:"content,omitempty" enum:"lean,full" doc:"full adds the names that banks and authors wrote"`
	Enabled     *bool           `json:"enabled,omitempty" doc:"false drops undelivered messages"`
}

// PatchEndpoint changes an endpoint.
func (n *Notifier) PatchEndpoint(ctx context.Context, tx pg.Tx, in PatchEndpoint) (Endpoint, error) {
	was, err := lock(ctx, tx, in.ID)
	if err != nil {
		return Endpoint{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return Endpoint{}, err
	}
	if in.URL != nil {
		if err := checkURL(*in.URL); err != nil {
			return Endpoint{}, err
		}
	}
	if in.Enabled != nil && !*in.Enabled {
		if err := drop(ctx, tx, was.ID); err != nil {
			return Endpoint{}, err
		}
	}
	return pg.One[Endpoint](ctx, tx, `
		update endpoint set url = coalesce(@url, url), events = coalesce(@events, events),
			description = case when @described then @description else description end,
			content = coalesce(@content, content), enabled = coalesce(@enabled, enabled),
			disabled_reason = case when @enabled::boolean is null then disabled_reason end,
			given_up = case when @enabled then 0 else given_up end, updated_at = clock_timestamp()
		where id = @id returning `+columns, pg.Args{
		"id": was.ID, "url": in.URL, "events": in.Events, "described": in.Description.Set,
		"description": in.Description.Value, "content": in.Content, "enabled": in.Enabled,
	})
}

// DeleteEndpoint deletes an endpoint and its pending deliveries.
func (n *Notifier) DeleteEndpoint(ctx context.Context, tx pg.Tx, in EndpointRef) (op.Deleted, error) {
	was, err := lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `delete from endpoint where id = $1`, was.ID)
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

// RotateEndpoint replaces the secret. For 24 hours, messages are signed with both the old and the
// new secret, so the receiver can switch without losing a message.
func (n *Notifier) RotateEndpoint(ctx context.Context, tx pg.Tx, in EndpointRef) (NewEndpoint, error) {
	was, err := lock(ctx, tx, in.ID)
	if err != nil {
		return NewEndpoint{}, err
	}
	now, err := pg.Value[[]byte](ctx, tx, `select secret from endpoint where id = $1`, was.ID)
	if err != nil {
		return NewEndpoint{}, err
	}
	secret, stored, err := n.draw(was.ID)
	if err != nil {
		return NewEndpoint{}, err
	}
	var old []byte
	if plain, err := n.ring.Open(place("secret", was.ID), now); err == nil {
		if old, err = n.ring.Seal(place("old_secret", was.ID), plain); err != nil {
			return NewEndpoint{}, err
		}
	} // the old secret cannot be opened, so it signs nothing
	out, err := pg.One[Endpoint](ctx, tx, `update endpoint set secret = $2, old_secret = $3,
		old_until = clock_timestamp() + interval '24 hours', updated_at = clock_timestamp()
		where id = $1 returning `+columns, was.ID, stored, old)
	return NewEndpoint{out, secret}, err
}

// An EndpointTrial is the outcome of a test message.
type EndpointTrial struct {
	NotificationID id.ID   `json:"notification_id"`
	Delivered      bool    `json:"delivered" doc:"Whether the endpoint accepted the message"`
	Status         *int    `json:"status" doc:"HTTP status of the response; null if there was none"`
	Error          *string `json:"error" doc:"Error; null if there was none"`
}

// tried is an endpoint's response to a test message.
type tried struct {
	endpoint, notification id.ID
	outcome
}

// tryEndpoint sends a test message. A rejection by the endpoint is a result, not an error.
func (n *Notifier) tryEndpoint(ctx context.Context, q pg.Querier, in EndpointRef) (tried, error) {
	e, err := pg.One[sealed](ctx, q, `select `+reached+` from endpoint e where e.id = $1 or e.short_id = $2`,
		pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return tried{}, noEndpoint(err)
	}
	t := tried{endpoint: e.Endpoint, notification: id.New()}
	at, err := pg.Value[pg.Time](ctx, q, `select clock_timestamp()`)
	if err != nil {
		return tried{}, err
	}
	m, err := n.message(claimed{
		ShortID: t.notification.Short(), Type: test, CreatedAt: at, Data: []byte(`{}`), sealed: e,
	})
	if err != nil {
		return tried{}, errs.Wrap(err, errs.Conflict,
			"the endpoint's secret can't be decrypted with this server's encryption key; replace it with "+
				"{endpoint.rotate}")
	}
	t.outcome = send(ctx, m, n.limits.attempt)
	return t, nil
}

// TestEndpoint stores the outcome of a test message. It is not retried, and it does not count as a
// failure of the endpoint.
func (n *Notifier) TestEndpoint(ctx context.Context, tx pg.Tx, _ EndpointRef, t tried) (EndpointTrial, error) {
	_, err := pg.Exec(ctx, tx, `
		with made as (
			insert into notification (id, short_id, type, subject, data) values (@id, @short, @type, @subject, '{}')
			returning id)
		insert into delivery (id, notification_id, endpoint_id, state, attempts, last_attempt_at, last_status,
			last_error, delivered_at)
		select gen_random_uuid(), made.id, e.id, case when @fault = '' then 'delivered' else 'failed' end, 1,
			clock_timestamp(), nullif(@status, 0), nullif(@fault, ''),
			case when @fault = '' then clock_timestamp() end
		from made, endpoint e where e.id = @endpoint for key share of e`, pg.Args{
		"id": t.notification, "short": t.notification.Short(), "type": test, "subject": t.notification.String(),
		"endpoint": t.endpoint, "fault": t.fault, "status": t.status,
	})
	if err != nil {
		return EndpointTrial{}, err
	}
	out := EndpointTrial{NotificationID: t.notification, Delivered: t.fault == "", Error: pg.OrNull(t.fault)}
	if t.status != 0 {
		out.Status = &t.status
	}
	if !out.Delivered {
		return out, nil
	}
	_, err = pg.Exec(ctx, tx, `update endpoint set last_success_at = clock_timestamp() where id = $1`, t.endpoint)
	return out, err
}
