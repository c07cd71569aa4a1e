package connection

import (
	"context"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/rules/rulebook"
)

// Connections holds the connections of one household.
type Connections struct {
	db        *pg.DB
	auth      *auth.Auth
	accounts  *account.Register
	books     *ledger.Books
	rules     *rulebook.Rulebook
	jobs      *job.Jobs
	ring      *seal.Ring // nil without an encryption key
	providers Providers
	then      []func(context.Context, *job.Run, bool) error
}

// Providers returns the provider with a given name, or an error with the reason why there is none.
// The provider has its current configuration, which another server may have just changed.
type Providers interface {
	Provider(ctx context.Context, name string) (bank.Provider, error)
}

// A Config holds what New needs.
type Config struct {
	DB        *pg.DB
	Auth      *auth.Auth
	Accounts  *account.Register
	Books     *ledger.Books
	Rules     *rulebook.Rulebook
	Jobs      *job.Jobs
	Ring      *seal.Ring // opens credentials; nil without an encryption key
	Providers Providers
	// Then runs after the last page of a sync or an import, in its job. changed is set if a
	// transaction changed. It also runs if the bank failed after some pages, unless they changed
	// nothing. If a step fails, the sync still succeeds, and the work is left for the next sync.
	Then []func(ctx context.Context, run *job.Run, changed bool) error
}

// New returns Connections.
func New(c Config) *Connections {
	return &Connections{
		db: c.DB, auth: c.Auth, accounts: c.Accounts, books: c.Books, rules: c.Rules, jobs: c.Jobs, ring: c.Ring,
		providers: c.Providers, then: c.Then,
	}
}

// Follow runs the steps of Config.Then after a sync or an import.
func (f *Connections) Follow(ctx context.Context, run *job.Run, changed bool) {
	for _, step := range f.then {
		if err := step(ctx, run, changed); err != nil {
			run.Warn(ctx, "follow-up work was left for the next sync", err)
		}
	}
}

// linked returns provider=name for each remote provider. These inputs of an operation link a bank.
func linked() []string {
	var out []string
	for _, name := range all.Remote("").Enum() {
		out = append(out, "provider="+name)
	}
	return out
}

// Ops returns the operations of connections.
func (f *Connections) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "connection.list", Route: "GET /connections", Tool: "list_connections",
			Summary: "Lists bank connections.",
			Agent: "Lists bank connections with their health. Status pending_reauth means that a person must " +
				"reconnect the bank; you cannot do that.",
		}, f.Connections),
		op.Calling(op.Spec{
			Name: "connection.create", Route: "POST /connections", People: op.PeopleFields(linked()...),
			Summary: "Connects a bank, or creates a connection for CSV files.",
		}, f.askBank, f.CreateConnection),
		op.Reading(op.Spec{Name: "connection.get", Route: "GET /connections/{id}", Summary: "Shows one connection."},
			f.Connection),
		op.Writing(op.Spec{
			Name: "connection.update", Route: "PATCH /connections/{id}",
			People:  op.PeopleFields("paused", "user_id", "sync_interval_seconds"),
			Summary: "Pauses a connection, or changes its sync interval or its owner.",
		}, f.PatchConnection),
		op.Calling(op.Spec{
			Name: "connection.delete", Route: "DELETE /connections/{id}", People: op.PeopleAlways,
			Summary: "Disconnects a bank permanently; accounts and transactions are kept.",
		}, f.revoke, f.DeleteConnection),
		op.Calling(op.Spec{
			Name: "connection.repaired", Route: "POST /connections/{id}/reauth-complete", People: op.PeopleAlways,
			Summary: "Confirms that the member has reconnected the bank; the connection becomes active and " +
				"syncs.",
		}, f.askRepaired, f.Repaired),
		op.Calling(op.Spec{
			Name: "account.refresh-balance", Route: "POST /accounts/{id}/refresh-balance", People: op.PeopleAlways,
			OpenWorld: true, Outside: balancePatience,
			Summary: "Refreshes an account's balance live from the bank (may cost money).",
		}, f.askBalance, f.RefreshBalance),
		op.Reading(op.Spec{
			Name: "connection.status", Route: "GET /connections/{id}/status", Tool: "get_sync_status",
			Summary: "Shows a connection's status: its health, last sync and accounts.",
			Agent: "Shows a connection's status: health, the last sync with its counts, the running sync, and which " +
				"dates each account covers.",
		}, f.Status),
		op.Long(op.Writing(op.Spec{
			Name: "sync.start", Route: "POST /sync", Tool: "trigger_sync", OpenWorld: true,
			Runs: op.Runs{
				Reach: op.ReachNever, Instead: "syncs start on a schedule or by a person; work with the stored data",
			},
			Summary: "Syncs one connection, or all that can be synced, as a job.",
			Agent: "Syncs one connection, or all that can be synced, and returns the job with the result of " +
				"each. Waits up to 20 seconds; if it is still running, poll get_job. A call joins a running " +
				"sync.",
		}, f.SyncAll), 20*time.Second, f.jobs.Await),
		op.Long(op.Writing(op.Spec{
			Name: "connection.sync", Route: "POST /connections/{id}/sync",
			Summary: "Syncs a connection now, as a job; if a sync is already running, the call joins it.",
		},
			f.SyncConnection), 0, f.jobs.Await),
		op.Reading(op.Spec{Name: "sync.list", Route: "GET /sync/logs", Summary: "Lists syncs, newest first."},
			f.SyncLogs),
		op.Reading(op.Spec{Name: "sync.get", Route: "GET /sync/logs/{id}", Summary: "Shows one sync."}, f.SyncLog),
		op.Reading(op.Spec{
			Name: "quarantine.list", Route: "GET /sync/quarantine",
			Summary: "Lists unreadable rows from banks, newest first.",
		}, f.Quarantine),
		op.Calling(op.Spec{
			Name: "quarantine.retry", Route: "POST /sync/quarantine/{id}/retry",
			Summary: "Retries an unreadable row, and adds the transaction if it can be read now.",
		}, f.reread,
			f.RetryQuarantined),
		op.Writing(op.Spec{
			Name: "quarantine.delete", Route: "DELETE /sync/quarantine/{id}", People: op.PeopleAlways,
			Summary: "Deletes an unreadable row.",
		}, f.DropQuarantined),
	}
}

// ReassignConnections gives the connections of one member to another.
func (f *Connections) ReassignConnections(ctx context.Context, tx pg.Tx, from, into id.ID) error {
	_, err := pg.Exec(ctx, tx, `update connection set member_id = $2, updated_at = clock_timestamp()
		where member_id = $1`, from, into)
	return err
}
