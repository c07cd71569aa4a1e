package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

// A formRef says what a field of an input names.
type formRef struct {
	kind      string // of what; "" is a name for something new, and no reference
	slug      bool   // a slug will do, too
	second    bool   // another one than the op's own subject
	registers bool   // an unknown slug is made
}

// formFields is what each field names that looks like a reference; where the op decides, under its
// name or its noun. The rest is walked from the schemas.
var formFields = map[string]formRef{
	"account.id": {kind: "account"}, "balance.id": {kind: "account"}, "account_id": {kind: "account"}, "connection_id": {kind: "connection"},
	"connection.id": {kind: "connection"}, "csv.id": {kind: "connection"}, "sync.id": {kind: "sync"}, "target.id": {kind: "target"}, "rate.id": {kind: "rate"}, "recurring.id": {kind: "recurring"}, "finding.id": {kind: "finding"}, "review_pattern.id": {kind: "recurring"}, "recurring_id": {kind: "recurring"},
	"webhook.id": {kind: "webhook"}, "quarantine.id": {kind: "quarantined"}, "report.id": {kind: "report"}, "view.id": {kind: "view"}, "endpoint.id": {kind: "endpoint"}, "endpoint_id": {kind: "endpoint"}, "notification.id": {kind: "notification"},
	"category.id": {kind: "category", slug: true}, "category": {kind: "category", slug: true},
	"category_id":        {kind: "category", slug: true},
	"category.into":      {kind: "category", slug: true, second: true},
	"move_to":            {kind: "category", slug: true, second: true},
	"category.parent_id": {kind: "category", slug: true, second: true}, "parent_id": {kind: "transaction"}, "transaction.split.id": {}, "transaction.split.tags": {kind: "tag", slug: true, registers: true},
	"change_id": {kind: "change"}, "comment_id": {kind: "comment"},
	"counterparty.id": {kind: "counterparty"}, "counterparty.into": {kind: "counterparty", second: true},
	"counterparty_id":        {kind: "counterparty"},
	"assign_counterparty.id": {kind: "counterparty"}, "unlink_counterparty_transactions.id": {kind: "counterparty"},
	"calendar-link.id": {}, "key.id": {kind: "key"}, "job_id": {kind: "job"}, "login_id": {kind: "login"}, "session_id": {kind: "session"},
	// Records of a signed-in member. TestOwnRecords names these, because a key has none.
	"me.login_id": {}, "me.session_id": {}, "me.assistant_id": {},
	"assistant_id": {kind: "assistant"}, "client_id": {}, "application_id": {},
	"change_ids": {kind: "change"}, "change.undo.actor_id": {}, "change.undo.workflow_slug": {}, "change.list.rule_id": {kind: "rule"},
	"change.list.actor_id": {}, "report.list.before": {}, "list_reports.before": {}, "list_reports.id": {kind: "report"}, "user.id": {kind: "user"}, "user_id": {kind: "user"},
	// A bank in a provider's list is no record of coffer.
	"institution_id": {},
	// A preview makes no account, so it does not look for the owner of one.
	"csv.preview.owner_user_id": {},
	"owner_user_id":             {kind: "user"}, "reassign_to": {kind: "user", second: true},
	"tag.slug": {kind: "tag", slug: true}, "tags": {kind: "tag", slug: true}, "any_tag": {kind: "tag", slug: true},
	"exclude_tag": {kind: "tag", slug: true}, "exclude_category": {kind: "category", slug: true},
	"similar_to": {kind: "transaction"}, "ids": {kind: "transaction"}, "payee": {}, "transaction.match.id": {kind: "manual"},
	"tags_to_add": {kind: "tag", slug: true, registers: true}, "tags_to_remove": {kind: "tag", slug: true},
	"transaction.tag.tag_slug": {kind: "tag", slug: true, registers: true}, "transaction.untag.tag_slug": {kind: "tag", slug: true},
	"transaction.create.tags": {kind: "tag", slug: true, registers: true}, "transaction_id": {kind: "transaction"}, "transaction_ids": {kind: "transaction"},
	"tag.create.slug": {}, "tag.create.name": {}, "category.create.slug": {},
	"account-link.id": {kind: "account-link"}, "account-link.ids": {kind: "account-link"}, "match_id": {kind: "match"}, "primary_account_id": {kind: "account"},
	"mirror_account_id": {kind: "account", second: true}, "account.into": {kind: "account", second: true},
	"rule.id": {kind: "rule"}, "rule_ids": {kind: "rule"}, "rule.rehearse.replace": {kind: "rule"},
	"category_slug": {kind: "category", slug: true}, "rule.tag_slug": {}, "counterparty_name": {},
	"account_id eq": {kind: "account"}, "account_id in": {kind: "account"}, "user_id neq": {kind: "user"},
	"workflow.slug": {kind: "workflow", slug: true}, "workflow-run.list.workflow": {kind: "workflow", slug: true},
	"workflow-run.id": {kind: "run"}, "prompt-block.slug": {kind: "prompt-block", slug: true},
	"workflow.create.slug": {}, "prompt-block.create.slug": {}, "new_slug": {}, "prompt_blocks": {},
	"category eq": {kind: "category", slug: true}, "category in": {kind: "category", slug: true},
}

var (
	formName = regexp.MustCompile(
		`(^|_)(ids?|slugs?|tags?|categor(y|ies)|accounts?|counterpart(y|ies)|users?|members?|owner|parent|into|connections?|rules?|workflows?|jobs?|reports?)(_|$)|_to$|_to_`)
	formDoc = regexp.MustCompile(`(?i)\b(short ids?|uuids?|slugs?)\b`)
)

// A formPlace is a string of an op's input: a field, or the items of one.
type formPlace struct {
	op   *op.Op
	path []string
	prop op.Prop
	leaf string // the field and operator whose value it is, where the path leads to a condition
}

func (p formPlace) String() string {
	return strings.TrimSpace(p.op.ID() + " " + strings.Join(p.path, ".") + " " + p.leaf)
}

// keys are what the place may be called in formFields.
func (p formPlace) keys() []string {
	if p.leaf != "" {
		return []string{p.leaf}
	}
	return []string{p.op.ID() + "." + p.prop.Name, p.op.Group() + "." + p.prop.Name, p.prop.Name}
}

// ref is what the place names, and whether it looks as if it named something.
func (p formPlace) ref() (r formRef, known, looks bool) {
	for _, key := range p.keys() {
		if r, known = formFields[key]; known {
			break
		}
	}
	if p.leaf != "" {
		return r, known, known
	}
	return r, known, len(formOne(p.prop.Schema).Enum) == 0 &&
		(formName.MatchString(p.prop.Name) || formDoc.MatchString(p.prop.Description))
}

func formOne(s *op.Schema) *op.Schema {
	if s.Items != nil {
		return s.Items
	}
	return s
}

// formPlaces are all strings of an op's input, those within lists of objects too.
func formPlaces(o *op.Op) []formPlace {
	var out []formPlace
	var walk func(*op.Schema, []string)
	walk = func(s *op.Schema, path []string) {
		for _, p := range s.Props {
			at := append(slices.Clone(path), p.Name)
			switch {
			case p.Name == "conditions":
				for _, leaf := range formLeaves {
					out = append(out, formPlace{
						o, at,
						op.Prop{Name: "value", Schema: &op.Schema{Type: "string"}},
						leaf,
					})
				}
			case formOne(p.Schema).Type == "object":
				walk(formOne(p.Schema), at)
			case formOne(p.Schema).Type == "string":
				out = append(out, formPlace{op: o, path: at, prop: p})
			}
		}
	}
	walk(o.In, nil)
	return out
}

// args are arguments with value at this place, and what else the op needs from fill.
func (p formPlace) args(value any, fill func(formPlace) any) map[string]any {
	beside := map[string]string{
		"login-method.create": "identifier",
		"category.create":     "name", "assign_counterparty": "name", "rule.create": "category_slug",
		"rule.rehearse": "category_slug", "rule.suggest": "transaction_id",
		"rule.apply": "rule_ids", "apply_rules": "rule_ids", "review.close": "counterparty_id",
	}[p.op.ID()] // one of two must be given, which no schema says; and an application of all rules is a large one
	if slices.Contains([]string{"id", "display_name", beside}, p.prop.Name) || slices.Contains(p.path, "actions") {
		beside = ""
	}
	var build func(*op.Schema, []string) map[string]any
	build = func(s *op.Schema, path []string) map[string]any {
		out := map[string]any{}
		for _, q := range s.Props {
			at := append(slices.Clone(path), q.Name)
			var v any
			switch {
			case slices.Equal(at, p.path) && p.leaf != "":
				v = p.condition(value)
			case slices.Equal(at, p.path):
				v = value
			case q.Name == "conditions" && (q.Required || p.op.Group() == "rule" && slices.Contains(at, "rules")):
				v = matchNothing
			case q.Name == "name" && p.op.ID() == "rule.rehearse": // which the answer repeats
				v = "Plain"
			case q.Name == "type" && slices.Contains(at, "actions"):
				v = actionTypes[p.prop.Name]
			case formOne(q.Schema).Type == "object" && (q.Required || len(at) < len(p.path) &&
				slices.Equal(at, p.path[:len(at)])):
				v = build(formOne(q.Schema), at)
			case q.Required, q.Name == beside,
				p.op.ID() == "transaction.create" && slices.Contains([]string{"account_id", "date", "amount", "name"}, q.Name):
				v = fill(formPlace{op: p.op, path: at, prop: q})
			default:
				continue
			}
			if q.Type == "array" {
				v = []any{v}
			}
			out[q.Name] = v
		}
		return out
	}
	args := parting(p.op, build(p.op.In, nil))
	if parts, _ := args["parts"].([]any); p.op.Name == "transaction.split" { // into one part is none
		args["parts"] = append(parts, map[string]any{"amount": 0.01})
	}
	if p.op.Name == "transaction.bulk" || p.op.Name == "transaction.change" && p.path[0] != "operations" { // what is set on which, which no schema says
		if p.path[0] != "set" {
			args["set"] = map[string]any{"comment": "Plain"}
		} else {
			args["transaction_ids"] = []any{fill(formPlace{op: p.op, prop: *p.op.In.Prop("transaction_ids")})}
		}
		args["dry_run"] = p.path[0] == "filter"
	}
	formNeeds(p.op.Name, args)
	if p.op.Method == http.MethodPatch && len(args) == strings.Count(p.op.Path, "{") { // a PATCH must change something
		for _, q := range p.op.In.Props {
			if r, _, looks := (formPlace{op: p.op, prop: q}).ref(); q.In != op.InPath && r.kind == "" && !looks &&
				len(args) == strings.Count(p.op.Path, "{") {
				args[q.Name] = formPlain(q)
			}
		}
	}
	return args
}

var formCount atomic.Int64

// formPlain is a valid value of a field that names nothing.
func formPlain(p op.Prop) any {
	n := formCount.Add(1)
	s := formOne(p.Schema)
	switch {
	case slices.Contains(s.Enum, "teller") && !slices.Contains(s.Enum, "csv"): // the provider that the test's server has
		return "teller"
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.Type == "boolean":
		return true
	case s.Type == "integer":
		return json.Number("2")
	case s.Type == "number":
		return json.Number("1.50")
	case s.Format == "file":
		return "Date,Name,Amount\n2025-02-03,Bakery,-4.80\n2025-02-14,Salary,1200.00\n"
	case s.Format == "date", s.Format == "moment":
		return "2025-02-03"
	case s.Format == "date-time":
		return "2099-01-01T00:00:00Z"
	}
	switch p.Name {
	case "slug":
		return fmt.Sprintf("new-%d", n)
	case "email":
		return fmt.Sprintf("a%d@example.com", n)
	case "identifier":
		return fmt.Sprintf("https://id.example %d", n)
	case "color":
		return "#112233"
	case "mcc":
		return "5411"
	case "iso_currency_code":
		return "EUR"
	case "in":
		return "USD"
	case "payee":
		return "I0HKmjMnaXA"
	case "amount": // as people type it
		return "75,05"
	case "key": // of the file's only account, which nothing in the file names
		return "account"
	case "tsv":
		return "slug\tdisplay_name\n"
	case "website_url", "logo_url", "url":
		return "https://a.example"
	}
	return fmt.Sprintf("Plain %d", n)
}

// A formBook is a world with one of everything, and transactions to spare. Its calls go to the
// handler itself, where no HTTP library mends what it says.
type formBook struct {
	*toolWorld
	handler             http.Handler
	ops                 []*op.Op
	account, connection id.ID
	rows                []id.ID
	next                atomic.Int64
	common              *formCast // what reads name
}

func newFormBook(t *testing.T, rows int) *formBook {
	t.Helper()
	b := &formBook{toolWorld: newToolWorld(t, nil, func(c *app.Config) {
		c.EncryptionKey = seal.NewSecret(testRing)
		// starting to link through Teller asks nobody
		c.Providers = app.Providers{"teller": {"application_id": "app_1", "environment": "sandbox"}}
	})}
	var err error
	b.Jobs.Add(countKind(nil))
	b.enqueue(t, countWork{}, job.Options{})
	b.ops = b.Ops() // making them takes longer than a call
	if b.handler, err = b.Rest().Handler(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DB.Exec(t.Context(),
		`do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`); err != nil {
		t.Fatal(err)
	}
	b.DB.Reset() // thousands of calls need not wait for the disk
	err = b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member limit 1`)
		if err != nil {
			return err
		}
		connections, err := b.Connections.AddConnections(t.Context(), tx,
			[]connection.NewConnection{{MemberID: member, Provider: "csv", Institution: text.Name("Bank")}})
		if err != nil {
			return err
		}
		accounts, err := b.Accounts.AddAccounts(t.Context(), tx, []account.Incoming{{
			ConnectionID: &connections[0], Provider: "csv", ProviderID: "1", Name: text.Name("Current"),
			Type: "depository", Currency: "EUR", BalanceCurrent: new(money.MustParse("100.00")),
		}})
		if err != nil {
			return err
		}
		b.connection, b.account = connections[0], accounts[0]
		day, _ := pg.ParseDate("2026-01-02")
		_, err = b.Books.Load(t.Context(), tx, func(yield func(ledger.Incoming) bool) {
			for i := range rows {
				in := ledger.Incoming{
					AccountID: b.account, ProviderID: itoa(i), Date: day,
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name("Shop"),
				}
				if !yield(in) {
					return
				}
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.rows, err = pg.Values[id.ID](t.Context(), b.DB, `select id from transaction order by id`); err != nil {
		t.Fatal(err)
	}
	b.common = &formCast{book: b, have: map[formRef]formEntity{}}
	for _, o := range b.ops {
		for _, p := range formPlaces(o) {
			if r, known, _ := p.ref(); known && r.kind != "" && !o.Writes {
				b.common.get(t, r)
			}
		}
	}
	return b
}

// postpone puts off the jobs that wait: nobody works them here, and a caller may have only so many
// that are due.
func (b *formBook) postpone(t *testing.T) {
	t.Helper()
	if _, err := b.DB.Exec(t.Context(), `
		update job set run_at = now() + interval '1 day'
		where id in (select id from job where state = 'queued'
			and run_at <= now() for update skip locked)`); err != nil {
		t.Fatal(err)
	}
}

// do runs an op as the service and returns the record.
func (b *formBook) do(t *testing.T, name string, args map[string]any) map[string]any {
	t.Helper()
	actor := op.Actor{Type: op.System, ID: b.account, Name: "fixture", Scope: op.Full}
	a, err := b.Runner.Call(t.Context(), opNamed(t, b.ops, name),
		op.Call{Actor: actor, Surface: op.REST, Args: args, RequestID: "fixture"})
	var v map[string]any
	if err != nil || len(a.Body) > 0 && json.Unmarshal(a.Body, &v) != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

type formEntity struct {
	id   id.ID
	slug string
}

// forms are the ways to name it.
func (e formEntity) forms(slug bool) map[string]string {
	f := map[string]string{
		"UUID": e.id.String(), "UUID in capitals": strings.ToUpper(e.id.String()),
		"short id": e.id.Short(),
	}
	if slug {
		f["slug"], f["slug in capitals"] = e.slug, strings.ToUpper(e.slug)
	}
	return f
}

// link makes a connection to a bank.
func (b *formBook) link(t *testing.T) (made id.ID) {
	t.Helper()
	err := b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member
			where role = 'admin' and deleted_at is null limit 1`)
		if err != nil {
			return err
		}
		ids, err := b.Connections.AddConnections(t.Context(), tx,
			[]connection.NewConnection{{MemberID: member, Provider: "plaid", Institution: text.Name("Bank")}})
		if err == nil {
			made = ids[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A formCast holds one record of each kind for one call, created when the call needs it, because a
// record that one call deletes must not be missing in the next.
type formCast struct {
	book *formBook
	op   *op.Op
	have map[formRef]formEntity
}

func (c *formCast) get(t *testing.T, r formRef) formEntity {
	t.Helper()
	r.slug, r.registers = false, false
	if e, ok := c.have[r]; ok {
		return e
	}
	made := func(name string, args map[string]any) formEntity {
		v := c.book.do(t, name, args)
		slug, _ := v["slug"].(string)
		return formEntity{id.Must(v["id"].(string)), slug}
	}
	var e formEntity
	subject := func() string { return c.get(t, formRef{kind: "transaction"}).id.String() }
	n := formCount.Add(1)
	switch r.kind {
	case "account":
		if e.id = c.book.account; r.second {
			e.id = c.book.anotherAccount(t)
		}
	case "account-link":
		e.id = c.book.linked(t)
	case "match":
		e.id = c.book.matched(t, c.get(t, formRef{kind: "account-link"}).id)
	case "connection":
		// A separate connection, because the op may sync or remove it.
		if e.id = c.book.connection; c.op != nil && slices.Contains([]string{"connection", "sync", "quarantine"},
			c.op.Group()) {
			e.id = c.book.link(t)
		}
	case "sync":
		e.id = c.book.synced(t)
	case "webhook":
		c.book.link(t)
		e.id = c.book.told(t, "plaid", "ITEM.NEW_ACCOUNTS_AVAILABLE", "new_accounts", "processed", "")
	case "quarantined":
		e.id = c.book.quarantined(t)
	case "view":
		// A household has 200 at most; the newest are in use.
		if _, err := c.book.DB.Exec(t.Context(), `delete from saved_view where id in (
			select id from saved_view order by id desc offset 180)`); err != nil {
			t.Fatal(err)
		}
		e = made("view.create", map[string]any{
			"name": fmt.Sprintf("View %d", n), "filters": map[string]any{}, "shared": true,
		})
	case "workflow", "prompt-block", "run", "target", "recurring", "finding", "manual", "rate", "endpoint", "notification":
		e = c.agent(t, r.kind, n, made)
	case "report":
		e = made("report.create", map[string]any{"title": "A report", "body": "said"})
	case "transaction":
		e.id = c.book.rows[int(c.book.next.Add(1)-1)%len(c.book.rows)]
	case "comment":
		e = made("comment.create", map[string]any{"transaction_id": subject(), "content": "said"})
	case "change":
		v := c.book.do(t, "transaction.change",
			map[string]any{"operations": []any{map[string]any{
				"transaction_id": subject(),
				"tags_to_add":    []any{fmt.Sprintf("t%d", n)},
			}}})
		e.id = id.Must(v["change_id"].(string))
	case "category":
		e = made("category.create", map[string]any{"slug": fmt.Sprintf("c%d", n), "name": "Category"})
	case "tag":
		e = made("tag.create", map[string]any{"slug": fmt.Sprintf("t%d", n)})
	case "user":
		e = made("user.create", map[string]any{"name": "Member"})
	case "login":
		e.id = c.book.loggedIn(t, c.get(t, formRef{kind: "user"}).id.String())
	case "session":
		s, _, err := c.book.Auth.OpenSession(t.Context(),
			auth.SignIn{User: auth.User{ID: c.get(t, formRef{kind: "user"}).id}}, "Firefox on Linux")
		if err != nil {
			t.Fatal(err)
		}
		e.id = s.ID
	case "assistant":
		_, session, err := c.book.Auth.OpenSession(t.Context(),
			auth.SignIn{User: auth.User{ID: c.get(t, formRef{kind: "user"}).id}}, "Firefox on Linux")
		if err != nil {
			t.Fatal(err)
		}
		_, e.id = c.book.letIn(t, session, op.Read, c.book.OAuth.Resource())
	case "rule":
		v := c.book.do(t, "rule.create", map[string]any{"rules": []any{map[string]any{
			"name":          fmt.Sprint("Rule ", n),
			"category_slug": "home", "conditions": matchNothing,
		}}})
		e.id = id.Must(v["rules"].([]any)[0].(map[string]any)["id"].(string))
	case "job":
		e.id = c.book.enqueue(t, countWork{}, job.Options{}).ID
	case "key":
		e = made("key.create", map[string]any{"name": "key", "scope": "read_only"})
	case "counterparty":
		e = made("counterparty.create", map[string]any{"name": fmt.Sprintf("Counterparty %d", n)})
		if c.op != nil && strings.Contains(c.op.ID(), "unlink") { // only what is bound can be unlinked
			c.book.do(t, "counterparty.link", map[string]any{"id": e.id.String(), "transaction_ids": []any{subject()}})
		}
	default:
		t.Fatalf("there is no %s in the fixture; make one in formCast.get", r.kind)
	}
	c.have[r] = e
	return e
}

// cast is what a call of the op may name: its own if it writes.
func (b *formBook) cast(o *op.Op) *formCast {
	if !o.Writes {
		return b.common
	}
	return &formCast{book: b, op: o, have: map[formRef]formEntity{}}
}

// A formRoad is a way to call an op.
type formRoad func(*testing.T, *op.Op, map[string]any) formAnswer

// formSurfaces are the roads to an op.
func (b *formBook) formSurfaces(o *op.Op) map[string]formRoad {
	roads := map[string]formRoad{}
	if o.Route != "" {
		roads["REST"] = b.rest
	}
	if o.Tool != "" {
		roads["tool"] = b.tool
	}
	return roads
}

// Every field that looks as if it named something is in the table, and the table has nothing else.
func TestFormTable(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, o := range app.Menu() {
		for _, p := range formPlaces(o) {
			_, known, looks := p.ref()
			if looks && !known {
				t.Errorf("%s looks like a reference (by its name or its description) and is not in formFields: say "+
					"there what it names and whether a slug will do, or {} if it names something new", p)
			}
			for _, key := range p.keys() {
				if _, ok := formFields[key]; ok {
					used[key] = true
					break
				}
			}
		}
	}
	for key := range formFields {
		if !used[key] {
			t.Errorf("formFields has %s, and no op does", key)
		}
	}
	for name, doc := range map[string]string{"report_ids": "", "copy_to": "", "source": "Short id of the connection"} {
		control := formPlace{
			op: op.Reading(op.Spec{Name: "control.show", Summary: "A control."},
				(&formBook{}).nothing), path: []string{name},
			prop: op.Prop{Schema: &op.Schema{Type: "string", Description: doc}, Name: name},
		}
		if _, known, looks := control.ref(); known || !looks {
			t.Errorf("control: a new field %s would not be noticed", name)
		}
	}
}

func (*formBook) nothing(context.Context, pg.Querier, op.None) (op.None, error) {
	return op.None{}, nil
}

var (
	formCursor = regexp.MustCompile(`"next_cursor\\*":\\*"[^"]*"`)
	formKey    = regexp.MustCompile(`[._](id|ids|reverts|reverted_by)$`)
	formUUID   = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// checkForms walks an answer: a tool's has short ids only, a route's has UUIDs, and a record both.
func (a formAnswer) checkForms(t *testing.T, lean bool) {
	t.Helper()
	if a.fault.Code != "" {
		return
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			full, _ := v["id"].(string)
			if u, err := id.Parse(full); full != "" && !lean && (err != nil || v["short_id"] != u.Short()) {
				t.Errorf("%s.id is %q beside short_id %v", path, full, v["short_id"])
			}
			for k, item := range v {
				if k != "filters" && k != "filter" { // a saved filter is shown as it was given
					walk(path+"."+k, item)
				}
			}
		case []any:
			for _, item := range v {
				walk(path, item)
			}
		case string:
			_, err := id.Parse(v)
			short := strings.HasSuffix(path, "short_id")
			named := formKey.MatchString(path)
			switch {
			case lean && (formUUID.MatchString(v) || named && !id.IsShort(v)),
				strings.HasPrefix(v, "tag:") && formUUID.MatchString(v):
				t.Errorf("%s is %q", path, v)
			case !lean && named && !short && err != nil:
				t.Errorf("the route's %s is %q, which is no UUID", path, v)
			}
		}
	}
	walk("", a.value)
}
