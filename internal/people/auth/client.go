package auth

import (
	"context"
	"errors"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The kinds of clients: a client that registered itself, or one that is identified by a document at
// the address that is its client_id.
const (
	Registered = "registered"
	Document   = "document"
)

// A Client is a program that asks members for access. Its statements about itself are not verified,
// except the host of a document.
type Client struct {
	ID           id.ID    `db:"id"`
	Name         string   `db:"name"` // the protocol's client_id
	Kind         string   `db:"kind"`
	Title        string   `db:"title"`
	RedirectURIs []string `db:"redirect_uris"`
	Fresh        bool     `db:"fresh"` // the document need not be read again yet
	CreatedAt    pg.Time  `db:"created_at"`
}

const (
	clientColumns = `id, name, kind, title, redirect_uris, coalesce(fresh_until > now(), true) as fresh, created_at`

	registrationsPerHour = 20    // from one address
	unusedClients        = 5_000 // clients that no member has allowed yet
	documentsPerMinute   = 10    // read for one member
	clientRandom         = 22    // base62 characters: unique, but not secret
)

// ErrNoClient means that no client has this client_id.
var ErrNoClient = errors.New("auth: no such client")

// Register stores a program that no member has allowed yet. If no member allows it within a day, it
// is deleted.
func (a *Auth) Register(ctx context.Context, title string, redirects []string, address string) (Client, error) {
	_, refused, wait, err := a.countNetworks(ctx, "register ", address, registrationsPerHour, time.Hour)
	if err != nil {
		return Client{}, err
	}
	if refused {
		return Client{}, errs.New(errs.RateLimited,
			"too many programs have registered from this address (limit %d per hour)", registrationsPerHour).Later(wait)
	}
	c, err := pg.One[Client](ctx, a.db, `
		insert into client (id, name, kind, title, redirect_uris)
		select $1, $2, 'registered', $3, $4
		where (select count(*)
			from (select from client c where not exists (select from consent g where g.client_id = c.id)
			limit $5) waiting) < $5
		returning `+clientColumns, id.New(), "client_"+id.Base62(clientRandom), title, redirects, unusedClients)
	if errors.Is(err, pg.ErrNoRow) {
		return Client{}, errs.New(errs.RateLimited,
			"too many assistants have registered without a member's approval; try again in an hour").Later(time.Hour)
	}
	return c, err
}

// Client returns the client with this client_id, or ErrNoClient.
func (a *Auth) Client(ctx context.Context, name string) (Client, error) {
	if !op.IsLine(name) {
		return Client{}, ErrNoClient
	}
	c, err := pg.One[Client](ctx, a.db, `select `+clientColumns+` from client where name = $1`, name)
	if errors.Is(err, pg.ErrNoRow) {
		err = ErrNoClient
	}
	return c, err
}

// MayRead reports whether a document may be read for this member now. The number is limited,
// because each document costs a connection to a host that a stranger chose.
func (a *Auth) MayRead(ctx context.Context, member id.ID) error {
	tries, wait, err := a.count(ctx, "document "+member.String(), time.Minute)
	if err == nil && tries > documentsPerMinute {
		return errs.New(errs.RateLimited,
			"too many assistants were looked up at once; try again in a minute").Later(wait)
	}
	return err
}

// KeepDocument stores a client's document for the given time.
func (a *Auth) KeepDocument(ctx context.Context, c Client, lifetime time.Duration) (Client, error) {
	return pg.One[Client](ctx, a.db, `
		insert into client (id, name, kind, title, redirect_uris, fresh_until)
			values ($1, $2, 'document', $3, $4, now() + make_interval(secs => $5))
		on conflict (name) do update set title = excluded.title, redirect_uris = excluded.redirect_uris,
			fresh_until = excluded.fresh_until
		returning `+clientColumns, id.New(), c.Name, c.Title, c.RedirectURIs, lifetime.Seconds())
}

// sweepGrants removes codes that nobody redeemed, expired tokens, and programs that no member
// allows any more. A used refresh token is stored until it expires, because a second use of it
// reveals a theft.
func (a *Auth) sweepGrants(ctx context.Context) error {
	_, err := pg.Exec(ctx, a.db, `
		delete from token where id in (
			select id from token where kind in ('access', 'refresh') and expires_at < now() - interval '1 day'
				limit 5000 for update skip locked)`)
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `
			delete from consent where id in (
				select id from consent g where code_expires_at < now() - interval '1 day'
					and not exists (select from token t where t.consent_id = g.id) limit 5000 for update skip locked)`)
	}
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `
			delete from client where id in (
				select id from client c where created_at < now() - interval '1 day'
					and not exists (select from consent g where g.client_id = c.id) limit 5000 for update skip locked)`)
	}
	return err
}
