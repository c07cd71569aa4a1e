// Package schedule runs timed work. Each task reports when it is next due. A Clock sleeps until the
// earliest of these times, or until something wakes it, so an idle server rarely queries the
// database.
//
// # Waking
//
// The Clock has its own connection, on which it listens for notifications. When a row appears that
// a task must handle, a trigger of the database notifies the Clocks of all servers. Within a
// server, Wake does the same. A notification can be lost with a connection. Therefore the Clock
// asks all tasks again after a new connection, and every half minute in any case.
//
// # Several servers
//
// Every server has a Clock, and a notification wakes all of them. A task must therefore tolerate
// that other servers run it at the same time: it locks the rows that it handles, and skips rows
// that are locked.
package schedule

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

const (
	// Never is what Next returns if nothing is planned.
	Never = time.Duration(math.MaxInt64)

	// Application is the name of the connection on which a Clock listens.
	Application = "coffer clock"

	moment = time.Second      // the minimum pause between two runs of a task, unless it is woken
	answer = 10 * time.Second // how long Next may take
)

// A Task is timed work.
type Task struct {
	Name string // the name that Wake and notifications use
	// Next returns the time until there is something to do, by the database's clock. It returns 0
	// or less if there is something to do now, and Never if nothing is planned. It runs one short
	// statement.
	Next func(context.Context, pg.Querier) (time.Duration, error)
	// Every is how often the task runs, if it has no Next.
	Every time.Duration
	Do    func(context.Context) error
	Fault string // the log message if it fails
}

// In returns a time that a query found as milliseconds from now, or Never for null.
func In(ms *int64) time.Duration {
	if ms == nil {
		return Never
	}
	return time.Duration(*ms) * time.Millisecond
}

// A Clock runs tasks.
type Clock struct {
	Fallback time.Duration // the longest sleep; set before Run

	db  *pg.DB
	log *slog.Logger

	listening atomic.Bool

	mu    sync.Mutex
	tasks []*state
	stir  context.CancelFunc // ends the current sleep
}

// A state is a task and the times at which it is next considered.
type state struct {
	Task
	at    time.Time // when Next is called again
	rest  time.Time // the task does not run before this time, unless it is woken
	woken bool
	busy  bool
}

// New returns a Clock without tasks. It opens no connection.
func New(db *pg.DB, log *slog.Logger) *Clock {
	return &Clock{Fallback: 30 * time.Second, db: db.Reserved(), log: log}
}

// Listening reports whether the Clock has its connection, and so receives the database's
// notifications.
func (c *Clock) Listening() bool { return c.listening.Load() }

// Wake makes the Clock call the task's Next at once. It does not block.
func (c *Clock) Wake(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.tasks {
		if s.Name == name {
			s.woken = true
		}
	}
	c.rouse()
}

// rouse ends the current sleep. The caller holds mu.
func (c *Clock) rouse() {
	if c.stir != nil {
		c.stir()
	}
}

// Run runs the tasks until ctx ends, and returns after the last one has returned.
func (c *Clock) Run(ctx context.Context, tasks ...Task) {
	c.mu.Lock()
	for _, x := range tasks {
		c.tasks = append(c.tasks, &state{Task: x, at: time.Now().Add(x.Every)})
	}
	c.mu.Unlock()
	var working sync.WaitGroup
	defer working.Wait()
	for logged := false; ctx.Err() == nil; {
		conn, err := c.listen(ctx)
		if err == nil {
			logged = false
			c.listening.Store(true)
			c.again()
			err = c.attend(ctx, conn, &working)
			c.listening.Store(false)
			_ = conn.Close(context.WithoutCancel(ctx)) // it may be broken
		} else { // without its connection the Clock asks every task through the pool, more often
			c.again()
			_, _ = c.ask(ctx, c.db, &working) // the next attempt follows in a moment
		}
		if ctx.Err() != nil {
			return
		}
		if !logged {
			logged = true
			c.log.Warn("timed work lost its connection", "error", errs.LogText(err))
		}
		sleep(ctx, moment)
	}
}

// listen opens the connection for notifications. The schema's triggers notify the channel coffer
// with the name of a task.
func (c *Clock) listen(ctx context.Context) (*pgx.Conn, error) {
	cfg := c.db.Config().ConnConfig
	cfg.RuntimeParams["application_name"] = Application
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if _, err := pg.Exec(ctx, conn, `listen coffer`); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // the error is reported
		return nil, err
	}
	return conn, nil
}

// again wakes every task that has a Next, because notifications may have been missed.
func (c *Clock) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.tasks {
		s.woken = s.woken || s.Next != nil
	}
}

// attend alternates between asking the tasks and sleeping until ctx ends or the connection breaks.
func (c *Clock) attend(ctx context.Context, conn *pgx.Conn, working *sync.WaitGroup) error {
	for {
		next, err := c.ask(ctx, conn, working)
		if err != nil {
			return err
		}
		if err := c.doze(ctx, conn, next); err != nil {
			return err
		}
	}
}

// ask considers the tasks whose time has come, and returns when to ask again.
func (c *Clock) ask(ctx context.Context, q pg.Querier, working *sync.WaitGroup) (time.Time, error) {
	c.mu.Lock()
	all := c.tasks
	c.mu.Unlock()
	next := time.Now().Add(c.Fallback)
	for _, s := range all {
		c.mu.Lock()
		woken, now := s.woken, time.Now()
		pending := !s.busy && (woken || !now.Before(s.at))
		if pending {
			s.woken = false
		}
		c.mu.Unlock()
		if pending {
			if err := c.consider(ctx, q, s, woken, working); err != nil {
				return next, err
			}
		}
		c.mu.Lock()
		if !s.busy && s.at.Before(next) {
			next = s.at
		}
		c.mu.Unlock()
	}
	return next, ctx.Err()
}

// consider calls the task's Next, and starts the task if it is due.
func (c *Clock) consider(ctx context.Context, q pg.Querier, s *state, woken bool, working *sync.WaitGroup) error {
	left := time.Duration(0)
	if s.Next != nil {
		limited, cancel := context.WithTimeout(ctx, answer)
		var err error
		left, err = s.Next(limited, q)
		cancel()
		if conn, ok := q.(*pgx.Conn); err != nil && (!ok || conn.IsClosed()) {
			c.mu.Lock()
			s.woken = s.woken || woken
			c.mu.Unlock()
			return err
		}
		if err != nil {
			c.log.Warn(s.Fault, "error", errs.LogText(err))
			left = moment
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case left > 0:
		s.at = now.Add(min(left, c.Fallback) + time.Millisecond)
	case !woken && now.Before(s.rest):
		s.at = s.rest
	default:
		s.busy = true
		working.Go(func() { c.do(ctx, s) })
	}
	return nil
}

func (c *Clock) do(ctx context.Context, s *state) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = errs.Panicked("task "+s.Name, p)
			}
		}()
		return s.Do(ctx)
	}()
	if err != nil && ctx.Err() == nil {
		c.log.Error(s.Fault, "error", errs.LogText(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.busy, s.rest, s.at = false, time.Now().Add(moment), time.Now().Add(s.Every)
	c.rouse()
}

// doze sleeps until the given time, a notification or Wake.
func (c *Clock) doze(ctx context.Context, conn *pgx.Conn, until time.Time) error {
	sleeping, stir := context.WithDeadline(ctx, until)
	defer stir()
	c.mu.Lock()
	c.stir = stir
	for _, s := range c.tasks {
		if !s.busy && (s.woken || s.at.Before(until)) { // became due since it was asked
			stir()
		}
	}
	c.mu.Unlock()
	for {
		n, err := conn.WaitForNotification(sleeping)
		if err != nil {
			if conn.IsClosed() {
				return fmt.Errorf("listen: %w", err)
			}
			return ctx.Err()
		}
		c.Wake(n.Payload) // the sleep ends after all notifications that have arrived are read
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
