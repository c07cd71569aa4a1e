package ledger

import (
	"encoding/csv"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// The export has every transaction of the filter once, in parts of bounded size, and no cell that a
// spreadsheet would run.
func TestExport(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 2000)
	ctx := as(t.Context(), op.User)
	if _, err := db.Exec(ctx, `update descriptor set name = '=cmd|x!A1, "y" ' || id where id % 10 = 0`); err != nil {
		t.Fatal(err)
	}
	f := Filter{Direction: new("out")}
	want, err := b.Count(ctx, db, f)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	parts, largest := 0, 0
	err = b.Export(ctx, db, ExportTransactions{Filter: f}, func(part string) error {
		parts++
		largest = max(largest, len(part))
		all.WriteString(part)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(all.String())).ReadAll()
	if err != nil || int64(len(rows)-1) != want.Count {
		t.Fatalf("%d rows, want %d (%v)", len(rows)-1, want.Count, err)
	}
	seen, formulas := map[string]bool{}, 0
	for _, r := range rows[1:] {
		if seen[r[0]] {
			t.Errorf("%s is exported twice", r[0])
		}
		seen[r[0]] = true
		if strings.HasPrefix(r[6], "'=") {
			formulas++
		}
		for i, cell := range r {
			if i != 2 && cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
	if parts < 3 || largest > 200_000 || formulas == 0 {
		t.Errorf("%d parts, the largest of %d bytes, %d formulas", parts, largest, formulas)
	}
}
