package rulebook

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// PreviewRule is the input of Preview.
type PreviewRule struct {
	Conditions Conditions `json:"conditions" doc:"A leaf {field, op, value}, or {and: […]}, {or: […]}, {not: {…}}; {} matches every transaction" agent:"As rule-dsl: {field, op, value}, and, or, not; {} matches everything"`
	SampleSize int        `json:"sample_size,omitempty" minimum:"1" maximum:"50" default:"10" doc:"How many matches to show; all matches are counted" agent:"-"`
}

// A Preview counts and samples the transactions that a condition matches now.
type Preview struct {
	MatchCount    int64         `json:"match_count"`
	TotalScanned  int64         `json:"total_scanned" doc:"Number of transactions checked"`
	SampleMatches []SampleMatch `json:"sample_matches" doc:"Newest first"`
}

// A SampleMatch is a transaction that a condition matches.
type SampleMatch struct {
	TransactionID       id.ID           `json:"transaction_id" db:"transaction_id"`
	Date                pg.Date         `json:"date" db:"date"`
	Amount              money.Amount    `json:"amount" db:"amount" doc:"Positive is money out"`
	Currency            money.Currency  `json:"iso_currency_code" db:"currency"`
	Name                text.Untrusted  `json:"name" db:"name" doc:"Untrusted: the bank's text"`
	CategoryPrimaryRaw  *text.Untrusted `json:"category_primary_raw" db:"category_primary" doc:"Untrusted: the provider's own category"`
	CurrentCategorySlug *string         `json:"current_category_slug" db:"category_slug"`
}

// Preview returns the stored transactions that a condition alone matches. It writes nothing.
func (b *Rulebook) Preview(ctx context.Context, q pg.Querier, in PreviewRule) (Preview, error) {
	d := &draftRule{}
	if err := d.parse(in.Conditions, nil); err != nil {
		return Preview{}, err
	}
	if err := b.resolve(ctx, q, []*draftRule{d}); err != nil {
		return Preview{}, err
	}
	if err := errs.Faults(d.faults); err != nil {
		return Preview{}, err
	}
	var out Preview
	var err error
	if out.TotalScanned, err = pg.Value[int64](ctx, q, `select count(*) from transaction t
		where deleted_at is null and `+journal.Ruled); err != nil {
		return Preview{}, err
	}
	newest, err := b.search(ctx, q, d.tree, in.SampleSize, &out)
	if err != nil {
		return Preview{}, err
	}
	out.SampleMatches, err = sampled(ctx, q, newest)
	return out, err
}

// sampled describes matches.
func sampled(ctx context.Context, q pg.Querier, newest []id.ID) ([]SampleMatch, error) {
	return pg.All[SampleMatch](ctx, q, `
		select t.id as transaction_id, t.date, t.amount, t.currency, d.name, t.category_primary, c.slug as category_slug
		from transaction t join descriptor d on d.id = t.descriptor_id left join category c on c.id = t.category_id
		where t.id = any($1) order by t.date desc, t.id desc`, newest)
}

// search counts the transactions that the tree matches and returns the newest.
func (b *Rulebook) search(ctx context.Context, q pg.Querier, t engine.Tree, size int, out *Preview) ([]id.ID, error) {
	if t.MatchesAll() {
		out.MatchCount = out.TotalScanned
		return pg.Values[id.ID](ctx, q, `select id from transaction t where deleted_at is null and `+journal.Ruled+`
			order by date desc, id desc limit $1`, size)
	}
	w, err := ruleview.Words(ctx, q, t)
	if err != nil {
		return nil, err
	}
	if !w.All && len(w.Maybe) == 0 {
		return b.worded(ctx, q, w.Sure, size, out)
	}
	l, err := ruleview.New(ctx, q, t.Reads(), false)
	if err != nil {
		return nil, err
	}
	l.Dated = true
	where := &pg.Where{}
	where.And("t.deleted_at is null and " + journal.Ruled)
	if !w.All {
		where.And("t.descriptor_id = any($?)", append(w.Sure, w.Maybe...))
	}
	l.Narrow(where, t.Needs(), false)
	newest := sample{size: size}
	// A compiled set is faster than the tree alone, with the same results.
	one, found := engine.Compile([]engine.Rule{{Conditions: t}}), []int(nil)
	err = l.Read(ctx, q, where.SQL(), where.Args(), func(s *ruleview.Stored) error {
		if found = one.Match(&s.Draft, engine.AllFields, found[:0]); len(found) > 0 {
			out.MatchCount++
			newest.offer(dated{s.ID, s.Date})
		}
		return nil
	})
	return newest.ids(), err
}

// fewWordings is the largest number of wordings for which the newest transactions are searched one
// wording at a time. With more, they are searched day by day.
const fewWordings = 500

// worded counts and lists transactions of wordings that the condition always matches.
func (b *Rulebook) worded(ctx context.Context, q pg.Querier, sure []int32, size int, out *Preview) ([]id.ID, error) {
	if len(sure) == 0 {
		return nil, nil
	}
	var err error
	out.MatchCount, err = pg.Value[int64](ctx, q, `
		select (select count(*) from transaction where descriptor_id = any($1) and deleted_at is null)
			- (select count(*) from transaction t where descriptor_id = any($1) and deleted_at is null
				and `+journal.Divided+`)`, sure)
	if err != nil {
		return nil, err
	}
	if len(sure) > fewWordings {
		return pg.Values[id.ID](ctx, q, `
			select id from transaction t where (descriptor_id = any($1)) is true and deleted_at is null
				and `+journal.Ruled+`
				order by date desc, id desc limit $2`, sure, size)
	}
	return pg.Values[id.ID](ctx, q, `
		select x.id from unnest($1::int[]) v (id)
		cross join lateral (select t.ID, t.date from transaction t
			where t.descriptor_id = v.id and t.deleted_at is null and `+journal.Ruled+`
			order by t.date desc, t.id desc limit $2) x
		order by x.date desc, x.id desc limit $2`, sure, size)
}

type dated struct {
	id   id.ID
	date pg.Date
}

// A sample keeps the newest few of the transactions added to it.
type sample struct {
	size   int
	newest []dated
}

func newer(a, b dated) int {
	if byDay := b.date.Time().Compare(a.date.Time()); byDay != 0 {
		return byDay
	}
	return b.id.Compare(a.id)
}

func (s *sample) offer(d dated) {
	if len(s.newest) == s.size && newer(d, s.newest[s.size-1]) >= 0 {
		return
	}
	s.newest = insertFirst(s.newest, d, s.size, newer)
}

// insertFirst inserts one into a sorted list, after all equal elements, and keeps only the first
// limit elements.
func insertFirst[T any](list []T, one T, limit int, order func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, one, func(a, b T) int { return cmp.Or(order(a, b), -1) })
	list = slices.Insert(list, at, one)
	return list[:min(len(list), limit)]
}

func (s *sample) ids() []id.ID {
	out := make([]id.ID, len(s.newest))
	for i, d := range s.newest {
		out[i] = d.id
	}
	return out
}
