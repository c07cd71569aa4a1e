package connection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// store writes a group of pages in one transaction.
func (r *syncRun) store(ctx context.Context, h pageGroup) error {
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
		if at, twice := seen[t.AccountID+"\x00"+t.ProviderID]; twice { // the later row is the newer one
			rows[at] = incoming(account, t)
			continue
		}
		seen[t.AccountID+"\x00"+t.ProviderID] = len(rows)
		rows = append(rows, incoming(account, t))
	}
	r.note(page, bad)
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *syncState) (int64, error) {
		now, err := pg.One[syncedConnection](ctx, tx, linkRows+` where c.id = $1`, r.link.ID)
		// the credentials are erased; coffer must not store what they still open
		if err == nil && now.Status == "disconnected" {
			err = now.syncable(r.request.Trigger)
		}
		if err != nil {
			return 0, err
		}
		if at.Change, err = journal.Continue(ctx, tx, at.Change); err != nil {
			return 0, err
		}
		if err := r.succeed(ctx, tx, page, rows); err != nil {
			return 0, err
		}
		if err := r.reissue(ctx, tx, page, rows); err != nil {
			return 0, err
		}
		if err := release(ctx, tx, r.link.ID, reportedIDs(page)); err != nil {
			return 0, err
		}
		entries, err := r.connections.takeOver(ctx, tx, page.Removed, rows)
		if err != nil {
			return 0, err
		}
		m, hits, err := r.connections.rules.Merge(ctx, tx, at.Log, rows)
		if err != nil {
			return 0, err
		}
		entries = append(entries, m.Entries...)
		if page.Last {
			gone, err := r.end(ctx, tx, page)
			if err != nil {
				return 0, err
			}
			for _, e := range gone { // other entries end matches of the removed rows
				if e.Field == journal.FieldDeleted {
					at.Removed++
				}
			}
			entries = append(entries, gone...)
		}
		at.Added, at.Modified, at.Unchanged = at.Added+int64(len(m.Inserted)), at.Modified+int64(len(m.Changed))+
			m.Touched, at.Unchanged+m.Unchanged
		at.RulesHit, at.Quarantined, at.Pages = at.RulesHit+hits, at.Quarantined+int64(len(bad)), at.Pages+h.pages
		if err := r.connections.quarantine(ctx, tx, r.link.ID, r.accounts, bad); err != nil {
			return 0, err
		}
		if err := journal.Tell(ctx, tx, at.Change, m.Events); err != nil {
			return 0, err
		}
		if at.Change, _, err = journal.Extend(ctx, tx, at.Change,
			journal.Note{
				Cause: journal.Sync, Did: journal.Facts{With: map[string]id.ID{journal.WithConnection: r.link.ID}},
			}, entries); err != nil {
			return 0, err
		}
		return int64(len(rows)), r.connections.writeLog(ctx, tx, at, page.Last)
	})
}

func incoming(account id.ID, t bank.Transaction) ledger.Incoming {
	in := ledger.Incoming{
		AccountID: account, ProviderID: t.ProviderID, PendingID: t.PendingID, Date: pg.Day(t.Date), Amount: t.Amount,
		Currency: t.Currency, Name: t.Name, MerchantName: t.MerchantName, Detail: t.Detail,
		CategoryPrimary: t.CategoryPrimary, CategoryDetailed: t.CategoryDetailed, Extra: t.Extra,
		Pending: t.Pending,
	}
	if !t.AuthorizedDate.IsZero() {
		in.AuthorizedDate = new(pg.Day(t.AuthorizedDate))
	}
	if !t.Datetime.IsZero() {
		in.Datetime = new(pg.At(t.Datetime))
	}
	return in
}

// reportedIDs returns the provider ids of the rows that the page reports as readable or as removed.
func reportedIDs(page bank.Page) []string {
	out := make([]string, 0, len(page.Transactions)+len(page.Removed))
	for _, t := range page.Transactions {
		out = append(out, t.ProviderID)
	}
	for _, x := range page.Removed {
		out = append(out, x.ProviderID)
	}
	return out
}

// note remembers which rows the page removes and which it returns. Removals wait for the last page,
// because a pending row and its successor may be on different pages.
func (r *syncRun) note(page bank.Page, bad []bank.Bad) {
	for _, x := range page.Removed {
		for provider, account := range r.accounts {
			if x.AccountID == "" || x.AccountID == provider {
				r.removed[account] = append(r.removed[account], x.ProviderID)
			}
		}
	}
	r.complete = slices.Concat(r.complete, page.Complete)
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
		if account, ok := r.accounts[t.AccountID]; ok && !t.Pending {
			if r.running[account] == nil {
				r.running[account] = &bank.Running{}
			}
			r.running[account].Add(t.Date, t.Amount, t.Balance)
		}
	}
	for _, b := range bad {
		bring(b.AccountID, b.ProviderID)
	}
}

// ghosts adds rows that an interrupted loop stored and that this complete loop, from the same
// cursor, did not return. The bank removed them in between. It does not report the removal, because
// it never reported the rows in a complete loop. ghosts leaves out two kinds of rows. Rows that
// were created while no sync ran stay: a quarantined row that was read again is not returned a
// second time. Rows of a loop that a complete loop followed stay too: after a clock was set back,
// such a loop can seem to be later than the complete one.
func (r *syncRun) ghosts(ctx context.Context, tx pg.Tx, removed map[id.ID][]string) error {
	type row struct {
		Account    id.ID  `db:"account_id"`
		ProviderID string `db:"provider_id"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select t.account_id, t.provider_id from account a join transaction t on t.account_id = a.id
		where a.connection_id = $1 and t.deleted_at is null and t.origin = 'bank' and t.moved_from is null and exists (
			select from sync_log l where l.connection_id = $1 and ($2::timestamptz is null or l.started_at > $2)
				and l.status <> 'success' and not exists (select from sync_log s
					where s.connection_id = $1 and s.status = 'success' and s.started_at >= l.started_at)
				and t.created_at between l.started_at and coalesce(l.finished_at, now()))`, r.link.ID, r.link.LastSyncAt)
	for _, x := range rows {
		if !r.brought[x.Account][x.ProviderID] {
			removed[x.Account] = append(removed[x.Account], x.ProviderID)
		}
	}
	return err
}

// end applies the end of a loop in the transaction of its last page: removals, then the cursor and
// the connection's healthy status.
func (r *syncRun) end(ctx context.Context, tx pg.Tx, page bank.Page) ([]journal.Entry, error) {
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
		gone, err := r.connections.books.Remove(ctx, tx, account, rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, gone...)
	}
	for of, running := range r.running {
		if err := r.connections.accounts.State(ctx, tx, of, account.ByProvider, running.Closings()); err != nil {
			return nil, err
		}
	}
	return entries, r.whole(ctx, tx, page)
}

// whole records that a loop was read to its end, and the cursor up to which it was read.
func (r *syncRun) whole(ctx context.Context, tx pg.Tx, page bank.Page) error {
	wait := interval(r.link, r.provider.Traits())
	if page.Gathering {
		wait = time.Minute
	}
	banks, err := r.settleBanks(ctx, tx)
	if err != nil {
		return err
	}
	gone, err := r.unshared(ctx, tx, banks)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set
			cursor = @cursor, consecutive_failures = 0, last_sync_at = clock_timestamp(),
				updated_at = clock_timestamp(),
			next_sync_at = case
				when status in ('active', 'error') then clock_timestamp() + @wait * interval '1 second' end,
			status = case status when 'error' then 'active' else status end, -- what a webhook or a person said while the sync ran stands
			status_reason = case when status not in ('active', 'error') then status_reason
				when status_reason = @expiring or consent_expires_at between clock_timestamp()
					and clock_timestamp() + interval '7 days' then @expiring
				when @gone::text is not null then @lost end,
			status_message = case when status not in ('active', 'error') then status_message
				when status_reason = @expiring or consent_expires_at between clock_timestamp()
					and clock_timestamp() + interval '7 days' then @advice else @gone end
		where id = @id`, pg.Args{
		"id": r.link.ID, "cursor": page.Cursor, "wait": wait.Seconds(), "expiring": consentExpiring,
		"advice": expiringAdvice, "gone": gone, "lost": accountGone,
	})
	if err != nil {
		return fmt.Errorf("end of the loop: %w", err)
	}
	return nil
}

const accountGone = "ACCOUNT_GONE"

// unshared returns a message about the accounts that the bank no longer lists, or nil if there are
// none. It leaves out hidden accounts, because a person hid them. It also leaves out accounts of a
// bank in trouble, because the trouble explains their absence.
func (r *syncRun) unshared(ctx context.Context, tx pg.Tx, banks []bankState) (*string, error) {
	gone, err := pg.Values[string](ctx, tx, `select short_id from account
		where connection_id = $1 and not hidden and deleted_at is null and provider_id <> all($2::text[])
		order by id`, r.link.ID, slices.Concat(r.listed, excused(banks)))
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return new("The bank no longer shares account " + strings.Join(gone,
			", ") + ": stored data is kept, but nothing new arrives. Sign in at the bank again to share it, or hide " +
			"it."),
		nil
}
