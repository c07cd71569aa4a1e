package whole_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
)

// undoMany undoes changes together, as an actor.
func (h *house) undoMany(t *testing.T, actor op.Actor, in journal.UndoChanges) (out journal.Undone) {
	t.Helper()
	ctx := op.WithActor(t.Context(), actor)
	err := h.db.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = h.undos.Call(ctx, tx, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUndoManyIsWhole: after a quarrel, undoing all changes in groups of a hundred leaves nothing
// behind.
func TestUndoManyIsWhole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.meaning(t)
	h.quarrel(t, 77, 300, false)
	for part := range slices.Chunk(h.list(t), 100) {
		var in journal.UndoChanges
		for _, u := range part {
			in.ChangeIDs = append(in.ChangeIDs, u.String())
		}
		slices.Sort(in.ChangeIDs) // the order in which the call names them does not matter
		dry := in
		dry.DryRun = true
		would, did := h.undoMany(t, ada, dry), h.undoMany(t, ada, in)
		if len(did.Skipped) > 0 || did.Reverted == 0 || would.Reverted != did.Reverted {
			t.Errorf("%d fields would be restored, %d were; left: %+v", would.Reverted, did.Reverted, did.Skipped)
		}
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
}

// TestUndoADay: one agent's changes since a time are undone, and those of others stay.
func TestUndoADay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	agent := op.Actor{Type: op.Agent, ID: id.New(), Name: "helper", Scope: op.Full}
	as := func(actor op.Actor, transaction id.ID, category string) (change id.ID) {
		t.Helper()
		ctx := op.WithActor(t.Context(), actor)
		err := h.db.InTx(ctx, func(tx pg.Tx) error {
			done, err := h.books.BatchCategorize(ctx, tx, ledger.BatchCategorize{
				TransactionIDs: []string{transaction.String()}, CategoryID: category, Force: true,
			})
			if err == nil {
				change = *done.ChangeID
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return change
	}
	as(agent, h.txs[5], "qa")
	since, err := pg.Value[pg.Time](t.Context(), h.db, `select clock_timestamp()`)
	if err != nil {
		t.Fatal(err)
	}
	as(agent, h.txs[6], "qa")
	as(agent, h.txs[7], "qa")
	as(agent, h.txs[7], "qb")
	taken := as(agent, h.txs[8], "qa") // the agent itself reverts this change
	h.undoMany(t, agent, journal.UndoChanges{ChangeID: new(taken.String())})
	as(agent, h.txs[9], "qa")
	as(ada, h.txs[9], "qb") // a person made the last change
	moment, err := pg.ParseMoment(since.String())
	if err != nil {
		t.Fatal(err)
	}
	done := h.undoMany(t, ada, journal.UndoChanges{ActorID: new(agent.ID.String()), Since: &moment})
	if done.Changes != 4 || done.Reverted != 3 || done.ByReason["changed_since"] != 1 {
		t.Errorf("undone: %+v", done)
	}
	for i, want := range map[int]string{5: "qa", 6: "", 7: "", 8: "", 9: "qb"} {
		if got := h.slug(t, h.txs[i]); got != want {
			t.Errorf("the category of transaction %d is %q and not %q", i, got, want)
		}
	}
	// A date works as a time too: today began before all of these changes.
	today, err := pg.Value[pg.Date](t.Context(), h.db, `select (now() at time zone time_zone)::date from setting`)
	if err != nil {
		t.Fatal(err)
	}
	day, err := pg.ParseMoment(today.String())
	if err != nil {
		t.Fatal(err)
	}
	if done := h.undoMany(t, agent, journal.UndoChanges{Mine: true, Since: &day}); h.slug(t, h.txs[5]) != "" {
		t.Errorf("the agent's day is not undone: %+v", done)
	}
}

// TestUndoByJob: if there are too many changes for one call, a job undoes them one by one.
func TestUndoByJob(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account, err := pg.Value[id.ID](t.Context(), h.db, `select id from account`)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 10_500
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		_, err := h.books.Load(ctx, tx, func(yield func(ledger.Incoming) bool) {
			for i := range rows {
				if !yield(ledger.Incoming{
					AccountID: account, ProviderID: fmt.Sprint("many", i), Date: pg.Day(time.Now()),
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name("many"),
				}) {
					return
				}
			}
		})
		return err
	})
	before := h.meaning(t)
	for _, category := range []string{"qaa", "qab"} {
		var in rulebook.CreateRules
		spec := fmt.Sprintf(`{"rules":[{"name":"all in %[1]s","conditions":{"field":"name","op":"eq","value":"many"},
			"actions":[{"type":"set_category","category_slug":%[1]q}],"apply_retroactively":true}]}`, category)
		if err := json.Unmarshal([]byte(spec), &in); err != nil {
			t.Fatal(err)
		}
		h.in(t, func(ctx context.Context, tx pg.Tx) error { _, err := h.rules.Create(ctx, tx, in); return err })
		h.settle(t)
	}
	day, err := pg.ParseMoment("2000-01-01")
	if err != nil {
		t.Fatal(err)
	}
	done := h.undoMany(t, ada, journal.UndoChanges{Mine: true, Since: &day})
	if done.JobID == nil {
		t.Fatalf("no job was needed: %+v", done)
	}
	h.settle(t)
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after)[:2000])
	}
	result, err := pg.Value[string](t.Context(), h.db, `select result::text from job where id = $1`, done.JobID)
	var undone journal.Undone
	if err != nil || json.Unmarshal([]byte(result), &undone) != nil || undone.Reverted < 2*rows ||
		len(undone.Skipped) > 0 {
		t.Errorf("the job's result is %.500s, %v", result, err)
	}
}

// TestAnAgentUndoesItsDay: an agent that has used all of its writes can undo all of them with one
// call, which costs no writes.
func TestAnAgentUndoesItsDay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const writes, atOnce = 2_000, 250
	_, err := h.db.Exec(t.Context(), `
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
		select gen_random_uuid(), 'w' || lpad(n::text, 7, '0'), t.account_id, 'w' || n, t.date, 1, 'EUR', t.descriptor_id
		from (select * from transaction limit 1) t, generate_series(1, $1::int) n`, writes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `update setting set writes_per_day = $1`, writes); err != nil {
		t.Fatal(err)
	}
	before := h.meaning(t)
	rows, err := pg.Values[string](t.Context(), h.db, `select short_id from transaction where provider_id like 'w%'
		order by id`)
	if err != nil {
		t.Fatal(err)
	}
	agent := op.Actor{Type: op.Agent, ID: id.New(), Name: "helper", Scope: op.Full}
	file := func(rows []string, category string) error {
		ctx := op.WithActor(t.Context(), agent)
		return h.db.InTx(ctx, func(tx pg.Tx) error {
			_, err := h.books.BatchCategorize(ctx, tx, ledger.BatchCategorize{TransactionIDs: rows, CategoryID: category})
			return err
		})
	}
	for part := range slices.Chunk(rows, atOnce) {
		if err := file(part, "qaa"); err != nil {
			t.Fatal(err)
		}
	}
	if err := file(rows[:1], "qab"); !errs.Is(err, errs.RateLimited) {
		t.Fatalf("one more write than the day allows: %v", err)
	}
	day, err := pg.ParseMoment("2000-01-01")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	done := h.undoMany(t, agent, journal.UndoChanges{Mine: true, Since: &day})
	t.Logf("%d fields of %d changes went back in %v", done.Reverted, done.Changes, time.Since(start))
	if done.Reverted != writes || len(done.Skipped) > 0 || done.JobID != nil {
		t.Errorf("undone: %d, left %v", done.Reverted, done.ByReason)
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
}
