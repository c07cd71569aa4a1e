// Package household generates a household and its transactions for tests, benchmarks and the demo.
// The same seed gives the same result on every machine. The package knows nothing about databases,
// the providers' protocols or how coffer stores data: it returns plain rows.
//
// Two adults live in Berlin and use the euro. One of them has kept a dollar account. One card
// appears twice, because it has an additional card. Wages, rent and subscriptions follow the
// calendar; everyday spending fills the rest. With more transactions in the same years, everyday
// spending is denser but has the same mix.
package household

import (
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// Options choose a household. Zero values are good defaults.
type Options struct {
	Seed         uint64
	Transactions int       // rows that Transactions yields; 10,000 if not positive
	Years        int       // how many years they reach back, at four rows a day or more; 3 if not positive
	End          time.Time // the last day; its time of day is ignored; 2026-06-30 if zero
	// Decoys adds everyday rows that look like transfers between the household's accounts, or that
	// cannot be distinguished from them.
	Decoys bool
	// Lookalikes adds equal payments of two people: equal subscriptions, a wage in two parts, the
	// same shop on the same day, and payments that equal what another account receives.
	Lookalikes bool
	// Purposes gives most rows from files and from Plaid a purpose.
	Purposes bool
	// Contracts adds contracts that are hard to recognize, and habits that look like contracts.
	Contracts bool
	// Family makes the household the demo's family instead, with a story that leads up to that day.
	// Of the other options, only Seed, Years and End apply then; a later End adds days.
	Family time.Time
}

// sparsest is the smallest number of rows per day. Wages, rent and the like are two fifths of that.
// So a household with fewer transactions covers less than Years, and its mix stays similar.
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
	rows       int // number of rows of the diary's standing orders and of contracts
	dated      map[time.Time][]dated
	familyRows []Transaction // all rows, if the household is a family
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

// None is the index for no element.
const None = -1

// An Account is one of about a dozen. Balances are those at the end of the last day, with the sign
// of the providers: debt on a card or a loan is positive. To get an earlier balance, subtract the
// later transactions.
type Account struct {
	Connection   int // index into Connections
	Owner        int // index into Members if another member than the connection's owns it, else None
	MirrorOf     int // for a card's copy: index into Accounts of the card with the same charges, else None
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

// Provider returns the name of an account's provider.
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

// midnight returns the start of a day in the household's way of counting days.
func midnight(t time.Time) time.Time {
	year, month, date := t.Date()
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}
