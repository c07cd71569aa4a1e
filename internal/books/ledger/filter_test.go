package ledger

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Each filter matches the same rows as SQL written by hand, in the list and in the count, alone and
// with a search, for live and deleted rows.
func TestFiltersMeanWhatTheySay(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 2000)
	ctx := as(t.Context(), op.User)
	for _, s := range []string{
		`insert into counterparty (id, short_id, name) values ('019a3c5e-4000-7000-8000-0000000000aa', 'cpcpcpcp', 'Grocer')`,
		`update transaction set counterparty_id = '019a3c5e-4000-7000-8000-0000000000aa', counterparty_source = 'user'
			where hashtext(id::text) % 7 = 0`,
		`update transaction set category_source = 'user' where category_id is not null and hashtext(id::text) % 5 = 0`,
		`update transaction set excluded = true where hashtext(id::text) % 11 = 0`,
		`update transaction set transfer = true where hashtext(id::text) % 13 = 0`,
		`insert into comment (id, short_id, transaction_id, author_type, author_name, content, deleted_at)
			select gen_random_uuid(), left(md5(id::text), 8), id, 'user', 'Ada', 'x',
				case when hashtext(id::text) % 2 = 0 then now() end
			from transaction where hashtext(id::text) % 17 = 0`,
	} {
		if _, err := db.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	one, err := pg.One[struct {
		ID       id.ID  `db:"id"`
		Short    string `db:"short_id"`
		Bound    string `db:"bound"`
		Payee    id.Key `db:"payee"`
		Merchant string `db:"merchant"`
	}](ctx, db, `
		select t.id, t.short_id, d.payee, coalesce(nullif(d.merchant_name, ''), d.name) as merchant,
			(select b.short_id from transaction b where b.counterparty_id is not null and b.amount > 0 limit 1) as bound
		from transaction t join descriptor d on d.id = t.descriptor_id
		where t.counterparty_id is null and t.amount > 0
		order by (select count(*) from transaction x join descriptor y on y.id = x.descriptor_id
			where y.payee = d.payee) desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	if len(filterTruths(one.Short, one.Bound, one.Merchant, one.Payee)) < 18 {
		t.Error("filters are missing")
	}
	for name, c := range filterTruths(one.Short, one.Bound, one.Merchant, one.Payee) {
		for _, search := range []*string{nil, new("e")} {
			f := c.filter
			f.Search = search
			condition := c.sql
			if search != nil {
				condition = "(" + condition + ") and (" + contains("e") + ")"
			}
			want, err := pg.Values[id.ID](ctx, db, `select t.id from transaction t join descriptor d on d.id = t.descriptor_id
				where t.deleted_at is null and (`+condition+`) order by t.date desc, t.id desc`)
			if err != nil {
				t.Fatal(name, err)
			}
			if got := walk(ctx, t, b, ListTransactions{Filter: f, Limit: 500}, nil); !slices.Equal(got, want) {
				t.Errorf("%s: %d listed, want %d", name, len(got), len(want))
			}
			if n, err := b.Count(ctx, db, f); err != nil || int(n.Count) != len(want) {
				t.Errorf("%s: %d counted, want %d (%v)", name, n.Count, len(want), err)
			}
			if search == nil && len(want) == 0 {
				t.Errorf("%s: finds nothing, so the test proves nothing", name)
			}
		}
	}
}

// contains is the SQL for a word in any text that a transaction is shown with.
func contains(word string) string {
	return strings.ReplaceAll(`d.folded like '%e%' or exists (select from category c where c.id = t.category_id and lower(c.display_name) like '%e%')
		or exists (select from account a where a.id = t.account_id and lower(coalesce(nullif(a.display_name, ''), a.name)) like '%e%')
		or exists (select from counterparty p where p.id = t.counterparty_id and lower(p.name) like '%e%')
		or exists (select from transaction_tag tt join tag g on g.id = tt.tag_id where tt.transaction_id = t.id and tt.present
			and g.slug like '%e%')`, "%e%", "%"+word+"%")
}

type filterTruth struct {
	filter Filter
	sql    string
}

// filterTruths returns filters and the SQL that they stand for. The transaction named by one has no
// counterparty, and the one named by bound has one.
func filterTruths(one, bound, merchant string, payee id.Key) map[string]filterTruth {
	const held = "coalesce(t.category_source = 'user', false) or coalesce(t.counterparty_source = 'user', false)"
	const commented = "t.id in (select transaction_id from comment where deleted_at is null)"
	const food = "(select id from category where slug = 'food_and_drink' or parent_id = (select id from category where slug = 'food_and_drink'))"
	ofPayee := "d.payee = (select y.payee from transaction x join descriptor y on y.id = x.descriptor_id where x.short_id = '" +
		one + "')"
	out := map[string]filterTruth{
		"categories": {
			Filter{Category: []string{"food_and_drink", "home_rent", "food_and_drink_groceries"}},
			"t.category_id in " + food + " or t.category_id = (select id from category where slug = 'home_rent')",
		},
		"exclude category": {
			Filter{ExcludeCategory: []string{"food_and_drink"}},
			"t.category_id is null or t.category_id not in " + food,
		},
		"source":          {Filter{CategorySource: new("user")}, "t.category_source = 'user'"},
		"no counterparty": {Filter{CounterpartyID: new("none")}, "t.counterparty_id is null"},
		"counterparty":    {Filter{CounterpartyID: new("019a3c5e-4000-7000-8000-0000000000aa")}, "t.counterparty_id is not null"},
		"payee":           {Filter{Payee: new(payee.String())}, ofPayee},
		"similar": {
			Filter{SimilarTo: &one},
			ofPayee + " and t.amount > 0",
		},
		"amount":                  {Filter{Amount: new("10..40")}, "abs(t.amount) between 10 and 40"},
		"amount out":              {Filter{Amount: new(">-50,00")}, "t.amount > 50"},
		"amount in":               {Filter{Amount: new("<+1.000")}, "t.amount < 0 and t.amount > -1000"},
		"similar by counterparty": {Filter{SimilarTo: &bound}, "t.counterparty_id is not null and t.amount > 0"},
		"ids":                     {Filter{IDs: []string{one, bound, one}}, "t.short_id in ('" + one + "', '" + bound + "')"},
	}
	maps.Copy(out, map[string]filterTruth{
		"merchant": {Filter{Merchant: &merchant}, "coalesce(nullif(d.merchant_name, ''), d.name) = (select coalesce(nullif(y.merchant_name, ''), y.name) " +
			"from transaction x join descriptor y on y.id = x.descriptor_id where x.short_id = '" + one + "')"},
		"both": {
			Filter{Category: []string{"food_and_drink"}, Held: new(true), Excluded: new(false)},
			"t.category_id in " + food + " and not t.excluded and (" + held + ")",
		},
	})
	for _, yes := range []bool{true, false} {
		name, not := " not", "not "
		if yes {
			name, not = "", ""
		}
		out["held"+name] = filterTruth{Filter{Held: &yes}, not + "(" + held + ")"}
		out["comments"+name] = filterTruth{Filter{HasComments: &yes}, not + "(" + commented + ")"}
		out["transfer"+name] = filterTruth{Filter{Transfer: &yes}, not + "t.transfer"}
		out["excluded"+name] = filterTruth{Filter{Excluded: &yes}, not + "t.excluded"}
	}
	return out
}

// FillPayees gives wordings without a payee the payee that they would have been stored with. It
// works in batches.
func TestFillPayees(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 500)
	const sum = `select md5(string_agg(concat(id, ' ', form, ' ', payee), ',' order by id)) from descriptor`
	before, err := pg.Value[string](t.Context(), db, sum)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `update descriptor set form = null, payee = null`); err != nil {
		t.Fatal(err)
	}
	n, err := b.FillPayees(t.Context())
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if after, err := pg.Value[string](t.Context(), db, sum); err != nil || after != before {
		t.Errorf("filled in %s, want %s as stored (%v)", after, before, err)
	}
	if n, err := b.FillPayees(t.Context()); err != nil || n != 0 {
		t.Errorf("filled %d again (%v)", n, err)
	}
}
