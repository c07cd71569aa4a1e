package recurring

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// mostSeries is the largest number of series of a household. Beyond it, new series are not stored.
const mostSeries = 2000

// store assigns each series that was found to its record, and writes the differences.
func (a *accountSweep) store(ctx context.Context, tx pg.Tx) error {
	var known []stored
	var deleted []id.ID
	for _, k := range a.known {
		switch {
		case k.Deleted:
			deleted = append(deleted, k.ID)
		case a.touches(k):
			known = append(known, k)
		}
	}
	records := assign(a.found, known)
	kept := map[id.ID]bool{}
	var old, added []computed
	for i, f := range a.found {
		c, err := f.computed()
		if err != nil {
			return err
		}
		switch {
		case records[i] != nil:
			c.ID = *records[i]
			kept[c.ID] = true
			old = append(old, c)
		case !a.dismissed(&f):
			added = append(added, c)
		}
	}
	var gone, ended []id.ID
	for _, k := range known {
		switch {
		case kept[k.ID]:
		case k.State == Auto:
			gone = append(gone, k.ID)
		default:
			ended = append(ended, k.ID)
		}
	}
	if err := forget(ctx, tx, gone); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `update recurring set found = false, updated_at = clock_timestamp()
		where id = any($1) and found`, ended); err != nil {
		return err
	}
	// A series whose creation was reverted has no transactions.
	if _, err := pg.Exec(ctx, tx, `delete from recurring_row where recurring_id = any($1)`, deleted); err != nil {
		return err
	}
	if err := update(ctx, tx, old); err != nil {
		return err
	}
	if err := a.insert(ctx, tx, added); err != nil {
		return err
	}
	return link(ctx, tx, append(old, added...))
}

// forget removes series without transactions. A series with a decision leaves a tombstone, so the
// decision can be undone.
func forget(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		with decided as (
			update recurring r set found = false, deleted_at = clock_timestamp(), updated_at = clock_timestamp()
			where id = any($1) and exists (select from entry e where e.subject_id = r.id) returning id),
		unlinked as (delete from recurring_row where recurring_id in (select id from decided))
		delete from recurring where id = any($1) and id not in (select id from decided)`, ids)
	return err
}

// assign returns for each series the record that it continues, or nil. A taught series continues
// its own record. Every other series continues the record with which it shares most transactions,
// or the older one if two share equally many.
func assign(found []Series, known []stored) []*id.ID {
	out := make([]*id.ID, len(found))
	taken := map[id.ID]bool{}
	of := map[id.ID]int{} // for each transaction, the index of its record
	for i, k := range known {
		for _, u := range k.Rows {
			of[u] = i
		}
	}
	type claim struct{ series, record, shared int }
	var claims []claim
	for i, f := range found {
		shared := map[int]int{}
		for _, r := range f.Rows {
			if k, ok := of[r.ID]; ok {
				shared[k]++
			}
		}
		for k, n := range shared {
			claims = append(claims, claim{i, k, n})
		}
		for k := range known {
			if known[k].Taught && f.Seed != nil && *known[k].Seed == *f.Seed {
				claims = append(claims, claim{i, k, 1 << 30})
			}
		}
	}
	slices.SortFunc(claims, func(x, y claim) int {
		return cmp.Or(cmp.Compare(y.shared, x.shared), cmp.Compare(x.record, y.record), cmp.Compare(x.series, y.series))
	})
	for _, c := range claims {
		k := &known[c.record]
		if out[c.series] != nil || taken[k.ID] || k.Taught && c.shared < 1<<30 {
			continue
		}
		out[c.series], taken[k.ID] = &k.ID, true
	}
	return out
}

// dismissed reports whether the household dismissed such a series.
func (a *accountSweep) dismissed(f *Series) bool {
	return slices.ContainsFunc(a.known, func(k stored) bool {
		return !k.Deleted && k.State == Dismissed && k.Cadence == f.Cadence && k.Currency == f.Currency &&
			k.Direction == f.direction() && slices.ContainsFunc(f.forms(), func(form int64) bool {
			return slices.Contains(k.Forms, form)
		})
	})
}

func (s *Series) direction() string {
	if s.Out {
		return "out"
	}
	return "in"
}

// forms returns the distinct forms of the series, sorted.
func (s *Series) forms() []int64 {
	out := make([]int64, 0, 1)
	for _, r := range s.Rows {
		out = append(out, int64(r.Form))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A computed is a series in the form in which it is stored.
type computed struct {
	ID           id.ID         `json:"id"`
	ShortID      string        `json:"short_id"`
	Account      id.ID         `json:"account_id"`
	Currency     string        `json:"currency"`
	Direction    string        `json:"direction"`
	Cadence      string        `json:"cadence"`
	Party        int64         `json:"party"`
	Forms        []int64       `json:"forms"`
	Fixed        bool          `json:"fixed"`
	Amount       money.Amount  `json:"amount"`
	First        pg.Date       `json:"first_date"`
	Last         pg.Date       `json:"last_date"`
	LastID       id.ID         `json:"last_id"`
	Newest       []id.ID       `json:"newest"`
	Next         pg.Date       `json:"next_date"`
	Usual        *int          `json:"usual_day"`
	Occurrences  int           `json:"occurrences"`
	Sure         bool          `json:"sure"`
	PriceChanges []PriceChange `json:"price_changes"`

	rows []Payment
}

func (s *Series) computed() (computed, error) {
	sign := int64(1)
	if !s.Out {
		sign = -1
	}
	last := s.Rows[len(s.Rows)-1]
	amount, err := money.FromCents(sign * s.amount())
	c := computed{
		Account: s.Account, Currency: s.Currency, Direction: s.direction(), Cadence: s.Cadence, Party: int64(s.Party),
		Forms: s.forms(), Fixed: s.fixed(), Amount: amount, First: date(s.Rows[0].Day), Last: date(last.Day),
		LastID: last.ID,
		Next:   date(s.cadence.next(s.Rows)), Occurrences: len(s.Rows), Sure: s.sure(), PriceChanges: []PriceChange{},
		rows: s.Rows,
	}
	for _, r := range s.Rows[max(0, len(s.Rows)-transferOf):] {
		c.Newest = append(c.Newest, r.ID)
	}
	if usual := s.cadence.usualDay(s.Rows); usual > 0 {
		c.Usual = &usual
	}
	for _, p := range s.prices() {
		before, err := money.FromCents(sign * p.before)
		if err != nil {
			return c, err
		}
		after, err := money.FromCents(sign * p.after)
		if err != nil {
			return c, err
		}
		c.PriceChanges = append(c.PriceChanges, PriceChange{
			Date: date(p.day), Before: before, After: after, Percent: percent(p.before, p.after),
			Provisional: p.provisional,
		})
	}
	return c, err
}

// percent returns by how many percent the amount changed, rounded.
func percent(before, after int64) int64 {
	half := before
	if after < before {
		half = -before
	}
	return ((after-before)*200 + half) / (2 * before)
}

func date(day int) pg.Date { return pg.Day(dateOf(day)) }

// transferOf is the number of latest payments that decide whether a series is a transfer. One
// payment is not enough: the other side of the latest one may not have arrived yet. Older payments
// may be from before the other account was added.
const transferOf = 3

// recordset reads the series from JSON, and calculates whether most of the latest payments are
// linked as transfers.
const recordset = `jsonb_to_recordset($1::text::jsonb) v (id uuid, short_id text, account_id uuid, currency text,
	direction text, cadence text, party bigint, forms bigint[], fixed boolean, amount numeric(12,2), first_date date,
	last_date date, last_id uuid, newest uuid[], next_date date, usual_day smallint, occurrences integer, sure boolean,
	price_changes jsonb)
	cross join lateral (select 2 * count(*) filter (where t.transfer) > count(*) as transfer
		from transaction t where t.id = any(v.newest)) n`

func printed(list []computed) (string, error) {
	b, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("print series: %w", err)
	}
	return string(b), nil
}

func update(ctx context.Context, tx pg.Tx, list []computed) error {
	rows, err := printed(list)
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		update recurring r set cadence = v.cadence, party = v.party, forms = v.forms, fixed = v.fixed, amount = v.amount,
			first_date = v.first_date, last_date = v.last_date, last_id = v.last_id, next_date = v.next_date,
			usual_day = v.usual_day, occurrences = v.occurrences, sure = v.sure, price_changes = v.price_changes, found = true,
			transfer = n.transfer, updated_at = clock_timestamp()
		from `+recordset+`
		where r.id = v.id and (r.cadence, r.party, r.forms, r.fixed, r.amount, r.first_date, r.last_date, r.last_id,
			r.next_date, r.usual_day, r.occurrences, r.sure, r.price_changes, r.found, r.transfer)
			is distinct from (v.cadence, v.party, v.forms, v.fixed, v.amount, v.first_date, v.last_date, v.last_id,
			v.next_date, v.usual_day, v.occurrences, v.sure, v.price_changes, true, n.transfer)`, rows)
	return err
}

// insert creates the records of new series, up to the limit of the household.
func (a *accountSweep) insert(ctx context.Context, tx pg.Tx, list []computed) error {
	if len(list) == 0 {
		return nil
	}
	n, err := pg.Value[int](ctx, tx, `select count(*) from recurring where deleted_at is null`)
	if err != nil {
		return err
	}
	for i := range list {
		if i+n >= mostSeries {
			list[i].rows = nil
		}
	}
	list = list[:max(0, min(len(list), mostSeries-n))]
	return pg.Redraw(ctx, tx, "recurring_short_id", func(tx pg.Tx) error {
		for i := range list {
			list[i].ID = id.New()
			list[i].ShortID = list[i].ID.Short()
		}
		rows, err := printed(list)
		if err != nil {
			return err
		}
		_, err = pg.Exec(ctx, tx, `
			insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
				first_date, last_date, last_id, next_date, usual_day, occurrences, sure, price_changes, transfer)
			select id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount, first_date,
				last_date, last_id, next_date, usual_day, occurrences, sure, price_changes, transfer
			from `+recordset, rows)
		return err
	})
}

// link stores which transactions belong to the series.
func link(ctx context.Context, tx pg.Tx, list []computed) error {
	var records, rows, of []id.ID
	for _, c := range list {
		if len(c.rows) > 0 {
			records = append(records, c.ID)
		}
		for _, r := range c.rows {
			rows, of = append(rows, r.ID), append(of, c.ID)
		}
	}
	if _, err := pg.Exec(ctx, tx, `
		with wanted as materialized (select * from unnest($2::uuid[], $3::uuid[]) w (transaction_id, recurring_id))
		delete from recurring_row r where r.recurring_id = any($1)
			and not exists (select from wanted w where w.transaction_id = r.transaction_id
				and w.recurring_id = r.recurring_id)`, records, rows, of); err != nil {
		return err
	}
	_, err := pg.Exec(ctx, tx, `
		insert into recurring_row as r (transaction_id, recurring_id) select * from unnest($1::uuid[], $2::uuid[])
		on conflict (transaction_id) do update set recurring_id = excluded.recurring_id
			where r.recurring_id <> excluded.recurring_id`, rows, of)
	return err
}
