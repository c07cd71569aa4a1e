package whole_test

import (
	"context"
	"testing"
	"time"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// heap changes the category of many transactions four times in a row, and returns the changes,
// oldest first.
func (h *house) heap(t *testing.T, transactions int) []id.ID {
	t.Helper()
	var changes []id.ID
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		// A busy machine may need longer than the server's statement timeout.
		_, err := pg.Exec(ctx, tx, `set local statement_timeout = 0`)
		if err == nil {
			changes, err = heap(ctx, tx, transactions)
		}
		return err
	})
	return changes
}

func heap(ctx context.Context, tx pg.Tx, transactions int) ([]id.ID, error) {
	_, err := pg.Exec(ctx, tx, `
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
			category_id, category_source)
		select gen_random_uuid(), 'h' || lpad(n::text, 7, '0'), t.account_id, 'h' || n, t.date, 1, 'EUR',
			t.descriptor_id, (select id from category where slug = 'qab'), 'agent'
		from (select * from transaction limit 1) t, generate_series(1, $1::int) n`, transactions)
	if err != nil {
		return nil, err
	}
	var changes []id.ID
	before := ""
	for _, slug := range []string{"qa", "qb", "qaa", "qab"} {
		c := id.New()
		changes = append(changes, c)
		_, err := pg.Exec(ctx, tx, `
			insert into change (id, short_id, cause, summary, actor_type, actor_name, transactions, entries)
				values ($1, $2, 'rule', 'Many', 'system', 'coffer', $3, $3)`, c, c.Short(), transactions)
		if err != nil {
			return nil, err
		}
		_, err = pg.Exec(ctx, tx, `
			insert into entry (change_id, subject, subject_id, field, before, before_source, after, after_source)
			select $1, 'transaction', t.id, 'category', b.id::text, case
				when b.id is not null then 'agent' end, a.id::text, 'agent'
			from transaction t join category a on a.slug = $2 left join category b on b.slug = $3
				where t.provider_id like 'h%'`, c, slug, before)
		if err != nil {
			return nil, err
		}
		before = slug
	}
	return changes, nil
}

// TestRevertsNeedNoStatistics: in a database without planner statistics, a revert among 100,000
// entries takes about as long as with statistics. Looking up the later entries of each entry
// separately would take minutes.
func TestRevertsNeedNoStatistics(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	// Otherwise autovacuum could analyze the tables in the middle of the test.
	_, err := h.db.Exec(t.Context(), `
		alter table entry set (autovacuum_enabled = off);
		alter table change set (autovacuum_enabled = off);
		alter table transaction set (autovacuum_enabled = off)`)
	if err != nil {
		t.Fatal(err)
	}
	changes := h.heap(t, 30_000)
	took := func(change id.ID, dry bool) (time.Duration, journal.Reverted) {
		t.Helper()
		var out journal.Reverted
		start := time.Now()
		h.in(t, func(ctx context.Context, tx pg.Tx) (err error) {
			out, err = h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String(), DryRun: dry})
			return err
		})
		return time.Since(start), out
	}
	known := func() bool {
		t.Helper()
		n, err := pg.Value[int](t.Context(), h.db, `select count(*)::int from pg_statistic
			where starelid = 'entry'::regclass`)
		if err != nil {
			t.Fatal(err)
		}
		return n > 0
	}
	if known() {
		t.Fatal("somebody has analyzed the database")
	}
	first, left := took(changes[0], true)
	newest, back := took(changes[3], false)
	if left.ByReason["changed_since"] != 30_000 || len(left.Skipped) != 200 || left.Reverted != 0 {
		t.Errorf("the oldest change: %d went back, %d are listed, left %v", left.Reverted, len(left.Skipped),
			left.ByReason)
	}
	if back.Reverted != 30_000 || len(back.Skipped) != 0 || len(back.ByReason) != 0 {
		t.Errorf("the newest change: %d went back, left %v", back.Reverted, back.ByReason)
	}
	if _, err := h.db.Exec(t.Context(), `analyze`); err != nil {
		t.Fatal(err)
	}
	if !known() {
		t.Fatal("analyze collected no statistics")
	}
	firstThen, _ := took(changes[0], true)
	newestThen, _ := took(changes[2], false) // the newest change that is not reverted
	t.Logf("without statistics %v and %v, with %v and %v", first, newest, firstThen, newestThen)
	const grace = 5 * time.Second // extra time for a busy machine
	if first > 5*firstThen+grace || newest > 5*newestThen+grace {
		t.Error("reverts are slow where there are no statistics")
	}
}

// TestNamesTakenMeanwhile: a revert would restore a name that another transaction takes at the same
// moment. The revert leaves the record as it is and reports it.
func TestNamesTakenMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		_, err := h.categories.DeleteTag(ctx, tx, category.TagRef{Slug: "qx"})
		return err
	})
	change := h.list(t)[0]
	var out journal.Reverted
	err := h.while(t, `insert into tag (id, short_id, slug, display_name)
		values (gen_random_uuid(), 'zztaken', $1, 'x')`, "qx", func(ctx context.Context, tx pg.Tx) (err error) {
		out, err = h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
		return err
	})
	if err != nil || out.Change != nil || out.ByReason["conflict"] != 1 || len(out.Skipped) != 1 ||
		out.Skipped[0].Reason != "conflict" {
		t.Errorf("the revert returned %+v: %v", out, err)
	}
}

// TestUndoIsFree: a caller with few writes a day can revert its own changes and redo them, once
// each, at no cost. Further reverts count. A system's key has the same limit as any other.
func TestUndoIsFree(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{op.System, op.Agent, op.User} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			key := op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full}
			_, err := h.db.Exec(t.Context(), `
				insert into token (id, short_id, kind, prefix, name, scope, actor_type, hash, max_writes_per_day)
					values ($1, 'zzlimit', 'api_key', 'x', 'k', 'full_access', $2, decode(repeat('ab', 32), 'hex'),
					2)`, key.ID, kind)
			if err != nil {
				t.Fatal(err)
			}
			ctx := op.WithActor(t.Context(), key)
			tag := func(n int) error {
				return h.db.InTx(ctx, func(tx pg.Tx) error {
					_, err := h.books.AddTag(ctx, tx, ledger.TagTransaction{
						TransactionID: h.txs[n].String(),
						TagSlug:       "qy",
					})
					return err
				})
			}
			revert := func() error {
				change, err := pg.Value[id.ID](ctx, h.db, `select id from change order by seq desc limit 1`)
				if err != nil {
					return err
				}
				return h.db.InTx(ctx, func(tx pg.Tx) error {
					_, err := h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
					return err
				})
			}
			if err := tag(5); err != nil {
				t.Fatal(err)
			}
			for range 4 { // the revert and the redo are free; the second revert costs a write; its redo is free
				if err := revert(); err != nil {
					t.Fatal(err)
				}
			}
			if err := revert(); !errs.Is(err, errs.RateLimited) {
				t.Errorf("to and fro is free: %v", err)
			}
			if err := tag(6); !errs.Is(err, errs.RateLimited) {
				t.Errorf("a third write: %v", err)
			}
			other := op.WithActor(t.Context(), op.Actor{Type: op.Agent, ID: id.New(), Name: "another", Scope: op.Full})
			err = h.db.InTx(other, func(tx pg.Tx) error {
				_, err := h.books.BatchCategorize(other, tx,
					ledger.BatchCategorize{TransactionIDs: []string{h.txs[7].String()}, CategoryID: "qa"})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := revert(); !errs.Is(err, errs.RateLimited) {
				t.Errorf("taking back another's change is free: %v", err)
			}
		})
	}
}
