package ledger

import (
	"testing"

	"coffer/internal/platform/op"
)

// BenchmarkPage reads a page of fifty and prints it.
func BenchmarkPage(b *testing.B) {
	books, db := filledBooks(b, 500)
	ctx := as(b.Context(), op.User)
	var out []byte
	for b.Loop() {
		page, err := books.Transactions(ctx, db, ListTransactions{Limit: 50})
		if err != nil || len(page.Transactions) != 50 {
			b.Fatal(len(page.Transactions), err)
		}
		out = page.AppendJSON(out[:0])
	}
}
