package job

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

const (
	heartbeat = 15 * time.Second // keeps proxies from closing a silent stream
	stuck     = 10 * time.Second // how long a write to a client may block
)

// Wait returns the job when it has ended, or its current state after d or when the server stops. It
// holds no connection while it waits.
func (j *Jobs) Wait(ctx context.Context, job id.ID, d time.Duration) (Job, error) {
	over := time.NewTimer(d)
	defer over.Stop()
	w, leave := j.views.watch(job) //nolint:contextcheck // who reads for all outlives this one
	defer leave()
	now, err := j.Get(ctx, j.db, Ref{job.String()}) // read after the watch began, so that no change is missed
	for err == nil && !now.Ended() && d > 0 {
		select {
		case <-w.news:
			if r := w.now(); r != nil {
				now = j.record(ctx, *r)
				continue
			}
			return j.Get(ctx, j.db, Ref{job.String()}) // returns the error for a missing job
		case <-over.C:
			return j.Get(ctx, j.db, Ref{job.String()})
		case <-ctx.Done():
			return now, nil
		case <-j.closing:
			return now, nil
		}
	}
	return now, err
}

// Await is Wait for op.Long: it returns the job's state when the wait is over, and reports whether
// it has ended. If the database is not reachable, it returns the last known state.
func (j *Jobs) Await(ctx context.Context, job Job, d time.Duration) (Job, bool) {
	if job.Ended() {
		return job, true
	}
	now, err := j.Wait(ctx, job.ID, d)
	if err != nil {
		return job, false
	}
	return now, now.Ended()
}

// AwaitAll is Await for several jobs: it waits until the last of them has ended.
func (j *Jobs) AwaitAll(ctx context.Context, jobs []Job, d time.Duration) ([]Job, bool) {
	deadline := time.Now().Add(d)
	for {
		at := slices.IndexFunc(jobs, func(x Job) bool { return !x.Ended() })
		left := time.Until(deadline)
		if at < 0 || left <= 0 || ctx.Err() != nil || j.stopping() {
			return jobs, at < 0
		}
		if _, err := j.Wait(ctx, jobs[at].ID, left); err != nil {
			return jobs, false
		}
		ids := make([]id.ID, len(jobs))
		for i, x := range jobs {
			ids[i] = x.ID
		}
		read, err := pg.All[row](ctx, j.db, rows+` where id = any($1)`, ids)
		if err != nil {
			return jobs, false // the last known states are good enough
		}
		// Jobs are matched by id as read from the database, not by the text of an id.
		now := make(map[id.ID]Job, len(read))
		for _, r := range read {
			now[r.ID] = j.record(ctx, r)
		}
		jobs = slices.Clone(jobs)
		for i, x := range jobs {
			r, ok := now[x.ID]
			if !ok {
				return jobs, false // deleted meanwhile
			}
			jobs[i] = r
		}
	}
}

// Newest returns, for each of these unique keys, the newest job of the kind.
func (j *Jobs) Newest(ctx context.Context, kind string, keys []string) (map[string]Job, error) {
	found, err := pg.All[live](ctx, j.db, `
		select distinct on (unique_key)
			id, short_id, kind, state, done, total, unit, result, error_code, error_message, created_at, started_at,
				finished_at, unique_key
		from job where kind = $1 and unique_key = any($2) order by unique_key, id desc`, kind, keys)
	out := make(map[string]Job, len(found))
	for _, l := range found {
		out[l.Key] = j.record(ctx, l.row)
	}
	return out, err
}

// Events streams a job as server-sent events: progress whenever it advances, and done when it has
// ended, which ends the stream. A client that reconnects needs no state: the first event contains
// everything.
func (j *Jobs) Events(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	closed, err := j.streams.open(ctx)
	if err != nil {
		return err
	}
	defer closed()
	job, err := j.Get(ctx, j.db, Ref{r.PathValue("job_id")})
	if err != nil {
		return err
	}
	s := stream{w: w, c: http.NewResponseController(w)}
	_ = s.c.SetReadDeadline(time.Time{}) // the server's deadline is for requests; a stream lasts longer
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")     // a proxy must not hold events back
	view, leave := j.views.watch(job.ID) //nolint:contextcheck // as above
	defer leave()
	beat := time.NewTicker(heartbeat / 3) // without the database there is no news, but the client needs a heartbeat
	defer beat.Stop()
	for {
		if s.show(job) != nil || job.Ended() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-j.closing:
			return nil
		case <-view.news:
			now := view.now()
			if now == nil {
				return nil // the job was deleted
			}
			job = j.record(ctx, *now)
		case <-beat.C:
		}
	}
}

// Stream counts one more response that lasts as long as a job, or returns an error if there are too
// many. The channel is closed when the server stops, and the response must end then.
func (j *Jobs) Stream(ctx context.Context) (closed func(), stopping <-chan struct{}, err error) {
	closed, err = j.streams.open(ctx)
	return closed, j.closing, err
}

// A stream is the connection that sends events to one client.
type stream struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	sent int
	last string
	at   time.Time
}

// show sends the job if it changed, or a heartbeat if nothing was sent for a while.
func (s *stream) show(job Job) error {
	name := "progress"
	if job.Ended() {
		name = "done"
	}
	b, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("print job: %w", err)
	}
	text := ": still here\n\n"
	switch {
	case string(b) != s.last:
		s.sent++
		s.last = string(b)
		text = fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", s.sent, name, b)
	case time.Since(s.at) < heartbeat:
		return nil
	}
	s.at = time.Now()
	_ = s.c.SetWriteDeadline(s.at.Add(stuck)) // some writers do not support deadlines
	if _, err := s.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return s.c.Flush()
}
