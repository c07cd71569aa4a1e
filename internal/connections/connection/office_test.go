package connection

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/bank/plaid"
	"coffer/internal/bank/teller"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A counter is a simulator that tests can disturb.
type counter interface {
	Script(faults ...banks.Fault)
	Calm()
	Calls(path string) int
	Paid() int
}

// sellers are the providers that an office can have. Both charge for looking up balances.
var sellers = []string{"plaid", "teller"}

// An office is a household with one connection. It reaches a simulated bank through a real client.
type office struct {
	*house
	provider string
	sim      counter
	book     *banks.Book
}

// newOffice links a bank through that provider and syncs it once.
func newOffice(t *testing.T, provider string, transactions int) *office {
	t.Helper()
	o := &office{provider: provider}
	client, given := o.bank(t, household.Options{Seed: 5, Transactions: transactions, Years: 1, End: time.Now()})
	o.house = newHouse(t, client)
	in := CreateConnection{Provider: all.Name(provider), Credentials: given}
	made, err := o.askBank(t.Context(), o.db, in)
	if err != nil {
		t.Fatal(err)
	}
	err = o.db.InTx(t.Context(), func(tx pg.Tx) error {
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

// bank starts the simulator and returns a client for it and the result of its widget.
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
		sim, err := banks.NewPlaid(banks.PlaidOptions{Household: size})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		p, err := plaid.New(plaid.Config{
			Environment: "sandbox", BaseURL: sim.URL(), ClientID: "client",
			Secret: "secret",
		})
		if err != nil {
			t.Fatal(err)
		}
		token, book := sim.NewItem("")
		o.sim, o.book = sim, book
		return p, given("public_token", token)
	}
	sim, err := banks.NewTeller(banks.TellerOptions{Household: size, MaxCount: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := teller.New(teller.Config{
		Environment: "development", ApplicationID: "app_1", BaseURL: sim.URL(),
		Certificate: sim.Certificate(), Key: sim.Key(), RootCA: sim.CA(),
	})
	if err != nil {
		t.Fatal(err)
	}
	e := sim.Enroll()
	o.sim, o.book = sim, e.Book
	return p, given("access_token", e.AccessToken, "enrollment_id", e.ID)
}

// sync1 runs a sync to its end.
func (o *office) sync1(t *testing.T) job.Job {
	t.Helper()
	j, _ := o.once(t, "manual")
	return j
}

// news adds rows with today's date to the bank.
func (o *office) news(rows int) {
	accounts := o.book.Accounts()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for i := range rows {
		o.book.Add(banks.Row{
			AccountID: accounts[i%len(accounts)].ID, Date: today, Amount: money.MustParse("4.80"),
			Name: text.Name(fmt.Sprintf("COFFEE %d", i)), Channel: "other",
		})
	}
}

// holds compares the books with the bank.
func (o *office) holds(t *testing.T) {
	t.Helper()
	var want []string
	for _, r := range o.book.Rows() {
		want = append(want, written(r.ID, r.Date, r.Amount, r.Pending, r.Name))
	}
	o.house.holds(t, want)
}
