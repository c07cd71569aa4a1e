package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/all"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// walk reads a list to its end, page by page.
func walk(ctx context.Context, t testing.TB, b *Books, in ListTransactions, between func()) []id.ID {
	t.Helper()
	var seen []id.ID
	for {
		page, err := b.Transactions(ctx, b.db, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Transactions {
			seen = append(seen, r.ID)
		}
		if !page.HasMore {
			return seen
		}
		in.Cursor = page.NextCursor
		if between != nil {
			between()
		}
	}
}

func filters(t testing.TB, db *pg.DB) map[string]Filter {
	t.Helper()
	day := func(s string) *pg.Date {
		d, err := pg.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	account, err := pg.Value[string](t.Context(), db, `select short_id from account order by id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Filter{
		"none":           {},
		"account":        {AccountID: []string{account}},
		"provider":       {Provider: new(all.Keeper("plaid"))},
		"category":       {Category: []string{"food_and_drink_groceries"}},
		"primary":        {Category: []string{"food_and_drink"}},
		"uncategorized":  {Uncategorized: new(true)},
		"categorized":    {Uncategorized: new(false)},
		"dates":          {StartDate: day("2026-01-01"), EndDate: day("2026-03-31")},
		"money in":       {Direction: new("in")},
		"money out":      {Direction: new("out")},
		"search":         {Search: new("lidl")},
		"search several": {Search: new("rewe, lidl")},
		"search common":  {Search: new("e")},
		"words":          {Search: new("lidl berlin"), SearchMode: "words"},
		"fuzzy":          {Search: new("starbuks"), SearchMode: "fuzzy"},
		"exclude search": {ExcludeSearch: new("lidl")},
		"tag":            {Tags: []string{"needs-review"}},
		"not tag":        {ExcludeTag: []string{"needs-review"}},
		"any tag":        {AnyTag: []string{"needs-review"}},
		"pending":        {Pending: new(true)},
		"currency":       {Currency: new(currency("USD"))},
		"both":           {Category: []string{"food_and_drink"}, Direction: new("out"), Search: new("a")},
	}
}

// Under every filter and in both orders, reading page by page finds each transaction that exists
// throughout exactly once, while others are added and deleted.
func TestWalksMissNothingAndRepeatNothing(t *testing.T) { //nolint:tparallel // the walks disturb each other's rows and clean up after themselves
	t.Parallel()
	b, db := filledBooks(t, 3000)
	ctx := as(t.Context(), op.User)
	if _, err := db.Exec(ctx, `
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from transaction t, tag g
			where g.slug = 'needs-review' and hashtext(t.id::text) % 3 = 0`); err != nil {
		t.Fatal(err)
	}
	for name, f := range filters(t, db) { //nolint:paralleltest // see above
		for _, order := range []string{"asc", "desc"} {
			t.Run(name+" "+order, func(t *testing.T) {
				in := ListTransactions{Filter: f, SortOrder: &order, Limit: 50}
				all := walk(ctx, t, b, in, nil)
				if n, err := b.Count(ctx, db, f); err != nil || int(n.Count) != len(all) {
					t.Fatalf("%d walked, %d counted (%v)", len(all), n.Count, err)
				}
				if len(all) == 0 {
					t.Fatal("the filter finds nothing, so the test proves nothing")
				}
				// Every fifth row is deleted and copies of other rows are added while the list is
				// being read.
				doomed := map[id.ID]bool{}
				for i := 0; i < len(all); i += 5 {
					doomed[all[i]] = true
				}
				n := 0
				seen := walk(ctx, t, b, in, func() {
					n++
					disturb(ctx, t, db, n, doomed)
				})
				count := map[id.ID]int{}
				for _, u := range seen {
					count[u]++
				}
				for u, n := range count {
					if n > 1 {
						t.Errorf("%s was listed %d times", u.Short(), n)
					}
				}
				for _, u := range all {
					if !doomed[u] && count[u] == 0 {
						t.Errorf("%s was missed", u.Short())
					}
				}
				if _, err := db.Exec(ctx, `delete from transaction where provider_id like 'disturb %'`); err != nil {
					t.Fatal(err)
				}
				if _, err := db.Exec(ctx, `update transaction set deleted_at = null
					where deleted_at is not null`); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// disturb deletes some of the doomed and inserts copies of other rows all over the list.
func disturb(ctx context.Context, t testing.TB, db *pg.DB, round int, doomed map[id.ID]bool) {
	t.Helper()
	var some []id.ID
	for u := range doomed {
		if some = append(some, u); len(some) == 3 {
			break
		}
	}
	if _, err := db.Exec(ctx, `update transaction set deleted_at = now() where id = any($1)`, some); err != nil {
		t.Fatal(err)
	}
	rows, err := pg.All[struct {
		ID id.ID `db:"id"`
	}](ctx, db, `select id from transaction where provider_id not like 'disturb %' order by random() limit 2`)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		u := id.New()
		if _, err := db.Exec(ctx, `
			insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
				category_id, category_source, pending)
			select $1, $2, account_id, $3, date, amount, currency, descriptor_id, category_id, category_source,
				pending from transaction where id = $4`,
			u, u.Short(), fmt.Sprintf("disturb %d %d %s", round, i, u), r.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A search is literal: % and _ have no special meaning, case does not matter, and a comma means or.
func TestSearchIsLiteral(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 10)
	ctx := as(t.Context(), op.User)
	names := []string{
		"STARBUCKS #1123", "100% Pure", "a_b", "axb", `back\slash`, "Müller Größe", "ΑΣ Ⅷ",
		"Tᴇst \u212aelvin",
	}
	for i, n := range names {
		u := id.New()
		if _, err := db.Exec(ctx, `with d as (insert into descriptor (name, merchant_name, folded)
			values ($3, '', $5) returning id)
			insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
			select $1, $2, (select id from account limit 1), $4, '2026-06-01', 1, 'EUR', d.id
				from d`, u, u.Short(), n, fmt.Sprint("search ", i), folded(text.Name(n), "", "")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		mode, search string
		want         []string
	}{
		{"contains", "starbucks", []string{"STARBUCKS #1123"}},
		{"contains", "100%", []string{"100% Pure"}},
		{"contains", "%", []string{"100% Pure"}},
		{"contains", "a_b", []string{"a_b"}},
		{"contains", `k\s`, []string{`back\slash`}},
		{"contains", "a_b,axb", []string{"a_b", "axb"}},
		{"contains", "MÜLLER", []string{"Müller Größe"}},
		{"contains", "ας ⅷ", []string{"ΑΣ Ⅷ"}},
		{"contains", "KELVIN", []string{"Tᴇst \u212aelvin"}},
		{"words", "kelvin ᴇST", []string{"Tᴇst \u212aelvin"}},
		{"fuzzy", "MÜLLER GRÖẞE", []string{"Müller Größe"}},
		{"words", "1123 star", []string{"STARBUCKS #1123"}},
		{"words", "pure 100%", []string{"100% Pure"}},
		{"fuzzy", "starbuks", []string{"STARBUCKS #1123"}},
	} {
		page, err := b.Transactions(ctx, db, ListTransactions{
			Filter: Filter{Search: &c.search, SearchMode: c.mode},
			Limit:  500,
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range page.Transactions {
			if slices.Contains(names, r.Name.Plain()) {
				got = append(got, r.Name.Plain())
			}
		}
		slices.Sort(got)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s %q found %v, want %v", c.mode, c.search, got, c.want)
		}
	}
}
