package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/account"
	"coffer/internal/auth"
	"coffer/internal/bank"
	"coffer/internal/filing"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/pg/pgtest"
	"coffer/internal/rulebook"
	"coffer/internal/seal"
	"coffer/internal/text"
	"github.com/google/go-cmp/cmp"
)

const (
	oldKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	newKey = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
)

func ringOf(t *testing.T, current string, old ...string) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(current, old...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// only is a household with one provider.
type only struct{ p bank.Provider }

func (o only) Provider(context.Context, string) (bank.Provider, error) { return o.p, nil }

// feedOn is a feed on that database with one provider. It works no jobs.
func feedOn(db *pg.DB, ring *seal.Ring, p bank.Provider) *Feed {
	files := filing.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs := ledger.New(db, files), job.New(db, nil)
	f := New(Config{
		DB: db, Auth: auth.New(db), Accounts: account.New(db), Books: books,
		Rules: rulebook.New(db, files, books, jobs), Jobs: jobs, Ring: ring, Providers: only{p},
	})
	jobs.Add(f.Kinds()...)
	return f
}

// A house is a household with a worker and one connection, once its test has made it.
type house struct {
	*Feed
	connection id.ID
}

func newHouse(t *testing.T, p bank.Provider) *house {
	t.Helper()
	h := &house{Feed: feedOn(pgtest.New(t), ringOf(t, oldKey), p)}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = h.jobs.Run(ctx) }) // it ends with the test
	t.Cleanup(func() { stop(); working.Wait() })
	return h
}

// once runs a sync to its end.
func (h *house) once(t *testing.T, trigger string) (job.Job, Synced) {
	t.Helper()
	var j job.Job
	err := h.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = h.requestSync(t.Context(), tx, syncRequest{h.connection, trigger})
		return err
	})
	for err == nil && !j.Ended() {
		j, err = h.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	var out Synced
	if err == nil && j.State == job.Succeeded {
		err = json.Unmarshal(j.Result, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j, out
}

// health is what is known of the connection.
type health struct {
	Cursor   string   `db:"cursor"`
	Status   string   `db:"status"`
	Reason   *string  `db:"status_reason"`
	Message  *string  `db:"status_message"`
	Failures int      `db:"consecutive_failures"`
	Consent  *pg.Time `db:"consent_expires_at"`
	Accounts bool     `db:"new_accounts_available"`
	Sealed   bool     `db:"sealed"`
	Due      *bool    `db:"due"` // nil where no sync will be
}

func (h *house) health(t *testing.T) health {
	t.Helper()
	now, err := pg.One[health](t.Context(), h.db, `
		select cursor, status, status_reason, status_message, consecutive_failures, consent_expires_at,
			new_accounts_available, credentials is not null as sealed,
			next_sync_at <= clock_timestamp() as due
		from connection where id = $1`, h.connection)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func (h *house) lastLog(t *testing.T) SyncLog {
	t.Helper()
	logs, err := h.SyncLogs(t.Context(), h.db, ListSyncLogs{Limit: 1})
	if err != nil || len(logs.SyncLogs) != 1 {
		t.Fatal(errors.Join(err, errors.New("no log")))
	}
	return logs.SyncLogs[0]
}

// stored are the live rows.
func (h *house) stored(t *testing.T) []string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), h.db, `
		select concat_ws(' ', t.provider_id, t.date, t.amount, t.pending, d.name) from transaction t
			join descriptor d on d.id = t.descriptor_id where t.deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

// written is a row of the bank as stored writes it.
func written(provider string, day time.Time, amount money.Amount, pending bool, name text.Untrusted) string {
	return fmt.Sprintf("%s %s %s %.1s %s", provider, day.Format(time.DateOnly), amount, fmt.Sprint(pending),
		name.Plain())
}

// holds compares the books with the bank, whose rows are written.
func (h *house) holds(t *testing.T, bank []string) {
	t.Helper()
	slices.Sort(bank)
	if got := h.stored(t); !slices.Equal(got, bank) {
		t.Errorf("the bank (-) and the books (+):\n%s", cmp.Diff(bank, got))
	}
}

func (h *house) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), h.db, sql, args...); err != nil {
		t.Fatal(err)
	}
}
