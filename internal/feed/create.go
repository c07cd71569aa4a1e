package feed

import (
	"context"
	"encoding/json"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// CreateConnection is the input of CreateConnection.
type CreateConnection struct {
	Provider            string                     `json:"provider" enum:"plaid,teller,csv"`
	UserID              *string                    `json:"user_id,omitempty" minLength:"1" doc:"The member whose it is: UUID or short id; without it the oldest admin"`
	Credentials         map[string]json.RawMessage `json:"credentials,omitempty" doc:"What the provider's widget gave: plaid {public_token}, teller {access_token, enrollment_id, …}; csv takes none"`
	InstitutionName     *string                    `json:"institution_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The bank's name, where the provider does not say it"`
	SyncIntervalSeconds *int                       `json:"sync_interval_seconds,omitempty" minimum:"900" maximum:"2592000" doc:"How often it is synced"`
}

// opened is what a bank answered to a new connection.
type opened struct {
	linked   bank.Linked
	accounts []bank.Account
}

// askBank exchanges what the widget gave for credentials and reads the accounts.
func (f *Feed) askBank(ctx context.Context, _ pg.Querier, in CreateConnection) (opened, error) {
	if in.Provider == "csv" {
		if len(in.Credentials) > 0 {
			return opened{}, errs.Field("credentials", "conflict", "must be left out: a connection for files needs none")
		}
		return opened{}, nil
	}
	provider, err := f.configured(in.Provider)
	if err != nil {
		return opened{}, err
	}
	linker, ok := provider.(bank.Linker)
	if !ok || len(in.Credentials) == 0 {
		return opened{}, errs.Field("credentials", "required", "is required: what the provider's widget gave")
	}
	given, err := json.Marshal(in.Credentials)
	if err != nil {
		return opened{}, errs.Wrap(err, errs.InvalidBody, "credentials cannot be read")
	}
	linked, err := linker.Exchange(ctx, "", given)
	if err != nil {
		return opened{}, err
	}
	accounts, err := provider.Accounts(ctx, linked.Credentials)
	return opened{linked, accounts}, err
}

// configured is the provider, if this server may talk to it.
func (f *Feed) configured(name string) (bank.Provider, error) {
	p, ok := f.providers[name]
	switch {
	case !ok:
		return nil, errs.New(errs.ProviderNotConfig, "%s is not configured on this server; set COFFER_%s_… in its environment and start it anew (coffer doctor --settings lists the variables)", name, strings.ToUpper(name))
	case f.ring == nil:
		return nil, errs.New(errs.EncryptionKeyNeeded, "set COFFER_ENCRYPTION_KEY first: without it the credentials of banks cannot be kept")
	}
	return p, nil
}

// CreateConnection stores a connection with its accounts; a bank's first sync is taken on with it.
func (f *Feed) CreateConnection(ctx context.Context, tx pg.Tx, in CreateConnection, o opened) (Connection, error) {
	member, err := f.owner(ctx, tx, in.UserID)
	if err != nil {
		return Connection{}, err
	}
	name := o.linked.InstitutionName
	if in.InstitutionName != nil && name.Plain() == "" {
		name = text.Name(*in.InstitutionName)
	}
	made, err := f.AddConnections(ctx, tx, []NewConnection{{MemberID: member, Provider: in.Provider, Institution: name}})
	if err != nil {
		return Connection{}, err
	}
	c := made[0]
	var sealed []byte
	if in.Provider != "csv" {
		if sealed, err = f.ring.Seal(credentialsPlace(c), o.linked.Credentials); err != nil {
			return Connection{}, err
		}
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set credentials = @sealed, provider_id = @provider, institution_id = @institution, sync_interval_seconds = @interval,
			next_sync_at = case when provider <> 'csv' then clock_timestamp() + interval '15 minutes' end
		where id = @id`, pg.Args{
		"id": c, "sealed": sealed, "provider": orNull(o.linked.ConnectionID), "institution": orNull(o.linked.InstitutionID), "interval": in.SyncIntervalSeconds,
	})
	if pg.Violates(err, "connection_provider_id") {
		return Connection{}, errs.New(errs.Conflict, "this bank login is linked already; reauthenticate that connection instead of linking it twice")
	}
	if err != nil {
		return Connection{}, err
	}
	if in.Provider != "csv" {
		if _, err := f.books.SettleAccounts(ctx, tx, c, accountsOf(c, in.Provider, o.accounts)); err != nil {
			return Connection{}, err
		}
		if _, err := f.order(ctx, tx, order{c, "initial"}); err != nil {
			return Connection{}, err
		}
	}
	return f.Connection(ctx, tx, ConnectionRef{c.String()})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// accountsOf are a bank's accounts as the ledger takes them.
func accountsOf(connection id.ID, provider string, listed []bank.Account) []ledger.NewAccount {
	accounts := make([]ledger.NewAccount, len(listed))
	for i, a := range listed {
		accounts[i] = ledger.NewAccount{
			ConnectionID: &connection, Provider: provider, ProviderID: a.ProviderID, Name: a.Name, OfficialName: a.OfficialName, Type: a.Type, Subtype: a.Subtype, Mask: a.Mask,
			Currency: a.Currency, BalanceCurrent: a.Current, BalanceAvailable: a.Available, BalanceLimit: a.Limit,
		}
	}
	return accounts
}

// owner is the member that was named, or the oldest admin.
func (f *Feed) owner(ctx context.Context, tx pg.Tx, ref *string) (id.ID, error) {
	if ref == nil {
		return pg.Value[id.ID](ctx, tx, `select id from member where deleted_at is null and role = 'admin' order by created_at, id limit 1 for share`)
	}
	u, err := f.auth.KeepUser(ctx, tx, *ref)
	return u.ID, pg.Named(err, "user_id", "user", "GET /api/v1/users lists them")
}

// revoke gives access back at the bank. That it cannot is no reason to keep a connection that someone wants gone: the credentials are erased in any case.
func (f *Feed) revoke(ctx context.Context, q pg.Querier, in ConnectionRef) (bool, error) {
	c, err := f.Connection(ctx, q, in)
	if err != nil {
		return false, err
	}
	sealed, err := pg.Value[[]byte](ctx, q, `select credentials from connection where id = $1`, c.ID)
	if err != nil || sealed == nil {
		return false, err
	}
	provider, ok := f.providers[c.Provider].(bank.Revoker)
	if !ok || f.ring == nil {
		return false, nil
	}
	secret, err := f.open(link{ID: c.ID, Credentials: sealed})
	if err != nil {
		return false, nil //nolint:nilerr // they cannot be opened, so nobody can use them either
	}
	return provider.Revoke(ctx, secret) == nil, nil
}

// DeleteConnection disconnects a bank for good: the credentials are erased, accounts and transactions stay.
func (f *Feed) DeleteConnection(ctx context.Context, tx pg.Tx, in ConnectionRef, _ bool) (op.Deleted, error) {
	c, err := f.lockConnection(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set status = 'disconnected', status_reason = 'REMOVED', status_message = 'Someone removed this connection; link the bank anew to sync it again.',
			credentials = null, next_sync_at = null, updated_at = clock_timestamp()
		where id = $1`, c.ID)
	return op.Deleted{Deleted: true, ID: c.ID}, err
}

// A ConnectionStatus is how a connection does.
type ConnectionStatus struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	Provider            string          `json:"provider" enum:"plaid,teller,csv"`
	Status              string          `json:"status" enum:"active,error,pending_reauth,disconnected"`
	StatusReason        *string         `json:"status_reason"`
	StatusMessage       *string         `json:"status_message"`
	Paused              bool            `json:"paused"`
	LastSyncAt          *pg.Time        `json:"last_sync_at"`
	LastAttemptAt       *pg.Time        `json:"last_attempt_at"`
	NextSyncAt          *pg.Time        `json:"next_sync_at"`
	ConsecutiveFailures int             `json:"consecutive_failures"`
	CurrentJob          *id.ID          `json:"current_job" doc:"The sync that waits or runs"`
	LastSync            *SyncLog        `json:"last_sync"`
	Accounts            []AccountStatus `json:"accounts"`
}

// An AccountStatus is how far an account's transactions reach.
type AccountStatus struct {
	ID           id.ID          `json:"id" db:"id"`
	ShortID      string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name         text.Untrusted `json:"name" db:"name"`
	Transactions int64          `json:"transactions" db:"transactions"`
	LatestDate   *pg.Date       `json:"latest_date" db:"latest_date"`
}

// Status is how a connection does.
func (f *Feed) Status(ctx context.Context, q pg.Querier, in ConnectionRef) (ConnectionStatus, error) {
	c, err := f.Connection(ctx, q, in)
	if err != nil {
		return ConnectionStatus{}, err
	}
	out := ConnectionStatus{
		ID: c.ID, ShortID: c.ShortID, Provider: c.Provider, Status: c.Status, StatusReason: c.StatusReason, StatusMessage: c.StatusMessage, Paused: c.Paused,
		LastSyncAt: c.LastSyncAt, LastAttemptAt: c.LastAttemptAt, NextSyncAt: c.NextSyncAt,
	}
	if out.ConsecutiveFailures, err = pg.Value[int](ctx, q, `select consecutive_failures from connection where id = $1`, c.ID); err != nil {
		return ConnectionStatus{}, err
	}
	running, err := pg.Values[id.ID](ctx, q, `select id from job where kind = $1 and unique_key = $2 and state in ('queued', 'running')`, SyncKind, c.ID.String())
	if err != nil {
		return ConnectionStatus{}, err
	}
	if len(running) > 0 {
		out.CurrentJob = &running[0]
	}
	logs, err := pg.All[SyncLog](ctx, q, logRows+` where connection_id = $1 order by id desc limit 1`, c.ID)
	if err != nil {
		return ConnectionStatus{}, err
	}
	if len(logs) > 0 {
		out.LastSync = &logs[0]
	}
	out.Accounts, err = pg.All[AccountStatus](ctx, q, `
		select a.id, a.short_id, coalesce(a.display_name, a.name) as name, count(t.id) as transactions, max(t.date) as latest_date
		from account a left join transaction t on t.account_id = a.id and t.deleted_at is null where a.connection_id = $1 group by a.id order by a.id`, c.ID)
	return out, err
}

// SyncAll is the input of trigger_sync.
type SyncAll struct {
	ConnectionID *string `json:"connection_id,omitempty" minLength:"1" doc:"Only this connection: UUID or short id; without it every one that can be synced"`
}

// Orders are the syncs that were taken on.
type Orders struct {
	Jobs []job.Job `json:"jobs" doc:"One for each connection; get_job tells how it goes"`
}

// SyncAll takes on a sync of one connection, or of every one that can be synced.
func (f *Feed) SyncAll(ctx context.Context, tx pg.Tx, in SyncAll) (Orders, error) {
	out := Orders{Jobs: []job.Job{}}
	if in.ConnectionID != nil {
		c, err := pg.Value[id.ID](ctx, tx, `select id from connection where id = $1 or short_id = $2`, pg.RefTo(*in.ConnectionID).IDArgs()...)
		if err != nil {
			return Orders{}, pg.Named(err, "connection_id", "connection", "GET /api/v1/connections lists them")
		}
		j, err := f.SyncConnection(ctx, tx, ConnectionRef{c.String()})
		out.Jobs = append(out.Jobs, j)
		return out, err
	}
	ids, err := pg.Values[id.ID](ctx, tx, `select id from connection where status in ('active', 'error') and not paused and provider <> 'csv' order by id`)
	if err != nil {
		return Orders{}, err
	}
	for _, c := range ids { // each is a job of its own
		j, err := f.order(ctx, tx, order{c, "manual"})
		if err != nil {
			return Orders{}, err
		}
		out.Jobs = append(out.Jobs, j)
	}
	return out, nil
}
