package banks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/household"
)

// An Account is an account at the bank. Balances have the sign of Plaid and Teller: debt on a card
// is positive.
type Account struct {
	ID           string
	Name         text.Untrusted
	OfficialName text.Untrusted
	Type         string
	Subtype      string
	Mask         string
	Currency     money.Currency
	Current      *money.Amount
	Available    *money.Amount
	Limit        *money.Amount
	Closed       bool
}

// A Row is a transaction at the bank.
type Row struct {
	ID         string
	AccountID  string
	PendingID  string // the id of the pending row that this row replaced
	Date       time.Time
	Authorized time.Time    // zero if unknown
	Time       time.Time    // zero if unknown
	Amount     money.Amount // positive is money out; each server converts it to its provider's sign
	Currency   money.Currency
	Name       text.Untrusted
	Merchant   text.Untrusted
	Detail     text.Untrusted // the purpose of the payment; Plaid returns it on request
	Primary    text.Untrusted
	Detailed   text.Untrusted
	Channel    string
	Pending    bool
	Raw        json.RawMessage // sent in place of the row, if set
}

// A Book is the bank's data for one connection. Its methods may be called while a server reads it.
type Book struct {
	mu       sync.Mutex
	provider string
	id       string // the item or the enrolment
	bank     text.Untrusted
	accounts []Account
	rows     map[string]*kept
	log      []change // every change, oldest first
	later    []Row    // rows that the provider has not fetched yet
	seq      int
	made     int
	makeID   func(n int) string
	trouble  string // the error code with which every read fails; "" for none
	listing  map[string][]Row
	listed   int // the seq of listing
}

type kept struct {
	row   Row
	first int // when it was first added
	born  int // when it was last added
	moved int // when it last changed
	died  int // when it was removed; 0 if it was not
}

type change struct {
	seq int
	id  string
}

// newBook returns the book of a household's connection through that provider.
func newBook(o household.Options, provider string, makeID func(id string, n int) string) *Book {
	b := &Book{rows: make(map[string]*kept), provider: provider}
	b.makeID = func(n int) string { return makeID(b.id, n) }
	b.reach(household.New(o))
	return b
}

// Reach moves the book on to a later end of the same household: it adds the rows that are missing,
// and sets the balances.
func (b *Book) Reach(o household.Options) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reach(household.New(o))
}

func (b *Book) reach(h *household.Household) {
	names := make(map[int]string)
	b.accounts = nil
	for i, a := range h.Accounts {
		c := h.Connections[a.Connection]
		if c.Provider != b.provider {
			continue
		}
		b.id, b.bank, names[i] = c.ProviderID, c.Institution, a.ProviderID
		b.accounts = append(b.accounts, Account{
			ID: a.ProviderID, Name: a.Name, OfficialName: a.OfficialName, Type: a.Type, Subtype: a.Subtype,
			Mask:     a.Mask,
			Currency: a.Currency, Current: a.Current, Available: a.Available, Limit: a.Limit,
		})
	}
	for t := range h.Transactions() {
		account, ours := names[t.AccountIndex]
		if !ours || b.rows[t.ProviderID] != nil {
			continue
		}
		r := Row{
			ID: t.ProviderID, AccountID: account, Date: t.Date, Amount: t.Amount, Currency: t.Currency, Name: t.Name,
			Merchant: t.MerchantName, Detail: t.Detail,
			Primary: t.RawPrimary, Detailed: t.RawDetailed, Channel: t.PaymentChannel, Pending: t.Pending,
		}
		if t.AuthorizedDate != nil {
			r.Authorized = *t.AuthorizedDate
		}
		if t.Datetime != nil {
			r.Time = *t.Datetime
		}
		b.put(r)
	}
}

// ID returns the provider's id of the connection: Plaid's item, Teller's enrolment.
func (b *Book) ID() string { return b.id }

// Accounts lists the accounts.
func (b *Book) Accounts() []Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.accounts)
}

// SetAccount changes an account.
func (b *Book) SetAccount(id string, edit func(*Account)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.accounts {
		if b.accounts[i].ID == id {
			edit(&b.accounts[i])
		}
	}
}

// Rows returns every row that the provider would deliver now to a client without any rows, by
// account, day and id.
func (b *Book) Rows() []Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Row, 0, len(b.rows))
	for _, k := range b.rows {
		if k.died == 0 {
			out = append(out, k.row)
		}
	}
	slices.SortFunc(out, func(x, y Row) int {
		return strings.Compare(x.AccountID+x.Date.Format(time.DateOnly)+x.ID,
			y.AccountID+y.Date.Format(time.DateOnly)+y.ID)
	})
	return out
}

// Add adds a row to an account, under a new id if it has none. A removed row comes back.
func (b *Book) Add(r Row) Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.put(r)
}

func (b *Book) put(r Row) Row {
	if r.ID == "" {
		r.ID = b.newID()
	}
	if r.Currency == "" {
		r.Currency = b.account(r.AccountID).Currency
	}
	b.seq++
	k := b.rows[r.ID]
	if k == nil {
		k = &kept{first: b.seq}
		b.rows[r.ID] = k
	}
	if k.died != 0 || k.born == 0 {
		k.born, k.died = b.seq, 0
	}
	k.row, k.moved = r, b.seq
	b.log = append(b.log, change{b.seq, r.ID})
	return r
}

func (b *Book) newID() string {
	b.made++
	return b.makeID(b.made)
}

// Change edits a row in place. It panics if there is no such row, because then the test is wrong.
func (b *Book) Change(id string, edit func(*Row)) Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.must(id).row
	edit(&r)
	return b.put(r)
}

// Remove removes a row, as when a hold is released.
func (b *Book) Remove(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(id)
}

func (b *Book) drop(id string) {
	k := b.must(id)
	b.seq++
	k.died, k.moved = b.seq, b.seq
	b.log = append(b.log, change{b.seq, id})
}

// Post turns a pending row into a posted one with a new id. If edit is not nil, it edits the row.
// Teller usually keeps ids: there, use [Book.Change] to post a row.
func (b *Book) Post(id string, edit func(*Row)) Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.must(id).row
	r.ID, r.PendingID, r.Pending = b.newID(), id, false
	if edit != nil {
		edit(&r)
	}
	b.drop(id)
	return b.put(r)
}

// Withhold hides rows that are older than the day until [Book.Release], as if the provider had not
// fetched them yet.
func (b *Book) Withhold(before time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows, log := b.rows, b.log
	b.rows, b.log = make(map[string]*kept), nil
	for _, c := range log {
		k := rows[c.id]
		switch {
		case k.died != 0 || k.moved != c.seq:
		case k.row.Date.Before(before):
			b.later = append(b.later, k.row)
		default:
			b.put(k.row)
		}
	}
}

// Release shows the withheld rows again.
func (b *Book) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.later {
		b.put(r)
	}
	b.later = nil
}

// Break makes every read fail with this code of the provider, until [Book.Repair].
func (b *Book) Break(code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = code
}

// Repair simulates the member signing in again.
func (b *Book) Repair() { b.Break("") }

// Pending lists the pending rows, in the order of [Book.Rows].
func (b *Book) Pending() []Row {
	return slices.DeleteFunc(b.Rows(), func(r Row) bool { return !r.Pending })
}

func (b *Book) must(id string) *kept {
	k := b.rows[id]
	if k == nil || k.died != 0 {
		panic(fmt.Sprintf("banks: there is no row %s", id))
	}
	return k
}

func (b *Book) account(id string) Account {
	for _, a := range b.accounts {
		if a.ID == id {
			return a
		}
	}
	panic(fmt.Sprintf("banks: there is no account %s", id))
}

// A delta is one change since a moment.
type delta struct {
	kind string // added, modified, removed
	row  Row
}

// since lists what changed after seq, in the order of the last change.
func (b *Book) since(seq int) []delta {
	at, _ := slices.BinarySearchFunc(b.log, seq+1, func(c change, s int) int { return c.seq - s })
	var out []delta
	for _, c := range b.log[at:] {
		k := b.rows[c.id]
		switch {
		case k.moved != c.seq: // listed at its last change
		case k.died != 0 && k.first <= seq:
			out = append(out, delta{"removed", k.row})
		case k.died != 0: // added and removed meanwhile
		case k.born > seq:
			out = append(out, delta{"added", k.row})
		default:
			out = append(out, delta{"modified", k.row})
		}
	}
	return out
}

// newest lists an account's rows, newest first.
func (b *Book) newest(account string) []Row {
	if b.listing == nil || b.listed != b.seq {
		b.listing, b.listed = make(map[string][]Row), b.seq
		for _, c := range b.log {
			if k := b.rows[c.id]; k.died == 0 && k.moved == c.seq {
				b.listing[k.row.AccountID] = append(b.listing[k.row.AccountID], k.row)
			}
		}
		for _, rows := range b.listing {
			slices.SortStableFunc(rows, func(x, y Row) int {
				if c := y.Date.Compare(x.Date); c != 0 {
					return c
				}
				return strings.Compare(y.ID, x.ID)
			})
		}
	}
	return b.listing[account]
}
