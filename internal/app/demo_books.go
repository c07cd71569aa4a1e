package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"coffer/internal/household"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/rulebook"
)

// demoPassword opens a household that does not exist.
const demoPassword = "made-up household"

// demoMembers are those who can sign in to the demo.
var demoMembers = []struct{ role, name, email string }{
	{"an admin", "Anna Berger", "anna@example.org"},
	{"also an admin", "Daniel Okafor", "daniel@example.org"},
	{"view only", "Kim Berger", "kim@example.org"},
}

// demoSeed gives an inbox of some three hundred rows in the last five weeks.
const (
	demoRows   = 6500
	demoReview = 35 // days
)

// demoRules file what the demo's banks leave open, and bind payees.
var demoRules = []map[string]any{
	demoRule("REWE and Edeka → groceries", 10, "food_and_drink_groceries", "(?i)rewe|edeka|aldi|lidl", ""),
	demoRule("REWE → one payee", 10, "", "(?i)\\brewe\\b", "REWE"),
	demoRule("Amazon → one payee", 10, "", "(?i)amazon|amzn", "Amazon"),
	demoRule("Amazon → shopping", 10, "shopping_online_marketplaces", "(?i)amazon|amzn", ""),
	demoRule("Amazon Prime → streaming", 50, "entertainment_tv_and_film", "(?i)amznprime", ""),
	demoRule("BVG → public transport", 10, "transport_public_transport", "(?i)\\bbvg\\b", "BVG"),
	demoRule("Netflix, Spotify, Disney → streaming", 10, "entertainment_tv_and_film", "(?i)netflix|spotify|disney", ""),
	demoRule("Stadtwerke → utilities", 10, "", "(?i)stadtwerke", "Stadtwerke"),
	demoRule("Cafés on cards → eating out", 0, "food_and_drink_cafes", "(?i)sumup|\\bsq \\*", ""),
}

func demoRule(name string, priority int, category, pattern, payee string) map[string]any {
	actions := []any{}
	if category != "" {
		actions = append(actions, map[string]any{"type": "set_category", "category_slug": category})
	}
	if payee != "" {
		actions = append(actions, map[string]any{"type": "assign_counterparty", "counterparty_name": payee})
	}
	return map[string]any{
		"name": name, "priority": priority, "actions": actions,
		"conditions": map[string]any{"field": "name", "op": "matches", "value": pattern},
	}
}

// demoReports are what the demo's assistant wrote.
var demoReports = []map[string]any{
	{
		"title": "The week at a glance", "kind": "summary",
		"body": "Groceries were as usual. **Two subscriptions** were charged this week: Netflix and the " +
			"gym.\n\n- I categorized some transactions in Review. Undo them in Activity if I got any " +
			"wrong.\n- I left the cash withdrawals for you.\n",
	},
	{
		"title": "Subscriptions", "kind": "subscriptions",
		"body": "| what | every | about |\n|---|---|---|\n| Netflix | month | 17.99 |\n| Spotify | month | " +
			"10.99 |\n| Deutschlandticket | month | 58.00 |\n\nAll were charged on their usual day.\n",
	},
}

// furnish fills an empty database with a household that has something for every screen.
func (a *App) furnish(ctx context.Context, progress io.Writer) error {
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Jobs.Run(working) }() // imports and account links are jobs
	defer func() { stop(); <-ended }()
	d := &furnisher{app: a, actor: operator, end: time.Now()}
	d.do(ctx, "setting.update", map[string]any{
		"household_name": "Berger & Okafor (demo)", "default_currency": "EUR", "time_zone": "Europe/Berlin",
	})
	d.do(ctx, "rule.create", map[string]any{"rules": demoRules})
	if d.err != nil {
		return d.err
	}
	h := household.New(household.Options{Seed: 3, Transactions: demoRows, Years: 2, End: d.end, Purposes: true})
	if err := a.fill(ctx, h, d.load, progress); err != nil {
		return err
	}
	d.members(ctx)
	d.statement(ctx)
	d.links(ctx)
	d.home(ctx)
	d.budgets(ctx)
	d.agent(ctx)
	d.anna(ctx)
	return d.err
}

// A furnisher does what people and agents of the demo did, through the ops. It stops at the first
// error.
type furnisher struct {
	app   *App
	actor op.Actor
	end   time.Time
	err   error
}

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

// load puts transactions into the books as a sync does. Only those of the last weeks wait for
// review: the household has worked through the others.
func (d *furnisher) load(ctx context.Context, tx pg.Tx, rows iter.Seq[ledger.Incoming]) (int64, error) {
	open := pg.Day(d.end.AddDate(0, 0, -demoReview))
	var old, recent []ledger.Incoming
	for r := range rows {
		if r.Date.Time().Before(open.Time()) {
			old = append(old, r)
		} else {
			recent = append(recent, r)
		}
	}
	var n int64
	for _, part := range []struct {
		rows   []ledger.Incoming
		review bool
	}{{old, false}, {recent, true}} {
		if err := d.review(ctx, tx, part.review); err != nil {
			return n, err
		}
		added, err := d.app.throughRules(ctx, tx, func(yield func(ledger.Incoming) bool) {
			for _, r := range part.rows {
				if !yield(r) {
					return
				}
			}
		})
		n += added
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// review enables or disables the built-in rule that asks for the review of every new transaction.
func (d *furnisher) review(ctx context.Context, tx pg.Tx, on bool) error {
	builtIn, err := pg.Value[id.ID](ctx, tx, `select id from rule where is_system`)
	if err != nil {
		return err
	}
	_, err = d.app.Rules.Patch(ctx, tx, rulebook.PatchRule{ID: builtIn.String(), Enabled: &on})
	return err
}

// members lets the members sign in.
func (d *furnisher) members(ctx context.Context) {
	d.do(ctx, "user.create", map[string]any{
		"name": demoMembers[2].name, "email": demoMembers[2].email, "role": "viewer",
	})
	if d.err != nil {
		return
	}
	type member struct {
		ID    id.ID  `db:"id"`
		Email string `db:"email"`
	}
	found, err := pg.All[member](ctx, d.app.DB, `select id, email from member where email is not null`)
	d.err = err
	before := d.actor
	for _, m := range found {
		// Signed in as the member: a password that someone else sets would have to be replaced
		// first.
		d.actor = op.Actor{
			Type: op.User, ID: m.ID, Scope: op.Full, Member: &m.ID, Session: &m.ID, Role: op.RoleAdmin, Proved: true,
		}
		d.do(ctx, "login-method.create", map[string]any{
			"user_id": m.ID.String(), "kind": "password", "identifier": m.Email, "password": demoPassword,
		})
	}
	d.actor = before
}

// statement imports a file that a bank without an interface gave.
func (d *furnisher) statement(ctx context.Context) {
	bank := d.do(ctx, "connection.create", map[string]any{"provider": "csv", "institution_name": "Harbour Bank"})
	var file strings.Builder
	file.WriteString("Date,Description,Amount\n")
	for i, line := range []string{
		"Harbour Electric,-84.00", "Irish Rail,-58.00", "Farmers Market,-23.40", "Interest,1.12", "Bookshop,-31.90",
		"Murphy Lettings,-1120.00", "Refund Bookshop,12.00",
	} {
		fmt.Fprintf(&file, "%s,%s\n", d.end.AddDate(0, 0, -4*i-1).Format(time.DateOnly), line)
	}
	d.wait(ctx, d.do(ctx, "csv.import", map[string]any{
		"id": bank["id"], "csv": file.String(), "file_name": "harbour-bank.csv", "default_currency": "EUR",
	}))
}

// links confirms the account link of the card that appears twice.
func (d *furnisher) links(ctx context.Context) {
	if d.err != nil {
		return
	}
	cards, err := pg.Values[id.ID](ctx, d.app.DB, `select id from account where type = 'credit' order by id limit 2`)
	if d.err = err; err == nil && len(cards) == 2 {
		d.do(ctx, "account-link.create", map[string]any{
			"primary_account_id": cards[0].String(), "mirror_account_id": cards[1].String(), "kind": "mirror",
			"confidence": "auto",
		})
	}
}

// wait waits until a job has ended.
func (d *furnisher) wait(ctx context.Context, made map[string]any) {
	if d.err != nil {
		return
	}
	text, _ := made["id"].(string)
	u, err := id.Parse(text)
	if err != nil {
		d.err = fmt.Errorf("demo: a job without an id: %w", err)
		return
	}
	done, err := d.app.Jobs.Wait(ctx, u, time.Minute)
	if err == nil && done.State != job.Succeeded {
		err = fmt.Errorf("demo: %s %s: %+v", done.Kind, done.State, done.Error)
	}
	d.err = err
}

// agent makes the key of an assistant, and does what it did today.
func (d *furnisher) agent(ctx context.Context) {
	made := d.do(ctx, "key.create", map[string]any{
		"name": "Evening helper", "scope": "full_access", "actor_type": "agent", "max_writes_per_day": 200,
	})
	if d.err != nil {
		return
	}
	secret, _ := made["key"].(string)
	before := d.actor
	if d.actor, d.err = d.app.Auth.Key(ctx, secret); d.err != nil {
		return
	}
	d.file(ctx, "food_and_drink_groceries", "rewe", 12)
	d.file(ctx, "food_and_drink_restaurants", "sumup", 12)
	d.file(ctx, "transport_public_transport", "bvg", 12)
	for _, r := range demoReports {
		d.do(ctx, "report.create", r)
	}
	d.actor = before
	if d.err == nil {
		d.err = d.app.Auth.Flush(ctx, 0) // no server runs that would write when the key was used
	}
}

// file files some payments of the inbox that a search finds.
func (d *furnisher) file(ctx context.Context, category, search string, most int) {
	found := d.do(ctx, "transaction.list", map[string]any{
		"search": search, "tags": []any{"needs-review"}, "limit": most, "fields": "minimal",
	})
	rows, _ := found["transactions"].([]any)
	var operations []any
	for _, r := range rows {
		row, _ := r.(map[string]any)
		operations = append(operations, map[string]any{
			"transaction_id": row["id"], "category": category, "tags_to_remove": []any{"needs-review"},
		})
	}
	if len(operations) > 0 {
		d.do(ctx, "transaction.change", map[string]any{"operations": operations})
	}
}

// anna does what a person did: she decides a few herself, and writes why.
func (d *furnisher) anna(ctx context.Context) {
	if d.err != nil {
		return
	}
	type member struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}
	anna, err := pg.One[member](ctx, d.app.DB, `select id, name from member where email = $1`, demoMembers[0].email)
	if d.err = err; err != nil {
		return
	}
	d.actor = op.Actor{
		Type: op.User, ID: anna.ID, Name: anna.Name, Scope: op.Full, Member: &anna.ID, Role: op.RoleAdmin,
	}
	d.file(ctx, "shopping_online_marketplaces", "amzn", 4)
	found := d.do(ctx, "transaction.list", map[string]any{
		"tags": []any{"needs-review"}, "limit": 1, "fields": "minimal", "min_amount": 50,
	})
	rows, _ := found["transactions"].([]any)
	for _, r := range rows {
		row, _ := r.(map[string]any)
		d.do(ctx, "comment.create", map[string]any{
			"transaction_id": row["id"], "content": "Daniel, was this for the trip?",
		})
	}
}
