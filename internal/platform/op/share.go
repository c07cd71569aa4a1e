package op

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"coffer/internal/platform/errs"
)

// A Share limits how much of a resource all callers together, and each of them alone, may use at a
// time: slots for expensive calls, or bytes of large bodies. If there is no room, a caller waits
// for a while, in order of arrival. A caller that waits for its own room does not block others.
type Share struct {
	Total    int64         // for all callers
	PerOwner int64         // for one caller
	Patience time.Duration // how long to wait for room
	Own      string        // the error if the caller's own calls use all of its room
	Others   string        // the error if all callers together use all of the room

	mu      sync.Mutex
	used    int64
	by      map[string]int64
	waiting []*claim
}

// A claim is a caller waiting for room.
type claim struct {
	owner   string
	n       int64
	granted chan struct{}
}

// maxWaiting is the maximum number of claims of one caller that wait at a time; another one fails
// at once.
const maxWaiting = 100

// Take takes room for n and returns a function that releases it. If n is more than one caller may
// have, it takes all of that.
func (s *Share) Take(ctx context.Context, owner string, n int64) (release func(), err error) {
	n = min(n, s.PerOwner, s.Total)
	s.mu.Lock()
	if s.by == nil {
		s.by = map[string]int64{}
	}
	if !s.queued(owner) && s.fits(owner, n) {
		s.grant(owner, n)
		s.mu.Unlock()
		return s.releaser(owner, n), nil
	}
	c := &claim{owner: owner, n: n, granted: make(chan struct{})}
	before := 0
	for _, w := range s.waiting {
		if w.owner == owner {
			before++
		}
	}
	if before >= maxWaiting {
		s.mu.Unlock()
		return nil, errs.New(errs.RateLimited, "%s", s.Own).Later(s.Patience)
	}
	s.waiting = append(s.waiting, c)
	s.mu.Unlock()
	late := time.NewTimer(s.Patience)
	defer late.Stop()
	select {
	case <-c.granted:
		return s.releaser(owner, n), nil
	case <-late.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting, c)
	if at < 0 { // it was granted at the last moment
		return s.releaser(owner, n), nil
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	own := s.by[owner]+n > s.PerOwner
	s.serve() // the next claims may fit now
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case own:
		return nil, errs.New(errs.RateLimited, "%s", s.Own).Later(s.Patience)
	}
	return nil, errs.New(errs.Unavailable, "%s", s.Others).Later(s.Patience)
}

// queued reports whether there is a waiting claim that this caller must not overtake: its own, or
// one that waits for the shared room.
func (s *Share) queued(owner string) bool {
	return slices.ContainsFunc(s.waiting, func(c *claim) bool {
		return c.owner == owner || s.by[c.owner]+c.n <= s.PerOwner
	})
}

func (s *Share) fits(owner string, n int64) bool {
	return s.used+n <= s.Total && s.by[owner]+n <= s.PerOwner
}

func (s *Share) grant(owner string, n int64) {
	s.used += n
	s.by[owner] += n
}

// serve grants waiting claims that fit, in order. A claim that lacks shared room blocks those
// behind it, or small claims would starve it.
func (s *Share) serve() {
	left := s.waiting[:0]
	full := false
	for _, c := range s.waiting {
		switch {
		case !full && s.fits(c.owner, c.n):
			s.grant(c.owner, c.n)
			close(c.granted)
			continue
		case s.by[c.owner]+c.n <= s.PerOwner:
			full = true
		}
		left = append(left, c)
	}
	clear(s.waiting[len(left):])
	s.waiting = left
}

func (s *Share) releaser(owner string, n int64) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used -= n
		if s.by[owner] -= n; s.by[owner] == 0 {
			delete(s.by, owner)
		}
		s.serve()
	})
}

// HeavyShare returns the limit on heavy ops that a process runs at a time: as many as it has cores,
// and half of these for one caller, so that others always find one.
func HeavyShare() *Share {
	cores := int64(runtime.GOMAXPROCS(0))
	return &Share{
		Total: cores, PerOwner: max(1, cores/2), Patience: 10 * time.Second,
		Own:    "other calls with this key are still running; wait for them or try again in a few seconds",
		Others: "the server is busy with other callers; try again in a few seconds",
	}
}

// turn waits until a heavy op may run; other ops do not wait.
func (r *Runner) turn(ctx context.Context, o *Op, c *Call) (release func(), err error) {
	if !o.Heavy {
		return func() {}, nil
	}
	r.once.Do(r.share)
	return r.heavy.Take(ctx, c.Actor.ID.String(), 1)
}

// longAnswers returns the share of answers that are sent row by row.
func (r *Runner) longAnswers() *Share {
	r.once.Do(r.share)
	return r.answers
}

// share creates the shares that were not configured.
func (r *Runner) share() {
	if r.heavy = r.Heavy; r.heavy == nil {
		r.heavy = HeavyShare()
	}
	if r.answers = r.Answers; r.answers == nil {
		r.answers = AnswerShare()
	}
}
