package ledger

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// A Transaction is money that moved, as the bank told it, with what the household made of it. The names are those of rule conditions and filters.
type Transaction struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	AccountID           id.ID           `json:"account_id"`
	AccountName         text.Untrusted  `json:"account_name"`
	ConnectionID        *id.ID          `json:"connection_id"`
	Provider            string          `json:"provider" enum:"plaid,teller,csv"`
	UserID              *id.ID          `json:"user_id" doc:"Who owns it: the account's owner if set, else the connection's member"`
	UserName            *string         `json:"user_name"`
	Date                pg.Date         `json:"date" doc:"The posting day"`
	AuthorizedDate      *pg.Date        `json:"authorized_date"`
	Datetime            *pg.Time        `json:"datetime"`
	Amount              money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency            money.Currency  `json:"iso_currency_code"`
	Name                text.Untrusted  `json:"name" doc:"Untrusted: what the bank wrote"`
	MerchantName        *text.Untrusted `json:"merchant_name" doc:"Untrusted: what the bank wrote"`
	CategoryPrimary     *text.Untrusted `json:"category_primary" doc:"Untrusted: the provider's own category, never rewritten"`
	CategoryDetailed    *text.Untrusted `json:"category_detailed" doc:"Untrusted: the provider's own category, never rewritten"`
	Category            *string         `json:"category" doc:"The assigned category's slug"`
	CategoryID          *id.ID          `json:"category_id"`
	CategoryDisplayName *string         `json:"category_display_name"`
	CategorySource      *string         `json:"category_source" enum:"rule,user,agent,provider" doc:"Who set it; what a user set is held against rules and agents"`
	CounterpartyID      *id.ID          `json:"counterparty_id"`
	CounterpartyName    *text.Untrusted `json:"counterparty_name"`
	Tags                []string        `json:"tags" doc:"Slugs, sorted"`
	Pending             bool            `json:"pending"`
	PaymentChannel      *string         `json:"payment_channel"`
	CommentCount        int             `json:"comment_count"`
	LinkedTransactionID *id.ID          `json:"linked_transaction_id" doc:"The other side of an account-link match"`
	Excluded            bool            `json:"excluded" doc:"A confirmed link makes it the mirror of another, so totals skip it"`
	DeletedAt           *pg.Time        `json:"deleted_at"`
	CreatedAt           pg.Time         `json:"created_at"`
	UpdatedAt           pg.Time         `json:"updated_at"`
}

// transactionColumns come in the order of scanned.
const transactionColumns = `
	t.id, t.short_id, t.account_id, coalesce(a.display_name, a.name), a.connection_id, a.provider, coalesce(a.owner_id, cn.member_id), m.name,
	t.date, t.authorized_date, t.datetime, t.amount, t.currency, d.name, nullif(d.merchant_name, ''), t.category_primary, t.category_detailed,
	c.slug, t.category_id, c.display_name, t.category_source, t.counterparty_id, p.name,
	array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id where tt.transaction_id = t.id and tt.present and g.deleted_at is null order by g.slug),
	t.pending, t.payment_channel, (select count(*) from comment o where o.transaction_id = t.id and o.deleted_at is null),
	t.linked_id, t.excluded, t.deleted_at, t.created_at, t.updated_at`

// transactionJoins bring the names in that a transaction refers to.
const transactionJoins = `
	join account a on a.id = t.account_id
	left join connection cn on cn.id = a.connection_id
	left join member m on m.id = coalesce(a.owner_id, cn.member_id)
	join descriptor d on d.id = t.descriptor_id
	left join category c on c.id = t.category_id
	left join counterparty p on p.id = t.counterparty_id`

// scanned are the places that transactionColumns fill.
func (t *Transaction) scanned() []any {
	return []any{
		&t.ID, &t.ShortID, &t.AccountID, &t.AccountName, &t.ConnectionID, &t.Provider, &t.UserID, &t.UserName,
		&t.Date, &t.AuthorizedDate, &t.Datetime, &t.Amount, &t.Currency, &t.Name, &t.MerchantName, &t.CategoryPrimary, &t.CategoryDetailed,
		&t.Category, &t.CategoryID, &t.CategoryDisplayName, &t.CategorySource, &t.CounterpartyID, &t.CounterpartyName,
		&t.Tags, &t.Pending, &t.PaymentChannel, &t.CommentCount, &t.LinkedTransactionID, &t.Excluded, &t.DeletedAt, &t.CreatedAt, &t.UpdatedAt,
	}
}

// A TransactionRef names a transaction.
type TransactionRef struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
}

// Transaction is one transaction, deleted or not.
func (b *Books) Transaction(ctx context.Context, q pg.Querier, in TransactionRef) (Transaction, error) {
	rows, err := q.Query(ctx, `select `+transactionColumns+` from transaction t `+transactionJoins+` where t.id = $1 or t.short_id = $2`, pg.RefTo(in.TransactionID).IDArgs()...)
	if err != nil {
		return Transaction{}, err
	}
	found, err := scanTransactions(rows, 1)
	if err == nil && len(found) == 0 {
		err = pg.ErrNoRow
	}
	if err != nil {
		return Transaction{}, pg.Found(err, "transaction", "GET /api/v1/transactions lists them")
	}
	return found[0], nil
}
