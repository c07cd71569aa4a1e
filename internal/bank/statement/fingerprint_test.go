package statement_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

func prints(rows []statement.Row) (out []string) {
	var f statement.Fingerprints
	for _, r := range rows {
		out = append(out, f.Of(r))
	}
	return out
}

func coffee() statement.Row {
	return statement.Row{Date: "2026-03-14", Amount: money.MustParse("3.50"), Name: "Corner Coffee", Account: "0001"}
}

func TestFingerprintsTellRowsApart(t *testing.T) {
	t.Parallel()
	change := func(f func(*statement.Row)) statement.Row {
		r := coffee()
		f(&r)
		return r
	}
	rows := []statement.Row{
		coffee(),
		coffee(), // a second coffee
		change(func(r *statement.Row) { r.Date = "2026-03-15" }),
		change(func(r *statement.Row) { r.Amount = r.Amount.Neg() }),
		change(func(r *statement.Row) { r.Name = "Corner Tea" }),
		change(func(r *statement.Row) { r.Account = "0002" }),
		change(func(r *statement.Row) { r.ID = "1" }),
		change(func(r *statement.Row) { r.ID = "2" }),
	}
	got := prints(rows)
	if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n != len(rows) {
		t.Errorf("%d of %d are different: %v", n, len(rows), got)
	}
}

func TestFingerprintsForgiveExports(t *testing.T) {
	t.Parallel()
	a, b := coffee(), coffee()
	b.Number, b.Name, b.Currency, b.Category = 77, text.Name("  CORNER \t coffee "), "EUR", "Food"
	if prints([]statement.Row{a})[0] != prints([]statement.Row{b})[0] {
		t.Error("case, white space or text outside the charge made a difference")
	}
	a.ID, b.ID, b.Name = "x1", "X1", "Corner Coffee Ltd"
	if prints([]statement.Row{a})[0] != prints([]statement.Row{b})[0] {
		t.Error("the bank's id did not hold")
	}
	if b.Date = "2026-03-15"; prints([]statement.Row{a})[0] == prints([]statement.Row{b})[0] {
		t.Error("an id that is used again on another day is the same row")
	}
}

// Files that overlap by whole days, in any order of rows, give the shared rows the same keys. No
// row is counted twice or lost.
func TestFingerprintsOfOverlappingFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rows []statement.Row
		for range rapid.IntRange(1, 40).Draw(t, "rows") {
			r := coffee()
			r.Date = "2026-03-1" + string(rune('0'+rapid.IntRange(0, 5).Draw(t, "day")))
			r.Name = text.Name(strings.Repeat("x", rapid.IntRange(1, 2).Draw(t, "name")))
			rows = append(rows, r)
		}
		whole := map[string]bool{}
		for _, p := range prints(rows) {
			whole[p] = true
		}
		if len(whole) != len(rows) {
			t.Fatal("two rows have one name")
		}
		cut, reach := rapid.IntRange(0, 5).Draw(t, "cut"), rapid.IntRange(0, 5).Draw(t, "reach")
		parts := map[string]bool{}
		for _, keep := range []func(int) bool{
			func(d int) bool { return d <= max(cut, reach) },
			func(d int) bool { return d > min(cut, reach) },
		} {
			var file []statement.Row
			for _, r := range rows {
				if keep(int(r.Date[9] - '0')) {
					file = append(file, r)
				}
			}
			if rapid.Bool().Draw(t, "newest first") {
				slices.Reverse(file)
			}
			for _, p := range prints(file) {
				parts[p] = true
			}
		}
		if !maps.Equal(whole, parts) {
			t.Fatalf("%d rows as one file, %d as two", len(whole), len(parts))
		}
	})
}
