package job

import (
	"context"
	"sync"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/pg"
)

// Run works on jobs until ctx ends. Then it takes no more, lets running batches commit, and returns
// the jobs to the queue.
func (j *Jobs) Run(ctx context.Context) error {
	client, err := j.river()
	if err != nil {
		return err
	}
	for err := client.Start(context.WithoutCancel(ctx)); err != nil; err = client.Start(context.WithoutCancel(ctx)) {
		j.log.Warn("jobs cannot start yet", "error", errs.LogText(err))
		if sleep(ctx, time.Second); ctx.Err() != nil {
			return err
		}
	}
	behind, end := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { j.keep(behind) })
	group.Go(func() { j.lookOut(behind) })
	<-ctx.Done()
	j.close()
	grace, cancel := context.WithTimeout(behind, stopPatience)
	err = client.Stop(grace)
	cancel()
	// some work does not listen: its transaction is broken off, and its last batch is done again
	// elsewhere
	if err != nil {
		for _, r := range j.runs() {
			r.cancel(ErrStopping)
		}
		last, cancel := context.WithTimeout(behind, time.Second)
		err = client.StopAndCancel(last)
		cancel()
	}
	end()
	group.Wait()
	return err
}

// close lets everything that lasts end: streams, waits and, at their next boundary, runs.
func (j *Jobs) close() {
	j.mu.Lock()
	if !j.closed {
		j.closed = true
		close(j.closing)
	}
	j.mu.Unlock()
	for _, r := range j.runs() {
		r.halt(ErrStopping)
	}
}

// keep renews the leases of all runs of this process, in one statement.
func (j *Jobs) keep(ctx context.Context) {
	tick := time.NewTicker(j.tempo.renew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if runs := j.runs(); len(runs) > 0 {
			if err := j.renew(ctx, runs); err != nil && ctx.Err() == nil {
				j.log.Warn("leases not renewed", "error", errs.LogText(err))
			}
		}
	}
}

// renew tells runs that lost their lease so, and those that are to be cancelled. A process that
// cannot reach the database for as long as a lease lasts must take its leases for lost. A row that
// somebody else has locked is left alone, so that it keeps no other lease from being renewed:
// whoever looks for lost leases passes it over as well, and a batch that is about to commit renews
// its own.
func (j *Jobs) renew(ctx context.Context, runs []*Run) error {
	type kept struct {
		ID        id.ID `db:"id"`
		Cancelled bool  `db:"cancel_requested"`
	}
	ids, numbers := make([]id.ID, len(runs)), make([]int64, len(runs))
	for i, r := range runs {
		ids[i], numbers[i] = r.claim.ID, r.claim.Number
	}
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, j.tempo.lease/2)
	rows, err := pg.All[kept](limited, j.desk, `
		with mine as (select * from unnest($1::uuid[], $2::bigint[]) as l (id, number)),
		free as (
			select job.id from mine join job on job.id = mine.id and job.lease_number = mine.number
				and job.state = 'running'
			for update of job skip locked),
		renewed as (update job set renewed_at = clock_timestamp() from free where job.id = free.id)
		select job.id, job.cancel_requested from mine join job on job.id = mine.id and job.lease_number = mine.number
			and job.state = 'running'`, ids, numbers)
	cancel()
	held := map[id.ID]bool{}
	for _, k := range rows {
		held[k.ID] = k.Cancelled
	}
	for _, r := range runs {
		cancelled, ok := held[r.claim.ID]
		switch {
		case ok:
			r.renewed = asked
		case err == nil, time.Since(r.renewed) > j.tempo.lease:
			r.cancel(ErrLost)
		}
		if cancelled {
			r.halt(ErrCancelled)
		}
	}
	return err
}

// lookOut finds jobs whose worker has died and jobs that nobody was told of, until ctx ends. Every
// server does it; they skip each other's rows.
func (j *Jobs) lookOut(ctx context.Context) {
	at := time.Now() // of the next look
	for swept := at; ; {
		if j.doze(ctx, time.Until(at)) {
			if err := j.desk.InTx(ctx, func(tx pg.Tx) error { return j.tickets(ctx, tx) }); err != nil &&
				ctx.Err() == nil {
				j.log.Warn("jobs wait for the next poll", "error", errs.LogText(err))
			}
			if time.Now().Before(at) {
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		next, err := j.look(ctx)
		if err != nil && ctx.Err() == nil {
			j.log.Warn("job maintenance failed", "error", errs.LogText(err))
			next = time.Second
		}
		at = time.Now().Add(next)
		if time.Since(swept) > time.Hour {
			swept = time.Now()
			if err := j.forget(ctx); err != nil && ctx.Err() == nil {
				j.log.Warn("old jobs not deleted", "error", errs.LogText(err))
			}
		}
	}
}

// look mends what it finds and answers when to look again: soon, and not later than the next lease
// can run out.
func (j *Jobs) look(ctx context.Context) (time.Duration, error) {
	left, due, err := j.sight(ctx)
	if err == nil && (left < 0 || due) {
		if err = j.mend(ctx); err == nil {
			// leases of one dead worker run out at different moments, and each is waited for
			left, _, err = j.sight(ctx)
		}
	}
	if left < 0 {
		left = time.Second // another server may be at it, or the row is locked for a moment
	}
	return min(j.tempo.look, left+time.Millisecond), err
}

// sight is how long the oldest lease has left, and whether jobs are due that nobody was told of.
func (j *Jobs) sight(ctx context.Context) (left time.Duration, due bool, err error) {
	type sight struct {
		Oldest int64 `db:"oldest"` // ms since the renewal of the oldest lease
		Due    bool  `db:"due"`
	}
	s, err := pg.One[sight](ctx, j.desk, `
		select
			coalesce((extract(epoch from clock_timestamp() - (select min(renewed_at) from job
				where state = 'running')) * 1000)::bigint, 0) as oldest,
			exists (`+dueJobs+`) as due`, j.tempo.lease.Milliseconds())
	return j.tempo.lease - time.Duration(s.Oldest)*time.Millisecond, s.Due, err
}

// dueJobs are queued jobs that nobody has been told of, or whose ticket went down with the worker
// that had drawn it.
const dueJobs = `
	select id, kind, priority from job
	where state = 'queued' and run_at <= clock_timestamp() and (dispatch is null or
		dispatched_at < clock_timestamp() - make_interval(secs => $1 / 1000.0) and
		not exists (select from river.river_job t where t.id = job.dispatch and t.state = 'available'))`

// doze waits until it is time to look again, or somebody put jobs.
func (j *Jobs) doze(ctx context.Context, d time.Duration) (put bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-j.put:
		put = true
	}
	return put
}

// tickets writes tickets for all that is due.
func (j *Jobs) tickets(ctx context.Context, tx pg.Tx) error {
	waiting, err := pg.All[due](ctx, tx, dueJobs+` order by priority, run_at
		limit 500 for update skip locked`, j.tempo.lease.Milliseconds())
	if err != nil {
		return err
	}
	return j.dispatch(ctx, tx, waiting)
}

// mend puts back what dead workers left, and writes tickets for all that is due.
func (j *Jobs) mend(ctx context.Context) error {
	if err := j.silence(ctx); err != nil {
		return err
	}
	type lost struct {
		ID      id.ID  `db:"id"`
		ShortID string `db:"short_id"`
		Kind    string `db:"kind"`
		State   string `db:"state"`
	}
	lease := j.tempo.lease.Milliseconds()
	var found []lost
	err := j.desk.InTx(ctx, func(tx pg.Tx) (err error) {
		found, err = pg.All[lost](ctx, tx, `
			with gone as (
				select id, case when cancel_requested then 'cancelled' when losses >= @most then 'failed'
					else 'queued' end as next
				from job where state = 'running'
					and renewed_at < clock_timestamp() - make_interval(secs => @lease / 1000.0) for update skip locked)
			update job set
				state = gone.next, lease_owner = null, lease_number = lease_number + 1, losses = losses + 1,
					dispatch = null, run_at = now(),
				finished_at = case when gone.next <> 'queued' then now() end,
				error_code = case gone.next when 'failed' then @code end, error_message = case gone.next
					when 'failed' then @message end
			from gone where job.id = gone.id
			returning job.id, job.short_id, job.kind, job.state`, pg.Args{
			"lease": lease, "most": maxLosses - 1, "code": string(errs.InternalError),
			"message": "the server stopped repeatedly during this job; its log says more",
		})
		if err != nil {
			return err
		}
		var over []id.ID
		for _, l := range found {
			if l.State != Queued {
				over = append(over, l.ID)
			}
		}
		if err := j.follow(ctx, tx, over...); err != nil {
			return err
		}
		return j.tickets(ctx, tx)
	})
	if err != nil {
		return err
	}
	for _, l := range found {
		j.log.Warn("a job's worker has disappeared", "kind", l.Kind, "job", l.ShortID, "now", l.State)
	}
	return nil
}

// silence ends the connections on which workers without a lease still hold a transaction: it would
// never commit, but its locks would be in the way of whoever goes on.
func (j *Jobs) silence(ctx context.Context) error {
	type lost struct {
		ShortID string `db:"short_id"`
		Number  int64  `db:"lease_number"`
	}
	rows, err := pg.All[lost](ctx, j.desk, `
		select short_id, lease_number from job where state = 'running'
			and renewed_at < clock_timestamp() - make_interval(secs => $1 / 1000.0)`, j.tempo.lease.Milliseconds())
	if err != nil || len(rows) == 0 {
		return err
	}
	marks := make([]string, len(rows))
	for i, r := range rows {
		marks[i] = mark(r.ShortID, r.Number)
	}
	_, err = pg.Exec(ctx, j.desk, `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = any($1)`, marks)
	return err
}

// forget removes finished jobs that nobody will ask for any more, a batch at a time.
func (j *Jobs) forget(ctx context.Context) error {
	for {
		n, err := pg.Exec(ctx, j.desk, `
			delete from job where id in (
				select id from job where finished_at < now() - make_interval(secs => $1)
					limit 5000 for update skip locked)`, keptFor.Seconds())
		if err != nil || n == 0 {
			return err
		}
	}
}
