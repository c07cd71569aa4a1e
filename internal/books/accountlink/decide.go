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

// decide stores the evidence that the sweep found, and decides about transfer links. It confirms a
// suggested link if all evidence supports it. A link that coffer itself confirmed becomes a
// suggestion again if too much evidence is now against it. Each decision is a separate change by
// coffer. coffer decides about each link only once, and a person's decision always stays.
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
	var all []journal.Entry
	decided := 0
	for _, r := range rows {
		e, to := byLink[r.ID], r.record()
		switch {
		case r.Kind != Transfer:
		case r.Verdict == Auto && r.Source == nil && r.Open && e.sure():
			to.Confidence = Confirmed
			decided++
		case r.Verdict == Confirmed && r.Source != nil && *r.Source == journal.Rule && e.doubtful():
			to.Confidence = Auto
		}
		if to.Confidence == r.Verdict {
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
		all = append(all, entry)
	}
	for _, entry := range all { // a separate change for each, so that each can be undone alone
		if _, err := journal.Record(ctx, tx, journal.Note{Cause: journal.Sync}, []journal.Entry{entry}); err != nil {
			return 0, err
		}
	}
	return decided, nil
}

// A weighed is a link for which a sweep found evidence.
type weighed struct {
	stored
	Open bool `db:"open"` // coffer has not decided it yet, and nobody rejected one of its pairs
}

// remember stores the evidence of links that no person has decided about, and returns and locks
// those links. Evidence from a later window is not replaced by that of an earlier one.
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
