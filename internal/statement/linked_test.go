package statement

import (
	"slices"
	"testing"

	"coffer/internal/account"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// linked adds a bank that is linked, with an account of that number and the rows that it reports.
func (b *branch) linked(t *testing.T, bank, mask string, rows ...ledger.Incoming) (connection, of id.ID) {
	t.Helper()
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		c, err := b.feed.CreateConnection(t.Context(), tx, feed.CreateConnection{
			Provider: "csv", InstitutionName: &bank,
		}, feed.Opened{})
		if err != nil {
			return err
		}
		connection = c.ID
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
	b.exec(t, `update connection set provider = 'plaid' where id = $1`, connection)
	return connection, of
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

// A file fills in what is older than what a linked bank reports. The bank's own days stay as they
// are, and one undo takes everything back.
func TestImportIntoLinkedAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	// The bank dates the rent two days later than its file, and words it otherwise.
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
	if p := look(PreviewFile{CSV: []byte(numbered)}); p.SuggestedAccount == nil || *p.SuggestedAccount != a {
		t.Fatalf("suggested %v, not %s", p.SuggestedAccount, a)
	}
	if p := look(PreviewFile{CSV: []byte(numbered), AccountID: &ref}); *p.Duplicates != 3 {
		t.Errorf("%d rows are there, not 3", *p.Duplicates)
	}
	if _, err := b.orderFile(t, ImportFile{ID: c.String(), CSV: []byte(numbered)}); !errs.Is(err, errs.ConnNotSyncable) {
		t.Errorf("into a linked bank without an account: %v", err)
	}
	out := b.file(t, ImportFile{ID: c.String(), CSV: []byte(numbered), AccountID: &ref})
	if out.Added != 1 || out.Duplicates != 3 || out.AccountID != a || !out.Reused {
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
	if got := rows(); !slices.Equal(got, append([]string{"2026-03-01 3.20 t"}, bank...)) {
		t.Errorf("%q", got)
	}
	again := b.file(t, ImportFile{ID: c.String(), CSV: []byte(numbered), AccountID: &ref})
	if again.Added != 0 || again.Duplicates != 4 || again.ChangeID != nil {
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
	if back := b.file(t, ImportFile{ID: c.String(), CSV: []byte(numbered), AccountID: &ref}); back.Added+back.Restored != 1 {
		t.Errorf("after the undo: %+v", back)
	}
}

// A linked account without transactions yet takes the whole file.
func TestImportIntoEmptyLinkedAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	c, a := b.linked(t, "Sparkasse", "3000")
	ref := a.String()
	if out := b.file(t, ImportFile{ID: c.String(), CSV: []byte(numbered), AccountID: &ref}); out.Added != 4 {
		t.Errorf("%+v", out)
	}
}

// Another bank, another number, another currency and two accounts of the same number are no
// suggestion.
func TestSuggestedAccount(t *testing.T) {
	t.Parallel()
	suggested := func(b *branch) bool {
		t.Helper()
		p, err := b.Preview(t.Context(), b.db, PreviewFile{CSV: []byte(numbered)})
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
