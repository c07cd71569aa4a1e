package statement

import (
	"context"
	"slices"
	"sync"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/bank/statement/all"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/rules/rulebook"
)

// only is the Providers of a household with one provider.
type only struct{ p bank.Provider }

func (o only) Provider(context.Context, string) (bank.Provider, error) { return o.p, nil }

// A branch is a household with a worker, into which files are imported.
type branch struct{ *Statements }

func newBranch(t *testing.T) *branch {
	t.Helper()
	return newBranchOf(t, nil)
}

// newBranchOf returns a household that may link a bank.
func newBranchOf(t *testing.T, p bank.Provider) *branch {
	t.Helper()
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.New(t)
	files := category.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs := ledger.New(db, files), job.New(db, nil)
	rules := rulebook.New(db, files, books, jobs)
	accounts := account.New(db)
	f := connection.New(connection.Config{
		DB: db, Auth: auth.New(db), Accounts: accounts, Books: books, Rules: rules, Jobs: jobs,
		Ring: ring, Providers: only{p},
	})
	b := &branch{New(db, f, accounts, books, rules, jobs, all.Formats)}
	jobs.Add(slices.Concat(b.Kinds(), f.Kinds())...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = jobs.Run(ctx) }) // the worker ends with the test
	t.Cleanup(func() { stop(); working.Wait() })
	return b
}

func (b *branch) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), b.db, sql, args...); err != nil {
		t.Fatal(err)
	}
}
