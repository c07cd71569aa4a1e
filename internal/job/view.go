package job

import (
	"context"
	"sync"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

const (
	glance        = 300 * time.Millisecond // how often watched jobs are read; work of this process is seen sooner
	breath        = 25 * time.Millisecond  // between two readings, however much happens
	callerStreams = 20                     // event streams of one caller
	allStreams    = 200                    // event streams of all callers
)

// views are jobs that somebody waits for, and those who do. However many that are, one goroutine
// reads all jobs in one statement and hands out what it found; it runs while somebody waits.
type views struct {
	read func(ctx context.Context, ids []id.ID) ([]row, error)

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

func newViews(read func(context.Context, []id.ID) ([]row, error)) *views {
	return &views{read: read, all: map[id.ID]map[*viewer]bool{}, poked: make(chan struct{}, 1)}
}

// watch sends news of the job until leave is called.
func (v *views) watch(job id.ID) (w *viewer, leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.all) == 0 {
		v.ending = make(chan struct{})
		go v.look(v.ending)
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

// poke has watched jobs read soon, because something happened to this one. Nothing depends on it.
func (v *views) poke(job id.ID) {
	v.mu.Lock()
	watched := v.all[job] != nil
	v.mu.Unlock()
	if !watched {
		return
	}
	select {
	case v.poked <- struct{}{}:
	default:
	}
}

// look reads watched jobs until the last viewer leaves.
func (v *views) look(ending <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-ending:
			return
		case <-tick.C:
		case <-v.poked:
		}
		v.show(ctx)
		select {
		case <-ending:
			return
		case <-time.After(breath):
		}
	}
}

// show reads every watched job and notifies its viewers. If the database is not reachable, the next
// glance does it.
func (v *views) show(ctx context.Context) {
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
		return
	}
	for _, r := range found {
		for _, w := range waiting[r.ID] {
			w.tell(&r)
		}
		delete(waiting, r.ID)
	}
	for _, gone := range waiting {
		for _, w := range gone {
			w.tell(nil)
		}
	}
}

func (w *viewer) tell(r *row) {
	w.mu.Lock()
	w.last = r
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default: // it has not looked at the last news yet, and will see these
	}
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
	return pg.All[row](ctx, j.desk, rows+` where id = any($1)`, ids)
}
