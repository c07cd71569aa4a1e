package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A Kind is the purpose of an archive.
type Kind string

const (
	// Export is for people and other programs. It contains everything that the household knows, but
	// no secrets that give access to anything.
	Export Kind = "export"
	// Backup is the complete database with sealed columns. It is encrypted unless its Lock is Open.
	Backup Kind = "backup"
)

// taken lists every table that an export contains. A test fails for a table that is not in taken,
// kept or never, so the author of a new table must decide.
var taken = []string{
	"account", "account_balance", "account_link", "bank_event", "category", "category_mapping", "change", "comment",
	"connection", "counterparty", "descriptor", "entry", "finding",
	"form_due", "link_match", "manual_field", "manual_match",
	"member", "model_call",
	"model_month", "model_setting", "naming", "preference", "prompt_block", "quarantine", "rate", "recurring",
	"recurring_row", "report", "rule", "rule_hit", "rulebook",
	"saved_view", "setting", "sync_log", "tag", "target", "touched",
	"transaction", "transaction_alias", "transaction_tag", "workflow", "workflow_line", "workflow_plan", "workflow_run",
}

// kept lists what an export leaves out but a backup contains, by table or table.column, with the
// reason.
var kept = map[string]string{
	"connection.credentials": "bank credentials; reconnect the banks after an import",
	"model_setting.key":      "model keys: anyone who has one can use a model at the household's cost",
	"quarantine.raw":         "sealed with a key that is not exported",
	"delivery":               "messages being sent; an import has no endpoints",
	"endpoint":               "endpoints with their signing secrets; create them again after an import",
	"notification":           "notifications of this installation, kept for 90 days",
	"idempotency":            "responses of the last 24 hours, readable only by the caller that received them",
	"instance":               "keys of this installation itself",
	"job":                    "jobs of this installation, kept for 30 days",
	"link_session":           "link sessions in progress",
	"client":                 "assistants that members connected at this installation's address",
	"consent":                "members' consents to assistants; connect them again after an import",
	"login":                  "members' sign-in methods; create new ones after an import",
	"provider_setting":       "secrets of data providers",
	"token":                  "API keys and sessions",
	"upload":                 "uploaded files in transit",
	"webhook_event":          "webhook events, kept for 90 days",
	"workflow_seen":          "open items of workflows; they are found again after an import",
	"write_budget":           "today's write counts of this installation's keys",
}

// never lists the tables that no archive contains, with the reason.
var never = map[string]string{
	"schema_version": "the manifest states the schema",
	"export":         "files generated from the rest",
	"export_part":    "files generated from the rest",
	"backup":         "when backups were made of this installation",
	"attempt":        "counts of sign-in attempts, kept for a day",
	"ticket":         "sign-in links and challenges, valid for minutes",
	"device":         "pending device logins, valid for minutes",
	"proof":          "made from the rest",
	"proof_due":      "pending balance checks",
	"sighting":       "made from the rest",
	"sighting_due":   "pending counts",
}

// seeded describes the rows that a new household already has, by table. A household with any other
// row is not empty.
var seeded = map[string]string{
	"category": "is_system", "category_mapping": "true", "instance": "true",
	"prompt_block": "is_system", "workflow": "is_system",
	"member": "id = '019a3c5e-4000-7000-8000-000000000001'", "naming": "true", "rule": "is_system",
	"rulebook": "true", "setting": "true", "tag": "is_system",
}

// formerly maps the former names of columns, which archives of earlier schemas have, to the current
// names, by table.
var formerly = map[string]map[string]string{
	"connection": {"csv_options": "statement_options"},
}

// A column is a column of a table, as described in the catalog.
type column struct {
	Table   string `db:"table_name"`
	Name    string `db:"column_name"`
	Counted bool   `db:"counted"` // its values come from a sequence
	Text    bool   `db:"text"`
	Key     *int   `db:"key"` // position in the primary key
	// OldName is the column's name in an archive of an earlier schema; "" if it is the same.
	OldName string `db:"-"`
}

// archiveName returns the column's name in the archive.
func (c column) archiveName() string { return cmp.Or(c.OldName, c.Name) }

// A table lists the columns of a table that an archive contains.
type table struct {
	name    string
	columns []column
}

// tables reads from the catalog what an archive of that kind contains, sorted by name. It leaves
// out generated columns, because the database computes them again.
func tables(ctx context.Context, q pg.Querier, k Kind) ([]table, error) {
	columns, err := pg.All[column](ctx, q, `
		select c.relname::text as table_name, a.attname::text as column_name, a.attidentity <> '' as counted,
			a.attcollation <> 0 as text, array_position(i.indkey::smallint[], a.attnum) as key
		from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid left
			join pg_index i on i.indrelid = c.oid and i.indisprimary
		where n.nspname = 'public' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
			and a.attgenerated = ''
		order by c.relname, a.attnum`)
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	var out []table
	for _, c := range columns {
		if !holds(k, c.Table, c.Name) {
			continue
		}
		if len(out) == 0 || out[len(out)-1].name != c.Table {
			out = append(out, table{name: c.Table})
		}
		last := &out[len(out)-1]
		last.columns = append(last.columns, c)
	}
	return out, nil
}

func holds(k Kind, table, column string) bool {
	if never[table] != "" {
		return false
	}
	return k == Backup || slices.Contains(taken, table) && kept[table] == "" && kept[table+"."+column] == ""
}

func quote(names ...string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = pgx.Identifier{n}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

func (t table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// lines returns the statement that reads the table, as a JSON object for each row. The order is the
// same in every database: text is sorted by its bytes, whatever the locale.
func (t table) lines() string {
	key := make([]string, 0, 3)
	for place := range len(t.columns) + 1 {
		for _, c := range t.columns {
			if c.Key != nil && *c.Key == place {
				by := quote(c.Name)
				if c.Text {
					by += ` collate "C"`
				}
				key = append(key, by)
			}
		}
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = quote(c.Name) + " as " + quote(c.archiveName())
	}
	return "select row_to_json(x)::text from (select " + strings.Join(names, ", ") + " from " + quote(t.name) +
		" order by " + strings.Join(key, ", ") + ") x"
}

// as returns the table with only the columns that the archive contains, under their names in the
// archive.
func (t table) as(archived []string) table {
	out := table{name: t.name}
	for _, c := range t.columns {
		for before, now := range formerly[t.name] {
			if now == c.Name && slices.Contains(archived, before) {
				c.OldName = before
			}
		}
		if slices.Contains(archived, c.archiveName()) {
			out.columns = append(out.columns, c)
		}
	}
	return out
}

// has reports whether a column has that name in the archive.
func (t table) has(name string) bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.archiveName() == name })
}

// fill returns the statement that writes rows from a JSON array.
func (t table) fill() string {
	rows := "json_populate_recordset(null::" + quote(t.name) + ", $1::json)"
	for _, c := range t.columns {
		if c.OldName != "" {
			rows = "(select (jsonb_populate_record(null::" + quote(t.name) + ", row || jsonb_build_object('" + c.Name +
				"', row->'" + c.OldName + "'))).* from jsonb_array_elements($1::jsonb) as row) x"
		}
	}
	names := quote(t.names()...)
	return "insert into " + quote(t.name) + " (" + names + ") overriding system value select " + names + " from " + rows
}
