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

// mostGiven is the largest sum, in cents, of all parts except the remainder, unless their
// transaction itself is larger. It is half of the largest possible amount. So the remainder stays
// valid for every realistic amount to which a bank may correct the transaction.
const mostGiven = 5_000_000_000_00

// fits reports whether the remainder is a valid amount. All values are in cents.
func fits(amount, given int64) bool {
	_, err := money.FromCents(amount - given)
	return err == nil
}

// tooMuch reports whether the parts sum up to so much that a correction of the amount could make
// the remainder invalid.
func tooMuch(amount, given int64) bool { return max(given, -given) > max(amount, -amount, mostGiven) }

// given returns the sum, in cents, of the parts in a value of splitText, without the remainder.
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

// joinOverfull finds split transactions among the staged rows whose remainder would be invalid with
// the bank's new amount, and removes their splits. Such a split cannot be kept in any form, and one
// payment must not block the others. The transaction waits for review. If someone reverts the
// removal, the revert checks the remainder again.
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

// roomy returns a function for entries that create a split or change the amount of a split
// transaction. It reports whether the remainder is valid after the entry. Call it in the order in
// which now is changed.
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
			if h := now.hand[e.SubjectID]; h != nil && h.Amount != nil { // the amount after this revert
				if a, err := money.Parse(*h.Amount); err == nil {
					amount = a.Cents()
				}
			}
			return fits(amount, given(e.After))
		}
		return true
	}, nil
}

// partsFit rejects an amount that would make the remainder of the split invalid.
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
