package schedule_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/schedule"
)

const patience = time.Minute

// An alarm is a task whose due times are rows of a table.
type alarm struct {
	db    *pg.DB
	asked atomic.Int64
	rang  chan time.Time
}

func newAlarm(t *testing.T) *alarm {
	t.Helper()
	a := &alarm{db: pgtest.New(t), rang: make(chan time.Time, 100)}
	if _, err := a.db.Exec(t.Context(), `create table alarm (at timestamptz)`); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *alarm) task() schedule.Task {
	return schedule.Task{
		Name: "alarm", Fault: "no alarm",
		Next: func(ctx context.Context, q pg.Querier) (time.Duration, error) {
			a.asked.Add(1)
			var ms *int64
			err := q.QueryRow(ctx, `select ceil(extract(epoch from min(at) - clock_timestamp()) * 1000)::bigint
				from alarm`).Scan(&ms)
			if err != nil || ms == nil {
				return schedule.Never, err
			}
			return time.Duration(*ms) * time.Millisecond, nil
		},
		Do: func(ctx context.Context) error {
			n, err := pg.Exec(ctx, a.db, `delete from alarm where at <= clock_timestamp()`)
			for range n {
				a.rang <- time.Now()
			}
			return err
		},
	}
}

// set adds an alarm. It also sends a notification if told is true.
func (a *alarm) set(t *testing.T, in time.Duration, told bool) (at time.Time) {
	t.Helper()
	at = time.Now().Add(in)
	if _, err := a.db.Exec(t.Context(), `insert into alarm values ($1)`, at); err != nil {
		t.Fatal(err)
	}
	if told {
		if _, err := a.db.Exec(t.Context(), `select pg_notify('coffer', 'alarm')`); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// ring waits until the alarm rings, and fails if it rings too early.
func (a *alarm) ring(t *testing.T, at time.Time) {
	t.Helper()
	select {
	case rang := <-a.rang:
		if rang.Before(at.Add(-50 * time.Millisecond)) { // allow for a difference between two clocks
			t.Errorf("%v early", at.Sub(rang))
		}
	case <-time.After(patience):
		t.Fatal("it never rang")
	}
}

func run(t *testing.T, c *schedule.Clock, tasks ...schedule.Task) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); c.Run(ctx, tasks...) }()
	t.Cleanup(func() { stop(); <-ended })
}

func newClock(a *alarm) *schedule.Clock {
	c := schedule.New(a.db, slog.New(slog.DiscardHandler))
	c.Fallback = time.Hour // the fallback must not cause anything in these tests
	return c
}

// await returns when the condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// The clock does not ask again before a known time. A time that another server writes is noticed by
// its notification.
func TestTimesAreKept(t *testing.T) {
	t.Parallel()
	a := newAlarm(t)
	known := a.set(t, 500*time.Millisecond, false)
	run(t, newClock(a), a.task())
	a.ring(t, known)
	await(t, "it is asked after its work", func() bool { return a.asked.Load() >= 3 })
	time.Sleep(2 * time.Second)
	// Asked at the start, when due, and after the work. A timer may be a moment early.
	if n := a.asked.Load(); n > 5 {
		t.Errorf("asked %d times", n)
	}
	a.ring(t, a.set(t, 0, true))
	a.ring(t, a.set(t, 700*time.Millisecond, true))
}

// A row that was written while the connection was down is found after the connection is back. A row
// without a notification is found at the next check.
func TestLostNotifications(t *testing.T) {
	t.Parallel()
	a := newAlarm(t)
	c := newClock(a)
	run(t, c, a.task())
	a.ring(t, a.set(t, 0, true))
	at := a.set(t, 0, false)
	ended, err := pg.Value[int](t.Context(), a.db, `select count(pg_terminate_backend(pid)) from pg_stat_activity
		where datname = current_database() and application_name = $1`, schedule.Application)
	if err != nil || ended != 1 {
		t.Fatalf("%d connections listen: %v", ended, err)
	}
	a.ring(t, at)

	b := newAlarm(t)
	c = newClock(b)
	c.Fallback = 500 * time.Millisecond
	run(t, c, b.task())
	await(t, "the first look", func() bool { return b.asked.Load() > 0 })
	b.ring(t, b.set(t, 0, false))
}

// A task that fails, panics or cannot say when it is due is tried again, and does not delay other
// tasks.
func TestFaultyTasks(t *testing.T) {
	t.Parallel()
	a := newAlarm(t)
	var failed, panicked, unsure, regular atomic.Int64
	now := func(context.Context, pg.Querier) (time.Duration, error) { return 0, nil }
	run(t, newClock(a),
		schedule.Task{Name: "fails", Next: now, Do: func(context.Context) error {
			failed.Add(1)
			return errors.New("no")
		}},
		schedule.Task{Name: "panics", Next: now, Do: func(context.Context) error {
			panicked.Add(1)
			panic("no")
		}},
		schedule.Task{Name: "unsure", Next: func(ctx context.Context, q pg.Querier) (time.Duration, error) {
			unsure.Add(1)
			_, err := q.Exec(ctx, `select from nowhere`)
			return 0, err
		}},
		schedule.Task{Name: "regular", Every: 100 * time.Millisecond, Do: func(context.Context) error {
			regular.Add(1)
			return nil
		}},
		schedule.Task{Name: "lasts", Next: now, Do: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		a.task())
	for range 3 {
		a.ring(t, a.set(t, 10*time.Millisecond, true))
	}
	await(t, "all are tried again", func() bool {
		return failed.Load() > 1 && panicked.Load() > 1 && unsure.Load() > 1 && regular.Load() > 2
	})
	if n := failed.Load(); n > 60 {
		t.Errorf("tried %d times without a pause", n)
	}
}
