package statement

import (
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// rowsOf returns the live rows of an account, as day, amount and text.
func (b *branch) rowsOf(t *testing.T, account id.ID) []string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), b.db, `select concat_ws(' ', t.date, t.amount, d.name) from transaction t
		join descriptor d on d.id = t.descriptor_id
		where t.account_id = $1 and t.deleted_at is null and t.parent_id is null order by t.date, t.amount, d.name`, account)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func (b *branch) undo(t *testing.T, change *id.ID) journal.Reverted {
	t.Helper()
	j := journal.New(journal.Config{
		DB: b.db, Subjects: append(b.books.Subjects(), b.Statements.accounts.Subjects()...),
	})
	var out journal.Reverted
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "Robin"})
	err := b.db.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = j.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A bank corrects one row and deletes another. The stored row gets the new values and keeps a
// person's choices; the deleted row is removed. Importing the same file again changes nothing.
// Importing the earlier file again restores neither row, and one revert restores both.
func TestCorrections(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	raw, err := os.ReadFile("../../bank/statement/ofx/testdata/10-corrections.ofx")
	if err != nil {
		t.Fatal(err)
	}
	head, tail, _ := strings.Cut(string(raw), "<STMTTRN>")
	_, tail, _ = strings.Cut(tail, "</BANKTRANLIST>")
	earlier := head + "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260309<TRNAMT>-25.00<FITID>n1<NAME>RESTAURANT</STMTTRN>\n" +
		"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260311<TRNAMT>-99.00<FITID>n3<NAME>DOUBLE CHARGE</STMTTRN>\n" +
		"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260312<TRNAMT>-5.00<FITID>n5<NAME>KIOSK</STMTTRN>\n</BANKTRANLIST>" + tail
	at := b.bucket(t)
	first := b.file(t, ImportFile{ID: at, File: []byte(earlier)})
	of := first.AccountID
	before := []string{"2026-03-09 25.00 RESTAURANT", "2026-03-11 99.00 DOUBLE CHARGE", "2026-03-12 5.00 KIOSK"}
	if got := b.rowsOf(t, of); !slices.Equal(got, before) {
		t.Fatalf("%q", got)
	}
	meal, err := pg.Value[id.ID](t.Context(), b.db, `select id from transaction where account_id = $1 and amount = 25`, of)
	if err != nil {
		t.Fatal(err)
	}
	food := new("food_and_drink")
	if _, err := pg.Exec(t.Context(), b.db, `update transaction set category_id = (select id from category where slug = $2),
		category_source = 'user' where id = $1`, meal, food); err != nil {
		t.Fatal(err)
	}
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw, AccountID: new(of.String())})
	if err != nil || *p.Duplicates != 1 {
		t.Errorf("the preview: %+v, %v", p.Accounts, err)
	}
	out := b.file(t, ImportFile{ID: at, File: raw})
	if out.Added != 0 || out.Modified != 1 || out.Removed != 1 || out.ChangeID == nil || len(out.Warnings) != 0 {
		t.Fatalf("%+v", out)
	}
	after := []string{"2026-03-10 30.00 RESTAURANT WITH TIP", "2026-03-12 5.00 KIOSK"}
	check := func(when string, want []string) {
		t.Helper()
		if got := b.rowsOf(t, of); !slices.Equal(got, want) {
			t.Errorf("%s: %q", when, got)
		}
		kept, err := pg.Value[bool](t.Context(), b.db, `select t.category_source = 'user' and c.slug = $2 from transaction t
			join category c on c.id = t.category_id where t.id = $1 and t.deleted_at is null`, meal, food)
		if err != nil || !kept {
			t.Errorf("%s: the person's category is gone, %v", when, err)
		}
	}
	check("corrected", after)
	for range 2 {
		if again := b.file(t, ImportFile{ID: at, File: raw}); again.ChangeID != nil || len(again.Warnings) > 0 {
			t.Errorf("again: %+v", again)
		}
		if old := b.file(t, ImportFile{ID: at, File: []byte(earlier)}); old.changed() || old.Duplicates != 3 {
			t.Errorf("the earlier file: %+v", old)
		}
		check("again", after)
	}
	undone := b.undo(t, out.ChangeID)
	check("undone", before)
	if len(undone.Skipped) > 0 {
		t.Errorf("%+v", undone)
	}
	if old := b.file(t, ImportFile{ID: at, File: []byte(earlier)}); old.changed() || old.Duplicates != 3 {
		t.Errorf("the earlier file after the undo: %+v", old)
	}
	b.undo(t, &undone.Change.ID)
	check("done again", after)
	b.undo(t, out.ChangeID)
	if once := b.file(t, ImportFile{ID: at, File: raw}); once.Modified != 1 || once.Removed != 1 {
		t.Errorf("imported after the undo: %+v", once)
	}
	check("corrected once more", after)
}

// A correction changes nothing if its row is not stored, or if several rows have the same id. A
// warning counts these corrections. A correction that was imported before its row takes effect with
// the next import.
func TestCorrectionsWithoutMatch(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	raw, err := os.ReadFile("../../bank/statement/ofx/testdata/10-corrections.ofx")
	if err != nil {
		t.Fatal(err)
	}
	at := b.bucket(t)
	out := b.file(t, ImportFile{ID: at, File: raw})
	if out.Added != 1 || out.Removed != 0 || len(out.Warnings) != 1 || out.Warnings[0].Code != "correction_unmatched" {
		t.Fatalf("%+v", out)
	}
	head, tail, _ := strings.Cut(string(raw), "<STMTTRN>")
	_, tail, _ = strings.Cut(tail, "</BANKTRANLIST>")
	row := func(day, amount, fitid string) string {
		return "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>" + day + "<TRNAMT>" + amount + "<FITID>" + fitid + "<NAME>SHOP</STMTTRN>\n"
	}
	late := head + row("20260309", "-25.00", "n1") + row("20260210", "-7.00", "n3") + row("20260311", "-99.00", "n3") +
		"</BANKTRANLIST>" + tail
	b.file(t, ImportFile{ID: at, File: []byte(late)})
	again := b.file(t, ImportFile{ID: at, File: raw})
	want := []string{"2026-02-10 7.00 SHOP", "2026-03-10 30.00 RESTAURANT WITH TIP", "2026-03-11 99.00 SHOP"}
	if got := b.rowsOf(t, out.AccountID); !slices.Equal(got, want) || again.Removed != 1 || len(again.Warnings) != 1 {
		t.Errorf("%q, %+v", got, again)
	}
}
