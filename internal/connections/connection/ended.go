package connection

import (
	"context"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// Ended closes the logs of syncs and imports in the transaction that ends their jobs. If coffer
// itself failed and the run could not record that, Ended records it like a failure of the bank,
// because the household must learn that no data arrives.
func (f *Connections) Ended(ctx context.Context, tx pg.Tx, jobs []job.Ended) error {
	untold, err := closeLogs(ctx, tx, jobs)
	if err != nil {
		return err
	}
	for _, s := range untold {
		l, err := lockLink(ctx, tx, s.Connection)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err == nil {
			err = failed(ctx, tx, l, bank.Traits{}, s.fault(l.Provider))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An untold is a failed sync whose failure is not yet recorded on its connection.
type untold struct {
	JobID      id.ID     `db:"id"`
	Connection id.ID     `db:"connection_id"`
	Code       errs.Code `db:"code"`
	Message    string    `db:"message"`
}

// closeLogs closes the logs of jobs that ended. It returns the failed syncs whose log was still
// open or had not started. A sync that the connection itself rejected does not count as failed.
func closeLogs(ctx context.Context, tx pg.Tx, jobs []job.Ended) ([]untold, error) {
	ids := make([]id.ID, len(jobs))
	for i, e := range jobs {
		ids[i] = e.JobID
	}
	return pg.All[untold](ctx, tx, `
		with closed as (
			update sync_log l set status = case j.state when 'failed' then 'error' else 'cancelled' end,
				error_code = j.error_code, error_message = j.error_message, finished_at = clock_timestamp()
			from job j where j.id = l.job_id and l.job_id = any(@jobs) and `+openLogs+`
			returning l.job_id)
		select j.id, (j.args ->> 'connection_id')::uuid as connection_id, coalesce(j.error_code, '') as code,
			coalesce(j.error_message, '') as message
		from job j
		where j.id = any(@jobs) and j.kind = @kind and j.state = 'failed' and j.error_code <> @refused
			and (j.position is null or exists (select from closed where closed.job_id = j.id))
		order by connection_id`,
		pg.Args{"jobs": ids, "kind": SyncKind, "refused": string(errs.ConnNotSyncable)})
}

// fault converts the failure to a bank error. The error is of class bank.Later, so the connection
// goes into error only after several failures in a row, as with a bank's failures.
func (u untold) fault(provider string) *bank.Error {
	e := &bank.Error{Provider: provider, Class: bank.Later, Code: string(u.Code), Advice: u.Message}
	if u.Code == errs.InternalError {
		e.Advice = "coffer failed, not the bank; it will retry. See the server log, request " +
			u.JobID.Short()
	}
	return e
}
