package linksession

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/schedule"
)

// A sleeping scheduler notices a new session in the database, and ends it when it has expired.
func TestSessionsEndOnTime(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	clock := schedule.New(db, slog.New(slog.DiscardHandler))
	clock.Fallback = time.Hour
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); clock.Run(ctx, New(Config{DB: db}).Tasks()...) }()
	t.Cleanup(func() { stop(); <-ended })
	comes := func(what, sql string) {
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if there, err := pg.Value[bool](t.Context(), db, sql); err == nil && there {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	comes("the clock runs", `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = 'coffer clock' and state = 'idle')`)
	if _, err := db.Exec(t.Context(), `
		insert into link_session (id, token_hash, purpose, provider, member_id, provider_hash, hosted, look_at, expires_at)
		select gen_random_uuid(), 'a', 'new', 'plaid', id, 'b', false, clock_timestamp() + interval '300 milliseconds',
			clock_timestamp() from member limit 1`); err != nil {
		t.Fatal(err)
	}
	comes("the end of the session", `select exists (select from link_session where state = 'failed'
		and error_code = 'SESSION_EXPIRED')`)
}
