package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// refuse makes the database reject all writes to a table, as a mistake in coffer could.
func (h *house) refuse(t *testing.T, table string) {
	t.Helper()
	h.write(t, `create or replace function refuse() returns trigger language plpgsql as
			$$ begin raise 'out of range' using errcode = '22003'; end $$;
		create trigger refused before insert on `+table+` for each row execute function refuse()`)
}

// told returns the types of the notifications so far.
func (h *house) told(t *testing.T) []string {
	t.Helper()
	out, err := pg.Values[string](t.Context(), h.db, `select type from notification order by id`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Syncs that fail inside coffer count like failures of the bank. Each closes its log and counts,
// and the third in a row puts the connection in error and posts a notification. A successful sync
// clears the error. It does not matter whether the sync had started a log.
func TestOwnFailuresAreTold(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"transaction", "sync_log"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t, 10)
			b.bank.put(charge("t1", "1.00", "A"))
			b.once(t, "manual")
			b.bank.put(charge("t2", "2.00", "B"))
			b.refuse(t, table)
			for n := 1; n <= patience+1; n++ {
				j, _ := b.once(t, "manual")
				if j.State != job.Failed || j.Error.Code != errs.InternalError {
					t.Fatalf("sync %d: %+v", n, j)
				}
				want, posts := "active", 0
				if n >= patience {
					want, posts = "error", 1
				}
				h := b.health(t)
				if h.Status != want || h.Failures != n || h.Due == nil || *h.Due || len(b.told(t)) != posts {
					t.Errorf("after %d: %+v, notified %q", n, h, b.told(t))
				}
				if want == "error" && (h.Reason == nil || *h.Reason != string(errs.InternalError) ||
					!strings.Contains(*h.Message, j.ShortID)) {
					t.Errorf("after %d: the connection does not say why", n)
				}
				l := b.lastLog(t)
				if table == "transaction" && (l.JobID != j.ID || l.Status != "error" || l.ErrorCode == nil ||
					*l.ErrorCode != string(errs.InternalError) || l.FinishedAt == nil) {
					t.Errorf("after %d the log is %+v", n, l)
				}
			}
			b.write(t, `drop trigger refused on `+table)
			b.once(t, "manual")
			if h := b.health(t); h.Status != "active" || h.Failures != 0 || h.Reason != nil {
				t.Errorf("afterwards: %+v", h)
			}
			if got := b.told(t); !slices.Equal(got, []string{"sync.failed"}) {
				t.Errorf("notified %q", got)
			}
			b.holds(t)
		})
	}
}

// A sync that is canceled, handed to another worker or rejected by the connection itself is not a
// failure.
func TestWhatIsNoFailure(t *testing.T) {
	t.Parallel()
	b := newBranch(t, mostStored) // a page is stored separately
	b.bank.put(charge("t1", "1.00", "A"))
	b.write(t, `update connection set paused = true`)
	if j, _ := b.once(t, "schedule"); j.State != job.Failed || j.Error.Code != errs.ConnNotSyncable {
		t.Errorf("a paused connection: %+v", j)
	}
	b.write(t, `update connection set paused = false`)
	b.bank.errs = []error{errs.New(errs.Unavailable, "it passes")} // the job retries this by itself
	if j, _ := b.once(t, "manual"); j.State != job.Succeeded {
		t.Errorf("a failure that passed: %+v, %+v", j, j.Error)
	}
	b.canceled(t)
	if l := b.lastLog(t); l.Status != "cancelled" || l.FinishedAt == nil {
		t.Errorf("the log of what was cancelled is %+v", l)
	}
	if h := b.health(t); h.Status != "active" || h.Failures != 0 || len(b.told(t)) > 0 {
		t.Errorf("%+v, notified %q", h, b.told(t))
	}
}

// canceled runs a sync of two pages, which is canceled while it waits for the first page.
func (b *branch) canceled(t *testing.T) {
	t.Helper()
	for i := range mostStored + 1 {
		b.bank.put(charge(fmt.Sprintf("many%d", i), "1.00", "Many"))
	}
	b.bank.mu.Lock()
	b.bank.during = make(chan chan struct{})
	b.bank.mu.Unlock()
	var j job.Job
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = b.requestSync(t.Context(), tx, syncRequest{Connection: b.connection, Trigger: "manual"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := <-b.bank.during
	ctx := context.WithoutCancel(t.Context())
	if err := b.db.InTx(ctx, func(tx pg.Tx) error { _, err := b.jobs.Stop(ctx, tx, j.ID); return err }); err != nil {
		t.Fatal(err)
	}
	close(answer)
	close(<-b.bank.during)
	for !j.Ended() {
		if j, err = b.jobs.Wait(t.Context(), j.ID, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if j.State != job.Cancelled {
		t.Errorf("%+v", j)
	}
}
