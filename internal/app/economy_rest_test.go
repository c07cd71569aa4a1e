package app_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/accountlink"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// owner returns the member who owns an account.
func owner(h *household.Household, account int) int {
	if a := h.Accounts[account]; a.Owner != household.None {
		return a.Owner
	}
	return h.Connections[h.Accounts[account].Connection].Member
}

// filed returns how many rows of the generated household the seeded mapping puts into each
// category.
func (w *toolWorld) filed(t *testing.T, h *household.Household) map[string]int {
	t.Helper()
	type mapping struct {
		Provider string `db:"provider"`
		Primary  string `db:"raw_primary"`
		Detailed string `db:"raw_detailed"`
		Slug     string `db:"slug"`
	}
	list, err := pg.All[mapping](t.Context(), w.DB, `select m.provider, m.raw_primary, m.raw_detailed, c.slug
		from category_mapping m join category c on c.id = m.category_id`)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, m := range list {
		by[m.Provider+"/"+m.Primary+"/"+m.Detailed] = m.Slug
	}
	out := map[string]int{}
	for row := range h.Transactions() {
		from := h.Provider(row.AccountIndex) + "/" + row.RawPrimary.Plain() + "/"
		if slug, ok := by[from+row.RawDetailed.Plain()]; ok {
			out[slug]++
		} else if slug, ok := by[from]; ok {
			out[slug]++
		}
	}
	return out
}

// Further jobs that households ask for, beside those of TestEconomyOfJobs. The result of each is
// compared with the generator's data.
func TestEconomyOfWritingJobs(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	end := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	made := household.New(household.Options{Seed: 1, Transactions: 6_000, Years: 2, End: end})
	if err := w.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	w.confirmLinks(t)
	a := &assistant{t: t, session: w.connect(t, w.key, modernEra)}

	w.ruleForOne(t, a, made)
	w.monthReported(t, a, made)
	w.categoriesMerged(t, a, made)
	w.merchantLinked(t, a, made)
}

// confirmLinks has a person confirm every link that the matcher proposes.
func (w *toolWorld) confirmLinks(t *testing.T) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "Anna", Scope: op.Full})
	in := func(f func(context.Context, pg.Tx) error) {
		t.Helper()
		if err := w.DB.InTx(ctx, func(tx pg.Tx) error { return f(ctx, tx) }); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(ctx context.Context, tx pg.Tx) error { _, err := w.Links.Sweep(ctx, tx); return err }
	in(sweep)
	list, err := w.Links.List(ctx, w.DB, accountlink.ListLinks{Limit: 50})
	if err != nil || len(list.AccountLinks) == 0 {
		t.Fatalf("no link is proposed: %v", err)
	}
	for _, l := range list.AccountLinks {
		in(func(ctx context.Context, tx pg.Tx) error {
			_, err := w.Links.Put(ctx, tx, accountlink.PutLink{ID: l.ShortID, Confidence: accountlink.Confirmed})
			return err
		})
	}
	in(sweep)
}

// counted returns the number of transactions that a filter finds.
func (a *assistant) counted(filter map[string]any) int {
	a.t.Helper()
	filter["count_only"] = true
	return int(a.call("query_transactions", filter)["count"].(float64))
}

// ruleForOne: "tag what Anna spends at this shop, but not what Jonas does".
func (w *toolWorld) ruleForOne(t *testing.T, a *assistant, made *household.Household) {
	t.Helper()
	hers, others := map[string]int{}, map[string]int{}
	for row := range made.Transactions() {
		if owner(made, row.AccountIndex) == 0 {
			hers[row.MerchantName.Plain()]++
		} else {
			others[row.MerchantName.Plain()]++
		}
	}
	shop := ""
	for name, n := range hers {
		if name != "" && others[name] > 0 && (n > hers[shop] || shop == "" || n == hers[shop] && name < shop) {
			shop = name
		}
	}
	want := hers[shop]
	member := ""
	for _, u := range a.list("list_users") {
		if one := u.(map[string]any); one["name"] == made.Members[0].Name {
			member = one["id"].(string)
		}
	}
	conditions := map[string]any{"and": []any{
		map[string]any{"field": "merchant_name", "op": "eq", "value": shop},
		map[string]any{"field": "user_id", "op": "eq", "value": member},
	}}
	if got := a.call("preview_rule", map[string]any{"conditions": conditions, "sample_size": 3})["match_count"]; got != float64(want) {
		t.Errorf("a preview finds %v of %s, and the household made %d (and %d of others)", got, shop, want, others[shop])
	}
	a.call("create_transaction_rule", map[string]any{"rules": []any{map[string]any{
		"name": "her " + shop, "conditions": conditions, "apply_retroactively": true,
		"actions": []any{map[string]any{"type": "add_tag", "tag_slug": "hers"}},
	}}})
	if got := a.counted(map[string]any{"tags": []string{"hers"}}); got != want {
		t.Errorf("%d transactions have the tag, want %d", got, want)
	}
	a.spent("a rule for one member", 4, 500)
}

// monthReported: "write the report for June".
func (w *toolWorld) monthReported(t *testing.T, a *assistant, made *household.Household) {
	t.Helper()
	type sum struct{ in, out int64 } // in cents
	want := map[string]sum{}
	for row := range made.Transactions() {
		if row.Date.Format("2006-01") != "2026-06" || made.Accounts[row.AccountIndex].MirrorOf != household.None {
			continue
		}
		s := want[string(row.Currency)]
		if cents := row.Amount.Cents(); cents < 0 {
			s.in -= cents
		} else {
			s.out += cents
		}
		want[string(row.Currency)] = s
	}
	month := map[string]any{"start_date": "2026-06-01", "end_date": "2026-06-30", "compare": "previous_period"}
	with := func(more map[string]any) map[string]any {
		maps.Copy(more, month)
		return more
	}
	a.call("get_overview", nil)
	a.call("transaction_summary", with(map[string]any{"group_by": []string{"primary_category"}, "limit": 10}))
	a.call("transaction_summary", with(map[string]any{"group_by": []string{"payee"}, "sort_by": "change", "limit": 8}))
	all := a.call("transaction_summary", with(map[string]any{"include": []string{"transfers"}}))
	a.call("find_patterns", map[string]any{"kind": "price_change", "start_date": "2026-06-01"})
	a.call("find_patterns", map[string]any{"kind": "unusual", "start_date": "2026-06-01", "limit": 10})
	var body strings.Builder
	for _, one := range all["totals"].([]any) {
		total := one.(map[string]any)
		currency := total["iso_currency_code"].(string)
		got := fmt.Sprintf("%.2f %.2f", total["money_in"], total["money_out"])
		if truth := fmt.Sprintf("%.2f %.2f", float64(want[currency].in)/100, float64(want[currency].out)/100); got != truth {
			t.Errorf("June in %s: %s, and the household made %s", currency, got, truth)
		}
		delete(want, currency)
		fmt.Fprintf(&body, "- %s: %s\n", currency, got)
	}
	if len(want) > 0 {
		t.Errorf("June lacks %v", want)
	}
	a.call("submit_report", map[string]any{"title": "June 2026", "body": body.String(), "kind": "monthly"})
	a.spent("a monthly report", 8, 4_500)
}

// categoriesMerged: "call Groceries Food at home, and put takeaway into restaurants".
func (w *toolWorld) categoriesMerged(t *testing.T, a *assistant, made *household.Household) {
	t.Helper()
	filed := w.filed(t, made)
	const from, into = "food_and_drink_takeaway", "food_and_drink_restaurants"
	if filed[from] == 0 || filed[into] == 0 {
		t.Fatalf("nothing to merge: %v", filed)
	}
	if got := a.counted(map[string]any{"category": []string{from}}); got != filed[from] {
		t.Errorf("%s has %d transactions, and the household made %d", from, got, filed[from])
	}
	a.text("export_categories", nil)
	tsv := "slug\tdisplay_name\tmerge_into\nfood_and_drink_groceries\tFood at home\t\n" +
		from + "\tFast Food and Takeaway\t" + into + "\n"
	if would := a.call("import_categories", map[string]any{"tsv": tsv, "dry_run": true}); would["merged"] != float64(1) ||
		would["updated"] != float64(1) {
		t.Errorf("a dry run: %v", would)
	}
	a.call("import_categories", map[string]any{"tsv": tsv})
	if got := a.counted(map[string]any{"category": []string{into}}); got != filed[from]+filed[into] {
		t.Errorf("%s has %d transactions, want %d and %d", into, got, filed[from], filed[into])
	}
	a.spent("categories renamed and merged", 5, 3_000)
}

// merchantLinked: "these 60 and more are all one shop".
func (w *toolWorld) merchantLinked(t *testing.T, a *assistant, made *household.Household) {
	t.Helper()
	counts, shop := map[string]int{}, ""
	for row := range made.Transactions() {
		counts[row.MerchantName.Plain()]++
	}
	for name, n := range counts {
		if name != "" && n >= 60 && (shop == "" || n < counts[shop] || n == counts[shop] && name < shop) {
			shop = name
		}
	}
	if shop == "" {
		t.Fatal("no shop has 60 transactions")
	}
	first := a.call("query_transactions", map[string]any{"merchant": shop, "limit": 1, "fields": "minimal"})
	one := first["transactions"].([]any)[0].(map[string]any)["id"]
	linked := a.call("assign_counterparty", map[string]any{"name": shop + " Linked", "transaction_ids": []any{one}})
	counterparty := linked["id"]
	all := map[string]any{
		"filter": map[string]any{"merchant": shop, "counterparty_id": "none"}, "dry_run": true,
		"set": map[string]any{"counterparty_id": counterparty},
	}
	all["expect"] = a.call("update_transactions", all)["matched"]
	delete(all, "dry_run")
	a.call("update_transactions", all)
	if got := a.counted(map[string]any{"counterparty_id": counterparty}); got != counts[shop] {
		t.Errorf("%d transactions are linked to %s, and the household made %d", got, shop, counts[shop])
	}
	a.spent(fmt.Sprintf("%d linked to a merchant", counts[shop]), 5, 800)
}
