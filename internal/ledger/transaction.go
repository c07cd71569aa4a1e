package ledger

import (
	"context"
	"fmt"

	"coffer/internal/bank/all"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// A Transaction is money that moved, as the bank told it, with what the household made of it. The
// names are those of rule conditions and filters.
type Transaction struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	AccountID           id.ID           `json:"account_id"`
	AccountName         text.Untrusted  `json:"account_name"`
	ConnectionID        *id.ID          `json:"connection_id"`
	Provider            all.Name        `json:"provider"`
	UserID              *id.ID          `json:"user_id" doc:"Who owns it: the account's owner if set, else the connection's member"`
	UserName            *string         `json:"user_name"`
	Date                pg.Date         `json:"date" doc:"The posting day"`
	AuthorizedDate      *pg.Date        `json:"authorized_date"`
	Datetime            *pg.Time        `json:"datetime"`
	Amount              money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency            money.Currency  `json:"iso_currency_code"`
	Name                text.Untrusted  `json:"name" doc:"Untrusted: the bank's text"`
	MerchantName        *text.Untrusted `json:"merchant_name" doc:"Untrusted: the bank's text"`
	CategoryPrimary     *text.Untrusted `json:"category_primary" doc:"Untrusted: the provider's own category, never rewritten"`
	CategoryDetailed    *text.Untrusted `json:"category_detailed" doc:"Untrusted: the provider's own category, never rewritten"`
	Category            *string         `json:"category" doc:"The assigned category's slug"`
	CategoryID          *id.ID          `json:"category_id"`
	CategoryDisplayName *string         `json:"category_display_name"`
	CategorySource      *string         `json:"category_source" enum:"rule,user,agent,provider" doc:"Who set it; rules and agents leave what a user set"`
	CounterpartyID      *id.ID          `json:"counterparty_id"`
	CounterpartyName    *text.Untrusted `json:"counterparty_name"`
	Tags                []string        `json:"tags" doc:"Slugs, sorted"`
	Pending             bool            `json:"pending"`
	PaymentChannel      *string         `json:"payment_channel"`
	CommentCount        int             `json:"comment_count"`
	LinkedTransactionID *id.ID          `json:"linked_transaction_id" doc:"The other transaction of a confirmed account link match"`
	Excluded            bool            `json:"excluded" doc:"A confirmed link makes it the mirror of another transaction, so totals skip it"`
	DeletedAt           *pg.Time        `json:"deleted_at"`
	CreatedAt           pg.Time         `json:"created_at"`
	UpdatedAt           pg.Time         `json:"updated_at"`
}

// A TransactionRef names a transaction.
type TransactionRef struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
}

// Transaction returns one transaction, deleted or not.
func (b *Books) Transaction(ctx context.Context, q pg.Querier, in TransactionRef) (Transaction, error) {
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
