package feed

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/pg"
)

// Repairable returns a connection whose member can sign in again, with its provider and its
// credentials.
func (f *Feed) Repairable(ctx context.Context, q pg.Querier, ref string) (Connection, bank.Provider, bank.Credentials,
	error,
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

// askRepaired makes sure that the bank lets coffer in again.
func (f *Feed) askRepaired(ctx context.Context, q pg.Querier, in ConnectionRef) (bool, error) {
	_, provider, credentials, err := f.Repairable(ctx, q, in.ID)
	if err != nil {
		return false, err
	}
	_, err = provider.Accounts(ctx, credentials)
	if e, told := errors.AsType[*bank.Error](err); told && e.Class == bank.Reauth {
		return false, errs.Wrap(err, errs.ConnNotSyncable,
			"the bank still needs a sign-in; {connection.reauth} returns the page")
	}
	return err == nil, err
}

// Repaired is Repair for a member who says that the sign-in is done.
func (f *Feed) Repaired(ctx context.Context, tx pg.Tx, in ConnectionRef, _ bool) (Connection, error) {
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

// Repair reactivates a connection whose login works again, and starts a sync.
func (f *Feed) Repair(ctx context.Context, tx pg.Tx, connection id.ID) (Connection, error) {
	if err := works(ctx, tx, connection, true); err != nil {
		return Connection{}, err
	}
	if _, err := f.requestSync(ctx, tx, syncRequest{connection, "manual"}); err != nil {
		return Connection{}, err
	}
	return f.Connection(ctx, tx, ConnectionRef{connection.String()})
}
