package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

const (
	task      = "job"       // the clock's task; the trigger on the table notifies with this name
	movedTask = "job.moved" // notifies those who wait for a job that some jobs have changed
)

// Run works on jobs, and runs the other tasks beside them, until ctx ends. Then it takes no more
// jobs, lets running batches commit, and returns the jobs to the queue.
func (j *Jobs) Run(ctx context.Context, others ...schedule.Task) error {
	behind, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var group sync.WaitGroup
	group.Go(func() { j.renewLoop(behind) })
	group.Go(func() {
		j.clock.Run(behind, append([]schedule.Task{
			{Name: task, Next: j.next, Do: j.tick, Fault: "job maintenance failed"},
			{Name: movedTask, Next: j.views.moved},
			{Name: "job.prune", Every: time.Hour, Do: j.prune, Fault: "old jobs not deleted"},
		}, others...)...)
	})
	<-ctx.Done()
	j.close()
	if !j.drained(behind, stopPatience) {
		// Some work ignores the request to stop. Its transaction is canceled, and its last batch is
		// repeated on another server.
		for _, r := range j.runs() {
			r.cancel(ErrStopping)
		}
		if !j.drained(behind, time.Second) {
			return errors.New("job: work goes on after the server stopped")
		}
	}
	end()
	group.Wait()
	return nil
}

// drained waits until no worker is busy, and returns false if that takes longer than patience.
func (j *Jobs) drained(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		j.mu.Lock()
		busy := 0
		for _, l := range j.lanes {
			busy += l.busy
		}
		j.mu.Unlock()
		if busy == 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-j.freed:
		}
	}
}

// close ends streams and waits at once, and runs after their current batch.
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

// renewLoop renews the leases of all runs of this process, in one statement, while there are any.
func (j *Jobs) renewLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.begun:
		}
		for len(j.runs()) > 0 {
			if sleep(ctx, j.tempo.renew); ctx.Err() != nil {
				return
			}
			if runs := j.runs(); len(runs) > 0 {
				if err := j.renew(ctx, runs); err != nil && ctx.Err() == nil {
					j.log.Warn("leases not renewed", "error", errs.LogText(err))
				}
			}
		}
	}
}

// renew renews leases, and cancels runs that lost their lease or must be canceled. A process that
// cannot reach the database for as long as a lease lasts must assume that its leases are lost.
//
// The update skips a row that another transaction has locked, so that one locked row does not keep
// the other leases from being renewed. The search for lost leases skips such a row too, and a batch
// that is about to commit renews its own lease.
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
	rows, err := pg.All[kept](limited, j.reserved, `
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

// next returns the time until a job is due that a free worker of this process could take, or until
// a lease runs out, whichever comes first. If the lease is renewed before then, next computes the
// time again. So a dead worker is noticed as soon as its lease has run out.
func (j *Jobs) next(ctx context.Context, q pg.Querier) (time.Duration, error) {
	type sight struct {
		Due    *int64 `db:"due"`     // ms until the first job is due
		Oldest *int64 `db:"renewed"` // ms until the oldest renewal; negative, because it is in the past
	}
	kinds := []string{}
	j.mu.Lock()
	for i, l := range j.lanes {
		if l.busy < workers[i] && !j.closed {
			kinds = append(kinds, l.kinds...)
		}
	}
	j.mu.Unlock()
	s, err := pg.One[sight](ctx, q, `
		select
			ceil(extract(epoch from (select min(run_at) from job where state = 'queued' and kind = any($1))
				- clock_timestamp()) * 1000)::bigint as due,
			ceil(extract(epoch from (
				select min(case when renewed_at > clock_timestamp() + make_interval(secs => $2 / 1000.0) then 'epoch'
					else renewed_at end) from job where state = 'running')
				- clock_timestamp()) * 1000)::bigint as renewed`, kinds, j.tempo.lease.Milliseconds())
	if err != nil {
		return 0, err
	}
	left := schedule.Never
	if s.Oldest != nil {
		left = j.tempo.lease + time.Duration(*s.Oldest)*time.Millisecond
	}
	j.mu.Lock()
	j.lost = left <= 0
	j.mu.Unlock()
	return min(left, schedule.In(s.Due)), nil
}

// tick recovers the jobs of dead workers, and claims jobs that are due.
func (j *Jobs) tick(ctx context.Context) error {
	j.mu.Lock()
	lost := j.lost
	j.mu.Unlock()
	if lost {
		if err := j.recover(ctx); err != nil {
			return err
		}
	}
	return j.claim(ctx)
}

// recover puts the jobs of dead workers back into the queue. It ends those that were canceled or
// lost too many workers. Every server does this; each skips rows that another one has locked.
func (j *Jobs) recover(ctx context.Context) error {
	if err := j.endZombies(ctx); err != nil {
		return err
	}
	type lost struct {
		ShortID string `db:"short_id"`
		Kind    string `db:"kind"`
	}
	args := pg.Args{"lease": j.tempo.lease.Milliseconds(), "losses": maxLosses - 1}
	back, err := pg.All[lost](ctx, j.reserved, `
		with gone as (select id from job where `+gone+` and not (`+over+`) for update skip locked)
		update job set state = 'queued', lease_owner = null, lease_number = lease_number + 1, losses = losses + 1,
			run_at = now()
		from gone where job.id = gone.id returning short_id, kind`, args)
	if err != nil {
		return err
	}
	for _, l := range back {
		j.log.Warn("a job's worker has disappeared", "kind", l.Kind, "job", l.ShortID)
	}
	kinds, err := pg.Values[string](ctx, j.reserved, `select distinct kind from job where `+gone+` and (`+over+`)`, args)
	if err != nil {
		return err
	}
	for _, kind := range kinds { // if the end of one kind's jobs fails, the other kinds' jobs still end
		if err := j.giveUp(ctx, kind); err != nil {
			j.log.Error("jobs not ended whose worker has disappeared", "kind", kind, "error", errs.LogText(err))
		}
	}
	return nil
}

const (
	// gone selects the jobs whose lease has run out. A renewal in the future also counts as run
	// out: the database's clock was set back, and a worker that is still alive will renew its
	// lease.
	gone = `state = 'running' and (renewed_at < clock_timestamp() - make_interval(secs => @lease / 1000.0)
		or renewed_at > clock_timestamp() + make_interval(secs => @lease / 1000.0))`
	// over selects the jobs that must end instead of going back into the queue.
	over = `cancel_requested or losses >= @losses`
)

// giveUp ends the jobs of one kind that were canceled or lost too many workers.
func (j *Jobs) giveUp(ctx context.Context, kind string) error {
	return j.reserved.InTx(ctx, func(tx pg.Tx) error {
		all, err := pg.All[Ended](ctx, tx, `
			with gone as (
				select id, cancel_requested as cancelled from job where kind = @kind and `+gone+` and (`+over+`)
					for update skip locked)
			update job set
				state = case when cancelled then 'cancelled' else 'failed' end, lease_owner = null,
				lease_number = lease_number + 1, losses = losses + 1, finished_at = now(),
				error_code = case when not cancelled then @code end,
				error_message = case when not cancelled then @message end
			from gone where job.id = gone.id
			returning job.id, job.state, coalesce(error_code, '') as code, coalesce(error_message, '') as message`,
			pg.Args{
				"kind": kind, "lease": j.tempo.lease.Milliseconds(), "losses": maxLosses - 1,
				"code":    string(errs.InternalError),
				"message": "the server stopped repeatedly during this job; see the server log",
			})
		if err != nil || len(all) == 0 {
			return err
		}
		for _, e := range all {
			j.log.Warn("a job's worker has disappeared", "kind", kind, "job", e.JobID.Short(), "now", e.State)
		}
		return j.ended(ctx, tx, kind, all...)
	})
}

// endZombies ends connections on which workers without a lease still have a transaction open. Such
// a transaction can never commit, but its locks would block the worker that continues the job.
func (j *Jobs) endZombies(ctx context.Context) error {
	type lost struct {
		ShortID string `db:"short_id"`
		Number  int64  `db:"lease_number"`
	}
	rows, err := pg.All[lost](ctx, j.reserved, `
		select short_id, lease_number from job where `+gone, pg.Args{"lease": j.tempo.lease.Milliseconds()})
	if err != nil || len(rows) == 0 {
		return err
	}
	marks := make([]string, len(rows))
	for i, r := range rows {
		marks[i] = mark(r.ShortID, r.Number)
	}
	_, err = pg.Exec(ctx, j.reserved, `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = any($1)`, marks)
	return err
}

// prune deletes finished jobs that are older than keptFor, one batch at a time.
func (j *Jobs) prune(ctx context.Context) error {
	for {
		n, err := pg.Exec(ctx, j.reserved, `
			delete from job where id in (
				select id from job where finished_at < now() - make_interval(secs => $1)
					limit 5000 for update skip locked)`, keptFor.Seconds())
		if err != nil || n == 0 {
			return err
		}
	}
}
