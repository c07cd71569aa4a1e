package storm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// idleKind returns a kind of job that keeps its lease until the test ends it.
func idleKind(end <-chan struct{}) job.Kind {
	return job.Kind{Name: "idle", Unit: "hours", Work: func(ctx context.Context, _ *job.Run) (any, error) {
		select {
		case <-end:
			return nil, nil //nolint:nilnil // it only lasts
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// TestBlockedWritersStopNobody: fourteen callers write a record that another transaction has
// locked. Everything else works as usual: reads of another caller, the readiness probe and the
// leases of jobs. The writers get an error that asks them to retry.
func TestBlockedWritersStopNobody(t *testing.T) {
	t.Parallel()
	if err := blockedWriters(t, guarded, 4); err != nil {
		t.Error(err)
	}
}

// TestBlockedWritersWouldStopAll is the control: with one shared pool and no lock timeout, the same
// writers stop the server.
func TestBlockedWritersWouldStopAll(t *testing.T) {
	onlyUnshared(t)
	t.Parallel()
	err := blockedWriters(t, unguarded, 10)
	if err == nil {
		t.Fatal("nothing is kept for others and nobody notices, so the test proves nothing")
	}
	t.Log(err)
}

// blockedWriters waits until as many writers as stuck wait for the lock, each with its own
// connection. It then returns an error for anything that other callers noticed.
func blockedWriters(t *testing.T, o pg.Options, stuck int) error {
	t.Helper()
	end := make(chan struct{})
	defer close(end)
	h := newHouse(t, o, 0, idleKind(end))
	writer, reader := h.key(t, "writer"), h.key(t, "reader")
	if r := h.call(t.Context(), http.MethodPost, "/tags", writer,
		`{"slug":"wanted","name":"Wanted"}`); r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.body)
	}
	err := h.other.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := h.Jobs.Enqueue(t.Context(), tx, "idle", struct{}{}, job.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h.eventually(t, "the job runs", `select exists (select from job where kind = 'idle' and state = 'running')`)
	release := h.lock(t, `select from tag where slug = 'wanted' for update`)
	var over atomic.Bool
	defer over.Store(true)
	var writers sync.WaitGroup
	var mu sync.Mutex
	var wrong []error
	for n := range 14 {
		writers.Go(func() {
			for !over.Load() {
				r := h.call(t.Context(), http.MethodPatch, "/tags/wanted", writer, fmt.Sprintf(`{"name":"By %d"}`, n))
				refused := r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests
				if r.status != http.StatusOK && !refused || refused && r.again == "" {
					mu.Lock()
					wrong = append(wrong, fmt.Errorf("a writer got %d, Retry-After %q: %s", r.status, r.again, r.body))
					mu.Unlock()
				}
			}
		})
	}
	h.eventually(t, "writers wait for the lock", `select count(*) >= $1 from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`, stuck)
	wrong = append(wrong, h.others(t, reader)...)
	release()
	over.Store(true)
	writers.Wait()
	return errors.Join(wrong...)
}

// others checks what callers notice who do not need the lock. They wait as long as a probe does.
func (h *house) others(t *testing.T, key string) (wrong []error) {
	t.Helper()
	for range 5 {
		for _, path := range []string{"/tags", "/health/ready", "/categories"} {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			if r := h.call(ctx, http.MethodGet, path, key, ""); r.status != http.StatusOK {
				wrong = append(wrong, fmt.Errorf("GET %s of another caller: %d after %s: %s", path, r.status, r.took,
					r.body))
			}
			cancel()
		}
		if len(wrong) > 0 {
			return wrong
		}
		before, err := pg.Value[pg.Time](t.Context(), h.other, `select renewed_at from job where kind = 'idle'`)
		if err != nil {
			t.Fatal(err)
		}
		h.eventually(t, "the lease is renewed", `select renewed_at > $1 and lease_number = 1 from job
			where kind = 'idle'`, before)
	}
	for _, line := range append(h.log.lines("leases not renewed"), h.log.lines("has disappeared")...) {
		wrong = append(wrong, errors.New(line))
	}
	return wrong
}

// lock runs the statement and keeps its locks until release is called.
func (h *house) lock(t *testing.T, statement string) (release func()) {
	t.Helper()
	held, over, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- h.other.InTx(context.WithoutCancel(t.Context()), func(tx pg.Tx) error {
			if _, err := tx.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
				return err
			}
			close(held)
			<-over
			return nil
		})
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatalf("not locked: %v", err)
	}
	return func() {
		close(over)
		if err := <-done; err != nil {
			t.Errorf("the lock was not released cleanly: %v", err)
		}
	}
}
