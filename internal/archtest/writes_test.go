package archtest

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// owners names for every table the one package that writes it. Other packages may read it with a
// join. Tables of another schema than public are named schema.table; schema.* stands for all of
// them.
var owners = map[string]string{
	"instance":          "pg",
	"naming":            "ledger", // only by triggers
	"schema_version":    "pg",
	"idempotency":       "op",
	"token":             "auth",
	"category":          "category",
	"category_mapping":  "category",
	"tag":               "category",
	"member":            "auth",
	"login":             "auth",
	"attempt":           "auth",
	"ticket":            "auth",
	"device":            "auth",
	"client":            "auth",
	"consent":           "auth",
	"connection":        "connection",
	"quarantine":        "connection",
	"sync_log":          "connection",
	"upload":            "statement",
	"link_session":      "linksession",
	"webhook_event":     "webhook",
	"account":           "account",
	"account_balance":   "account",
	"proof":             "account",
	"proof_due":         "account",
	"rate":              "analytics",
	"counterparty":      "counterparty",
	"descriptor":        "ledger",
	"transaction":       "ledger",
	"transaction_alias": "ledger",
	"transaction_tag":   "ledger",
	"touched":           "ledger",
	"form_due":          "ledger",
	"finding":           "finding",
	"recurring":         "recurring",
	"recurring_row":     "recurring",
	"sighting":          "finding",
	"sighting_due":      "recurring", // written by sweeps, for findings
	"account_link":      "accountlink",
	"link_match":        "accountlink",
	"manual_field":      "ledger",
	"manual_match":      "manual",
	"change":            "journal",
	"entry":             "journal",
	"comment":           "journal",
	"bank_event":        "journal",
	"rule":              "rulebook",
	"rulebook":          "rulebook",
	"rule_hit":          "rulebook",
	"endpoint":          "notify",
	"notification":      "notify",
	"delivery":          "notify",
	"report":            "report",
	"saved_view":        "savedview",
	"target":            "target",
	"preference":        "savedview",
	"backup":            "settings",
	"setting":           "settings",
	"provider_setting":  "settings",
	"model_setting":     "settings",
	"write_budget":      "journal",
	"job":               "job",
	"export":            "archive",
	"export_part":       "archive",
	"prompt_block":      "workflow",
	"workflow":          "workflow",
	"workflow_run":      "workflow",
	"workflow_line":     "workflow",
	"workflow_plan":     "workflow",
	"workflow_seen":     "workflow",
	"model_call":        "workflow",
	"model_month":       "workflow",
}

// writesAll is the package that restores a backup, so it must write every table.
const writesAll = "archive"

// writing matches writes in a statement. Its groups are (1) the schema, (2) the table, or (3) that
// the table is not constant.
var writing = regexp.MustCompile(`(?is)\b(?:` + strings.Join([]string{
	`(?:insert\s+into|delete\s+from|merge\s+into|truncate(?:\s+table)?|(?:alter|drop)\s+table(?:\s+if\s+exists)?)\s+` +
		target,
	`update\s+` + target + `(?:\s+(?:as\s+)?\w+)?\s+set\b`,
	`copy\s+` + target + `\s*(?:\([^)]*\))?\s*\bfrom\b`,
}, "|") + `)`)

const target = `(?:only\s+)?(?:"?(\w+)"?\.)?(?:"?(\w+)"?|(` + hole + `|%(?:\[\d+\])?[svq]))`

// ownerOf returns the owner of a table. The owner is "" if the name is not a table of the schema,
// but a temporary table or a word of prose.
func ownerOf(schema, table string) (name, owner string) {
	name, schema = strings.ToLower(table), strings.ToLower(schema)
	if schema != "" && schema != "public" {
		name = schema + "." + name
		if o, ok := owners[schema+".*"]; ok {
			return name, o
		}
	}
	return name, owners[name]
}

// writes checks that only the owner of a table writes it. It reads every text of the program,
// whatever code runs it.
func writes(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		pkg := short(f.dir)
		if pkg == writesAll || isHelper(pkg) {
			continue
		}
		report := func(at ast.Node, fn, schema, table string) {
			if table == "" {
				out = append(out, finding{
					f.path, tr.line(at),
					"writes to a table that only the running program knows; name it, so that its owner can be " +
						"checked",
					strings.TrimSpace("write " + f.path + " " + fn),
				})
				return
			}
			if name, owner := ownerOf(schema, table); owner != "" && owner != pkg {
				out = append(out, finding{
					f.path, tr.line(at),
					fmt.Sprintf("writes %s, which is %s's: call a step of %s, or move the use case there", name,
						owner, owner), "write " + pkg + " " + name,
				})
			}
		}
		tr.texts(f, func(at ast.Node, fn, text string) {
			for _, m := range writing.FindAllStringSubmatch(text, -1) {
				for i := 1; i < len(m); i += 3 { // three groups for each kind of write
					if m[i+1] != "" || m[i+2] != "" {
						report(at, fn, m[i], m[i+1])
					}
				}
			}
		})
		tr.copies(f, report)
	}
	return out
}

// copies finds calls of CopyFrom, in which the table is an identifier and not part of an SQL text.
func (tr *tree) copies(f *file, report func(at ast.Node, fn, schema, table string)) {
	for _, d := range f.syntax.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		r := tr.reader(f, d)
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 4 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "CopyFrom" {
				return true
			}
			into := call.Args[1]
			if name, ok := into.(*ast.Ident); ok && r.locals[name.Name] != nil {
				into = r.locals[name.Name]
			}
			schema, table := "", ""
			if lit, ok := into.(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
				parts := make([]string, len(lit.Elts))
				for i, e := range lit.Elts {
					parts[i] = r.text(e)
				}
				if !strings.Contains(strings.Join(parts, ""), hole) {
					table = parts[len(parts)-1]
					schema = strings.Join(parts[:len(parts)-1], ".")
				}
			}
			report(call, enclosing(decl), schema, table)
			return true
		})
	}
}

// TestOwners compares the map of owners with the migrated schema, both ways.
func TestOwners(t *testing.T) {
	t.Parallel()
	tables, err := pg.Values[string](t.Context(), pgtest.New(t), `
		select case schemaname when 'public' then tablename else schemaname || '.' || tablename end
		from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range unowned(tables, owners) {
		t.Error(f)
	}
	// The control has a table without an owner, an owner without a table, and an owner that is not
	// a package.
	control := unowned([]string{"tag", "stray", "queue.job"},
		map[string]string{"tag": "ledger", "ghost": "ledger", "queue.*": "job", "tag2": "nobody"})
	want := []string{"ghost", "stray", "tag2", "tag2"}
	var got []string
	for _, f := range control {
		name, _, _ := strings.Cut(f, ":")
		got = append(got, name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the control gave %q, want %q", got, want)
	}
}

// unowned returns the tables without an owner, and the entries of owners without a table or a
// package.
func unowned(tables []string, owners map[string]string) []string {
	var out []string
	for _, name := range tables {
		schema, _, _ := strings.Cut(name, ".")
		if owners[name] == "" && owners[schema+".*"] == "" {
			out = append(out, name+": has no owner; name the one package that writes it in archtest's owners")
		}
	}
	for name, owner := range owners {
		prefix, all := strings.CutSuffix(name, "*")
		if !slices.ContainsFunc(tables, func(t string) bool {
			return t == name || all &&
				strings.HasPrefix(t, prefix)
		}) {
			out = append(out, name+": has an owner, but there is no such table")
		}
		if _, ok := levelOf(owner); !ok {
			out = append(out, name+": belongs to "+owner+", which is no package of ours")
		}
	}
	return out
}
