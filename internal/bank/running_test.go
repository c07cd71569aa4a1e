package bank_test

import (
	"slices"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
)

// A statedRow is a row with a day of May 2026, an amount in cents and a balance in cents.
type statedRow struct {
	day            int
	cents, balance int64
}

func closings(rows []statedRow, mute ...int) map[int]int64 {
	var r bank.Running
	for i, x := range rows {
		amount, _ := money.FromCents(x.cents)
		balance, _ := money.FromCents(x.balance)
		stated := &balance
		if slices.Contains(mute, i) {
			stated = nil
		}
		r.Add(time.Date(2026, 5, x.day, 0, 0, 0, 0, time.UTC), amount, stated)
	}
	out := map[int]int64{}
	for _, c := range r.Closings() {
		out[c.Day.Day()] = c.Asset.Cents()
	}
	return out
}

// A file or a bank may begin with the oldest or the newest row, and write a card's balance as money
// or as a debt. The amounts prove which is the case. An order or a sign without proof is not used.
func TestRunning(t *testing.T) {
	t.Parallel()
	rows := []statedRow{
		{1, 100, 9900}, {1, 250, 9650}, {2, -5000, 14650}, {4, 700, 13950}, {4, 30, 13920}, {4, 11, 13909}, {9, 9, 13900},
	}
	want := map[int]int64{1: 9650, 2: 14650, 4: 13909, 9: 13900}
	owed := slices.Clone(rows)
	for i := range owed {
		owed[i].balance *= -1
	}
	backwards := func(rows []statedRow) []statedRow {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
		return rows
	}
	same := func(got, want map[int]int64) bool {
		for d, b := range want {
			if got[d] != b {
				return false
			}
		}
		return len(got) == len(want)
	}
	for name, got := range map[string]map[int]int64{
		"oldest first":             closings(rows),
		"newest first":             closings(backwards(rows)),
		"a debt, oldest first":     closings(owed),
		"a debt, newest first":     closings(backwards(owed)),
		"one that does not add up": closings(append([]statedRow{{1, 5, 1}}, rows...)),
	} {
		if !same(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	strange := slices.Clone(rows)
	for i := range strange {
		strange[i].balance += int64(i * i * 17)
	}
	for name, got := range map[string]map[int]int64{
		"too few":                closings(rows[:5]),
		"amounts do not fit":     closings(strange),
		"no rows":                closings(nil),
		"balances nobody states": closings(rows, 0, 1, 2, 3, 4, 5, 6),
	} {
		if len(got) != 0 {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
	// the rows of the 2nd are before and after another day, and one of the 9th states no balance
	mixed := []statedRow{
		{1, 100, 9900},
		{2, 250, 9650},
		{3, -5000, 14650},
		{2, 700, 13950},
		{4, 30, 13920},
		{5, 11, 13909},
		{9, 9, 13900},
		{9, 9, 13891},
	}
	if got := closings(mixed, 7); !same(got, map[int]int64{1: 9900, 4: 13920, 5: 13909}) {
		t.Errorf("days out of order: %v", got)
	}
}
