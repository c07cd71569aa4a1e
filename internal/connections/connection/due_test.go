package connection

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// write changes the database as another server would.
func (h *house) write(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// comes waits until a query returns true.
func (h *house) comes(t *testing.T, what, sql string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if there, err := pg.Value[bool](t.Context(), h.db, sql); err == nil && there {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// A sleeping scheduler notices a new due time in the database, and starts the sync when it is due.
func TestTimedWorkIsOnTime(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.bank.put(charge("t1", "1.00", "A"))
	b.write(t, `update connection set next_sync_at = clock_timestamp() + interval '1 hour'`)
	clock := schedule.New(b.db, slog.New(slog.DiscardHandler))
	clock.Fallback = time.Hour
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); clock.Run(ctx, b.Tasks()...) }()
	t.Cleanup(func() { stop(); <-ended })
	b.comes(t, "the clock runs", `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = 'coffer clock' and state = 'idle')`)
	b.write(t, `create table planned as select clock_timestamp() + interval '700 milliseconds' as at;
		update connection set next_sync_at = (select at from planned)`)
	b.comes(t, "the sync", `select exists (select from sync_log where trigger = 'schedule' and status = 'success')`)
	if early, err := pg.Value[bool](t.Context(), b.db, `select started_at < at from sync_log,
		planned`); err != nil || early {
		t.Errorf("it began early (%v)", err)
	}
}

// A log that its job left open, or whose job no longer exists, is due until it is closed.
func TestOpenLogsAreDue(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.write(t, `update connection set next_sync_at = null`)
	if left, err := nextSync(t.Context(), b.db); err != nil || left != schedule.Never {
		t.Fatalf("nothing is planned: %v, %v", left, err)
	}
	b.bank.errs = []error{errs.New(errs.InternalError, "a mistake of ours")}
	if j, _ := b.once(t, "manual"); j.State != job.Failed {
		t.Fatalf("%+v", j)
	}
	b.once(t, "manual")
	b.write(t, `update connection set next_sync_at = null;
		update sync_log set status = 'running', finished_at = null, error_code = null;
		update sync_log set job_id = gen_random_uuid() where error_message is null`)
	if left, err := nextSync(t.Context(), b.db); err != nil || left > 0 {
		t.Errorf("an open log: %v, %v", left, err)
	}
	if err := b.syncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := nextSync(t.Context(), b.db); err != nil || left <= 0 {
		t.Errorf("afterwards: %v, %v", left, err)
	}
	got, err := pg.Values[string](t.Context(), b.db, `select concat_ws(' ', status, error_code, finished_at is not null)
		from sync_log order by id`)
	if err != nil || !slices.Equal(got, []string{"error INTERNAL_ERROR t", "cancelled t"}) {
		t.Errorf("the logs are %q, %v", got, err)
	}
}

// An interval below the provider's minimum does not make the next sync due earlier.
func TestNextSyncKeepsTheMinimum(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	for provider, least := range map[string]string{"plaid": "15 minutes", "simplefin": "6 hours"} {
		b.write(t, `update connection set provider = '`+provider+`', next_sync_at = clock_timestamp() + interval '1 day'`)
		err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := b.PatchConnection(t.Context(), tx, PatchConnection{
				ID: b.connection.String(), SyncIntervalSeconds: op.Null[int]{Set: true, Value: new(900)},
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := pg.Value[bool](t.Context(), b.db, `select next_sync_at between now() + interval '`+least+`' -
			interval '2 minutes' and now() + interval '`+least+`' + interval '2 minutes' from connection`)
		if err != nil || !kept {
			t.Errorf("%s is not synced in %s (%v)", provider, least, err)
		}
	}
}
