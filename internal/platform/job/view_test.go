package job

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/schedule"
)

// All viewers together cause only a few reads a second, each in one statement. Every viewer gets
// the changes.
func TestManyViewersAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jobs := []id.ID{id.New(), id.New(), id.New()}
		var reads, done atomic.Int64
		v := newViews(func(_ context.Context, ids []id.ID) ([]row, error) {
			reads.Add(1)
			var out []row
			for _, u := range ids {
				out = append(out, row{ID: u, Done: done.Load()})
			}
			return out, nil
		}, func() bool { return false })
		const viewers = 1500
		var leaves []func()
		var all []*viewer
		for n := range viewers {
			w, leave := v.watch(jobs[n%len(jobs)])
			all, leaves = append(all, w), append(leaves, leave)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := reads.Load(); n > int64(10*time.Second/glance) {
			t.Errorf("%d readings in ten seconds", n)
		}
		before := reads.Load()
		done.Store(7)
		for range 1000 { // a job that makes progress quickly
			v.poke(jobs[0])
		}
		time.Sleep(2 * breath)
		synctest.Wait()
		if n := reads.Load() - before; n < 1 || n > 2 {
			t.Errorf("a thousand pokes are %d readings", n)
		}
		for n, w := range all {
			select {
			case <-w.news:
			default:
				t.Fatalf("viewer %d learns nothing", n)
			}
			if r := w.now(); r == nil || r.Done != 7 || r.ID != w.job {
				t.Fatalf("viewer %d is shown %+v", n, r)
			}
		}
		for _, leave := range leaves {
			leave()
		}
		synctest.Wait()
		before = reads.Load()
		time.Sleep(time.Minute)
		if reads.Load() != before {
			t.Error("jobs are read for nobody")
		}
		again, leave := v.watch(jobs[1])
		time.Sleep(2 * glance)
		synctest.Wait()
		if again.now() == nil {
			t.Error("a later viewer gets no news")
		}
		leave()
	})
}

// A job that does not exist is distinguished from an unreachable database.
func TestViewersOfNothing(t *testing.T) {
	t.Parallel()
	for _, listens := range []bool{false, true} {
		viewersOfNothing(t, listens)
	}
}

func viewersOfNothing(t *testing.T, listens bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		away.Store(true)
		v := newViews(func(context.Context, []id.ID) ([]row, error) {
			if away.Load() {
				return nil, errors.New("away")
			}
			return nil, nil
		}, func() bool { return listens })
		w, leave := v.watch(id.New())
		defer leave()
		_, _ = v.moved(t.Context(), nil)
		time.Sleep(10 * glance)
		synctest.Wait()
		if len(w.news) != 0 {
			t.Error("a database that is away says something")
		}
		away.Store(false)
		<-w.news
		if w.now() != nil {
			t.Error("a job that is gone is shown")
		}
	})
}

// While notifications arrive, watched jobs are read only after a change.
func TestViewersThatListenDoNotPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		v := newViews(func(_ context.Context, ids []id.ID) ([]row, error) {
			reads.Add(1)
			return []row{{ID: ids[0]}}, nil
		}, func() bool { return true })
		if next, err := v.moved(t.Context(), nil); err != nil || next != schedule.Never || len(v.poked) > 0 {
			t.Errorf("nobody waits, and the next reading is in %s (%v)", next, err)
		}
		w, leave := v.watch(id.New())
		defer leave()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := reads.Load(); n > 0 {
			t.Errorf("%d readings in an hour in which nothing moved", n)
		}
		_, _ = v.moved(t.Context(), nil)
		<-w.news
		if n := reads.Load(); n != 1 || w.now() == nil {
			t.Errorf("%d readings of a job that moved", n)
		}
	})
}

// The number of streams is limited, for one caller and for all callers together.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	var s streams
	open := func(who id.ID) (func(), error) {
		return s.open(op.WithActor(t.Context(), op.Actor{ID: who}))
	}
	ada := id.New()
	var last func()
	for range callerStreams {
		closed, err := open(ada)
		if err != nil {
			t.Fatal(err)
		}
		last = closed
	}
	if _, err := open(ada); !errs.Is(err, errs.RateLimited) {
		t.Errorf("one more: %v", err)
	}
	last()
	if _, err := open(ada); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	n := callerStreams
	for ; n < 2*allStreams; n++ {
		if _, err := open(id.New()); err != nil {
			if !errs.Is(err, errs.Unavailable) {
				t.Error(err)
			}
			break
		}
	}
	if n != allStreams {
		t.Errorf("all callers together have %d", n)
	}
}
