package account

import (
	"context"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Every statement that writes accounts or balances calls a function of this file in the same
// database transaction. A proof depends on an account's transactions, balances, type, currency and
// balance method, so writes to other columns need no call.

// Due records that the books of these accounts changed, so that their proofs are made again. It
// only appends, so writers never wait for each other here.
func Due(ctx context.Context, tx pg.Tx, accounts []id.ID) error {
	if len(accounts) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `insert into proof_due (account_id) select distinct u from unnest($1::uuid[]) u`, accounts)
	return err
}

// A kindOf holds the columns that decide how an account's balances are read.
type kindOf struct {
	ID       id.ID  `db:"id"`
	Type     string `db:"type"`
	Currency string `db:"currency"`
	Method   string `db:"balance_method"`
}

func kindsOf(ctx context.Context, tx pg.Tx, accounts []id.ID) ([]kindOf, error) {
	return pg.All[kindOf](ctx, tx, `select id, type, currency, balance_method from account
		where id = any($1) order by id`, accounts)
}

// following runs a write that may change the type, currency or balance method of accounts, and then
// corrects what depends on these. The caller has locked the accounts.
func following(ctx context.Context, tx pg.Tx, accounts []id.ID, write func() error) error {
	before, err := kindsOf(ctx, tx, accounts)
	if err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	after, err := kindsOf(ctx, tx, accounts)
	if err != nil {
		return err
	}
	var changed, turned []id.ID
	for i, is := range after {
		if is != before[i] {
			changed = append(changed, is.ID)
		}
		if debt(is.Type) != debt(before[i].Type) {
			turned = append(turned, is.ID)
		}
	}
	if err := turn(ctx, tx, turned); err != nil {
		return err
	}
	return Due(ctx, tx, changed)
}

// debt reports whether the balance of an account of this type is an amount owed.
func debt(accountType string) bool {
	return slices.Contains([]string{bank.Credit, bank.Loan}, accountType)
}

// turn negates the balances of accounts that became a debt or ceased to be one. Statements, and
// banks that report no type, report assets as positive amounts; for a debt the amount owed is
// stored as positive. What a person entered stays as written.
func turn(ctx context.Context, tx pg.Tx, accounts []id.ID) error {
	if len(accounts) == 0 {
		return nil
	}
	if _, err := pg.Exec(ctx, tx, `
		update account_balance b set current = -b.current from account a
		where a.id = any($1) and b.account_id = a.id and (b.exact or a.guessed) and b.source <> 'manual'
			and b.current is not null`, accounts); err != nil {
		return err
	}
	_, err := pg.Exec(ctx, tx, `update account set balance_current = -balance_current where id = any($1) and guessed`,
		accounts)
	return err
}
