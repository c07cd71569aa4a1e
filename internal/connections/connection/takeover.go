package connection

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// takeOver lets new rows of the page take the place of rows that files brought before the bank did:
// a bank may report the last month first and older years later. It returns the entries of that, and
// sets in the rows what they replace, as if the bank had sent it. A file that is imported meanwhile
// comes before or after it, and one that comes after it finds the bank's rows.
func (f *Connections) takeOver(ctx context.Context, tx pg.Tx, removed []bank.Removal, rows []ledger.Incoming) (
	[]journal.Entry, error,
) {
	if len(rows) == 0 {
		return nil, nil
	}
	of := map[id.ID][]int{} // the places of the rows of an account
	for i, in := range rows {
		of[in.AccountID] = append(of[in.AccountID], i)
	}
	accounts := slices.SortedFunc(maps.Keys(of), id.ID.Compare)
	if _, err := pg.Exec(ctx, tx, `select from account where id = any($1) order by id for no key update`,
		accounts); err != nil {
		return nil, err
	}
	accounts, err := filled(ctx, tx, accounts)
	if err != nil {
		return nil, err
	}
	var entries []journal.Entry
	for _, account := range accounts {
		fresh, back, posts, err := unknown(ctx, tx, account, removed, rows, of[account])
		if err != nil {
			return nil, err
		}
		was, at, err := fromFiles(ctx, tx, account, rows, fresh, posts)
		if err != nil {
			return nil, err
		}
		was, at, gone, err := f.giveWay(ctx, tx, account, was, at, back)
		if err != nil {
			return nil, err
		}
		entries = append(entries, gone...)
		taking := make([]ledger.Incoming, len(at))
		for i, n := range at {
			taking[i] = rows[n]
		}
		made, err := f.books.TakeOver(ctx, tx, account, was, taking)
		if err != nil {
			return nil, err
		}
		for i, n := range at {
			rows[n] = taking[i]
		}
		entries = append(entries, made...)
	}
	return entries, nil
}

// filled returns those of the accounts that have rows of files. They came under accounts of files
// that lead to these, so that most accounts cost one look. The order keeps PostgreSQL to the index,
// also where it expects to meet such a row soon.
func filled(ctx context.Context, q pg.Querier, accounts []id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, q, `
		with recursive merged (id, into_id) as (
			select id, id from account where id = any($1)
			union select a.id, m.into_id from merged m join account a on a.merged_into = m.id)
		select distinct m.into_id from merged m join account a on a.id = m.id and a.provider = $2
		cross join lateral (select from transaction t where t.moved_from = m.id
			order by t.moved_from, t.provider_id limit 1) t
		where m.id <> m.into_id order by m.into_id`, accounts, bank.CSV)
}

// unknown returns the places, among these, of rows that are no transaction yet or that come back,
// posted ones first. A row comes back if the bank removed it and reports it again. One that posts
// with another amount or day than it had while it was pending counts as coming back too, because
// only now does it look like the file's row. back has the places of both, and posts the pending
// rows of the latter. A pending row that another row of the page is the posted form of, or that is
// gone by now, is none of them.
func unknown(ctx context.Context, q pg.Querier, account id.ID, removed []bank.Removal, rows []ledger.Incoming,
	places []int,
) (out []int, back map[int]bool, posts map[int]waiting, err error) {
	ids, past := make([]string, 0, 2*len(places)), map[string]bool{}
	for _, n := range places {
		ids = append(ids, rows[n].ProviderID)
		if p := rows[n].PendingID; p != "" {
			ids, past[p] = append(ids, p), true
		}
	}
	for _, x := range removed {
		past[x.ProviderID] = true
	}
	stored, err := known(ctx, q, account, ids)
	if err != nil {
		return nil, nil, nil, err
	}
	pending, err := waitingAmong(ctx, q, account, ids)
	if err != nil {
		return nil, nil, nil, err
	}
	withdrawn, err := pg.Values[string](ctx, q, `select provider_id from transaction where account_id = $1
		and provider_id = any($2) and deleted_source = 'provider'`, account, ids)
	if err != nil {
		return nil, nil, nil, err
	}
	gone, waited := map[string]bool{}, map[string]waiting{}
	for _, key := range withdrawn {
		gone[key] = true
	}
	for _, p := range pending {
		waited[p.ProviderID] = p
	}
	back, posts = map[int]bool{}, map[int]waiting{}
	for _, n := range places {
		in := rows[n]
		p, posted := waited[in.ProviderID]
		if !posted && !stored[in.ProviderID] {
			p, posted = waited[in.PendingID]
		}
		switch {
		case past[in.ProviderID]:
		case gone[in.ProviderID]:
			out, back[n] = append(out, n), true
		case posted && !in.Pending && (in.Amount != p.Amount || in.Currency != p.Currency || in.Date != p.Date):
			out, back[n], posts[n] = append(out, n), true, p
		case !stored[in.ProviderID] && !stored[in.PendingID]:
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(waits(rows[a]), waits(rows[b]))
	})
	return out, back, posts, nil
}

// besides reports whether a file's row of this day and the pending row p were two payments: they
// looked alike, and yet both were in the account.
func besides(p waiting, in ledger.Incoming, day pg.Date) bool {
	return in.Amount == p.Amount && in.Currency == p.Currency &&
		day.Time().Sub(p.Date.Time()).Abs() <= statement.Apart*24*time.Hour
}

// giveWay deletes the files' rows for which the bank's own rows come back, and returns the others.
func (f *Connections) giveWay(ctx context.Context, tx pg.Tx, account id.ID, was []string, at []int,
	back map[int]bool,
) (keys []string, places []int, entries []journal.Entry, err error) {
	var gone []string
	for i, n := range at {
		if back[n] {
			gone = append(gone, was[i])
			continue
		}
		keys, places = append(keys, was[i]), append(places, n)
	}
	if len(gone) > 0 {
		entries, err = f.books.Remove(ctx, tx, account, gone)
	}
	return keys, places, entries, err
}

func waits(in ledger.Incoming) int {
	if in.Pending {
		return 1
	}
	return 0
}

// fromFiles finds the rows at these places among those that files brought into the account: the row
// at places[i] is the one under was[i]. A row that posts is not one that stood beside it while it
// was pending.
func fromFiles(ctx context.Context, q pg.Querier, account id.ID, rows []ledger.Incoming, fresh []int,
	posts map[int]waiting,
) (was []string, places []int, err error) {
	if len(fresh) == 0 {
		return nil, nil, nil
	}
	first, last := rows[fresh[0]].Date, rows[fresh[0]].Date
	amounts, in := map[int64]bool{}, map[money.Currency][]int{}
	for _, n := range fresh {
		if rows[n].Date.Time().Before(first.Time()) {
			first = rows[n].Date
		}
		if rows[n].Date.Time().After(last.Time()) {
			last = rows[n].Date
		}
		amounts[rows[n].Amount.Cents()] = true
		in[rows[n].Currency] = append(in[rows[n].Currency], n)
	}
	found, err := pg.All[struct {
		Key      string         `db:"provider_id"`
		Date     pg.Date        `db:"date"`
		Amount   money.Amount   `db:"amount"`
		Currency money.Currency `db:"currency"`
		Name     string         `db:"name"`
	}](ctx, q, `
		select t.provider_id, t.date, t.amount, t.currency, d.name from transaction t
			join descriptor d on d.id = t.descriptor_id
		where t.account_id = $1 and t.date between $2::date - $4::int and $3::date + $4::int
			and (t.amount * 100)::bigint = any($5) and t.deleted_at is null and t.origin = 'bank'
			and t.moved_from is not null
		order by t.date, t.id`, account, first, last, statement.Apart, slices.Collect(maps.Keys(amounts)))
	if err != nil {
		return nil, nil, err
	}
	stored, days := map[money.Currency][]statement.Stored{}, map[string]pg.Date{}
	for _, f := range found {
		if statement.Source(f.Key) == "" { // of another bank's feed, in an account that was merged
			continue
		}
		days[f.Key] = f.Date
		stored[f.Currency] = append(stored[f.Currency], statement.Stored{
			Key: f.Key, Date: f.Date.String(), Cents: f.Amount.Cents(), Name: f.Name,
		})
	}
	for _, currency := range slices.Sorted(maps.Keys(stored)) {
		left := stored[currency]
		claim := func(at []int, files []statement.Stored) {
			fed := make([]statement.Row, len(at))
			for i, n := range at {
				fed[i] = statement.Row{Date: rows[n].Date.String(), Amount: rows[n].Amount, Name: rows[n].Name}
			}
			taken := map[string]bool{}
			for i, of := range statement.Fed(fed, files) {
				if of >= 0 {
					was, places, taken[files[of].Key] = append(was, files[of].Key), append(places, at[i]), true
				}
			}
			left = slices.DeleteFunc(left, func(f statement.Stored) bool { return taken[f.Key] })
		}
		// A row that is new has the first choice: one that posts may have stood beside all of them.
		var posting, others []int
		for _, n := range in[currency] {
			if _, ok := posts[n]; ok {
				posting = append(posting, n)
			} else {
				others = append(others, n)
			}
		}
		claim(others, slices.Clone(left))
		for _, n := range posting {
			claim([]int{n}, slices.DeleteFunc(slices.Clone(left), func(f statement.Stored) bool {
				return besides(posts[n], rows[n], days[f.Key])
			}))
		}
	}
	return was, places, nil
}
