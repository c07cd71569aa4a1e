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

	"coffer/internal/auth"
	"coffer/internal/bank"
	"coffer/internal/bank/plaid"
	"coffer/internal/bank/teller"
	"coffer/internal/banksim"
	"coffer/internal/filing"
	"coffer/internal/household"
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

// A counter is a simulator as tests disturb it.
type counter interface {
	Script(faults ...banksim.Fault)
	Calm()
	Calls(path string) int
}

// An office is a household with one connection, through a real client, to a bank behind its simulator.
type office struct {
	*Feed
	provider   string
	sim        counter
	book       *banksim.Book
	connection id.ID
}

// newOffice links a bank through that provider and syncs it once.
func newOffice(t *testing.T, provider string, transactions int) *office {
	t.Helper()
	db := pgtest.New(t)
	files := filing.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs, members := ledger.New(db, files), job.New(db, nil), auth.New(db)
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	o := &office{Feed: New(db, members, books, rulebook.New(db, files, books, jobs), jobs), provider: provider}
	client, given := o.bank(t, household.Options{Seed: 5, Transactions: transactions, Years: 1, End: time.Now()})
	o.Connect(ring, only{client})
	jobs.Add(o.Kinds()...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = jobs.Run(ctx) }) // it ends with the test
	t.Cleanup(func() { stop(); working.Wait() })
	in := CreateConnection{Provider: provider, Credentials: given}
	made, err := o.askBank(t.Context(), db, in)
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		c, err := o.CreateConnection(t.Context(), tx, in, made)
		o.connection = c.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if j := o.sync1(t); j.State != job.Succeeded {
		t.Fatalf("%+v %+v", j, j.Error)
	}
	o.holds(t)
	return o
}

// bank starts the simulator and answers a client of it and what its widget gives.
func (o *office) bank(t *testing.T, size household.Options) (bank.Provider, map[string]json.RawMessage) {
	t.Helper()
	given := func(kv ...string) map[string]json.RawMessage {
		out := map[string]json.RawMessage{}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i]] = json.RawMessage(fmt.Sprintf("%q", kv[i+1]))
		}
		return out
	}
	if o.provider == "plaid" {
		sim, err := banksim.NewPlaid(banksim.PlaidOptions{Household: size})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		p, err := plaid.New(plaid.Config{Environment: "sandbox", BaseURL: sim.URL(), ClientID: "client", Secret: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		token, book := sim.NewItem("")
		o.sim, o.book = sim, book
		return p, given("public_token", token)
	}
	sim, err := banksim.NewTeller(banksim.TellerOptions{Household: size, MaxCount: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := teller.New(teller.Config{Environment: "development", ApplicationID: "app_1", BaseURL: sim.URL(), Certificate: sim.Certificate(), Key: sim.Key(), RootCA: sim.CA()})
	if err != nil {
		t.Fatal(err)
	}
	e := sim.Enrol()
	o.sim, o.book = sim, e.Book
	return p, given("access_token", e.AccessToken, "enrollment_id", e.ID)
}

// sync1 runs a sync to its end.
func (o *office) sync1(t *testing.T) job.Job {
	t.Helper()
	var j job.Job
	err := o.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = o.order(t.Context(), tx, order{o.connection, "manual"})
		return err
	})
	for err == nil && !j.Ended() {
		j, err = o.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// news puts rows into the bank, of today.
func (o *office) news(rows int) {
	accounts := o.book.Accounts()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for i := range rows {
		o.book.Add(banksim.Row{AccountID: accounts[i%len(accounts)].ID, Date: today, Amount: money.MustParse("4.80"), Name: text.Name(fmt.Sprintf("COFFEE %d", i)), Channel: "other"})
	}
}

// stored are the live rows.
func (o *office) stored(t *testing.T) []string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), o.db, `
		select concat_ws(' ', t.provider_id, t.date, t.amount, t.pending, d.name) from transaction t join descriptor d on d.id = t.descriptor_id where t.deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

// holds compares the books with the bank.
func (o *office) holds(t *testing.T) {
	t.Helper()
	var want []string
	for _, r := range o.book.Rows() {
		pending := map[bool]string{true: "t", false: "f"}[r.Pending]
		want = append(want, fmt.Sprintf("%s %s %s %s %s", r.ID, r.Date.Format(time.DateOnly), r.Amount, pending, r.Name.Plain()))
	}
	slices.Sort(want)
	if got := o.stored(t); !slices.Equal(got, want) {
		t.Errorf("the bank (-) and the books (+):\n%s", cmp.Diff(want, got))
	}
}

// health is what is known of the connection.
type health struct {
	Cursor   string  `db:"cursor"`
	Status   string  `db:"status"`
	Reason   *string `db:"status_reason"`
	Message  *string `db:"status_message"`
	Failures int     `db:"consecutive_failures"`
	Sealed   bool    `db:"sealed"`
	Due      *bool   `db:"due"` // nil where no sync will be
}

func (o *office) health(t *testing.T) health {
	t.Helper()
	h, err := pg.One[health](t.Context(), o.db, `
		select cursor, status, status_reason, status_message, consecutive_failures, credentials is not null as sealed, next_sync_at <= clock_timestamp() as due from connection where id = $1`, o.connection)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (o *office) lastLog(t *testing.T) SyncLog {
	t.Helper()
	logs, err := o.SyncLogs(t.Context(), o.db, ListSyncLogs{Limit: 1})
	if err != nil || len(logs.SyncLogs) != 1 {
		t.Fatal(errors.Join(err, errors.New("no log")))
	}
	return logs.SyncLogs[0]
}
