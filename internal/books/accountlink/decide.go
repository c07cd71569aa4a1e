package accountlink

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// decide stores the evidence that the sweep found, and decides transfers by it. A suggestion that
// nothing speaks against is confirmed. One that coffer confirmed and that too much speaks against
// now becomes a suggestion again. Each is a change of coffer's own. A person's decision stays, and
// a link that coffer decided once is left to people from then on.
func (s *scene) decide(ctx context.Context, tx pg.Tx) (int, error) {
	found := s.matcher.found()
	if len(found) == 0 {
		return 0, nil
	}
	ctx = op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"})
	byLink, rows, err := s.remember(ctx, tx, found)
	if err != nil {
		return 0, err
	}
	type decision struct {
		entry   journal.Entry
		summary string
	}
	var all []decision
	decided := 0
	for _, r := range rows {
		e, to, summary := byLink[r.ID], r.record(), ""
		switch {
		case r.Kind != Transfer:
		case r.Verdict == Auto && r.Source == nil && r.Open && e.sure():
			to.Confidence, summary = Confirmed, "Confirmed an account link ("+r.Kind+")"
			decided++
		case r.Verdict == Confirmed && r.Source != nil && *r.Source == journal.Rule && e.doubtful():
			to.Confidence, summary = Auto, "Reopened an account link ("+r.Kind+")"
		}
		if summary == "" {
			continue
		}
		var source *string
		if to.Confidence == Confirmed {
			source = new(journal.Source(op.ActorOf(ctx)))
		}
		entry, err := s.links.turn(ctx, tx, r.stored, to, source, false)
		if err != nil {
			return 0, err
		}
		if _, err := pg.Exec(ctx, tx, `update account_link set decided_at = clock_timestamp() where id = $1`,
			r.ID); err != nil {
			return 0, err
		}
		all = append(all, decision{entry, summary})
	}
	for _, d := range all { // one change each, so that each is undone alone
		if _, err := journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: d.summary},
			[]journal.Entry{d.entry}); err != nil {
			return 0, err
		}
	}
	return decided, nil
}

// A weighed is a link that a sweep has evidence of.
type weighed struct {
	stored
	Open bool `db:"open"` // coffer has not decided it yet, and nobody rejected one of its pairs
}

// remember stores the evidence of links that people have not decided, and returns those links,
// locked. Older days do not replace what was seen of newer ones.
func (s *scene) remember(ctx context.Context, tx pg.Tx, found map[*edge]evidence) (byLink map[id.ID]evidence,
	rows []weighed, err error,
) {
	byLink = make(map[id.ID]evidence, len(found))
	var ids []id.ID
	var candidates, matched, agreeing []int
	for edge, e := range found {
		byLink[edge.link] = e
		ids, candidates = append(ids, edge.link), append(candidates, e.candidates)
		matched, agreeing = append(matched, e.matched), append(agreeing, e.agreeing)
	}
	rows, err = pg.All[weighed](ctx, tx, `
		update account_link l set candidates = v.candidates, matched = v.matched, agreeing = v.agreeing,
			seen_until = date '1970-01-01' + @until::int
		from unnest(@ids::uuid[], @candidates::int[], @matched::int[], @agreeing::int[]) v (id, candidates, matched,
			agreeing)
		where l.id = v.id and l.deleted_at is null and l.confidence <> 'rejected'
			and (l.confidence = 'auto' or l.source is distinct from 'user')
			and (l.seen_until is null or l.seen_until <= date '1970-01-01' + @until::int)
		returning l.id, l.primary_id, l.mirror_id, l.kind, l.confidence, l.deleted_at is not null as deleted, l.source,
			l.decided_at is null and not exists (select from link_match m
				where m.account_link_id = l.id and m.verdict = 'rejected') as open`,
		pg.Args{
			"ids": ids, "candidates": candidates, "matched": matched, "agreeing": agreeing, "until": s.window.to,
		})
	slices.SortFunc(rows, func(a, b weighed) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return byLink, rows, err
}
