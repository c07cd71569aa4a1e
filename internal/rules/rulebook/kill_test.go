package rulebook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/job"
	"coffer/internal/platform/job/jobtest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

// A server is the configuration of a separate process. The process works on jobs until it is
// stopped or killed.
type server struct {
	URL       string
	Forgetful bool // for the control: run the broken application
}

// TestMain lets this test binary also run as a server, so that tests can kill real processes.
func TestMain(m *testing.M) { jobtest.Main(m, serve) }

func serve(ctx context.Context, s server) error {
	db, err := pg.Open(ctx, s.URL, pg.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	defer db.Close()
	w := parts(db, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	w.rules.Batches(killing().batch)
	if s.Forgetful {
		w.jobs.Add(w.rules.ForgetfulKind())
	}
	return w.jobs.Run(ctx)
}

const (
	killHouseholds = 5 // run at the same time, each with a database, two replicas and an application
	resumeGoal     = 10 * time.Second
)

// A killPlan sets how often each household's process is killed, and how many transactions its
// application has. Batches are small. So when a process is killed, some batches are committed, one
// is running, and many are left.
type killPlan struct{ rounds, transactions, batch int }

func killing() killPlan {
	if long() {
		return killPlan{40, 20_000, 25}
	}
	return killPlan{6, 10_000, 64}
}

// A victim is a household whose servers are killed while rules are applied.
type victim struct {
	t       *testing.T
	url     string
	db      *pg.DB
	job     job.Job
	server  server
	alive   map[int]*jobtest.Process
	all     []*jobtest.Process
	resumes []time.Duration
}

// killed returns a household whose rules show whether a transaction was processed twice: a second
// pass would see the changes of the first.
func killed(t *testing.T) (url, start string) {
	t.Helper()
	w := newWorld(t)
	w.fill(seeded(9), killing().transactions)
	when := func(field, op string, v any) map[string]any {
		return map[string]any{"field": field, "op": op, "value": v}
	}
	w.create(
		ruleSpec{
			Name: "twice", Conditions: when("tags", "contains", "second"), Actions: tagging("third"),
			Priority: new(10),
		},
		ruleSpec{Name: "once", Conditions: all, Actions: tagging("second"), Priority: new(20)},
		ruleSpec{
			Name: "filed", Conditions: when("name", "contains", "e"),
			Actions: []engine.Action{{Type: engine.SetCategory, CategorySlug: "travel"}}, Priority: new(30),
		},
		ruleSpec{
			Name: "bound", Conditions: when("amount", "gt", "0"),
			Actions: []engine.Action{{Type: engine.AssignCounterparty, CounterpartyName: "New Shop"}}, Priority: new(40),
		},
		ruleSpec{
			Name: "untagged", Conditions: when("pending", "eq", true),
			Actions: []engine.Action{{Type: engine.RemoveTag, TagSlug: "home"}}, Priority: new(50),
		})
	start = w.canonical(w.db)
	w.db.Close()
	return w.url, start
}

// An ending holds the final state after an application.
type ending struct {
	canonical string
	applied   rulebook.Applied
}

func newVictim(t *testing.T, of string, s server) *victim {
	t.Helper()
	v := &victim{t: t, url: pgtest.CopyURL(t, of), server: s, alive: map[int]*jobtest.Process{}}
	v.server.URL = v.url
	w := worldOn(t, v.url)
	v.db = w.db
	w.in(func(tx pg.Tx) (err error) {
		v.job, err = w.rules.Apply(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	return v
}

func (v *victim) more() error {
	p, err := jobtest.Start(os.Args[0], v.server)
	if err != nil {
		return err
	}
	v.alive[p.Process.Pid] = p
	v.all = append(v.all, p)
	return nil
}

// clear ends all processes.
func (v *victim) clear() {
	for _, p := range v.alive {
		p.End()
	}
	for _, p := range v.all {
		if v.t.Failed() || strings.Contains(p.Said(), "level=ERROR") {
			v.t.Errorf("the log of process %d:\n%s", p.Process.Pid, p.Said())
		}
	}
}

func (v *victim) holder() (jobtest.Hold, *jobtest.Process, error) {
	h, pid, err := jobtest.Holder(v.t.Context(), v.db, v.job.ID)
	return h, v.alive[pid], err
}

// until waits for a state of the job, and returns an error if the job ends first.
func (v *victim) until(what string, holds func(jobtest.Hold, *jobtest.Process) bool) error {
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(3 * time.Millisecond) {
		h, p, err := v.holder()
		switch {
		case err != nil:
			return err
		case holds(h, p):
			return nil
		case h.State != job.Running && h.State != job.Queued:
			return fmt.Errorf("the job is %s before %s", h.State, what)
		}
	}
	return fmt.Errorf("not in time: %s", what)
}

// strike sends a signal to the process that runs the job, at a random moment of its work. It waits
// for another worker's first batch.
func (v *victim) strike(signal syscall.Signal) (*jobtest.Process, error) {
	for len(v.alive) < 2 {
		if err := v.more(); err != nil {
			return nil, err
		}
	}
	before, _, err := v.holder()
	if err != nil {
		return nil, err
	}
	err = v.until("the job moves", func(h jobtest.Hold, p *jobtest.Process) bool {
		return h.State == job.Running && h.Done > before.Done && p != nil
	})
	if err != nil {
		return nil, err
	}
	time.Sleep(rand.N(60 * time.Millisecond)) // a random moment on purpose
	_, p, err := v.holder()
	if err != nil || p == nil {
		return nil, errors.Join(err, errors.New("no process owns the job"))
	}
	struck := time.Now()
	if err := p.Process.Signal(signal); err != nil {
		return nil, err
	}
	delete(v.alive, p.Process.Pid)
	if signal == syscall.SIGKILL {
		_ = p.Wait() // its error is only the signal
	}
	last, _, err := v.holder()
	if err != nil {
		return nil, err
	}
	if err := v.more(); err != nil { // start a replacement
		return nil, err
	}
	err = v.until("another worker goes on", func(h jobtest.Hold,
		_ *jobtest.Process,
	) bool {
		return h.Attempt > last.Attempt && h.Done > last.Done
	})
	v.resumes = append(v.resumes, time.Since(struck))
	return p, err
}

// ended waits for the end of the job and returns the final state.
func (v *victim) ended() (out ending, err error) {
	if err := v.until("its end", func(h jobtest.Hold,
		_ *jobtest.Process,
	) bool {
		return h.State == job.Succeeded
	}); err != nil {
		return out, err
	}
	result, err := pg.Value[[]byte](v.t.Context(), v.db, `select result from job where id = $1`, v.job.ID)
	if err == nil {
		err = json.Unmarshal(result, &out.applied)
	}
	if err != nil {
		return out, err
	}
	out.canonical, err = ledgertest.Canonical(v.t.Context(), v.db, nil, "")
	return out, err
}

// faults lists the differences between an interrupted and an undisturbed application.
func (v *victim) faults(got, want ending) []string {
	var out []string
	if got.canonical != want.canonical {
		out = append(out, "the canonical hash is another")
	}
	if g, w := got.applied, want.applied; g.Scanned != w.Scanned || g.Matched != w.Matched || g.Changed != w.Changed {
		out = append(out, fmt.Sprintf("it says %+v, undisturbed %+v", g, w))
	}
	type count struct {
		Changes int `db:"changes"`
		Wrong   int `db:"wrong"`
		Doubled int `db:"doubled"`
	}
	c, err := pg.One[count](v.t.Context(), v.db, `
		select (select count(*)::int from change where cause = 'rule') as changes,
			(select count(*)::int from change c where cause = 'rule'
				and (c.entries <> (select count(*) from entry e where e.change_id = c.id)
				or c.transactions <> (select count(distinct subject_id) from entry e
					where e.change_id = c.id and subject = 'transaction'))) as wrong,
			(select count(*)::int from (select from entry e join change c on c.id = e.change_id and c.cause = 'rule'
				group by e.subject_id, e.field, e.ref having count(*) > 1) d) as doubled`)
	if err != nil || c.Changes != 1 || c.Wrong != 0 || c.Doubled != 0 {
		out = append(out, fmt.Sprintf("%d changes, %d of them with wrong counts, %d fields with two entries (%v)",
			c.Changes, c.Wrong, c.Doubled, err))
	}
	return out
}

// TestKilledApplication kills a process with -9 thirty times, each time at a random moment of an
// application, while another replica is running. Each application must resume within ten seconds
// and have the same result as an undisturbed one: the same canonical hash, every transaction
// processed once, and one change that can be reverted as a whole. A process that is stopped and
// continues after another one has taken its job must commit nothing. The control, whose batches do
// not commit their position, must fail.
func TestKilledApplication(t *testing.T) {
	t.Parallel()
	source, start := killed(t)
	want := undisturbed(t, source)
	var group sync.WaitGroup
	var victims []*victim
	begin := func(s server, kind string, work func(v *victim) error) *victim {
		v := newVictim(t, source, s)
		t.Cleanup(v.clear)
		group.Go(func() {
			if err := work(v); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		})
		return v
	}
	strikes := func(n int, signal syscall.Signal) func(v *victim) error {
		return func(v *victim) error {
			for n := range n {
				if _, err := v.strike(signal); err != nil {
					return fmt.Errorf("round %d: %w", n, err)
				}
			}
			got, err := v.ended()
			if err == nil && len(v.faults(got, want)) > 0 {
				err = errors.New(strings.Join(v.faults(got, want), "; "))
			}
			return err
		}
	}
	for range killHouseholds {
		victims = append(victims, begin(server{}, "killed", strikes(killing().rounds, syscall.SIGKILL)))
	}
	begin(server{}, "stopped", func(v *victim) error { return v.wakes(want) })
	begin(server{Forgetful: true}, "control", func(v *victim) error {
		if err := strikes(1, syscall.SIGKILL)(v); err == nil || !strings.Contains(err.Error(), "canonical hash") {
			return fmt.Errorf("batches without their position are not detected: %w", err)
		}
		return nil
	})
	group.Wait()
	if t.Failed() {
		return
	}
	var resumes []time.Duration
	for _, v := range victims {
		resumes = append(resumes, v.resumes...)
	}
	slices.Sort(resumes)
	// The goal is for a machine without other work, but this one may be busy.
	if median, most := resumes[len(resumes)/2], resumes[len(resumes)-1]; median > 2*resumeGoal || most > 6*resumeGoal {
		t.Errorf("half of the applications were resumed after %v, one after %v only", median, most)
	}
	t.Logf("%d kills; resumed after %v at the median, %v at most, %v at least", len(resumes),
		resumes[len(resumes)/2].Round(time.Millisecond), resumes[len(resumes)-1].Round(time.Millisecond),
		resumes[0].Round(time.Millisecond))
	victims[0].reverts(start)
}

// undisturbed returns the final state of the same application without kills, in batches of the
// usual size.
func undisturbed(t *testing.T, source string) ending {
	t.Helper()
	w := worldOn(t, pgtest.CopyURL(t, source))
	var out ending
	w.in(func(tx pg.Tx) (err error) {
		out.applied, err = w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	out.canonical = w.canonical(w.db)
	if out.applied.Changed == 0 {
		t.Fatal("nothing changes")
	}
	w.db.Close()
	return out
}

// wakes stops the process that runs the job, lets another one finish the job, and then continues
// the first.
func (v *victim) wakes(want ending) error {
	stopped, err := v.strike(syscall.SIGSTOP)
	if stopped != nil {
		defer func() {
			stopped.End() // the test is done with it
		}()
	}
	if err != nil {
		return err
	}
	got, err := v.ended()
	if err != nil {
		return err
	}
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); !strings.Contains(stopped.Said(),
		"outcome=lost"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the process does not notice that it lost the job: %s", stopped.Said())
		}
	}
	if got.canonical, err = ledgertest.Canonical(v.t.Context(), v.db, nil, ""); err != nil {
		return err
	}
	if f := v.faults(got, want); len(f) > 0 {
		return errors.New(strings.Join(f, "; "))
	}
	return nil
}

// reverts reverts the application's only change.
func (v *victim) reverts(start string) {
	v.t.Helper()
	w := worldOn(v.t, v.url)
	began := time.Now()
	w.revert(value[string](w, `select id::text from change where cause = 'rule'`))
	if w.canonical(w.db) != start {
		v.t.Error("reverting the change does not restore the canonical hash")
	}
	v.t.Logf("reverted as a whole in %v", time.Since(began).Round(time.Millisecond))
}
