package accountlink

import (
	"context"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Repeats finds the bank's transactions of one account that repeat those of another, with the same
// rules as for mirror links. It returns a map from the repeating to the repeated transaction. It
// respects people's decisions about pairs of the two accounts.
func (l *Links) Repeats(ctx context.Context, q pg.Querier, repeating, repeated id.ID) (map[id.ID]id.ID, error) {
	m, out, err := decided(ctx, q, repeating, repeated)
	if err != nil {
		return nil, err
	}
	taken := make(map[id.ID]bool, 2*len(out))
	for a, b := range out {
		taken[a], taken[b] = true, true
	}
	rows, err := q.Query(ctx, `
		select t.id, t.account_id = $2, t.date - date '1970-01-01', (t.amount * 100)::bigint, t.currency, t.descriptor_id
		from transaction t
		where t.account_id in ($1, $2) and t.deleted_at is null and t.origin = 'bank'
		order by t.currency, t.amount, t.date, t.id`, repeating, repeated)
	if err != nil {
		return nil, fmt.Errorf("read the rows of two accounts: %w", err)
	}
	defer rows.Close()
	var sides [2][]row // the rows of one amount: those that repeat, and those that are repeated
	var of, currency string
	var cents int64
	pairUp := func() {
		for _, p := range m.align(nil, sides[1], sides[0]) {
			out[p.mirror] = p.primary
		}
		sides[0], sides[1] = sides[0][:0], sides[1][:0]
	}
	for rows.Next() {
		var r row
		var stays bool
		if err := rows.Scan(&r.id, &stays, &r.day, &r.cents, &currency, &r.wording); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}
		if currency != of || r.cents != cents {
			pairUp()
			of, cents = currency, r.cents
		}
		switch {
		case taken[r.id]:
		case stays:
			sides[1] = append(sides[1], r)
		default:
			sides[0] = append(sides[0], r)
		}
	}
	pairUp()
	return out, rows.Err()
}

// decided returns the decisions about pairs of two accounts: a matcher in which the rejected pairs
// are barred, and the confirmed pairs.
func decided(ctx context.Context, q pg.Querier, repeating, repeated id.ID) (*matcher, map[id.ID]id.ID, error) {
	type row struct {
		side
		Turned  bool   `db:"turned"` // the link has the two accounts in the other order
		Verdict string `db:"verdict"`
	}
	rows, err := pg.All[row](ctx, q, `
		select m.primary_id, m.mirror_id, l.primary_id = $1 as turned, m.verdict
		from account_link l join link_match m on m.account_link_id = l.id
		join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
		where least(l.primary_id, l.mirror_id) = least($1::uuid, $2)
			and greatest(l.primary_id, l.mirror_id) = greatest($1::uuid, $2)
			and l.kind = 'mirror' and m.verdict is not null and `+fits, repeating, repeated)
	m, out := newMatcher(), map[id.ID]id.ID{}
	for _, r := range rows {
		if r.Turned {
			r.Primary, r.Mirror = r.Mirror, r.Primary
		}
		if r.Verdict == Rejected {
			m.barred[[2]id.ID{r.Primary, r.Mirror}] = true
		} else {
			out[r.Mirror] = r.Primary
		}
	}
	return m, out, err
}

// Inherit copies the links of an account that is merged to the account that takes it over, and
// returns the entries. Decisions about links that the second account already has stay.
func (l *Links) Inherit(ctx context.Context, tx pg.Tx, from, into id.ID) ([]journal.Entry, error) {
	links, err := pg.All[stored](ctx, tx, storedRows+`
		join account o on o.id = case l.primary_id when $1 then l.mirror_id else l.primary_id end
		where $1 in (l.primary_id, l.mirror_id) and $2 not in (l.primary_id, l.mirror_id) and l.deleted_at is null
			and l.source is not null and o.deleted_at is null
		order by l.id`, from, into)
	if err != nil {
		return nil, err
	}
	var entries []journal.Entry
	for _, k := range links {
		primary, mirror := k.Primary, k.Mirror
		if primary == from {
			primary = into
		} else {
			mirror = into
		}
		was, err := l.between(ctx, tx, primary, mirror, k.Kind)
		if err != nil {
			return nil, err
		}
		if was.Source != nil {
			continue
		}
		to := record{primary, k.Kind, k.Verdict, false}
		circle, err := circles(ctx, tx, was, to)
		if err != nil {
			return nil, err
		}
		if circle { // the link would close a circle of mirrors
			continue
		}
		if err := l.become(ctx, tx, was, to, k.Source, true); err != nil {
			return nil, err
		}
		entries = append(entries, journal.Entry{
			Subject: journal.AccountLink, SubjectID: was.ID, Field: journal.FieldRecord, Before: was.written(),
			After: to.written(), BeforeSource: was.Source, AfterSource: k.Source,
		})
	}
	return entries, nil
}
