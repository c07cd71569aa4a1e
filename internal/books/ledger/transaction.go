package ledger

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

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
		Filter: Filter{ParentID: new(parent.String()), Deleted: "include"}, Fields: "all", Limit: MaxParts,
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
