package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// demoPassword opens a household that does not exist.
const demoPassword = "made-up household"

// demoZone is where the demo's household lives.
const demoZone = "Europe/Berlin"

// demoMembers are those who can sign in to the demo.
var demoMembers = []struct{ role, name, email string }{
	{"an admin", "Anna Berger", "anna@example.org"},
	{"also an admin", "Daniel Okafor", "daniel@example.org"},
	{"view only", "Kim Berger", "kim@example.org"},
}

// Those of demoMembers who do something.
const (
	anna = iota
	daniel
	kim
)

// demoReview is how many days of transactions wait in the household's review queue.
const demoReview = 9

// demoFamily is the household of a demo that was made on a day, known up to an end.
func demoFamily(made, end time.Time) household.Options {
	return household.Options{Seed: 3, Years: 2, Family: made, End: end}
}

// furnish fills an empty database with the story of a family, through the ops and by its banks:
// everything was done by its members, their rules, their agents and their banks.
func (a *App) furnish(ctx context.Context, banks *sandbox) error {
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Jobs.Run(working) }() // syncs, imports, account links and runs are jobs
	defer func() { stop(); <-ended }()
	day, err := pg.Value[pg.Date](ctx, a.DB, `select (now() at time zone $1)::date`, demoZone)
	d := &furnisher{app: a, banks: banks, today: day.Time(), err: err}
	d.household(ctx)
	d.link(ctx)
	d.statement(ctx)
	d.wealth(ctx)
	d.links(ctx)
	d.news(ctx)
	d.budgets(ctx)
	d.look(ctx)
	d.agent(ctx)
	d.people(ctx)
	d.workflow(ctx)
	d.tidy(ctx)
	return d.err
}

// A furnisher does what people and agents of the demo did. It stops at the first error.
type furnisher struct {
	app     *App
	banks   *sandbox
	today   time.Time
	members [3]op.Actor
	actor   op.Actor
	err     error
}

// ago is a day before today.
func (d *furnisher) ago(days int) string { return d.today.AddDate(0, 0, -days).Format(time.DateOnly) }

// as makes a member the one who acts from here on.
func (d *furnisher) as(member int) { d.actor = d.members[member] }

// do calls an op and returns its answer.
func (d *furnisher) do(ctx context.Context, name string, args map[string]any) map[string]any {
	if d.err != nil {
		return nil
	}
	args, err := asArgs(args)
	if err != nil {
		d.err = err
		return nil
	}
	for _, o := range d.app.Ops() {
		if o.Name != name {
			continue
		}
		if field, _ := o.TextBody(); field != "" {
			given, _ := args[field].(string)
			args[field] = o.FromBody([]byte(given))
		}
		answer, err := d.app.Runner.Call(ctx, o, op.Call{
			Actor: d.actor, Surface: op.Command, Args: args, RequestID: id.Base62(16),
		})
		var out map[string]any
		if err == nil && len(answer.Body) > 0 && answer.Body[0] == '{' {
			err = json.Unmarshal(answer.Body, &out)
		}
		if err != nil {
			d.err = fmt.Errorf("demo: %s: %w", name, err)
		}
		return out
	}
	d.err = fmt.Errorf("demo: there is no op %s", name)
	return nil
}

// asArgs are arguments in the form in which a caller's JSON is read.
func asArgs(args map[string]any) (out map[string]any, err error) {
	printed, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	read := json.NewDecoder(bytes.NewReader(printed))
	read.UseNumber()
	err = read.Decode(&out)
	return out, err
}

// list is the records of an answer.
func list(answer map[string]any, name string) []map[string]any {
	rows, _ := answer[name].([]any)
	out := make([]map[string]any, 0, len(rows))
	for _, r := range rows {
		if row, ok := r.(map[string]any); ok {
			out = append(out, row)
		}
	}
	return out
}

// rest waits until all jobs have ended.
func (d *furnisher) rest(ctx context.Context) {
	for d.err == nil {
		open, err := pg.Values[id.ID](ctx, d.app.DB, `select id from job where state in ('queued', 'running')`)
		if d.err = err; err != nil || len(open) == 0 {
			return
		}
		for _, u := range open {
			done, err := d.app.Jobs.Wait(ctx, u, time.Minute)
			if err == nil && done.State != job.Succeeded {
				err = fmt.Errorf("demo: %s %s: %+v", done.Kind, done.State, done.Error)
			}
			if d.err = err; err != nil {
				return
			}
		}
	}
}

// household makes the members, what they agreed on, and their rules.
func (d *furnisher) household(ctx context.Context) {
	if d.err != nil {
		return
	}
	d.actor = operator // nobody is there yet who could
	for i, m := range demoMembers {
		role := "admin"
		if i == kim {
			role = "viewer"
		}
		made := d.do(ctx, "user.create", map[string]any{"name": m.name, "email": m.email, "role": role})
		if d.err != nil {
			return
		}
		text, _ := made["id"].(string)
		u, err := id.Parse(text)
		if d.err = err; err != nil {
			return
		}
		// Signed in as the member: a password that someone else sets would have to be replaced
		// first.
		d.members[i] = op.Actor{
			Type: op.User, ID: u, Name: m.name, Scope: op.Full, Member: &u, Session: &u, Role: op.RoleAdmin,
			Proved: true,
		}
	}
	for i, m := range demoMembers {
		d.as(i)
		d.do(ctx, "login-method.create", map[string]any{
			"user_id": d.actor.ID.String(), "kind": "password", "identifier": m.email, "password": demoPassword,
		})
		if d.err == nil {
			_, d.err = d.app.Auth.NewCodes(ctx, d.actor)
		}
		d.members[i].Session = nil
	}
	d.as(anna)
	d.do(ctx, "setting.update", map[string]any{
		"household_name": "Berger & Okafor (demo)", "default_currency": "EUR", "time_zone": demoZone,
		"review_history": "from_link",
	})
	for _, slug := range []string{"vacation", "reimbursable", "warranty"} {
		d.do(ctx, "tag.create", map[string]any{"slug": slug})
	}
	d.do(ctx, "rule.create", map[string]any{"rules": demoRules})
}

// demoRules put right what the demo's banks know only roughly.
var demoRules = []map[string]any{
	demoRule("Daniel’s salary", "brightwater", "income_salary", ""),
	demoRule("Interest", "interest paid", "income_interest", ""),
	demoRule("Child benefit", "kindergeld", "income_state_benefits", ""),
	demoRule("Property tax", "property tax", "home_property_tax", "City of Mönchhain"),
	demoRule("Car insurance", "huk24", "insurance_vehicle", "HUK24"),
	demoRule("Home insurance", "allianz", "insurance_home", "Allianz"),
	demoRule("Music school", "musikschule", "family_courses", "Musikschule Mönchhain"),
	demoRule("Netflix and Disney+", "(?i)netflix|disney", "entertainment_tv_and_film", ""),
	demoRule("Bakeries and cafés", "(?i)baeckerei|coffee house|cafe |zeit fuer brot", "food_and_drink_cafes",
		""),
	demoRule("Delivery and takeaway", "(?i)lieferando|pizza|doener", "food_and_drink_takeaway", ""),
	demoRule("Amazon", "amzn", "shopping_online_marketplaces", "Amazon"),
	demoRule("REWE", "rewe", "food_and_drink_groceries", "REWE"),
	demoRule("Books", "(?i)thalia|dussmann", "shopping_books_and_stationery", ""),
	demoRule("Drugstores", "(?i)dm drogerie|rossmann", "shopping_general_stores", ""),
	demoRule("Hairdresser", "salon schnitt", "personal_care_hair_and_beauty", ""),
	demoRule("Money between our accounts",
		"(?i)^(household money|savings|rainy day|holiday fund|summer holiday|dinner with|garden and|pocket money)",
		"transfers_between_accounts", ""),
	demoRule("Card payments", "(?i)^(card payment 1009|visa gold 4421|payment received)",
		"transfers_card_payments", ""),
}

func demoRule(name, pattern, category, payee string) map[string]any {
	actions := []any{map[string]any{"type": "set_category", "category_slug": category}}
	if payee != "" {
		actions = append(actions, map[string]any{"type": "assign_counterparty", "counterparty_name": payee})
	}
	how := "contains"
	if len(pattern) > 4 && pattern[:4] == "(?i)" {
		how = "matches"
	}
	return map[string]any{
		"name": name, "priority": 10, "actions": actions,
		"conditions": map[string]any{"field": "name", "op": how, "value": pattern},
	}
}

// link links the simulated banks, which know the household up to some days ago.
func (d *furnisher) link(ctx context.Context) {
	if d.err != nil {
		return
	}
	for i, given := range d.banks.linked() {
		d.as(i)
		d.do(ctx, "connection.create", given)
	}
	d.rest(ctx)
}

// demoReviewed are the accounts whose transactions the household looks at.
var demoReviewed = []string{"Joint account", "Anna's account", "Visa Gold", "Daniel Everyday", "Blue Cash Card"}

// news syncs what has happened at the banks since, for the members to look at.
func (d *furnisher) news(ctx context.Context) {
	if d.err != nil {
		return
	}
	d.as(anna)
	for _, name := range demoReviewed {
		d.do(ctx, "account.update", map[string]any{
			"id": d.account(ctx, name), "review_from": d.ago(demoReview - 1),
		})
	}
	d.banks.reach(demoFamily(d.today, d.today))
	d.sync(ctx)
}

// sync syncs the banks, one after the other.
func (d *furnisher) sync(ctx context.Context) {
	if d.err != nil {
		return
	}
	banks, err := pg.Values[id.ID](ctx, d.app.DB, `select id from connection where provider <> 'csv' order by id`)
	d.err = err
	for _, c := range banks {
		d.do(ctx, "connection.sync", map[string]any{"id": c.String()})
		d.rest(ctx)
	}
}

// account is the id of an account.
func (d *furnisher) account(ctx context.Context, name string) string {
	if d.err != nil {
		return ""
	}
	u, err := pg.Value[id.ID](ctx, d.app.DB, `select id from account where name = $1`, name)
	if err != nil {
		d.err = fmt.Errorf("demo: account %s: %w", name, err)
	}
	return u.String()
}

// links confirms account links that are clear, and leaves those of which only the members can
// say what they are.
func (d *furnisher) links(ctx context.Context) {
	d.rest(ctx)
	d.as(anna)
	found := d.do(ctx, "account-link.list", map[string]any{"confidence": "auto"})
	for _, l := range list(found, "account_links") {
		between := map[any]bool{l["primary_account_name"]: true, l["mirror_account_name"]: true}
		if between["Daniel Everyday"] && between["Anna's account"] || between["Rainy Day"] && between["Joint account"] {
			continue
		}
		d.do(ctx, "account-link.update", map[string]any{"id": l["id"], "confidence": "confirmed"})
	}
	// The fund pays for the summer once a year: too rare for a suggestion.
	d.do(ctx, "account-link.create", map[string]any{
		"primary_account_id": d.account(ctx, "Holiday fund"), "mirror_account_id": d.account(ctx, "Anna's account"),
		"kind": "transfer",
	})
	d.rest(ctx)
}

// tidy computes what a server computes in the background, and leaves statistics.
func (d *furnisher) tidy(ctx context.Context) {
	d.rest(ctx)
	if d.err != nil {
		return
	}
	conn, err := d.app.DB.Acquire(ctx)
	if d.err = err; err != nil {
		return
	}
	defer conn.Release()
	if _, d.err = conn.Exec(ctx, `vacuum analyze`); d.err != nil {
		return
	}
	for _, c := range slices.Concat(d.app.Recurring.Tasks(), d.app.Findings.Tasks(), d.app.Accounts.Tasks()) {
		if d.err == nil {
			d.err = c.Do(ctx)
		}
	}
}
