package statement

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"coffer/internal/bank/banktest"
	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/text"
)

// A drawer is an account into which statements are imported, without a job queue.
type drawer struct {
	*branch
	connection, account id.ID

	onlyNew bool // import as an agent
}

func (b *branch) drawer(t *testing.T) *drawer {
	t.Helper()
	at, err := id.Parse(b.bucket(t))
	if err != nil {
		t.Fatal(err)
	}
	d := &drawer{branch: b, connection: at}
	err = b.db.InTx(t.Context(), func(tx pg.Tx) error {
		made, err := b.Statements.accounts.AddAccounts(t.Context(), tx, []account.Incoming{{
			ConnectionID: &at, Provider: "csv", ProviderID: id.Base62(12), Name: text.Name("Giro"), Type: "depository",
			Currency: "EUR",
		}})
		if err == nil {
			d.account = made[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *drawer) put(ctx context.Context, file string) (out Imported, err error) {
	o := reading{Currency: "EUR", Own: statement.Own{"amount_sign": []byte(`"negative_out"`)}}
	err = d.db.InTx(ctx, func(tx pg.Tx) error {
		out = Imported{}
		_, err := d.take(ctx, tx, id.New(), delivery{
			Connection: d.connection, Targets: []target{{Account: &d.account, Whole: true}}, Options: o, OnlyNew: d.onlyNew,
		}, []byte(file), &out)
		return err
	})
	return out, err
}

func (d *drawer) Put(ctx context.Context, file string) (banktest.Taken, error) {
	got, err := d.put(ctx, file)
	return banktest.Taken{
		Added: got.Added, Modified: got.Modified, Duplicates: got.Duplicates,
		Left: got.Restored + got.RowsRejected + got.RowsSkipped,
	}, err
}

func (d *drawer) Rows(ctx context.Context) ([]string, error) {
	rows, err := pg.Values[string](ctx, d.db, `
		select concat_ws(' ', t.date, t.amount, d.name) from transaction t join descriptor d on d.id = t.descriptor_id
		where t.account_id = $1 and t.deleted_at is null`, d.account)
	slices.Sort(rows)
	return rows, err
}

// TestStatementsIntoBooks imports 1,000 random statements, some of them twice. After each one it
// compares the books with the ledger from which the statements were cut.
func TestStatementsIntoBooks(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	banks := 200
	if testing.Short() {
		banks = 24
	}
	b := newBranch(t)
	for n := range banks {
		r := rand.New(rand.NewPCG(uint64(n), 13))
		p := banktest.NewPaper(r, banktest.PaperIDs(n)%banktest.PaperManners)
		if err := banktest.TryPaper(t.Context(), p, 5, b.drawer(t)); err != nil {
			t.Fatalf("bank %d, manner %d: %v", n, p.Manner, err)
		}
	}
}

// After a revert, importing a row again restores it. A row with another text is modified. Neither
// counts as a duplicate.
func TestImportCountsWhatItDid(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	d := b.drawer(t)
	file := "Date,Description,Amount,Transaction " +
		"ID\n2026-05-01,COFFEE,-4.80,a7\n2026-05-03,RENT,-90.00,b8\n2026-05-05,POWER,-40.00,c9\n"
	if _, err := d.put(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	// the same effect as a revert of the import
	b.exec(t, `update transaction set deleted_at = now(), deleted_source = 'provider' where amount = 90`)
	b.exec(t, `update transaction set deleted_at = now(), deleted_source = 'user' where amount = 40`)
	got, err := d.put(t.Context(),
		"Date,Description,Amount,Transaction ID\n2026-05-01,COFFEE "+
			"BAR,-4.80,a7\n2026-05-03,RENT,-90.00,b8\n2026-05-05,POWER,-40.00,c9\n2026-05-05,CINEMA,-11.00,d1\n")
	if err != nil || got.Added != 1 || got.Modified != 1 || got.Restored != 1 || got.Duplicates != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if rows, err := d.Rows(t.Context()); err != nil || len(rows) != 3 {
		t.Errorf("a row that a person deleted is there again: %v, %v", rows, err)
	}
}
