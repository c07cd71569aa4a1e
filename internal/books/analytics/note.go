package analytics

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// staleDays is the age, in days, from which the last sync of a connection causes a note on totals.
const staleDays = 3

// checkedPairs is the largest number of pairs for which Stand checks whether any of them changes
// totals. With more pairs, it assumes so.
const checkedPairs = 1000

// A Standing holds facts about the household's data that the notes on totals report.
type Standing struct {
	Proposed int64 `json:"proposed" db:"proposed"` // account links that wait for a decision
	// The number of pairs of transactions that these links would leave out. It is 0 if totals
	// exclude all of them anyway, because their categories are transfers.
	Pairs     int64    `json:"pairs" db:"pairs"`
	Unsure    int64    `json:"unsure" db:"unsure"`         // pairs of confirmed links that wait for a decision
	Stale     int64    `json:"stale" db:"stale"`           // connections whose last sync was days ago
	FirstDate *pg.Date `json:"first_date" db:"first_date"` // of the first transaction
	LastDate  *pg.Date `json:"last_date" db:"last_date"`   // of the newest transaction
	Today     pg.Date  `json:"today" db:"today"`
}

// Stand reads the facts that the notes on totals report.
func Stand(ctx context.Context, q pg.Querier) (Standing, error) {
	return pg.One[Standing](ctx, q, `
		select l.proposed, case when l.pairs > $2 or exists (
				select from account_link l join link_match m on m.account_link_id = l.id
				join transaction t on t.id in (m.primary_id, m.mirror_id)
				left join category c on c.id = t.category_id left join category p on p.id = c.parent_id
				where m.verdict is null and not m.broken and not t.excluded and not t.transfer and t.deleted_at is null
					and coalesce(p.kind, c.kind, '') <> 'transfer' and `+account.ProposedLink+`)
				then l.pairs else 0 end as pairs, (select count(*) from link_match m join account_link l on l.id = m.account_link_id
				where m.doubtful and m.verdict is null and not m.broken and l.confidence = 'confirmed'
				and l.deleted_at is null) as unsure, (select count(*) from connection where provider <> 'csv' and not paused
				and status <> 'disconnected'
				and coalesce(last_sync_at, created_at) < now() - make_interval(days => $1)) as stale,
			(select t.date from transaction t where t.deleted_at is null order by t.date, t.id limit 1) as first_date,
			(select t.date from transaction t where t.deleted_at is null order by t.date desc, t.id desc
				limit 1) as last_date, (now() at time zone s.time_zone)::date as today
		from setting s cross join (
			select count(distinct l.id) as proposed,
				count(m.id) filter (where m.verdict is null and not m.broken) as pairs
			from account_link l left join link_match m on m.account_link_id = l.id
			where `+account.ProposedLink+`) l`, staleDays, checkedPairs)
}

// Notes returns notes about what is missing from totals of those days. A nil start or end means no
// limit.
func (s Standing) Notes(ctx context.Context, start, end *pg.Date) []op.Note {
	notes := s.links(ctx)
	if s.LastDate == nil {
		return notes
	}
	until := s.Today
	if end != nil && end.Time().Before(until.Time()) {
		until = *end
	}
	if start != nil && start.Time().Before(s.FirstDate.Time()) {
		notes = append(notes, op.Note{
			Code:    "data_ends",
			Message: "data starts on " + s.FirstDate.String(),
		})
	}
	if daysBetween(s.LastDate.Time(), until.Time()) > staleDays {
		notes = append(notes, op.Note{
			Code:    "data_ends",
			Message: "data ends on " + s.LastDate.String(),
		})
	}
	return append(notes, s.stale(ctx, until)...)
}

// links returns a note if account links wait for a decision.
func (s Standing) links(ctx context.Context) []op.Note {
	if s.Proposed == 0 || s.Pairs == 0 {
		return []op.Note{}
	}
	return []op.Note{{
		Code: "links_proposed", Count: new(s.Pairs), See: op.See(ctx, "account-link.list"),
		Message: fmt.Sprintf("%s review; until then, totals may count %s twice",
			plural(s.Proposed, "suggested account link needs", "suggested account links need"),
			plural(s.Pairs, "pair", "pairs")),
	}}
}

// stale returns a note if connections last synced days ago. It returns none if the requested
// days end before that matters.
func (s Standing) stale(ctx context.Context, until pg.Date) []op.Note {
	if s.Stale == 0 || daysBetween(until.Time(), s.Today.Time()) > staleDays {
		return nil
	}
	return []op.Note{{
		Code: "stale", Count: new(s.Stale), See: op.See(ctx, "sync.health"),
		Message: fmt.Sprintf("%s synced for %d days",
			plural(s.Stale, "connection hasn't", "connections haven't"), staleDays),
	}}
}

// leftOut counts the transactions that somebody left out of the totals of a request.
func (in SummaryRequest) leftOut(ctx context.Context, q pg.Querier, undated pg.Where, days *ComparedDays) (int64,
	error,
) {
	if slices.Contains(in.Include, "excluded") {
		return 0, nil
	}
	where := undated.Clone()
	where.And("not (" + journal.NotLeftOut + ")")
	if days == nil {
		where.If(in.StartDate != nil, "t.date >= $?", in.StartDate)
		where.If(in.EndDate != nil, "t.date <= $?", in.EndDate)
	} else {
		where.And("t.date between $? and $? or t.date between $? and $?", days.Start, days.End, days.Previous.Start,
			days.Previous.End)
	}
	return pg.Value[int64](ctx, q, `select count(*) from transaction t `+where.SQL(), where.Args()...)
}

// leftOutNote returns a note about the number of transactions that somebody left out of totals.
func leftOutNote(ctx context.Context, n int64) []op.Note {
	if n == 0 {
		return nil
	}
	return []op.Note{{
		Code: "excluded", Count: &n, See: op.See(ctx, "transaction.list"),
		Message: plural(n, "transaction is", "transactions are") + " left out of totals; list them with " +
			"excluded_reason any",
	}}
}

// LeftOut returns a note about the number of transactions of those days that somebody left out of
// totals.
func (t *Totals) LeftOut(ctx context.Context, q pg.Querier, days Days) ([]op.Note, error) {
	n, err := t.books.Count(ctx, q, ledger.Filter{
		StartDate: &days.Start, EndDate: &days.End, ExcludedReason: new("any"), SearchMode: "contains",
	})
	return leftOutNote(ctx, n.Count), err
}

// plural returns a number with the right form of its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
