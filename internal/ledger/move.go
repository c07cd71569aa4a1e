package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// A Movable is a transaction of an account that is merged into another. Parts follow what they are
// parts of.
type Movable struct {
	ID   id.ID  `db:"id"`
	Live bool   `db:"live"`
	Sum  string `db:"sum"` // the amount with its currency
}

// Movables returns all transactions of an account, deleted ones too, with equal amounts side by
// side.
func (b *Books) Movables(ctx context.Context, q pg.Querier, account id.ID) ([]Movable, error) {
	return pg.All[Movable](ctx, q, `select t.id, t.deleted_at is null as live, t.currency || ' ' || t.amount as sum
		from transaction t where t.account_id = $1 and `+journal.BankRow+`
		order by t.currency, t.amount, t.date, t.id`, account)
}

// Move puts transactions into another account and returns the entries. The caller has locked them.
// A bank's id that the account has already is replaced by one of our own.
func (b *Books) Move(ctx context.Context, tx pg.Tx, ids []id.ID, into id.ID) ([]journal.Entry, error) {
	accounts := slices.Repeat([]id.ID{into}, len(ids))
	moved, err := b.move(ctx, tx, ids, accounts, make([]*string, len(ids)))
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

// A moved is where a transaction was and is.
type moved struct {
	ID          id.ID  `db:"id"`
	Was         id.ID  `db:"was"`
	WasIdentity string `db:"was_identity"`
	Account     id.ID  `db:"account_id"`
	Identity    string `db:"provider_id"`
}

// move puts each transaction into an account, under the bank's id that is given or its own. Its
// former ids go with it, unless the account knows them otherwise.
func (b *Books) move(ctx context.Context, tx pg.Tx, ids, accounts []id.ID, identities []*string) ([]moved, error) {
	if err := b.Touch(ctx, tx, ids); err != nil {
		return nil, err
	}
	// What is found is written by a statement of its own: PostgreSQL does not know how many these
	// are, and must not choose how to find and to write them together.
	rows, err := pg.All[moved](ctx, tx, `
		select t.id, t.account_id as was, t.provider_id as was_identity, v.account_id,
			case when x.taken then 'merged:' || t.id else coalesce(v.identity, t.provider_id) end as provider_id
		from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, account_id, identity)
		join transaction t on t.id = v.id and t.account_id <> v.account_id
		cross join lateral (
			select exists (select from transaction x where x.account_id = v.account_id
					and x.provider_id = coalesce(v.identity, t.provider_id))
				or exists (select from transaction_alias x where x.account_id = v.account_id
					and x.provider_id = coalesce(v.identity, t.provider_id) and x.transaction_id <> t.id) as taken) x`,
		ids, accounts, identities)
	if err != nil {
		return nil, err
	}
	ids, accounts = make([]id.ID, len(rows)), make([]id.ID, len(rows))
	wanted := make([]string, len(rows))
	for i, m := range rows {
		ids[i], accounts[i], wanted[i] = m.ID, m.Account, m.Identity
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction t set account_id = v.account_id, provider_id = v.identity,
			moved_from = nullif(coalesce(t.moved_from, t.account_id), v.account_id), updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, account_id, identity)
		where t.id = v.id`, ids, accounts, wanted); err != nil {
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

// moves is how the account of transactions takes part in reverts.
type moves struct{ books *Books }

// Kind implements journal.Subject.
func (moves) Kind() string { return journal.Transaction }

// Fields implements journal.FieldOwner.
func (moves) Fields() []string { return []string{journal.FieldAccount} }

// Lock does nothing: subject locks the transactions.
func (moves) Lock(context.Context, pg.Tx, []id.ID) error { return nil }

// Apply implements journal.Subject. A transaction goes back only into an account that is there, and
// an agent does not take back what a person merged.
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
	there, err := pg.Values[id.ID](ctx, tx, `select id from account where id = any($1) and deleted_at is null
		order by id for share`, accounts)
	if err != nil {
		return nil, err
	}
	stored, err := pg.Values[id.ID](ctx, tx, `select id from transaction where id = any($1)`, ids)
	if err != nil {
		return nil, err
	}
	open, known := setOf(there), setOf(stored)
	var left []journal.Skipped
	n := 0
	for i, e := range entries {
		switch {
		case journal.Held(e.BeforeSource, op.ActorOf(ctx), false):
			left = append(left, journal.Skip(e, "held"))
		case !known[ids[i]] || !open[accounts[i]]:
			left = append(left, journal.Skip(e, "missing"))
		default:
			ids[n], accounts[n], identities[n] = ids[i], accounts[i], identities[i]
			n++
		}
	}
	_, err = m.books.move(ctx, tx, ids[:n], accounts[:n], identities[:n])
	return left, err
}

func setOf[T comparable](all []T) map[T]bool {
	out := make(map[T]bool, len(all))
	for _, v := range all {
		out[v] = true
	}
	return out
}

// MoveSplits gives transactions the parts of those that they replace, and returns the entries:
// from[i] is replaced by to[i], which has the same amount. Only what a person divided moves, and
// only to where no person decided otherwise.
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

// Bury deletes transactions, for the caller, and returns the entries.
func (b *Books) Bury(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	return b.bury(ctx, tx, ids, nil)
}

// StillEqual locks pairs of transactions and returns those that still are in these two accounts,
// neither deleted, with the same amount and at most three days apart.
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
