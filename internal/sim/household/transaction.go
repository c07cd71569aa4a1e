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
	Detail         text.Untrusted // with Options.Purposes; may be empty, and always is from Teller
	RawPrimary     text.Untrusted // empty from csv, and until Teller has classified the row
	RawDetailed    text.Untrusted // Plaid only
	PaymentChannel string         // Plaid only
	Pending        bool           // only in the last days

	// Fields that no provider sends.
	Kind  Kind
	Truth text.Untrusted // the category in Plaid's detailed classification, whichever provider sends the row
	// PairID is shared by the two rows of one movement, else 0: see Kind.Paired. A card charge and
	// its copy on the additional card also share one.
	PairID        int64
	RefundOf      string       // the ProviderID of the refunded purchase, in the same account
	PendingAmount money.Amount // the amount while pending; for a posted Tip it differs from Amount
	// Series is the same for all rows of one contract, wage or other standing order, else 0.
	Series int
}

// A Kind is the reason for a payment.
type Kind uint8

// The kinds. The rows of a pair add up to zero if they have the same currency. Those of an exchange
// have two currencies.
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
	Bakery // includes coffee
	Restaurant
	Tip // a restaurant charge that was authorized without the tip and posted with it
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

// Paired reports whether rows of the kind come in pairs: two rows in two of the household's
// accounts, with the same PairID.
func (k Kind) Paired() bool { return k >= TransferOut && k <= ExchangeIn }

// other returns the kind of the second row of a pair.
func (k Kind) other() Kind { return k + 1 }
