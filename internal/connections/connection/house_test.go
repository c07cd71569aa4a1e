package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
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

// only is the Providers of a household with one provider.
type only struct{ p bank.Provider }

func (o only) Provider(context.Context, string) (bank.Provider, error) { return o.p, nil }

// feedOn returns Connections on that database with one provider. It runs no jobs.
func feedOn(db *pg.DB, ring *seal.Ring, p bank.Provider) *Connections {
	files := category.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs := ledger.New(db, files), job.New(db, nil)
	f := New(Config{
		DB: db, Auth: auth.New(db), Accounts: account.New(db), Books: books,
		Rules: rulebook.New(db, files, books, jobs), Jobs: jobs, Ring: ring, Providers: only{p},
	})
	jobs.Add(f.Kinds()...)
	return f
}

// A house is a household with a worker. It has one connection, which the test creates.
type house struct {
	*Connections
	connection id.ID
}

func newHouse(t *testing.T, p bank.Provider) *house {
	t.Helper()
	h := &house{Connections: feedOn(pgtest.New(t), ringOf(t, oldKey), p)}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = h.jobs.Run(ctx) }) // the worker ends with the test
	t.Cleanup(func() { stop(); working.Wait() })
	return h
}

// once runs a sync to its end.
func (h *house) once(t *testing.T, trigger string) (job.Job, Synced) {
	t.Helper()
	var j job.Job
	err := h.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = h.requestSync(t.Context(), tx, syncRequest{Connection: h.connection, Trigger: trigger})
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

// health is the stored state of the connection.
type health struct {
	Cursor   string   `db:"cursor"`
	Status   string   `db:"status"`
	Reason   *string  `db:"status_reason"`
	Message  *string  `db:"status_message"`
	Failures int      `db:"consecutive_failures"`
	Consent  *pg.Time `db:"consent_expires_at"`
	Accounts bool     `db:"new_accounts_available"`
	Sealed   bool     `db:"sealed"`
	Due      *bool    `db:"due"` // nil if no sync is scheduled
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

// stored returns the live rows as text.
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

// written returns a row of the bank in the same form as stored.
func written(provider string, day time.Time, amount money.Amount, pending bool, name text.Untrusted) string {
	return fmt.Sprintf("%s %s %s %.1s %s", provider, day.Format(time.DateOnly), amount, fmt.Sprint(pending),
		name.Plain())
}

// holds compares the stored rows with the bank's rows.
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

// links connects a bank with the values that a person entered, and makes it the house's connection.
func (h *house) links(t *testing.T, provider all.Name, given map[string]string) {
	t.Helper()
	in := CreateConnection{Provider: provider, Credentials: WidgetResult{}}
	for name, value := range given {
		in.Credentials[name], _ = json.Marshal(value) // a string always encodes
	}
	made, err := h.askBank(t.Context(), h.db, in)
	if err != nil {
		t.Fatal(err)
	}
	err = h.db.InTx(t.Context(), func(tx pg.Tx) error {
		c, err := h.CreateConnection(t.Context(), tx, in, made)
		h.connection = c.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// good runs a sync, which must succeed, and returns its result.
func (h *house) good(t *testing.T) Synced {
	t.Helper()
	j, out := h.once(t, "manual")
	if j.State != job.Succeeded {
		t.Fatalf("%s: %+v", j.State, j.Error)
	}
	return out
}

func (h *house) state(t *testing.T) Connection {
	t.Helper()
	c, err := h.Connection(t.Context(), h.db, ConnectionRef{h.connection.String()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// edit sets the category of the newest rows of an account as a person would.
func (h *house) edit(t *testing.T, account string, n int) {
	t.Helper()
	got, err := pg.Exec(t.Context(), h.db, `update transaction set category_source = 'user',
		category_id = (select id from category order by id limit 1)
		where id in (select t.id from transaction t join account a on a.id = t.account_id
			where a.provider_id = $1 and not t.pending order by t.date desc, t.id limit $2)`, account, n)
	if err != nil || got != int64(n) {
		t.Fatalf("%d rows, %v", got, err)
	}
}

func (h *house) edits(t *testing.T) int64 {
	t.Helper()
	n, err := pg.Value[int64](t.Context(), h.db, `select count(*) from transaction
		where category_source = 'user' and deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *house) rows(t *testing.T) int64 {
	t.Helper()
	n, err := pg.Value[int64](t.Context(), h.db, `select count(*) from transaction where deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *house) counted(t *testing.T) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), h.db, `select cardinality(asked_at) from connection`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
