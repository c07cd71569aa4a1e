package finding

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// refunded makes one transaction the refund of another. The refund counts in the category of the
// purchase, on its own day. If the purchase is split, the category is that of the part with the
// refund's amount, or the one that all parts share. Otherwise the refund's category stays.
func (d *Desk) refunded(ctx context.Context, tx pg.Tx, back, purchase id.ID, force bool) ([]journal.Entry, error) {
	if err := d.books.Lock(ctx, tx, []id.ID{back, purchase}); err != nil {
		return nil, err
	}
	type row struct {
		Split    bool    `db:"divided"`
		Category *string `db:"category"`
	}
	r, err := pg.One[row](ctx, tx, `
		select exists (select from transaction s where s.parent_id = r.id) as divided,
			case when not exists (select from transaction s where s.parent_id = p.id) then p.category_id::text else (
			select min(x.category_id::text) from (
				select s.category_id, s.amount = -r.amount as same, bool_or(s.amount = -r.amount) over () as any_same
				from transaction s where s.parent_id = p.id) x
			where x.same or not x.any_same having count(distinct coalesce(x.category_id::text, '')) = 1) end as category
		from transaction r, transaction p where r.id = $1 and p.id = $2`, back, purchase)
	if err != nil {
		return nil, err
	}
	edits := []ledger.Edit{{Transaction: back, Field: journal.FieldRefund, Value: new(purchase.String())}}
	if !r.Split && r.Category != nil {
		edits = append(edits, ledger.Edit{Transaction: back, Field: journal.FieldCategory, Value: r.Category})
	}
	outcomes, entries, err := d.books.Apply(ctx, tx, edits, force)
	if err == nil && slices.Contains(outcomes, ledger.Held) {
		err = errs.New(errs.Conflict,
			"a person set the category of the refund, so it is locked (held); pass force: true to change it anyway")
	}
	return entries, err
}

// notRefunded separates a refund from its purchase. The refund's category stays.
func (d *Desk) notRefunded(ctx context.Context, tx pg.Tx, back id.ID) ([]journal.Entry, error) {
	_, entries, err := d.books.Apply(ctx, tx, []ledger.Edit{{Transaction: back, Field: journal.FieldRefund}}, false)
	return entries, err
}

// leaveOut leaves a transaction out of totals, or all its parts if it is split. Without a reason,
// it includes again what was left out as a duplicate.
func (d *Desk) leaveOut(ctx context.Context, tx pg.Tx, u id.ID, reason *string, force bool) ([]journal.Entry,
	error,
) {
	if err := d.books.Lock(ctx, tx, []id.ID{u}); err != nil {
		return nil, err
	}
	leaves, err := pg.Values[id.ID](ctx, tx, `select t.id from transaction t where (t.id = $1 or t.parent_id = $1)
		and `+journal.Leaf+` and ($2 or t.excluded_reason = $3) order by t.id`, u, reason != nil, string(duplicate))
	if err != nil {
		return nil, err
	}
	edits := make([]ledger.Edit, len(leaves))
	for i, leaf := range leaves {
		edits[i] = ledger.Edit{Transaction: leaf, Field: journal.FieldExcluded, Value: reason}
	}
	_, entries, err := d.books.Apply(ctx, tx, edits, force)
	return entries, err
}
