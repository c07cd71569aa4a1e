package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// task is the name of the clock's task for due workflows. The trigger on the table notifies with
// the same name.
const task = "workflow"

// settled is how long a workflow waits after a sync, so that one run can cover several accounts.
const settled = 2 * time.Minute

// refusedOnce is how long a failed start with the same reason is not recorded again.
const refusedOnce = 24 * time.Hour

// Tasks returns the timed work of workflows.
func (w *Workflows) Tasks() []schedule.Task {
	return []schedule.Task{{Name: task, Next: nextDue, Do: w.startDue, Fault: "due workflows not started"}}
}

// silence is SQL for a table of one row, q, with the end of the household's quiet hours. q.until is
// null outside the quiet hours.
const silence = `setting s
	cross join lateral (select clock_timestamp() at time zone s.time_zone as at,
		to_char(clock_timestamp() at time zone s.time_zone, 'HH24:MI') as clock) l
	cross join lateral (select case
		when case when s.quiet_from < s.quiet_until then l.clock >= s.quiet_from and l.clock < s.quiet_until
			else l.clock >= s.quiet_from or l.clock < s.quiet_until end
		then (date_trunc('day', l.at) + s.quiet_until::time
			+ case when s.quiet_until <= l.clock then interval '1 day' else interval '0' end)
			at time zone s.time_zone end as until) q`

// free selects the workflows with an automatic start that have no queued or running run. A workflow
// with one stays due until the run has ended.
const free = `w.enabled and w.due_at is not null and not exists (select from workflow_run r
	where r.workflow_id = w.id and r.status in ('queued', 'running') and r.trigger <> 'eval')`

// nextDue returns how long it is until a workflow starts by itself.
func nextDue(ctx context.Context, q pg.Querier) (time.Duration, error) {
	ms, err := pg.Value[*int64](ctx, q, `
		select ceil(extract(epoch from greatest((select min(w.due_at) from workflow w where `+free+`), q.until)
			- clock_timestamp()) * 1000)::bigint
		from `+silence+` where exists (select from workflow w where `+free+`)`)
	if errors.Is(err, pg.ErrNoRow) {
		return schedule.Never, nil
	}
	return schedule.In(ms), err
}

// startDue queues a run of each workflow that is due. A workflow that cannot be started does not
// keep others from their runs.
func (w *Workflows) startDue(ctx context.Context) error {
	var faults error
	broken := []id.ID{}
	for {
		found, err := w.startNext(ctx, broken)
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("start workflow: %w", err))
			broken = append(broken, found)
		}
		if found.IsZero() {
			return faults
		}
	}
}

// startNext queues a run of the workflow that has been due longest, and plans its next start. Other
// servers skip this workflow meanwhile. If starts were missed while no server ran, it starts once.
func (w *Workflows) startNext(ctx context.Context, broken []id.ID) (found id.ID, err error) {
	type row struct {
		ID       id.ID   `db:"id"`
		Trigger  string  `db:"trigger"`
		Schedule *string `db:"schedule"`
		Now      pg.Time `db:"now"`
	}
	err = w.db.InTx(ctx, func(tx pg.Tx) error {
		found = id.ID{}
		next, err := pg.One[row](ctx, tx, `
			select w.id, w.trigger, w.schedule, clock_timestamp() as now from workflow w, `+silence+`
			where w.due_at <= clock_timestamp() and q.until is null and w.id <> all($1) and `+free+`
			order by w.due_at, w.id limit 1 for update of w skip locked`, broken)
		if errors.Is(err, pg.ErrNoRow) {
			return nil
		}
		if err != nil {
			return err
		}
		found = next.ID
		var at *pg.Time
		if next.Schedule != nil { // by the database's clock; by another one it might be due again at once
			s, err := parseSchedule(ctx, tx, *next.Schedule)
			if err != nil {
				return err
			}
			at = new(pg.At(s.Next(next.Now.Time())))
		}
		var joined bool
		refused := pg.Savepoint(ctx, tx, func(tx pg.Tx) (err error) {
			_, joined, err = w.queue(ctx, tx, found, next.Trigger)
			return err
		})
		if refused == nil && joined { // somebody just started a run; the workflow stays due until that run has ended
			return nil
		}
		if _, err := pg.Exec(ctx, tx, `update workflow set due_at = $2 where id = $1`, found, at); err != nil {
			return err
		}
		if _, ok := errors.AsType[*errs.Error](refused); ok {
			return w.refused(ctx, tx, found, next.Trigger, errs.Public(refused, ""))
		}
		return refused
	})
	return found, err
}

// refused records a run that could not be started. Without the record nobody would see the error.
func (w *Workflows) refused(ctx context.Context, tx pg.Tx, workflow id.ID, trigger string, why *errs.Error) error {
	recorded, err := pg.Value[bool](ctx, tx, `
		select exists (select from (select * from workflow_run where workflow_id = $1 order by id desc limit 1) r
			where r.status = 'failed' and r.turns = 0 and r.error_code = $2
				and r.created_at > now() - make_interval(secs => $3))`, workflow, string(why.Code), refusedOnce.Seconds())
	if err != nil || recorded {
		return err
	}
	d, err := w.byID(ctx, tx, workflow)
	if err != nil {
		return err
	}
	run, err := w.insertRun(ctx, tx, workflow, trigger, Definition{
		Slug: d.Slug, Name: d.Name, Version: d.Version, Prompt: d.Prompt, Tools: d.Tools, Scope: d.Scope,
		MaxTurns: d.MaxTurns, MaxWrites: d.MaxWrites, MaxMinutes: d.MaxMinutes, DryRun: d.DryRun,
		MakesRules: d.MakesRules, Worklist: d.Worklist, Report: d.Report,
	}, true) // it has cost nothing
	if err != nil {
		return err
	}
	return w.end(ctx, tx, run, Failed, why.Code, why.Message)
}

// Rezone computes the next start of every workflow with a schedule again, in the transaction that
// changes the household's time zone. A workflow that is already due stays due.
func (w *Workflows) Rezone(ctx context.Context, tx pg.Tx) error {
	type row struct {
		ID       id.ID   `db:"id"`
		Schedule string  `db:"schedule"`
		Now      pg.Time `db:"now"`
	}
	timed, err := pg.All[row](ctx, tx, `
		select id, schedule, clock_timestamp() as now from workflow
		where enabled and trigger = 'schedule' and due_at > clock_timestamp() order by id for update`)
	if err != nil || len(timed) == 0 {
		return err
	}
	ids, times := make([]id.ID, len(timed)), make([]time.Time, len(timed))
	for i, t := range timed {
		s, err := parseSchedule(ctx, tx, t.Schedule)
		if err != nil {
			return err
		}
		ids[i], times[i] = t.ID, s.Next(t.Now.Time())
	}
	_, err = pg.Exec(ctx, tx, `
		update workflow w set due_at = t.at from unnest($1::uuid[], $2::timestamptz[]) t (id, at) where w.id = t.id`,
		ids, times)
	return err
}

// AfterSync makes the workflows due that follow syncs, if this sync or import changed something. It
// is a step of the sync's job. Transactions that arrive during a run are left to the next run.
func (w *Workflows) AfterSync(ctx context.Context, run *job.Run, changed bool) error {
	if !changed {
		return nil
	}
	return run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		_, err := pg.Exec(ctx, tx, `
			update workflow set due_at = clock_timestamp() + make_interval(secs => $1)
			where id in (select id from workflow where enabled and trigger = 'after_sync' and due_at is null
				order by id for update) and due_at is null`, w.settled.Seconds())
		return job.Step{}, err
	})
}

// awaken makes the clocks check again for workflows that became due during these runs. It takes no
// locks, because a transaction that changes a workflow may have locked its row and wait for the
// run's job.
func awaken(ctx context.Context, tx pg.Tx, runs []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		select pg_notify('coffer', $2) where exists (select from workflow_run r join workflow w on w.id = r.workflow_id
			where r.id = any($1) and w.enabled and w.due_at <= clock_timestamp())`, runs, task)
	return err
}
