package ledger

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ExportTransactions asks for transactions as a table.
type ExportTransactions struct {
	Filter
	Format string `json:"format,omitempty" enum:"csv" default:"csv"`
}

// exportPage is how many transactions are read at a time. While a page is sent, the export uses no
// database connection.
const exportPage = 500

// Export writes the transactions of a filter as CSV, newest first, a page at a time. Texts that a
// spreadsheet would run as a formula get a leading apostrophe.
func (b *Books) Export(ctx context.Context, q pg.Querier, in ExportTransactions, send func(string) error) error {
	type pair struct {
		Slug    string `db:"slug"`
		Primary string `db:"primary_slug"`
	}
	pairs, err := pg.All[pair](ctx, q, `select c.slug, coalesce(p.slug, c.slug) as primary_slug
		from category c left join category p on p.id = c.parent_id`)
	if err != nil {
		return err
	}
	primary := make(map[string]string, len(pairs))
	for _, p := range pairs {
		primary[p.Slug] = p.Primary
	}
	var part strings.Builder
	table := csv.NewWriter(&part)
	if err := table.Write([]string{
		"id", "date", "amount", "iso_currency_code", "account_id", "account", "name", "merchant_name", "detail",
		"counterparty", "category", "primary_category", "tags", "pending", "excluded",
		"parent_id", "excluded_reason",
	}); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	page := ListTransactions{Filter: in.Filter, Limit: exportPage}
	for {
		rows, err := b.Transactions(ctx, q, page)
		if err != nil {
			return err
		}
		for i := range rows.Transactions {
			t := &rows.Transactions[i]
			if err := table.Write(t.cells(primary)); err != nil {
				return fmt.Errorf("write csv: %w", err)
			}
		}
		table.Flush()
		if err := send(part.String()); err != nil {
			return err
		}
		part.Reset()
		if page.Cursor = rows.NextCursor; !rows.HasMore {
			return nil
		}
	}
}

// cells returns the transaction as a row of a table.
func (t *Transaction) cells(primary map[string]string) []string {
	cell := func(s *text.Untrusted) string {
		if s == nil {
			return ""
		}
		return text.Cell(s.Plain())
	}
	var slug, above, parent, reason string
	if t.ExcludedReason != nil {
		reason = *t.ExcludedReason
	}
	if t.ParentID != nil {
		parent = t.ParentID.Short()
	}
	if t.Category != nil {
		slug, above = *t.Category, primary[*t.Category]
	}
	return []string{
		t.ShortID, t.Date.String(), t.Amount.String(), string(t.Currency), t.AccountID.Short(), cell(&t.AccountName),
		cell(&t.Name), cell(t.MerchantName), cell(t.Detail), cell(t.CounterpartyName), text.Cell(slug),
		text.Cell(above), text.Cell(strings.Join(t.Tags, " ")),
		strconv.FormatBool(t.Pending), strconv.FormatBool(t.Excluded), parent, reason,
	}
}
