package accountlink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Match is two transactions that belong together.
type Match struct {
	ID                   id.ID            `json:"id" db:"id"`
	ShortID              string           `json:"short_id,omitempty" db:"short_id" required:"true"`
	AccountLinkID        id.ID            `json:"account_link_id" db:"account_link_id"`
	PrimaryTransactionID id.ID            `json:"primary_transaction_id" db:"primary_id"`
	MirrorTransactionID  id.ID            `json:"mirror_transaction_id" db:"mirror_id"`
	PrimaryTransaction   MatchTransaction `json:"primary_transaction" db:"-" doc:"The transaction of the primary account"`
	MirrorTransaction    MatchTransaction `json:"mirror_transaction" db:"-" doc:"The transaction of the mirror account"`
	Confidence           string           `json:"confidence" db:"confidence" enum:"auto,confirmed,rejected" doc:"auto: undecided, totals count both; of a confirmed link: something speaks against the pair, so a person must look. confirmed: totals exclude the mirror's transaction, or both sides of a transfer"`
	Source               *string          `json:"source" db:"source" enum:"user,agent,rule" doc:"Who decided this pair; null: undecided"`
	DayDifference        int              `json:"day_difference" db:"day_difference" doc:"Days between the two"`
	CreatedAt            pg.Time          `json:"created_at" db:"created_at"`
}

// A MatchTransaction is the part of a transaction that a person needs to decide whether a match is
// right.
type MatchTransaction struct {
	ID           id.ID           `json:"id" db:"id"`
	ShortID      string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	Date         pg.Date         `json:"date" db:"date"`
	Amount       money.Amount    `json:"amount" db:"amount" doc:"Positive is money out"`
	Currency     money.Currency  `json:"iso_currency_code" db:"currency"`
	Name         text.Untrusted  `json:"name" db:"name" doc:"Untrusted: the bank's text"`
	MerchantName *text.Untrusted `json:"merchant_name" db:"merchant_name" doc:"Untrusted: the bank's text"`
	PayeeName    text.Untrusted  `json:"payee_name" db:"-" screen:"instead name" doc:"Untrusted: the counterparty's name, else the name in the bank's text"`
	AccountID    id.ID           `json:"account_id" db:"account_id"`
	AccountName  text.Untrusted  `json:"account_name" db:"account_name" doc:"The household's name for the account, else the bank's (untrusted)"`

	Named *text.Untrusted `json:"-" db:"counterparty_name"`
}

// show fills in the transactions of the matches of one page.
func show(ctx context.Context, q pg.Querier, matches []Match) error {
	ids := make([]id.ID, 0, 2*len(matches))
	for _, m := range matches {
		ids = append(ids, m.PrimaryTransactionID, m.MirrorTransactionID)
	}
	rows, err := pg.All[MatchTransaction](ctx, q, `
		select t.id, t.short_id, t.date, t.amount, t.currency, d.name, nullif(d.merchant_name, '') as merchant_name,
			t.account_id, coalesce(nullif(a.display_name, ''), a.name) as account_name, p.name as counterparty_name
		from transaction t join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id
			left join counterparty p on p.id = t.counterparty_id
			where t.id = any($1)`, ids)
	if err != nil {
		return err
	}
	byID := make(map[id.ID]MatchTransaction, len(rows))
	for _, r := range rows {
		r.PayeeName = payeename.Shown(r.Named, r.MerchantName, r.Name)
		byID[r.ID] = r
	}
	for i, m := range matches {
		matches[i].PrimaryTransaction = byID[m.PrimaryTransactionID]
		matches[i].MirrorTransaction = byID[m.MirrorTransactionID]
	}
	return nil
}

// confidence is the effective confidence of a match, from its own decision and its link's. If
// either is a rejection, the match is rejected. Otherwise it is confirmed if either is a
// confirmation. A confirmed link does not confirm its doubtful pairs.
const confidence = `
	case when l.deleted_at is not null or l.confidence = 'rejected' or m.verdict = 'rejected' then 'rejected'
		when l.confidence = 'confirmed' and not m.doubtful or m.verdict = 'confirmed' then 'confirmed' else 'auto' end`

const matchRows = `
	select m.id, m.short_id, m.account_link_id, m.primary_id, m.mirror_id,
		` + confidence + ` as confidence, m.source, m.day_difference, m.created_at
	from link_match m join account_link l on l.id = m.account_link_id`

// ListMatches asks for a page of a link's matches.
type ListMatches struct {
	ID         string  `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	Confidence *string `json:"confidence,omitempty" enum:"auto,confirmed,rejected"`
	Cursor     string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit      int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// Matches is a page of matches.
type Matches struct {
	Matches    []Match `json:"matches"`
	NextCursor string  `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool    `json:"has_more"`
}

// Matches returns a page of a link's matches, newest transaction first.
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
		select m.id, m.short_id, m.account_link_id, m.primary_id, m.mirror_id, %s as confidence, m.source,
			m.day_difference, m.created_at, p.date
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
		if out.NextCursor, err = pager.Encode(last.Date.String(), last.ID.String()); err != nil {
			return Matches{}, err
		}
	}
	return out, show(ctx, q, out.Matches)
}

// PutMatch is the input of PutMatch.
type PutMatch struct {
	ID         string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	MatchID    string `json:"match_id" minLength:"1" doc:"The match's UUID or short id"`
	Confidence string `json:"confidence" enum:"confirmed,rejected" doc:"rejected: the two are never suggested again"`
	Force      bool   `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// PutMatch confirms or rejects a match independently of its link. A match of a suggested link can
// be confirmed, and a match of a confirmed link rejected. Totals are updated at once.
func (l *Links) PutMatch(ctx context.Context, tx pg.Tx, in PutMatch) (Match, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return Match{}, err
	}
	ref := pg.RefTo(in.MatchID).IDArgs()
	m, err := match(ctx, tx, matchRows+` where m.account_link_id = $3 and not m.broken
		and (m.id = $1 or m.short_id = $2)`, append(ref, k.ID)...)
	if err != nil {
		return Match{}, pg.Found(err, "match of this link", "{account-link.matches} lists them")
	}
	if err := op.Match(ctx, m); err != nil {
		return Match{}, err
	}
	if k.Confidence == Rejected {
		return Match{}, errs.New(errs.Conflict, "this link and its matches are rejected; confirm the link first")
	}
	verdict, err := pg.Value[*string](ctx, tx, `select verdict from link_match where id = $1`, m.ID)
	if err != nil {
		return Match{}, err
	}
	if verdict != nil && *verdict == in.Confidence &&
		(op.ActorOf(ctx).Type != op.User || m.Source != nil && *m.Source == op.User) {
		return m, nil
	}
	if err := held(ctx, m.Source, in.Force, "match"); err != nil {
		return Match{}, err
	}
	if err := noCircle(pairCircles(ctx, tx, k.ID, &in.Confidence)); err != nil {
		return Match{}, err
	}
	source := journal.Source(op.ActorOf(ctx))
	if err := l.judge(ctx, tx, m.ID, side{m.PrimaryTransactionID, m.MirrorTransactionID}, &in.Confidence,
		&source); err != nil {
		return Match{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{{
		Subject: journal.AccountLink, SubjectID: k.ID, Field: journal.FieldMatch, Ref: &m.ID, Before: verdict,
		After: &in.Confidence, BeforeSource: m.Source, AfterSource: &source,
	}})
	if err != nil {
		return Match{}, err
	}
	return match(ctx, tx, matchRows+` where m.id = $1`, m.ID)
}

// match returns one match with its transactions.
func match(ctx context.Context, q pg.Querier, sql string, args ...any) (Match, error) {
	one, err := pg.All[Match](ctx, q, sql, args...)
	if err != nil || len(one) == 0 {
		return Match{}, cmp.Or(err, pg.ErrNoRow)
	}
	return one[0], show(ctx, q, one)
}

// judge stores a decision about a pair and updates totals. A nil verdict withdraws the decision.
func (l *Links) judge(ctx context.Context, tx pg.Tx, match id.ID, of side, verdict, source *string) error {
	if _, err := pg.Exec(ctx, tx, `update link_match set verdict = $2, source = $3
		where id = $1`, match, verdict, source); err != nil {
		return err
	}
	ids := []id.ID{of.Primary, of.Mirror}
	if err := l.books.Touch(ctx, tx, ids); err != nil {
		return err
	}
	return l.recomputeExclusions(ctx, tx, ids)
}

// A side is the two transactions of a match.
type side struct {
	Primary id.ID `db:"primary_id"`
	Mirror  id.ID `db:"mirror_id"`
}

// sides returns all transactions of these matches.
func sides(rows []side, err error) ([]id.ID, error) {
	ids := make([]id.ID, 0, 2*len(rows))
	for _, s := range rows {
		ids = append(ids, s.Primary, s.Mirror)
	}
	return ids, err
}

// dropUndecided removes matches that nobody has decided about, either all of a link or the given
// ones, and returns their transactions. A match whose decision was withdrawn is not deleted but
// marked as broken, because undoing the withdrawal refers to it. The matcher restores it if it
// finds the pair again.
func dropUndecided(ctx context.Context, tx pg.Tx, link id.ID, some []id.ID) ([]id.ID, error) {
	const named = `exists (select from entry e where e.subject_id = m.account_link_id
		and e.field = '` + journal.FieldMatch + `' and e.ref = m.id)`
	kept, err := sides(pg.All[side](ctx, tx, `update link_match m set broken = true
		where (m.account_link_id = $1 or m.id = any($2)) and m.verdict is null and not m.broken and `+named+`
		returning m.primary_id, m.mirror_id`, link, some))
	if err != nil {
		return nil, err
	}
	gone, err := sides(pg.All[side](ctx, tx, `delete from link_match m
		where (m.account_link_id = $1 or m.id = any($2)) and m.verdict is null and not `+named+`
		returning m.primary_id, m.mirror_id`, link, some))
	return append(kept, gone...), err
}

// settleLink is settleSoon for every transaction of a link's matches.
func (l *Links) settleLink(ctx context.Context, tx pg.Tx, link id.ID) error {
	ids, err := sides(pg.All[side](ctx, tx, `select primary_id, mirror_id from link_match
		where account_link_id = $1 and not broken limit $2`, link, l.limit/2+1))
	if err != nil {
		return err
	}
	return l.settleSoon(ctx, tx, ids, link)
}

// settleSoon updates the marks of the transactions of these links. If there are too many for one
// transaction, a job updates them in batches. Otherwise they would be locked for minutes, longer
// than a call may take.
func (l *Links) settleSoon(ctx context.Context, tx pg.Tx, ids []id.ID, links ...id.ID) error {
	if len(ids) <= l.limit {
		return l.recomputeExclusions(ctx, tx, ids)
	}
	for _, link := range links {
		// A running job has already passed some of the transactions, so another job must follow it.
		if _, err := l.jobs.Enqueue(ctx, tx, SettleKind, reconcileArgs{link},
			job.Options{Unique: link.String(), Again: true}); err != nil {
			return err
		}
	}
	return nil
}

// RecomputeExclusions updates transactions after their matches were removed.
func (l *Links) RecomputeExclusions(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	return l.recomputeExclusions(ctx, tx, ids)
}

// settleSize is the number of transactions that one statement updates. settleMost is the number
// that one database transaction updates.
const (
	settleSize = 5000
	settleMost = 20_000
)

// recomputeExclusions sets which transactions totals leave out or treat as transfers, according to
// their confirmed matches. It locks the transactions before it reads their matches. So if two calls
// are about the same transaction, the second one sees the effect of the first. If a transaction has
// several matches, linked_id is that of a transfer rather than of a duplicate. A transaction
// entered by hand that is matched with the bank's counts as its duplicate.
func (l *Links) recomputeExclusions(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) })
	for part := range slices.Chunk(slices.Compact(ids), settleSize) {
		if err := l.books.Lock(ctx, tx, part); err != nil {
			return err
		}
		marks, err := pg.All[ledger.Mark](ctx, tx, `
			with side as (
				select m.id, m.account_link_id, m.verdict, m.broken, m.doubtful, m.primary_id, m.mirror_id,
					t.id as transaction_id, m.mirror_id as other, false as copy
				from unnest($1::uuid[]) t (id) join link_match m on m.primary_id = t.id
				union all
				select m.id, m.account_link_id, m.verdict, m.broken, m.doubtful, m.primary_id, m.mirror_id, t.id,
					m.primary_id, true
				from unnest($1::uuid[]) t (id) join link_match m on m.mirror_id = t.id),
			counting as (
				select m.*, l.kind from side m
				join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id
					join transaction r on r.id = m.mirror_id
				where not m.broken and `+confidence+` = 'confirmed' and `+fits+`)
			select t.id, coalesce(h.bank_id, (array_agg(c.other order by c.kind = 'transfer' desc, c.id))[1]) as linked_id,
				h.bank_id is not null or coalesce(bool_or(c.copy and c.kind = 'mirror'), false) as excluded,
				coalesce(bool_or(c.kind = 'transfer'), false) as transfer
			from unnest($1::uuid[]) t (id) left join counting c on c.transaction_id = t.id
			left join lateral (select x.bank_id from manual_match x join transaction b on b.id = x.bank_id
				where x.manual_id = t.id and x.state = 'matched' and b.deleted_at is null) h on true
			group by t.id, h.bank_id`, part)
		if err != nil {
			return err
		}
		if err := l.books.Mark(ctx, tx, marks); err != nil {
			return err
		}
	}
	return nil
}

// fits is true if the two transactions of a match still fulfill the conditions of its link's kind.
const fits = `
	p.deleted_at is null and r.deleted_at is null and p.currency = r.currency
	and case l.kind when 'mirror' then p.amount = r.amount and abs(p.date - r.date) <= 3
		else p.amount = -r.amount and abs(p.date - r.date) <= 5 end`

// Follow implements ledger.Follower. A match counts only while both its transactions exist. When a
// deleted transaction is restored, its match is restored too, unless the other side has found
// another match in the meantime.
func (l *Links) Follow(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	found, err := refit(ctx, tx, id.ID{}, ids)
	if err != nil {
		return err
	}
	byHand, err := pg.Values[id.ID](ctx, tx, `select manual_id from manual_match
		where state = 'matched' and (bank_id = any($1) or manual_id = any($1))`, ids)
	if err != nil {
		return err
	}
	return l.recomputeExclusions(ctx, tx, append(found, byHand...))
}

// refit breaks the matches of a link, or of transactions, that no longer fit, restores those that
// fit again, and returns the transactions of both.
func refit(ctx context.Context, tx pg.Tx, link id.ID, transactions []id.ID) ([]id.ID, error) {
	return sides(pg.All[side](ctx, tx, `
		update link_match m set broken = not x.fits from (
			select m.id, `+fits+` and not exists (
				select from link_match o join account_link k on k.id = o.account_link_id
				where o.id <> m.id and m.broken and not o.broken and o.verdict is distinct
					from 'rejected' and k.deleted_at is null and k.confidence <> 'rejected'
					and (k.id = l.id or k.kind = 'transfer' and l.kind = 'transfer')
					and (o.primary_id in (m.primary_id, m.mirror_id)
						or o.mirror_id in (m.primary_id, m.mirror_id))) as fits
			from link_match m join account_link l on l.id = m.account_link_id
				join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
			where m.account_link_id = $1 or m.primary_id = any($2) or m.mirror_id = any($2)) x
		where x.id = m.id and m.broken = x.fits
		returning m.primary_id, m.mirror_id`, link, transactions))
}
