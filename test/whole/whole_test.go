// Package whole lets callers change the same few records at once, and then undoes everything. It
// must not know how the journal keeps its order, except for the control that breaks the order.
package whole_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
)

const (
	wholeCallers = 8
	wholeChanges = 1000
)

var ada = op.Actor{Type: op.User, ID: id.Must("00000000-0000-7000-8000-0000000000ad"), Name: "Ada", Scope: op.Full}

// A house is a household with few records, so that callers often change the same ones.
type house struct {
	db         *pg.DB
	categories *category.Categories
	books      *ledger.Books
	others     *counterparty.Counterparties
	jobs       *job.Jobs
	rules      *rulebook.Rulebook
	journal    *journal.Journal
	undos      *journal.Undo
	txs        []id.ID
	calls      atomic.Int64
	refused    sync.Map // number by error code
	spoiled    bool     // the control: do not check why something could not be reverted
}

func newHouse(t *testing.T) *house {
	t.Helper()
	// Detect deadlocks quickly. Normally PostgreSQL waits a second first, and here deadlocks are
	// frequent.
	db, err := pg.Open(t.Context(), pgtest.URL(t)+"&synchronous_commit=off&deadlock_timeout=10ms",
		pg.Options{MaxConns: wholeCallers + 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	h := &house{
		db: db, categories: category.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{}),
		jobs: job.New(db, slog.New(slog.DiscardHandler)),
	}
	h.books = ledger.New(db, h.categories)
	h.others = counterparty.New(h.categories, h.books)
	h.rules = rulebook.New(db, h.categories, h.books, h.jobs)
	h.journal = journal.New(journal.Config{DB: db, Subjects: slices.Concat(h.categories.Subjects(), h.books.Subjects(),
		h.others.Subjects(), h.rules.Subjects())})
	h.undos = journal.NewUndo(h.journal, h.jobs)
	h.jobs.Add(append(h.rules.Kinds(), h.undos.Kinds()...)...)
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		accounts, err := account.New(h.db).AddAccounts(t.Context(), tx,
			[]account.Incoming{{
				Provider: "plaid", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository",
				Currency: "EUR",
			}})
		if err != nil {
			return err
		}
		_, err = h.books.Load(t.Context(), tx, func(yield func(ledger.Incoming) bool) {
			for i := range 10 {
				in := ledger.Incoming{
					AccountID: accounts[0], ProviderID: fmt.Sprint(i), Date: pg.Day(time.Now()),
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name(fmt.Sprintf("shop %d", i%3)),
				}
				if !yield(in) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), wholeSeed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.txs, err = pg.Values[id.ID](t.Context(), db, `select id from transaction order by provider_id`); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.jobs.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return h
}

const wholeSeed = `
	insert into category (id, short_id, slug, display_name, kind)
		select gen_random_uuid(), 'zz' || v, v, v, 'expense' from (values ('qa'), ('qb')) v (v);
	insert into category (id, short_id, slug, display_name, parent_id)
		select gen_random_uuid(), 'zz' || v, v, v, c.id
		from (values ('qaa', 'qa'), ('qab', 'qa'), ('qba', 'qb')) v (v, p) join category c on c.slug = p;
	insert into tag (id, short_id, slug, display_name) select gen_random_uuid(), 'zz' || v, v, v
		from (values ('qx'), ('qy')) v (v);
	insert into counterparty (id, short_id, name) select gen_random_uuid(), 'zz' || v, v
		from (values ('One'), ('Two')) v (v);
	insert into comment (id, short_id, transaction_id, content, author_type, author_name)
		select gen_random_uuid(), 'zz' || provider_id, id, 'said', 'agent', 'x' from transaction
		where provider_id in ('0', '1');
	update transaction set category_id = (select id from category where slug = 'qaa'), category_source = 'agent'
		where provider_id in ('0', '3');
	update transaction set counterparty_id = (select id from counterparty where name = 'One'),
		counterparty_source = 'rule' where provider_id in ('0', '4');
	insert into transaction_tag select t.id, g.id, true, 'agent' from transaction t, tag g
		where t.provider_id in ('1', '4') and g.slug = 'qx'`

// meaning returns the meaning of the household's data as text, so that it can be compared.
func (h *house) meaning(t *testing.T) string {
	t.Helper()
	canonical, err := ledgertest.Canonical(t.Context(), h.db, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := pg.Values[string](t.Context(), h.db, `
		select concat_ws('|', name, conditions, actions, trigger, priority, enabled, is_system) as x from rule
			where deleted_at is null
		union all select concat_ws('|', 'mapping', m.provider, m.raw_primary, m.raw_detailed, c.slug)
			from category_mapping m join category c on c.id = m.category_id
		order by x`)
	if err != nil {
		t.Fatal(err)
	}
	return canonical + "\n" + strings.Join(rest, "\n")
}

// quarrel lets the callers make changes until there are that many.
func (h *house) quarrel(t *testing.T, seed uint64, changes int, early bool) {
	t.Helper()
	for n := 0; n < changes; {
		var all sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(changes-n) + 50)
		for i := range wholeCallers {
			c := &caller{
				house: h, dice: rand.New(rand.NewPCG(seed, uint64(i)<<32|uint64(n))), early: early,
				actor: op.Actor{Type: op.User, ID: id.New(), Name: "p", Scope: op.Full},
			}
			if i%2 == 1 {
				c.actor.Type = op.Agent
			}
			all.Go(func() {
				for left.Add(-1) >= 0 && !t.Failed() {
					if err := c.act(t.Context()); err != nil {
						t.Errorf("a call failed: %v", err)
					}
				}
			})
		}
		all.Wait()
		h.settle(t)
		var err error
		if n, err = pg.Value[int](t.Context(), h.db, `select count(*)::int from change`); err != nil || t.Failed() {
			t.Fatal(err)
		}
	}
}

// settle waits until no job is left.
func (h *house) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		open, err := pg.Value[int](t.Context(), h.db, `select count(*)::int from job
			where state in ('queued', 'running')`)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d jobs do not end: %v", open, err)
		}
		if open == 0 {
			return
		}
	}
}

// contradictions returns references to deleted records, and records that are not what the last
// entry about them says, because something changed them without recording it. Such a state is
// impossible if the calls run one after the other.
func (h *house) contradictions(t *testing.T) []string {
	t.Helper()
	type broken struct {
		What string `db:"what"`
		ID   id.ID  `db:"id"`
	}
	rows, err := pg.All[broken](t.Context(), h.db, `
		select 'a transaction is filed under a category that is gone' as what, t.id from transaction t
			join category c on c.id = t.category_id and c.deleted_at is not null
		union all select 'a transaction is bound to a counterparty that is gone', t.id from transaction t
			join counterparty p on p.id = t.counterparty_id and (p.deleted_at is not null or p.canonical_id is not null)
		union all select 'a counterparty names a category that is gone', p.id from counterparty p
			join category c on c.id = p.category_id and c.deleted_at is not null where p.deleted_at is null
		union all select 'a counterparty leads to one that is gone', p.id from counterparty p
			join counterparty o on o.id = p.canonical_id and (o.deleted_at is not null or o.canonical_id is not null)
			where p.deleted_at is null
		union all select 'a category stands below one that is gone', c.id from category c
			join category p on p.id = c.parent_id and (p.deleted_at is not null or p.parent_id is not null)
			where c.deleted_at is null
		union all select 'a mapping leads to a category that is gone', c.id from category_mapping m
			join category c on c.id = m.category_id and c.deleted_at is not null
		union all select 'a rule names a category that is gone', r.id from rule r, jsonb_array_elements(r.actions) a
			where r.deleted_at is null and a ->> 'category_slug' <> ''
				and not exists (select from category c where c.slug = a ->> 'category_slug' and c.deleted_at is null)
		union all select 'a ' || x.kind || ' is not what its history says', x.id from (
				select 'category' as kind, id, deleted_at, to_jsonb(c) as record from category c
				union all select 'counterparty', id, deleted_at, to_jsonb(p) from counterparty p
				union all select 'tag', id, deleted_at, to_jsonb(g) from tag g
				union all select 'rule', id, deleted_at, to_jsonb(r) from rule r) x
			cross join lateral (select e.after from entry e where e.subject = x.kind and e.subject_id = x.id
				and e.field = 'record' order by e.id desc limit 1) l
			where case when x.deleted_at is not null then l.after is not null
				else l.after is null or not x.record @> l.after::jsonb end
		union all select 'a transaction is not what its history says', t.id from transaction t
			cross join lateral (values ('category', t.category_id), ('counterparty', t.counterparty_id)) f (field, now)
			cross join lateral (select e.after from entry e where e.subject = 'transaction' and e.subject_id = t.id
				and e.field = f.field order by e.id desc limit 1) l
			where l.after is distinct from f.now::text`)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, r := range rows {
		out = append(out, r.What+" "+r.ID.String())
		if i == 0 {
			t.Log(h.story(t.Context(), h.db, r.ID))
		}
	}
	return out
}

// undo reverts every change once, in the order of the list: newest first.
func (h *house) undo(t *testing.T, list []id.ID) (left []string) {
	t.Helper()
	ctx := op.WithActor(t.Context(), ada)
	for part := range slices.Chunk(list, 25) {
		var here []string
		err := h.db.InTx(ctx, func(tx pg.Tx) error {
			here = nil
			for _, u := range part {
				c, err := h.journal.Get(ctx, tx, journal.ChangeRef{ChangeID: u.String()})
				if err != nil {
					return err
				}
				if c.RevertedBy != nil {
					continue
				}
				done, err := h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: u.String()})
				if err != nil {
					return fmt.Errorf("revert %q: %w", c.Summary, err)
				}
				if done.Change == nil || len(done.Skipped) > 0 {
					if len(left)+len(here) == 0 && len(done.Skipped) > 0 && !h.spoiled {
						t.Log(h.story(ctx, tx, done.Skipped[0].SubjectID))
					}
					here = append(here, fmt.Sprintf("%s %q (%s): %+v", u, c.Summary, c.Cause, done.Skipped))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, here...)
	}
	return left
}

// story returns the history of a record and of the records to which it referred, for debugging.
func (h *house) story(ctx context.Context, q pg.Querier, subject id.ID) string {
	lines, err := pg.Values[string](ctx, q, `
		select concat_ws(' ', e.id, c.seq, c.round, c.undoes, e.change_id, coalesce(c.root, c.id), e.subject,
			e.subject_id, e.field, e.ref, '|', e.before, e.before_source, '=>', e.after, e.after_source, '|', c.summary)
		from entry e join change c on c.id = e.change_id
		where e.subject_id = $1 or e.subject_id::text in (select before from entry
			where subject_id = $1 union select after from entry
			where subject_id = $1) or e.before like '%' || $1::text || '%' or e.after like '%' || $1::text || '%'
		order by e.id`, subject)
	return fmt.Sprint(subject, err, "\n", strings.Join(lines, "\n"))
}

// list returns the changes in the order of the list: newest first.
func (h *house) list(t *testing.T) []id.ID {
	t.Helper()
	var out []id.ID
	in := journal.ListChanges{Limit: 300}
	for {
		page, err := h.journal.List(t.Context(), h.db, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Changes {
			out = append(out, c.ID)
		}
		if in.Cursor = page.NextCursor; !page.HasMore {
			return out
		}
	}
}

// TestUndoIsWhole: eight callers change the same few records at the same time. Reverting each
// change once, newest first, restores the meaning of the books.
func TestUndoIsWhole(t *testing.T) { //nolint:tparallel // one round after another: each has a server's connections
	t.Parallel()
	rounds := 8
	if os.Getenv("COFFER_TEST_LONG") != "" {
		rounds = 200
	}
	for n := range rounds {
		// A subtest closes its pool at the end. Many open pools would exceed the server's
		// connections.
		if !t.Run(fmt.Sprint(n), func(t *testing.T) { undoRound(t, uint64(n)) }) {
			return
		}
	}
}

func undoRound(t *testing.T, seed uint64) {
	t.Helper()
	h := newHouse(t)
	before := h.meaning(t)
	start := time.Now()
	h.quarrel(t, seed, wholeChanges, false)
	making := time.Since(start)
	if h.meaning(t) == before {
		t.Fatal("the callers did nothing that shows")
	}
	if broken := h.contradictions(t); len(broken) > 0 {
		t.Error(strings.Join(broken, "\n"))
	}
	start = time.Now()
	list := h.list(t)
	if left := h.undo(t, list); len(left) > 0 {
		t.Errorf("%d of %d reverts left something, first of all:\n%s", len(left), len(list),
			strings.Join(left[:min(len(left), 5)], "\n"))
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
	refused := map[string]int64{}
	h.refused.Range(func(k, v any) bool { refused[k.(string)] += v.(*atomic.Int64).Load(); return true })
	t.Logf("%d calls made %d changes in %.1f s, undone in %.1f s; refused %v", h.calls.Load(), len(list),
		making.Seconds(), time.Since(start).Seconds(), refused)
}

// TestUndoByIDsIsNoticed is the control: it orders histories and lists by ids that were assigned
// before any lock was taken. Undoing in that order does not restore the books. The number of a
// call's database transaction is such an id if the call requests it first.
func TestUndoByIDsIsNoticed(t *testing.T) {
	t.Parallel()
	for n := range 5 {
		h := newHouse(t)
		before := h.meaning(t)
		h.quarrel(t, uint64(1000+n), wholeChanges/2, true)
		if _, err := h.db.Exec(t.Context(), byEarlyIDs); err != nil {
			t.Fatal(err)
		}
		h.spoiled = true
		list := h.list(t)
		left := h.undo(t, list)
		if h.meaning(t) != before && len(left) > 0 {
			t.Logf("noticed in round %d: %d of %d reverts left something", n, len(left), len(list))
			return
		}
	}
	t.Error("five rounds led back although entries were ordered by ids that were made too early")
}

// byEarlyIDs renumbers changes and entries by the first of the database transactions that wrote
// them.
const byEarlyIDs = `
	create temporary table early as select change_id,
		row_number() over (order by min(xmin::text::bigint), change_id) as seq from entry group by change_id;
	create temporary table renumbered as select e.id, row_number() over (order by y.seq, e.id) + (select max(id)
		from entry) as fresh from entry e join early y on y.change_id = e.change_id;
	alter table entry alter column id drop identity;
	alter table change alter column seq drop identity;
	update entry e set id = r.fresh from renumbered r where r.id = e.id;
	update change c set seq = y.seq + (select max(seq) from change) from early y where y.change_id = c.id;
	alter table entry alter column id add generated always as identity (start 10000000);
	alter table change alter column seq add generated always as identity (start 10000000);
	drop table early, renumbered`
