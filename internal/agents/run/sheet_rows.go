package run

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// notByAgents is the SQL condition that no agent wrote the name of the record x, or that a person
// has edited the record since. Records that came with coffer have no entry.
const notByAgents = ` (select h.actor_type from entry e join change h on h.id = e.change_id
	where e.subject_id = x.id and e.field = 'record' and e.after is not null
		and (e.before is null or h.actor_type = 'user'
			or e.before::jsonb ->> w.field is distinct from e.after::jsonb ->> w.field)
	order by e.id desc limit 1) is distinct from 'agent'`

// A choice is a category or tag that the model may choose.
type choice struct {
	ID   id.ID  `db:"id"`
	Kind string `db:"kind"`
	Slug string `db:"slug"`
}

// choices returns the categories and tags to choose from, in a stable order. A primary category
// with subcategories is left out, because it says too little. Names that agents wrote are left out,
// because they could be instructions to the next agent.
func choices(ctx context.Context, q pg.Querier) ([]choice, error) {
	return pg.All[choice](ctx, q, `
		select x.id, x.kind, x.slug from (
			select c.id, 'category' as kind, c.slug, coalesce(p.sort_order, c.sort_order) as first, c.sort_order as second
			from category c left join category p on p.id = c.parent_id
			where c.deleted_at is null and not c.hidden and not exists (
				select from category k where k.parent_id = c.id and k.deleted_at is null)
			union all select id, 'tag', slug, 0, 0 from tag where deleted_at is null) x, (values ('slug')) w (field)
		where `+notByAgents+` order by x.kind, x.first, x.second, x.slug`)
}

// A sheetFact is a row as the database returns it, with the key of its payee.
type sheetFact struct {
	ID              id.ID          `db:"id"`
	Date            pg.Date        `db:"date"`
	Amount          money.Amount   `db:"amount"`
	Currency        money.Currency `db:"currency"`
	Name            text.Untrusted `db:"name"`
	Merchant        text.Untrusted `db:"merchant_name"`
	Account         text.Untrusted `db:"account"`
	Category        *id.ID         `db:"category_id"`
	Source          *string        `db:"category_source"`
	Counterparty    *id.ID         `db:"counterparty_id"`
	CounterpartyFor text.Untrusted `db:"counterparty"`
	Payee           *int64         `db:"payee"`
	Direction       int            `db:"direction"`
}

// A payeeKey is the key for precedents: the counterparty, else the payee, and the direction of the
// money.
type payeeKey struct {
	counterparty id.ID
	payee        int64
	direction    int
}

func (f sheetFact) key() payeeKey {
	k := payeeKey{direction: f.Direction}
	switch {
	case f.Counterparty != nil:
		k.counterparty = *f.Counterparty
	case f.Payee != nil:
		k.payee = *f.Payee
	}
	return k
}

// buildSheet reads the rows for the model. It leaves out a row whose transaction was deleted.
func buildSheet(ctx context.Context, q pg.Querier, w workflow.Worklist, rows [][]id.ID) (sheet, error) {
	var first []id.ID
	for _, ids := range rows {
		first = append(first, ids[0])
	}
	facts, err := readFacts(ctx, q, first)
	if err != nil {
		return sheet{}, err
	}
	all, err := choices(ctx, q)
	if err != nil {
		return sheet{}, err
	}
	var s sheet
	slugs := map[id.ID]string{}
	for _, c := range all {
		switch {
		case c.Kind == "category":
			slugs[c.ID] = c.Slug
			if w.Decides(workflow.SetsCategory) {
				s.categories = append(s.categories, c.Slug)
			}
		case w.Decides(workflow.SetsTags) && c.Slug != ledger.NeedsReview:
			s.tags = append(s.tags, c.Slug)
		}
	}
	before, err := readPrecedents(ctx, q, w, facts, rows, slugs)
	if err != nil {
		return sheet{}, err
	}
	for _, ids := range rows {
		f, ok := facts[ids[0]]
		if !ok {
			continue
		}
		r := f.row(len(s.rows)+1, slugs) // without gaps, because the numbers are positions in the list of rows
		r.Before, r.ids = before[f.key()], ids
		if len(ids) > 1 {
			r.Times = len(ids)
		}
		s.rows = append(s.rows, r)
	}
	s.categories = relevant(s.categories, s.rows)
	return s, nil
}

// row returns the fact as the model sees it. Decisions of agents are left out, because the model
// would take them for precedents.
func (f sheetFact) row(n int, slugs map[id.ID]string) sheetRow {
	r := sheetRow{
		Row: n, Date: f.Date, Amount: f.Amount, Currency: f.Currency, Name: cut(f.Name, nameBytes),
		Account: cut(f.Account, accountBytes), Counterparty: cut(f.CounterpartyFor, merchantBytes),
	}
	if text.Fold(f.Merchant.Plain()) != text.Fold(f.Name.Plain()) {
		r.Merchant = cut(f.Merchant, merchantBytes)
	}
	if f.Category != nil && f.Source != nil && *f.Source != "agent" && slugs[*f.Category] != "" {
		r.Category, r.Source = slugs[*f.Category], *f.Source
		if r.Source == "provider" {
			r.Source = "bank"
		}
	}
	return r
}

// readFacts reads transactions. It omits a counterparty that an agent chose or named.
func readFacts(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]sheetFact, error) {
	rows, err := pg.All[sheetFact](ctx, q, `
		select t.id, t.date, t.amount, t.currency, d.name, d.merchant_name,
			coalesce(nullif(a.display_name, ''), a.name) as account, t.category_id, t.category_source,
			x.id as counterparty_id, coalesce(x.name, '') as counterparty, d.payee, sign(t.amount)::int as direction
		from transaction t join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id
			cross join (values ('name')) w (field)
			left join counterparty x on x.id = t.counterparty_id and t.counterparty_source <> 'agent' and `+notByAgents+`
		where t.id = any($1) and t.deleted_at is null and `+journal.Leaf, ids)
	out := make(map[id.ID]sheetFact, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, err
}

// A decided is an earlier decision for a payee.
type decided struct {
	Place int            `db:"place"`
	ID    id.ID          `db:"id"`
	Name  text.Untrusted `db:"name"`
	Who   string         `db:"who"`
	Times int            `db:"times"`
}

// readPrecedents returns the earlier decisions for the payees of a sheet, people's decisions first.
// The rows of the sheet itself are not precedents.
func readPrecedents(ctx context.Context, q pg.Querier, w workflow.Worklist, facts map[id.ID]sheetFact, rows [][]id.ID,
	slugs map[id.ID]string,
) (map[payeeKey][]precedent, error) {
	var keys []payeeKey
	var places, directions []int
	var payees []*int64
	var counterparties []*id.ID
	place := map[payeeKey]bool{}
	for _, f := range facts {
		k := f.key()
		if place[k] || k.counterparty.IsZero() && k.payee == 0 {
			continue
		}
		place[k] = true
		places, keys, directions = append(places, len(keys)), append(keys, k), append(directions, k.direction)
		if k.counterparty.IsZero() {
			payees, counterparties = append(payees, &k.payee), append(counterparties, nil)
		} else {
			payees, counterparties = append(payees, nil), append(counterparties, &k.counterparty)
		}
	}
	read := precedingCategories
	if !w.Decides(workflow.SetsCategory) {
		read = precedingCounterparties
	}
	if !w.Decides(workflow.SetsCategory) && !w.Decides(workflow.SetsCounterparty) {
		return nil, nil //nolint:nilnil // a look-up in it finds nothing
	}
	found, err := read(ctx, q, places, payees, counterparties, directions, slices.Concat(rows...))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b decided) int {
		return cmp.Or(cmp.Compare(b.Who, a.Who), cmp.Compare(b.Times, a.Times), a.ID.Compare(b.ID))
	})
	out := map[payeeKey][]precedent{}
	for _, d := range found {
		k, what := keys[d.Place], cut(d.Name, merchantBytes)
		if w.Decides(workflow.SetsCategory) {
			what = slugs[d.ID]
		}
		if what != "" && len(out[k]) < mostBefore {
			out[k] = append(out[k], precedent{what, d.Times, d.Who})
		}
	}
	return out, nil
}

// precedingCategories counts categories. A payee can have tens of thousands of wordings, and a
// wording tens of thousands of transactions, so only the newest of both are read. People's
// decisions are rare and have their own index, so more rows are searched for them.
func precedingCategories(ctx context.Context, q pg.Querier, places []int, payees []*int64, counterparties []*id.ID,
	directions []int, sheet []id.ID,
) ([]decided, error) {
	return pg.All[decided](ctx, q, `
		select k.place, x.category_id as id, '' as name, x.who, count(*)::int as times
		from unnest($1::int[], $2::bigint[], $3::uuid[], $4::int[]) k (place, payee, counterparty_id, direction)
		cross join lateral (
			select p.id, p.category_id, 'user' as who
			from (select v.id from descriptor v where v.payee = k.payee order by v.id desc limit 100) v
				cross join lateral (select t.id, t.category_id from transaction t
					where t.descriptor_id = v.id and t.deleted_at is null and t.category_source = 'user' and `+journal.Ruled+`
						and sign(t.amount) = k.direction order by t.date desc limit 5) p
			union all
			select p.id, p.category_id, 'rule'
			from (select v.id from descriptor v where v.payee = k.payee order by v.id desc limit 20) v
				cross join lateral (select t.id, t.category_id, t.category_source, t.amount from transaction t
					where t.descriptor_id = v.id and t.deleted_at is null and `+journal.Ruled+`
					order by t.date desc, t.id desc limit 5) p
			where p.category_source = 'rule' and sign(p.amount) = k.direction
			union all
			select p.id, p.category_id, p.category_source
			from (select t.id, t.category_id, t.category_source, t.amount from transaction t
				where t.counterparty_id = k.counterparty_id and t.deleted_at is null and `+journal.Ruled+`
				order by t.date desc, t.id desc limit 100) p
			where p.category_source in ('user', 'rule') and sign(p.amount) = k.direction) x
		where x.category_id is not null and x.id <> all($5)
		group by 1, 2, 4`, places, payees, counterparties, directions, sheet)
}

// precedingCounterparties counts the counterparties that people assigned to a payee.
func precedingCounterparties(ctx context.Context, q pg.Querier, places []int, payees []*int64, _ []*id.ID,
	directions []int, sheet []id.ID,
) ([]decided, error) {
	return pg.All[decided](ctx, q, `
		select k.place, x.id, x.name, 'user' as who, count(*)::int as times
		from unnest($1::int[], $2::bigint[], $3::int[]) k (place, payee, direction)
			cross join lateral (select v.id from descriptor v where v.payee = k.payee order by v.id desc limit 50) v
			cross join lateral (select t.id, t.counterparty_id, t.counterparty_source, t.amount from transaction t
				where t.descriptor_id = v.id and t.deleted_at is null and `+journal.Ruled+`
				order by t.date desc, t.id desc limit 10) p
			join counterparty x on x.id = p.counterparty_id cross join (values ('name')) w (field)
		where p.counterparty_source = 'user' and sign(p.amount) = k.direction and p.id <> all($4) and `+notByAgents+`
		group by 1, 2, 3`, places, payees, directions, sheet)
}
