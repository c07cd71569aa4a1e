package archive

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// TestEveryTableIsDecidedOn makes the author of a new table or sealed column decide whether exports
// contain it.
func TestEveryTableIsDecidedOn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	names, err := pg.Values[string](t.Context(), db, `select tablename::text from pg_tables
		where schemaname = 'public' order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range undecided(names, taken, slices.Collect(maps.Keys(kept)), slices.Collect(maps.Keys(never))) {
		t.Error(f)
	}
	control := undecided([]string{"tag", "stray", "twice"}, []string{"tag", "ghost", "twice"},
		[]string{"twice", "tag.color"}, []string{"gone"})
	if len(control) != 2 {
		t.Errorf("the control gave %q", control)
	}
	all, err := tables(t.Context(), db, Backup)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		if strings.Contains(table.lines(), "order by )") {
			t.Errorf("%s has no primary key, so its rows have no order of their own", table.name)
		}
		for _, c := range table.columns {
			// A column of bytes contains a secret, a hash of one, or a file. An export must contain
			// none of them.
			bytes, err := pg.Value[bool](t.Context(), db, `select format_type(atttypid, null) = 'bytea'
				from pg_attribute where attrelid = $1::regclass and attname = $2`, table.name, c.Name)
			if err != nil || bytes && holds(Export, table.name, c.Name) {
				t.Errorf("%s.%s holds bytes and would be exported: %v", table.name, c.Name, err)
			}
		}
	}
	for name := range kept {
		if table, column, ok := strings.Cut(name, "."); ok {
			i := slices.IndexFunc(all, func(t listed) bool { return t.name == table })
			if i >= 0 && !slices.Contains(all[i].names(), column) {
				t.Errorf("%s stays, but there is no such column", name)
			}
		}
	}
	for name, rows := range seeded {
		if !slices.Contains(names, name) {
			continue
		}
		if own, err := pg.Value[int](t.Context(), db,
			`select count(*) from `+quote(name)+` where not (`+rows+`)`); err != nil || own > 0 {
			t.Errorf("a new household has %d rows in %s that are not seen as seeded: %v", own, name, err)
		}
	}
}

type listed = table

// undecided returns the tables that are in none of the lists, or in two. A listed name without a
// table does no harm.
func undecided(tables, taken, kept, never []string) []string {
	var out []string
	lists := slices.Concat(taken, kept, never)
	for _, name := range tables {
		times := 0
		for _, l := range lists {
			if l == name {
				times++
			}
		}
		if times != 1 {
			out = append(out,
				name+" must stand in exactly one of taken, kept and never (archive/table.go): does an export hold it?")
		}
	}
	return out
}
