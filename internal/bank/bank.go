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
// Methods are safe for concurrent use and keep no state for the next call: another server may
// request the next page. Their errors are [*Error], unless the caller's own input is wrong.
type Provider interface {
	// Name is the provider's name in the database and the API, such as plaid or teller.
	Name() string
	Traits() Traits
	// Accounts lists the accounts that the credentials give access to. It includes balances if they
	// come with the same call at no cost.
	Accounts(ctx context.Context, c Credentials) ([]Account, error)
	// Pull fetches the next page of a sync loop.
	Pull(ctx context.Context, c Credentials, at Position) (Page, error)
}

// A Shape is how a provider reports changes.
type Shape uint8

const (
	// Delta reports changes since a cursor, including removals.
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

// Traits describe what a caller must know about a provider.
type Traits struct {
	Title          string        // its display name
	Shape          Shape         //
	PageSize       int           // the maximum number of rows; 0 if a page has all rows of its days
	HasPendingLink bool          // a posted row names the pending row that it replaces
	WindowDays     int           // for a Window: the next sync begins this many days before the last complete one
	HistoryDays    int           // how many days a first sync reaches back; 0 if as far as the bank allows
	MinInterval    time.Duration // requests in shorter intervals return no new data
	PaidBalances   bool          // each call of Balances costs money
	PaidPerAccount bool          // with PaidBalances: each account costs money, not each call
	// The first page of a loop contains every account with its balances, so a sync does not call
	// Accounts.
	Lists bool
	// How many calls of Accounts and Pull a connection may make in 24 hours. It is a little below
	// the provider's own limit. 0 means no limit.
	DailyCalls int
	// DailyCalls limits how many loops may begin, however many pages each has. Loops for a person
	// who is present ([Position.Person]) are not limited.
	PerLoop bool
}

// A Position is the progress of a loop. A Delta uses Cursor and Next. A Window uses From, Accounts
// and Next.
type Position struct {
	Cursor   string    // the stored cursor of the last complete loop; "" at first
	Next     string    // the previous page's Next; "" for the first page of a loop
	Accounts []string  // the provider's ids of the accounts to read; none means all
	From     time.Time // the loop must be complete from this day on (midnight UTC); zero means from the beginning
	Person   *Person   // the person who waits for the loop; nil if nobody does
}

// A Person is a member who asks for data at this moment. Banks let a person ask more often than a
// program.
type Person struct {
	Address netip.Addr `json:"address"` // a public one
	Agent   string     `json:"agent"`   // the program that the member uses, in one line
}

// NewPerson returns the person at an address, or nil if the address is not public: a bank cannot
// use an address of a home network.
func NewPerson(address, agent string) *Person {
	at, err := netip.ParseAddr(address)
	if agent = text.Line(agent, 200).Plain(); err != nil || agent == "" || !reach.Public(at) {
		return nil
	}
	return &Person{at.Unmap(), agent}
}

// A Page is one response of a loop.
type Page struct {
	Accounts     []Account     // the accounts on this page, not all accounts
	Transactions []Transaction // added or changed, each once
	Removed      []Removal
	Bad          []Bad
	Next         string // where the next page begins, unless Last
	Last         bool   // the loop is complete: store Cursor
	Cursor       string // with Last, for a Delta
	// The accounts that have been read completely with this page. Stored rows in these extents that
	// the loop did not return were removed.
	Complete []Extent
	// Failures of single accounts, or of single banks behind the credentials. The rest of the page
	// is valid.
	Troubles []Trouble
	// Restart means that this page and its loop are void: the loop begins again from the stored
	// cursor. A row that only the void loop returned is gone without a Removal, because it appeared
	// and disappeared after the stored cursor. The same applies to a loop that was interrupted for
	// any other reason.
	Restart   bool
	Gathering bool     // the provider is still fetching history: request again soon
	Closed    []string // accounts that the provider lists but no longer serves; their stored data stays
}

// An Extent is an account's rows since a day. A row that is in [Page.Bad] also counts as returned.
type Extent struct {
	AccountID string    // the provider's
	From      time.Time // zero means from the beginning
}

// A Trouble is a failure of one account, or of one of the banks that the credentials give access
// to. The other accounts and banks are not affected.
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
	AccountID  string // "" if the provider does not say
}

// A Bad row is unreadable. The rest of its page is not affected.
type Bad struct {
	ProviderID string // "" if unknown
	AccountID  string // "" if unknown
	Reason     Reason
	Raw        Raw // the row as received; empty if it was larger than [MaxRaw]
}

// A Reason names the problem of a row, as a stable word.
type Reason string

// The reasons.
const (
	BadShape    Reason = "shape"    // not the JSON object that a row must be
	BadID       Reason = "id"       // no valid id
	BadAccount  Reason = "account"  // no account, or an account that the provider did not list
	BadDate     Reason = "date"     // no valid date, or one of another century
	BadAmount   Reason = "amount"   // not an exact amount with two decimals, or out of range
	BadCurrency Reason = "currency" // no valid currency, or two of them
)

// The types of accounts. Any other type that a provider reports becomes Other.
const (
	Depository = "depository"
	Credit     = "credit"
	Loan       = "loan"
	Investment = "investment"
	Other      = "other"
)

// An Account is one account as its provider reports it. Current is positive for debt on a card or a
// loan. A balance that is unknown or not exact is nil.
type Account struct {
	ProviderID   string
	PersistentID string // the bank's own id, if the provider reports one; it stays if ProviderID changes
	Name         text.Untrusted
	OfficialName text.Untrusted
	Type         string         // one of the types above
	Subtype      string         // the provider's word; "" if it reports none
	Mask         string         // the last digits, "" if unknown
	Currency     money.Currency // "" if the provider reports none
	Current      *money.Amount
	Available    *money.Amount
	Limit        *money.Amount
	// The bank that keeps the account, if the credentials give access to several banks.
	BankID   string
	BankName text.Untrusted
	// Guessed means that the provider does not report the kind of account. Type is then guessed
	// from the name and a person should confirm it. A debt is then a negative Current.
	Guessed bool
}

// A Transaction is one row as its provider reports it, with the sign converted to coffer's.
type Transaction struct {
	ProviderID       string
	AccountID        string       // the provider's
	PendingID        string       // the provider's id of the pending row that this one replaces; "" if it reports none
	Date             time.Time    // midnight in UTC
	AuthorizedDate   time.Time    // midnight in UTC; zero if unknown
	Datetime         time.Time    // zero if unknown
	Amount           money.Amount // positive is money out
	Currency         money.Currency
	Name             text.Untrusted
	MerchantName     text.Untrusted
	Detail           text.Untrusted // the purpose of the payment, if the provider reports more than the name
	CategoryPrimary  text.Untrusted
	CategoryDetailed text.Untrusted
	Pending          bool
	Balance          *money.Amount // of the account after this row, as the provider states it; nil if it does not
	Extra
}

// Extra holds details that are stored and shown but never used in a decision. A field is empty if
// the provider does not report it. Each field has a column in the ledger.
type Extra struct {
	PaymentChannel string // online, in store
}
