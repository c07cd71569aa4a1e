package pg_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			t.Fatalf("%s, line %d is not what the migrations make; if the change is meant, run make update and review "+
				"the diff\nwant %q\ngot  %q", path, i+1, want[min(i, len(want)-1)], have[min(i, len(have)-1)])
		}
	}
}

// The schema that the migrations create, from PostgreSQL's catalog. In a review, the diff of the
// golden file shows the effect of a new migration.
func TestGoldenSchema(t *testing.T) {
	t.Parallel()
	lines, err := pg.Values[string](t.Context(), pgtest.New(t), `
		with ours as (
			select c.oid, c.relname as name, c.relpersistence from pg_class c
			where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace),
		line (owner, rank, place, said) as (
			select '', 0, extname::text, 'extension ' || extname from pg_extension where extname <> 'plpgsql'
			union all
			select '', 1, p.proname::text, pg_get_functiondef(p.oid) from pg_proc p
			where p.pronamespace = 'public'::regnamespace
				and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
			union all
			select name, 2, '', case relpersistence when 'u' then 'unlogged ' else '' end || 'table ' || name from ours
			union all
			select o.name, 3, to_char(a.attnum, '0000'), concat('    ', a.attname, ' ', format_type(a.atttypid, a.atttypmod),
				case when a.attnotnull then ' not null' end,
				case a.attgenerated when 's' then ' generated' when '' then ' default' end
					|| ' ' || pg_get_expr(d.adbin, d.adrelid),
				case a.attidentity when 'a' then ' identity, always' when 'd' then ' identity, by default' end,
				case when a.attstorage <> y.typstorage then ' storage ' || a.attstorage::text end)
			from ours o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
				join pg_type y on y.oid = a.atttypid left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
			union all
			select o.name, 4, k.conname, concat('    ', k.conname, ': ', pg_get_constraintdef(k.oid))
			from ours o join pg_constraint k on k.conrelid = o.oid and k.contype in ('c', 'f', 'p', 'u', 'x')
			union all
			select o.name, 5, i.indexrelid::regclass::text, '    ' || pg_get_indexdef(i.indexrelid)
			from ours o join pg_index i on i.indrelid = o.oid
			where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
			union all
			select o.name, 6, s.stxname, '    ' || pg_get_statisticsobjdef(s.oid)
			from ours o join pg_statistic_ext s on s.stxrelid = o.oid
			union all
			select o.name, 7, g.tgname, '    ' || pg_get_triggerdef(g.oid)
			from ours o join pg_trigger g on g.tgrelid = o.oid and not g.tgisinternal)
		select replace(rtrim(said, E'\n'), 'public.', '') from line order by owner collate "C", rank, place collate "C"`)
	if err != nil || len(lines) < 500 {
		t.Fatal(len(lines), err)
	}
	golden(t, "testdata/schema.txt", strings.Join(lines, "\n")+"\n")
}

// The rows that every database starts with, without times and random numbers.
func TestGoldenSeed(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := pg.Values[string](t.Context(), db, `select relname::text from pg_class
		where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_version'
		order by relname collate "C"`)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, table := range tables {
		columns, err := pg.Values[string](t.Context(), db, `select quote_ident(attname) from pg_attribute
			where attrelid = $1::text::regclass and attnum > 0 and not attisdropped
				and atttypid <> 'timestamptz'::regtype and $1::text || '.' || attname
				not in ('instance.cursor_key', 'naming.version', 'rulebook.version') order by attnum`, table)
		if err != nil {
			t.Fatal(err)
		}
		if len(columns) == 0 {
			continue
		}
		rows, err := pg.Values[string](t.Context(), db, `select line from (select concat_ws(' | ', coalesce(`+
			strings.Join(columns, `::text, '–'), coalesce(`)+`::text, '–')) as line from `+table+
			`) x order by line collate "C"`)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			fmt.Fprintf(&out, "%s: %s\n    %s\n", table, strings.Join(columns, " | "), strings.Join(rows, "\n    "))
		}
	}
	golden(t, "testdata/seed.txt", out.String())
}

// frozen returns the faults of the migrations, given the list of released ones. Each line of the
// list is a hash and a name, as sha256sum prints them.
func frozen(list string, files fs.FS) (faults []string, err error) {
	hashes, last := map[string]string{}, ""
	for line := range strings.Lines(list) {
		if hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok && !strings.HasPrefix(line, "#") {
			hashes[name], last = hash, max(last, name)
		}
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		switch want, released := hashes[name]; {
		case released && fmt.Sprintf("%x", sha256.Sum256(text)) != want:
			faults = append(faults, name+" is in a release and never changes again: databases have taken it as it was, "+
				"and refuse a program that has another. Undo the edit, and write what you need as a new migration with "+
				"the next number (CONTRIBUTING.md, Migrations)")
		case !released && name < last:
			faults = append(faults, name+" comes before "+last+", which is in a release: databases that have taken that "+
				"one would never take this. Give it the next number")
		}
		delete(hashes, name)
	}
	for name := range hashes {
		faults = append(faults, name+" is in a release and is missing: databases have taken it. Bring it back")
	}
	return faults, nil
}

// A migration that is in a release never changes.
func TestReleasedMigrationsAreFrozen(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/released.sha256")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := frozen(string(list), pg.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	// The check itself must fail: compare a complete list with files of which one was edited, one
	// was inserted, and one is missing.
	files, all := with(t, madeUp), "# as sha256sum prints them\n"
	for name, file := range files {
		all += fmt.Sprintf("%x  %s\n", sha256.Sum256(file.Data), name)
	}
	if faults, err := frozen(all, files); err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
	files[later].Data = append(files[later].Data, '\n')
	files["00003_between.sql"] = files["00002_seed.sql"]
	delete(files, "00001_schema.sql")
	faults, err = frozen(all, files)
	var got []string
	for _, fault := range faults {
		name, _, _ := strings.Cut(fault, " ")
		got = append(got, name)
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, []string{"00001_schema.sql", "00003_between.sql", later}) {
		t.Error(faults, err)
	}
	files[indexed+"x.sql"] = files[later] // a number after the last one is allowed
	if again, err := frozen(all, files); err != nil || len(again) != len(faults) {
		t.Error(again, err)
	}
}
