package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/report"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/schedule"
	"coffer/internal/settings"
)

// replica is the Workflows of one server. Their runs do nothing for a while, then succeed.
func replica(db *pg.DB, log *slog.Logger, lasts func() time.Duration) *Workflows {
	f := category.New(ledger.CategoryUser{})
	books, jobs := ledger.New(db, f), job.New(db, log)
	j := journal.New(journal.Config{DB: db, Subjects: append(f.Subjects(), books.Subjects()...)})
	w := New(Config{
		DB: db, Jobs: jobs, Books: books, Settings: settings.New(settings.Config{DB: db}),
		Undo: journal.NewUndo(j, jobs), Reports: report.New(), Menu: func() []*op.Op { return nil },
	})
	jobs.Add(w.Kind(func(ctx context.Context, run *job.Run) (any, error) {
		_, err := pg.Exec(ctx, db, `insert into worked (run, workflow, began)
			select id, workflow_id, clock_timestamp() from workflow_run where id = $1`, run.ID())
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lasts()):
		}
		return nil, run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
			_, err := pg.Exec(ctx, tx, `update worked set ended = clock_timestamp() where run = $1`, run.ID())
			if err != nil {
				return job.Step{}, err
			}
			return job.Step{Done: 1}, w.end(ctx, tx, run.ID(), Succeeded, "", "")
		})
	}), job.Kind{Name: "test.sync", Unit: "pages", Work: func(ctx context.Context, run *job.Run) (any, error) {
		var changed bool
		if err := run.Args(&changed); err != nil {
			return nil, err
		}
		return nil, w.AfterSync(ctx, run, changed)
	}})
	return w
}

// A house is a household with a model, and with workflows that start by themselves.
type house struct {
	*Workflows
	t *testing.T
}

func newHouse(t *testing.T, db *pg.DB) house {
	t.Helper()
	h := house{replica(db, slog.New(slog.DiscardHandler), func() time.Duration { return 0 }), t}
	h.exec(`create table worked (run uuid, workflow uuid, began timestamptz, ended timestamptz)`)
	h.exec(`insert into model_setting (provider, base_url) values ('openai_compatible', 'http://127.0.0.1:1')
		on conflict (provider) do update set base_url = excluded.base_url`)
	return h
}

func (h house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := pg.Exec(h.t.Context(), h.db, sql, args...); err != nil {
		h.t.Fatal(err)
	}
}

func (h house) number(sql string, args ...any) int {
	h.t.Helper()
	n, err := pg.Value[int](h.t.Context(), h.db, sql, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// add creates an enabled workflow. If it has a schedule, it is due accordingly.
func (h house) add(slug, trigger, schedule string) id.ID {
	h.t.Helper()
	made := id.New()
	h.exec(`insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger, schedule, provider,
			model, enabled, dry_run)
		values ($1, $2, $3, $3, '', 'p', 'read_only', $4, nullif($5, ''), 'openai_compatible', 'm', false, false)`,
		made, made.Short(), slug, trigger, schedule)
	if _, err := h.enabled(slug, true); err != nil {
		h.t.Fatal(err)
	}
	return made
}

func (h house) enabled(slug string, on bool) (out Workflow, err error) {
	h.t.Helper()
	err = h.db.InTx(h.t.Context(), func(tx pg.Tx) (err error) {
		out, err = h.enable(h.t.Context(), tx, Ref{Slug: slug}, on)
		return err
	})
	return out, err
}

func (h house) look() {
	h.t.Helper()
	if err := h.startDue(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h house) next() time.Duration {
	h.t.Helper()
	left, err := nextDue(h.t.Context(), h.db)
	if err != nil {
		h.t.Fatal(err)
	}
	return left
}

// ends ends all runs, as the ends of their jobs would.
func (h house) ends() {
	h.t.Helper()
	err := h.db.InTx(h.t.Context(), func(tx pg.Tx) error {
		live, err := pg.Values[id.ID](h.t.Context(), tx, `select id from workflow_run where finished_at is null`)
		for _, run := range live {
			if _, err := h.jobs.Stop(h.t.Context(), tx, run); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h house) runs(slug string) int {
	h.t.Helper()
	return h.number(`select count(*) from workflow_run where workflow_slug = $1`, slug)
}

// A schedule starts one run, even if it was missed many times. A workflow with a current run stays
// due until that run has ended.
func TestScheduleStartsRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	if left := h.next(); left != schedule.Never {
		t.Errorf("without workflows the next is due in %v", left)
	}
	h.add("hourly", Schedule, "0 * * * *")
	if left := h.next(); left <= 0 || left > time.Hour {
		t.Errorf("the next is due in %v", left)
	}
	if h.look(); h.runs("hourly") != 0 {
		t.Error("it started before it was due")
	}
	h.exec(`update workflow set due_at = now() - interval '3 days'`) // as if no server had run
	if left := h.next(); left > 0 {
		t.Errorf("what was missed is due in %v", left)
	}
	h.look()
	h.look()
	if n := h.runs("hourly"); n != 1 {
		t.Errorf("%d runs after three days without a server", n)
	}
	future := h.number(`select count(*) from workflow where due_at > now() and due_at <= now() + interval '1 hour'
		and date_part('minute', due_at) = 0`)
	if future != 1 {
		t.Error("the next time is not the next full hour")
	}
	h.exec(`update workflow set due_at = now()`)
	if left := h.next(); left != schedule.Never {
		t.Errorf("while a run is under way the next is due in %v", left)
	}
	if h.look(); h.runs("hourly") != 1 {
		t.Error("two runs at once")
	}
	h.ends()
	if left := h.next(); left > 0 {
		t.Errorf("after the run it is due in %v", left)
	}
	if h.look(); h.runs("hourly") != 2 {
		t.Errorf("%d runs", h.runs("hourly"))
	}
	h.ends()
	if _, err := h.enabled("hourly", false); err != nil {
		t.Fatal(err)
	}
	h.exec(`update workflow set due_at = now()`)
	if h.look(); h.runs("hourly") != 2 || h.next() != schedule.Never {
		t.Error("a disabled workflow starts")
	}
	who, err := pg.Value[string](t.Context(), h.db, `select distinct asked_type || trigger from workflow_run`)
	if err != nil || who != "systemschedule" {
		t.Errorf("asked by %s (%v)", who, err)
	}
}

// In quiet hours no workflow starts by itself, but a person can start one. Workflows that became
// due start at the end of the quiet hours.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	h.add("hourly", Schedule, "0 * * * *")
	h.exec(`update workflow set due_at = now()`)
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"} {
		for _, hours := range []struct {
			from, until int // minutes from now
			quiet       bool
		}{{-60, 60, true}, {0, 5, true}, {-5, 0, false}, {60, -60, false}, {-60, 23 * 60, true}, {5, 10, false}} {
			h.exec(`update setting set time_zone = $1,
				quiet_from = to_char(now() at time zone $1 + make_interval(mins => $2), 'HH24:MI'),
				quiet_until = to_char(now() at time zone $1 + make_interval(mins => $3), 'HH24:MI')`, zone, hours.from,
				hours.until)
			left := h.next()
			if until := time.Duration((hours.until+24*60)%(24*60)) * time.Minute; hours.quiet &&
				(left < until-2*time.Minute || left > until) || !hours.quiet && left > 0 {
				t.Errorf("%s, quiet from %d to %d minutes: due in %v", zone, hours.from, hours.until, left)
			}
			before := h.runs("hourly")
			h.look()
			if started := h.runs("hourly") > before; started == hours.quiet {
				t.Errorf("%s, quiet from %d to %d minutes: started is %v", zone, hours.from, hours.until, started)
			}
			if hours.quiet {
				err := h.db.InTx(t.Context(), func(tx pg.Tx) error {
					_, err := h.Run(t.Context(), tx, Ref{Slug: "hourly"})
					return err
				})
				if err != nil || h.runs("hourly") != before+1 {
					t.Errorf("a person is held back too: %v", err)
				}
			}
			h.ends()
			h.exec(`update workflow set due_at = now()`)
		}
	}
}

// A sync with changes makes those workflows due that follow syncs, once for all changes within two
// minutes. A sync without changes does not.
func TestAfterSyncMakesDue(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	h.add("follows", AfterSync, "")
	h.add("hourly", Schedule, "0 * * * *")
	h.exec(`update workflow set due_at = now() + interval '1 day' where slug = 'hourly'`)
	h.exec(`insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger)
		values (gen_random_uuid(), 'x', 'off', 'off', '', 'p', 'read_only', 'after_sync')`)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.jobs.Run(ctx) }()
	defer func() { stop(); <-ended }()
	sync := func(changed bool) {
		var made job.Job
		err := h.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			made, err = h.jobs.Enqueue(t.Context(), tx, "test.sync", changed, job.Options{})
			return err
		})
		if err == nil {
			made, err = h.jobs.Wait(t.Context(), made.ID, time.Minute)
		}
		if err != nil || made.State != job.Succeeded {
			t.Fatalf("%+v %v", made, err)
		}
	}
	if sync(false); h.number(`select count(*) from workflow where trigger = 'after_sync' and due_at is not null`) != 0 {
		t.Error("due after a sync without changes")
	}
	sync(true)
	first, err := pg.Value[*pg.Time](t.Context(), h.db, `select due_at from workflow where slug = 'follows'`)
	if err != nil || first == nil {
		t.Fatalf("not due after a sync: %v", err)
	}
	if left := h.next(); left > settled || left < settled-30*time.Second {
		t.Errorf("due in %v", left)
	}
	sync(true)
	again, err := pg.Value[*pg.Time](t.Context(), h.db, `select due_at from workflow where slug = 'follows'`)
	if err != nil || again == nil || *again != *first {
		t.Errorf("a second sync moved it from %v to %v (%v)", first, again, err)
	}
	if n := h.number(`select count(*) from workflow where slug = 'off' and due_at is not null`); n != 0 {
		t.Error("a disabled one is due")
	}
	h.exec(`update workflow set due_at = now() where slug = 'follows'`)
	h.look()
	if n := h.number(`select count(*) from workflow where slug = 'follows' and due_at is null`); n != 1 ||
		h.runs("follows") != 1 {
		t.Errorf("%d runs, not due again: %d", h.runs("follows"), n)
	}
}

// When the household's time zone changes, schedules without their own zone follow it at once; a
// workflow that is already due stays due.
func TestSchedulesFollowTheTimeZone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	h.exec(`update setting set time_zone = 'Europe/Berlin'`)
	for slug, schedule := range map[string]string{
		"ours": "30 7 * * *", "fixed": "TZ=Asia/Tokyo 30 7 * * *", "waiting": "30 7 * * *", "off": "30 7 * * *",
	} {
		h.add(slug, Schedule, schedule)
	}
	h.exec(`update workflow set due_at = now() - interval '1 hour' where slug = 'waiting'`)
	if _, err := h.enabled("off", false); err != nil {
		t.Fatal(err)
	}
	clock := func(slug, zone string) string {
		at, err := pg.Value[string](t.Context(), h.db, `select coalesce(to_char(due_at at time zone $2, 'HH24:MI')
			|| case when due_at > now() then ' ahead' else ' past' end, 'none') from workflow where slug = $1`, slug, zone)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	was := clock("waiting", "UTC")
	store := settings.New(settings.Config{DB: h.db, Rezoned: h.Rezone})
	move := func(zone string) error {
		return h.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := store.Patch(t.Context(), tx, settings.PatchHousehold{TimeZone: &zone})
			return err
		})
	}
	if err := move("America/New_York"); err != nil {
		t.Fatal(err)
	}
	if got := clock("ours", "America/New_York"); got != "07:30 ahead" {
		t.Errorf("in the new zone it is due at %s", got)
	}
	if got := clock("fixed", "Asia/Tokyo"); got != "07:30 ahead" {
		t.Errorf("one with a zone of its own is due at %s", got)
	}
	if got := clock("waiting", "UTC"); got != was {
		t.Errorf("one that is due was moved from %s to %s", was, got)
	}
	if got := clock("off", "UTC"); got != "none" {
		t.Errorf("a disabled one is due at %s", got)
	}
}

// A run that cannot be started leaves a record with the reason, once a day. Other workflows still
// start.
func TestRefusedRunsAreRecorded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	h.add("broken", Schedule, "0 * * * *")
	h.add("fine", Schedule, "0 * * * *")
	h.exec(`update workflow set provider = 'anthropic' where slug = 'broken'`)
	for range 2 {
		h.exec(`update workflow set due_at = now() - interval '1 minute' where slug = 'broken'`)
		h.exec(`update workflow set due_at = now() where slug = 'fine'`)
		h.look()
		if h.number(`select count(*) from workflow where slug = 'broken' and due_at > now()`) != 1 {
			t.Error("it stays due")
		}
	}
	if h.runs("fine") != 1 || h.runs("broken") != 1 {
		t.Errorf("%d runs, %d refused", h.runs("fine"), h.runs("broken"))
	}
	why, err := pg.Value[string](t.Context(), h.db, `select status || ' ' || error_code || ' ' || error_message
		from workflow_run where workflow_slug = 'broken'`)
	want := "failed PROVIDER_NOT_CONFIGURED the model provider anthropic is not configured; use coffer model set"
	if err != nil || !strings.HasPrefix(why, want) {
		t.Errorf("%s (%v)", why, err)
	}
}

// Twenty enabled workflows cost an idle server one short query per check. The query reads the index
// of due workflows.
func TestIdleWorkflowsCostOneQuery(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pgtest.New(t))
	for i := range 20 {
		h.add(fmt.Sprintf("w%d", i), Schedule, "0 0 1 1 *")
	}
	asked := 0
	clock := schedule.New(h.db, slog.New(slog.DiscardHandler))
	task := h.Tasks()[0]
	next := task.Next
	task.Next = func(ctx context.Context, q pg.Querier) (time.Duration, error) {
		asked++
		return next(ctx, q)
	}
	task.Do = func(context.Context) error {
		t.Error("there was nothing to do")
		return nil
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	clock.Run(ctx, task)
	if asked != 1 || clock.Fallback < 15*time.Second {
		t.Errorf("asked %d times in 5 seconds, then every %v", asked, clock.Fallback)
	}
}
