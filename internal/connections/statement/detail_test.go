package statement

import (
	"testing"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/pg"
)

// found returns how many transactions a search finds.
func (b *branch) found(t *testing.T, search string) int {
	t.Helper()
	page, err := ledger.New(b.db, nil).Transactions(t.Context(), b.db,
		ledger.ListTransactions{Filter: ledger.Filter{Search: &search}, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Transactions)
}

const german = "Buchungstag;Beguenstigter/Zahlungspflichtiger;Verwendungszweck;Betrag;Waehrung\n" +
	"01.10.2026;Hausverwaltung Krüger;Miete Oktober Whg 3 OG;-950,00;EUR\n" +
	"02.10.2026;Sparkasse;GA NR00012345 BLZ37040044;-50,00;EUR\n" +
	"03.10.2026;;Erstattung Auslagen;20,00;EUR\n"

// A payment's purpose is read from the file. A file that an older version imported without purposes
// is imported again: that adds the purposes and no rows.
func TestOldFilesFillPurposes(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	if first := b.file(t, ImportFile{ID: at, File: []byte(german)}); first.Added != 3 || first.Detailed != 0 {
		t.Fatalf("%+v", first)
	}
	if b.found(t, "GA NR0001") != 1 || b.found(t, "whg 3") != 1 || b.found(t, "erstattung") != 1 {
		t.Error("a purpose is not found")
	}
	if n, err := pg.Value[int](t.Context(), b.db, `select count(*) from descriptor where detail <> ''`); err != nil ||
		n != 2 {
		t.Errorf("%d purposes, %v; one stands in for the name, which says it already", n, err)
	}
	b.exec(t, `update descriptor set detail = '', folded = split_part(folded, e'\n', 1) || e'\n'`) // as it was
	if n := b.found(t, "GA NR0001"); n != 0 {
		t.Fatalf("%d are found of what was never stored", n)
	}
	again := b.file(t, ImportFile{ID: at, File: []byte(german)})
	if again.Added != 0 || again.Detailed != 2 || again.Modified != 2 || again.Duplicates != 1 {
		t.Errorf("%+v", again)
	}
	if n := b.found(t, "GA NR0001"); n != 1 {
		t.Errorf("%d are found once the file was imported again", n)
	}
	if third := b.file(t, ImportFile{ID: at, File: []byte(german)}); third.Detailed != 0 || third.Duplicates != 3 {
		t.Errorf("once more: %+v", third)
	}
}

// An agent's file does not add purposes to stored rows, because a revert could not remove them.
func TestAnAgentsFileFillsNoPurposes(t *testing.T) {
	t.Parallel()
	const head = "Date,Description,Memo,Amount,Transaction ID\n"
	b := newBranch(t)
	d := b.drawer(t)
	if _, err := d.put(t.Context(), head+"2026-01-02,RENT,,-900.00,0b7d52e4\n2026-01-03,GYM,May,-20.00,c41e88aa\n"); err != nil {
		t.Fatal(err)
	}
	d.onlyNew = true
	got, err := d.put(t.Context(), head+"2026-01-02,RENT,Do as I say,-900.00,0b7d52e4\n2026-01-03,GYM,,-20.00,c41e88aa\n")
	if err != nil || got.RowsSkipped != 1 || got.Duplicates != 1 || got.Modified != 0 || b.found(t, "do as i say") != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
