package pg_test

import (
	"testing"

	"coffer/internal/pg"
	"coffer/internal/pg/pgtest"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// Wordings that were stored before the column was there get their folded text, however many they are.
func TestMigrateFoldsWordings(t *testing.T) {
	t.Parallel()
	db, err := pg.Open(t.Context(), pgtest.EmptyURL(t), pg.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn := stdlib.OpenDBFromPool(db.Pool)
	defer conn.Close() //nolint:errcheck // the pool is closed after it
	old, err := goose.NewProvider(goose.DialectPostgres, conn, pg.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.UpTo(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `
		insert into descriptor (name, merchant_name) select 'REWE ' || n, 'ΣΊΣΥΦΟΣ' from generate_series(1, 12000) n;
		delete from descriptor where id % 3 = 0;
		insert into descriptor (name, merchant_name) values ('', 'MÜLLER GRÖẞE'), ('', '')`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := pg.All[struct {
		Name     string `db:"name"`
		Merchant string `db:"merchant_name"`
		Folded   string `db:"folded"`
	}](t.Context(), db, `select name, merchant_name, folded from descriptor`)
	if err != nil || len(rows) != 8002 {
		t.Fatalf("%d wordings (%v)", len(rows), err)
	}
	for _, r := range rows {
		if want := text.Fold(r.Name) + "\n" + text.Fold(r.Merchant); r.Folded != want {
			t.Fatalf("%q, %q became %q", r.Name, r.Merchant, r.Folded)
		}
	}
}
