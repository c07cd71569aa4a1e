package rulebook_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

// work runs the world's jobs until the test ends or stop is called.
func (w *world) work() (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	done := make(chan error, 1)
	go func() { done <- w.jobs.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.Errorf("jobs: %v", err)
		}
	})
	w.Cleanup(stop)
	return stop
}

// applying queues an application as a job.
func (w *world) applying(in rulebook.ApplyRules) job.Job {
	w.Helper()
	var made job.Job
	w.in(func(tx pg.Tx) (err error) {
		made, err = w.rules.Apply(w.ctx, tx, in)
		return err
	})
	return made
}

// result waits for a job and reads its result.
func (w *world) result(j job.Job, into any) {
	w.Helper()
	got, err := w.jobs.Wait(w.ctx, j.ID, patience)
	if err != nil || got.State != job.Succeeded {
		w.Fatalf("%+v %v", got, err)
	}
	if err := json.Unmarshal(got.Result, into); err != nil {
		w.Fatal(err)
	}
	if got.Progress.Total == nil || got.Progress.Done != *got.Progress.Total {
		w.Errorf("the job ended at %+v", got.Progress)
	}
}

// TestRevertOfARunningApplication reverts an application while it runs. The rest of the application
// becomes another change. Reverting that change too reverts everything.
func TestRevertOfARunningApplication(t *testing.T) {
	t.Parallel()
	w := small(t, 3000)
	w.rules.Batches(20)
	w.create(
		ruleSpec{Name: "tagged", Conditions: all, Actions: tagging("seen")},
		ruleSpec{Name: "bound", Conditions: all, Actions: []engine.Action{{
			Type:             engine.AssignCounterparty,
			CounterpartyName: "New Shop",
		}}})
	start := w.canonical(w.db)
	w.work()
	j := w.applying(rulebook.ApplyRules{})
	const changes = `select count(*)::int from change where cause = 'rule'`
	await(t, "it has begun", func() bool { return value[int](w, changes) > 0 })
	first := value[string](w, `select id::text from change where cause = 'rule'`)
	w.revert(first)
	if now, err := w.jobs.Get(w.ctx, w.db, job.Ref{JobID: j.ID.String()}); err != nil || now.Ended() {
		t.Fatalf("the job ended too soon for the test: %+v %v", now, err)
	}
	var done rulebook.Applied
	w.result(j, &done)
	if done.Changed != 3000 || done.ChangeID.String() == first || value[int](w, changes) != 2 {
		t.Errorf("%+v, %d changes", done, value[int](w, changes))
	}
	w.revert(done.ChangeID.String())
	if w.canonical(w.db) != start {
		t.Error("the canonical hash did not return")
	}
}

// TestRehearsalBeginsAgain stops a server during a dry run. Another server starts the dry run again
// and reports no progress twice.
func TestRehearsalBeginsAgain(t *testing.T) {
	t.Parallel()
	w := small(t, 2000)
	w.rules.Batches(10)
	w.create(ruleSpec{
		Name: "tagged", Conditions: map[string]any{"field": "pending", "op": "eq", "value": true},
		Actions: tagging("seen"),
	})
	stop := w.work()
	j := w.applying(rulebook.ApplyRules{DryRun: true})
	await(t, "it has begun", func() bool { return value[int](w, `select done::int from job`) > 50 })
	stop()
	if state := value[string](w, `select state from job`); state != job.Queued {
		t.Fatalf("the job is %s already, too soon for the test", state)
	}
	other := worldOn(t, w.url)
	other.work()
	var said rulebook.Rehearsal
	other.result(j, &said)
	want := 0
	for _, s := range w.rows {
		if s.draft.Pending {
			want++
		}
	}
	if said.Scanned != 2000 || int(said.Matched) != want || int(said.Counts.Changes) != want ||
		len(said.Changes) != 200 {
		t.Errorf("%d scanned, %d matched, %+v, %d shown; want %d", said.Scanned, said.Matched, said.Counts,
			len(said.Changes), want)
	}
}

// TestRehearsalIsTheApplication compares the result of a dry run with the application that follows,
// and checks that the dry run wrote nothing.
func TestRehearsalIsTheApplication(t *testing.T) {
	t.Parallel()
	w := lawWorld(t, 31, 100)
	w.rules.Batches(30)
	w.work()
	sum := rulebook.Counts{}
	for n := range uint64(8) {
		r := seeded(700 + n)
		w.exec(`update rule set deleted_at = now() where not is_system and deleted_at is null`)
		w.exec(newVersion)
		ids := w.create(w.genSpecs(r, 1+r.IntN(10), false)...)
		start, changes := w.canonical(w.db), value[int](w, `select count(*)::int from change`)
		in := rulebook.ApplyRules{DryRun: true, OverwriteManual: n%4 == 0}
		if n%2 == 0 {
			in.RuleIDs = refs(ids)
		}
		var said rulebook.Rehearsal
		w.result(w.applying(in), &said)
		if w.canonical(w.db) != start || value[int](w, `select count(*)::int from change`) != changes ||
			w.get(ids[0]).HitCount != 0 {
			t.Fatal("a dry run wrote something")
		}
		w.tried(func(tx pg.Tx) error {
			done, err := w.rules.ApplyWithin(w.ctx, tx, in)
			if err != nil {
				return err
			}
			if said.Scanned != done.Scanned || said.Matched != done.Matched || said.Changed != done.Changed {
				t.Errorf("the dry run has %d scanned, %d matched, %d changed; the application %+v", said.Scanned, said.Matched, said.Changed,
					done)
			}
			w.compareEntries(tx, said, done)
			return nil
		})
		sum.Changes += said.Counts.Changes
		sum.AlreadySo += said.Counts.AlreadySo
		sum.Held += said.Counts.Held
		sum.Overridden += said.Counts.Overridden
	}
	t.Logf("%+v", sum)
	if sum.Changes == 0 || sum.AlreadySo == 0 || sum.Held == 0 || sum.Overridden == 0 {
		t.Error("too few changes for a test")
	}
}

// compareEntries compares the changes that a dry run shows with the written entries.
func (w *world) compareEntries(tx pg.Tx, said rulebook.Rehearsal, done rulebook.Applied) {
	w.Helper()
	type entry struct {
		Key   string `db:"key"`
		After string `db:"after"`
	}
	rows, err := pg.All[entry](w.ctx, tx, `
		select concat_ws(' ', e.subject_id, e.field, e.rule_id, case
			when e.field = 'tag' then coalesce(g.slug, '') end) as key,
			case e.field when 'tag' then case when e.after is null then '' else g.slug end
				when 'category' then c.slug else p.name end as after
		from entry e left join tag g on g.id = e.ref left join category c on e.field = 'category'
			and c.id::text = e.after left join counterparty p on e.field = 'counterparty' and p.id::text = e.after
		where e.change_id = $1 and e.subject = 'transaction'`, done.ChangeID)
	if err != nil {
		w.Fatal(err)
	}
	wrote, announced := map[string]string{}, map[string]string{}
	for _, e := range rows {
		wrote[e.Key] = e.After
	}
	var told int64
	for _, e := range said.ByRule {
		told += e.Count
	}
	if len(said.ByRule) < 100 && told != said.Counts.Changes {
		w.Errorf("%d changes by rule, %d in total", told, said.Counts.Changes)
	}
	if int(said.Counts.Changes) != len(rows) {
		w.Errorf("%d changes announced, %d written", said.Counts.Changes, len(rows))
	}
	for _, c := range said.Changes {
		key, after := c.TransactionID.String()+" "+c.Field+" "+c.RuleID.String(), ""
		if c.After != nil {
			after = c.After.Plain()
		}
		if c.Field == "tag" {
			tag := after
			if tag == "" {
				tag = c.Before.Plain()
			}
			key += " " + tag
		}
		announced[key] = after
	}
	if len(said.Changes) < len(wrote) { // only the first rows are shown
		for k := range wrote {
			if _, ok := announced[k]; !ok {
				delete(wrote, k)
			}
		}
	}
	if d := cmp.Diff(wrote, announced); d != "" {
		w.Errorf("written (-), announced (+): %s", d)
	}
}

// TestRevertOfALargeApplication reverts a change with many entries while the database has no
// statistics about them. It must only take seconds, and the time must not grow with the square of
// the entries.
func TestRevertOfALargeApplication(t *testing.T) {
	t.Parallel()
	n := 5_000
	if long() {
		n = 40_000
	}
	w := small(t, n)
	w.create(
		ruleSpec{Name: "tagged", Conditions: all, Actions: append(tagging("seen"), tagging("twice")...)},
		ruleSpec{Name: "bound", Conditions: all, Actions: []engine.Action{{
			Type:             engine.AssignCounterparty,
			CounterpartyName: "New Shop",
		}}})
	start := w.canonical(w.db)
	var done rulebook.Applied
	w.in(func(tx pg.Tx) (err error) {
		done, err = w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	began := time.Now()
	w.revert(done.ChangeID.String())
	t.Logf("%d transactions reverted in %v", done.Changed, time.Since(began).Round(time.Millisecond))
	if w.canonical(w.db) != start {
		t.Error("the canonical hash did not return")
	}
}
