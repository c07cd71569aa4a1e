package machine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// A frozen is a database that can be made again what it was, in milliseconds and while it is
// served. A copy of it for each sequence would take longer than the sequence.
type frozen struct {
	db    *pg.DB
	again string // the statements that do it
}

// freeze keeps what every table holds. Names and rules, which servers keep in memory, get new
// versions each time, as after a restore.
func freeze(t *testing.T, db *pg.DB) *frozen {
	t.Helper()
	type table struct {
		Name    string `db:"name"`
		Columns string `db:"columns"`
	}
	tables, err := pg.All[table](t.Context(), db, `
		select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
		from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
			and a.attgenerated = '' and c.relname <> 'schema_version'
		group by 1 order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	keep, again := []string{"create schema begin"}, []string{"begin", "set local session_replication_role = replica"}
	for _, x := range tables {
		keep = append(keep, fmt.Sprintf("create table begin.%s as select %s from public.%s", x.Name, x.Columns, x.Name))
		again = append(again, "delete from public."+x.Name, fmt.Sprintf(
			"insert into public.%s (%s) overriding system value select * from begin.%s", x.Name, x.Columns, x.Name))
	}
	again = append(again, "update naming set version = gen_random_uuid()",
		"update rulebook set version = gen_random_uuid()", "commit")
	if _, err := db.Exec(t.Context(), strings.Join(keep, "; ")); err != nil {
		t.Fatal(err)
	}
	return &frozen{db, strings.Join(again, "; ")}
}

// thaw makes everything what it was.
func (f *frozen) thaw() error {
	_, err := f.db.Exec(context.Background(), f.again)
	return err
}
