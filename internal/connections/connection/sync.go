package connection

import (
	"context"
	"errors"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// SyncKind is the job that reads a connection's bank.
const SyncKind = "feed.sync"

// Kinds returns the kinds of jobs of connections.
func (f *Connections) Kinds() []job.Kind {
	return []job.Kind{
		{
			Name: SyncKind, Unit: "transactions", Work: f.sync, Retries: 5, Lane: job.Prompt, Ended: f.Ended,
			Results: []*op.Schema{op.SchemaOf[Synced]()},
		},
		{
			Name: SyncAllKind, Unit: "connections", Work: f.awaitSyncs, Retries: 5, Timeout: 12 * time.Hour,
			Results: []*op.Schema{op.SchemaOf[SyncedAll]()},
		},
	}
}

// A Tally counts what a sync or an import has done so far.
type Tally struct {
	Added       int64 `json:"added"`
	Modified    int64 `json:"modified"`
	Removed     int64 `json:"removed"`
	Unchanged   int64 `json:"unchanged"`
	RulesHit    int64 `json:"rules_applied"`
	Quarantined int64 `json:"quarantined"`
	Pages       int64 `json:"pages"`
}

// Synced is the result of a sync.
type Synced struct {
	Tally
	SyncLogID id.ID  `json:"sync_log_id"`
	ChangeID  *id.ID `json:"change_id"`
}

// A syncState is the state that a sync commits with each page. It is not a position in the bank's
// list: an interrupted loop begins again from the stored cursor, and pages that are already stored
// compare as unchanged.
type syncState struct {
	Tally
	Log    id.ID  `json:"log"`
	Change *id.ID `json:"change"`
}

// A syncRun is one run of a sync.
type syncRun struct {
	connections *Connections
	run         *job.Run
	request     syncRequest
	at          syncState
	link        syncedConnection // the connection, as it was when the sync began
	provider    bank.Provider
	secret      bank.Credentials
	accounts    map[string]id.ID          // account ids in coffer, by the provider's ids
	listed      []string                  // the provider's ids of the accounts that it shares now
	banks       bankStates                // the banks behind the credentials, if there are several
	brought     map[id.ID]map[string]bool // the ids of the rows that the pages returned, by account
	complete    []bank.Extent             // accounts and periods that were read completely
	removed     map[id.ID][]string
	running     map[id.ID]*bank.Running // the balances that rows state
}

// sync is the job. It reads pages until the last one. A few pages at a time are stored in one
// transaction, with their rows, the effects of the rules and the journal. The last transaction also
// stores the cursor and the removals.
func (f *Connections) sync(ctx context.Context, run *job.Run) (any, error) {
	r := &syncRun{
		connections: f, run: run, brought: map[id.ID]map[string]bool{}, removed: map[id.ID][]string{},
		running: map[id.ID]*bank.Running{},
	}
	if err := run.Args(&r.request); err != nil {
		return nil, err
	}
	if _, err := run.Position(&r.at); err != nil {
		return nil, err
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.loop(ctx)
	}
	if err == nil {
		if err := r.payBalances(ctx); err != nil { // a failure here is only a warning: the transactions are stored
			run.Warn(ctx, "the bank was not asked for the day's balances, or did not answer", err)
		}
		f.Follow(ctx, run, r.changed())
		return Synced{r.at.Tally, r.at.Log, r.at.Change}, nil
	}
	if spent, ok := errors.AsType[*spentError](err); ok {
		return nil, r.rest(ctx, spent)
	}
	if _, ok := errors.AsType[*bank.Error](err); !ok {
		return nil, err // the job may run again; Ended records a final failure
	}
	if failed := r.fail(ctx, bank.Classify(err)); failed != nil {
		return nil, failed
	}
	if r.changed() { // the pages before the failure are stored, and the next sync will find them unchanged
		f.Follow(ctx, run, true)
	}
	return nil, job.Final(err) // the connection decides when to try again, not the job
}

// changed reports whether the sync has changed a transaction.
func (r *syncRun) changed() bool { return r.at.Added+r.at.Modified+r.at.Removed > 0 }

// batch runs a step of the sync: its effects and its position commit together.
func (r *syncRun) batch(ctx context.Context, step func(context.Context, pg.Tx, *syncState) (int64, error)) error {
	var next syncState
	err := r.run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		next = r.at
		done, err := step(ctx, tx, &next)
		return job.Step{Position: next, Done: done}, err
	})
	if err == nil {
		r.at = next
	}
	return err
}

// begin reads the connection, opens its credentials and starts the log.
func (r *syncRun) begin(ctx context.Context) error {
	err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *syncState) (int64, error) {
		var err error
		if r.link, err = lockLink(ctx, tx, r.request.Connection); err != nil {
			return 0, err
		}
		if err := r.link.syncable(r.request.Trigger); err != nil {
			return 0, err
		}
		if at.Log.IsZero() {
			if at.Log, err = startLog(ctx, tx, r.request, r.run.ID()); err != nil {
				return 0, err
			}
		}
		_, err = pg.Exec(ctx, tx, `update connection set last_attempt_at = clock_timestamp(),
			updated_at = clock_timestamp() where id = $1`, r.link.ID)
		return 0, err
	})
	if err != nil {
		return err
	}
	r.provider, err = r.connections.Configured(ctx, r.link.Provider)
	if err == nil {
		r.secret, err = r.connections.open(r.link)
	}
	if e, ok := errors.AsType[*errs.Error](err); ok { // the reason why the connection cannot sync
		return &bank.Error{Provider: r.link.Provider, Class: bank.Ours, Code: string(e.Code), Advice: e.Message}
	}
	return err
}

// mostRestarts is how often one sync may restart because the bank's data changed meanwhile.
const mostRestarts = 10

func (r *syncRun) loop(ctx context.Context) error {
	if !r.provider.Traits().Lists {
		listed, err := r.provider.Accounts(ctx, r.secret)
		if err == nil {
			err = r.settleAccounts(ctx, listed)
		}
		if err != nil {
			return err
		}
	}
	from, err := r.from(ctx)
	if err != nil {
		return err
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	start := bank.Position{Cursor: r.link.Cursor, From: from, Person: r.request.person()}
	var held pageGroup
	next := r.pull(asking, start)
	for at, restarts := start, 0; ; {
		page, err := (<-next).open()
		if err != nil {
			if held.pages > 0 && !r.windowed() { // keep the pages before the error
				if failed := r.store(ctx, held); failed != nil {
					return failed
				}
			}
			return err
		}
		if page.Restart {
			if restarts++; restarts > mostRestarts {
				return &bank.Error{
					Provider: r.link.Provider, Class: bank.Later, Code: bank.CodeUnknown,
					Advice: "the bank's data kept changing during the sync; the next sync retries",
				}
			}
			at, held = start, pageGroup{}
			clear(r.brought)
			clear(r.removed)
			clear(r.running)
			r.complete, r.banks = nil, nil
			next = r.pull(asking, at)
			continue
		}
		if err := r.hear(ctx, page); err != nil {
			return err
		}
		if at.Next = page.Next; !page.Last {
			next = r.pull(asking, at)
		}
		if held = held.and(page); r.waits(held.Page) {
			continue
		}
		if err := r.store(ctx, held); err != nil || page.Last {
			return err
		}
		held = pageGroup{}
	}
}

// A pulled is the result of asking the bank for a page.
type pulled struct {
	page     bank.Page
	err      error
	panicked any
}

// open returns the bank's page. If the call to the bank panicked, open panics too, in the goroutine
// that called open.
func (p pulled) open() (bank.Page, error) {
	if p.panicked != nil {
		panic(p.panicked)
	}
	return p.page, p.err
}

// pull asks the bank for a page in the background, while the previous page is stored.
func (r *syncRun) pull(ctx context.Context, at bank.Position) <-chan pulled {
	out := make(chan pulled, 1)
	go func() {
		var p pulled
		defer func() {
			p.panicked = recover()
			out <- p
		}()
		if p.err = r.connections.spend(ctx, r.link.ID, r.provider, at); p.err == nil {
			p.page, p.err = r.provider.Pull(ctx, r.secret, at)
		}
	}()
	return out
}

const (
	// mostStored is how many rows are collected from several pages and stored in one transaction.
	// With a transaction for each page, the work would be four times as much.
	mostStored = 2_000
	mostHeld   = 20_000 // rows of a window are kept back up to this number
)

// waits reports whether a page is kept back until more pages arrive.
func (r *syncRun) waits(page bank.Page) bool {
	limit := mostStored
	if r.windowed() {
		limit = mostHeld
	}
	return len(page.Complete) == 0 && !page.Last && len(page.Transactions) < limit
}

// windowed reports whether pages are kept back until their account has been read completely. Only
// then does coffer know which pending rows are gone, and a row of the page may be the posted form
// of such a row. On the first sync nothing is stored yet, so nothing can be gone.
func (r *syncRun) windowed() bool {
	return r.provider.Traits().Shape == bank.Window && r.link.LastSyncAt != nil
}

// A pageGroup holds pages that are stored together.
type pageGroup struct {
	bank.Page
	pages int64
}

// and returns the group with one more page.
func (h pageGroup) and(page bank.Page) pageGroup {
	page.Transactions = slices.Concat(h.Transactions, page.Transactions)
	page.Removed = slices.Concat(h.Removed, page.Removed)
	page.Bad = slices.Concat(h.Bad, page.Bad)
	return pageGroup{page, h.pages + 1}
}

// from returns the day from which a window is read: some days before the last complete sync, or
// earlier if a stored transaction from before is still pending.
func (r *syncRun) from(ctx context.Context) (time.Time, error) {
	traits := r.provider.Traits()
	if traits.Shape != bank.Window || r.link.LastSyncAt == nil {
		return time.Time{}, nil
	}
	from := pg.Day(r.link.LastSyncAt.Time().AddDate(0, 0, -traits.WindowDays)).Time()
	oldest, err := oldestPending(ctx, r.connections.db, r.link.ID)
	if err == nil && !oldest.IsZero() && oldest.Time().Before(from) {
		from = oldest.Time()
	}
	return from, err
}

// settleAccounts brings the connection's accounts up to date.
func (r *syncRun) settleAccounts(ctx context.Context, listed []bank.Account) error {
	for _, a := range listed {
		r.listed = append(r.listed, a.ProviderID)
	}
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *syncState) (int64, error) {
		var err error
		r.accounts, err = r.connections.accounts.RefreshAccounts(ctx, tx, r.link.ID,
			accountsOf(r.link.ID, r.link.Provider, listed))
		return 0, err
	})
}
