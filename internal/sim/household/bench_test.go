package household_test

import (
	"testing"

	"coffer/internal/sim/household"
)

// BenchmarkTransactions generates a million rows of ten years.
func BenchmarkTransactions(b *testing.B) {
	h := household.New(household.Options{Transactions: 1_000_000, Years: 10})
	b.ReportAllocs()
	for b.Loop() {
		for range h.Transactions() {
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		household.New(household.Options{Transactions: 1_000_000, Years: 10})
	}
}
