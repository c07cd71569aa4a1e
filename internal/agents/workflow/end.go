package workflow

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// Kind returns the kind of a run's job. work is the loop; it talks to models, which this package
// does not.
func (w *Workflows) Kind(work func(context.Context, *job.Run) (any, error)) job.Kind {
	return job.Kind{
		Name: RunKind, Unit: "turns", Work: work, Retries: 5, Timeout: runTimeout, Lane: job.Models, Ended: w.Ended,
	}
}

// Ended sets the final status of runs in the transaction that ends their jobs, unless they already
// have one. It is called for every end of a job, so no run stays running without a job.
func (w *Workflows) Ended(ctx context.Context, tx pg.Tx, jobs []job.Ended) error {
	runs := make([]id.ID, len(jobs))
	for i, e := range jobs {
		runs[i] = e.JobID
		status, code, message := Failed, e.Code, e.Message
		switch e.State {
		case job.Cancelled:
			status, code, message = Cancelled, "", ""
		case job.Succeeded:
			code, message = errs.InternalError, "the run's job ended before the run finished"
		}
		if err := w.end(ctx, tx, e.JobID, status, code, message); err != nil {
			return err
		}
	}
	return awaken(ctx, tx, runs)
}

// end ends a run that is queued or running. A model call in progress is lost, and counts at its
// reserved cost. If the run has a plan, the plan waits for a person.
func (w *Workflows) end(ctx context.Context, tx pg.Tx, run id.ID, status string, code errs.Code, message string) error {
	n, err := pg.Exec(ctx, tx, `
		update workflow_run set status = @status, error_code = @code, error_message = @message,
			finished_at = clock_timestamp(), plan_state = case
				when plan_state = 'none' and exists (select from workflow_plan where run_id = @run) then 'waiting'
				else plan_state end
		where id = @run and status in ('queued', 'running')`, pg.Args{
		"run": run, "status": status, "code": pg.OrNull(string(code)), "message": pg.OrNull(message),
	})
	if err != nil || n == 0 {
		return err
	}
	if err := loseCalls(ctx, tx, run); err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into workflow_line (run_id, seq, kind, body)
		select r.id, coalesce((select max(seq) from workflow_line where run_id = r.id), 0) + 1, @kind,
			jsonb_strip_nulls(jsonb_build_object('status', r.status, 'code', r.error_code, 'message', r.error_message))
		from workflow_run r where r.id = @run`, pg.Args{"run": run, "kind": LineEnd})
	return err
}

// loseCalls settles the calls of a run whose answers nobody waits for any more. It is unknown
// whether the server answered, so each call costs what was reserved for it.
func loseCalls(ctx context.Context, tx pg.Tx, run id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		with lost as (
			update model_call set state = 'lost', cost_micros = reserved_micros, ended_at = clock_timestamp()
			where run_id = $1 and state = 'asking' returning month, reserved_micros),
		month as (
			update model_month m set spent_micros = m.spent_micros + l.micros, reserved_micros = m.reserved_micros - l.micros
			from (select month, sum(reserved_micros)::bigint as micros from lost where reserved_micros is not null
				group by month) l where m.month = l.month)
		update workflow_run r set cost_micros = r.cost_micros + l.micros
		from (select sum(reserved_micros)::bigint as micros from lost) l where r.id = $1 and l.micros is not null`, run)
	return err
}

// Cancel stops a run: at once if it is queued, and within seconds if it is running. It locks the
// job before the run, in the same order as the end of a job.
func (w *Workflows) Cancel(ctx context.Context, tx pg.Tx, in RunRef) (Run, error) {
	run, err := w.RunByID(ctx, tx, in)
	if err != nil {
		return Run{}, err
	}
	if run.FinishedAt != nil {
		return Run{}, errs.New(errs.Conflict, "this run has already finished (%s), so it can't be canceled",
			run.Status)
	}
	if err := w.stop(ctx, tx, run.ID); err != nil {
		return Run{}, err
	}
	return w.RunByID(ctx, tx, RunRef{run.ID.String()})
}

// stop cancels the job of a run. If the job no longer exists, stop ends the run itself.
func (w *Workflows) stop(ctx context.Context, tx pg.Tx, run id.ID) error {
	_, err := w.jobs.Stop(ctx, tx, run)
	if errs.Is(err, errs.NotFound) {
		return w.end(ctx, tx, run, Cancelled, "", "")
	}
	return err
}

// cancelQueued cancels the queued run of a workflow.
func (w *Workflows) cancelQueued(ctx context.Context, tx pg.Tx, workflow id.ID) error {
	queued, err := pg.Values[id.ID](ctx, tx, `select id from workflow_run where workflow_id = $1
		and status = 'queued' order by id`, workflow)
	if err != nil {
		return err
	}
	for _, run := range queued {
		if err := w.stop(ctx, tx, run); err != nil {
			return err
		}
	}
	return nil
}
