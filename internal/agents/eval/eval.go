// Package eval measures how well a workflow categorizes transactions. It finds people's decisions,
// and what methods without a model would have decided in the books before that. Then it computes
// the figures. It does not ask the model or rebuild the books: package run and the journal do.
package eval

import (
	"context"
	"slices"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
)

// Evals measure workflows.
type Evals struct{ rules *rulebook.Rulebook }

// New returns Evals that use the household's rules.
func New(rules *rulebook.Rulebook) *Evals { return &Evals{rules} }

// lookedAt is how many of people's newest entries an eval searches for decisions.
const lookedAt = 50_000

// Labels returns the newest decisions of people, at most sample, oldest first. The time of each is
// when a person first gave the current value, so the books before that time do not contain it.
//
// A category counts if a person set it, or if no agent set it and a person kept it when they closed
// the review. A category that an agent set and a person only agreed to, in a review or with a plan,
// is the agent's decision and not a label.
func (e *Evals) Labels(ctx context.Context, q pg.Querier, sample int) ([]Label, error) {
	out, err := pg.All[Label](ctx, q, `
		with touched as materialized (
			select e.subject_id, e.field, e.id
			from change c join entry e on e.change_id = c.id
			where c.actor_type = 'user' and c.cause in ('api', 'tool') and e.subject = 'transaction'
				and (e.field = 'category' or e.field = 'tag' and e.after is null
					and e.ref = (select id from tag where slug = @review and deleted_at is null))
			order by c.seq desc limit @looked),
		held as (
			select t.id as transaction_id, t.category_id, 'held' as kind, f.at
			from (select distinct subject_id from touched where field = 'category') k
			join transaction t on t.id = k.subject_id and t.category_source = 'user' and t.category_id is not null
				and t.deleted_at is null and not t.pending and `+journal.Ruled+`
			cross join lateral (
				select min(c.created_at) as at from entry x join change c on c.id = x.change_id
				where x.subject_id = t.id and x.field = 'category' and x.after = t.category_id::text
					and x.after_source = 'user' and c.actor_type = 'user' and c.cause in ('api', 'tool')
					and not (x.before = x.after and exists (select from entry g where g.change_id = x.change_id
						and g.subject_id = t.id and g.field = 'tag' and g.after is null
						and g.ref = (select id from tag where slug = @review and deleted_at is null)))
					and not exists (select from change r where r.reverts = c.id)) f
			where f.at is not null),
		confirmed as (
			select t.id, t.category_id, 'confirmed', min(c.created_at)
			from touched k join entry x on x.id = k.id join change c on c.id = x.change_id
			join transaction t on t.id = k.subject_id
				and t.category_id is not null and t.deleted_at is null and not t.pending and `+journal.Ruled+`
			left join lateral (select a.id, a.before_source from entry a where a.change_id = c.id and a.subject_id = t.id
				and a.field = 'category' and a.before = a.after and a.after_source = 'user') agreed on true
			where k.field = 'tag' and not exists (select from change r where r.reverts = c.id)
				and coalesce(agreed.before_source, t.category_source) in ('rule', 'provider')
				and not exists (select from entry l where l.subject_id = t.id and l.field = 'category' and l.id > x.id
					and l.id is distinct from agreed.id)
				and not exists (select from transaction_tag g where g.transaction_id = t.id and g.tag_id = x.ref and g.present)
			group by t.id, t.category_id)
		select * from (select * from held union all select * from confirmed) l
		order by at desc, transaction_id limit @sample`, pg.Args{
		"review": ledger.NeedsReview, "looked": lookedAt, "sample": sample,
	})
	slices.Reverse(out)
	return out, err
}

// Windows cuts labels into that many parts of about equal size. The books of a part are those of
// the moment before its first decision. No window is empty.
func Windows(labels []Label, windows int) []Window {
	n := min(windows, len(labels))
	out := make([]Window, n)
	for i := range out {
		part := labels[i*len(labels)/n : (i+1)*len(labels)/n]
		out[i] = Window{AsOf: pg.At(part[0].At.Time().Add(-time.Microsecond)), Labels: part}
	}
	return out
}

// Windows calls the function Windows.
func (e *Evals) Windows(labels []Label, windows int) []Window {
	return Windows(labels, windows)
}

// Items returns the items of a window. q reads the books as of the window's moment. offered are the
// categories that the model can choose then. A label that is not among them has no right answer,
// and is left out. An item does not include the other data that the model sees in a row.
func (e *Evals) Items(ctx context.Context, q pg.Querier, labels []Label, offered []string) (
	[]EvaluationItem, error,
) {
	ids, right := make([]id.ID, len(labels)), make([]id.ID, len(labels))
	for i, l := range labels {
		ids[i], right[i] = l.TransactionID, l.CategoryID
	}
	type row struct {
		Place    int            `db:"place"`
		Amount   money.Amount   `db:"amount"`
		Currency money.Currency `db:"currency"`
		Label    *string        `db:"label"`
		Before   *string        `db:"before"`
		Held     bool           `db:"held"`
		Provider *string        `db:"provider"`
	}
	rows, err := pg.All[row](ctx, q, `
		select v.place::int as place, t.amount, t.currency, r.slug as label, b.slug as before,
			coalesce(t.category_source = 'user' and t.category_id = v.label, false) as held, p.slug as provider
		from unnest($1::uuid[], $2::uuid[]) with ordinality v (id, label, place)
		join transaction t on t.id = v.id and t.deleted_at is null
		join account a on a.id = t.account_id
		left join category r on r.id = v.label and r.deleted_at is null
		left join category b on b.id = t.category_id and b.deleted_at is null
		left join category_mapping m on m.provider = a.provider and m.raw_primary = t.category_primary
			and m.raw_detailed = t.category_detailed
		left join category p on p.id = m.category_id and p.deleted_at is null
		order by v.place`, ids, right)
	if err != nil {
		return nil, err
	}
	rules, err := e.rules.Categories(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	var out []EvaluationItem
	for _, r := range rows {
		l := labels[r.Place-1]
		// If a person's decision for this category is still in these books, it could not be
		// reverted. The model would see it.
		if r.Label == nil || r.Held || !slices.Contains(offered, *r.Label) {
			continue
		}
		item := EvaluationItem{
			TransactionID: l.TransactionID, Kind: l.Kind, Amount: r.Amount, Currency: r.Currency, Label: *r.Label,
			Before: r.Before, Provider: r.Provider,
		}
		if slug, ok := rules[l.TransactionID]; ok {
			item.Rules = &slug
		}
		out = append(out, item)
	}
	return out, nil
}

// Primaries returns the primary category of every category, by slug, in the books that q reads.
func (e *Evals) Primaries(ctx context.Context, q pg.Querier) (map[string]string, error) {
	type row struct {
		Slug    string `db:"slug"`
		Primary string `db:"primary_slug"`
	}
	rows, err := pg.All[row](ctx, q, `select c.slug, coalesce(p.slug, c.slug) as primary_slug
		from category c left join category p on p.id = c.parent_id where c.deleted_at is null`)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.Slug] = r.Primary
	}
	return out, err
}
