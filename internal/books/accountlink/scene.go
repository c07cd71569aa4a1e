package accountlink

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A scene holds the data of a household that a sweep works on.
type scene struct {
	links   *Links
	window  window
	numbers map[id.ID]int // of accounts; older accounts have lower numbers
	ids     []id.ID
	matcher *matcher
	others  map[id.ID]bool     // categories that say that the money had another purpose
	known   map[[3]id.ID]known // matches that the matcher may remove, by link and rows
}

// A known is a stored match.
type known struct {
	id       id.ID
	doubtful bool
}

func (l *Links) sweep(ctx context.Context, tx pg.Tx, w window, out *Reconciled) error {
	s := &scene{
		links: l, window: w, numbers: map[id.ID]int{}, known: map[[3]id.ID]known{}, others: map[id.ID]bool{},
		matcher: newMatcher(),
	}
	if err := s.look(ctx, tx); err != nil {
		return err
	}
	if err := s.pass(ctx, tx); err != nil {
		return err
	}
	// A new link changes which rows the matcher considers. So mirror links are proposed first, then
	// transfer links, and the pairs of all links are stored last.
	for _, propose := range []func() []proposal{
		func() []proposal { return s.matcher.mirrorLinks() },
		func() []proposal { return s.matcher.transferLinks() },
	} {
		n, err := s.propose(ctx, tx, propose())
		if err != nil {
			return err
		}
		if n > 0 {
			out.Proposed += n
			s.matcher = s.matcher.again()
			if err := s.pass(ctx, tx); err != nil {
				return err
			}
		}
	}
	out.Scanned += s.matcher.scanned
	added, removed, err := s.store(ctx, tx)
	if err != nil {
		return err
	}
	out.Added, out.Removed = out.Added+added, out.Removed+removed
	decided, err := s.decide(ctx, tx)
	out.Decided += decided
	return err
}

// look reads the accounts, the categories, the links, and the matches of the window.
func (s *scene) look(ctx context.Context, tx pg.Tx) error {
	var err error
	if s.ids, err = pg.Values[id.ID](ctx, tx, `select id from account order by id`); err != nil {
		return err
	}
	for i, u := range s.ids {
		s.numbers[u] = i
	}
	// Two kinds of categories do not contradict a transfer: loan payments, which may go to an own
	// account, and what the bank could not classify.
	others, err := pg.Values[id.ID](ctx, tx, `
		select c.id from category c left join category p on p.id = c.parent_id
		where coalesce(p.kind, c.kind) <> 'transfer' and coalesce(p.slug, c.slug) not in ('loans_and_fees', 'other')`)
	if err != nil {
		return err
	}
	for _, u := range others {
		s.others[u] = true
	}
	type link struct {
		ID      id.ID  `db:"id"`
		Primary id.ID  `db:"primary_id"`
		Mirror  id.ID  `db:"mirror_id"`
		Kind    string `db:"kind"`
		Live    bool   `db:"live"`
		Counts  bool   `db:"counts"`
	}
	links, err := pg.All[link](ctx, tx, `select id, primary_id, mirror_id, kind, deleted_at is null
		and confidence <> 'rejected' as live, confidence = 'confirmed' as counts from account_link
		where deleted_at is null or source is not null order by id for share`)
	if err != nil {
		return err
	}
	edges := map[id.ID]*edge{}
	for _, k := range links {
		e := &edge{
			link: k.ID, kind: k.Kind, live: k.Live, counts: k.Counts, primary: s.numbers[k.Primary],
			mirror: s.numbers[k.Mirror], accepted: map[id.ID]id.ID{},
		}
		edges[k.ID], s.matcher.edges[between(e.primary, e.mirror)] = e, e
	}
	return s.recall(ctx, tx, edges)
}

// recall reads the stored matches. The matcher must not change matches that were decided, or
// matches near the ends of the window.
func (s *scene) recall(ctx context.Context, tx pg.Tx, edges map[id.ID]*edge) error {
	if err := s.mend(ctx, tx); err != nil {
		return err
	}
	type match struct {
		ID         id.ID   `db:"id"`
		Link       id.ID   `db:"account_link_id"`
		Primary    id.ID   `db:"primary_id"`
		Mirror     id.ID   `db:"mirror_id"`
		Verdict    *string `db:"verdict"`
		Doubtful   bool    `db:"doubtful"`
		PrimaryDay int     `db:"primary_day"`
		MirrorDay  int     `db:"mirror_day"`
	}
	matches, err := pg.All[match](ctx, tx, `
		select m.id, m.account_link_id, m.primary_id, m.mirror_id, m.verdict, m.doubtful,
			p.date - date '1970-01-01' as primary_day, r.date - date '1970-01-01' as mirror_day
		from link_match m join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
		where (not m.broken or m.verdict = 'rejected') and greatest(p.date, r.date) >= date '1970-01-01' + $1::int
			and least(p.date, r.date) <= date '1970-01-01' + $2::int`, s.window.from, s.window.to)
	for _, m := range matches {
		e := edges[m.Link]
		switch {
		case m.Verdict != nil && *m.Verdict == Rejected:
			s.matcher.barred[[2]id.ID{m.Primary, m.Mirror}] = true
		case e == nil || !e.live:
		case m.Verdict != nil || !s.window.inside(m.PrimaryDay) || !s.window.inside(m.MirrorDay):
			e.accepted[m.Primary], e.accepted[m.Mirror] = m.Mirror, m.Primary
		default:
			s.known[[3]id.ID{m.Link, m.Primary, m.Mirror}] = known{m.ID, m.Doubtful}
		}
	}
	return err
}

// mend breaks the matches in the window that no longer fit, because one of their transactions
// changed.
func (s *scene) mend(ctx context.Context, tx pg.Tx) error {
	broken, err := pg.All[brokenMatch](ctx, tx, `
		update link_match m set broken = true from account_link l, transaction p, transaction r
		where l.id = m.account_link_id and p.id = m.primary_id and r.id = m.mirror_id and not m.broken
			and not (`+fits+`)
			and greatest(p.date, r.date) >= date '1970-01-01' + $1::int and least(p.date, r.date) <= date '1970-01-01' + $2::int
		returning m.account_link_id, m.primary_id, m.mirror_id`, s.window.from, s.window.to)
	if err != nil {
		return err
	}
	var ids []id.ID
	links := map[id.ID]bool{}
	for _, m := range broken {
		ids, links[m.Link] = append(ids, m.Primary, m.Mirror), true
	}
	return s.links.settleSoon(ctx, tx, ids, slices.Collect(maps.Keys(links))...)
}

type brokenMatch struct {
	Link id.ID `db:"account_link_id"`
	side
}

// pass gives the matcher the window's rows, one amount at a time, so that only the rows of one
// amount are in memory.
func (s *scene) pass(ctx context.Context, tx pg.Tx) error {
	rows, err := tx.Query(ctx, `
		select t.id, t.account_id, t.date - date '1970-01-01', (t.amount * 100)::bigint, t.currency, t.descriptor_id,
			t.category_id
			from transaction t
		where t.deleted_at is null and t.amount <> 0 and `+journal.BankRow+` and t.date between date '1970-01-01' + $1::int
			and date '1970-01-01' + $2::int
			and not exists (select from manual_match x where x.manual_id = t.id and x.state = 'matched')
		order by t.currency, abs(t.amount), t.date, t.id`, s.window.from, s.window.to)
	if err != nil {
		return err
	}
	defer rows.Close()
	var group []row
	var of, currency string
	for rows.Next() {
		var r row
		var account id.ID
		var category *id.ID
		if err := rows.Scan(&r.id, &account, &r.day, &r.cents, &currency, &r.wording, &category); err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		number, known := s.numbers[account]
		if !known { // the account is newer than the sweep; its days are recorded for the next sweep
			continue
		}
		r.account, r.other = number, category != nil && s.others[*category]
		if len(group) > 0 && (currency != of || abs(int(group[0].cents)) != abs(int(r.cents))) {
			s.matcher.group(group)
			group = group[:0]
		}
		of, group = currency, append(group, r)
	}
	s.matcher.group(group)
	return rows.Err()
}

// propose stores links that the matcher suggests, and adds them to the matcher.
func (s *scene) propose(ctx context.Context, tx pg.Tx, list []proposal) (int, error) {
	for _, p := range list {
		e := &edge{kind: p.kind, live: true, primary: p.primary, mirror: p.mirror, accepted: map[id.ID]id.ID{}}
		s.matcher.edges[between(p.primary, p.mirror)] = e
	}
	if len(list) == 0 {
		return 0, nil
	}
	type made struct {
		ID      id.ID `db:"id"`
		Primary id.ID `db:"primary_id"`
		Mirror  id.ID `db:"mirror_id"`
		Again   bool  `db:"again"` // the accounts had a link before, and it was reverted
	}
	var rows []made
	err := pg.Redraw(ctx, tx, "account_link_short_id", func(tx pg.Tx) (err error) {
		n := len(list)
		ids, shorts, primaries, mirrors, kinds := make([]id.ID, n), make([]string, n), make([]id.ID, n), make([]id.ID,
			n), make([]string, n)
		for i, p := range list {
			ids[i] = id.New()
			shorts[i], primaries[i], mirrors[i], kinds[i] = ids[i].Short(), s.ids[p.primary], s.ids[p.mirror], p.kind
		}
		rows, err = pg.All[made](ctx, tx, `
			insert into account_link as l (id, short_id, primary_id, mirror_id, kind, confidence)
			select v.id, v.short_id, v.primary_id, v.mirror_id, v.kind, 'auto'
				from unnest(@ids::uuid[], @shorts::text[], @primaries::uuid[], @mirrors::uuid[],
				@kinds::text[]) v (id, short_id, primary_id, mirror_id, kind)
			on conflict (least(primary_id, mirror_id), greatest(primary_id, mirror_id)) do update
				set primary_id = excluded.primary_id, mirror_id = excluded.mirror_id, kind = excluded.kind,
				deleted_at = null, updated_at = clock_timestamp() where l.deleted_at is not null and l.source is null
			returning id, primary_id, mirror_id, id <> all(@ids) as again`,
			pg.Args{"ids": ids, "shorts": shorts, "primaries": primaries, "mirrors": mirrors, "kinds": kinds})
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(rows) < len(list) {
		return 0, errs.New(errs.Conflict, "these accounts were linked in the meantime; try again")
	}
	for _, r := range rows {
		s.matcher.edges[between(s.numbers[r.Primary], s.numbers[r.Mirror])].link = r.ID
		if !r.Again {
			continue
		}
		if err := s.links.renew(ctx, tx, r.ID); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// renew removes the old pairs of a link that is proposed again. Decided pairs stay if they still
// fit.
func (l *Links) renew(ctx context.Context, tx pg.Tx, link id.ID) error {
	if _, err := dropUndecided(ctx, tx, link, nil); err != nil {
		return err
	}
	_, err := pg.Exec(ctx, tx, `
		update link_match m set primary_id = m.mirror_id, mirror_id = m.primary_id from account_link l, transaction p
		where l.id = $1 and m.account_link_id = l.id and p.id = m.primary_id and p.account_id = l.mirror_id`, link)
	if err != nil {
		return err
	}
	if _, err := refit(ctx, tx, link, nil); err != nil {
		return err
	}
	return l.settleLink(ctx, tx, link)
}

// store writes the differences: new pairs, and pairs that no longer match. It first locks the
// transactions whose totals change and checks their pairs again, because the transactions may have
// changed in the meantime.
func (s *scene) store(ctx context.Context, tx pg.Tx) (added, removed int, err error) {
	var newPairs []pair
	var ids []id.ID
	links := map[id.ID]bool{} // the links of these transactions
	for _, p := range s.matcher.pairs {
		key := [3]id.ID{p.edge.link, p.primary, p.mirror}
		was, ok := s.known[key]
		delete(s.known, key)
		if ok && was.doubtful == p.doubtful {
			continue
		}
		if s.window.inside(p.days[0]) && s.window.inside(p.days[1]) {
			newPairs = append(newPairs, p)
			if p.edge.counts {
				ids, links[p.edge.link] = append(ids, p.primary, p.mirror), true
			}
		}
	}
	var gone []id.ID
	for key, m := range s.known {
		gone, ids, links[key[0]] = append(gone, m.id), append(ids, key[1], key[2]), true
	}
	if len(ids) > 0 && len(ids) <= s.links.limit { // for more, the job that updates them checks again
		if err := s.links.books.Lock(ctx, tx, ids); err != nil {
			return 0, 0, err
		}
	}
	for part := range slices.Chunk(gone, settleSize) {
		dropped, err := dropUndecided(ctx, tx, id.ID{}, part)
		if err != nil {
			return 0, 0, err
		}
		removed += len(dropped) / 2
	}
	for part := range slices.Chunk(newPairs, settleSize) {
		n, err := s.insert(ctx, tx, part)
		if err != nil {
			return 0, 0, err
		}
		added += int(n)
	}
	return added, removed, s.links.settleSoon(ctx, tx, ids, slices.Collect(maps.Keys(links))...)
}

func (s *scene) insert(ctx context.Context, tx pg.Tx, newPairs []pair) (n int64, err error) {
	err = pg.Redraw(ctx, tx, "link_match_short_id", func(tx pg.Tx) (err error) {
		count := len(newPairs)
		ids, shorts, links, primaries, mirrors := make([]id.ID, count), make([]string, count), make([]id.ID,
			count), make([]id.ID, count), make([]id.ID, count)
		doubts := make([]bool, count)
		for i, p := range newPairs {
			ids[i] = id.New()
			shorts[i], links[i], primaries[i], mirrors[i] = ids[i].Short(), p.edge.link, p.primary, p.mirror
			doubts[i] = p.doubtful
		}
		n, err = pg.Exec(ctx, tx, `
			insert into link_match (id, short_id, account_link_id, primary_id, mirror_id, day_difference, doubtful)
			select v.id, v.short_id, l.id, p.id, r.id, abs(p.date - r.date), v.doubtful
			from unnest(@ids::uuid[], @shorts::text[], @links::uuid[], @primaries::uuid[], @mirrors::uuid[],
				@doubts::boolean[]) v (id, short_id, link_id, primary_id, mirror_id, doubtful)
			join account_link l on l.id = v.link_id join transaction p on p.id = v.primary_id
				join transaction r on r.id = v.mirror_id
			where `+fits+`
			on conflict (account_link_id, primary_id, mirror_id) do update
				set broken = false, day_difference = excluded.day_difference, doubtful = excluded.doubtful`,
			pg.Args{
				"ids": ids, "shorts": shorts, "links": links, "primaries": primaries, "mirrors": mirrors,
				"doubts": doubts,
			})
		return err
	})
	return n, err
}
