package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

// CreateConnection is the input of CreateConnection.
type CreateConnection struct {
	Provider            all.Name     `json:"provider"`
	UserID              *string      `json:"user_id,omitempty" minLength:"1" doc:"Owner of the connection: UUID or short id; defaults to the caller, or else the oldest admin"`
	Credentials         WidgetResult `json:"credentials,omitempty"`
	InstitutionName     *string      `json:"institution_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The bank's name, if the provider does not supply it"`
	SyncIntervalSeconds *int         `json:"sync_interval_seconds,omitempty" minimum:"900" maximum:"2592000" doc:"Sync interval"`
}

// A WidgetResult is the result of a provider's widget.
type WidgetResult map[string]json.RawMessage

// Schema describes the result of each provider's widget.
func (WidgetResult) Schema() *op.Schema {
	s := op.SchemaOf[map[string]json.RawMessage]()
	var given []string
	for _, p := range all.Specs {
		if p.Given != "" {
			given = append(given, p.Name+" "+p.Given)
		}
	}
	s.Description = "The result of the provider's widget: " + strings.Join(given, ", ") + "; must be omitted for csv"
	return s
}

// Opened is what a bank returned for a new connection.
type Opened struct {
	Linked   bank.Linked
	Accounts []bank.Account
}

// askBank exchanges what the widget gave for credentials and reads the accounts.
func (f *Connections) askBank(ctx context.Context, _ pg.Querier, in CreateConnection) (Opened, error) {
	if in.Provider == bank.CSV {
		if len(in.Credentials) > 0 {
			return Opened{}, errs.Field("credentials", "conflict",
				"must be omitted: a CSV connection needs no credentials")
		}
		return Opened{}, nil
	}
	if len(in.Credentials) == 0 {
		return Opened{}, errs.Field("credentials", "required",
			"is required: the result of the provider's widget; or let a person connect the bank on the page "+
				"that {connection.session} returns")
	}
	provider, linker, err := f.Linker(ctx, string(in.Provider))
	if err != nil {
		return Opened{}, err
	}
	given, err := json.Marshal(in.Credentials)
	if err != nil {
		return Opened{}, errs.Wrap(err, errs.InvalidBody, "must be an object as the provider's widget "+
			"returns it")
	}
	linked, err := linker.Exchange(ctx, "", given)
	if err != nil {
		return Opened{}, err
	}
	accounts, err := FirstAccounts(ctx, provider, linked.Credentials)
	return Opened{linked, accounts}, err
}

// firstPatience limits how long a person who links a bank waits for its accounts, if a sync lists
// them later anyway.
const firstPatience = time.Minute

// FirstAccounts returns the accounts of a bank that was just linked. If the bank does not answer
// and a sync lists the accounts anyway, it returns none instead of an error. The code that was
// exchanged for the credentials works only once, so an error would lose the credentials.
func FirstAccounts(ctx context.Context, p bank.Provider, c bank.Credentials) ([]bank.Account, error) {
	if p.Traits().Lists {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, firstPatience)
		defer cancel()
	}
	accounts, err := p.Accounts(ctx, c)
	if e, ok := errors.AsType[*bank.Error](err); ok && e.Class == bank.Later && p.Traits().Lists {
		return nil, nil
	}
	return accounts, err
}

// Linker returns a configured provider and its bank.Linker, or an error if the provider cannot link
// banks.
func (f *Connections) Linker(ctx context.Context, name string) (bank.Provider, bank.Linker, error) {
	provider, err := f.Configured(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	l, ok := provider.(bank.Linker)
	if !ok {
		return nil, nil, errs.Field("provider", "enum", "can't connect banks; choose another provider")
	}
	return provider, l, nil
}

// Configured returns the provider with its current configuration, or an error if this server has no
// encryption key.
func (f *Connections) Configured(ctx context.Context, name string) (bank.Provider, error) {
	p, err := f.providers.Provider(ctx, name)
	if err == nil && f.ring == nil {
		return nil, errs.New(errs.EncryptionKeyNeeded,
			"set COFFER_ENCRYPTION_KEY first: bank credentials cannot be stored without it")
	}
	return p, err
}

// CreateConnection stores a connection with its accounts and, for a bank, starts its first sync.
func (f *Connections) CreateConnection(ctx context.Context, tx pg.Tx, in CreateConnection, o Opened) (Connection,
	error,
) {
	member, err := f.Owner(ctx, tx, in.UserID)
	if err != nil {
		return Connection{}, err
	}
	if in.InstitutionName != nil && o.Linked.InstitutionName.Plain() == "" {
		o.Linked.InstitutionName = text.Name(*in.InstitutionName)
	}
	c, err := f.LinkBank(ctx, tx, member, string(in.Provider), in.SyncIntervalSeconds, o)
	if err != nil {
		return Connection{}, err
	}
	return f.Connection(ctx, tx, ConnectionRef{c.String()})
}

// LinkBank stores a connection of a member, as the bank opened it, and starts its first sync.
func (f *Connections) LinkBank(ctx context.Context, tx pg.Tx, member id.ID, provider string, interval *int, o Opened) (
	id.ID, error,
) {
	made, err := f.AddConnections(ctx, tx, []NewConnection{{
		MemberID: member, Provider: provider,
		Institution: institution(o),
	}})
	if err != nil {
		return id.ID{}, err
	}
	c := made[0]
	var sealed []byte
	if provider != bank.CSV {
		if sealed, err = f.ring.Seal(credentialsPlace(c), o.Linked.Credentials); err != nil {
			return id.ID{}, err
		}
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set credentials = @sealed, provider_id = @provider, institution_id = @institution,
			sync_interval_seconds = @interval, consent_expires_at = @ends,
			asked_at = case when @asked then array[clock_timestamp()] else '{}' end,
			next_sync_at = case when provider <> 'csv' then clock_timestamp() + interval '15 minutes' end
		where id = @id`, pg.Args{
		"id": c, "sealed": sealed, "provider": pg.OrNull(o.Linked.ConnectionID),
		"institution": pg.OrNull(o.Linked.InstitutionID), "interval": interval,
		"asked": provider != bank.CSV && !countsLoops(provider), "ends": endOf(o.Linked.ConsentEnds),
	})
	if pg.Violates(err, "connection_provider_id") {
		return id.ID{}, errs.New(errs.Conflict,
			"this bank login is already connected; reconnect that connection instead")
	}
	if err != nil || provider == bank.CSV {
		return c, err
	}
	if _, err := f.accounts.RefreshAccounts(ctx, tx, c, accountsOf(c, provider, o.Accounts)); err != nil {
		return id.ID{}, err
	}
	_, err = f.requestSync(ctx, tx, syncRequest{Connection: c, Trigger: "initial"})
	return c, err
}

// countsLoops reports whether a provider's limit counts whole loops of pages, so linking a bank
// does not count.
func countsLoops(provider string) bool {
	spec, _ := all.Find(provider)
	return spec.Remote() && spec.Type.Traits().PerLoop
}

// institution returns the name of the bank, or the first few names if there are several banks.
func institution(o Opened) text.Untrusted {
	if o.Linked.InstitutionName.Plain() != "" {
		return o.Linked.InstitutionName
	}
	var names []string
	for _, a := range o.Accounts {
		if name := a.BankName.Plain(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return named(names)
}

// named joins the names of banks.
func named(names []string) text.Untrusted {
	const limit = 3
	all := strings.Join(names[:min(len(names), limit)], ", ")
	if len(names) > limit {
		all += fmt.Sprintf(" + %d", len(names)-limit)
	}
	return text.Name(all)
}

// A NewConnection is a connection that is about to be stored.
type NewConnection struct {
	MemberID    id.ID
	Provider    string
	Institution text.Untrusted
}

// AddConnections stores connections and returns their ids in the given order.
func (f *Connections) AddConnections(ctx context.Context, tx pg.Tx, connections []NewConnection) ([]id.ID, error) {
	ids := make([]id.ID, len(connections))
	err := pg.Redraw(ctx, tx, "connection_short_id", func(tx pg.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"connection"},
			[]string{"id", "short_id", "member_id", "provider", "institution_name"},
			pgx.CopyFromSlice(len(connections), func(i int) ([]any, error) {
				ids[i] = id.New()
				c := connections[i]
				return []any{ids[i], ids[i].Short(), c.MemberID, c.Provider, c.Institution.Plain()}, nil
			}))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add connections: %w", err)
	}
	return ids, nil
}

// accountsOf converts a bank's accounts to the input of account.Register.
func accountsOf(connection id.ID, provider string, listed []bank.Account) []account.Incoming {
	accounts := make([]account.Incoming, len(listed))
	for i, a := range listed {
		accounts[i] = account.Incoming{
			ConnectionID: &connection, Provider: provider, ProviderID: a.ProviderID, Name: a.Name,
			OfficialName: a.OfficialName, Type: a.Type, Subtype: a.Subtype, Mask: a.Mask,
			InstitutionName: pg.OrNull(a.BankName.Plain()), Guessed: a.Guessed,
			Currency: a.Currency, BalanceCurrent: a.Current, BalanceAvailable: a.Available, BalanceLimit: a.Limit,
		}
	}
	return accounts
}

// whose returns the member that ref names, or else the caller. Nil stands for the oldest admin.
func whose(ctx context.Context, ref *string) *string {
	if caller := op.ActorOf(ctx).Member; ref == nil && caller != nil {
		return new(caller.String())
	}
	return ref
}

// FindOwner is Owner without the lock on the member.
func (f *Connections) FindOwner(ctx context.Context, q pg.Querier, ref *string) (id.ID, error) {
	if ref = whose(ctx, ref); ref == nil {
		return pg.Value[id.ID](ctx, q, `select id from member where deleted_at is null and role = 'admin'
			order by created_at, id limit 1`)
	}
	u, err := f.auth.FindUser(ctx, q, *ref)
	return u.ID, pg.Named(err, "user_id", "user", "{user.list} lists them")
}

// Owner returns the member that ref names, or else the caller, or else the oldest admin. Nobody can
// remove that member until the transaction ends.
func (f *Connections) Owner(ctx context.Context, tx pg.Tx, ref *string) (id.ID, error) {
	if ref = whose(ctx, ref); ref == nil {
		return pg.Value[id.ID](ctx, tx, `select id from member where deleted_at is null and role = 'admin'
			order by created_at, id limit 1 for share`)
	}
	u, err := f.auth.KeepUser(ctx, tx, *ref)
	return u.ID, pg.Named(err, "user_id", "user", "{user.list} lists them")
}

// revoke asks the bank to end coffer's access. If that fails, the connection is still deleted and
// its credentials are erased.
func (f *Connections) revoke(ctx context.Context, q pg.Querier, in ConnectionRef) (bool, error) {
	c, err := f.Connection(ctx, q, in)
	if err != nil {
		return false, err
	}
	sealed, err := pg.Value[[]byte](ctx, q, `select credentials from connection where id = $1`, c.ID)
	if err != nil || sealed == nil {
		return false, err
	}
	p, err := f.Configured(ctx, string(c.Provider))
	if err != nil {
		return false, nil //nolint:nilerr // nobody to notify; the credentials are erased all the same
	}
	provider, ok := p.(bank.Revoker)
	if !ok {
		return false, nil
	}
	secret, err := f.open(syncedConnection{ID: c.ID, Credentials: sealed})
	if err != nil {
		return false, nil //nolint:nilerr // they cannot be opened, so nobody can use them either
	}
	return provider.Revoke(ctx, secret) == nil, nil
}

// RevokeOf gives up access at every bank of a member, before the member's data is erased.
func (f *Connections) RevokeOf(ctx context.Context, q pg.Querier, member id.ID) error {
	connections, err := pg.Values[id.ID](ctx, q, `select id from connection
		where member_id = $1 and credentials is not null`, member)
	if err != nil {
		return err
	}
	for _, c := range connections { // each is a call to a bank
		if _, err := f.revoke(ctx, q, ConnectionRef{c.String()}); err != nil {
			return err
		}
	}
	return nil
}

// DeleteConnection disconnects a bank permanently: the credentials are erased, accounts and
// transactions are kept.
func (f *Connections) DeleteConnection(ctx context.Context, tx pg.Tx, in ConnectionRef, _ bool) (op.Deleted, error) {
	c, err := f.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: c.ID}, disconnect(ctx, tx, c.ID, "REMOVED",
		"Someone disconnected this bank. Connect it again to sync.")
}

// A ConnectionStatus is the status of a connection.
type ConnectionStatus struct { //nolint:revive // the name of the shape in the contract
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	Provider            all.Name        `json:"provider"`
	Status              string          `json:"status" enum:"active,error,pending_reauth,disconnected"`
	StatusReason        *string         `json:"status_reason"`
	StatusMessage       *string         `json:"status_message"`
	Paused              bool            `json:"paused"`
	LastSyncAt          *pg.Time        `json:"last_sync_at"`
	LastAttemptAt       *pg.Time        `json:"last_attempt_at"`
	NextSyncAt          *pg.Time        `json:"next_sync_at"`
	ConsecutiveFailures int             `json:"consecutive_failures"`
	CurrentJob          *id.ID          `json:"current_job" doc:"The sync that is queued or running"`
	LastSync            *SyncLog        `json:"last_sync"`
	Accounts            []AccountStatus `json:"accounts"`
}

// An AccountStatus shows which dates an account's transactions cover.
type AccountStatus struct {
	ID           id.ID          `json:"id" db:"id"`
	ShortID      string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name         text.Untrusted `json:"name" db:"name"`
	Transactions int64          `json:"transactions" db:"transactions"`
	LatestDate   *pg.Date       `json:"latest_date" db:"latest_date"`
}

// Status returns a connection's status.
func (f *Connections) Status(ctx context.Context, q pg.Querier, in ConnectionRef) (ConnectionStatus, error) {
	c, err := f.Connection(ctx, q, in)
	if err != nil {
		return ConnectionStatus{}, err
	}
	out := ConnectionStatus{
		ID: c.ID, ShortID: c.ShortID, Provider: c.Provider, Status: c.Status, StatusReason: c.StatusReason,
		StatusMessage: c.StatusMessage, Paused: c.Paused,
		LastSyncAt: c.LastSyncAt, LastAttemptAt: c.LastAttemptAt, NextSyncAt: c.NextSyncAt,
	}
	if out.ConsecutiveFailures, err = pg.Value[int](ctx, q, `select consecutive_failures from connection
		where id = $1`, c.ID); err != nil {
		return ConnectionStatus{}, err
	}
	running, err := pg.Values[id.ID](ctx, q, `select id from job where kind = $1 and unique_key = $2
		and state in ('queued', 'running')`, SyncKind, c.ID.String())
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
		select a.id, a.short_id, coalesce(nullif(a.display_name, ''), a.name) as name, count(t.id) as transactions,
			max(t.date) as latest_date
		from account a left join transaction t on t.account_id = a.id and t.deleted_at is null and `+journal.BankRow+`
			where a.connection_id = $1 and a.deleted_at is null group by a.id order by a.id`, c.ID)
	return out, err
}
