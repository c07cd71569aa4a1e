package ledger

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostGiven is the most that the parts with an amount may sum up to, in cents, unless their
// transaction is larger. It is half of the largest amount, so the remainder fits whatever realistic
// amount a bank corrects the transaction to.
const mostGiven = 5_000_000_000_00

// fits reports whether the remainder of an amount is in the range of amounts, in cents.
func fits(amount, given int64) bool {
	_, err := money.FromCents(amount - given)
	return err == nil
}

// tooMuch reports whether parts take so much that a correction of the amount could leave a
// remainder that does not fit.
func tooMuch(amount, given int64) bool { return max(given, -given) > max(amount, -amount, mostGiven) }

// given returns the sum of the parts in a value of splitText without the remainder, in cents.
func given(split *string) int64 {
	var sum int64
	for _, amount := range partsOf(split) {
		if amount == rest {
			continue
		}
		if a, err := money.Parse(amount); err == nil {
			sum += a.Cents()
		}
	}
	return sum
}

// joinOverfull joins the split transactions among the staged rows whose remainder would not fit
// after the bank's new amount. Such a split cannot be kept in any form, and one payment must not
// keep the others from arriving. The transaction waits for review, and a revert of the join checks
// again whether the split fits.
func (b *Books) joinOverfull(ctx context.Context, tx pg.Tx) ([]journal.Entry, error) {
	type row struct {
		ID     id.ID        `db:"id"`
		Short  string       `db:"short_id"`
		Amount money.Amount `db:"amount"`
		Split  *string      `db:"split"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select t.id, t.short_id, i.amount, `+splitText+` as split from incoming i
			join transaction t on t.account_id = i.account_id and t.provider_id = i.provider_id
		where t.is_split and t.amount <> i.amount order by t.id`)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	var looks []Operation
	for _, r := range rows {
		if !fits(r.Amount.Cents(), given(r.Split)) {
			edits = append(edits, Edit{
				Transaction: r.ID, Field: journal.FieldSplit,
				Note: new("split removed, because the bank's new amount left a remainder that is larger than " +
					"an amount can be"),
			})
			looks = append(looks, Operation{TransactionID: r.Short, TagsToAdd: []string{NeedsReview}})
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	ctx = op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"})
	_, joined, err := b.Apply(ctx, tx, edits, true)
	if err != nil {
		return nil, err
	}
	_, tagged, err := b.perform(ctx, tx, looks, false)
	return append(joined, tagged...), err
}

// roomy returns a function that reports whether the remainder fits after an entry that leads to a
// split or changes the amount of a split transaction. Call it in the order in which now is changed.
func roomy(ctx context.Context, q pg.Querier, now *current, entries []journal.Entry) (func(journal.Entry) bool, error) {
	type row struct {
		ID     id.ID        `db:"id"`
		Amount money.Amount `db:"amount"`
	}
	var ids []id.ID
	for _, e := range entries {
		if e.Field == journal.FieldSplit && e.After != nil {
			ids = append(ids, e.SubjectID)
		}
	}
	amounts := make(map[id.ID]int64, len(ids))
	if len(ids) > 0 {
		rows, err := pg.All[row](ctx, q, `select id, amount from transaction where id = any($1)`, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			amounts[r.ID] = r.Amount.Cents()
		}
	}
	return func(e journal.Entry) bool {
		switch {
		case e.Field == journal.FieldAmount && e.After != nil && now.rows[e.SubjectID].Split != nil:
			a, err := money.Parse(*e.After)
			return err == nil && fits(a.Cents(), given(now.rows[e.SubjectID].Split))
		case e.Field == journal.FieldSplit && e.After != nil:
			amount := amounts[e.SubjectID]
			if h := now.hand[e.SubjectID]; h != nil && h.Amount != nil { // after this revert
				if a, err := money.Parse(*h.Amount); err == nil {
					amount = a.Cents()
				}
			}
			return fits(amount, given(e.After))
		}
		return true
	}, nil
}

// partsFit rejects an amount whose remainder, after the parts of the transaction, would not fit.
func (t TransactionDetail) partsFit(amount money.Amount) error {
	var sum int64
	for _, p := range t.Parts {
		if !p.IsRemainder {
			sum += p.Amount.Cents()
		}
	}
	if len(t.Parts) == 0 || fits(amount.Cents(), sum) {
		return nil
	}
	return errs.Field("amount", "range", "would leave a remainder that is larger than an amount can be; "+
		"remove the split first, or make its parts smaller")
}
