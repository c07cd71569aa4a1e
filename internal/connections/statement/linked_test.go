package statement

import (
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// linked adds a linked bank, with an account of that number and the rows that the bank reports.
func (b *branch) linked(t *testing.T, bank, mask string, rows ...ledger.Incoming) (conn, of id.ID) {
	t.Helper()
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		c, err := b.connections.CreateConnection(t.Context(), tx, connection.CreateConnection{
			Provider: "csv", InstitutionName: &bank,
		}, connection.Opened{})
		if err != nil {
			return err
		}
		conn = c.ID
		made, err := b.Statements.accounts.AddAccounts(t.Context(), tx, []account.Incoming{{
			ConnectionID: &c.ID, Provider: "plaid", ProviderID: mask, Name: "Giro", Type: "depository", Mask: mask,
			Currency: "EUR",
		}})
		if err != nil {
			return err
		}
		of = made[0]
		for i := range rows {
			rows[i].AccountID = of
		}
		_, err = b.books.Merge(t.Context(), tx, slices.Values(rows))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, `update connection set provider = 'plaid' where id = $1`, conn)
	return conn, of
}

func bankRow(key, day, amount, name string) ledger.Incoming {
	d, _ := pg.ParseDate(day)
	return ledger.Incoming{
		ProviderID: key, Date: d, Amount: money.MustParse(amount), Currency: "EUR", Name: text.Name(name),
	}
}

const numbered = "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Glaeubiger ID;Mandatsreferenz;" +
	"Kundenreferenz (End-to-End);Sammlerreferenz;Lastschrift Ursprungsbetrag;Auslagenersatz Ruecklastschrift;" +
	"Beguenstigter/Zahlungspflichtiger;Kontonummer/IBAN;BIC (SWIFT-Code);Betrag;Waehrung;Info\n" +
	"DE89370400440532013000;01.03.26;01.03.26;KARTENZAHLUNG;Brot;;;;;;;Bäckerei;;;-3,20;EUR;Umsatz gebucht\n" +
	"DE89370400440532013000;28.03.26;28.03.26;KARTENZAHLUNG;Miete;;;;;;;Hausverwaltung;;;-900,00;EUR;Umsatz gebucht\n" +
	"DE89370400440532013000;30.03.26;30.03.26;KARTENZAHLUNG;Obst;;;;;;;Markt;;;-12,00;EUR;Umsatz gebucht\n" +
	"DE89370400440532013000;02.04.26;02.04.26;KARTENZAHLUNG;Karten;;;;;;;Kino;;;-22,00;EUR;Umsatz gebucht\n"

// A file adds rows that are older than those of a linked bank, and rows that the bank left out. The
// bank's own rows stay unchanged, and one revert undoes everything.
func TestImportIntoLinkedAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	// The bank dates the rent two days later than its file, with another text.
	c, a := b.linked(t, "Sparkasse Nord", "3000", bankRow("p1", "2026-03-30", "900.00", "HV KRUEGER"),
		bankRow("p2", "2026-04-02", "22.00", "CINEMA"))
	ref := a.String()
	look := func(in PreviewFile) FilePreview {
		t.Helper()
		p, err := b.Preview(t.Context(), b.db, in)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := look(PreviewFile{File: []byte(numbered)}); p.SuggestedAccount == nil || *p.SuggestedAccount != a {
		t.Fatalf("suggested %v, not %s", p.SuggestedAccount, a)
	}
	if p := look(PreviewFile{File: []byte(numbered), AccountID: &ref}); *p.Duplicates != 0 || p.Accounts[0].Likely != 2 {
		t.Errorf("%d rows are there, %d of them likely, not 2", *p.Duplicates, p.Accounts[0].Likely)
	}
	if _, err := b.orderFile(t, ImportFile{ID: c.String(), File: []byte(numbered)}); !errs.Is(err, errs.ConnNotSyncable) {
		t.Errorf("into a linked bank without an account: %v", err)
	}
	out := b.file(t, ImportFile{ID: c.String(), File: []byte(numbered), AccountID: &ref})
	if out.Added != 2 || out.Likely != 2 || out.AccountID != a || !out.Reused {
		t.Fatalf("%+v", out)
	}
	if n := len(b.accounts(t)); n != 1 {
		t.Errorf("%d accounts", n)
	}
	rows := func() []string {
		t.Helper()
		all, err := pg.Values[string](t.Context(), b.db, `select concat_ws(' ', t.date, t.amount, t.moved_from is not null)
			from transaction t where t.account_id = $1 and t.deleted_at is null order by t.date, t.amount`, a)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	bank := []string{"2026-03-30 900.00 f", "2026-04-02 22.00 f"}
	if got := rows(); !slices.Equal(got, []string{"2026-03-01 3.20 t", "2026-03-30 12.00 t", bank[0], bank[1]}) {
		t.Errorf("%q", got)
	}
	again := b.file(t, ImportFile{ID: c.String(), File: []byte(numbered), AccountID: &ref})
	if again.Added != 0 || again.Duplicates != 2 || again.Likely != 2 || again.ChangeID != nil {
		t.Errorf("again: %+v", again)
	}
	if n, err := pg.Value[int](t.Context(), b.db, `select count(*)::int from account`); err != nil || n != 2 {
		t.Errorf("%d accounts, %v", n, err)
	}
	j := journal.New(journal.Config{
		DB: b.db, Subjects: append(b.books.Subjects(), b.Statements.accounts.Subjects()...),
	})
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := j.Revert(t.Context(), tx, journal.RevertChange{ChangeID: out.ChangeID.String()})
		return err
	})
	if got := rows(); err != nil || !slices.Equal(got, bank) {
		t.Errorf("undone: %q, %v", got, err)
	}
	if n := len(b.accounts(t)); n != 1 {
		t.Errorf("undone: %d accounts", n)
	}
	if back := b.file(t, ImportFile{ID: c.String(), File: []byte(numbered), AccountID: &ref}); back.Added+back.Restored != 2 {
		t.Errorf("after the undo: %+v", back)
	}
}

// A file fills a gap in the rows of a linked bank, with as many rows of a day and amount as are
// missing. It adds no rows of the newest days: the bank may still report them, and a pending row
// may post with another amount. The caller can import such rows if wanted.
func TestFileFillsAHole(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	waits := bankRow("p5", "2026-04-20", "25.00", "BISTRO")
	waits.Pending = true
	_, a := b.linked(t, "Sparkasse", "3000", bankRow("p1", "2026-03-01", "3.20", "BAECKER"),
		bankRow("p2", "2026-03-12", "3.20", "BAECKER"), bankRow("p3", "2026-03-20", "60.00", "STADTWERKE"), waits,
		bankRow("p6", "2026-04-24", "9.00", "KIOSK"))
	const file = "Date,Description,Amount\n" +
		"2026-02-27,Miete,-900.00\n" + // before the bank's first row
		"2026-03-02,Bäcker,-3.20\n" + // the bank's first row, a day later and with another text
		"2026-03-12,Bäcker,-3.20\n2026-03-12,Bäcker,-3.20\n" + // the bank has one of two
		"2026-03-15,Buch,-18.00\n" + // a gap
		"2026-03-22,Strom,-60.00\n" + // the bank has it two days later
		"2026-04-18,Bistro,-30.00\n" + // may be the pending row
		"2026-04-24,Kiosk,-9.00\n2026-04-25,Kino,-11.00\n" // the newest days
	in := ImportFile{ID: b.bucket(t), File: []byte(file), Accounts: []AccountChoice{{AccountID: new(a.String())}}}
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: in.File, AccountID: new(a.String())})
	if err != nil {
		t.Fatal(err)
	}
	in.Accounts[0].Key = p.Accounts[0].Key.Plain()
	out := b.file(t, in)
	if out.Added != 3 || out.Likely != 6 || p.Accounts[0].Likely != 6 || p.Accounts[0].Duplicates != 0 {
		t.Errorf("%+v, the preview says %+v", out.Counts, p.Accounts[0])
	}
	all := b.rowsOf(t, a)
	for _, row := range []string{"2026-02-27 900.00 Miete", "2026-03-12 3.20 Bäcker", "2026-03-15 18.00 Buch"} {
		if !slices.Contains(all, row) {
			t.Errorf("%s is not among %q", row, all)
		}
	}
	if again := b.file(t, in); again.Added != 0 || again.Duplicates != 3 || again.Likely != 6 {
		t.Errorf("again: %+v", again.Counts)
	}
	in.Accounts[0].IncludeLikely = true
	if wanted := b.file(t, in); wanted.Added != 6 || wanted.Duplicates != 3 {
		t.Errorf("wanted all the same: %+v", wanted.Counts)
	}
}

// After an import is reverted, the bank itself reports one of its rows. The same file then leaves
// this row out and restores the other one.
func TestFileAgainAfterBank(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	_, a := b.linked(t, "Sparkasse", "3000", bankRow("p1", "2026-03-01", "3.20", "BAECKER"),
		bankRow("p2", "2026-04-24", "9.00", "KIOSK"))
	in := ImportFile{
		ID: b.bucket(t), Accounts: []AccountChoice{{AccountID: new(a.String())}},
		File: []byte("Date,Description,Amount\n2026-03-14,Blumen,-7.00\n2026-03-15,Buch,-18.00\n"),
	}
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: in.File})
	if err != nil {
		t.Fatal(err)
	}
	in.Accounts[0].Key = p.Accounts[0].Key.Plain()
	first := b.file(t, in)
	b.undo(t, first.ChangeID)
	late := bankRow("p3", "2026-03-17", "18.00", "BUCHHANDLUNG")
	late.AccountID = a
	if err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := b.books.Merge(t.Context(), tx, slices.Values([]ledger.Incoming{late}))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	again := b.file(t, in)
	want := []string{
		"2026-03-01 3.20 BAECKER", "2026-03-14 7.00 Blumen", "2026-03-17 18.00 BUCHHANDLUNG",
		"2026-04-24 9.00 KIOSK",
	}
	if got := b.rowsOf(t, a); !slices.Equal(got, want) || again.Restored != 1 || again.Likely != 1 {
		t.Errorf("%+v: %q", again.Counts, got)
	}
}

// A file is imported completely into a linked account without transactions.
func TestImportIntoEmptyLinkedAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	c, a := b.linked(t, "Sparkasse", "3000")
	ref := a.String()
	if out := b.file(t, ImportFile{ID: c.String(), File: []byte(numbered), AccountID: &ref}); out.Added != 4 {
		t.Errorf("%+v", out)
	}
}

// There is no suggestion if the bank, the number or the currency differs, or if two accounts have
// the same number.
func TestSuggestedAccount(t *testing.T) {
	t.Parallel()
	suggested := func(b *branch) bool {
		t.Helper()
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(numbered)})
		if err != nil {
			t.Fatal(err)
		}
		if p.FormatName == nil || *p.FormatName != "Sparkasse CSV-CAMT" {
			t.Errorf("the format is called %v", p.FormatName)
		}
		return p.SuggestedAccount != nil
	}
	b := newBranch(t)
	b.linked(t, "Harbour", "3000")
	b.linked(t, "Sparkasse", "3001")
	if suggested(b) {
		t.Error("another bank or number")
	}
	_, a := b.linked(t, "Sparkasse", "3000")
	if !suggested(b) {
		t.Error("the account of this number")
	}
	b.exec(t, `update account set currency = 'USD' where id = $1`, a)
	if suggested(b) {
		t.Error("another currency")
	}
	b.exec(t, `update account set currency = 'EUR' where id = $1`, a)
	b.linked(t, "Sparkasse", "3000")
	if suggested(b) {
		t.Error("two of the same number")
	}
}

// If a file names no bank, the last digits suggest an account only if nothing contradicts.
func TestSuggestedByItsLastDigits(t *testing.T) {
	t.Parallel()
	const file = ":20:A\n:25:10010010/0000123000\n:60F:C260301EUR10,00\n:61:2603020302D1,00NMSC\n:62F:C260302EUR9,00\n-\n"
	suggested := func(b *branch, file string) id.ID {
		t.Helper()
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(file)})
		if err != nil {
			t.Fatal(err)
		}
		if at := p.Accounts[0].Suggestion.AccountID; at != nil {
			return *at
		}
		return id.ID{}
	}
	b := newBranch(t)
	_, a := b.linked(t, "Harbour", "3000")
	if got := suggested(b, file); got != a {
		t.Errorf("nothing speaks against it: %s", got)
	}
	for _, is := range []string{"currency = 'USD'", "type = 'credit'", "mask = '3001'"} {
		b.exec(t, `update account set `+is+` where id = $1`, a)
		if suggested(b, file) == a {
			t.Errorf("suggested with %s", is)
		}
		b.exec(t, `update account set currency = 'EUR', type = 'depository', mask = '3000' where id = $1`, a)
	}
	_, second := b.linked(t, "Northern", "3000")
	if got := suggested(b, file); !got.IsZero() {
		t.Errorf("one of two: %s", got)
	}
	b.exec(t, `update account set deleted_at = now() where id = $1`, second)

	into := a.String()
	b.file(t, ImportFile{ID: b.bucket(t), File: []byte(file), Accounts: []AccountChoice{
		{Key: "10010010/0000123000 EUR", AccountID: &into},
	}})
	if got := suggested(b, file); got != a {
		t.Errorf("the number of its files: %s", got)
	}
	if got := suggested(b, strings.Replace(file, "10010010/0000123000", "20020020/0000123000", 1)); !got.IsZero() {
		t.Errorf("another number at another bank that ends alike: %s", got)
	}
	const iban = "DE89370400440532013000"
	if got := suggested(b, strings.Replace(file, "10010010/0000123000", iban, 1)); got != a {
		t.Errorf("a number of another kind: %s", got)
	}
	b.file(t, ImportFile{ID: b.bucket(t), File: []byte(strings.Replace(file, "10010010/0000123000", iban, 1)), Accounts: []AccountChoice{
		{Key: iban + " EUR", AccountID: &into},
	}})
	if got := suggested(b, strings.Replace(file, "10010010/0000123000", "FR7630006000011234567893000", 1)); got == a {
		t.Error("another IBAN that ends alike")
	}
}
