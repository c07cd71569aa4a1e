package statement

import (
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// If an import that created an account is reverted, the account is removed too, and restored with
// the import. It stays if it contains other data.
func TestImportedAccountGoes(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	j := journal.New(journal.Config{
		DB: b.db, Subjects: append(b.books.Subjects(), b.Statements.accounts.Subjects()...),
	})
	canonical := func() string {
		t.Helper()
		c, err := ledgertest.Canonical(t.Context(), b.db, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	revert := func(change *id.ID) journal.Reverted {
		t.Helper()
		var out journal.Reverted
		err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			out, err = j.Revert(t.Context(), tx, journal.RevertChange{ChangeID: change.String()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	live := func() int {
		t.Helper()
		all, err := b.Statements.accounts.Accounts(t.Context(), b.db, op.None{})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	at, before := b.bucket(t), live()
	const file = "Date,Description,Amount\n2026-05-01,COFFEE,-4.80\n2026-05-02,RENT,-90.00\n"
	first := b.file(t, ImportFile{ID: at, File: []byte(file), Account: &FileAccount{Name: "Giro", Currency: "EUR"}})
	full := canonical()
	undone := revert(first.ChangeID)
	if len(undone.Skipped) > 0 || live() != before {
		t.Fatalf("reverted: %+v, %d accounts, not %d", undone, live(), before)
	}
	if _, err := b.Statements.accounts.Account(t.Context(), b.db, account.Ref{ID: first.AccountID.String()}); !errs.Is(err,
		errs.NotFound) {
		t.Errorf("the account is still shown: %v", err)
	}
	restored := func() error {
		row, err := pg.Value[id.ID](t.Context(), b.db, `select id from transaction where account_id = $1
			order by id limit 1`, first.AccountID)
		if err != nil {
			t.Fatal(err)
		}
		return b.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := b.books.RestoreTransaction(t.Context(), tx, ledger.TransactionRef{TransactionID: row.String()})
			return err
		})
	}
	if err := restored(); !errs.Is(err, errs.Conflict) {
		t.Errorf("a transaction of an account that is gone was restored: %v", err)
	}
	if back := revert(&undone.Change.ID); len(back.Skipped) > 0 || canonical() != full {
		t.Errorf("brought back: %+v\n%s\n%s", back, canonical(), full)
	}

	// If the account contains a row of another import, only the rows of this import are removed.
	second := b.file(t, ImportFile{
		ID: at, File: []byte(file + "2026-05-03,TEA,-3.00\n"),
		AccountID: new(first.AccountID.String()),
	})
	if left := revert(first.ChangeID); len(left.Skipped) != 1 || left.Skipped[0].Subject != journal.Account ||
		left.Skipped[0].Reason != "conflict" || live() != before+1 {
		t.Errorf("with another row on it: %+v", left)
	}
	// After that row is removed too, the first revert can be repeated and removes the account.
	revert(second.ChangeID)
	if left := revert(first.ChangeID); len(left.Skipped) != 0 || live() != before {
		t.Errorf("asked again: %+v, %d accounts", left, live())
	}
	// A file is imported into the removed account: the account is restored, and a revert removes it
	// again.
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		entries, err := b.Statements.accounts.Revive(t.Context(), tx, []id.ID{first.AccountID})
		if err == nil && len(entries) != 1 {
			t.Errorf("revived with %d entries", len(entries))
		}
		return err
	})
	if err != nil || live() != before+1 {
		t.Errorf("revived: %d accounts, %v", live(), err)
	}
}
