package job

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"coffer/internal/id"
	"coffer/internal/pg"
)

const (
	glance    = 300 * time.Millisecond // how often a job is looked at for one who waits; work of this process is seen at once
	heartbeat = 15 * time.Second       // so that proxies keep a silent stream open
	stuck     = 10 * time.Second       // how long a client may not take what is sent
)

// wakes tell those who wait for a job of this process that something happened to it. Nothing is decided by them: others learn it at their next glance.
type wakes struct {
	mu  sync.Mutex
	all map[id.ID]map[chan struct{}]bool
}

func (w *wakes) watch(job id.ID) (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[id.ID]map[chan struct{}]bool{}
	}
	if w.all[job] == nil {
		w.all[job] = map[chan struct{}]bool{}
	}
	c := make(chan struct{}, 1)
	w.all[job][c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all[job], c)
		if len(w.all[job]) == 0 {
			delete(w.all, job)
		}
	}
}

func (w *wakes) poke(job id.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all[job] {
		select {
		case c <- struct{}{}:
		default: // it is awake already
		}
	}
}

// Wait returns the job when it has ended, or as it is after d, or when the server stops. While it waits it holds no connection.
func (j *Jobs) Wait(ctx context.Context, job id.ID, d time.Duration) (Job, error) {
	wake, done := j.wakes.watch(job)
	defer done()
	deadline := time.Now().Add(d)
	for {
		now, err := j.Get(ctx, j.db, Ref{job.String()})
		left := time.Until(deadline)
		if err != nil || now.Ended() || left <= 0 {
			return now, err
		}
		timer := time.NewTimer(min(glance, left))
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return now, nil
		case <-j.closing:
			timer.Stop()
			return now, nil
		}
		timer.Stop()
	}
}

// Await is Wait for op.Long: it answers the job as it is when the wait is over, and whether it has ended. If the database cannot say, the job as it was is true enough.
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
			return jobs, false // as they were is true enough
		}
		now := make(map[[16]byte]Job, len(read)) // an id that was made short for a tool is another key than the same id in full
		for _, r := range read {
			now[r.ID.Bytes()] = j.record(ctx, r)
		}
		jobs = slices.Clone(jobs)
		for i, x := range jobs {
			r, ok := now[x.ID.Bytes()]
			if !ok {
				return jobs, false // forgotten meanwhile
			}
			jobs[i] = r
		}
	}
}

// Events streams a job as server-sent events: progress whenever it moves, done when it has ended, which ends the stream. A client that comes back needs no memory: the first event says all.
func (j *Jobs) Events(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	job, err := j.Get(ctx, j.db, Ref{r.PathValue("job_id")})
	if err != nil {
		return err
	}
	s := stream{w: w, c: http.NewResponseController(w)}
	_ = s.c.SetReadDeadline(time.Time{}) // the server's is for requests; this one goes on
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not hold events back
	wake, done := j.wakes.watch(job.ID)
	defer done()
	glances := time.NewTicker(glance)
	defer glances.Stop()
	for {
		if s.show(job) != nil || job.Ended() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-j.closing:
			return nil
		case <-wake:
		case <-glances.C:
		}
		if now, err := j.Get(ctx, j.db, Ref{job.ID.String()}); err == nil {
			job = now
		} else if !pg.Away(err) {
			return nil // it was swept away, or the client has gone
		}
	}
}

// A stream is one client's events.
type stream struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	sent int
	last string
	at   time.Time
}

// show sends the job if it is news, or a sign of life if there was none for long.
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
	_ = s.c.SetWriteDeadline(s.at.Add(stuck)) // not every writer has one
	if _, err := s.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return s.c.Flush()
}
