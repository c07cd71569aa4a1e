package connection

import (
	"context"
	"errors"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Repairable returns a connection whose member can sign in again, with its provider and its
// credentials.
func (f *Connections) Repairable(ctx context.Context, q pg.Querier, ref string) (
	Connection, bank.Provider, bank.Credentials, error,
) {
	c, err := f.Connection(ctx, q, ConnectionRef{ref})
	if err != nil {
		return Connection{}, nil, nil, err
	}
	if c.Provider == bank.CSV {
		return Connection{}, nil, nil, errs.New(errs.ConnNotSyncable,
			"this connection only takes CSV files and needs no reconnecting")
	}
	if c.Status == "disconnected" {
		return Connection{}, nil, nil, errs.New(errs.ConnNotSyncable,
			"this connection was disconnected permanently; connect the bank again")
	}
	sealed, err := pg.Value[[]byte](ctx, q, `select credentials from connection where id = $1`, c.ID)
	if err != nil {
		return Connection{}, nil, nil, err
	}
	if sealed == nil {
		return Connection{}, nil, nil, errs.New(errs.ConnNotSyncable,
			"this connection has no bank login; connect the bank again")
	}
	provider, err := f.Configured(ctx, string(c.Provider))
	if err != nil {
		return Connection{}, nil, nil, err
	}
	secret, err := f.open(syncedConnection{ID: c.ID, Credentials: sealed})
	return c, provider, secret, err
}

// askRepaired checks that the bank accepts the connection's credentials again.
func (f *Connections) askRepaired(ctx context.Context, q pg.Querier, in ConnectionRef) (bool, error) {
	c, provider, credentials, err := f.Repairable(ctx, q, in.ID)
	if err != nil {
		return false, err
	}
	err = f.Check(ctx, c.ID, provider, credentials)
	if e, ok := errors.AsType[*bank.Error](err); ok && e.Class == bank.Reauth {
		return false, errs.Wrap(err, errs.ConnNotSyncable,
			"the bank still needs a sign-in; {connection.reauth} returns the page")
	}
	return err == nil, err
}

// Repaired is Repair for a member who states that the sign-in is done.
func (f *Connections) Repaired(ctx context.Context, tx pg.Tx, in ConnectionRef, _ bool) (Connection, error) {
	c, err := f.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return Connection{}, err
	}
	if c.Status == "disconnected" {
		return Connection{}, errs.New(errs.ConnNotSyncable,
			"this connection was disconnected permanently; connect the bank again")
	}
	return f.Repair(ctx, tx, c.ID)
}

// Check makes sure that a connection's bank responds.
func (f *Connections) Check(ctx context.Context, connection id.ID, p bank.Provider, c bank.Credentials) error {
	if !p.Traits().PerLoop { // otherwise listing the accounts is not counted
		if err := f.spend(ctx, connection, p, bank.Position{}); err != nil {
			return err
		}
	}
	_, err := p.Accounts(ctx, c)
	return err
}

// Shares reports whether the connection has one of these accounts, or has none yet.
func (f *Connections) Shares(ctx context.Context, q pg.Querier, connection id.ID, listed []bank.Account) (bool, error) {
	ids := make([]string, len(listed))
	for i, a := range listed {
		ids[i] = a.ProviderID
	}
	return pg.Value[bool](ctx, q, `select not exists (select from account where connection_id = $1)
		or exists (select from account where connection_id = $1 and provider_id = any($2))`, connection, ids)
}

// Renew stores the new credentials of a repaired connection, and when its new consent ends.
func (f *Connections) Renew(ctx context.Context, tx pg.Tx, connection id.ID, made bank.Linked) error {
	sealed, err := f.ring.Seal(credentialsPlace(connection), made.Credentials)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `update connection set credentials = $2, consent_expires_at = $3,
		updated_at = clock_timestamp() where id = $1 and status <> 'disconnected'`, connection, sealed,
		endOf(made.ConsentEnds))
	return err
}

// endOf returns the end of a consent as it is stored, or nil if it is unknown.
func endOf(consent time.Time) *pg.Time {
	if consent.IsZero() {
		return nil
	}
	return new(pg.At(consent))
}

// Repair reactivates a connection whose login works again, and starts a sync.
func (f *Connections) Repair(ctx context.Context, tx pg.Tx, connection id.ID) (Connection, error) {
	if err := works(ctx, tx, connection, true); err != nil {
		return Connection{}, err
	}
	if _, err := f.requestSync(ctx, tx, syncRequest{Connection: connection, Trigger: "manual"}); err != nil {
		return Connection{}, err
	}
	return f.Connection(ctx, tx, ConnectionRef{connection.String()})
}
