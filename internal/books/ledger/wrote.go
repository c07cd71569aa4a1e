package ledger

import (
	"context"

	"coffer/internal/books/account"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Every statement that writes transactions calls wrote in the same database transaction, and the
// followers then update what depends on the transactions. A statement that sets only categories,
// tags or identities does not call wrote, because nothing depends on those.

// A place is where a transaction is: an account, and the form of the wording. The form is nil if no
// sweep checks it: for a new pending transaction, and for a wording without a form.
type place struct {
	Account id.ID  `db:"account_id"`
	Form    *int64 `db:"form"`
}

// A write is what a statement wrote.
type write struct {
	rows   []id.ID // stored transactions, which may have parts
	places []place // where transactions are now, or were before
}

// followers are called after each write. copyToParts comes first, because parts are transactions
// too.
var followers = []func(context.Context, pg.Tx, write) error{copyToParts, noteForms, noteProofs}

// wrote is called after a write that may have changed the account, day, amount, currency, wording
// or state of transactions. A writer that changes the account or the wording also passes the places
// from before the write.
func wrote(ctx context.Context, tx pg.Tx, ids []id.ID, before ...place) error {
	if len(ids) == 0 {
		return nil
	}
	now, err := placesOf(ctx, tx, ids)
	if err != nil {
		return err
	}
	return write{ids, append(before, now...)}.follow(ctx, tx)
}

func (w write) follow(ctx context.Context, tx pg.Tx) error {
	for _, f := range followers {
		if err := f(ctx, tx, w); err != nil {
			return err
		}
	}
	return nil
}

// placesOf returns where transactions are stored.
func placesOf(ctx context.Context, tx pg.Tx, ids []id.ID) ([]place, error) {
	return pg.All[place](ctx, tx, `
		with stored as materialized (
			select distinct t.account_id, t.descriptor_id from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id)
		select distinct s.account_id, d.form from stored s join descriptor d on d.id = s.descriptor_id`, ids)
}

// noteForms records the forms of the written transactions, so that the next sweep checks them.
func noteForms(ctx context.Context, tx pg.Tx, w write) error {
	var accounts []id.ID
	var forms []int64
	for _, p := range w.places {
		if p.Form != nil {
			accounts, forms = append(accounts, p.Account), append(forms, *p.Form)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `insert into form_due (account_id, form)
		select distinct * from unnest($1::uuid[], $2::bigint[])`, accounts, forms)
	return err
}

// noteProofs records that the proofs of the accounts must be made again.
func noteProofs(ctx context.Context, tx pg.Tx, w write) error {
	accounts := make([]id.ID, len(w.places))
	for i, p := range w.places {
		accounts[i] = p.Account
	}
	return account.Due(ctx, tx, accounts)
}

// wroteChanged calls wrote for rows that the bank changed, with the wordings before and after.
func wroteChanged(ctx context.Context, tx pg.Tx, rows []changed) error {
	ids, before := make([]id.ID, len(rows)), make([]place, len(rows))
	for i, r := range rows {
		ids[i], before[i] = r.ID, place{r.Account, r.FormBefore}
	}
	return wrote(ctx, tx, ids, before...)
}

// copyToParts copies to the parts of split transactions everything that parts do not own: account,
// wording, facts, exclusion and deletion. It also computes the remainder from the transaction's
// amount and the other parts. So the parts add up to their transaction at every commit, whatever
// amount the bank sends.
func copyToParts(ctx context.Context, tx pg.Tx, w write) error {
	if len(w.rows) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `
		update transaction p set
			account_id = t.account_id, descriptor_id = t.descriptor_id, `+partFactsFromWhole+`,
			excluded = t.excluded, transfer = t.transfer, deleted_at = t.deleted_at,
			deleted_source = t.deleted_source, updated_at = t.updated_at,
			amount = case when p.remainder then t.amount - g.given else p.amount end
		from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id and t.is_split
		cross join lateral (select coalesce(sum(o.amount), 0) as given from transaction o
			where o.parent_id = t.id and not o.remainder) g
		where p.parent_id = t.id and (p.account_id, p.descriptor_id, `+partFacts+`, p.excluded, p.transfer,
				p.deleted_at, p.deleted_source, p.amount)
			is distinct from (t.account_id, t.descriptor_id, `+wholeFacts+`, t.excluded, t.transfer,
				t.deleted_at, t.deleted_source,
				case when p.remainder then t.amount - g.given else p.amount end)`, w.rows)
	return err
}
