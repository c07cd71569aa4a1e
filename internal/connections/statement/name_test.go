package statement

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ofNumber returns a file of the account with that number.
func ofNumber(iban, amount string) []byte {
	return []byte(":20:1\n:25:" + iban + "\n:28C:1\n:60F:C260302EUR10,00\n:61:2603030303D" + amount +
		"NTRFEREF//1\n:86:/NAME/SHOP/REMI/TEA/\n:62F:C260303EUR8,44\n")
}

const twoRows = "Date,Description,Amount\n2026-05-01,COFFEE,-4.80\n2026-05-02,RENT,-90.00\n"

// orderFile requests an import, and returns the error if it is not possible.
func (b *branch) orderFile(t *testing.T, in ImportFile) (j job.Job, err error) {
	t.Helper()
	err = b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = b.ImportFile(t.Context(), tx, in)
		return err
	})
	return j, err
}

func (b *branch) accounts(t *testing.T) (out []account.Account) {
	t.Helper()
	all, err := b.Statements.accounts.Accounts(t.Context(), b.db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A second file for an account of the same name goes into the existing account. If the name exists
// but the type or currency differs, the import is rejected.
func TestImportIntoNamedAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at, before := b.bucket(t), len(b.accounts(t))
	giro := func(name, kind string, c money.Currency) ImportFile {
		return ImportFile{ID: at, File: []byte(twoRows), Account: &FileAccount{Name: name, Type: kind, Currency: c}}
	}
	first := b.file(t, giro("Giro", "", "EUR"))
	if first.Added != 2 || first.Reused {
		t.Fatalf("%+v", first)
	}
	for _, in := range []ImportFile{
		giro("Giro", "", "EUR"), giro("GIRO", "depository", "EUR"), giro("giro", "", ""),
		{ID: at, File: []byte(twoRows)},
		{ID: at, File: []byte(twoRows), AccountID: new(first.AccountID.Short())},
	} {
		again := b.file(t, in)
		if again.Added != 0 || again.Duplicates != 2 || !again.Reused || again.AccountID != first.AccountID ||
			len(b.accounts(t)) != before+1 {
			t.Errorf("%+v: %+v, %d accounts", in.Account, again, len(b.accounts(t)))
		}
	}
	for _, in := range []ImportFile{giro("Giro", "", "USD"), giro("giro", "credit", "EUR")} {
		if _, err := b.orderFile(t, in); !errs.Is(err, errs.Conflict) ||
			!strings.Contains(err.Error(), first.AccountID.Short()) {
			t.Errorf("%+v: %v", in.Account, err)
		}
	}
	if other := b.file(t, giro("Savings", "", "EUR")); other.Added != 2 || other.Reused {
		t.Errorf("another name: %+v", other)
	}
	if _, err := b.orderFile(t, ImportFile{ID: at, File: []byte(twoRows)}); !errs.Is(err, errs.ValidationError) {
		t.Errorf("no name, and two accounts: %v", err)
	}
	// The household's own name for an account also matches.
	b.exec(t, `update account set display_name = 'Everyday' where id = $1`, first.AccountID)
	if again := b.file(t, giro("everyday", "", "EUR")); again.AccountID != first.AccountID {
		t.Errorf("by what the household calls it: %+v", again)
	}
	// Two accounts have the same name, as earlier versions allowed.
	b.exec(t, `update account set name = 'Giro' where name = 'Savings'`)
	_, err := b.orderFile(t, giro("Giro", "", "EUR"))
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || e.Code != errs.Conflict || len(e.Details) != 2 || !strings.Contains(e.Message, "account_id") ||
		!strings.Contains(e.Message, first.AccountID.Short()) {
		t.Errorf("two of that name: %v", err)
	}
}

// A file is not imported into an account of the given name if that account's files have another
// number, even if the numbers end alike.
func TestNameOfAnotherNumber(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	named := func(iban, amount string) ImportFile {
		return ImportFile{ID: at, File: ofNumber(iban, amount), Account: &FileAccount{Name: "Account 4567"}}
	}
	first := b.file(t, named("NL20INGB0001234567", "1,56"))
	if again := b.file(t, named("NL20INGB0001234567", "2,10")); again.AccountID != first.AccountID || again.Added != 1 {
		t.Errorf("the same number again: %+v", again)
	}
	_, err := b.orderFile(t, named("NL67ABNA0999994567", "3,20"))
	if e, ok := errors.AsType[*errs.Error](err); !ok || e.Code != errs.Conflict {
		t.Errorf("another number: %v", err)
	}
	b.file(t, ImportFile{ID: at, File: ofNumber("NL67ABNA0999994567", "3,20"), AccountID: new(first.AccountID.Short())})
	if again := b.file(t, named("NL20INGB0001234567", "4,50")); again.AccountID != first.AccountID {
		t.Errorf("the same number, after a person put another one there: %+v", again)
	}
}

// Concurrent imports of one file create one account.
func TestConcurrentImportsMakeOneAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for _, named := range []*FileAccount{{Name: "Giro", Currency: "EUR"}, nil} {
		at, before := b.bucket(t), len(b.accounts(t))
		var wait sync.WaitGroup
		var mu sync.Mutex
		var added int64
		for range 6 {
			wait.Go(func() {
				out := b.file(t, ImportFile{ID: at, File: []byte(twoRows), Account: named})
				mu.Lock()
				defer mu.Unlock()
				added += out.Added
			})
		}
		wait.Wait()
		if n := len(b.accounts(t)) - before; n != 1 || added != 2 {
			t.Errorf("%+v: %d accounts, %d rows added", named, n, added)
		}
	}
}

// After a revert, importing the file again restores the account and its rows.
func TestImportAfterRevert(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	j := journal.New(journal.Config{
		DB: b.db, Subjects: append(b.books.Subjects(), b.Statements.accounts.Subjects()...),
	})
	revert := func(change *id.ID) {
		t.Helper()
		err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
			out, err := j.Revert(t.Context(), tx, journal.RevertChange{ChangeID: change.String()})
			if err == nil && len(out.Skipped) > 0 {
				err = fmt.Errorf("skipped %+v", out.Skipped)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, named := range []*FileAccount{{Name: "Giro", Currency: "EUR"}, nil} {
		at, before := b.bucket(t), len(b.accounts(t))
		in := ImportFile{ID: at, File: []byte(twoRows), Account: named}
		first := b.file(t, in)
		for range 2 {
			last := b.file(t, ImportFile{ID: at, File: []byte(twoRows + "2026-05-03,TEA,-3.00\n"), Account: named})
			revert(last.ChangeID)
			revert(first.ChangeID)
			if n := len(b.accounts(t)); n != before {
				t.Fatalf("%d accounts are left, %d were there", n, before)
			}
			again := b.file(t, in)
			if again.Added != 0 || again.Restored != 2 || again.Duplicates != 0 ||
				again.AccountID != first.AccountID || len(b.accounts(t)) != before+1 {
				t.Fatalf("%+v: %+v", named, again)
			}
			first = again
		}
		// A file does not restore a transaction that a person has deleted.
		revert(first.ChangeID)
		b.exec(t, `update transaction set deleted_source = 'user'
			where account_id = $1 and amount = 90`, first.AccountID)
		if other := b.file(t, in); other.Added != 2 || other.Reused || other.AccountID == first.AccountID {
			t.Errorf("%+v", other)
		}
	}
}

// The account's name is made of the bank and the number, or else of the file's name.
func TestImportedAccountsName(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const (
		boa   = "Date,Description,Amount,Running Bal.\n05/03/2026,COFFEE,-4.80,95.20\n05/14/2026,RENT,-90.00,5.20\n"
		ours  = "Buchungstag;Empfänger;Betrag;Konto\n03.05.2026;Laden;-1,50;DE02100100100006820101\n14.05.2026;Laden;-2,50;DE02100100100006820101\n"
		above = "Kontoauszug;DE02 1001 0010 0006 8201 " +
			"01\n\nDatum;Text;Betrag\n03.05.2026;Laden;-1,50\n14.05.2026;Laden;-2,50\n"
		dirty = "Date,Description,Amount,Currency\n2026-05-01,COFFEE,-4.80,CHF\n2026-05-02,RENT,-90.00,CHF\n"
	)
	for _, x := range []struct {
		bank, file, name string
		in               ImportFile
		currency         money.Currency
	}{
		{"", boa, "Bank of America", ImportFile{}, "USD"},
		{"My bank", boa, "My bank", ImportFile{}, "USD"},
		{"My bank", boa, "My bank", ImportFile{Options: &FileOptions{
			DefaultCurrency: new(money.Currency("CAD")),
		}}, "CAD"},
		{"My bank", ours, "My bank 0101", ImportFile{}, "EUR"},
		{"", ours, "Account 0101", ImportFile{FileName: new("auszug.csv")}, "EUR"},
		{"", above, "Account 0101", ImportFile{}, "EUR"},
		{"", twoRows, "may 2026", ImportFile{FileName: new(`C:\Users\kim\may 2026.csv`)}, "EUR"},
		{"", twoRows, "Imported", ImportFile{}, "EUR"},
		{"", dirty, "Imported", ImportFile{}, "CHF"},
		{"", boa, "US Checking", ImportFile{Account: &FileAccount{Name: "US Checking"}}, "USD"},
	} {
		at := b.bucket(t)
		if x.bank != "" {
			b.exec(t, `update connection set institution_name = $2 where id = $1`, at, text.Name(x.bank).Plain())
		}
		x.in.ID, x.in.File = at, []byte(x.file)
		// The app creates the account that the preview describes.
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(x.file), Options: x.in.Options})
		if err != nil || p.DefaultCurrency == nil || *p.DefaultCurrency != x.currency {
			t.Errorf("%q: preview in %v, want %s; %v", x.file, p.DefaultCurrency, x.currency, err)
		}
		out := b.file(t, x.in)
		a, err := b.Statements.accounts.Account(t.Context(), b.db, account.Ref{ID: out.AccountID.String()})
		if err != nil || a.Name.Plain() != x.name || a.Currency != x.currency || out.Added != 2 || out.Reused {
			t.Errorf("%q %q: %q in %s, want %q in %s; %v", x.bank, x.file, a.Name.Plain(), a.Currency, x.name,
				x.currency, err)
		}
		rows, err := pg.Values[string](t.Context(), b.db, `select distinct currency from transaction
			where account_id = $1`, out.AccountID)
		if err != nil || len(rows) != 1 || money.Currency(rows[0]) != x.currency {
			t.Errorf("%q: rows in %v, %v", x.file, rows, err)
		}
	}
}

// A file from an account with another number is not imported into the connection's only account
// without a choice.
func TestImportOfAnotherAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	file := func(iban string) op.File {
		return op.File("Buchungstag;Empfänger;Betrag;Konto\n03.05.2026;Laden;-1,50;" + iban + "\n14.05.2026;Laden;-2,50;" + iban + "\n")
	}
	first := b.file(t, ImportFile{ID: at, File: file("DE02100100100006820101")})
	before := len(b.accounts(t))
	other := ImportFile{ID: at, File: file("DE02300209000106531065")}
	if _, err := b.orderFile(t, other); !errs.Is(err, errs.ValidationError) ||
		!strings.Contains(err.Error(), "0101") || !strings.Contains(err.Error(), "1065") {
		t.Errorf("a file from another account: %v", err)
	}
	if n := len(b.accounts(t)); n != before {
		t.Errorf("%d accounts, before %d", n, before)
	}
	if again := b.file(t, ImportFile{ID: at, File: []byte(twoRows)}); again.AccountID != first.AccountID {
		t.Errorf("a file that names no account: %+v", again)
	}
	other.AccountID = new(first.AccountID.Short())
	if asked := b.file(t, other); asked.AccountID != first.AccountID {
		t.Errorf("with account_id: %+v", asked)
	}
	other.AccountID, other.Account = nil, &FileAccount{Name: "Savings"}
	if asked := b.file(t, other); asked.Reused || asked.AccountID == first.AccountID {
		t.Errorf("with the name of a new account: %+v", asked)
	}
}

// If a file's known format implies another currency than expected, the preview and the import warn.
func TestCurrencyAssumed(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const file = "Date,Description,Amount,Running Bal.\n05/03/2026,COFFEE,-4.80,95.20\n05/14/2026,RENT,-90.00,5.20\n"
	euros := b.file(t, ImportFile{
		ID: b.bucket(t), File: []byte(twoRows),
		Account: &FileAccount{Name: "Giro", Currency: "EUR"},
	}).AccountID.String()
	dollars := b.file(t, ImportFile{
		ID: b.bucket(t), File: []byte(twoRows),
		Account: &FileAccount{Name: "Giro", Currency: "USD"},
	}).AccountID.String()
	for name, x := range map[string]struct {
		in   PreviewFile
		want money.Currency
		warn bool
	}{
		"nothing is said": {PreviewFile{}, "USD", true},
		"euros are said": {PreviewFile{Options: &FileOptions{
			DefaultCurrency: new(money.Currency("EUR")),
		}}, "EUR", false},
		"an account in EUR": {PreviewFile{AccountID: &euros}, "EUR", true},
		"an account in USD": {PreviewFile{AccountID: &dollars}, "USD", false},
		"no known format":   {PreviewFile{File: []byte(twoRows)}, "EUR", false},
		"a column": {PreviewFile{File: []byte(
			"Date,Description,Amount,Running " +
				"Bal.,Currency\n05/03/2026,COFFEE,-4.80,95.20,USD\n05/14/2026,RENT,-90.00,5.20,USD\n")}, "USD", false},
	} {
		if len(x.in.File) == 0 {
			x.in.File = []byte(file)
		}
		p, err := b.Preview(t.Context(), b.db, x.in)
		if err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, w := range p.Warnings {
			warned = warned || w.Code == "currency_assumed"
		}
		if warned != x.warn || p.Sample[0].Currency != x.want {
			t.Errorf("%s: read as %s, %+v", name, p.Sample[0].Currency, p.Warnings)
		}
	}
	out := b.file(t, ImportFile{ID: b.bucket(t), File: []byte(file)})
	if len(out.Warnings) != 1 || out.Warnings[0].Code != "currency_assumed" {
		t.Errorf("the import's result: %+v", out.Warnings)
	}
}

// A preview states the bank and the account of a file, so that it is not suggested for another one.
func TestPreviewTellsAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const mt940 = "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Beguenstigter/Zahlungspflichtiger;" +
		"Kontonummer;BLZ;Betrag;Waehrung;Info\n" +
		"DE89370400440532013000;03.05.26;03.05.26;LASTSCHRIFT;Strom;Stadtwerke;DE02120300000000202051;BYLADEM1001;" +
		"-84,00;EUR;Umsatz gebucht\n"
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(mt940)})
	if err != nil || p.Mask == nil || p.Mask.Plain() != "3000" || p.InstitutionName == nil ||
		*p.InstitutionName != "Sparkasse" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = b.Preview(t.Context(), b.db, PreviewFile{File: []byte(twoRows)})
	if err != nil || p.Mask != nil || p.InstitutionName != nil {
		t.Errorf("a file with neither: %+v, %v", p, err)
	}
}
