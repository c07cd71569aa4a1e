package household

import (
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A Transaction is one row as a provider would deliver it, with additional facts for tests.
type Transaction struct {
	AccountIndex   int
	ProviderID     string // unique within the account
	Date           time.Time
	AuthorizedDate *time.Time     // card rows of Plaid
	Datetime       *time.Time     // some card rows of Plaid
	Amount         money.Amount   // positive is money out
	Currency       money.Currency // the account's
	Name           text.Untrusted
	MerchantName   text.Untrusted // may be empty
	Detail         text.Untrusted // with Options.Purposes; may be empty, and is from Teller
	RawPrimary     text.Untrusted // empty from csv, and while Teller has not looked at the row
	RawDetailed    text.Untrusted // Plaid only
	PaymentChannel string         // Plaid only
	Pending        bool           // in the last days only

	// Fields that no provider sends.
	Kind  Kind
	Truth text.Untrusted // the category in Plaid's detailed classification, whichever provider sends the row
	// shared by the two rows of one movement: see Kind.Paired, and a card charge with its copy on
	// the additional card; else 0
	PairID        int64
	RefundOf      string       // the ProviderID, in the same account, of the purchase that a refund gives back
	PendingAmount money.Amount // the amount while pending; another than Amount for a posted Tip
	// the same for all rows of one contract, wage or other standing order; 0 if it is not one
	Series int
}

// A Kind is why money moved.
type Kind uint8

// The kinds. A pair's rows of one currency add up to zero; those of an exchange are in two
// currencies.
const (
	Salary Kind = iota
	Freelance
	Rental
	Benefit
	Interest // on savings and dividends as money in, on loans as money out
	Rent
	Mortgage
	Utility
	Insurance
	Childcare
	Tax
	Subscription
	Groceries
	Bakery // and coffee
	Restaurant
	Tip // a restaurant charge that was posted with the tip, and authorized without
	Shopping
	Online
	Health
	Leisure
	Transport
	Fuel
	Travel
	Donation
	Invoice
	Peer // to or from friends
	ATM
	Foreign // a card used abroad, or the dollar account
	Fee
	Refund
	TransferOut
	TransferIn
	CardPaymentOut
	CardPaymentIn
	LoanPaymentOut
	LoanPaymentIn
	ExchangeOut
	ExchangeIn
	kinds
)

var kindNames = [kinds]string{
	"salary", "freelance", "rental", "benefit", "interest", "rent", "mortgage", "utility", "insurance", "childcare",
	"tax", "subscription",
	"groceries", "bakery", "restaurant", "tip", "shopping", "online", "health", "leisure", "transport", "fuel",
	"travel", "donation",
	"invoice", "peer", "atm", "foreign", "fee", "refund", "transfer_out", "transfer_in", "card_payment_out",
	"card_payment_in",
	"loan_payment_out", "loan_payment_in", "exchange_out", "exchange_in",
}

func (k Kind) String() string { return kindNames[k] }

// Paired reports the kinds whose rows come in twos, one in each of two own accounts, with one
// PairID.
func (k Kind) Paired() bool { return k >= TransferOut && k <= ExchangeIn }

// other is the kind of the second row of a pair.
func (k Kind) other() Kind { return k + 1 }
