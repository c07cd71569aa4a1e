package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/pg"
)

// SyncKind is the job that reads a connection's bank.
const SyncKind = "feed.sync"

// Kinds are the jobs of the feed.
func (f *Feed) Kinds() []job.Kind {
	return []job.Kind{{Name: SyncKind, Unit: "transactions", Work: f.sync, Retries: 5}, {Name: ImportKind, Unit: "transactions", Work: f.importFile, Retries: 5}}
}

// A tally is what a sync did so far.
type tally struct {
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
	tally
	SyncLogID id.ID  `json:"sync_log_id"`
	ChangeID  *id.ID `json:"change_id"`
}

// A place is what a sync leaves behind with each page. It is no place in the bank's list: a loop that broke begins again from the stored cursor, and pages that are stored compare as unchanged.
type place struct {
	tally
	Log    id.ID  `json:"log"`
	Change *id.ID `json:"change"`
}

// A round is one run of a sync.
type round struct {
	feed     *Feed
	run      *job.Run
	order    order
	at       place
	link     link // the connection, as it was at the start
	provider bank.Provider
	secret   bank.Credentials
	accounts map[string]id.ID          // ours, by the provider's ids
	listed   []string                  // the provider's ids of those that it shares now
	brought  map[id.ID]map[string]bool // which rows a window has brought
	complete []bank.Extent             // windows that were read whole
	removed  map[id.ID][]string
}

// sync is the job: pages until the last one, some at a time in a transaction with their rows, what rules make of them and the journal; the cursor and the removals commit with the last.
func (f *Feed) sync(ctx context.Context, run *job.Run) (any, error) {
	r := &round{feed: f, run: run, brought: map[id.ID]map[string]bool{}, removed: map[id.ID][]string{}}
	if err := run.Args(&r.order); err != nil {
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
		f.follow(ctx, run)
		return Synced{r.at.tally, r.at.Log, r.at.Change}, nil
	}
	if _, told := errors.AsType[*bank.Error](err); !told {
		return nil, err // the database, the server's stop, a cancellation: another run goes on, or none
	}
	if failed := r.fail(ctx, bank.Classify(err)); failed != nil {
		return nil, failed
	}
	return nil, job.Final(err) // when to ask again is the connection's to know
}

// batch is a step of the round: what it does and where it then stands commit together.
func (r *round) batch(ctx context.Context, step func(context.Context, pg.Tx, *place) (int64, error)) error {
	var next place
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
func (r *round) begin(ctx context.Context) error {
	err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *place) (int64, error) {
		var err error
		if r.link, err = lockLink(ctx, tx, r.order.Connection); err != nil {
			return 0, err
		}
		if err := r.link.syncable(r.order.Trigger); err != nil {
			return 0, err
		}
		if at.Log.IsZero() {
			if at.Log, err = startLog(ctx, tx, r.order, r.run.ID()); err != nil {
				return 0, err
			}
		}
		_, err = pg.Exec(ctx, tx, `update connection set last_attempt_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1`, r.link.ID)
		return 0, err
	})
	if err != nil {
		return err
	}
	r.provider, err = r.feed.configured(ctx, r.link.Provider)
	if err == nil {
		r.secret, err = r.feed.open(r.link)
	}
	if e, ok := errors.AsType[*errs.Error](err); ok { // the connection shall say why it is not synced
		return &bank.Error{Provider: r.link.Provider, Class: bank.Ours, Code: string(e.Code), Advice: e.Message}
	}
	return err
}

// mostRestarts is how often a bank may move its rows under a loop.
const mostRestarts = 10

func (r *round) loop(ctx context.Context) error {
	listed, err := r.provider.Accounts(ctx, r.secret)
	if err != nil {
		return err
	}
	for _, a := range listed {
		r.listed = append(r.listed, a.ProviderID)
	}
	if err := r.settleAccounts(ctx, listed); err != nil {
		return err
	}
	from, err := r.from(ctx)
	if err != nil {
		return err
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	start := bank.Position{Cursor: r.link.Cursor, From: from}
	var held hold
	next := r.pull(asking, start)
	for at, restarts := start, 0; ; {
		page, err := (<-next).open()
		if err != nil {
			if held.pages > 0 && !r.windowed() { // what was read well is kept
				if failed := r.store(ctx, held); failed != nil {
					return failed
				}
			}
			return err
		}
		if page.Restart {
			if restarts++; restarts > mostRestarts {
				return &bank.Error{Provider: r.link.Provider, Class: bank.Later, Code: bank.CodeUnknown, Advice: "the bank kept changing its list while it was read; the next sync tries again"}
			}
			at, held = start, hold{}
			clear(r.brought)
			clear(r.removed)
			r.complete = nil
			next = r.pull(asking, at)
			continue
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
		held = hold{}
	}
}

// A pulled is what the bank answered.
type pulled struct {
	page     bank.Page
	err      error
	panicked any
}

// open is the answer. Whoever reads it panics where asking did.
func (p pulled) open() (bank.Page, error) {
	if p.panicked != nil {
		panic(p.panicked)
	}
	return p.page, p.err
}

// pull asks the bank for a page, while the one before it is stored.
func (r *round) pull(ctx context.Context, at bank.Position) <-chan pulled {
	out := make(chan pulled, 1)
	go func() {
		var p pulled
		defer func() {
			p.panicked = recover()
			out <- p
		}()
		p.page, p.err = r.provider.Pull(ctx, r.secret, at)
	}()
	return out
}

const (
	mostStored = 2_000  // rows are stored together, of as many pages as it takes: a transaction for each page would be a quarter of the work
	mostHeld   = 20_000 // rows of a window are held back at most
)

// waits says whether a page is held back for those that follow.
func (r *round) waits(page bank.Page) bool {
	most := mostStored
	if r.windowed() {
		most = mostHeld
	}
	return page.Complete == nil && !page.Last && len(page.Transactions) < most
}

// windowed says whether pages are held until their account has been read whole: only then is it known which pending rows are gone, and one of the page's rows may be what such a row became.
// On the first sync nothing is stored yet that could be gone.
func (r *round) windowed() bool {
	return r.provider.Traits().Shape == bank.Window && r.link.LastSyncAt != nil
}

// A hold is pages that are stored together.
type hold struct {
	bank.Page
	pages int64
}

// and is the hold with one more page.
func (h hold) and(page bank.Page) hold {
	page.Transactions = slices.Concat(h.Transactions, page.Transactions)
	page.Removed = slices.Concat(h.Removed, page.Removed)
	page.Bad = slices.Concat(h.Bad, page.Bad)
	return hold{page, h.pages + 1}
}

// from is the day from which a window is read: some days before the last whole sync, and not after what is still pending here.
func (r *round) from(ctx context.Context) (time.Time, error) {
	traits := r.provider.Traits()
	if traits.Shape != bank.Window || r.link.LastSyncAt == nil {
		return time.Time{}, nil
	}
	from := pg.Day(r.link.LastSyncAt.Time().AddDate(0, 0, -traits.WindowDays)).Time()
	oldest, err := oldestPending(ctx, r.feed.db, r.link.ID)
	if err == nil && !oldest.IsZero() && oldest.Time().Before(from) {
		from = oldest.Time()
	}
	return from, err
}

// settleAccounts brings the connection's accounts up to date.
func (r *round) settleAccounts(ctx context.Context, listed []bank.Account) error {
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *place) (int64, error) {
		var err error
		r.accounts, err = r.feed.books.SettleAccounts(ctx, tx, r.link.ID, accountsOf(r.link.ID, r.link.Provider, listed))
		return 0, err
	})
}

// apart is set only in a program that a test links, to see whether it would notice: there the cursor commits before the rows of the last page.
var apart string

// store is the transaction of some pages.
func (r *round) store(ctx context.Context, h hold) error {
	page := h.Page
	bad := slices.Clone(page.Bad)
	rows := make([]ledger.Incoming, 0, len(page.Transactions))
	seen := map[string]int{}
	for _, t := range page.Transactions {
		account, known := r.accounts[t.AccountID]
		if !known {
			bad = append(bad, bank.Bad{ProviderID: t.ProviderID, AccountID: t.AccountID, Reason: bank.BadAccount})
			continue
		}
		if at, twice := seen[t.AccountID+"\x00"+t.ProviderID]; twice { // the later one is the newer
			rows[at] = incoming(account, t)
			continue
		}
		seen[t.AccountID+"\x00"+t.ProviderID] = len(rows)
		rows = append(rows, incoming(account, t))
	}
	r.note(page, bad)
	if apart != "" && page.Last {
		if err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *place) (int64, error) { return 0, r.whole(ctx, tx, page) }); err != nil {
			return err
		}
	}
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *place) (int64, error) {
		now, err := pg.One[link](ctx, tx, linkRows+` where c.id = $1`, r.link.ID)
		if err == nil && now.Status == "disconnected" { // its credentials are erased, and what they still open is nobody's business any more
			err = now.syncable(r.order.Trigger)
		}
		if err != nil {
			return 0, err
		}
		if err := r.succeed(ctx, tx, page, rows); err != nil {
			return 0, err
		}
		if err := release(ctx, tx, r.link.ID, settled(page)); err != nil {
			return 0, err
		}
		m, hits, err := r.feed.rules.Merge(ctx, tx, at.Log, rows)
		if err != nil {
			return 0, err
		}
		entries := m.Entries
		if page.Last {
			gone, err := r.end(ctx, tx, page)
			if err != nil {
				return 0, err
			}
			at.Removed += int64(len(gone))
			entries = append(entries, gone...)
		}
		at.Added, at.Modified, at.Unchanged = at.Added+int64(len(m.Inserted)), at.Modified+int64(len(m.Changed))+m.Touched, at.Unchanged+m.Unchanged
		at.RulesHit, at.Quarantined, at.Pages = at.RulesHit+hits, at.Quarantined+int64(len(bad)), at.Pages+h.pages
		if err := r.feed.quarantine(ctx, tx, r.link.ID, r.accounts, bad); err != nil {
			return 0, err
		}
		if at.Change, err = journal.Extend(ctx, tx, at.Change, journal.Note{Cause: journal.Sync, Summary: "Synced connection " + r.link.ShortID}, entries); err != nil {
			return 0, err
		}
		return int64(len(rows)), r.feed.writeLog(ctx, tx, at, page.Last)
	})
}

func incoming(account id.ID, t bank.Transaction) ledger.Incoming {
	in := ledger.Incoming{
		AccountID: account, ProviderID: t.ProviderID, PendingID: t.PendingID, Date: pg.Day(t.Date), Amount: t.Amount, Currency: t.Currency, Name: t.Name, MerchantName: t.MerchantName,
		CategoryPrimary: t.CategoryPrimary, CategoryDetailed: t.CategoryDetailed, PaymentChannel: t.PaymentChannel, Pending: t.Pending,
	}
	if !t.AuthorizedDate.IsZero() {
		in.AuthorizedDate = new(pg.Day(t.AuthorizedDate))
	}
	if !t.Datetime.IsZero() {
		in.Datetime = new(pg.At(t.Datetime))
	}
	return in
}

// settled are the bank's ids of rows that the page brings well, or takes back.
func settled(page bank.Page) []string {
	out := make([]string, 0, len(page.Transactions)+len(page.Removed))
	for _, t := range page.Transactions {
		out = append(out, t.ProviderID)
	}
	for _, x := range page.Removed {
		out = append(out, x.ProviderID)
	}
	return out
}

// note remembers what the page says about rows that are gone: they go with the last page, because a pending row and its successor may come on different ones.
func (r *round) note(page bank.Page, bad []bank.Bad) {
	for _, x := range page.Removed {
		for provider, account := range r.accounts {
			if x.AccountID == "" || x.AccountID == provider {
				r.removed[account] = append(r.removed[account], x.ProviderID)
			}
		}
	}
	if page.Complete != nil {
		r.complete = append(r.complete, *page.Complete)
	}
	bring := func(provider, row string) {
		if account, ok := r.accounts[provider]; ok {
			if r.brought[account] == nil {
				r.brought[account] = map[string]bool{}
			}
			r.brought[account][row] = true
		}
	}
	for _, t := range page.Transactions {
		bring(t.AccountID, t.ProviderID)
	}
	for _, b := range bad {
		bring(b.AccountID, b.ProviderID)
	}
}

// ghosts adds rows that a loop which broke had stored and that this whole one, from the same cursor, did not bring: the bank took them back in between, and never told because as far as it knows it never told of them.
// What came while no sync ran was not stored by one: a row that was quarantined once and read again is not brought any more, and stays.
func (r *round) ghosts(ctx context.Context, tx pg.Tx, removed map[id.ID][]string) error {
	type row struct {
		Account    id.ID  `db:"account_id"`
		ProviderID string `db:"provider_id"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select t.account_id, t.provider_id from account a join transaction t on t.account_id = a.id
		where a.connection_id = $1 and t.deleted_at is null and exists (
			select from sync_log l where l.connection_id = $1 and ($2::timestamptz is null or l.started_at > $2) and t.created_at between l.started_at and coalesce(l.finished_at, now()))`, r.link.ID, r.link.LastSyncAt)
	for _, x := range rows {
		if !r.brought[x.Account][x.ProviderID] {
			removed[x.Account] = append(removed[x.Account], x.ProviderID)
		}
	}
	return err
}

// end is what the last page of a loop commits beside its rows: removals, then the cursor and the connection's good health.
func (r *round) end(ctx context.Context, tx pg.Tx, page bank.Page) ([]journal.Entry, error) {
	removed := map[id.ID][]string{}
	maps.Copy(removed, r.removed)
	for _, whole := range r.complete {
		account, ok := r.accounts[whole.AccountID]
		if !ok {
			continue
		}
		absent, err := missing(ctx, tx, account, pg.Day(whole.From), r.brought[account])
		if err != nil {
			return nil, err
		}
		removed[account] = slices.Concat(removed[account], absent)
	}
	if r.provider.Traits().Shape == bank.Delta {
		if err := r.ghosts(ctx, tx, removed); err != nil {
			return nil, err
		}
	}
	var entries []journal.Entry
	for account, rows := range removed {
		gone, err := r.feed.books.Remove(ctx, tx, account, rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, gone...)
	}
	return entries, r.whole(ctx, tx, page)
}

// whole writes that a loop was read to its end, and up to where.
func (r *round) whole(ctx context.Context, tx pg.Tx, page bank.Page) error {
	wait := interval(r.link, r.provider.Traits())
	if page.Gathering {
		wait = time.Minute
	}
	gone, err := r.unshared(ctx, tx)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set
			cursor = @cursor, consecutive_failures = 0, last_sync_at = clock_timestamp(), updated_at = clock_timestamp(),
			next_sync_at = case when status in ('active', 'error') then clock_timestamp() + @wait * interval '1 second' end,
			status = case status when 'error' then 'active' else status end, -- what a webhook or a person said while the sync ran stands
			status_reason = case when status not in ('active', 'error') then status_reason when status_reason = @expiring or consent_expires_at > clock_timestamp() then @expiring when @gone::text is not null then @lost end,
			status_message = case when status not in ('active', 'error') then status_message when status_reason = @expiring or consent_expires_at > clock_timestamp() then @advice else @gone end
		where id = @id`, pg.Args{
		"id": r.link.ID, "cursor": page.Cursor, "wait": wait.Seconds(), "expiring": consentExpiring, "advice": expiringAdvice, "gone": gone, "lost": accountGone,
	})
	if err != nil {
		return fmt.Errorf("end of the loop: %w", err)
	}
	return nil
}

const accountGone = "ACCOUNT_GONE"

// unshared says which accounts the bank does not list any more, or nil. Whoever hides one knows.
func (r *round) unshared(ctx context.Context, tx pg.Tx) (*string, error) {
	gone, err := pg.Values[string](ctx, tx, `select short_id from account where connection_id = $1 and not hidden and provider_id <> all($2::text[]) order by id`, r.link.ID, r.listed)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return new("The bank no longer shares account " + strings.Join(gone, ", ") + ": what is stored stays, and nothing new comes. Sign in at the bank again to share it, or hide it."), nil
}
