package connection

import (
	"context"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

// A Connection is a link to a bank, or a connection for CSV files.
type Connection struct {
	ID                   id.ID           `json:"id" db:"id"`
	ShortID              string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	UserID               id.ID           `json:"user_id" db:"user_id" doc:"Owner of the connection"`
	Provider             all.Name        `json:"provider" db:"provider"`
	InstitutionName      *text.Untrusted `json:"institution_name" db:"institution_name" doc:"Untrusted: the bank's name as the provider gives it"`
	InstitutionID        *string         `json:"institution_id" db:"institution_id"`
	Status               string          `json:"status" db:"status" enum:"active,error,pending_reauth,disconnected"`
	StatusReason         *string         `json:"status_reason" db:"status_reason" doc:"A stable error code"`
	StatusMessage        *string         `json:"status_message" db:"status_message" doc:"What to do about it"`
	Paused               bool            `json:"paused" db:"paused"`
	SyncIntervalSeconds  *int            `json:"sync_interval_seconds" db:"sync_interval_seconds"`
	Banks                []BankState     `json:"banks" db:"banks" doc:"The banks that this connection reads, where one token opens several; each has a status of its own"`
	AccountsCount        int             `json:"accounts_count" db:"accounts_count"`
	NewAccountsAvailable bool            `json:"new_accounts_available" db:"new_accounts_available"`
	ConsentExpiresAt     *pg.Time        `json:"consent_expires_at" db:"consent_expires_at"`
	LastAttemptAt        *pg.Time        `json:"last_attempt_at" db:"last_attempt_at"`
	LastSyncAt           *pg.Time        `json:"last_sync_at" db:"last_sync_at"`
	NextSyncAt           *pg.Time        `json:"next_sync_at" db:"next_sync_at"`
	CanRefreshBalances   bool            `json:"can_refresh_balances" db:"can_refresh_balances" doc:"Whether a person can refresh balances, which may cost money"`
	BalancesAskedAt      *pg.Time        `json:"balances_asked_at" db:"balances_asked_at" doc:"When they were last refreshed"`
	CreatedAt            pg.Time         `json:"created_at" db:"created_at"`
	UpdatedAt            pg.Time         `json:"updated_at" db:"updated_at"`
}

const connectionRows = `
	select c.id, c.short_id, c.member_id as user_id, c.provider, c.institution_name, c.institution_id, c.status,
		c.status_reason, c.status_message, c.paused, c.sync_interval_seconds,
		` + bankColumn + `
		(select count(*) from account a where a.connection_id = c.id and a.deleted_at is null) as accounts_count,
			c.new_accounts_available, c.consent_expires_at, c.last_attempt_at, c.last_sync_at, c.next_sync_at,
		c.status in ('active', 'error') and s.paid_balances <> 'never' as can_refresh_balances, c.balances_asked_at,
		c.created_at, c.updated_at
	from connection c cross join setting s`

// Connections returns all connections, oldest first.
func (f *Connections) Connections(ctx context.Context, q pg.Querier, _ op.None) ([]Connection, error) {
	all, err := pg.All[Connection](ctx, q, connectionRows+` order by c.id`)
	for i := range all {
		all[i].CanRefreshBalances = all[i].CanRefreshBalances && sellsBalances(all[i].Provider)
	}
	return all, err
}

// A ConnectionRef names a connection.
type ConnectionRef struct { //nolint:revive // the name of the shape in the contract
	ID string `json:"id" minLength:"1" doc:"The connection's UUID or short id"`
}

// Connection returns one connection.
func (f *Connections) Connection(ctx context.Context, q pg.Querier, in ConnectionRef) (Connection, error) {
	c, err := pg.One[Connection](ctx, q, connectionRows+` where c.id = $1 or c.short_id = $2`,
		pg.RefTo(in.ID).IDArgs()...)
	c.CanRefreshBalances = c.CanRefreshBalances && sellsBalances(c.Provider)
	return c, pg.Found(err, "connection", "{connection.list} lists them")
}

// PatchConnection is the input of PatchConnection.
type PatchConnection struct {
	ID                  string       `json:"id" minLength:"1" doc:"The connection's UUID or short id"`
	Paused              *bool        `json:"paused,omitempty" doc:"A paused connection only syncs on request"`
	SyncIntervalSeconds op.Null[int] `json:"sync_interval_seconds,omitzero" minimum:"900" maximum:"2592000" doc:"Sync interval; null means the household default. Never more often than the provider's min_interval_minutes"`
	UserID              *string      `json:"user_id,omitempty" minLength:"1" doc:"Owner of the connection: UUID or short id"`
}

// PatchConnection changes a connection.
func (f *Connections) PatchConnection(ctx context.Context, tx pg.Tx, in PatchConnection) (Connection, error) {
	c, err := f.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return Connection{}, err
	}
	if err := op.Match(ctx, c); err != nil {
		return Connection{}, err
	}
	var member *id.ID
	if in.UserID != nil {
		u, err := f.auth.KeepUser(ctx, tx, *in.UserID)
		if err != nil {
			return Connection{}, pg.Named(err, "user_id", "user", "{user.list} lists them")
		}
		member = &u.ID
	}
	spec, _ := all.Find(string(c.Provider))
	_, err = pg.Exec(ctx, tx, `
		update connection set
			paused = coalesce(@paused, paused), sync_interval_seconds = case when @given then @interval
				else sync_interval_seconds end, member_id = coalesce(@member, member_id),
			next_sync_at = case when @given
				and provider <> 'csv' then least(next_sync_at, clock_timestamp()
					+ greatest(@interval, @least) * interval '1 second')
				else next_sync_at end, updated_at = clock_timestamp()
		where id = @id`, pg.Args{
		"id": c.ID, "paused": in.Paused, "given": in.SyncIntervalSeconds.Set,
		"interval": in.SyncIntervalSeconds.Value, "least": spec.MinInterval().Seconds(), "member": member,
	})
	if err != nil {
		return Connection{}, err
	}
	return f.Connection(ctx, tx, ConnectionRef{c.ID.String()})
}

// LockConnection returns a connection and locks it: nobody else can change it until the transaction
// ends.
func (f *Connections) LockConnection(ctx context.Context, tx pg.Tx, ref string) (Connection, error) {
	_, err := pg.Value[id.ID](ctx, tx, `select id from connection c
		where id = $1 or short_id = $2`+keeping, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return Connection{}, pg.Found(err, "connection", "{connection.list} lists them")
	}
	return f.Connection(ctx, tx, ConnectionRef{ref})
}

// A syncedConnection holds the columns of a connection that a sync needs.
type syncedConnection struct {
	ID          id.ID    `db:"id"`
	ShortID     string   `db:"short_id"`
	Provider    string   `db:"provider"`
	Status      string   `db:"status"`
	Paused      bool     `db:"paused"`
	Credentials []byte   `db:"credentials"`
	Cursor      string   `db:"cursor"`
	Interval    int      `db:"sync_interval_seconds"` // the connection's own, or that of the household
	Failures    int      `db:"consecutive_failures"`
	LastSyncAt  *pg.Time `db:"last_sync_at"`
	// The household's setting.
	PaidBalances string `db:"paid_balances"`
}

// linkRows selects connections with the columns of syncedConnection.
const linkRows = `
	select c.id, c.short_id, c.provider, c.status, c.paused, c.credentials, c.cursor,
		coalesce(c.sync_interval_seconds, s.default_sync_interval_seconds) as sync_interval_seconds,
		c.consecutive_failures, c.last_sync_at, s.paid_balances
	from connection c, setting s`

// keeping locks a connection for changes. Transactions that only refer to the connection, such as
// the one that stores a webhook event, do not wait for this lock.
const keeping = ` for no key update of c`

func lockLink(ctx context.Context, tx pg.Tx, connection id.ID) (syncedConnection, error) {
	l, err := pg.One[syncedConnection](ctx, tx, linkRows+` where c.id = $1`+keeping, connection)
	return l, pg.Found(err, "connection", "{connection.list} lists them")
}

// syncable returns an error that explains what to do, if the connection cannot be synced.
func (l syncedConnection) syncable(trigger string) error {
	switch {
	case l.Provider == bank.CSV:
		return errs.New(errs.ConnNotSyncable, "this connection only takes CSV files; import one with "+
			"{csv.import}")
	case l.Status == "pending_reauth":
		return errs.New(errs.ConnNotSyncable, "the bank needs reconnecting first")
	case l.Status == "disconnected":
		return errs.New(errs.ConnNotSyncable, "this connection was disconnected permanently; connect the "+
			"bank again")
	case l.Paused && trigger != "manual" && trigger != "initial":
		return errs.New(errs.ConnNotSyncable,
			"this connection is paused; sync it manually, or resume it (paused: false)")
	}
	return nil
}

// credentialsPlace is the database field that a connection's credentials are sealed to. If they are
// moved to another field, they cannot be opened.
func credentialsPlace(connection id.ID) seal.Place {
	return seal.Place{Table: "connection", Column: "credentials", Row: connection.String()}
}

func (f *Connections) open(l syncedConnection) (bank.Credentials, error) {
	if f.ring == nil {
		return nil, errs.New(errs.EncryptionKeyNeeded,
			"COFFER_ENCRYPTION_KEY is not set on this server, so the connection's credentials cannot be decrypted")
	}
	plain, err := f.ring.Open(credentialsPlace(l.ID), l.Credentials)
	if err != nil {
		return nil, errs.Wrap(err, errs.EncryptionKeyNeeded,
			"the connection's credentials cannot be decrypted: set the COFFER_ENCRYPTION_KEY that encrypted "+
				"them, or connect the bank again")
	}
	return bank.Credentials(plain), nil
}
