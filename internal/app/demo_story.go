package app

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
func (d *furnisher) statement(ctx context.Context) {
	if d.err != nil {
		return
	}
	d.as(anna)
	bank := d.do(ctx, "connection.create", map[string]any{
		"provider": "csv", "institution_name": "Sparkasse Mönchhain",
	})
	h := household.New(demoFamily(d.today, d.today))
	var file strings.Builder
	file.WriteString("Date,Description,Amount,Balance\n")
	var rows []household.Transaction
	for t := range h.Transactions() {
		if h.Provider(t.AccountIndex) == "csv" {
			rows = append(rows, t)
		}
	}
	if len(rows) == 0 {
		d.err = fmt.Errorf("demo: the statement is empty")
		return
	}
	left := h.Accounts[rows[0].AccountIndex].Current.Cents()
	for _, row := range slices.Backward(rows) {
		balance, err := money.FromCents(left)
		if d.err = err; err != nil {
			return
		}
		fmt.Fprintf(&file, "%s,%s,%s,%s\n", row.Date.Format(time.DateOnly), row.Name.Plain(),
			row.Amount.Neg(), balance)
		left += row.Amount.Cents()
	}
	d.do(ctx, "csv.import", map[string]any{
		"id": bank["id"], "csv": file.String(), "file_name": "kims-savings.csv", "default_currency": "EUR",
		"account": map[string]any{"name": "Kim's savings"},
	})
	d.rest(ctx)
	d.do(ctx, "balance.set", map[string]any{
		"id": d.account(ctx, "Kim's savings"), "day": rows[len(rows)-1].Date.Format(time.DateOnly),
		"current": h.Accounts[rows[0].AccountIndex].Current,
	})
}

// wealth adds the house, and the history of what no payment shows: its value, and the debt of its
// mortgage.
func (d *furnisher) wealth(ctx context.Context) {
	d.as(daniel)
	house := d.do(ctx, "account.create", map[string]any{
		"name": "Our home", "kind": "property", "balance": 398000, "balance_date": d.monthsAgo(24),
	})
	for months := 19; months > 0; months -= 6 {
		d.do(ctx, "balance.set", map[string]any{
			"id": house["id"], "day": d.monthsAgo(months), "current": 398000 + (24-months)*600,
		})
	}
	d.do(ctx, "account.update", map[string]any{
		"id": d.account(ctx, "Index fund"), "balance_method": "transactions",
	})
	loan := d.account(ctx, "Mortgage")
	d.do(ctx, "account.update", map[string]any{"id": loan, "balance_method": "valuations"})
	for months := 22; months > 0; months -= 3 {
		d.do(ctx, "balance.set", map[string]any{"id": loan, "day": d.monthsAgo(months), "current": 176840 + months*745})
	}
	d.do(ctx, "balance.set", map[string]any{"id": loan, "day": d.monthsAgo(24), "current": 176840 + 24*745})
}

// monthsAgo is today's day of an earlier month, or the last one of that month.
func (d *furnisher) monthsAgo(months int) string {
	first := time.Date(d.today.Year(), d.today.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d.today.Day(), last)-1).Format(time.DateOnly)
}

// budgets sets the demo's monthly budgets. The tickets of this month break the first.
func (d *furnisher) budgets(ctx context.Context) {
	d.as(anna)
	for _, b := range []struct {
		category string
		amount   int
	}{{"entertainment", 120}, {"transport", 500}, {"shopping", 700}, {"food_and_drink", 1700}, {"utilities", 400}} {
		d.do(ctx, "target.create", map[string]any{"category": b.category, "amount": b.amount})
	}
}

// look is what Daniel did on the weekend: he approved the older half of the queue.
func (d *furnisher) look(ctx context.Context) {
	d.as(daniel)
	d.approve(ctx, map[string]any{"end_date": d.ago(demoReview - 3)})
}

// approve approves what a filter finds in the queue.
func (d *furnisher) approve(ctx context.Context, filter map[string]any) {
	filter["tags"], filter["limit"], filter["fields"] = []any{"needs-review"}, 50, "minimal"
	var operations []any
	for _, row := range list(d.do(ctx, "transaction.list", filter), "transactions") {
		operations = append(operations, map[string]any{
			"transaction_id": row["id"], "tags_to_remove": []any{"needs-review"},
		})
	}
	if len(operations) > 0 {
		d.do(ctx, "transaction.change", map[string]any{"operations": operations})
	}
}

// find is the id of the newest transaction that a search finds.
func (d *furnisher) find(ctx context.Context, search string, more map[string]any) any {
	args := map[string]any{"search": search, "limit": 1, "fields": "minimal"}
	maps.Copy(args, more)
	found := list(d.do(ctx, "transaction.list", args), "transactions")
	if d.err == nil && len(found) == 0 {
		d.err = fmt.Errorf("demo: no transaction of %s", search)
	}
	if d.err != nil {
		return nil
	}
	return found[0]["id"]
}

// agent makes the key of an assistant, and does what it did today: it filed, proposed a rule, and
// wrote about last month.
func (d *furnisher) agent(ctx context.Context) {
	d.as(anna)
	d.do(ctx, "agent.update", map[string]any{"propose_rules": true})
	made := d.do(ctx, "key.create", map[string]any{
		"name": "Evening helper", "scope": "full_access", "actor_type": "agent", "max_writes_per_day": 200,
	})
	if d.err != nil {
		return
	}
	secret, _ := made["key"].(string)
	if d.actor, d.err = d.app.Auth.Key(ctx, secret); d.err != nil {
		return
	}
	for _, f := range []struct{ search, category string }{
		{"dm drogerie", "personal_care_other"},
		{"bauhaus", "home_repairs_and_maintenance"},
		{"obi markt", "home_repairs_and_maintenance"},
		{"metzgerei", "food_and_drink_other"},
		{"stadtbad", "entertainment_hobbies"},
		{"shop apotheke", "health_other"},
	} {
		d.file(ctx, f.category, f.search, 6)
	}
	proposal := demoRule("Farm shop → groceries", "hofladen", "food_and_drink_groceries", "Hofladen")
	d.do(ctx, "rule.create", map[string]any{"rules": []any{proposal}})
	d.report(ctx)
	if d.err == nil {
		d.err = d.app.Auth.Flush(ctx, 0) // no server runs that would write when the key was used
	}
}

// file sets the category of the most recent payments that a search finds.
func (d *furnisher) file(ctx context.Context, category, search string, limit int) {
	found := d.do(ctx, "transaction.list", map[string]any{
		"search": search, "limit": limit, "fields": "minimal", "start_date": d.ago(35),
	})
	var operations []any
	for _, row := range list(found, "transactions") {
		operations = append(operations, map[string]any{
			"transaction_id": row["id"], "category": category, "tags_to_remove": []any{"needs-review"},
		})
	}
	if len(operations) > 0 {
		d.do(ctx, "transaction.change", map[string]any{"operations": operations})
	}
}

// report writes about last month with the figures of the books.
func (d *furnisher) report(ctx context.Context) {
	first := time.Date(d.today.Year(), d.today.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1)
	answer := d.do(ctx, "cashflow.get", map[string]any{
		"start_date": first.Format(time.DateOnly), "end_date": last.Format(time.DateOnly), "compare": "previous_period",
	})
	if d.err != nil {
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
	if d.err = json.Unmarshal(printed, &flow); d.err != nil || len(flow.Currencies) == 0 {
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
	d.do(ctx, "report.create", map[string]any{
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
func (d *furnisher) people(ctx context.Context) {
	d.as(anna)
	receipt := d.find(ctx, "rewe", map[string]any{"min_amount": 83.47, "max_amount": 83.47})
	d.do(ctx, "transaction.split", map[string]any{"transaction_id": receipt, "parts": []any{
		map[string]any{"amount": 24.99, "category": "gifts_and_donations_gifts", "comment": "Birthday present for Leo"},
		map[string]any{"category": "food_and_drink_groceries"},
	}})
	tickets := d.find(ctx, "eventim", nil)
	d.do(ctx, "comment.create", map[string]any{"transaction_id": tickets, "content": "Were these all four tickets?"})
	d.as(daniel)
	d.do(ctx, "comment.create", map[string]any{
		"transaction_id": tickets, "content": "Yes. Mia’s parents pay us back for one.",
	})
	d.do(ctx, "transaction.change", map[string]any{"operations": []any{
		map[string]any{"transaction_id": tickets, "tags_to_add": []any{"reimbursable"}},
	}})
	d.as(anna)
	d.do(ctx, "comment.create", map[string]any{
		"transaction_id": d.find(ctx, "zalando", map[string]any{"min_amount": 89.95, "max_amount": 89.95}),
		"content":        "I ordered once. Asking Zalando.",
	})
}

// workflow runs the household's own agent on the simulated model; its plan waits for a person.
func (d *furnisher) workflow(ctx context.Context) {
	d.as(anna)
	d.do(ctx, "model.set", map[string]any{"provider": sandboxProvider, "prices": []any{sandboxPrice}})
	d.do(ctx, "agent.update", map[string]any{"default_provider": sandboxProvider, "default_model": sandboxModel})
	d.do(ctx, "workflow.run", map[string]any{"slug": "review-queue"})
	d.rest(ctx)
	if d.err != nil {
		return
	}
	// The run's report stands on the screen of the run too, so Anna has seen it.
	seen, err := pg.Values[id.ID](ctx, d.app.DB, `select id from report where kind <> 'monthly'`)
	d.err = err
	for _, r := range seen {
		d.do(ctx, "report.read", map[string]any{"id": r.String()})
	}
}
