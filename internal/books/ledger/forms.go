package ledger

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Form selects the transactions of an account whose wordings have the same form.
type Form struct {
	AccountID id.ID  `db:"account_id"`
	Form      id.Key `db:"form"`
}

// TakeForms returns the forms whose transactions have changed since the last call. If the database
// transaction fails, the next call returns the same forms again. Every write records its forms (see
// wrote). Only one caller at a time may call it.
func (b *Books) TakeForms(ctx context.Context, tx pg.Tx) ([]Form, error) {
	return pg.All[Form](ctx, tx, `with taken as (delete from form_due returning account_id, form)
		select distinct account_id, form from taken`)
}

// NoteForms makes the next sweep check these forms again.
func (b *Books) NoteForms(ctx context.Context, tx pg.Tx, account id.ID, forms []id.Key) error {
	keys := make([]int64, len(forms))
	for i, f := range forms {
		keys[i] = int64(f)
	}
	_, err := pg.Exec(ctx, tx, `insert into form_due (account_id, form) select $1, unnest($2::bigint[])`, account, keys)
	return err
}
