package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// unrehearsed are the writing tools whose calls cannot be in a plan, each with the reason. A
// workflow refuses such a call, or stores the call itself in the plan.
var unrehearsed = map[string]string{
	"apply_rules":       "a job does the work after the commit",
	"trigger_sync":      "a job asks the bank after the commit",
	"import_statement":  "a job adds the rows after the commit",
	"split_transaction": "it makes parts, and a plan has only what becomes of fields",
	"revert_change":     "it undoes changes of the past, and those of a plan are not made yet",
	"add_transaction":   "what is entered is recorded as restored, and a plan restores only what is there",
}

// A rehearsalRun plays scripts on one database, either directly or as a plan.
type rehearsalRun struct {
	*revertRun
	planned bool
	blind   bool // the control: later calls do not see the plan
	run     op.Actor
	plan    []journal.Planned
	called  map[string]bool
	carried time.Duration
	laid    int // how many planned entries were applied before a call
}

// TestRehearsal plays random scripts of calls twice: directly on one copy of a household, and as
// rehearsals on another. Apart from new ids, the responses are the same. The rehearsals do not
// change the books of the second copy. Applying the plan gives the books of the first copy, and
// undoing the run restores the books from before. For five moments of a direct script, the books as
// of that moment equal the books at that moment.
func TestRehearsal(t *testing.T) {
	t.Parallel()
	scripts := 100
	if os.Getenv("COFFER_TEST_LONG") != "" {
		scripts = 2000
	}
	l := newRehearsalLaw(t)
	for n := range scripts {
		l.script(n)
		if t.Failed() {
			return
		}
	}
	l.report()
}

// A rehearsalLaw compares two copies of a household.
type rehearsalLaw struct {
	*testing.T
	direct, rehearsed *rehearsalRun
	known             map[string]bool // ids that exist in both copies
	less              *journal.Journal
	tally             map[string]int
	took              map[string]time.Duration
}

func newRehearsalLaw(t *testing.T) *rehearsalLaw {
	t.Helper()
	first := newWorldOn(t, pgtest.URL(t), app.Config{})
	revertSeed(t, first, 1)
	first.fillLinks(t)
	for _, sql := range []string{`update setting set writes_per_day = 1000000000`, `
		insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
			first_date, last_date, next_date, occurrences, sure)
		select gen_random_uuid(), 'rec0000' || n, a.id, 'EUR', 'out', 'monthly', n, array[n::bigint], true, 10, '2026-01-01',
			'2026-03-01', '2026-04-01', 3, false
		from generate_series(1, 3) n, (select id from account order by id limit 1) a`} {
		if _, err := first.DB.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	url := first.Config.DatabaseURL.Reveal()
	first.DB.Close()
	l := &rehearsalLaw{T: t, known: map[string]bool{}, tally: map[string]int{}, took: map[string]time.Duration{}}
	for _, r := range []**rehearsalRun{&l.direct, &l.rehearsed} {
		w := &revertWorld{
			world: newWorldOn(t, pgtest.CopyURL(t, url)+"&synchronous_commit=off", app.Config{}),
			ops:   map[string]*op.Op{}, parsed: map[string]revertDefinition{},
		}
		for _, o := range w.Ops() {
			w.ops[o.ID()] = o
		}
		*r = &rehearsalRun{revertRun: &revertRun{revertWorld: w, prefix: "s000-"}, called: map[string]bool{}}
	}
	l.rehearsed.planned = true
	ids, err := pg.Values[string](t.Context(), l.direct.DB, `
		with record as (select id, short_id from transaction union all select id, short_id from category
			union all select id, short_id from tag union all select id, short_id from counterparty
			union all select id, short_id from account union all select id, short_id from account_link
			union all select id, short_id from recurring union all select id, short_id from comment union all select id, short_id from rule)
		select id::text from record union all select short_id from record`)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range ids {
		l.known[u] = true
	}
	for _, r := range []*rehearsalRun{l.direct, l.rehearsed} {
		if r.txs, err = pg.Values[string](t.Context(), r.DB, `select id::text from transaction
			where provider_id like 's000-%' order by provider_id`); err != nil {
			t.Fatal(err)
		}
	}
	a := l.direct.App
	subjects := slices.Concat(a.Categories.Subjects(), a.Books.Subjects(), a.Accounts.Subjects(), a.Rules.Subjects(),
		a.Others.Subjects(), a.Links.Subjects(), a.Reports.Subjects())
	l.less = journal.New(journal.Config{DB: a.DB, Subjects: slices.DeleteFunc(subjects,
		func(s journal.Subject) bool { return s.Kind() == journal.Tag })})
	return l
}

// script plays one script in both ways.
func (l *rehearsalLaw) script(n int) {
	l.Helper()
	before := l.same("at the start")
	run := id.New()
	for _, r := range []*rehearsalRun{l.direct, l.rehearsed} {
		r.begin(14, n)
		r.plan, r.blind = nil, r.planned && n%20 == 19
		r.run = op.Actor{Type: op.Agent, ID: run, Run: &run, Name: "filer", Scope: op.Full}
	}
	differed := false
	type moment struct {
		at   pg.Time
		hash string
	}
	var moments []moment
	steps := 10 + n%8
	for i := range steps {
		want, got := l.direct.play(l.T), l.rehearsed.play(l.T)
		if l.plain(want) != l.plain(got) {
			differed = true
			if !l.rehearsed.blind {
				l.Errorf("script %d, call %d: directly\n%s\nrehearsed\n%s\n\t%s", n, i, want, got,
					strings.Join(l.direct.story, "\n\t"))
				return
			}
		}
		if i%2 == 0 && len(moments) < 5 {
			moments = append(moments, moment{l.now(), l.hash(l.direct, l.direct.DB)})
		}
	}
	if l.rehearsed.blind {
		l.tally["control: scripts without the plan laid over the books"]++
		if differed {
			l.tally["control: their answers differed"]++
		}
	}
	if h := l.hash(l.rehearsed, l.rehearsed.DB); h != before {
		l.Errorf("script %d: a rehearsal changed the books\n%s", n, firstDifference(before, h))
	}
	for _, m := range moments {
		l.asOf(n, m.at, m.hash)
	}
	switch {
	case l.rehearsed.blind:
	case n%4 == 3:
		l.moved(n)
	default:
		l.carry(n)
	}
	for _, r := range []*rehearsalRun{l.direct, l.rehearsed} {
		l.undo(r, run)
	}
	l.tally["scripts"]++
	if after := l.same(fmt.Sprintf("after script %d was undone", n)); after != before && n%4 != 3 {
		l.Errorf("script %d: undone, the books are not as before\n%s\n\t%s", n, firstDifference(before, after),
			strings.Join(l.direct.story, "\n\t"))
	}
}

// play makes the script's next call and returns its response.
func (r *rehearsalRun) play(t *testing.T) string {
	t.Helper()
	if !r.planned {
		r.from = r.DB
		s := r.next(t.Context())
		return r.said(s, func(o *op.Op, c op.Call) (op.Answer, error) { return r.Runner.Call(t.Context(), o, c) })
	}
	var out string
	plan := r.plan
	if r.blind {
		plan = nil
	}
	start := time.Now()
	var laid time.Duration
	made, err := r.Journal.Rehearse(op.WithActor(t.Context(), r.run), journal.Rehearsal{Plan: plan},
		func(ctx context.Context, tx pg.Tx) error {
			laid = time.Since(start)
			r.from = tx
			s := r.next(ctx)
			var lost error
			out = r.said(s, func(o *op.Op, c op.Call) (answer op.Answer, err error) {
				answer, _, err = r.Runner.CallIn(ctx, tx, o, c)
				if _, public := errors.AsType[*errs.Error](err); err != nil && !public {
					lost = err
				}
				return answer, err
			})
			return lost
		})
	if err != nil {
		t.Fatal(err)
	}
	r.carried, r.laid = r.carried+laid, r.laid+len(journal.Net(plan))
	r.plan = append(r.plan, made...)
	return out
}

// said makes a call and returns its response or its error as text.
func (r *rehearsalRun) said(s revertStep, call func(*op.Op, op.Call) (op.Answer, error)) string {
	o, surface := r.ops[s.op], op.REST
	if o.Tool != "" {
		surface = op.Tool
	}
	r.called[s.op] = true
	answer, err := call(o, op.Call{Actor: r.run, Surface: surface, Args: s.args, RequestID: "test"})
	args, _ := json.Marshal(s.args)
	r.story = append(r.story, fmt.Sprintf("%s %s: %v", s.op, args, err))
	if err != nil {
		face, ok := errors.AsType[*errs.Error](err)
		if !ok {
			return "lost: " + err.Error()
		}
		if face.Code.Status() >= 500 {
			return "failed: " + err.Error()
		}
		printed, _ := json.Marshal(face.Face())
		return s.op + " " + string(printed)
	}
	return s.op + " " + string(answer.Body)
}

var rehearsalValue = regexp.MustCompile(`"([a-z_]+)":"([^"]*)"`)

// plain removes from a response the ids and times that exist in this copy only.
func (l *rehearsalLaw) plain(answer string) string {
	return rehearsalValue.ReplaceAllStringFunc(answer, func(s string) string {
		m := rehearsalValue.FindStringSubmatch(s)
		name, value := m[1], m[2]
		if name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_at") || name == "updated" ||
			name == "next_cursor" {
			if !l.known[value] {
				return `"` + name + `":"·"`
			}
		}
		return s
	})
}

// hash returns everything that a script can change, without ids.
func (l *rehearsalLaw) hash(r *rehearsalRun, q pg.Querier) string {
	l.Helper()
	start := time.Now()
	c, err := ledgertest.Canonical(l.Context(), q, nil, "")
	if err != nil {
		l.Fatal(err)
	}
	more, err := pg.Values[string](l.Context(), q, `
		select concat_ws(' ', 'rule', name, conditions, actions, trigger, priority, enabled, created_by_type) from rule
			where deleted_at is null
		union all select concat_ws(' ', 'mapping', m.provider, m.raw_primary, m.raw_detailed, c.slug)
			from category_mapping m join category c on c.id = m.category_id
		order by 1`)
	if err != nil {
		l.Fatal(err)
	}
	l.took["hash"] += time.Since(start)
	l.tally["hashes"]++
	_ = r
	return c + strings.Join(more, "\n")
}

// same checks that both copies have the same hash, and returns it.
func (l *rehearsalLaw) same(when string) string {
	l.Helper()
	a, b := l.hash(l.direct, l.direct.DB), l.hash(l.rehearsed, l.rehearsed.DB)
	if a != b {
		l.Errorf("%s, the copies differ\n%s", when, firstDifference(a, b))
	}
	return a
}

func (l *rehearsalLaw) now() pg.Time {
	l.Helper()
	at, err := pg.Value[pg.Time](l.Context(), l.direct.DB, `select clock_timestamp()`)
	if err != nil {
		l.Fatal(err)
	}
	return at
}

// asOf compares the books as of a moment with the hash from that moment. The control leaves out the
// journal's subject for tags.
func (l *rehearsalLaw) asOf(n int, at pg.Time, want string) {
	l.Helper()
	undone := errors.New("undone")
	look := func(j *journal.Journal) (got string, skipped []journal.Skipped) {
		err := l.direct.DB.InTx(l.Context(), func(tx pg.Tx) (err error) {
			start := time.Now()
			skipped, err = j.AsOf(l.Context(), tx, at)
			l.took["as of"] += time.Since(start)
			if err != nil {
				return err
			}
			got = l.hash(l.direct, tx)
			return undone
		})
		if !errors.Is(err, undone) {
			l.Fatal(err)
		}
		return got, skipped
	}
	l.tally["moments"]++
	if got, skipped := look(l.direct.Journal); got != want {
		l.Errorf("script %d: the books as of then are not what they were\n%s\n%+v\n\t%s", n,
			firstDifference(want, got), skipped, strings.Join(l.direct.story, "\n\t"))
	}
	if l.tally["moments"]%10 == 0 {
		l.tally["control: moments without the tags"]++
		if got, _ := look(l.less); got != want {
			l.tally["control: the books as of then differed"]++
		}
	}
}

// undo undoes everything that the actor changed.
func (l *rehearsalLaw) undo(r *rehearsalRun, actor id.ID) {
	l.Helper()
	ctx := op.WithActor(l.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "me", Scope: op.Full})
	err := r.DB.InTx(ctx, func(tx pg.Tx) error {
		out, err := journal.NewUndo(r.Journal, r.Jobs).UndoActor(ctx, tx, actor, false)
		if len(out.Skipped) > 0 && actor != r.run.ID {
			l.tally["fields left by an undo"] += len(out.Skipped)
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
}

func (l *rehearsalLaw) report() {
	l.Helper()
	r := l.rehearsed
	l.Logf("%v", l.tally)
	l.Logf("a planned entry was laid over the books in %.3f ms (%d of them), applied in %.3f ms; "+
		"the books as of then: %.1f ms, their hash %.1f ms",
		r.carried.Seconds()*1000/float64(max(r.laid, 1)), r.laid,
		l.took["apply"].Seconds()*1000/float64(max(l.tally["entries applied"], 1)),
		l.took["as of"].Seconds()*1000/float64(max(l.tally["moments"], 1)),
		l.took["hash"].Seconds()*1000/float64(max(l.tally["hashes"], 1)))
	for _, o := range l.direct.Ops() {
		if o.Tool == "" || !o.Writes {
			continue
		}
		if _, left := unrehearsed[o.Tool]; left == l.direct.called[o.ID()] {
			l.Errorf("%s: played %v, declared as unrehearsed %v", o.Tool, l.direct.called[o.ID()], left)
		}
	}
	for what, control := range map[string]string{
		"control: their answers differed":            "control: scripts without the plan laid over the books",
		"control: they overwrote what a person did":  "control: plans applied without a look at what moved",
		"control: the books as of then differed":     "control: moments without the tags",
		"fields that others touched, left and named": "control: plans applied without a look at what moved",
	} {
		if l.tally[what] == 0 || l.tally[control] == 0 {
			l.Errorf("%q: %d of %d: nothing was shown", what, l.tally[what], l.tally[control])
		}
	}
}
