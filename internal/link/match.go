package link

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// A Match is two transactions that belong together.
type Match struct {
	ID                   id.ID   `json:"id" db:"id"`
	ShortID              string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	AccountLinkID        id.ID   `json:"account_link_id" db:"account_link_id"`
	PrimaryTransactionID id.ID   `json:"primary_transaction_id" db:"primary_id"`
	MirrorTransactionID  id.ID   `json:"mirror_transaction_id" db:"mirror_id"`
	Confidence           string  `json:"confidence" db:"confidence" enum:"auto,confirmed,rejected" doc:"confirmed: totals leave out the mirror's transaction, or both of a transfer"`
	DayDifference        int     `json:"day_difference" db:"day_difference" doc:"How many days are between the two"`
	CreatedAt            pg.Time `json:"created_at" db:"created_at"`
}

// confidence is what a match counts for, by its own verdict and its link's: a rejection of either stands, and a confirmation of either suffices.
const confidence = `
	case when l.deleted_at is not null or l.confidence = 'rejected' or m.verdict = 'rejected' then 'rejected'
		when l.confidence = 'confirmed' or m.verdict = 'confirmed' then 'confirmed' else 'auto' end`

const matchRows = `
	select m.id, m.short_id, m.account_link_id, m.primary_id, m.mirror_id, ` + confidence + ` as confidence, m.day_difference, m.created_at
	from link_match m join account_link l on l.id = m.account_link_id`

// ListMatches asks for a page of a link's matches.
type ListMatches struct {
	ID         string  `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	Confidence *string `json:"confidence,omitempty" enum:"auto,confirmed,rejected"`
	Cursor     string  `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before"`
	Limit      int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// Matches is a page of matches.
type Matches struct {
	Matches    []Match `json:"matches"`
	NextCursor string  `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool    `json:"has_more"`
}

// Matches is a page of a link's matches, newest transaction first.
func (l *Links) Matches(ctx context.Context, q pg.Querier, in ListMatches) (Matches, error) {
	k, err := l.Get(ctx, q, Ref{in.ID})
	if err != nil {
		return Matches{}, err
	}
	filters := in
	filters.ID, filters.Cursor, filters.Limit = k.ID.String(), "", 0
	pager, err := l.db.Pager(ctx, "link matches", filters)
	if err != nil {
		return Matches{}, err
	}
	var where pg.Where
	where.And("m.account_link_id = $?", k.ID).And("not m.broken")
	where.If(in.Confidence != nil, confidence+" = $?", in.Confidence)
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 2)
		if err != nil {
			return Matches{}, err
		}
		where.And("(p.date, m.id) < ($?::date, $?::uuid)", at[0], at[1])
	}
	type dated struct {
		Match
		Date pg.Date `db:"date"`
	}
	rows, err := pg.All[dated](ctx, q, fmt.Sprintf(`
		select m.id, m.short_id, m.account_link_id, m.primary_id, m.mirror_id, %s as confidence, m.day_difference, m.created_at, p.date
		from link_match m join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id
		%s order by p.date desc, m.id desc limit %d`, confidence, where.SQL(), in.Limit+1), where.Args()...)
	if err != nil {
		return Matches{}, err
	}
	out := Matches{Matches: []Match{}, HasMore: len(rows) > in.Limit}
	for _, r := range rows[:min(len(rows), in.Limit)] {
		out.Matches = append(out.Matches, r.Match)
	}
	if out.HasMore {
		last := rows[in.Limit-1]
		out.NextCursor, err = pager.Encode(last.Date.String(), last.ID.String())
	}
	return out, err
}

// PutMatch is the input of PutMatch.
type PutMatch struct {
	ID         string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	MatchID    string `json:"match_id" minLength:"1" doc:"The match's UUID or short id"`
	Confidence string `json:"confidence" enum:"confirmed,rejected" doc:"rejected: the two are never proposed again"`
}

// PutMatch confirms or rejects a match, whatever its link is: one of a proposed link can be confirmed alone, and one of a confirmed link rejected alone. Totals follow at once.
func (l *Links) PutMatch(ctx context.Context, tx pg.Tx, in PutMatch) (Match, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return Match{}, err
	}
	ref := pg.RefTo(in.MatchID).IDArgs()
	m, err := pg.One[Match](ctx, tx, matchRows+` where m.account_link_id = $3 and not m.broken and (m.id = $1 or m.short_id = $2)`, append(ref, k.ID)...)
	if err != nil {
		return Match{}, pg.Found(err, "match of this link", "GET /api/v1/account-links/{id}/matches lists them")
	}
	if err := op.Match(ctx, m); err != nil {
		return Match{}, err
	}
	if k.Confidence == Rejected {
		return Match{}, errs.New(errs.Conflict, "this link is rejected, and its matches with it; confirm the link first")
	}
	if _, err := pg.Exec(ctx, tx, `update link_match set verdict = $2 where id = $1`, m.ID, in.Confidence); err != nil {
		return Match{}, err
	}
	if err := l.books.Touch(ctx, tx, []id.ID{m.PrimaryTransactionID, m.MirrorTransactionID}); err != nil {
		return Match{}, err
	}
	if err := l.settle(ctx, tx, []id.ID{m.PrimaryTransactionID, m.MirrorTransactionID}); err != nil {
		return Match{}, err
	}
	return pg.One[Match](ctx, tx, matchRows+` where m.id = $1`, m.ID)
}

// A side is the two transactions of a match.
type side struct {
	Primary id.ID `db:"primary_id"`
	Mirror  id.ID `db:"mirror_id"`
}

// sides are all transactions of those matches.
func sides(rows []side, err error) ([]id.ID, error) {
	ids := make([]id.ID, 0, 2*len(rows))
	for _, s := range rows {
		ids = append(ids, s.Primary, s.Mirror)
	}
	return ids, err
}

// settleLink is settle for every transaction of a link's matches.
func (l *Links) settleLink(ctx context.Context, tx pg.Tx, link id.ID) error {
	ids, err := sides(pg.All[side](ctx, tx, `select primary_id, mirror_id from link_match where account_link_id = $1 and not broken limit $2`, link, l.most/2+1))
	if err != nil {
		return err
	}
	return l.settleSoon(ctx, tx, ids, link)
}

// settleSoon settles transactions of those links: now, or where they are too many for one transaction by a job, batch by batch. So many would be locked for minutes, and the call is over before.
func (l *Links) settleSoon(ctx context.Context, tx pg.Tx, ids []id.ID, links ...id.ID) error {
	if len(ids) <= l.most {
		return l.settle(ctx, tx, ids)
	}
	for _, link := range links {
		// One that runs has passed some of them already, so it is followed by one more.
		if _, err := l.jobs.Enqueue(ctx, tx, SettleKind, order{link}, job.Options{Unique: link.String(), Again: true}); err != nil {
			return err
		}
	}
	return nil
}

// Settle makes of transactions what their matches say, after somebody took matches away.
func (l *Links) Settle(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	return l.settle(ctx, tx, ids)
}

// settleSize is how many transactions are settled in one statement, and settleMost how many in one transaction.
const (
	settleSize = 5000
	settleMost = 20_000
)

// settle makes of transactions what their confirmed matches say. They are locked first and their matches read after, so that of two that settle the same transaction the second sees what the first did.
// Where a transaction has several matches, the one that says where the money went is shown before the one that says who repeats it.
func (l *Links) settle(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) })
	for part := range slices.Chunk(slices.Compact(ids), settleSize) {
		if err := l.books.Lock(ctx, tx, part); err != nil {
			return err
		}
		marks, err := pg.All[ledger.Mark](ctx, tx, `
			with side as (
				select m.id, m.account_link_id, m.verdict, m.broken, m.primary_id, m.mirror_id, t.id as transaction_id, m.mirror_id as other, false as copy
				from unnest($1::uuid[]) t (id) join link_match m on m.primary_id = t.id
				union all
				select m.id, m.account_link_id, m.verdict, m.broken, m.primary_id, m.mirror_id, t.id, m.primary_id, true
				from unnest($1::uuid[]) t (id) join link_match m on m.mirror_id = t.id),
			counting as (
				select m.*, l.kind from side m
				join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
				where not m.broken and `+confidence+` = 'confirmed' and `+fits+`)
			select t.id, (array_agg(c.other order by c.kind = 'transfer' desc, c.id))[1] as linked_id,
				coalesce(bool_or(c.copy and c.kind = 'mirror'), false) as excluded, coalesce(bool_or(c.kind = 'transfer'), false) as transfer
			from unnest($1::uuid[]) t (id) left join counting c on c.transaction_id = t.id
			group by t.id`, part)
		if err != nil {
			return err
		}
		if err := l.books.Mark(ctx, tx, marks); err != nil {
			return err
		}
	}
	return nil
}

// fits says whether the two transactions of a match still are what its link's kind asks for.
const fits = `
	p.deleted_at is null and r.deleted_at is null and p.currency = r.currency
	and case l.kind when 'mirror' then p.amount = r.amount and abs(p.date - r.date) <= 3 else p.amount = -r.amount and abs(p.date - r.date) <= 5 end`

// Follow implements ledger.Follower: a match counts only while both its transactions are there, and comes back with them unless the other side has found another one meanwhile.
func (l *Links) Follow(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	found, err := sides(pg.All[side](ctx, tx, `
		update link_match m set broken = not x.fits from (
			select m.id, `+fits+` and not exists (
				select from link_match o join account_link k on k.id = o.account_link_id
				where o.id <> m.id and m.broken and not o.broken and o.verdict is distinct from 'rejected' and k.deleted_at is null and k.confidence <> 'rejected'
					and (k.id = l.id or k.kind = 'transfer' and l.kind = 'transfer')
					and (o.primary_id in (m.primary_id, m.mirror_id) or o.mirror_id in (m.primary_id, m.mirror_id))) as fits
			from link_match m join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
			where m.primary_id = any($1) or m.mirror_id = any($1)) x
		where x.id = m.id and m.broken = x.fits
		returning m.primary_id, m.mirror_id`, ids))
	if err != nil {
		return err
	}
	return l.settle(ctx, tx, found)
}
