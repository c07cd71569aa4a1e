package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/ledger"
	"coffer/internal/people/auth"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// extras adds payments that errands ask about, and confirms the links between accounts.
func (e *errand) extras() {
	e.t.Helper()
	e.rows = nil
	day := func(days int) time.Time { return e.today.AddDate(0, 0, -days) }
	for i := range 4 {
		e.put("Giro", "RED CROSS DONATION", day(20+i*47), 25_00+int64(i)*100)
		e.put("Card", fmt.Sprintf("PHARMACY %d AT THE GATE", 100+i), day([]int{11, 25, 70, 103}[i]), 17_30+int64(i)*210)
		e.put("Giro", fmt.Sprintf("LAKESIDE COTTAGE PART %d", i), day(40+i), 210_00+int64(i)*5)
		e.put("Card", fmt.Sprintf("KAUFMARKT %d", 4400+i), day(3+i*2), 61_10+int64(i)*3)
	}
	for i := range 5 {
		e.put("Card", "IRON GYM", e.day(2, -i), 39_00)
		e.put("Giro", "HOME INSURANCE ALPHA", e.day(6, -i), 14_50)
		e.put("Giro", "CAR INSURANCE OMEGA", e.day(7, -i), 61_00)
	}
	for i := range e.rows {
		e.rows[i].ProviderID = fmt.Sprint("extra ", i)
	}
	e.rows = slices.DeleteFunc(e.rows, func(r ledger.Incoming) bool { return r.Date.Time().After(e.today) })
	e.load()
}

// value returns the result of an SQL query as text.
func (e *errand) value(sql string, args ...any) string {
	e.t.Helper()
	v, err := pg.Value[string](e.t.Context(), e.DB, sql, args...)
	if err != nil {
		e.t.Fatal(err)
	}
	return v
}

// same compares an amount in a result with another.
func (e *errand) same(what string, got any, want string) {
	e.t.Helper()
	if said := money.MustParse(fmt.Sprint(got)).String(); said != want {
		e.t.Errorf("%s is %s, want %s", what, said, want)
	}
}

// leaves selects the transactions that totals count.
const leaves = ` from transaction t where t.deleted_at is null and not t.is_split and not t.excluded and not t.transfer`

// TestErrands runs jobs that need several questions. SQL gives the expected results, and the cost
// is limited.
func TestErrands(t *testing.T) {
	t.Parallel()
	e := newErrand(t)
	e.extras()
	e.calls, e.bytes = 0, 0

	links := e.call("list_account_links", map[string]any{"confidence": "auto"})["account_links"].([]any)
	for _, l := range links {
		e.call("review_account_link", map[string]any{"id": l.(map[string]any)["id"], "confidence": "confirmed"})
	}
	e.spent("decide about proposed links", 3, 700)
	if n := e.value(`select count(*)::text from transaction where transfer`); n != e.value(`
		select count(*)::text from transaction t join descriptor d on d.id = t.descriptor_id
		where d.name in ('CARD BILL 4421', 'PAYMENT RECEIVED THANK YOU', 'STANDING ORDER SAVINGS', 'FROM GIRO')`) {
		t.Errorf("%s rows are transfers", n)
	}
	e.look()
	for _, job := range []func(){
		e.quarters, e.tax, e.begun, e.receipts, e.holiday, e.payees, e.insured, e.rulesAhead,
	} {
		job()
	}
}

func (e *errand) quarters() {
	e.t.Helper()
	start, end := e.today.AddDate(0, 0, -89).Format(time.DateOnly), e.today.Format(time.DateOnly)
	got := e.call("transaction_summary", map[string]any{
		"group_by": []string{"payee"}, "start_date": start, "end_date": end, "compare": "previous_period",
		"sort_by": "change", "limit": 5,
	})
	e.spent("a quarter against the last, drivers", 1, 1_600)
	total := got["totals"].([]any)[0].(map[string]any)
	const out = `select coalesce(sum(t.amount) filter (where t.amount > 0), 0)::numeric(12,2)::text` + leaves +
		` and t.date between $1::text::date and $2::text::date`
	e.same("what went out", total["money_out"], e.value(out, start, end))
	before := total["previous"].(map[string]any)["money_out"]
	e.same("what went out before", before, e.value(out, e.today.AddDate(0, 0, -179).Format(time.DateOnly),
		e.today.AddDate(0, 0, -90).Format(time.DateOnly)))
	if said := fmt.Sprint(got["groups"]); strings.Contains(said, "CARD BILL") || strings.Contains(said, "STANDING") {
		e.t.Errorf("a transfer is a driver: %s", said)
	}
}

func (e *errand) tax() {
	e.t.Helper()
	e.call("create_tag", map[string]any{"slug": "tax"})
	for _, search := range []string{"donation", "pharmacy"} {
		bulk := map[string]any{"filter": map[string]any{"search": search}, "set": map[string]any{"tags_to_add": []string{"tax"}}}
		bulk["dry_run"] = true
		matched := e.call("update_transactions", bulk)["matched"]
		delete(bulk, "dry_run")
		bulk["expect"] = 99
		if res := callTool(e.t, e.session, "update_transactions", bulk); !res.IsError {
			e.t.Error("a wrong count was taken")
		}
		bulk["expect"] = matched
		e.call("update_transactions", bulk)
	}
	e.spent("tag what matters for tax", 5, 2_500)
	if n := e.value(`select count(*)::text from transaction_tag x join tag g on g.id = x.tag_id
		join transaction t on t.id = x.transaction_id join descriptor d on d.id = t.descriptor_id
		where g.slug = 'tax' and x.present and (d.name like '%DONATION%' or d.name like 'PHARMACY%')`); n != "8" {
		e.t.Errorf("%s are tagged, want 8", n)
	}
}

func (e *errand) begun() {
	e.t.Helper()
	since := e.today.AddDate(0, 0, -200).Format(time.DateOnly)
	got := e.call("find_patterns", map[string]any{"kind": "recurring", "start_date": since})
	e.spent("what began lately, and a year of it", 1, 600)
	said := fmt.Sprint(got["patterns"])
	for _, name := range []string{"Iron Gym", "Alpha", "Omega"} {
		if !strings.Contains(said, name) {
			e.t.Errorf("%s is missing: %s", name, said)
		}
	}
	if n := len(got["patterns"].([]any)); n != 3 {
		e.t.Errorf("%d began: %s", n, said)
	}
	e.same("a year", got["yearly"].([]any)[0].(map[string]any)["money_out"], "1374.00") // 12 × 114.50
}

func (e *errand) receipts() {
	e.t.Helper()
	rows := e.call("query_transactions", map[string]any{
		"search": "kaufmarkt", "fields": "date,amount", "format": "table",
	})["rows"].([]any)
	for _, r := range rows {
		id, cents := r.([]any)[0], money.MustParse(fmt.Sprint(r.([]any)[2])).Cents()
		part, err := money.FromCents((cents*3 + 5) / 10)
		if err != nil {
			e.t.Fatal(err)
		}
		e.call("split_transaction", map[string]any{"transaction_id": id, "parts": []map[string]any{
			{"category": "food_and_drink_groceries"}, {"amount": part, "category": "shopping_online_marketplaces"},
		}})
	}
	e.spent("split four receipts 70/30", 5, 2_600)
	if n := e.value(`select count(*) || ' ' || count(*) filter (where p.sum = t.amount and p.n = 2) from transaction t
		join lateral (select sum(x.amount) as sum, count(*) as n from transaction x where x.parent_id = t.id
			and x.deleted_at is null) p on true where t.is_split`); n != "4 4" {
		e.t.Errorf("split, and whole: %s", n)
	}
}

func (e *errand) holiday() {
	e.t.Helper()
	got := e.call("transaction_summary", map[string]any{"search": "lakeside", "group_by": []string{"account"}})
	e.spent("what the holiday cost, by who paid", 1, 400)
	e.same("the holiday", got["totals"].([]any)[0].(map[string]any)["money_out"], e.value(`select sum(t.amount)::text
		from transaction t join descriptor d on d.id = t.descriptor_id where d.name like 'LAKESIDE%'`))
}

func (e *errand) payees() {
	e.t.Helper()
	rows := e.call("query_transactions", map[string]any{"search": "pharmacy", "fields": "minimal"})["transactions"].([]any)
	var ids []any
	for _, r := range rows {
		ids = append(ids, r.(map[string]any)["id"])
	}
	got := e.call("assign_counterparty", map[string]any{"name": "Gate Pharmacy", "transaction_ids": ids})
	e.spent("one name for a payee", 2, 700)
	if fmt.Sprint(got["linked"]) != "4" {
		e.t.Errorf("linked %v", got["linked"])
	}
}

func (e *errand) insured() {
	e.t.Helper()
	twice := e.call("find_patterns", map[string]any{"kind": "duplicate"})
	got := e.call("transaction_summary", map[string]any{"search": "insurance", "group_by": []string{"payee"}})
	e.spent("are we insured twice", 2, 600)
	if n := len(got["groups"].([]any)); n != 2 || strings.Contains(fmt.Sprint(twice["patterns"]), "Insurance") {
		e.t.Errorf("%d insurers, double charges %v", n, twice["patterns"])
	}
}

func (e *errand) rulesAhead() {
	e.t.Helper()
	stop := e.work(e.t)
	defer stop()
	made := e.call("create_transaction_rule", map[string]any{"rules": []map[string]any{{
		"name":       "corner shop → groceries",
		"conditions": map[string]any{"field": "name", "op": "contains", "value": "corner shop"},
		"actions": []map[string]any{
			{"type": "set_category", "category_slug": "food_and_drink_groceries"}, {"type": "remove_tag", "tag_slug": "needs-review"},
		},
	}}})
	rule := made["rules"].([]any)[0].(map[string]any)["id"]
	dry := e.call("apply_rules", map[string]any{"rule_ids": []any{rule}, "dry_run": true})
	e.spent("a rule, and what it would have done", 2, 500)
	if !strings.Contains(fmt.Sprint(dry), "90") {
		e.t.Errorf("the rule matches 90 rows: %v", dry)
	}
}

// TestUndoTheOtherAgent: "Undo the other agent's changes, except those that I agreed to". A
// person's decisions in a review stay, and everything else of that agent is reverted.
func TestUndoTheOtherAgent(t *testing.T) {
	t.Parallel()
	e := newErrand(t)
	other := &assistant{t: t, session: e.connect(t, e.newKey(t, auth.CreateKey{
		Name: "Other", Scope: "full_access", ActorType: "agent",
	}).Secret, modernEra)}
	mine := &assistant{t: t, session: e.connect(t, e.newKey(t, auth.CreateKey{
		Name: "Mine", Scope: "full_access", ActorType: "agent",
	}).Secret, modernEra)}
	rows := other.call("query_transactions", map[string]any{
		"search": "corner shop", "fields": "minimal", "limit": 10,
	})["transactions"].([]any)
	file := func(a *assistant, category string, rows []any) {
		var ops []map[string]any
		for _, r := range rows {
			ops = append(ops, map[string]any{
				"transaction_id": r.(map[string]any)["id"], "category": category, "tags_to_add": []string{"needs-review"},
			})
		}
		a.call("update_transactions", map[string]any{"operations": ops})
	}
	file(other, "food_and_drink_groceries", rows[:6])
	file(mine, "food_and_drink_restaurants", rows[6:])
	var agreed []string
	for _, r := range rows[:2] { // a person reviews two of them and keeps them
		id := r.(map[string]any)["id"].(string)
		agreed = append(agreed, id)
		answer := e.send(t, exchange{
			method: "DELETE", path: "/api/v1/transactions/" + id + "/tags/needs-review", key: e.key,
		})
		if answer.status >= 300 {
			t.Fatalf("%d %s", answer.status, answer.body)
		}
	}
	mine.calls, mine.bytes = 0, 0
	var changes []any
	for _, c := range mine.call("list_changes", map[string]any{
		"actor_type": "agent", "since": e.today.AddDate(0, 0, -1).Format(time.DateOnly), "hide_reverts": true,
	})["changes"].([]any) {
		if c := c.(map[string]any); c["actor_name"] == "Other" {
			changes = append(changes, c["id"])
		}
	}
	mine.call("revert_change", map[string]any{"change_ids": changes, "keep": "reviewed", "dry_run": true})
	mine.call("revert_change", map[string]any{"change_ids": changes, "keep": "reviewed"})
	mine.spent("undo the other agent", 3, 2_000)
	left := func(category string) string {
		return e.value(`select coalesce(string_agg(t.short_id, ' ' order by t.short_id), '') from transaction t
			join category c on c.id = t.category_id where c.slug = $1`, category)
	}
	slices.Sort(agreed)
	got := strings.Fields(left("food_and_drink_groceries"))
	slices.Sort(got)
	if !slices.Equal(got, agreed) {
		t.Errorf("of the other agent's work stays %v, want %v", got, agreed)
	}
	if n := len(strings.Fields(left("food_and_drink_restaurants"))); n != 4 {
		t.Errorf("%d of mine are left, want 4", n)
	}
}
