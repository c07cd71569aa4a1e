// Package family is the made-up family of the demo: who they are, and what they, their rules, their
// agents and their banks did. It knows the household only through its ops.
package family

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"coffer/internal/sim/household"
)

// Password opens a household that does not exist.
const Password = "made-up household"

// Zone is where the demo's household lives.
const Zone = "Europe/Berlin"

// Members are those who can sign in to the demo.
var Members = []struct{ Role, Name, Email string }{
	{"an admin", "Anna Berger", "anna@example.org"},
	{"also an admin", "Daniel Okafor", "daniel@example.org"},
	{"view only", "Kim Berger", "kim@example.org"},
}

// Those of Members who do something.
const (
	anna = iota
	daniel
	kim
)

// Review is how many days of transactions wait in the household's review queue.
const Review = 9

// Options is the household of a demo that was made on a day, known up to an end.
func Options(made, end time.Time) household.Options {
	return household.Options{Seed: 3, Years: 2, Family: made, End: end}
}

// A House is the service that the family moves into.
type House struct {
	DB       *pg.DB
	Auth     *auth.Auth
	Jobs     *job.Jobs
	Runner   *op.Runner
	Ops      []*op.Op
	Operator op.Actor        // who may make the first member
	Tasks    []schedule.Task // what a server computes in the background
	Banks    Banks
	Model    Model
}

// Banks are the simulated banks of the family.
type Banks interface {
	// Linked signs in at each bank, and returns what a connection to it is made of.
	Linked() []map[string]any
	// Reach lets the banks know the household up to another day.
	Reach(o household.Options)
}

// A Model is the simulated model that the family's agent asks.
type Model struct {
	Provider, Name string
	Price          map[string]any
}

// MoveIn fills an empty database with the story of the family, through the ops and by its banks.
func MoveIn(ctx context.Context, h House) error {
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.Jobs.Run(working) }() // syncs, imports, account links and runs are jobs
	defer func() { stop(); <-ended }()
	day, err := pg.Value[pg.Date](ctx, h.DB, `select (now() at time zone $1)::date`, Zone)
	f := &furnisher{House: h, today: day.Time(), err: err}
	f.household(ctx)
	f.link(ctx)
	f.statement(ctx)
	f.wealth(ctx)
	f.links(ctx)
	f.news(ctx)
	f.budgets(ctx)
	f.look(ctx)
	f.agent(ctx)
	f.people(ctx)
	f.workflow(ctx)
	f.tidy(ctx)
	return f.err
}

// A furnisher does what people and agents of the demo did. It stops at the first error.
type furnisher struct {
	House
	today   time.Time
	members [3]op.Actor
	actor   op.Actor
	err     error
}

// ago is a day before today.
func (f *furnisher) ago(days int) string { return f.today.AddDate(0, 0, -days).Format(time.DateOnly) }

// as makes a member the actor of all calls that follow.
func (f *furnisher) as(member int) { f.actor = f.members[member] }

// do calls an op and returns its answer.
func (f *furnisher) do(ctx context.Context, name string, args map[string]any) map[string]any {
	if f.err != nil {
		return nil
	}
	args, err := asArgs(args)
	if err != nil {
		f.err = err
		return nil
	}
	for _, o := range f.Ops {
		if o.Name != name {
			continue
		}
		if field, _ := o.TextBody(); field != "" {
			given, _ := args[field].(string)
			args[field] = o.FromBody([]byte(given))
		}
		answer, err := f.Runner.Call(ctx, o, op.Call{
			Actor: f.actor, Surface: op.Command, Args: args, RequestID: id.Base62(16),
		})
		var out map[string]any
		if err == nil && len(answer.Body) > 0 && answer.Body[0] == '{' {
			err = json.Unmarshal(answer.Body, &out)
		}
		if err != nil {
			f.err = fmt.Errorf("demo: %s: %w", name, err)
		}
		return out
	}
	f.err = fmt.Errorf("demo: there is no op %s", name)
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
func (f *furnisher) rest(ctx context.Context) {
	for f.err == nil {
		open, err := pg.Values[id.ID](ctx, f.DB, `select id from job where state in ('queued', 'running')`)
		if f.err = err; err != nil || len(open) == 0 {
			return
		}
		for _, u := range open {
			done, err := f.Jobs.Wait(ctx, u, time.Minute)
			if err == nil && done.State != job.Succeeded {
				err = fmt.Errorf("demo: %s %s: %+v", done.Kind, done.State, done.Error)
			}
			if f.err = err; err != nil {
				return
			}
		}
	}
}

// household makes the members, what they agreed on, and their rules.
func (f *furnisher) household(ctx context.Context) {
	if f.err != nil {
		return
	}
	f.actor = f.Operator // no member exists yet
	for i, m := range Members {
		role := "admin"
		if i == kim {
			role = "viewer"
		}
		made := f.do(ctx, "user.create", map[string]any{"name": m.Name, "email": m.Email, "role": role})
		if f.err != nil {
			return
		}
		text, _ := made["id"].(string)
		u, err := id.Parse(text)
		if f.err = err; err != nil {
			return
		}
		// Signed in as the member: a password that someone else sets would have to be replaced
		// first.
		f.members[i] = op.Actor{
			Type: op.User, ID: u, Name: m.Name, Scope: op.Full, Member: &u, Session: &u, Role: op.RoleAdmin,
			Proved: true,
		}
	}
	for i, m := range Members {
		f.as(i)
		f.do(ctx, "login-method.create", map[string]any{
			"user_id": f.actor.ID.String(), "kind": "password", "identifier": m.Email, "password": Password,
		})
		if f.err == nil {
			_, f.err = f.Auth.NewCodes(ctx, f.actor)
		}
		f.members[i].Session = nil
	}
	f.as(anna)
	f.do(ctx, "setting.update", map[string]any{
		"household_name": "Berger & Okafor (demo)", "default_currency": "EUR", "time_zone": Zone,
		"review_history": "from_link",
	})
	for _, slug := range []string{"vacation", "reimbursable", "warranty"} {
		f.do(ctx, "tag.create", map[string]any{"slug": slug})
	}
	f.do(ctx, "rule.create", map[string]any{"rules": rules})
}

// rules correct the rough categories of the demo's banks.
var rules = []map[string]any{
	newRule("Daniel’s salary", "brightwater", "income_salary", ""),
	newRule("Interest", "interest paid", "income_interest", ""),
	newRule("Child benefit", "kindergeld", "income_state_benefits", ""),
	newRule("Property tax", "property tax", "home_property_tax", "City of Mönchhain"),
	newRule("Car insurance", "huk24", "insurance_vehicle", "HUK24"),
	newRule("Home insurance", "allianz", "insurance_home", "Allianz"),
	newRule("Music school", "musikschule", "family_courses", "Musikschule Mönchhain"),
	newRule("Netflix and Disney+", "(?i)netflix|disney", "entertainment_tv_and_film", ""),
	newRule("Bakeries and cafés", "(?i)baeckerei|coffee house|cafe |zeit fuer brot", "food_and_drink_cafes",
		""),
	newRule("Delivery and takeaway", "(?i)lieferando|pizza|doener", "food_and_drink_takeaway", ""),
	newRule("Amazon", "amzn", "shopping_online_marketplaces", "Amazon"),
	newRule("REWE", "rewe", "food_and_drink_groceries", "REWE"),
	newRule("Books", "(?i)thalia|dussmann", "shopping_books_and_stationery", ""),
	newRule("Drugstores", "(?i)dm drogerie|rossmann", "shopping_general_stores", ""),
	newRule("Hairdresser", "salon schnitt", "personal_care_hair_and_beauty", ""),
	newRule("Money between our accounts",
		"(?i)^(household money|savings|rainy day|holiday fund|summer holiday|dinner with|garden and|pocket money)",
		"transfers_between_accounts", ""),
	newRule("Card payments", "(?i)^(card payment 1009|visa gold 4421|payment received)",
		"transfers_card_payments", ""),
}

func newRule(name, pattern, category, payee string) map[string]any {
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
func (f *furnisher) link(ctx context.Context) {
	if f.err != nil {
		return
	}
	for i, given := range f.Banks.Linked() {
		f.as(i)
		f.do(ctx, "connection.create", given)
	}
	f.rest(ctx)
}

// reviewed are the accounts whose transactions the household looks at.
var reviewed = []string{"Joint account", "Anna's account", "Visa Gold", "Daniel Everyday", "Blue Cash Card"}

// news syncs what has happened at the banks since, for the members to look at.
func (f *furnisher) news(ctx context.Context) {
	if f.err != nil {
		return
	}
	f.as(anna)
	for _, name := range reviewed {
		f.do(ctx, "account.update", map[string]any{
			"id": f.account(ctx, name), "review_from": f.ago(Review - 1),
		})
	}
	f.Banks.Reach(Options(f.today, f.today))
	f.sync(ctx)
}

// sync syncs the banks, one after the other.
func (f *furnisher) sync(ctx context.Context) {
	if f.err != nil {
		return
	}
	banks, err := pg.Values[id.ID](ctx, f.DB, `select id from connection where provider <> 'csv' order by id`)
	f.err = err
	for _, c := range banks {
		f.do(ctx, "connection.sync", map[string]any{"id": c.String()})
		f.rest(ctx)
	}
}

// account is the id of an account.
func (f *furnisher) account(ctx context.Context, name string) string {
	if f.err != nil {
		return ""
	}
	u, err := pg.Value[id.ID](ctx, f.DB, `select id from account where name = $1`, name)
	if err != nil {
		f.err = fmt.Errorf("demo: account %s: %w", name, err)
	}
	return u.String()
}

// links confirms account links that are clear, and leaves the others for the members to decide.
func (f *furnisher) links(ctx context.Context) {
	f.rest(ctx)
	f.as(anna)
	found := f.do(ctx, "account-link.list", map[string]any{"confidence": "auto"})
	for _, l := range list(found, "account_links") {
		between := map[any]bool{l["primary_account_name"]: true, l["mirror_account_name"]: true}
		if between["Daniel Everyday"] && between["Anna's account"] || between["Rainy Day"] && between["Joint account"] {
			continue
		}
		f.do(ctx, "account-link.update", map[string]any{"id": l["id"], "confidence": "confirmed"})
	}
	// The fund pays for the summer once a year: too rare for a suggestion.
	f.do(ctx, "account-link.create", map[string]any{
		"primary_account_id": f.account(ctx, "Holiday fund"), "mirror_account_id": f.account(ctx, "Anna's account"),
		"kind": "transfer",
	})
	f.rest(ctx)
}

// tidy computes what a server computes in the background, and leaves statistics.
func (f *furnisher) tidy(ctx context.Context) {
	f.rest(ctx)
	if f.err != nil {
		return
	}
	conn, err := f.DB.Acquire(ctx)
	if f.err = err; err != nil {
		return
	}
	defer conn.Release()
	if _, f.err = conn.Exec(ctx, `vacuum analyze`); f.err != nil {
		return
	}
	for _, c := range f.Tasks {
		if f.err == nil {
			f.err = c.Do(ctx)
		}
	}
}
