package job_test

import (
	"context"
	"testing"

	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// If the database's clock was set back, a dead worker's last renewal lies in the future. That lease
// counts as run out, so the job continues at once and not only when the clock has caught up.
func TestLeaseInTheFuture(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, mortal(func(context.Context, pg.Tx, []job.Ended) error { return nil }, nil))
	made := enqueue(t, j, db, "mortal", "ends", job.Options{})
	if _, err := db.Exec(t.Context(), `update job set state = 'running', lease_owner = 'dead', attempt = 1,
		renewed_at = now() + interval '3 hours' where id = $1`, made.ID); err != nil {
		t.Fatal(err)
	}
	start(t, j)
	await(t, "the job goes on", func() bool {
		state, err := pg.Value[string](t.Context(), db, `select state from job where id = $1`, made.ID)
		return err == nil && state == job.Succeeded
	})
}
