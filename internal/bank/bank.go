// Package bank is the contract with data providers: their data, how a sync loop reads it, and how
// they fail. It must not know how coffer stores anything, nor distinguish providers: each has its
// own directory below.
package bank

import (
	"context"
	"net/netip"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/reach"
	"coffer/internal/platform/text"
)

// A Provider is a source of accounts and transactions. It declares further capabilities by
// implementing [Linker], [Former], [Chooser], [Hoster], [Relinker], [Revoker], [Balancer],
// [Rereader], [Tester] or [Webhooker]; no provider needs stubs.
//
// Methods are safe for concurrent use and keep no state that the next call needs: any server may
// ask for the next page. Their errors are [*Error], unless the caller's own input is at fault.
type Provider interface {
	// Name is how the provider is stored and spoken of: plaid, teller.
	Name() string
	Traits() Traits
	// Accounts lists what the credentials give access to, with balances where the call brings them
	// for nothing.
	Accounts(ctx context.Context, c Credentials) ([]Account, error)
	// Pull fetches the next page of a sync loop.
	Pull(ctx context.Context, c Credentials, at Position) (Page, error)
}

// A Shape is how a provider reports changes.
type Shape uint8

const (
	// Delta is changes since a cursor, removals among them.
	Delta Shape = iota
	// Window contains all rows from a day on; a row that is missing from a complete window was
	// removed.
	Window
)

func (s Shape) String() string {
	if s == Window {
		return "window"
	}
	return "delta"
}

// Traits are what a caller must know about a provider, as data.
type Traits struct {
	Title          string        // how people know it
	Shape          Shape         //
	PageSize       int           // the most rows on a page; 0 if a page has all rows of its days, however many
	HasPendingLink bool          // a posted row names the pending row that it replaces
	WindowDays     int           // of a Window: how many days before the last whole sync the next one begins
	HistoryDays    int           // how many days a first sync reaches back; 0 is all that the bank gives
	MinInterval    time.Duration // asking more often brings nothing new
	PaidBalances   bool          // each call of Balances costs money
	PaidPerAccount bool          // with PaidBalances: for each account that it reads, not once for all
	// The first page of a loop brings every account with its balances, so that a sync does not ask
	// for them by itself.
	Lists bool
	// How many calls of Accounts and Pull a connection may make in 24 hours, with room below what
	// the provider allows; 0 is no limit.
	DailyCalls int
	// DailyCalls limits how often a loop may begin, however many pages it has, and not at all while
	// a person is present ([Position.Person]).
	PerLoop bool
}

// A Position is the progress of a loop. A Delta uses Cursor and Next, a Window From, Accounts and
// Next.
type Position struct {
	Cursor   string    // what was stored after the last whole loop; "" at first
	Next     string    // what the page before answered; "" for the first page of a loop
	Accounts []string  // the provider's ids to read; none is all
	From     time.Time // the day, at midnight in UTC, from which the loop is to be complete; zero is all there is
	Person   *Person   // who waits for the loop; nil if nobody does
}

// A Person is a member who asks for data at this moment. Banks let a person ask more often than a
// program.
type Person struct {
	Address netip.Addr `json:"address"` // a public one
	Agent   string     `json:"agent"`   // the program that the member uses, in one line
}

// NewPerson returns the person at an address, or nil if the address is not public: a bank has no
// use for one of the home network.
func NewPerson(address, agent string) *Person {
	at, err := netip.ParseAddr(address)
	if agent = text.Line(agent, 200).Plain(); err != nil || agent == "" || !reach.Public(at) {
		return nil
	}
	return &Person{at.Unmap(), agent}
}

// A Page is one response of a loop.
type Page struct {
	Accounts     []Account     // those that the page brings, not all there are
	Transactions []Transaction // added or changed, each once
	Removed      []Removal
	Bad          []Bad
	Next         string // where the next page begins, unless Last
	Last         bool   // the loop is whole: Cursor is to be stored
	Cursor       string // with Last, of a Delta
	// with this page these accounts have been read whole: rows of ours in those extents that the
	// loop did not bring were removed
	Complete []Extent
	// what is wrong with single accounts, or with single banks behind the credentials; the rest of
	// the page is good
	Troubles []Trouble
	// Restart means that this page and its loop are void: the loop begins again from the stored
	// cursor. A row that only the void loop returned is gone without a Removal: it came and went
	// after the stored cursor. The same holds for a loop that was interrupted for any other reason.
	Restart   bool
	Gathering bool     // the provider is still fetching history: ask again soon
	Closed    []string // accounts that the provider lists but no longer serves; their stored data stays
}

// An Extent is an account from a day on. A row also counts as delivered if it is in [Page.Bad].
type Extent struct {
	AccountID string    // the provider's
	From      time.Time // zero is all there is
}

// A Trouble is a failure of one account, or of one of the banks that the credentials open. It says
// nothing about the others.
type Trouble struct {
	BankID    string // the bank's, as in [Account.BankID]; "" if the provider does not say
	BankName  text.Untrusted
	AccountID string // the provider's; "" if the whole bank is affected
	Class     Class
	Code      string // as in [Error]
	Advice    string // as in [Error]
}

// A Removal is a row that the provider withdrew.
type Removal struct {
	ProviderID string
	AccountID  string // "" where the provider does not say
}

// A Bad row is unreadable. The rest of its page is not.
type Bad struct {
	ProviderID string // "" if unknown
	AccountID  string // "" if unknown
	Reason     Reason
	Raw        Raw // as it came; none if it was larger than [MaxRaw]
}

// A Reason names the problem of a row, as a stable word.
type Reason string

// The reasons.
const (
	BadShape    Reason = "shape"    // not the JSON that a row is
	BadID       Reason = "id"       // no id, or none that could be one
	BadAccount  Reason = "account"  // no account, or an account that the provider did not list
	BadDate     Reason = "date"     // no day of the calendar, or one of another century
	BadAmount   Reason = "amount"   // no exact amount of two decimals that fits
	BadCurrency Reason = "currency" // not three capital letters, or two of them, or none
)

// The types of accounts. Any other type that a provider reports becomes Other.
const (
	Depository = "depository"
	Credit     = "credit"
	Loan       = "loan"
	Investment = "investment"
	Other      = "other"
)

// An Account is one account as its provider reports it. Debt on a card or a loan is a positive
// Current; a balance that is unknown or not exact is nil.
type Account struct {
	ProviderID   string
	PersistentID string // the bank's own id where the provider has one, which survives a change of ProviderID
	Name         text.Untrusted
	OfficialName text.Untrusted
	Type         string         // one of the types above
	Subtype      string         // the provider's word, "" if it says none
	Mask         string         // the last digits, "" if unknown
	Currency     money.Currency // "" if the provider says none
	Current      *money.Amount
	Available    *money.Amount
	Limit        *money.Amount
	// The bank that keeps the account, where the credentials open several.
	BankID   string
	BankName text.Untrusted
	// The provider does not say what kind of account it is: Type is a guess from its name, for a
	// person to confirm, and a debt is a negative Current.
	Guessed bool
}

// A Transaction is one row as its provider reports it, with the sign converted to coffer's.
type Transaction struct {
	ProviderID       string
	AccountID        string       // the provider's
	PendingID        string       // the provider's id of the pending row that this one replaces; "" if it says none
	Date             time.Time    // midnight in UTC
	AuthorizedDate   time.Time    // midnight in UTC; zero if unknown
	Datetime         time.Time    // zero if unknown
	Amount           money.Amount // positive is money out
	Currency         money.Currency
	Name             text.Untrusted
	MerchantName     text.Untrusted
	Detail           text.Untrusted // the purpose of the payment, if the provider passes on more than the name
	CategoryPrimary  text.Untrusted
	CategoryDetailed text.Untrusted
	Pending          bool
	Balance          *money.Amount // of the account after this row, as the provider writes it; nil if it says none
	Extra
}

// Extra is what a provider may say about a row and nothing decides by: it is stored and shown. Each
// is empty if the provider says none. A new one is a field here and a column in the ledger.
type Extra struct {
	PaymentChannel string // online, in store
}
