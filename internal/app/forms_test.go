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
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A formRef describes what a field of an input names.
type formRef struct {
	kind      string // the kind of record; "" means that the field names no existing record
	slug      bool   // a slug is accepted too
	second    bool   // must differ from the op's own subject
	registers bool   // an unknown slug creates a tag
}

// formFields describes each field that looks like a reference. If the meaning depends on the op,
// the key includes the op's name or noun. The test reads all other fields from the schemas.
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
	// These records belong to a signed-in member, and a key has none. TestOwnRecords covers them.
	"me.login_id": {}, "me.session_id": {}, "me.assistant_id": {},
	"assistant_id": {kind: "assistant"}, "client_id": {}, "application_id": {},
	"change_ids": {kind: "change"}, "change.undo.actor_id": {}, "change.undo.workflow_slug": {}, "change.list.rule_id": {kind: "rule"},
	"change.list.actor_id": {}, "report.list.before": {}, "list_reports.before": {}, "list_reports.id": {kind: "report"}, "user.id": {kind: "user"}, "user_id": {kind: "user"},
	// A bank in a provider's list is not a record of coffer.
	"institution_id": {},
	// A preview creates no account, so it does not check its owner.
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

// A formPlace is a string in an op's input: a field, or an item of a list.
type formPlace struct {
	op   *op.Op
	path []string
	prop op.Prop
	// If the path leads to a condition, the field and operator whose value this is.
	leaf string
}

func (p formPlace) String() string {
	return strings.TrimSpace(p.op.ID() + " " + strings.Join(p.path, ".") + " " + p.leaf)
}

// keys returns the keys under which formFields may describe the place.
func (p formPlace) keys() []string {
	if p.leaf != "" {
		return []string{p.leaf}
	}
	return []string{p.op.ID() + "." + p.prop.Name, p.op.Group() + "." + p.prop.Name, p.prop.Name}
}

// ref returns what the place names, whether formFields describes the place, and whether it looks
// like a reference.
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

// formPlaces returns all strings of an op's input, including those in lists of objects.
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

// args returns arguments with value at this place. It takes the other required values from fill.
func (p formPlace) args(value any, fill func(formPlace) any) map[string]any {
	beside := map[string]string{
		"login-method.create": "identifier",
		"category.create":     "name", "assign_counterparty": "name", "rule.create": "category_slug",
		"rule.rehearse": "category_slug", "rule.suggest": "transaction_id",
		"rule.apply": "rule_ids", "apply_rules": "rule_ids", "review.close": "counterparty_id",
		// These ops need one of two fields, which the schema cannot express. The rule ops would
		// otherwise apply all rules, which takes long.
	}[p.op.ID()]
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
			case q.Name == "name" && p.op.ID() == "rule.rehearse": // the response repeats the name
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
	if parts, _ := args["parts"].([]any); p.op.Name == "transaction.split" { // a split needs at least two parts
		args["parts"] = append(parts, map[string]any{"amount": 0.01})
	}
	// These ops need something to set and transactions to set it on, which the schema cannot
	// express.
	if p.op.Name == "transaction.bulk" || p.op.Name == "transaction.change" && p.path[0] != "operations" {
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

// formPlain returns a valid value for a field that names no record.
func formPlain(p op.Prop) any {
	n := formCount.Add(1)
	s := formOne(p.Schema)
	switch {
	// The only provider configured on the test's server.
	case slices.Contains(s.Enum, "teller") && !slices.Contains(s.Enum, "csv"):
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
	case "amount": // as people type it, in a string
		return "75,05"
	case "key": // the file does not name its only account
		return "account"
	case "tsv":
		return "slug\tdisplay_name\n"
	case "website_url", "logo_url", "url":
		return "https://a.example"
	}
	return fmt.Sprintf("Plain %d", n)
}

// A formRoad calls an op, by route or by tool.
type formRoad func(*testing.T, *op.Op, map[string]any) formAnswer

// formSurfaces returns the ways to call an op.
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

// TestFormTable: formFields describes every field that looks like a reference, and nothing else.
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

// checkForms checks the ids in a result: a tool's has short ids only, a route's has UUIDs, and a
// record of a route has both.
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
				if k != "filters" && k != "filter" { // a saved filter is returned as the caller wrote it
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
