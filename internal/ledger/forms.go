package ledger

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// A Form names the transactions of an account whose wordings have one form.
type Form struct {
	AccountID id.ID  `db:"account_id"`
	Form      id.Key `db:"form"`
}

// TakeForms returns the forms of which transactions have changed since it was last called; if the
// transaction fails, the same are returned again. Triggers note them. Only one caller at a time may
// call it.
func (b *Books) TakeForms(ctx context.Context, tx pg.Tx) ([]Form, error) {
	return pg.All[Form](ctx, tx, `with taken as (delete from form_due returning account_id, form)
		select distinct account_id, form from taken`)
}

// NoteForms has the next sweep look at these forms again.
func (b *Books) NoteForms(ctx context.Context, tx pg.Tx, account id.ID, forms []id.Key) error {
	keys := make([]int64, len(forms))
	for i, f := range forms {
		keys[i] = int64(f)
	}
	_, err := pg.Exec(ctx, tx, `insert into form_due (account_id, form) select $1, unnest($2::bigint[])`, account, keys)
	return err
}
