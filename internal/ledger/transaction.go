package ledger

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/bank/all"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// A Transaction is money that moved, with the bank's data and the household's own. The field names
// are those of rule conditions and filters.
type Transaction struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	AccountID           id.ID           `json:"account_id"`
	AccountName         text.Untrusted  `json:"account_name"`
	ConnectionID        *id.ID          `json:"connection_id"`
	Provider            all.Keeper      `json:"provider"`
	UserID              *id.ID          `json:"user_id" doc:"Who owns it: the account's owner if set, else the connection's member"`
	UserName            *string         `json:"user_name"`
	Origin              string          `json:"origin" enum:"bank,manual,part" doc:"bank: from a bank or a statement; manual: added manually; part: part of a split transaction"`
	Date                pg.Date         `json:"date" doc:"The posting day"`
	AuthorizedDate      *pg.Date        `json:"authorized_date"`
	Datetime            *pg.Time        `json:"datetime"`
	Amount              money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency            money.Currency  `json:"iso_currency_code"`
	Name                text.Untrusted  `json:"name" doc:"Untrusted: the bank's text"`
	MerchantName        *text.Untrusted `json:"merchant_name" doc:"Untrusted: the bank's text"`
	Detail              *text.Untrusted `json:"detail" doc:"Untrusted: the memo, as reported by the bank"`
	CategoryPrimary     *text.Untrusted `json:"category_primary" doc:"Untrusted: the provider's own category, never rewritten"`
	CategoryDetailed    *text.Untrusted `json:"category_detailed" doc:"Untrusted: the provider's own category, never rewritten"`
	Category            *string         `json:"category" doc:"The assigned category's slug"`
	CategoryID          *id.ID          `json:"category_id"`
	CategoryDisplayName *string         `json:"category_display_name"`
	CategorySource      *string         `json:"category_source" enum:"rule,user,agent,provider" doc:"Who set it; rules and agents don't change values set by a user"`
	CounterpartyID      *id.ID          `json:"counterparty_id"`
	CounterpartyName    *text.Untrusted `json:"counterparty_name"`
	Payee               id.Key          `json:"payee" doc:"Key of the payee, for the filter payee"`
	PayeeName           text.Untrusted  `json:"payee_name" doc:"Untrusted: the counterparty's name, else the name in the bank's text, without card numbers, references and towns"`
	Tags                []string        `json:"tags" doc:"Slugs, sorted"`
	Pending             bool            `json:"pending"`
	PaymentChannel      *string         `json:"payment_channel"`
	CommentCount        int             `json:"comment_count"`
	LinkedTransactionID *id.ID          `json:"linked_transaction_id" doc:"The other transaction of a confirmed account link match; for a matched manual transaction, the bank's"`
	Excluded            bool            `json:"excluded" doc:"Duplicate of another transaction, so totals skip it: the mirror of a confirmed link, or a matched manual transaction"`
	ExcludedReason      *string         `json:"excluded_reason" enum:"reimbursed,duplicate,other" doc:"Why somebody left it out of totals; null: it counts"`
	RefundOf            *id.ID          `json:"refund_of" doc:"For a confirmed refund: its purchase, in whose category it counts"`
	IsSplit             bool            `json:"is_split" doc:"Totals count its parts instead"`
	ParentID            *id.ID          `json:"parent_id" doc:"The transaction that this is a part of"`
	IsRemainder         bool            `json:"is_remainder" doc:"The part that gets the remainder, also when the bank changes the amount"`
	DeletedAt           *pg.Time        `json:"deleted_at"`
	CreatedAt           pg.Time         `json:"created_at"`
	UpdatedAt           pg.Time         `json:"updated_at"`
}

// A TransactionRef names a transaction.
type TransactionRef struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
}

// A TransactionDetail is one transaction, with the parts that it is split into.
type TransactionDetail struct {
	Transaction
	Parts []TransactionPart `json:"parts,omitempty" doc:"For a split transaction: they add up to its amount; the remainder comes last"`
}

// A TransactionPart holds the fields that a part of a split transaction has of its own.
type TransactionPart struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	Amount              money.Amount    `json:"amount" doc:"Positive is money out"`
	Category            *string         `json:"category" doc:"Slug"`
	CategoryDisplayName *string         `json:"category_display_name"`
	CategorySource      *string         `json:"category_source" enum:"rule,user,agent,provider"`
	CounterpartyID      *id.ID          `json:"counterparty_id"`
	CounterpartyName    *text.Untrusted `json:"counterparty_name"`
	Tags                []string        `json:"tags" doc:"Slugs, sorted"`
	CommentCount        int             `json:"comment_count"`
	ExcludedReason      *string         `json:"excluded_reason" enum:"reimbursed,duplicate,other"`
	IsRemainder         bool            `json:"is_remainder"`
}

// Transaction returns one transaction, deleted or not, with its parts.
func (b *Books) Transaction(ctx context.Context, q pg.Querier, in TransactionRef) (TransactionDetail, error) {
	t, err := b.single(ctx, q, in)
	if err != nil || !t.IsSplit {
		return TransactionDetail{Transaction: t}, err
	}
	parts, err := b.parts(ctx, q, t.ID)
	return TransactionDetail{t, parts}, err
}

// parts returns the parts of a split transaction, the remainder last.
func (b *Books) parts(ctx context.Context, q pg.Querier, parent id.ID) ([]TransactionPart, error) {
	rows, err := b.Transactions(ctx, q, ListTransactions{
		Filter: Filter{ParentID: new(parent.String()), Deleted: "include"}, Fields: "all", Limit: maxParts,
	})
	out := make([]TransactionPart, 0, len(rows.Transactions))
	for _, t := range rows.Transactions {
		out = append(out, TransactionPart{
			ID: t.ID, ShortID: t.ShortID, Amount: t.Amount, Category: t.Category,
			CategoryDisplayName: t.CategoryDisplayName, CategorySource: t.CategorySource,
			CounterpartyID: t.CounterpartyID, CounterpartyName: t.CounterpartyName, Tags: t.Tags,
			CommentCount: t.CommentCount, ExcludedReason: t.ExcludedReason, IsRemainder: t.IsRemainder,
		})
	}
	slices.SortFunc(out, func(a, b TransactionPart) int {
		if a.IsRemainder != b.IsRemainder {
			return map[bool]int{true: 1, false: -1}[a.IsRemainder]
		}
		return a.ID.Compare(b.ID)
	})
	return out, err
}

// single returns one transaction without its parts.
func (b *Books) single(ctx context.Context, q pg.Querier, in TransactionRef) (Transaction, error) {
	// Two statements, because PostgreSQL would plan "one or the other" again for every call.
	const one = `select true, %s from transaction t join descriptor d on d.id = t.descriptor_id where %s = $1`
	var rows pgx.Rows
	u, err := id.Parse(in.TransactionID)
	if err == nil {
		rows, err = q.Query(ctx, fmt.Sprintf(one, transactionColumns, "t.id"), u)
	} else {
		rows, err = q.Query(ctx, fmt.Sprintf(one, transactionColumns, "t.short_id"), in.TransactionID)
	}
	if err != nil {
		return Transaction{}, err
	}
	p, err := scanPage(rows, 1)
	if err == nil && len(p.rows) == 0 {
		err = pg.ErrNoRow
	}
	if err != nil {
		return Transaction{}, pg.Found(err, "transaction", "{transaction.list} lists them")
	}
	n, err := b.names(ctx, q, p.version)
	if err != nil {
		return Transaction{}, err
	}
	return p.rows[0], p.name(n)
}
