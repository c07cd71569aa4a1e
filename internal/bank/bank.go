// Package bank is the contract with data providers: their data, how a sync loop reads it, and how
// they fail. It must not know how coffer stores anything, nor distinguish providers: each has its
// own directory below.
package bank

import (
	"context"
	"time"

	"coffer/internal/money"
	"coffer/internal/text"
)

// A Provider is a source of accounts and transactions. It declares further capabilities by
// implementing [Linker], [Hoster], [Relinker], [Revoker], [Balancer], [Rereader], [Tester] or
// [Webhooker]; no provider needs stubs.
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
	PageSize       int           // the most rows on a page
	HasPendingLink bool          // a posted row names the pending row that it replaces
	WindowDays     int           // of a Window: how many days before the last whole sync the next one begins
	HistoryDays    int           // how far back a first sync reaches; 0 is all that the bank gives
	MinInterval    time.Duration // asking more often brings nothing new
	PaidBalances   bool          // each call of Balances costs money
	PaidPerAccount bool          // with PaidBalances: for each account that it reads, not once for all
}

// A Position is the progress of a loop. A Delta uses Cursor and Next, a Window From, Accounts and
// Next.
type Position struct {
	Cursor   string    // what was stored after the last whole loop; "" at first
	Next     string    // what the page before answered; "" for the first page of a loop
	Accounts []string  // the provider's ids to read; none is all
	From     time.Time // the day, at midnight in UTC, from which the loop is to be complete; zero is all there is
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
	// with this page the account has been read whole: rows of ours in that extent that the loop did
	// not bring were removed
	Complete *Extent
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

// A Removal is a row that the provider withdrew.
type Removal struct {
	ProviderID string
	AccountID  string // "" where the provider does not say
}

// A Bad row could not be read. The rest of its page could.
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
	PaymentChannel   string // "" if the provider says none
	Pending          bool
	Balance          *money.Amount // of the account after this row, as the provider writes it; nil if it says none
}
