package household_test

import (
	"testing"

	"coffer/internal/sim/household"
)

// Purposes change nothing else. Most rows of banks that send them have a purpose, and most are
// unique.
func TestPurposes(t *testing.T) {
	t.Parallel()
	with := household.New(household.Options{Seed: 4, Transactions: 5000, Purposes: true})
	plain := map[string]household.Transaction{}
	for r := range household.New(household.Options{Seed: 4, Transactions: 5000}).Transactions() {
		if r.Detail != "" {
			t.Fatalf("a purpose that nobody asked for: %q", r.Detail.Plain())
		}
		plain[r.ProviderID] = r
	}
	rows, told, texts := 0, 0, map[string]bool{}
	for r := range with.Transactions() {
		if with.Provider(r.AccountIndex) == "teller" {
			if r.Detail != "" {
				t.Fatalf("Teller sends no purpose, but has %q", r.Detail.Plain())
			}
			continue
		}
		rows++
		if r.Detail != "" {
			told++
			texts[r.Detail.Plain()] = true
		}
		same := plain[r.ProviderID]
		if same.Name != r.Name || same.Amount != r.Amount || !same.Date.Equal(r.Date) {
			t.Fatalf("%+v is %+v without purposes", r, same)
		}
	}
	if told*10 < rows*7 || len(texts)*10 < told*8 {
		t.Errorf("%d of %d have a purpose, %d of them unique", told, rows, len(texts))
	}
}
