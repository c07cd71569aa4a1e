package statement

import (
	"context"
	"sync"
	"testing"

	"coffer/internal/bank/statement/all"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/rules/rulebook"
)

// A branch is a household with a worker, into which files are imported.
type branch struct{ *Statements }

func newBranch(t *testing.T) *branch {
	t.Helper()
	db := pgtest.New(t)
	files := category.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs := ledger.New(db, files), job.New(db, nil)
	rules := rulebook.New(db, files, books, jobs)
	accounts := account.New(db)
	f := connection.New(connection.Config{
		DB: db, Auth: auth.New(db), Accounts: accounts, Books: books, Rules: rules, Jobs: jobs,
	})
	b := &branch{New(db, f, accounts, books, rules, jobs, all.Formats)}
	jobs.Add(b.Kinds()...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = jobs.Run(ctx) }) // it ends with the test
	t.Cleanup(func() { stop(); working.Wait() })
	return b
}

func (b *branch) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), b.db, sql, args...); err != nil {
		t.Fatal(err)
	}
}
