package family

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// statement imports the file of a bank without an interface: the savings of the child.
func (f *furnisher) statement(ctx context.Context) {
	if f.err != nil {
		return
	}
	f.as(anna)
	bank := f.do(ctx, "connection.create", map[string]any{
		"provider": "csv", "institution_name": "Sparkasse Mönchhain",
	})
	h := household.New(Options(f.today, f.today))
	var file strings.Builder
	file.WriteString("Date,Description,Amount,Balance\n")
	var rows []household.Transaction
	for t := range h.Transactions() {
		if h.Provider(t.AccountIndex) == "csv" {
			rows = append(rows, t)
		}
	}
	if len(rows) == 0 {
		f.err = fmt.Errorf("demo: the statement is empty")
		return
	}
	left := h.Accounts[rows[0].AccountIndex].Current.Cents()
	for _, row := range slices.Backward(rows) {
		balance, err := money.FromCents(left)
		if f.err = err; err != nil {
			return
		}
		fmt.Fprintf(&file, "%s,%s,%s,%s\n", row.Date.Format(time.DateOnly), row.Name.Plain(),
			row.Amount.Neg(), balance)
		left += row.Amount.Cents()
	}
	f.do(ctx, "csv.import", map[string]any{
		"id": bank["id"], "csv": file.String(), "file_name": "kims-savings.csv", "default_currency": "EUR",
		"account": map[string]any{"name": "Kim's savings"},
	})
	f.rest(ctx)
	f.do(ctx, "balance.set", map[string]any{
		"id": f.account(ctx, "Kim's savings"), "day": rows[len(rows)-1].Date.Format(time.DateOnly),
		"current": h.Accounts[rows[0].AccountIndex].Current,
	})
}

// wealth adds the house, with the history of its value and of its mortgage's debt: no payment shows
// them.
func (f *furnisher) wealth(ctx context.Context) {
	f.as(daniel)
	house := f.do(ctx, "account.create", map[string]any{
		"name": "Our home", "kind": "property", "balance": 398000, "balance_date": f.monthsAgo(24),
	})
	for months := 19; months > 0; months -= 6 {
		f.do(ctx, "balance.set", map[string]any{
			"id": house["id"], "day": f.monthsAgo(months), "current": 398000 + (24-months)*600,
		})
	}
	f.do(ctx, "account.update", map[string]any{
		"id": f.account(ctx, "Index fund"), "balance_method": "transactions",
	})
	loan := f.account(ctx, "Mortgage")
	f.do(ctx, "account.update", map[string]any{"id": loan, "balance_method": "valuations"})
	for months := 22; months > 0; months -= 3 {
		f.do(ctx, "balance.set", map[string]any{"id": loan, "day": f.monthsAgo(months), "current": 176840 + months*745})
	}
	f.do(ctx, "balance.set", map[string]any{"id": loan, "day": f.monthsAgo(24), "current": 176840 + 24*745})
}

// monthsAgo is today's day of an earlier month, or the last one of that month.
func (f *furnisher) monthsAgo(months int) string {
	first := time.Date(f.today.Year(), f.today.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(f.today.Day(), last)-1).Format(time.DateOnly)
}

// budgets sets the demo's monthly budgets. The tickets of this month break the first.
func (f *furnisher) budgets(ctx context.Context) {
	f.as(anna)
	for _, b := range []struct {
		category string
		amount   int
	}{{"entertainment", 120}, {"transport", 500}, {"shopping", 700}, {"food_and_drink", 1700}, {"utilities", 400}} {
		f.do(ctx, "target.create", map[string]any{"category": b.category, "amount": b.amount})
	}
}

// look is what Daniel did on the weekend: he approved the older half of the queue.
func (f *furnisher) look(ctx context.Context) {
	f.as(daniel)
	f.approve(ctx, map[string]any{"end_date": f.ago(Review - 3)})
}

// approve approves what a filter finds in the queue.
func (f *furnisher) approve(ctx context.Context, filter map[string]any) {
	filter["tags"], filter["limit"], filter["fields"] = []any{"needs-review"}, 50, "minimal"
	var operations []any
	for _, row := range list(f.do(ctx, "transaction.list", filter), "transactions") {
		operations = append(operations, map[string]any{
			"transaction_id": row["id"], "tags_to_remove": []any{"needs-review"},
		})
	}
	if len(operations) > 0 {
		f.do(ctx, "transaction.change", map[string]any{"operations": operations})
	}
}

// find is the id of the newest transaction that a search finds.
func (f *furnisher) find(ctx context.Context, search string, more map[string]any) any {
	args := map[string]any{"search": search, "limit": 1, "fields": "minimal"}
	maps.Copy(args, more)
	found := list(f.do(ctx, "transaction.list", args), "transactions")
	if f.err == nil && len(found) == 0 {
		f.err = fmt.Errorf("demo: no transaction of %s", search)
	}
	if f.err != nil {
		return nil
	}
	return found[0]["id"]
}

// agent makes the key of an assistant, and does what it did today: it categorized payments,
// proposed a rule, and wrote about last month.
func (f *furnisher) agent(ctx context.Context) {
	f.as(anna)
	f.do(ctx, "agent.update", map[string]any{"propose_rules": true})
	made := f.do(ctx, "key.create", map[string]any{
		"name": "Evening helper", "scope": "full_access", "actor_type": "agent", "max_writes_per_day": 200,
	})
	if f.err != nil {
		return
	}
	secret, _ := made["key"].(string)
	if f.actor, f.err = f.Auth.Key(ctx, secret); f.err != nil {
		return
	}
	for _, c := range []struct{ search, category string }{
		{"dm drogerie", "personal_care_other"},
		{"bauhaus", "home_repairs_and_maintenance"},
		{"obi markt", "home_repairs_and_maintenance"},
		{"metzgerei", "food_and_drink_other"},
		{"stadtbad", "entertainment_hobbies"},
		{"shop apotheke", "health_other"},
	} {
		f.file(ctx, c.category, c.search, 6)
	}
	proposal := newRule("Farm shop → groceries", "hofladen", "food_and_drink_groceries", "Hofladen")
	f.do(ctx, "rule.create", map[string]any{"rules": []any{proposal}})
	f.report(ctx)
	if f.err == nil {
		f.err = f.Auth.Flush(ctx, 0) // no server runs yet that would store when the key was used
	}
}

// file sets the category of the most recent payments that a search finds.
func (f *furnisher) file(ctx context.Context, category, search string, limit int) {
	found := f.do(ctx, "transaction.list", map[string]any{
		"search": search, "limit": limit, "fields": "minimal", "start_date": f.ago(35),
	})
	var operations []any
	for _, row := range list(found, "transactions") {
		operations = append(operations, map[string]any{
			"transaction_id": row["id"], "category": category, "tags_to_remove": []any{"needs-review"},
		})
	}
	if len(operations) > 0 {
		f.do(ctx, "transaction.change", map[string]any{"operations": operations})
	}
}

// report writes about last month with the figures of the books.
func (f *furnisher) report(ctx context.Context) {
	first := time.Date(f.today.Year(), f.today.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1)
	answer := f.do(ctx, "cashflow.get", map[string]any{
		"start_date": first.Format(time.DateOnly), "end_date": last.Format(time.DateOnly), "compare": "previous_period",
	})
	if f.err != nil {
		return
	}
	printed, _ := json.Marshal(answer) //nolint:errchkjson // it was JSON
	var flow struct {
		Currencies []struct {
			MoneyIn  money.Total `json:"money_in"`
			MoneyOut money.Total `json:"money_out"`
			Net      money.Total `json:"net"`
			Nodes    []struct {
				Kind, Name       string
				Amount, Previous money.Total
			}
		}
	}
	if f.err = json.Unmarshal(printed, &flow); f.err != nil || len(flow.Currencies) == 0 {
		return
	}
	c := flow.Currencies[0]
	before := first.AddDate(0, -1, 0).Month()
	var body strings.Builder
	fmt.Fprintf(&body, "You kept **%s**: %s came in and %s went out.\n\n", euros(c.Net), euros(c.MoneyIn),
		euros(c.MoneyOut))
	fmt.Fprintf(&body, "| Category | %s | %s |\n|---|---:|---:|\n", first.Month(), before)
	shown := 0
	for _, n := range c.Nodes {
		if n.Kind == "category" && shown < 8 {
			fmt.Fprintf(&body, "| %s | %s | %s |\n", n.Name, euros(n.Amount), euros(n.Previous))
			shown++
		}
	}
	body.WriteString("\n**What stands out**\n\n- Netflix went from €13.99 to €15.99.\n" +
		"- Zalando charged €89.95 twice on the same day. Check whether both orders are yours.\n" +
		"- MediaMarkt gave €129.00 back.\n\nI categorized a few transactions today. Undo them in Activity if I got " +
		"any wrong.\n")
	f.do(ctx, "report.create", map[string]any{
		"title": fmt.Sprintf("%s at a glance", first.Month()), "kind": "monthly", "body": body.String(),
	})
}

// euros is an amount as the household writes it.
func euros(t money.Total) string {
	digits, negative := strings.CutPrefix(t.String(), "-")
	whole, cents, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if negative {
		whole = "-" + whole
	}
	return "€" + whole + "." + cents
}

// people does what the members did today: they split a receipt, ask each other and decide.
func (f *furnisher) people(ctx context.Context) {
	f.as(anna)
	receipt := f.find(ctx, "rewe", map[string]any{"min_amount": 83.47, "max_amount": 83.47})
	f.do(ctx, "transaction.split", map[string]any{"transaction_id": receipt, "parts": []any{
		map[string]any{"amount": 24.99, "category": "gifts_and_donations_gifts", "comment": "Birthday present for Leo"},
		map[string]any{"category": "food_and_drink_groceries"},
	}})
	tickets := f.find(ctx, "eventim", nil)
	f.do(ctx, "comment.create", map[string]any{"transaction_id": tickets, "content": "Were these all four tickets?"})
	f.as(daniel)
	f.do(ctx, "comment.create", map[string]any{
		"transaction_id": tickets, "content": "Yes. Mia’s parents pay us back for one.",
	})
	f.do(ctx, "transaction.change", map[string]any{"operations": []any{
		map[string]any{"transaction_id": tickets, "tags_to_add": []any{"reimbursable"}},
	}})
	f.as(anna)
	f.do(ctx, "comment.create", map[string]any{
		"transaction_id": f.find(ctx, "zalando", map[string]any{"min_amount": 89.95, "max_amount": 89.95}),
		"content":        "I ordered once. Asking Zalando.",
	})
}

// workflow runs the household's own agent on the simulated model; its plan waits for a person.
func (f *furnisher) workflow(ctx context.Context) {
	f.as(anna)
	f.do(ctx, "model.set", map[string]any{"provider": f.Model.Provider, "prices": []any{f.Model.Price}})
	f.do(ctx, "agent.update", map[string]any{"default_provider": f.Model.Provider, "default_model": f.Model.Name})
	f.do(ctx, "workflow.run", map[string]any{"slug": "review-queue"})
	f.rest(ctx)
	if f.err != nil {
		return
	}
	// The run's report is also on the page of the run, so Anna has seen it.
	seen, err := pg.Values[id.ID](ctx, f.DB, `select id from report where kind <> 'monthly'`)
	f.err = err
	for _, r := range seen {
		f.do(ctx, "report.read", map[string]any{"id": r.String()})
	}
}
