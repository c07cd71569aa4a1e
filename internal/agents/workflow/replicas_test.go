package workflow_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/job/jobtest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A server is the configuration of a separate process that starts workflows and executes their
// runs.
type server struct {
	URL string

	program string // the test binary with deliberate defects; otherwise this binary
}

// TestMain also makes this test binary a server.
func TestMain(m *testing.M) { jobtest.Main(m, serve) }

func serve(ctx context.Context, s server) error {
	db, err := pg.Open(ctx, s.URL, pg.Options{MaxConns: 8})
	if err != nil {
		return err
	}
	defer db.Close()
	w := workflow.Replica(db, slog.New(slog.NewTextHandler(os.Stderr, nil)), func() time.Duration {
		return 20*time.Millisecond + rand.N(200*time.Millisecond)
	})
	w.Settle(50 * time.Millisecond)
	return w.Jobs().Run(ctx, w.Tasks()...)
}

func (s server) start(t *testing.T) *jobtest.Process {
	t.Helper()
	p, err := jobtest.Start(cmp.Or(s.program, os.Args[0]), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.End)
	return p
}

// bare removes two protections: skipping a workflow that another server has locked, and looking for
// a current run. Only the unique index is left.
var bare = []apptest.Mutant{
	{File: "internal/agents/workflow/trigger.go", Old: ` for update of w skip locked`, New: ``},
	{
		File: "internal/agents/workflow/trigger.go", Old: `const free = ` + "`" + `w.enabled and w.due_at is not null and not`,
		New: `const free = ` + "`" + `w.enabled and w.due_at is not null or false and not`,
	},
	{File: "internal/agents/workflow/run.go", Old: `if len(live) > 0 {`, New: `if len(live) > 1000 {`},
}

// Two servers start workflows by schedules and after syncs, while people start them too. Each due
// schedule starts one run, a run follows the last sync, and a workflow never has two runs at once.
// The comparison shows that the unique index alone ensures the last rule, and that it fails without
// the index and the locks.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	length := time.Minute // long enough that a new minute begins
	if os.Getenv("COFFER_TEST_LONG") != "" {
		length = 10 * time.Minute
	}
	t.Run("as they are", func(t *testing.T) {
		t.Parallel()
		h := newHousehold(t)
		if err := h.live(length, ""); err != nil {
			t.Fatal(err)
		}
		if err := h.doubled(); err != nil {
			t.Error(err)
		}
		if err := h.once(); err != nil {
			t.Error(err)
		}
	})
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		program := apptest.TestProgram(t, "coffer/internal/agents/workflow", bare...)
		h := newHousehold(t)
		if err := h.live(5*time.Second, program); err != nil {
			t.Fatal(err)
		}
		if err := h.doubled(); err != nil {
			t.Errorf("with the index alone: %v", err)
		}
		h = newHousehold(t)
		h.exec(`drop index workflow_run_live`)
		if err := h.live(5*time.Second, program); err != nil {
			t.Fatal(err)
		}
		if h.doubled() == nil {
			t.Error("without the index no workflow had two runs at once, so the test proves nothing")
		}
	})
}

// A household is the database of two servers, and a count of the requests.
type household struct {
	*workflow.Workflows
	t         *testing.T
	url       string
	db        *pg.DB
	enabledAt time.Time
	fired     map[string]int // how often each schedule was made due
	syncs     int
	manual    map[id.ID]bool
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	h := &household{t: t, url: pgtest.URL(t), fired: map[string]int{}, manual: map[id.ID]bool{}}
	var err error
	if h.db, err = pg.Open(t.Context(), h.url, pg.Options{MaxConns: 4}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.db.Close)
	h.Workflows = workflow.Replica(h.db, nil, func() time.Duration { return 0 })
	h.exec(`create table worked (run uuid, workflow uuid, began timestamptz, ended timestamptz)`)
	h.exec(`insert into model_setting (provider, base_url) values ('openai_compatible', 'http://127.0.0.1:1')
		on conflict (provider) do update set base_url = excluded.base_url`)
	for slug, schedule := range map[string]string{
		"yearly-1": "0 0 1 1 *", "yearly-2": "0 0 1 1 *", "yearly-3": "0 0 1 1 *", "minutely": "* * * * *",
		"follows-1": "", "follows-2": "",
	} {
		made, trigger := id.New(), workflow.AfterSync
		if schedule != "" {
			trigger = workflow.Schedule
		}
		h.exec(`insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger, schedule, provider,
				model, dry_run)
			values ($1, $2, $3, $3, '', 'p', 'read_only', $4, nullif($5, ''), 'openai_compatible', 'm', false)`,
			made, made.Short(), slug, trigger, schedule)
		err := h.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := h.Enable(t.Context(), tx, workflow.Ref{Slug: slug})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	h.enabledAt = time.Now()
	return h
}

func (h *household) exec(sql string, args ...any) int64 {
	h.t.Helper()
	n, err := pg.Exec(h.t.Context(), h.db, sql, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *household) number(sql string, args ...any) int {
	h.t.Helper()
	n, err := pg.Value[int](h.t.Context(), h.db, sql, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// live runs two servers for that long and makes requests. It returns when all work is done.
func (h *household) live(length time.Duration, program string) error {
	h.t.Helper()
	processes := []*jobtest.Process{
		server{URL: h.url, program: program}.start(h.t), server{URL: h.url, program: program}.start(h.t),
	}
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(rand.N(60 * time.Millisecond)) {
		h.ask()
	}
	deadline := time.Now().Add(5 * time.Minute)
	for h.number(`select (select count(*) from job where state in ('queued', 'running'))
		+ (select count(*) from workflow where due_at < now() + interval '1 second')`) > 0 {
		if time.Now().After(deadline) {
			return fmt.Errorf("not quiet in time; the servers said\n%s\n%s", processes[0].Said(),
				processes[1].Said())
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, p := range processes {
		p.End()
		if said := p.Said(); program == "" && strings.Contains(said, "level=ERROR") {
			return fmt.Errorf("a server failed: %s", said)
		}
	}
	return nil
}

// ask makes a schedule due, lets a sync end, or runs a workflow as a person does.
func (h *household) ask() {
	h.t.Helper()
	ctx := h.t.Context()
	switch slug := fmt.Sprintf("yearly-%d", 1+rand.IntN(3)); rand.IntN(4) {
	case 0, 1:
		h.fired[slug] += int(h.exec(`update workflow set due_at = clock_timestamp()
			where slug = $1 and due_at > now() + interval '10 hours'`, slug))
	case 2:
		err := h.db.InTx(ctx, func(tx pg.Tx) error {
			_, err := h.Jobs().Enqueue(ctx, tx, "test.sync", true, job.Options{})
			return err
		})
		if err != nil {
			h.t.Fatal(err)
		}
		h.syncs++
	case 3:
		if rand.IntN(2) == 0 {
			slug = fmt.Sprintf("follows-%d", 1+rand.IntN(2))
		}
		var run workflow.Run
		err := h.db.InTx(ctx, func(tx pg.Tx) (err error) {
			run, err = h.Run(ctx, tx, workflow.Ref{Slug: slug})
			return err
		})
		if err != nil {
			h.t.Fatal(err)
		}
		if run.Trigger == workflow.Manual {
			h.manual[run.ID] = true
		}
	}
}

// doubled returns an error if a workflow had two runs at the same time.
func (h *household) doubled() error {
	h.t.Helper()
	if n := h.number(`select count(*) from worked a join worked b on a.workflow = b.workflow and a.ctid < b.ctid
		and a.began < coalesce(b.ended, 'infinity') and b.began < coalesce(a.ended, 'infinity')`); n > 0 {
		return fmt.Errorf("%d pairs of runs of one workflow at the same time", n)
	}
	return nil
}

// once returns an error if a due schedule started no run, or more than one.
func (h *household) once() error {
	h.t.Helper()
	total := 0
	for slug, want := range h.fired {
		total += want
		got := h.number(`select count(*) from workflow_run where workflow_slug = $1 and trigger = 'schedule'`, slug)
		if got != want {
			return fmt.Errorf("%s was due %d times and started %d times", slug, want, got)
		}
	}
	if n := h.number(`select count(*) from workflow_run where status <> 'succeeded'`); n > 0 {
		return fmt.Errorf("%d runs did not succeed", n)
	}
	if got := h.number(`select count(*) from workflow_run where trigger = 'manual'`); got != len(h.manual) {
		return fmt.Errorf("people started %d runs, and there are %d", len(h.manual), got)
	}
	minutes := h.number(`select (date_part('epoch', date_trunc('minute', clock_timestamp() - interval '2 seconds'))
		- date_part('epoch', date_trunc('minute', $1::timestamptz)))::int / 60`, pg.At(h.enabledAt))
	if got := h.number(`select count(*) from workflow_run where workflow_slug = 'minutely'`); got < minutes ||
		got > minutes+1 {
		return fmt.Errorf("%d minutes began, and %d runs of the workflow of each minute", minutes, got)
	}
	followed := 0
	for _, slug := range []string{"follows-1", "follows-2"} {
		got := h.number(`select count(*) from workflow_run where workflow_slug = $1 and trigger = 'after_sync'`, slug)
		late := h.number(`select count(*) from worked join workflow_run r on r.id = worked.run
			where r.workflow_slug = $1 and r.trigger = 'after_sync'
				and worked.began >= (select max(started_at) from job where kind = 'test.sync')`, slug)
		if got > h.syncs || late == 0 {
			return fmt.Errorf("%s ran %d times after %d syncs, %d times after the last", slug, got, h.syncs, late)
		}
		followed += got
	}
	if total == 0 || h.syncs == 0 || len(h.manual) == 0 {
		return fmt.Errorf("%d firings, %d syncs, %d manual runs, so the test proves nothing", total, h.syncs, len(h.manual))
	}
	h.t.Logf("%d firings of schedules, %d minutes, %d syncs with %d runs after them, %d manual runs: each once", total,
		minutes, h.syncs, followed, len(h.manual))
	return nil
}
