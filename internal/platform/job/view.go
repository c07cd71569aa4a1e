package job

import (
	"context"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

const (
	glance        = time.Second           // how often jobs are read if no notifications arrive, or after a failure
	breath        = 25 * time.Millisecond // the minimum time between two readings
	callerStreams = 20                    // event streams of one caller
	allStreams    = 200                   // event streams of all callers
)

// views holds the jobs that callers wait for, with their viewers. While there are viewers, one
// goroutine reads all these jobs in one statement and passes the rows on. It reads when a job has
// changed: every transaction that starts a job, advances it or ends it notifies all servers.
type views struct {
	read      func(ctx context.Context, ids []id.ID) ([]row, error)
	listening func() bool // whether notifications arrive

	mu     sync.Mutex
	all    map[id.ID]map[*viewer]bool
	poked  chan struct{} // signals that a watched job may have changed
	ending chan struct{} // closed when the last viewer left
}

// A viewer is one caller that waits for changes of a job.
type viewer struct {
	job  id.ID
	news chan struct{} // signals that last has changed

	mu   sync.Mutex
	last *row // nil if the job was deleted
}

func newViews(read func(context.Context, []id.ID) ([]row, error), listening func() bool) *views {
	return &views{
		read: read, listening: listening, all: map[id.ID]map[*viewer]bool{}, poked: make(chan struct{}, 1),
	}
}

// watch reports changes of the job to the viewer until leave is called.
func (v *views) watch(job id.ID) (w *viewer, leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.all) == 0 {
		v.ending = make(chan struct{})
		go v.readLoop(v.ending)
	}
	w = &viewer{job: job, news: make(chan struct{}, 1)}
	if v.all[job] == nil {
		v.all[job] = map[*viewer]bool{}
	}
	v.all[job][w] = true
	return w, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.all[job], w)
		if len(v.all[job]) == 0 {
			delete(v.all, job)
		}
		if len(v.all) == 0 {
			close(v.ending)
		}
	}
}

// poke makes readLoop read the watched jobs soon, because this one changed in this process.
func (v *views) poke(job id.ID) {
	v.mu.Lock()
	watched := v.all[job] != nil
	v.mu.Unlock()
	if watched {
		signal(v.poked)
	}
}

// moved makes readLoop read the watched jobs soon, because a server reported changes. The clock
// also calls it after a new connection and every half minute, in case a notification was lost.
func (v *views) moved(context.Context, pg.Querier) (time.Duration, error) {
	v.mu.Lock()
	watched := len(v.all) > 0
	v.mu.Unlock()
	if watched {
		signal(v.poked)
	}
	return schedule.Never, nil
}

// notifyMoved notifies all servers, when tx commits, that jobs have changed.
func notifyMoved(ctx context.Context, tx pg.Querier) error {
	_, err := pg.Exec(ctx, tx, `select pg_notify('coffer', $1)`, movedTask)
	return err
}

// readLoop reads watched jobs until the last viewer leaves.
func (v *views) readLoop(ending <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for current := true; ; {
		select {
		case <-ending:
			return
		case <-tick.C:
			if current && v.listening() {
				continue
			}
		case <-v.poked:
		}
		current = v.show(ctx)
		select {
		case <-ending:
			return
		case <-time.After(breath):
		}
	}
}

// show reads every watched job and passes the rows to the viewers. It returns false if it cannot
// reach the database; the next reading then repeats it.
func (v *views) show(ctx context.Context) bool {
	v.mu.Lock()
	waiting := make(map[id.ID][]*viewer, len(v.all))
	ids := make([]id.ID, 0, len(v.all))
	for job, all := range v.all {
		for w := range all {
			if len(waiting[job]) == 0 {
				ids = append(ids, w.job)
			}
			waiting[job] = append(waiting[job], w)
		}
	}
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found, err := v.read(ctx, ids)
	if err != nil {
		return false
	}
	for _, r := range found {
		for _, w := range waiting[r.ID] {
			w.show(&r)
		}
		delete(waiting, r.ID)
	}
	for _, gone := range waiting {
		for _, w := range gone {
			w.show(nil)
		}
	}
	return true
}

// show passes the row to the viewer.
func (w *viewer) show(r *row) {
	w.mu.Lock()
	w.last = r
	w.mu.Unlock()
	signal(w.news) // a viewer that has not looked at the last news yet will see these
}

// now returns the job as it was last read, or nil if it was deleted.
func (w *viewer) now() *row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// streams limits how many event streams are open.
type streams struct {
	mu  sync.Mutex
	of  map[id.ID]int
	all int
}

// open counts one more stream, or returns an error if the limit is reached.
func (s *streams) open(ctx context.Context) (closed func(), err error) {
	who := op.ActorOf(ctx).ID
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[who] >= callerStreams:
		return nil, errs.New(errs.RateLimited,
			"this caller already has %d event streams open; close some, or use {job.get} with wait",
			callerStreams).Later(5 * time.Second)
	case s.all >= allStreams:
		return nil, errs.New(errs.Unavailable,
			"too many event streams are open on this server; use {job.get} with wait").Later(5 * time.Second)
	}
	if s.of == nil {
		s.of = map[id.ID]int{}
	}
	s.of[who]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[who]--; s.of[who] == 0 {
			delete(s.of, who)
		}
	}, nil
}

// readAll reads jobs for all viewers. It uses reserved connections, so that waiting works even if
// the server is busy.
func (j *Jobs) readAll(ctx context.Context, ids []id.ID) ([]row, error) {
	return pg.All[row](ctx, j.reserved, rows+` where id = any($1)`, ids)
}
