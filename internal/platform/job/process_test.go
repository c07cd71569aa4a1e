package job_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/job/jobtest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A server is the configuration of a separate process that runs counting jobs until it is stopped
// or killed.
type server struct {
	URL   string
	Quick bool   // notices dead workers sooner
	Stop  string // where its first run stops its own process: "between" batches, or "inside" one
	Dies  bool   // kills itself while it stores the end of a job
	Apart bool   // stores the end in a transaction of its own

	program string // the test binary with a deliberate defect; otherwise this binary
}

// TestMain makes this test binary a server too, so that real processes can be killed.
func TestMain(m *testing.M) { jobtest.Main(m, serve) }

func serve(ctx context.Context, s server) error {
	db, err := pg.Open(ctx, s.URL, pg.Options{MaxConns: 6})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `insert into present (pid) values ($1)`, os.Getpid()); err != nil {
		return err
	}
	j := job.New(db, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if s.Quick {
		j.Quicken(100*time.Millisecond, 2*time.Second)
	}
	j.Add(paced(s.Stop, func(ctx context.Context, n int) error { return allowed(ctx, db, n) }),
		mortal(telling(db, s), nil))
	return j.Run(ctx)
}

// allowed returns when the test allows the job to continue to n.
func allowed(ctx context.Context, db *pg.DB, n int) error {
	for {
		upTo, err := pg.Value[int](ctx, db, `select coalesce(max(n), 0) from allowance`)
		if err == nil && upTo < n {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
				continue
			}
		}
		return err
	}
}

// paced counts slowly, so that a test can stop it between two batches or within one. It counts each
// number only when the test allows it.
func paced(stop string, may func(ctx context.Context, n int) error) job.Kind {
	halt := func(where string, run *job.Run, n int) {
		if stop == where && run.Attempt() == 1 && n == 3 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // returns when someone wakes the process
		}
	}
	k := counting(nil)
	k.Work = func(ctx context.Context, run *job.Run) (any, error) {
		var args countArgs
		at := struct{ N, Sum int }{}
		if err := run.Args(&args); err != nil {
			return nil, err
		}
		if _, err := run.Position(&at); err != nil {
			return nil, err
		}
		for at.N < args.Batches {
			next := at
			next.N++
			next.Sum += next.N
			if err := may(ctx, next.N); err != nil {
				return nil, err
			}
			halt("between", run, next.N)
			time.Sleep(5 * time.Millisecond)
			err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
				_, err := tx.Exec(ctx, `insert into counted (job, n, attempt)
					values ($1, $2, $3)`, run.ID(), next.N, run.Attempt())
				halt("inside", run, next.N)
				time.Sleep(5 * time.Millisecond)
				return job.Step{Position: next, Done: 1, Total: int64(args.Batches)}, err
			})
			if err != nil {
				return nil, err
			}
			at = next
		}
		return map[string]int{"sum": at.Sum}, nil
	}
	return k
}

// unfenced makes batches commit even if another worker has the lease.
var unfenced = apptest.Mutant{
	File: "internal/platform/job/run.go",
	Old:  `where id = @id and lease_number = @number and state = 'running'`,
	New:  `where id = @id and (lease_number = @number or true)`,
}

// merciful does not end the connections of workers that lost their lease, so that only the fence
// protects the data.
var merciful = apptest.Mutant{
	File: "internal/platform/job/lease.go",
	Old:  `func (j *Jobs) endZombies(ctx context.Context) error {`,
	New: `func (j *Jobs) endZombies(ctx context.Context) error {
	return nil`,
}

func (s server) start(t *testing.T) *jobtest.Process {
	t.Helper()
	p, err := jobtest.Start(cmp.Or(s.program, os.Args[0]), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End()
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", p.Process.Pid, p.Said())
		}
	})
	return p
}

func holder(t *testing.T, db *pg.DB, which id.ID) (jobtest.Hold, int) {
	t.Helper()
	h, pid, err := jobtest.Holder(t.Context(), db, which)
	if err != nil {
		t.Fatal(err)
	}
	return h, pid
}

const (
	killHouseholds = 5 // at the same time, each with a database, two replicas and a job
	killRounds     = 6
	killBatches    = 400
	resumeGoal     = 10 * time.Second
)

// A process is killed with -9 thirty times, at random moments of a job, while another replica is
// alive. Every job must continue within ten seconds, with the same result as without a kill.
func TestKilledWorkersJobsResume(t *testing.T) {
	t.Parallel()
	want := undisturbed(t)
	lag := lagging(t)
	var all []*victim
	for range killHouseholds {
		all = append(all, newVictim(t))
	}
	var resumes []time.Duration
	for round := range killRounds {
		for _, v := range all {
			v.allow(t, (round+1)*killBatches/(killRounds+1)) // not to the end, even if other kills take long
			v.kill(t)
		}
		for _, v := range all {
			v.allow(t, (round+1)*killBatches/(killRounds+1)+1) // a job that waits for permission continues too
			resumes = append(resumes, v.resumed(t))
		}
	}
	for _, v := range all {
		v.allow(t, killBatches)
		got := ended(t, v.jobs, v.job.ID, job.Succeeded)
		if string(got.Result) != want || got.Progress.Done != killBatches {
			t.Errorf("ended with %s after %d; undisturbed it is %s", got.Result, got.Progress.Done, want)
		}
		checkCounted(t, v.db, v.job.ID, killBatches)
	}
	slices.Sort(resumes)
	if most, bound := resumes[len(resumes)-1], resumeGoal+10*lag(); most > bound {
		t.Errorf("a job was resumed after %v only, and the machine was slow by %v at most", most, lag())
	}
	t.Logf("%d kills; resumed after %v at the median, %v at most, %v at least", len(resumes),
		resumes[len(resumes)/2].Round(time.Millisecond), resumes[len(resumes)-1].Round(time.Millisecond),
		resumes[0].Round(time.Millisecond))
}

// lagging measures how much longer than planned a pause and a statement take on this machine.
// longest returns the maximum so far.
func lagging(t *testing.T) (longest func() time.Duration) {
	t.Helper()
	db := pgtest.New(t)
	var most atomic.Int64
	done := make(chan struct{})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		const moment = 50 * time.Millisecond
		for ctx.Err() == nil {
			began := time.Now()
			time.Sleep(moment)
			_, _ = pg.Value[int](ctx, db, `select 1`) // canceled at the end of the test
			most.Store(max(most.Load(), int64(time.Since(began)-moment)))
		}
	}()
	return func() time.Duration { return time.Duration(most.Load()) }
}

// undisturbed returns the result of the same job without kills.
func undisturbed(t *testing.T) string {
	t.Helper()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, paced("", func(context.Context, int) error { return nil }))
	made := enqueue(t, j, db, "count", countArgs{killBatches}, job.Options{})
	start(t, j)
	got := ended(t, j, made.ID, job.Succeeded)
	checkCounted(t, db, made.ID, killBatches)
	return string(got.Result)
}

// A victim is a household whose servers are killed.
type victim struct {
	url    string
	db     *pg.DB
	jobs   *job.Jobs // enqueues jobs but runs none
	job    job.Job
	alive  map[int]*jobtest.Process
	last   jobtest.Hold
	killed time.Time
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{url: pgtest.URL(t), alive: map[int]*jobtest.Process{}}
	var err error
	if v.db, err = pg.Open(t.Context(), v.url, pg.Options{MaxConns: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.db.Close)
	countedTable(t, v.db)
	v.jobs = newJobs(t, v.db, counting(nil))
	v.more(t)
	v.more(t)
	v.job = enqueue(t, v.jobs, v.db, "count", countArgs{killBatches}, job.Options{})
	return v
}

func (v *victim) more(t *testing.T) {
	t.Helper()
	p := server{URL: v.url}.start(t)
	v.alive[p.Process.Pid] = p
}

// allow allows the job to continue to n.
func (v *victim) allow(t *testing.T, n int) {
	t.Helper()
	if _, err := v.db.Exec(t.Context(), `insert into allowance (n) values ($1)`, n); err != nil {
		t.Fatal(err)
	}
}

// kill waits until another process is alive, kills the process that runs the job, and starts a new
// one.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	pids := slices.Collect(maps.Keys(v.alive))
	await(t, "both processes serve", func() bool {
		there, err := pg.Value[int](t.Context(), v.db, `select count(*) from present where pid = any($1)`, pids)
		return err == nil && there == len(pids)
	})
	await(t, "the job moves", func() bool {
		now, pid := holder(t, v.db, v.job.ID)
		if now.State == job.Succeeded {
			t.Fatal("the job ended before it could be killed often enough")
		}
		return now.State == job.Running && now.Done > v.last.Done && v.alive[pid] != nil
	})
	time.Sleep(rand.N(100 * time.Millisecond)) // at any moment, without synchronization
	var pid int
	v.last, pid = holder(t, v.db, v.job.ID)
	v.killed = time.Now()
	if err := v.alive[pid].Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = v.alive[pid].Wait() // its error is the signal
	delete(v.alive, pid)
	v.more(t)
}

// resumed returns the time from the kill to the first batch that another worker committed. The rows
// of the batches contain their times.
func (v *victim) resumed(t *testing.T) time.Duration {
	t.Helper()
	var first *pg.Time
	await(t, "another worker goes on", func() bool {
		var err error
		first, err = pg.Value[*pg.Time](t.Context(), v.db, `select min(at) from counted
			where job = $1 and attempt > $2`, v.job.ID, v.last.Attempt)
		return err == nil && first != nil
	})
	return first.Time().Sub(v.killed)
}

// A process that is stopped while it runs a job loses the job. When it continues it must not commit
// anything, at whatever point it was stopped. The comparison shows that without the fence it would.
func TestWokenWorkerCommitsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop          string
		first, second []apptest.Mutant
		doubled       bool
	}{
		"inside a batch":                      {"inside", nil, nil, false},
		"inside a batch, with only the fence": {"inside", nil, []apptest.Mutant{merciful}, false},
		"between batches":                     {"between", nil, nil, false},
		"control without the fence":           {"inside", []apptest.Mutant{unfenced}, []apptest.Mutant{merciful}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := server{Stop: c.stop, program: mutated(t, c.first)}
			second := server{program: mutated(t, c.second)}
			// A woken worker may notice the loss before it commits, so the comparison repeats until
			// the missing fence shows.
			for tries := 1; ; tries++ {
				doubled := woken(t, first, second)
				if doubled == c.doubled {
					return
				}
				if !c.doubled || tries == 10 {
					t.Fatalf("doubled is %v, want %v", doubled, c.doubled)
				}
			}
		})
	}
}

// mutated builds this test binary with the deliberate defects, if there are any.
func mutated(t *testing.T, mutants []apptest.Mutant) string {
	t.Helper()
	if len(mutants) == 0 {
		return ""
	}
	return apptest.TestProgram(t, "coffer/internal/platform/job", mutants...)
}

// woken stops the first process while it runs a job, lets the second process finish the job, wakes
// the first process, and reports whether a batch was committed twice.
func woken(t *testing.T, first, second server) bool {
	t.Helper()
	const batches = 60
	url := pgtest.URL(t)
	db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	countedTable(t, db)
	if _, err := db.Exec(t.Context(), `insert into allowance (n) values ($1)`, batches); err != nil {
		t.Fatal(err)
	}
	j := newJobs(t, db, counting(nil))
	made := enqueue(t, j, db, "count", countArgs{batches}, job.Options{})
	first.URL, second.URL, first.Quick, second.Quick = url, url, true, true
	stopped := first.start(t)
	await(t, "the first process stops itself", func() bool { return stateOf(t, stopped) == "T" })
	if h, pid := holder(t, db, made.ID); pid != stopped.Process.Pid || h.Done != 2 {
		t.Fatalf("it stopped elsewhere: %+v", h)
	}
	second.start(t)
	ended(t, j, made.ID, job.Succeeded)
	checkCounted(t, db, made.ID, batches)
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, "the woken process reports what became of its run",
		func() bool { return strings.Contains(stopped.Said(), "msg=job ") })
	rows, distinct := counted(t, db, made.ID)
	if distinct != batches {
		t.Errorf("%d different batches, want %d", distinct, batches)
	}
	if first.program == "" && !strings.Contains(stopped.Said(), "outcome=lost") {
		t.Errorf("it does not know that it lost the job: %s", stopped.Said())
	}
	return rows != distinct
}

// stateOf returns the system's letter for the state of a process; T means stopped.
func stateOf(t *testing.T, p *jobtest.Process) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}
