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
	glance        = time.Second           // how often watched jobs are read while nothing listens, or after a failure
	breath        = 25 * time.Millisecond // between two readings, however much happens
	callerStreams = 20                    // event streams of one caller
	allStreams    = 200                   // event streams of all callers
)

// views are jobs that somebody waits for, and those who do. However many that are, one goroutine
// reads all jobs in one statement and hands out what it found; it runs while somebody waits. It
// reads when a job has moved, of which every transaction that moves one notifies all servers.
type views struct {
	read      func(ctx context.Context, ids []id.ID) ([]row, error)
	listening func() bool // whether notifications arrive

	mu     sync.Mutex
	all    map[id.ID]map[*viewer]bool
	poked  chan struct{} // holds one word that something happened in this process
	ending chan struct{} // closed when the last one left
}

// A viewer is one who waits for news of a job.
type viewer struct {
	job  id.ID
	news chan struct{} // holds one word that last is new

	mu   sync.Mutex
	last *row // nil if the job is gone
}

func newViews(read func(context.Context, []id.ID) ([]row, error), listening func() bool) *views {
	return &views{
		read: read, listening: listening, all: map[id.ID]map[*viewer]bool{}, poked: make(chan struct{}, 1),
	}
}

// watch sends news of the job until leave is called.
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

// poke has watched jobs read soon, because this one moved in this process.
func (v *views) poke(job id.ID) {
	v.mu.Lock()
	watched := v.all[job] != nil
	v.mu.Unlock()
	if watched {
		signal(v.poked)
	}
}

// moved has watched jobs read soon, because a server says that some have moved. The clock calls it
// also after a new connection and every half minute, in case a notification was lost.
func (v *views) moved(context.Context, pg.Querier) (time.Duration, error) {
	v.mu.Lock()
	watched := len(v.all) > 0
	v.mu.Unlock()
	if watched {
		signal(v.poked)
	}
	return schedule.Never, nil
}

// notifyMoved notifies all servers, when tx commits, that jobs have moved.
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

// show reads every watched job and notifies its viewers. It reports whether it could: if the
// database is not reachable, the next glance does it.
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

// show gives the viewer what was read.
func (w *viewer) show(r *row) {
	w.mu.Lock()
	w.last = r
	w.mu.Unlock()
	signal(w.news) // a viewer that has not looked at the last news yet will see these
}

// now is the job as it was last read, or nil if it is gone.
func (w *viewer) now() *row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// streams bound how many event streams are open.
type streams struct {
	mu  sync.Mutex
	of  map[id.ID]int
	all int
}

// open counts one more stream, or returns the reason why there cannot be one.
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

// readAll reads jobs for everyone who waits for them. They are reserved's: waiting goes on when the
// server is busy.
func (j *Jobs) readAll(ctx context.Context, ids []id.ID) ([]row, error) {
	return pg.All[row](ctx, j.reserved, rows+` where id = any($1)`, ids)
}
