package account

import (
	"context"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A between runs do before the second query.
type between struct {
	pg.Querier
	queries int
	do      func()
}

func (b *between) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if b.queries++; b.queries == 2 {
		b.do()
	}
	return b.Querier.Query(ctx, sql, args...)
}

// An account that is deleted while accounts are being read is still returned, with a status.
func TestDeletedWhileRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	newAccount(t, d.db, "a")
	all, err := d.reg.Accounts(t.Context(), &between{Querier: d.db, do: func() {
		exec(t, d.db, `update account set deleted_at = now()`)
	}}, op.None{})
	if err != nil || len(all) != 1 || all[0].BooksStatus != none {
		t.Errorf("%+v, %v", all, err)
	}
}

// A stored proof is valid until any of its inputs changes, no matter who changes it. The verdict
// always matches the current books.
func TestStoredProofs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, other := newAccount(t, d.db, "a"), newAccount(t, d.db, "b")
	d.post(a, "2026-05-03", "10.00")
	stale := func() (n int) {
		t.Helper()
		n, err := pg.Value[int](t.Context(), d.db, `select count(distinct account_id) from proof_due`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	state := func(account id.ID) string {
		t.Helper()
		got, err := d.reg.Account(t.Context(), d.db, Ref{account.String()})
		if err != nil {
			t.Fatal(err)
		}
		return got.BooksStatus
	}
	exec(t, d.db, `insert into account_balance (account_id, day, current, exact) values ($1, '2026-05-01', 100, true),
		($1, '2026-05-04', 90, true), ($2, '2026-05-04', 1, true)`, a, other)
	for _, step := range []struct {
		what, sql, status string
		fresh             bool // no proof is stale
	}{
		{"nothing", `select 1`, proved, true},
		{"an amount", `update transaction set amount = 11`, gap, false},
		{"the amount again", `update transaction set amount = 10`, proved, false},
		{"the same amount", `update transaction set amount = 10, date = date`, proved, true},
		{"a category", `update transaction set excluded = true, updated_at = now()`, proved, true},
		{"a link of a bank's row", `update transaction set linked_id = id`, proved, true},
		{"pending", `update transaction set pending = true`, gap, false},
		{"posted", `update transaction set pending = false`, proved, false},
		{"written down and matched", `update transaction set origin = 'manual'`, gap, false},
		{"of the bank", `update transaction set origin = 'bank'`, proved, false},
		{"deleted", `update transaction set deleted_at = now()`, gap, false},
		{"restored", `update transaction set deleted_at = null`, proved, false},
		{"a balance", `update account_balance set current = 91 where current = 90`, gap, false},
		{"no balance", `delete from account_balance where current = 91`, open, false},
		{"a balance again", `insert into account_balance (account_id, day, current, exact)
			select account_id, '2026-05-04', 90, true from transaction`, proved, false},
		{"by value", `update account set balance_method = 'valuations'`, none, false},
		{"by rows", `update account set balance_method = 'transactions'`, proved, false},
		{"another name", `update account set name = 'x'`, proved, true},
		{"moved", `update transaction set account_id = (select id from account where provider_id = 'b')`, gap, false},
		{"erased", `delete from transaction`, gap, false},
	} {
		if err := d.reg.StoreProofs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := stale(); n != 0 {
			t.Fatalf("%s: %d accounts are left", step.what, n)
		}
		exec(t, d.db, step.sql)
		if !step.fresh { // records the change, as every writer of the product does
			if err := d.db.InTx(t.Context(), func(tx pg.Tx) error {
				return Due(t.Context(), tx, []id.ID{a, other})
			}); err != nil {
				t.Fatal(err)
			}
		}
		if fresh := stale() == 0; fresh != step.fresh {
			t.Errorf("%s: fresh %t", step.what, fresh)
		}
		live := state(a)
		if err := d.reg.StoreProofs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stored := state(a); live != step.status || stored != live {
			t.Errorf("%s: %s, stored %s, want %s", step.what, live, stored, step.status)
		}
	}
	all, err := d.reg.Verdicts(t.Context(), d.db, []id.ID{a})
	if err != nil || len(all) != 1 || all[0].Gaps != 1 || all[0].LargestDifference.String() != "-10.00" ||
		!all[0].InGap(date(t, "2026-05-02")) || !all[0].InGap(date(t, "2026-05-04")) || all[0].InGap(date(t, "2026-05-01")) {
		t.Errorf("%+v, %v", all, err)
	}
}
