package archive

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// cell returns a text as a table cell that no program interprets as a formula.
func cell(s string) string { return text.Cell(plain(s)) }

// writeCSV writes the transactions as one table.
func (a *Archive) writeCSV(ctx context.Context, w io.Writer, moved progress) error {
	return snapshot(ctx, a.db, func(tx pg.Tx) error {
		b, err := readBook(ctx, tx)
		if err != nil {
			return err
		}
		out := csv.NewWriter(w)
		if err := out.Write([]string{
			"id", "date", "amount", "iso_currency_code", "account_id", "account", "name",
			"merchant_name", "detail", "counterparty", "category", "primary_category", "tags", "pending", "excluded",
			"transfer", "parent_id",
		}); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
		line := func(e *entry) error {
			owner, filed, primary, other := b.account[e.AccountID], "", "", ""
			if e.CategoryID != nil {
				c := b.category[*e.CategoryID]
				filed, primary = c.Name, c.Name
				if c.Parent != nil {
					primary = *c.Parent
				}
			}
			if e.Counterparty != nil {
				other = *e.Counterparty
			}
			return out.Write([]string{
				e.ShortID, e.Date.String(), e.Out, e.Currency, owner.ID.Short(), cell(owner.Name), cell(e.Name),
				cell(e.Merchant), cell(e.Detail), cell(other), cell(filed), cell(primary),
				cell(strings.Join(e.Tags, " ")), strconv.FormatBool(e.Pending), strconv.FormatBool(e.Excluded),
				strconv.FormatBool(e.Transfer), e.parent,
			})
		}
		err = each(ctx, tx, moved, func(e *entry) error {
			for _, leaf := range e.leaves() {
				if err := line(&leaf); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	})
}
