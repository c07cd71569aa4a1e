package pg

import (
	"context"
	"sync"
	"time"

	"coffer/internal/platform/errs"
)

// A Use is the purpose for which a connection is needed.
type Use int

// The uses. Writing and Working hold a connection for a whole transaction, and may wait for locks
// meanwhile.
const (
	Reading Use = iota // a call that changes nothing
	Writing            // a call's transaction
	Working            // a batch of a job
)

// enterPatience is how long a call waits for a connection. It is longer than the lock timeout, so
// that calls that queue behind blocked ones still get one when those give up.
const enterPatience = 10 * time.Second

// shares divides the connections of a pool between uses and callers, so that none of them can take
// all.
//
// Transactions can wait for locks while they hold their connection. Together they leave some
// connections to reads, calls leave some to jobs, and jobs leave some to calls. One caller has at
// most half of the connections at a time.
type shares struct {
	each     int // concurrent calls of one caller
	half     int // concurrent transactions of calls, and the same number for jobs
	together int // concurrent transactions of calls and jobs together

	mu      sync.Mutex
	held    [3]int         // by use
	callers map[string]int // running calls
	waiting []*waiter      // in order of arrival
}

type waiter struct {
	use    Use
	caller string
	ready  chan struct{} // closed, under mu, when it may enter
	in     bool
}

func newShares(conns int) *shares {
	half := (conns + 1) / 2
	return &shares{each: half, half: half, together: max(1, conns-(conns+2)/4), callers: map[string]int{}}
}

// fits reports whether another connection may be taken now, and if not, whether the caller's own
// calls are the reason.
func (s *shares) fits(use Use, caller string) (fits, own bool) {
	if caller != "" && s.callers[caller] >= s.each {
		return false, true
	}
	return use == Reading || s.held[use] < s.half && s.held[Writing]+s.held[Working] < s.together, false
}

func (s *shares) take(use Use, caller string) {
	s.held[use]++
	if caller != "" {
		s.callers[caller]++
	}
}

func (s *shares) leave(use Use, caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[use]--
	if caller != "" {
		if s.callers[caller]--; s.callers[caller] == 0 {
			delete(s.callers, caller)
		}
	}
	s.admit()
}

// admit admits waiters that fit now: first those of the caller with the fewest running calls, then
// in order of arrival.
func (s *shares) admit() {
	for {
		next := -1
		for i, w := range s.waiting {
			if fits, _ := s.fits(w.use, w.caller); fits &&
				(next < 0 || s.callers[w.caller] < s.callers[s.waiting[next].caller]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := s.waiting[next]
		s.waiting = append(s.waiting[:next], s.waiting[next+1:]...)
		s.take(w.use, w.caller)
		w.in = true
		close(w.ready)
	}
}

// Enter waits until a connection may be used, and returns a function that releases its slot. A
// caller has a limited number of connections at a time. Without a caller name there is no such
// limit, and the wait lasts as long as ctx.
func (db *DB) Enter(ctx context.Context, use Use, caller string) (leave func(), err error) {
	s := db.shares
	s.mu.Lock()
	fits, own := s.fits(use, caller)
	if fits {
		s.take(use, caller)
		s.mu.Unlock()
		return func() { s.leave(use, caller) }, nil
	}
	w := &waiter{use: use, caller: caller, ready: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	var over <-chan time.Time
	if caller != "" {
		timer := time.NewTimer(enterPatience)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-w.ready:
		return func() { s.leave(use, caller) }, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-over:
		err = errs.New(errs.Unavailable, "the server is busy with other changes; try again in a moment").Later(
			time.Second)
		if own {
			err = errs.New(errs.RateLimited, "this caller already has %d calls running; try again when some "+
				"have finished",
				s.each).Later(time.Second)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.in { // admitted at the same moment
		return func() { s.leave(use, caller) }, nil
	}
	for i, other := range s.waiting {
		if other == w {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			break
		}
	}
	return nil, err
}

// Waiting returns how many callers wait for their turn.
func (db *DB) Waiting() int {
	db.shares.mu.Lock()
	defer db.shares.mu.Unlock()
	return len(db.shares.waiting)
}
