package op

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

func newShare(total, own int64) *Share {
	return &Share{Total: total, PerOwner: own, Patience: time.Minute, Own: "own", Others: "others"}
}

// waits blocks until n claims wait.
func (s *Share) waits(n int) {
	for waiting := -1; waiting != n; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		waiting = len(s.waiting)
		s.mu.Unlock()
	}
}

func take(t *testing.T, s *Share, owner string, n int64) func() {
	t.Helper()
	release, err := s.Take(t.Context(), owner, n)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// Room is granted in order of arrival. A caller that waits for its own room does not block others,
// and a claim that waits for the shared room is not overtaken by smaller ones.
func TestShareGoesInTurn(t *testing.T) {
	t.Parallel()
	s := newShare(10, 6)
	first := take(t, s, "a", 6)
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	releases := map[string]func(){}
	claim := func(waiting int, name, owner string, n int64) {
		all.Go(func() {
			release, err := s.Take(t.Context(), owner, n)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			mu.Lock()
			order = append(order, name)
			releases[name] = release
			mu.Unlock()
		})
		if waiting > 0 {
			s.waits(waiting)
		}
	}
	claim(1, "a again", "a", 1)
	other := take(t, s, "b", 3) // a waits for its own room only
	claim(2, "c large", "c", 5)
	claim(3, "d small", "d", 1) // there is room, but c came first
	other()                     // 6 of 10 are used: c needs 5
	s.waits(3)
	first()
	all.Wait()
	if got := strings.Join(order, ", "); len(order) != 3 {
		t.Errorf("granted %s", got)
	}
	for _, release := range releases {
		release()
		release() // a second release has no effect
	}
	if s.used != 0 || len(s.by) != 0 || len(s.waiting) != 0 {
		t.Errorf("left over: %d used, %v, %d waiting", s.used, s.by, len(s.waiting))
	}
}

// A caller that waits too long gets an error that says whose calls use the room and when to retry.
// A caller that gives up leaves no trace.
func TestShareRefuses(t *testing.T) {
	t.Parallel()
	s := newShare(10, 6)
	s.Patience = time.Millisecond
	release := take(t, s, "a", 100) // more than the maximum takes the maximum
	if _, err := s.Take(t.Context(), "a", 1); !errs.Is(err, errs.RateLimited) || !strings.Contains(err.Error(), "own") {
		t.Errorf("the caller's own room: %v", err)
	}
	more := take(t, s, "b", 4)
	_, err := s.Take(t.Context(), "c", 1)
	if e, ok := errors.AsType[*errs.Error](err); !ok || e.Code != errs.Unavailable || e.After == 0 ||
		e.Message != "others" {
		t.Errorf("the shared room: %v", err)
	}
	s.Patience = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.Take(ctx, "c", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
	s.waits(1)
	cancel()
	all.Wait()
	release()
	more()
	if s.used != 0 || len(s.by) != 0 || len(s.waiting) != 0 {
		t.Errorf("left over: %d used, %v, %d waiting", s.used, s.by, len(s.waiting))
	}
}

// One caller's calls of a heavy op run one at a time, and another caller's calls run beside them.
func TestHeavyCallsOfOneCallerLeaveRoom(t *testing.T) {
	t.Parallel()
	if most := heavyAtOnce(t, &Share{Total: 2, PerOwner: 1, Patience: time.Minute}); most != 1 {
		t.Errorf("%d calls of one caller ran at once, want 1", most)
	}
}

// Check the test: without the limit all calls run at once, and heavyAtOnce notices.
func TestHeavyCallsWithoutBoundRunAtOnce(t *testing.T) {
	t.Parallel()
	if most := heavyAtOnce(t, &Share{Total: 1000, PerOwner: 1000, Patience: time.Minute}); most != heavyCalls {
		t.Errorf("%d calls of one caller ran at once, want %d", most, heavyCalls)
	}
}

const heavyCalls = 40

// heavyAtOnce makes calls of one caller while another caller calls, and returns how many calls of
// the first caller ran at the same time.
func heavyAtOnce(t *testing.T, share *Share) int64 {
	t.Helper()
	var running, most atomic.Int64
	entered, leave := make(chan struct{}, heavyCalls), make(chan struct{})
	o := Reading(Spec{Name: "thing.preview", Route: "GET /things", Summary: "Works hard.", Heavy: true},
		func(ctx context.Context, _ pg.Querier, _ None) ([]string, error) {
			if ActorOf(ctx).Name == "other" {
				return nil, nil
			}
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			entered <- struct{}{}
			<-leave
			running.Add(-1)
			return nil, nil
		})
	// Never queried, with enough connections for all callers.
	db, err := pg.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", pg.Options{MaxConns: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := &Runner{DB: db, Heavy: share}
	caller := Actor{Type: User, ID: id.New(), Scope: Read}
	var all sync.WaitGroup
	for range heavyCalls {
		all.Go(func() {
			if _, err := r.Call(t.Context(), o, Call{
				Actor: caller, Surface: REST,
				Args: map[string]any{},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	fits := int(min(heavyCalls, share.PerOwner))
	for range fits {
		<-entered
	}
	share.waits(heavyCalls - fits)
	other := Actor{Type: User, ID: id.New(), Name: "other", Scope: Read}
	if _, err := r.Call(t.Context(), o, Call{Actor: other, Surface: REST, Args: map[string]any{}}); err != nil {
		t.Error(fmt.Errorf("another caller: %w", err))
	}
	close(leave)
	all.Wait()
	return most.Load()
}
