package app_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// TestMergeSurvivesKills kills the server during a merge, which must not leave a batch half done.
// After every kill, the parts of split payments add up, and no payment is lost. The next server
// continues after the last batch. A revert restores the books.
func TestMergeSurvivesKills(t *testing.T) {
	t.Parallel()
	const splits = 20
	kills := 1
	if os.Getenv("COFFER_TEST_LONG") != "" {
		kills = 3
	}
	rows := 5000*kills + 1000 // a batch has about 5,000 rows
	database := pgtest.URL(t)
	// This world makes the requests and checks; the other server does the work.
	m := merges{t, newWorldOn(t, database, app.Config{})}
	// Undoing so much in one call may take longer than usual beside other tests.
	m.Runner.Timeout = 5 * time.Minute
	server := apptest.Start(t, apptest.Program(t), database)
	lines := func(n int, text string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("2026-%02d-%02d,%s %d,-%d.50", i%9+1, i%28+1, text, i, i%900+1)
		}
		return out
	}
	old, _ := m.file(m.connection(), "Old", lines(rows, "OLD")...)
	into, _ := m.file(m.connection(), "New", lines(300, "New")...)
	for i := range splits {
		m.ask(http.StatusOK, http.MethodPut, "/transactions/"+m.row(old, fmt.Sprint("OLD ", i*290+7))+"/split", map[string]any{
			"parts": []any{map[string]any{"amount": 0.25, "category": "health"}, map[string]any{"category": "home"}},
		}, nil)
	}
	before := m.hash()
	var job struct {
		ID string `json:"id"`
	}
	m.ask(http.StatusAccepted, http.MethodPost, "/accounts/"+old+"/merge", map[string]any{"into": into}, &job)
	left := func() int {
		t.Helper()
		n, err := pg.Value[int](t.Context(), m.DB, `select count(*) from transaction where account_id = $1::text::uuid
			and origin <> 'part'`, old)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	sound := func(when string) {
		t.Helper()
		bad, err := pg.Value[int](t.Context(), m.DB, `
			select count(*) from transaction t cross join lateral (
				select sum(p.amount) as amount, bool_and(p.account_id = t.account_id) as along from transaction p
				where p.parent_id = t.id) p
			where t.is_split and (p.amount <> t.amount or not p.along)`)
		all, failed := pg.Value[int](t.Context(), m.DB, `select count(*) from transaction where origin <> 'part'`)
		if err != nil || failed != nil || bad > 0 || all != rows+300 {
			t.Errorf("%s: %d splits do not add up, %d payments: %v, %v", when, bad, all, err, failed)
		}
	}
	sound("control: before")
	at := rows
	for kill := range kills {
		for deadline := time.Now().Add(5 * time.Minute); left() == at && time.Now().Before(deadline); {
			time.Sleep(2 * time.Millisecond)
		}
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if at = left(); at == 0 || at == rows {
			t.Fatalf("kill %d missed the merge: %d of %d rows are left", kill, at, rows)
		}
		sound(fmt.Sprint("kill ", kill))
		// The next server need not wait until the lease of the killed one expires.
		if _, err := m.DB.Exec(t.Context(), `update job set renewed_at = renewed_at - interval '1 minute'
			where state = 'running'`); err != nil {
			t.Fatal(err)
		}
		if err := server.Again(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var done merged
	for range 4 {
		if m.ask(http.StatusOK, http.MethodGet, "/jobs/"+job.ID+"?wait=30s", nil, &done); done.State == "succeeded" {
			break
		}
	}
	if done.State != "succeeded" || done.Result.Moved+done.Result.Duplicates != rows || left() != 0 {
		t.Fatalf("%+v, %d rows are left", done, left())
	}
	sound("merged")
	if m.hash() == before {
		t.Error("control: the merge changed nothing")
	}
	m.revert(*done.Result.Change)
	m.same(before, "reverted")
}
