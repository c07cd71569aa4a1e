package job

import (
	"context"
	"encoding/json"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The states of a job. The last three are final.
const (
	Queued    = "queued"
	Running   = "running"
	Succeeded = "succeeded"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// A Job is long work as callers see it.
type Job struct {
	ID         id.ID           `json:"id"`
	ShortID    string          `json:"short_id,omitempty" required:"true"`
	Kind       string          `json:"kind" doc:"The kind of work"`
	State      string          `json:"state" enum:"queued,running,succeeded,failed,cancelled"`
	Progress   Progress        `json:"progress"`
	Result     json.RawMessage `json:"result" object:"any" doc:"The result, in the shape of its kind; null until it has succeeded"`
	Error      *Failure        `json:"error" doc:"Why it failed; null otherwise"`
	CreatedAt  pg.Time         `json:"created_at"`
	StartedAt  *pg.Time        `json:"started_at"`
	FinishedAt *pg.Time        `json:"finished_at"`
}

// A Progress is the progress of a job.
type Progress struct {
	Done  int64  `json:"done"`
	Total *int64 `json:"total" doc:"Null while unknown"`
	Unit  string `json:"unit" doc:"Unit of the progress"`
}

// A Failure is the reason why a job failed.
type Failure struct {
	Code    errs.Code `json:"code" doc:"A stable code in UPPER_SNAKE_CASE"`
	Message string    `json:"message" doc:"What went wrong and what to do"`
}

// Ended reports whether the job is in a final state.
func (j Job) Ended() bool { return j.FinishedAt != nil }

// A row is a Job as it is stored.
type row struct {
	ID           id.ID           `db:"id"`
	ShortID      string          `db:"short_id"`
	Kind         string          `db:"kind"`
	State        string          `db:"state"`
	Done         int64           `db:"done"`
	Total        *int64          `db:"total"`
	Unit         string          `db:"unit"`
	Result       json.RawMessage `db:"result"`
	ErrorCode    *string         `db:"error_code"`
	ErrorMessage *string         `db:"error_message"`
	CreatedAt    pg.Time         `db:"created_at"`
	StartedAt    *pg.Time        `db:"started_at"`
	FinishedAt   *pg.Time        `db:"finished_at"`
}

const rows = `
	select id, short_id, kind, state, done, total, unit, result, error_code, error_message, created_at, started_at,
		finished_at
	from job`

// record returns the job as the caller may see it.
func (j *Jobs) record(ctx context.Context, r row) Job {
	out := Job{
		ID: r.ID, ShortID: r.ShortID, Kind: r.Kind, State: r.State, Progress: Progress{r.Done, r.Total, r.Unit},
		Result:    r.Result,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if r.ErrorCode != nil && r.ErrorMessage != nil {
		out.Error = &Failure{errs.Code(*r.ErrorCode), *r.ErrorMessage}
	}
	if show := j.kinds[r.Kind].Show; show != nil && r.Result != nil {
		shown, err := json.Marshal(show(op.ActorOf(ctx), r.Result))
		if err != nil {
			shown = nil // no result is better than one that this caller must not see
		}
		out.Result = shown
	}
	return out
}

// A Ref identifies a job.
type Ref struct {
	JobID string `json:"job_id" minLength:"1" doc:"The job's UUID or short id"`
}

// Get returns one job.
func (j *Jobs) Get(ctx context.Context, q pg.Querier, in Ref) (Job, error) {
	r, err := pg.One[row](ctx, q, rows+` where id = $1 or short_id = $2`, pg.RefTo(in.JobID).IDArgs()...)
	return j.record(ctx, r), pg.Found(err, "job", "{job.list} lists them; finished ones are kept for 30 days")
}

// A List is the request for a page of jobs.
type List struct {
	Kind   *string `json:"kind,omitempty" minLength:"1" maxLength:"100" doc:"Filter by kind"`
	State  *string `json:"state,omitempty" enum:"queued,running,succeeded,failed,cancelled" doc:"Filter by state"`
	Cursor string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// A Listing is a page of jobs, newest first.
type Listing struct {
	Jobs       []Job  `json:"jobs"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
}

// List returns a page of jobs.
func (j *Jobs) List(ctx context.Context, q pg.Querier, in List) (Listing, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := j.db.Pager(ctx, "jobs", filters)
	if err != nil {
		return Listing{}, err
	}
	found, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]row, error) {
		return pg.All[row](ctx, q, rows+`
			where ($1::text is null or kind = $1) and ($2::text is null or state = $2)
				and ($3::uuid is null or id < $3) order by id desc limit $4`, in.Kind, in.State, before, limit)
	}, func(r row) id.ID { return r.ID })
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Jobs: []Job{}, NextCursor: next, HasMore: next != ""}
	for _, r := range found {
		out.Jobs = append(out.Jobs, j.record(ctx, r))
	}
	return out, nil
}

// cancellable returns an error if the caller may not cancel the job. Its requester and any admin
// may. An agent must be the requester.
func (j *Jobs) cancellable(ctx context.Context, tx pg.Tx, r row) error {
	asker, err := pg.Value[*id.ID](ctx, tx, `select actor_id from job where id = $1`, r.ID)
	if err != nil {
		return err
	}
	if err := op.Owned(ctx, asker, "agents can only cancel their own jobs"); err != nil {
		return err
	}
	a := op.ActorOf(ctx)
	if a.Role == "" || a.Role == op.RoleAdmin || asker != nil && *asker == a.ID {
		return nil
	}
	// A member and the keys of that member may cancel each other's jobs.
	own, err := pg.Value[bool](ctx, tx, `
		select coalesce($1::uuid = $2::uuid, false)
			or exists (select from token where id = $1 and kind = 'api_key' and member_id = $2)`, asker, a.Member)
	if err == nil && !own {
		err = errs.New(errs.Forbidden,
			"this job was started by someone else; ask them or an admin to cancel it")
	}
	return err
}

// Cancel ends a queued job, and asks a running one to end after its current batch.
func (j *Jobs) Cancel(ctx context.Context, tx pg.Tx, in Ref) (Job, error) {
	now, err := pg.One[row](ctx, tx, rows+` where id = $1 or short_id = $2 for update`, pg.RefTo(in.JobID).IDArgs()...)
	if err != nil {
		return Job{}, pg.Found(err, "job", "{job.list} lists them; finished ones are kept for 30 days")
	}
	if err := j.cancellable(ctx, tx, now); err != nil {
		return Job{}, err
	}
	return j.cancel(ctx, tx, now)
}

// Stop is Cancel for a package that owns the job's work and decides itself who may stop it.
func (j *Jobs) Stop(ctx context.Context, tx pg.Tx, job id.ID) (Job, error) {
	now, err := pg.One[row](ctx, tx, rows+` where id = $1 for update`, job)
	if err != nil {
		return Job{}, pg.Found(err, "job", "{job.list} lists them; finished ones are kept for 30 days")
	}
	return j.cancel(ctx, tx, now)
}

// cancel ends the given job, which is locked, or requests that it end after its current batch.
func (j *Jobs) cancel(ctx context.Context, tx pg.Tx, now row) (Job, error) {
	switch {
	case j.kinds[now.Kind].Whole:
		return Job{}, errs.New(errs.Conflict,
			"a job of kind %s can't be canceled, because stopping halfway would do harm; wait for it to finish",
			now.Kind)
	case now.FinishedAt != nil:
		return Job{}, errs.New(errs.Conflict, "this job has already finished (%s), so it can't be canceled",
			now.State)
	}
	r, err := pg.One[row](ctx, tx, `
		update job set
			cancel_requested = true,
			state = case state when 'queued' then 'cancelled' else state end,
			finished_at = case state when 'queued' then now() end
		where id = $1
		returning id, short_id, kind, state, done, total, unit, result, error_code, error_message, created_at,
			started_at, finished_at`, now.ID)
	if err != nil || r.FinishedAt == nil {
		return j.record(ctx, r), err
	}
	return j.record(ctx, r), j.ended(ctx, tx, r.Kind, Ended{JobID: r.ID, State: r.State})
}

// Ops returns the operations on jobs.
func (j *Jobs) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "job.list", Route: "GET /jobs", Summary: "Lists jobs, newest first."}, j.List),
		op.Long(op.Reading(op.Spec{
			Name: "job.get", Route: "GET /jobs/{job_id}", Tool: "get_job", Core: true,
			Summary: "Shows a job's progress, and its result once it has finished.",
			Agent: "Shows a job: its state, progress, and result or error once finished. Pass wait_seconds " +
				"to wait for the end instead of polling.",
		}, j.Get), 0, j.Await),
		op.Writing(op.Spec{
			Name: "job.cancel", Route: "POST /jobs/{job_id}/cancel", People: op.PeopleOthers,
			Summary: "Cancels a job: a queued one immediately, a running one after its current batch.",
		}, j.Cancel),
	}
}
