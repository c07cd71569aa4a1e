package ledger

import (
	"context"
	"maps"
	"slices"

	"coffer/internal/bank/statement"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// broughtSince returns the transactions that a revert must leave as they are, because a bank or a
// file has brought their payment once more since the change that is reverted.
func broughtSince(ctx context.Context, tx pg.Tx, entries []journal.Entry) (map[id.ID]bool, error) {
	out := map[id.ID]bool{}
	for _, find := range []func(context.Context, pg.Querier, []journal.Entry) (map[id.ID]bool, error){
		fedSince, reportedSince, filedSince, inFormerAccount,
	} {
		found, err := find(ctx, tx, entries)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// fedSince returns those of the transactions to delete that a file brought and that the bank has
// reported itself since: see [Books.TakeOver]. A revert of the import leaves them as they are. What
// somebody deleted can be deleted again.
func fedSince(ctx context.Context, q pg.Querier, entries []journal.Entry) (map[id.ID]bool, error) {
	var ids []id.ID
	for _, e := range entries {
		if e.Field == journal.FieldDeleted && e.After != nil && equal(e.AfterSource, &provider) {
			ids = append(ids, e.SubjectID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	type row struct {
		ID     id.ID  `db:"id"`
		Now    string `db:"provider_id"`
		Former string `db:"former"`
	}
	rows, err := pg.All[row](ctx, q, `
		select t.id, t.provider_id, a.provider_id as former
		from unnest($1::uuid[]) v (id)
		cross join lateral (select provider_id from transaction_alias where transaction_id = v.id) a
		join transaction t on t.id = v.id and t.provider_id !~ '^(merged|lent):' -- a file's still`, ids)
	out := map[id.ID]bool{}
	for _, r := range rows {
		if statement.Source(r.Now) == "" && statement.Source(r.Former) != "" {
			out[r.ID] = true
		}
	}
	return out, err
}

// reportedSince returns those of the transactions to restore that a file brought and whose payment
// the bank has reported itself since. No sync could take them over while they were deleted, see
// [Books.TakeOver], so the payment is in the books as the bank's row. It looks for live rows of the
// bank's feed that were not there when the transaction last was new or restored, and that were no
// other file's row: what was there before stood beside it already. As with a sync, each of the
// bank's rows stands for one transaction, also if that one stays deleted; those that the same
// entries delete stand for none.
func reportedSince(ctx context.Context, q pg.Querier, entries []journal.Entry) (map[id.ID]bool, error) {
	ids, leaving := restored(entries), deleted(entries)
	if len(ids) == 0 {
		return nil, nil
	}
	beside, err := undoneBeside(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	found, err := pg.All[meeting](ctx, q, `
		select f.account_id, f.amount, f.currency, f.id as file_id, f.provider_id as file_identity, f.date as file_date,
			fd.name as file_name, b.id as bank_id, b.provider_id as bank_identity, b.date as bank_date, bd.name as bank_name,
			array(select a.provider_id from transaction_alias a where a.transaction_id = b.id) as formerly
		from unnest($1::uuid[]) v (id)
		join transaction f on f.id = v.id and f.deleted_at is not null and f.origin = 'bank'
		join descriptor fd on fd.id = f.descriptor_id
		left join lateral (select e.id, c.created_at from entry e join change c on c.id = e.change_id
			where e.subject_id = f.id and e.field = 'deleted' and e.after is null order by e.id desc limit 1) l on true
		cross join lateral (select b.* from transaction b where b.account_id = f.account_id
			and b.date between f.date - $2::int and f.date + $2::int and b.amount = f.amount and b.currency = f.currency
			and b.deleted_at is null and b.origin = 'bank' and b.provider_id !~ '^(merged|lent):'
			offset 0) b -- each is looked up by its days: a join could compare every row with every other
		join descriptor bd on bd.id = b.descriptor_id
		where b.id <> all($3) and (b.created_at > coalesce(l.created_at, f.created_at)
			or (select e.after is not null from entry e where e.subject_id = b.id and e.field = 'deleted'
				and e.id < l.id order by e.id desc limit 1))
		order by f.account_id, f.date, f.id, b.date, b.id`, slices.Concat(ids, beside), statement.Apart, leaving)
	asked, out := setOf(ids), map[id.ID]bool{}
	for file := range fed(found) {
		if asked[file] {
			out[file] = true
		}
	}
	return out, err
}

// filedSince returns those of the transactions to restore that a bank reported and whose payment a
// file has brought since they were deleted. The file could not know them by then, so the payment is
// in the books as the file's row. Rows of files that the same entries delete are none of them.
func filedSince(ctx context.Context, q pg.Querier, entries []journal.Entry) (map[id.ID]bool, error) {
	ids, leaving := restored(entries), deleted(entries)
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := pg.All[meeting](ctx, q, `
		select b.account_id, b.amount, b.currency, f.id as file_id, f.provider_id as file_identity, f.date as file_date,
			fd.name as file_name, b.id as bank_id, b.provider_id as bank_identity, b.date as bank_date, bd.name as bank_name,
			'{}'::text[] as formerly
		from unnest($1::uuid[]) v (id)
		join transaction b on b.id = v.id and b.deleted_at is not null and b.origin = 'bank'
		join descriptor bd on bd.id = b.descriptor_id
		cross join lateral (select e.id from entry e where e.subject_id = b.id and e.field = 'deleted'
			and e.after is not null order by e.id desc limit 1) l
		cross join lateral (select f.* from transaction f where f.account_id = b.account_id
			and f.date between b.date - $2::int and b.date + $2::int and f.amount = b.amount and f.currency = b.currency
			and f.deleted_at is null and f.origin = 'bank' and f.provider_id !~ '^(merged|lent):' offset 0) f
		join descriptor fd on fd.id = f.descriptor_id
		where f.id <> all($3) and (select e.after is null from entry e where e.subject_id = f.id
			and e.field = 'deleted' and e.id > l.id order by e.id limit 1) -- it came, or came back, since
		order by b.account_id, b.date, b.id, f.date, f.id`, ids, statement.Apart, leaving)
	out := map[id.ID]bool{}
	for _, bank := range fed(found) {
		out[bank] = true
	}
	return out, err
}

// A meeting is a row of a file and one of a bank in the same account that may be the same payment:
// the amount is equal, and the days are near.
type meeting struct {
	Account      id.ID          `db:"account_id"`
	Amount       money.Amount   `db:"amount"`
	Currency     money.Currency `db:"currency"`
	File         id.ID          `db:"file_id"`
	FileIdentity string         `db:"file_identity"`
	FileDate     pg.Date        `db:"file_date"`
	FileName     string         `db:"file_name"`
	Bank         id.ID          `db:"bank_id"`
	BankIdentity string         `db:"bank_identity"`
	BankDate     pg.Date        `db:"bank_date"`
	BankName     string         `db:"bank_name"`
	Formerly     []string       `db:"formerly"` // identities under which the bank's row was another file's
}

// fed pairs the files' rows with the bank's as a sync would, each row once, and maps the former to
// the latter.
func fed(found []meeting) map[id.ID]id.ID {
	type place struct {
		account  id.ID
		currency money.Currency
	}
	type sides struct {
		files, banks []id.ID
		stored       []statement.Stored
		rows         []statement.Row
	}
	at, seen := map[place]*sides{}, map[id.ID]bool{}
	isFile := func(identity string) bool { return statement.Source(identity) != "" }
	for _, m := range found {
		if !isFile(m.FileIdentity) || isFile(m.BankIdentity) || slices.ContainsFunc(m.Formerly, isFile) {
			continue
		}
		of := at[place{m.Account, m.Currency}]
		if of == nil {
			of = &sides{}
			at[place{m.Account, m.Currency}] = of
		}
		if !seen[m.File] {
			seen[m.File] = true
			of.files, of.stored = append(of.files, m.File), append(of.stored, statement.Stored{
				Key: m.FileIdentity, Date: m.FileDate.String(), Cents: m.Amount.Cents(), Name: m.FileName,
			})
		}
		if !seen[m.Bank] {
			seen[m.Bank] = true
			of.banks, of.rows = append(of.banks, m.Bank), append(of.rows, statement.Row{
				Date: m.BankDate.String(), Amount: m.Amount, Name: text.Name(m.BankName),
			})
		}
	}
	out := map[id.ID]id.ID{}
	for _, of := range at {
		for i, n := range statement.Fed(of.rows, of.stored) {
			if n >= 0 {
				out[of.files[n]] = of.banks[i]
			}
		}
	}
	return out
}

// undoneBeside returns transactions of files that stay deleted because their import was undone or
// because the bank reported their payment, and that were last in an account while transactions to
// restore of the same amount were there. Those are other payments, so what the bank has reported of
// one of them it has not reported of the other, whichever is restored first.
func undoneBeside(ctx context.Context, q pg.Querier, ids []id.ID) ([]id.ID, error) {
	type places struct {
		Account id.ID   `db:"account_id"`
		First   pg.Date `db:"first"`
		Last    pg.Date `db:"last"`
		Cents   []int64 `db:"cents"`
	}
	in, err := pg.All[places](ctx, q, `
		select t.account_id, min(t.date) as first, max(t.date) as last,
			array_agg(distinct (t.amount * 100)::bigint) as cents
		from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id and t.origin = 'bank'
		group by t.account_id`, ids)
	if err != nil {
		return nil, err
	}
	type row struct {
		ID       id.ID  `db:"id"`
		Identity string `db:"provider_id"`
	}
	var found []id.ID
	asked := setOf(ids)
	for _, p := range in {
		rows, err := pg.All[row](ctx, q, `
			select id, provider_id from transaction
			where account_id = $1 and date between $2::date - $4::int and $3::date + $4::int
				and (amount * 100)::bigint = any($5) and deleted_at is not null and deleted_source = 'provider'
				and origin = 'bank' and provider_id !~ '^(merged|lent):'`, p.Account, p.First, p.Last, 2*statement.Apart,
			p.Cents)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if !asked[r.ID] && statement.Source(r.Identity) != "" {
				found = append(found, r.ID)
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return together(ctx, q, found, ids)
}

// together returns those of the deleted transactions that were last in their account while one of
// the others, which are deleted too, of the same amount was last there.
func together(ctx context.Context, q pg.Querier, ids, others []id.ID) ([]id.ID, error) {
	type life struct {
		ID       id.ID          `db:"id"`
		Account  id.ID          `db:"account_id"`
		Amount   money.Amount   `db:"amount"`
		Currency money.Currency `db:"currency"`
		Began    int64          `db:"began"` // the entry that brought or restored it last
		Ended    int64          `db:"ended"` // the entry that deleted it last
	}
	// Each is looked up by its id: a join could read all entries.
	lives, err := pg.All[life](ctx, q, `
		select t.id, t.account_id, t.amount, t.currency, coalesce((select e.id from entry e
				where e.subject_id = t.id and e.field = 'deleted' and e.after is null order by e.id desc limit 1), 0) as began,
			coalesce((select e.id from entry e
				where e.subject_id = t.id and e.field = 'deleted' and e.after is not null order by e.id desc limit 1), 0) as ended
		from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id`, slices.Concat(ids, others))
	if err != nil {
		return nil, err
	}
	type sum struct {
		account  id.ID
		amount   money.Amount
		currency money.Currency
	}
	of, asked := map[sum][]life{}, setOf(ids)
	for _, l := range lives {
		if at := (sum{l.Account, l.Amount, l.Currency}); !asked[l.ID] {
			of[at] = append(of[at], l)
		}
	}
	var out []id.ID
	for _, l := range lives {
		if asked[l.ID] && slices.ContainsFunc(of[sum{l.Account, l.Amount, l.Currency}], func(o life) bool {
			return max(l.Began, o.Began) < min(l.Ended, o.Ended)
		}) {
			out = append(out, l.ID)
		}
	}
	return out, nil
}

// inFormerAccount returns the transactions to restore that came from another account, to which
// their file has brought them again since. Both together would count the payment twice.
func inFormerAccount(ctx context.Context, q pg.Querier, entries []journal.Entry) (map[id.ID]bool, error) {
	ids := restored(entries)
	if len(ids) == 0 {
		return nil, nil
	}
	// Each is looked up by its identity: a join takes minutes where PostgreSQL expects few rows.
	again, err := pg.Values[id.ID](ctx, q, `
		select t.id from unnest($1::uuid[]) v (id)
		join transaction t on t.id = v.id and t.moved_from is not null
		cross join lateral (select from transaction x join account a on a.id = x.account_id
			where x.account_id = t.moved_from and x.provider_id = t.provider_id and x.deleted_at is null
				and a.deleted_at is null limit 1) x`, ids)
	return setOf(again), err
}

// repeatedSince returns those of the transactions that would move into these accounts whose payment
// the account has got once more since they left it: a bank or a file brought an equal one there, or
// it was restored or moved there. Both together would count the payment twice, and a new merge
// finds what repeats. Transactions that the undo deletes again are none of them.
func repeatedSince(ctx context.Context, q pg.Querier, entries []journal.Entry, ids, accounts []id.ID) (map[id.ID]bool,
	error,
) {
	if len(entries) == 0 {
		return nil, nil
	}
	// Each is looked up by its days and its id: a join could compare every row with every other.
	found, err := pg.Values[id.ID](ctx, q, `
		select distinct x.id
		from unnest($1::uuid[], $2::uuid[]) v (id, account_id)
		join transaction x on x.id = v.id and x.account_id <> v.account_id and x.deleted_at is null and x.origin = 'bank'
		cross join lateral (select b.id, b.created_at from transaction b where b.account_id = v.account_id
			and b.date between x.date - $3::int and x.date + $3::int and b.amount = x.amount and b.currency = x.currency
			and b.deleted_at is null and b.origin = 'bank' offset 0) b
		cross join lateral (select e.id, c.created_at from entry e join change c on c.id = e.change_id
			where e.subject_id = x.id and e.field = 'account' and starts_with(e.before, v.account_id::text)
			order by e.id desc limit 1) l -- it left that account
		where (b.created_at > l.created_at
				or (select e.before is not null from entry e where e.subject_id = b.id and e.field = 'deleted'
					and e.id > l.id order by e.id limit 1)
				or (select not starts_with(e.before, v.account_id::text) from entry e where e.subject_id = b.id
					and e.field = 'account' and e.id > l.id order by e.id limit 1))
			and not exists (select from entry e where e.subject_id = x.id and e.field = 'deleted' and e.after is null
				and e.change_id = (select change_id from entry where id = $4))`, ids, accounts, statement.Apart, entries[0].ID)
	return setOf(found), err
}
