// Package household generates a household and its transactions, the same ones for the same seed on
// every machine, for tests, benchmarks and the demo. It knows nothing about databases, the
// providers' protocols or how coffer stores data: it returns plain rows.
//
// Two adults live in Berlin and use the euro. One of them kept a dollar account; one card appears
// twice, because an additional card was issued on it. Wages, rent and subscriptions follow the
// calendar; everyday spending fills the rest. More transactions in the same years make everyday
// spending denser without changing its mix.
package household

import (
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// Options choose a household. The zero value, and a zero value in any field, gives a good one.
type Options struct {
	Seed         uint64
	Transactions int       // rows that Transactions yields; 10,000 if not positive
	Years        int       // how many years they reach back, as long as a day has four rows; 3 if not positive
	End          time.Time // the last day, of which only the date counts; 2026-06-30 if zero
	// Decoys adds everyday rows that look like transfers between the household's accounts but are
	// not, or cannot be distinguished from them.
	Decoys bool
	// Lookalikes adds what two people have in common and repeats: equal subscriptions, a wage in
	// two parts, the same shop on the same day, and payments that equal what another account
	// receives.
	Lookalikes bool
	// most rows of files and of Plaid say what the payment was for
	Purposes bool
	// contracts that are hard to recognize, and habits that are easily taken for contracts
	Contracts bool
	// Family makes the household the demo's family instead, with a story that leads up to that day.
	// Only Seed, Years and End count then; a later End adds days.
	Family time.Time
}

// sparsest is the fewest rows a day. Wages, rent and the like are two fifths of that, so a
// household with fewer transactions goes back less far than its Years and keeps something of its
// mix.
const sparsest = 4

// A Household is the result of [New]. It is read-only: any number of goroutines may walk its
// transactions.
type Household struct {
	Options     Options // with the defaults filled in
	Start       time.Time
	Members     []Member
	Connections []Connection
	Accounts    []Account

	market     market
	diary      []day
	rows       int // of the diary's standing orders and of contracts
	dated      map[time.Time][]dated
	familyRows []Transaction // a family's
}

// A Member is one of the adults.
type Member struct {
	Name  string
	Email string
}

// A Connection is one bank, through one provider.
type Connection struct {
	Provider    string // plaid, teller, csv
	ProviderID  string // Plaid's item, Teller's enrolment, nothing for csv
	Institution text.Untrusted
	Member      int // index into Members
}

// None is the index that names nothing.
const None = -1

// An Account is one of about a dozen. Balances are those at the end of the last day and follow the
// providers' signs: debt on a card or a loan is positive. Balances of earlier days follow from the
// transactions, backwards.
type Account struct {
	Connection   int // index into Connections
	Owner        int // index into Members where it is not the connection's member, else None
	MirrorOf     int // index into Accounts of the card whose charges this one repeats, else None
	ProviderID   string
	Name         text.Untrusted
	OfficialName text.Untrusted // may be empty
	Type         string         // depository, credit, loan, investment
	Subtype      string
	Mask         string
	Currency     money.Currency
	Current      *money.Amount
	Available    *money.Amount
	Limit        *money.Amount
}

// New returns the household that o describes.
func New(o Options) *Household {
	o = o.filled()
	if !o.Family.IsZero() {
		return newFamily(o)
	}
	start := o.End.AddDate(-o.Years, 0, 1)
	if shortest := o.End.AddDate(0, 0, 1-max(1, o.Transactions/sparsest)); shortest.After(start) {
		start = shortest
	}
	h := &Household{Options: o, Start: start, Members: members()}
	d := newDice(o.Seed, 1)
	h.Connections = connections(d)
	h.Accounts = accounts(d)
	h.market = newMarket(d, h.Accounts)
	h.diary = newDiary(start, o.End)
	for i := range h.diary {
		h.rows += h.diary[i].rows()
	}
	if o.Contracts {
		h.dated = newContracts(newDice(o.Seed, 3), start, o.End)
		for _, rows := range h.dated {
			h.rows += len(rows)
		}
	}
	return h
}

// Provider names the provider of an account.
func (h *Household) Provider(account int) string {
	return h.Connections[h.Accounts[account].Connection].Provider
}

func (o Options) filled() Options {
	if o.Transactions <= 0 {
		o.Transactions = 10_000
	}
	if o.Years <= 0 {
		o.Years = 3
	}
	if o.End.IsZero() {
		o.End = time.Date(2026, time.June, 30, 0, 0, 0, 0, time.UTC)
	}
	o.End = midnight(o.End)
	if !o.Family.IsZero() {
		o.Family = midnight(o.Family)
	}
	return o
}

// midnight is when a day begins, as households count days.
func midnight(t time.Time) time.Time {
	year, month, date := t.Date()
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}
