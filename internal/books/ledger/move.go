package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Movable is a transaction of an account that is merged into another. Parts follow their
// transaction.
type Movable struct {
	ID   id.ID  `db:"id"`
	Live bool   `db:"live"`
	Sum  string `db:"sum"` // the amount with its currency
}

// Movables returns all transactions of an account, including deleted ones, with equal amounts next
// to each other.
func (b *Books) Movables(ctx context.Context, q pg.Querier, account id.ID) ([]Movable, error) {
	return pg.All[Movable](ctx, q, `select t.id, t.deleted_at is null as live, t.currency || ' ' || t.amount as sum
		from transaction t where t.account_id = $1 and `+journal.BankRow+`
		order by t.currency, t.amount, t.date, t.id`, account)
}

// Move puts transactions into another account and returns the entries. The caller has locked them.
// If the account already has a bank's id, the moved transaction gets a generated one.
func (b *Books) Move(ctx context.Context, tx pg.Tx, ids []id.ID, into id.ID) ([]journal.Entry, error) {
	accounts := slices.Repeat([]id.ID{into}, len(ids))
	moved, err := b.move(ctx, tx, ids, accounts, make([]*string, len(ids)), false)
	if err != nil {
		return nil, err
	}
	source := journal.Source(op.ActorOf(ctx))
	entries := make([]journal.Entry, 0, len(moved))
	for _, m := range moved {
		before, after := m.Was.String(), m.Account.String()
		if m.WasIdentity != m.Identity {
			before, after = before+" "+m.WasIdentity, after+" "+m.Identity
		}
		entries = append(entries, journal.Entry{
			Subject: journal.Transaction, SubjectID: m.ID, Field: journal.FieldAccount, Before: &before, After: &after,
			AfterSource: &source,
		})
	}
	days, err := b.DaysOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	matched, err := b.match(ctx, tx, days)
	return append(entries, matched...), err
}

// A moved is the account and identity of a transaction before and after a move.
type moved struct {
	ID          id.ID  `db:"id"`
	Was         id.ID  `db:"was"`
	WasIdentity string `db:"was_identity"`
	Account     id.ID  `db:"account_id"`
	Identity    string `db:"provider_id"`
}

// A transaction x can lend its bank's id to another one of its account, because no two can have it.
// Its own id then begins with lent and goes on with the bank's, which is owed to it: no change
// records that. It gets the bank's id back when it moves, or when the other transaction has left.
const (
	lent = `'lent:' || x.id || ' '`
	owed = `substr(x.provider_id, 43)` // after five characters, a UUID and a blank
)

// wish is the bank's id that a transaction x should have in another account, which is v.identity or
// its own, and whether it lends it now.
const wish = `select starts_with(i.now, ` + lent + `) as lent,
	case when starts_with(i.now, ` + lent + `) then substr(i.now, 43) else i.now end as identity
	from (select coalesce(v.identity, x.provider_id) as now) i`

// giveBack gives transactions of these accounts the bank's ids back that no other transaction has
// any more. Few transactions lend theirs. The bounds find them by an index in every collation.
func giveBack(ctx context.Context, tx pg.Tx, accounts []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update transaction t set provider_id = v.identity from (
			select distinct on (x.account_id, `+owed+`) x.id, `+owed+` as identity from transaction x
			where x.account_id = any($1) and x.provider_id >= 'lent' and x.provider_id < 'lenu'
				and starts_with(x.provider_id, `+lent+`)
				and not exists (select from transaction y where y.account_id = x.account_id and y.provider_id = `+owed+`)
				and not exists (select from transaction_alias y where y.account_id = x.account_id
					and y.provider_id = `+owed+` and y.transaction_id <> x.id)
			order by x.account_id, `+owed+`, x.deleted_at is not null, x.id) v
		where t.id = v.id`, accounts)
	return err
}

// move puts each transaction into an account, under the given bank's id or its own. Its former ids
// move with it, unless the account uses them for another transaction. If the account already has
// the bank's id, a transaction that returns there lends it.
func (b *Books) move(ctx context.Context, tx pg.Tx, ids, accounts []id.ID, identities []*string, returns bool) ([]moved,
	error,
) {
	if err := b.Touch(ctx, tx, ids); err != nil {
		return nil, err
	}
	// The update is a separate statement: PostgreSQL cannot estimate the number of rows, so it must
	// not plan the search and the update together.
	rows, err := pg.All[moved](ctx, tx, `
		select x.id, x.account_id as was, x.provider_id as was_identity, v.account_id,
			case when not n.taken then w.identity when w.lent or $4 then `+lent+` || w.identity
				else 'merged:' || x.id end as provider_id
		from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, account_id, identity)
		join transaction x on x.id = v.id and x.account_id <> v.account_id
		cross join lateral (`+wish+`) w
		cross join lateral (
			select exists (select from transaction y where y.account_id = v.account_id and y.provider_id = w.identity)
				or exists (select from transaction_alias y where y.account_id = v.account_id
					and y.provider_id = w.identity and y.transaction_id <> x.id) as taken) n`,
		ids, accounts, identities, returns)
	if err != nil {
		return nil, err
	}
	ids, accounts = make([]id.ID, len(rows)), make([]id.ID, len(rows))
	wanted := make([]string, len(rows))
	for i, m := range rows {
		ids[i], accounts[i], wanted[i] = m.ID, m.Account, m.Identity
	}
	before, err := placesOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction t set account_id = v.account_id, provider_id = v.identity,
			moved_from = nullif(coalesce(t.moved_from, t.account_id), v.account_id), updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, account_id, identity)
		where t.id = v.id`, ids, accounts, wanted); err != nil {
		return nil, err
	}
	if err := wrote(ctx, tx, ids, before...); err != nil {
		return nil, err
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction_alias a set account_id = t.account_id from transaction t
		where a.transaction_id = any($1) and t.id = a.transaction_id and a.account_id <> t.account_id
			and not exists (select from transaction x where x.account_id = t.account_id and x.provider_id = a.provider_id)
			and not exists (select from transaction_alias o where o.account_id = t.account_id
				and o.provider_id = a.provider_id)`, ids); err != nil {
		return nil, err
	}
	return rows, b.Touch(ctx, tx, ids)
}

// atHome locks the accounts of staged rows. If a row was moved to another account that still
// exists, the stored row is used there, and no second one is added to the account that it came
// from. The same holds for a row that came into the other account while the account that its file
// names was merged into it.
func atHome(ctx context.Context, tx pg.Tx) error {
	const lock = `select from account where id in (select account_id from incoming) order by id for no key update`
	if _, err := pg.Exec(ctx, tx, lock); err != nil {
		return err
	}
	moved, err := pg.Value[bool](ctx, tx, `select exists (
		select from (select account_id from incoming union select under from incoming) i
		cross join lateral (select from transaction t where t.moved_from = i.account_id limit 1) t)`)
	if err != nil || !moved {
		return err
	}
	n, err := pg.Exec(ctx, tx, `
		update incoming i set account_id = v.account_id from (
			select i.id, t.account_id from incoming i cross join lateral (
				select t.account_id from transaction t join account a on a.id = t.account_id and a.deleted_at is null
				where t.moved_from = any(array[i.account_id, i.under]) and t.provider_id = i.provider_id
				order by t.id limit 1) t
			where not exists (select from transaction x where x.account_id = i.account_id
				and x.provider_id = i.provider_id)) v
		where v.id = i.id`)
	if err != nil || n == 0 {
		return err
	}
	_, err = pg.Exec(ctx, tx, lock)
	return err
}

// alone marks staged rows that were deleted together with another account: either a merge deleted
// them because the other account had them too, or they were in it when it was removed. They are
// restored if their account has no equal transaction.
func alone(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `
		update incoming i set again = true from (
			select i.id from incoming i
			join transaction t on t.account_id = i.account_id and t.provider_id = i.provider_id
			cross join lateral (select e.change_id from entry e join change c on c.id = e.change_id and c.cause <> 'revert'
				where e.subject = 'transaction' and e.subject_id = t.id and e.field = 'deleted' and e.after is not null
				order by e.id desc limit 1) e
			where exists (select from transaction o where o.account_id in (select account_id from incoming)
					and o.deleted_at is not null and o.deleted_source <> 'provider')
				and t.deleted_at is not null and t.deleted_source <> 'provider'
				and exists (select from entry a where a.change_id = e.change_id and a.subject = 'account'
					and a.subject_id <> t.account_id)
				and not exists (select from transaction o where o.account_id = t.account_id and o.deleted_at is null
					and o.origin = 'bank' and o.amount = t.amount and o.currency = t.currency
					and o.date between t.date - 3 and t.date + 3)) v
		where v.id = i.id`)
	return err
}

// moves reverts changes of a transaction's account.
type moves struct{ books *Books }

// Kind implements journal.Subject.
func (moves) Kind() string { return journal.Transaction }

// Fields implements journal.FieldOwner.
func (moves) Fields() []string { return []string{journal.FieldAccount} }

// Places makes the journal apply moves first: whether a transaction can be restored depends on its
// account.
func (moves) Places() {}

// Lock does nothing: subject locks the transactions.
func (moves) Lock(context.Context, pg.Tx, []id.ID) error { return nil }

// Apply implements journal.Subject. A transaction moves back only into an account that still
// exists and that has not got its payment once more since, and an agent cannot revert a merge by a
// person.
func (m moves) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	ids, accounts, identities := make([]id.ID, len(entries)), make([]id.ID, len(entries)), make([]*string, len(entries))
	for i, e := range entries {
		if e.After == nil {
			return nil, fmt.Errorf("a recorded account of transaction %s is empty", e.SubjectID)
		}
		account, identity, with := strings.Cut(*e.After, " ")
		u, err := id.Parse(account)
		if err != nil {
			return nil, fmt.Errorf("read a recorded account: %w", err)
		}
		if ids[i], accounts[i] = e.SubjectID, u; with {
			identities[i] = &identity
		}
	}
	there, err := pg.Values[bool](ctx, tx, `
		with open as materialized (
			select id from account where id = any($2) and deleted_at is null order by id for share)
		select a.id is not null and t.id is not null
		from unnest($1::uuid[], $2::uuid[]) with ordinality v (id, account_id, n)
		left join transaction t on t.id = v.id left join open a on a.id = v.account_id
		order by v.n`, ids, accounts)
	if err != nil {
		return nil, err
	}
	again, err := repeatedSince(ctx, tx, entries, ids, accounts)
	if err != nil {
		return nil, err
	}
	var left []journal.Skipped
	n := 0
	for i, e := range entries {
		switch {
		case journal.Held(e.BeforeSource, op.ActorOf(ctx), false):
			left = append(left, journal.Skip(e, "held"))
		case !there[i]:
			left = append(left, journal.Skip(e, "missing"))
		case again[e.SubjectID]:
			left = append(left, journal.Skip(e, "conflict"))
		default:
			ids[n], accounts[n], identities[n] = ids[i], accounts[i], identities[i]
			n++
		}
	}
	// Deleted transactions lend their bank ids to returning ones that have the same. Otherwise the
	// bank's next file would restore the deleted ones, and a payment would count twice. Each is
	// looked up by its identity: a join takes minutes once PostgreSQL expects few deleted ones.
	_, err = pg.Exec(ctx, tx, `
		with wanted as materialized (
			select v.account_id, w.identity as provider_id
			from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, account_id, identity)
			join transaction x on x.id = v.id and x.account_id <> v.account_id and x.deleted_at is null
			cross join lateral (`+wish+`) w),
		has as materialized (
			select (select y.id from transaction y where y.account_id = w.account_id
				and y.provider_id = w.provider_id) as id from wanted w)
		update transaction x set provider_id = `+lent+` || x.provider_id
		from has where x.id = has.id and x.deleted_at is not null`, ids[:n], accounts[:n], identities[:n])
	var done []moved
	if err == nil {
		done, err = m.books.move(ctx, tx, ids[:n], accounts[:n], identities[:n], true)
	}
	if err == nil {
		from := make([]id.ID, len(done))
		for i, d := range done {
			from[i] = d.Was
		}
		slices.SortFunc(from, id.ID.Compare)
		err = giveBack(ctx, tx, slices.Compact(from))
	}
	if err == nil && m.books.matcher != nil {
		err = m.books.matcher.Part(ctx, tx, ids[:n])
	}
	return left, err
}

func setOf[T comparable](all []T) map[T]bool {
	set := make(map[T]bool, len(all))
	for _, v := range all {
		set[v] = true
	}
	return set
}

// MoveSplits gives transactions the parts of those that they replace, and returns the entries:
// from[i] is replaced by to[i], which has the same amount. A split moves only if a person made it,
// and only if the new transaction is not split and no person set its category.
func (b *Books) MoveSplits(ctx context.Context, tx pg.Tx, from, to []id.ID) ([]journal.Entry, error) {
	divided, err := splitAmong(ctx, tx, from)
	if err != nil || len(divided) == 0 {
		return nil, err
	}
	var ids []id.ID
	for i, u := range from {
		if divided[u] {
			ids = append(ids, u, to[i])
		}
	}
	now, err := lock(ctx, tx, ids, nil)
	if err != nil {
		return nil, err
	}
	byPerson := func(source *string) bool { return source != nil && *source == op.User }
	var edits []Edit
	for i, u := range from {
		if !divided[u] {
			continue
		}
		was, is := now.rows[u], now.rows[to[i]]
		if byPerson(was.SplitSource) && is.Split == nil && !byPerson(is.CategorySource) {
			edits = append(edits, Edit{Transaction: u, Field: journal.FieldSplit}, Edit{
				Transaction: to[i], Field: journal.FieldSplit, Value: was.Split, Source: was.SplitSource,
			})
		}
	}
	_, entries, err := b.Apply(ctx, tx, edits, true)
	return entries, err
}

// Bury deletes transactions in the caller's name and returns the entries.
func (b *Books) Bury(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	return b.bury(ctx, tx, ids, nil)
}

// StillEqual locks pairs of transactions and returns those that are still in these two accounts,
// not deleted, with the same amount and at most three days apart.
func (b *Books) StillEqual(ctx context.Context, tx pg.Tx, leaving, staying id.ID, from, to []id.ID) (a, c []id.ID,
	err error,
) {
	if len(from) == 0 {
		return nil, nil, nil
	}
	if err := b.Lock(ctx, tx, slices.Concat(from, to)); err != nil {
		return nil, nil, err
	}
	type pair struct {
		From id.ID `db:"from_id"`
		To   id.ID `db:"to_id"`
	}
	rows, err := pg.All[pair](ctx, tx, `
		select f.id as from_id, s.id as to_id
		from unnest($1::uuid[], $2::uuid[]) v (from_id, to_id)
		join transaction f on f.id = v.from_id join transaction s on s.id = v.to_id
		where f.account_id = $3 and s.account_id = $4 and f.deleted_at is null and s.deleted_at is null
			and f.amount = s.amount and f.currency = s.currency and abs(f.date - s.date) <= 3
		order by f.id`, from, to, leaving, staying)
	for _, p := range rows {
		a, c = append(a, p.From), append(c, p.To)
	}
	return a, c, err
}
