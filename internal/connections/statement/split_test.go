package statement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

const splitFile = "!Account\nNGiro\nTBank\n^\n!Type:Bank\n" +
	"D03/14/2026\nT-100.00\nPMarket\nSFood\nEweek\n$-70.00\nSHome/Kim\n$-20.00\nSPets\n$-10.00\n^\n" +
	"D03/15/2026\nT-50.00\nPTo the card\nL[Card]\n^\n" +
	"D03/16/2026\nT-40.00\nPTo savings\nL[Savings]\n^\n" +
	"!Account\nNCard\nTCCard\n^\n!Type:CCard\n" +
	"D03/15/2026\nT50.00\nPFrom Giro\nL[Giro]\n^\n"

// The splits of a file are stored as splits, in the import's change. They are restored when a
// revert is reverted. Both sides of a transfer in one file are exactly two rows. A warning lists
// details that the books cannot store.
func TestSplitsOfAFile(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.exec(t, `insert into category_mapping (provider, raw_primary, raw_detailed, category_id)
		select 'csv', 'Food', '', id from category where slug = 'food_and_drink_groceries'`)
	in := b.into(t, ImportFile{ID: b.bucket(t), File: []byte(splitFile), Options: asWritten("qif")})
	out := b.file(t, in)
	if out.Added != 4 || len(out.Accounts) != 2 || out.Accounts[1].Added != 1 {
		t.Fatalf("%+v", out)
	}
	if len(out.Warnings) != 1 || out.Warnings[0].Code != "not_kept" || !strings.HasSuffix(out.Warnings[0].Message,
		": 2 categories of parts, 1 memo of a part, 1 class, 1 account on the other side of a transfer") {
		t.Errorf("%+v", out.Warnings)
	}
	parts := func() []string {
		t.Helper()
		all, err := pg.Values[string](t.Context(), b.db, `select concat_ws(' ', p.amount, c.slug) from transaction p
			left join category c on c.id = p.category_id where p.parent_id is not null and p.deleted_at is null order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := []string{"10.00", "20.00", "70.00 food_and_drink_groceries"}
	sound := func() {
		t.Helper()
		if bad, err := pg.Values[*id.ID](t.Context(), b.db, ledgertest.Unsound); err != nil || len(bad) > 0 {
			t.Errorf("unsound: %v, %v", bad, err)
		}
	}
	if got := parts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	sound()
	if again := b.file(t, in); again.changed() || again.Duplicates != 4 || len(again.Warnings) != 0 {
		t.Errorf("again: %+v", again)
	}
	undone := b.undo(t, out.ChangeID)
	if got := parts(); len(got) != 0 || len(undone.Skipped) > 0 {
		t.Errorf("undone: %q, %+v", got, undone.Skipped)
	}
	sound()
	b.undo(t, &undone.Change.ID)
	if got := parts(); !slices.Equal(got, want) {
		t.Errorf("done again: %q", got)
	}
	sound()
	var many strings.Builder
	many.WriteString("!Type:Bank\nD03/14/2026\nT-21.00\nPMany\n")
	for i := range 21 {
		fmt.Fprintf(&many, "SPart%d\n$-1.00\n", i)
	}
	wide := b.file(t, ImportFile{ID: b.bucket(t), File: []byte(many.String() + "^\n"), Options: asWritten("qif")})
	if wide.Added != 1 || len(wide.Warnings) == 0 || !strings.HasSuffix(wide.Warnings[len(wide.Warnings)-1].Message, ": 1 split") {
		t.Errorf("%+v", wide)
	}
}
