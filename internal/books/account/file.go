package account

import (
	"context"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// UnderFiles returns the hidden account that holds what files brought into a linked bank's account.
// It is a tombstone that counts as merged into the linked account. The bank does not report those
// transactions, so its syncs must not change them, just as they must not change those of other
// merged accounts. The caller has locked the account.
func (r *Register) UnderFiles(ctx context.Context, tx pg.Tx, of id.ID) (id.ID, error) {
	key := "files of " + of.String()
	found, err := pg.Values[id.ID](ctx, tx, `select id from account where merged_into = $1 and provider = $2
		and provider_id = $3`, of, bank.CSV, key)
	if err != nil || len(found) > 0 {
		return append(found, id.ID{})[0], err
	}
	in := Incoming{Provider: bank.CSV, ProviderID: key}
	row, err := pg.One[struct {
		Name     string `db:"name"`
		Type     string `db:"type"`
		Currency string `db:"currency"`
	}](ctx, tx, `select name, type, currency from account where id = $1`, of)
	if err != nil {
		return id.ID{}, err
	}
	in.Name, in.Type, in.Currency = text.Name(row.Name), row.Type, money.Currency(row.Currency)
	made, err := r.AddAccounts(ctx, tx, []Incoming{in})
	if err != nil {
		return id.ID{}, err
	}
	_, err = pg.Exec(ctx, tx, `update account set deleted_at = clock_timestamp(), merged_into = $2 where id = $1`,
		made[0], of)
	return made[0], err
}
