package category

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"pgregory.net/rapid"
)

func importing(ctx context.Context, t interface{ Fatal(...any) }, db *pg.DB, tsv string) Import {
	var out Import
	err := db.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = New().ImportCategories(ctx, tx, ImportCategories{TSV: tsv})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Importing an unedited export changes nothing, in any cell.
func TestExportIsTheImportsIdentity(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tsv, err := New().ExportCategories(t.Context(), db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(tsv, "\n") - 1
	if out := importing(t.Context(), t, db, tsv); out.Unchanged != rows ||
		out.Updated+out.Created+out.Merged+len(out.Errors) != 0 {
		t.Errorf("%d rows: %+v", rows, out)
	}
}

// After any import, the tree has two levels, live parents and one live category per slug. An export
// after the import matches the file.
func TestImportsKeepTheTree(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx := context.Background()
	slugs := []string{"a", "b", "c", "a_x", "a_y", "b_x", "home", "home_rent"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("slug\tdisplay_name\tparent_slug\thidden\tmerge_into\n")
		for _, slug := range rapid.SliceOfNDistinct(rapid.SampledFrom(slugs), 1, 6, rapid.ID).Draw(t, "rows") {
			parent := rapid.SampledFrom([]string{"", "", "a", "b", "home"}).Draw(t, "parent")
			into := rapid.SampledFrom([]string{"", "", "", "home", "b"}).Draw(t, "into")
			fmt.Fprintf(&b, "%s\t%s\t%s\t%v\t%s\n", slug, rapid.StringMatching(`[=+A-Za-z ]{0,3}[A-Z]`).Draw(t, "name"),
				parent, rapid.Bool().Draw(t, "hidden"), into)
		}
		var out Import
		err := db.InTx(ctx, func(tx pg.Tx) (err error) {
			out, err = New().ImportCategories(ctx, tx, ImportCategories{TSV: b.String()})
			return err
		})
		// A merge that does not fit the tree is an error for the whole file. That is a valid
		// result, and nothing may have been written.
		_ = err
		bad, err := pg.Value[int](ctx, db, `
			select count(*) from category c left join category p on p.id = c.parent_id
			where c.deleted_at is null and c.parent_id is not null
				and (p.parent_id is not null or p.deleted_at is not null)`)
		if err != nil || bad != 0 {
			t.Fatalf("%d categories have no live primary after\n%s%+v (%v)", bad, b.String(), out, err)
		}
		tsv, err := New().ExportCategories(ctx, db, op.None{})
		if err != nil {
			t.Fatal(err)
		}
		if again := importing(ctx, t, db, tsv); again.Updated+again.Created+again.Merged+len(again.Errors) != 0 {
			t.Fatalf("an export does not import as unchanged: %+v", again)
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add("slug\tdisplay_name\nx\tX\n")
	f.Add("\ufeffslug\r\n\r\nx\r\n")
	f.Add("slug\tslug\n")
	f.Add("slug\tparent_slug\tmerge_into\na\ta\ta\nb\ta\tb\n")
	f.Fuzz(func(t *testing.T, tsv string) {
		p := newPlan([]Category{{Slug: "home", Name: "Home", Kind: "expense"}})
		p.read(tsv)
		p.checkWhole()
		if len(p.errors) == 0 {
			p.changes()
		}
	})
}

// Every value survives the round trip through a cell, and no cell starts with a character that a
// spreadsheet would execute.
func TestCellsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.StringMatching(`['=+@\-]{0,5}[a-z]{0,2}`).Draw(t, "value")
		if got := uncell(cell(v)); got != v {
			t.Fatalf("%q was written as %q and read as %q", v, cell(v), got)
		}
		if c := cell(v); c != "" && strings.ContainsRune("=+-@", rune(c[0])) {
			t.Fatalf("%q would be executed", c)
		}
	})
}
