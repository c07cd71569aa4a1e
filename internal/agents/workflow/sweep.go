package workflow

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Forget deletes old transcripts, one batch at a time. The household sets how long they are stored.
// The runs themselves stay, with their definitions, costs and plans.
func (w *Workflows) Forget(ctx context.Context) error {
	_, err := pg.Exec(ctx, w.db, `
		delete from workflow_line where (run_id, seq) in (
			select l.run_id, l.seq from workflow_run r join workflow_line l on l.run_id = r.id
			where r.finished_at < now() - make_interval(days => (select transcript_days from setting))
			order by r.id limit 5000)`)
	return err
}

// Mend ends runs that have no job. An export contains no jobs, so a run that was in progress during
// an export is imported without one.
func (w *Workflows) Mend(ctx context.Context) error {
	return w.db.InTx(ctx, func(tx pg.Tx) error {
		lost, err := pg.Values[id.ID](ctx, tx, `select id from workflow_run r where status in ('queued', 'running')
			and not exists (select from job j where j.id = r.id and j.state in ('queued', 'running'))
			order by id limit 500 for update skip locked`)
		if err != nil {
			return err
		}
		for _, run := range lost {
			if err := w.end(ctx, tx, run, Failed, errs.InternalError,
				"the household was moved while the run was in progress; run it again"); err != nil {
				return err
			}
		}
		return nil
	})
}
