package statement

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/statement/wanttest"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/pg"
)

// samples returns the sample files of the formats that describe themselves, by name.
func samples(t *testing.T) map[string]wanttest.File {
	t.Helper()
	out := map[string]wanttest.File{}
	for _, format := range []string{"ofx", "qif", "camt", "mt940"} {
		dir := filepath.Join("..", "..", "bank", "statement", format, "testdata")
		for _, s := range wanttest.Samples(t, dir) {
			out[s], _ = wanttest.Load(t, s)
		}
	}
	return out
}

// proofs lists what a first import of a sample proves. A file that is not listed states at most one
// balance.
var proofs = map[string]string{
	"19-camt053-02-de.xml": "verified", "20-camt053-02-reversal-other.xml": "verified", "21-camt053-08-ch.xml": "verified",
	"23-camt053-13-prefix.xml": "verified verified", "25-mt940-de.sta": "verified", "26-mt940-nl.sta": "verified",
	"27-mt940-pages.sta": "verified", "28-mt940-broken-proof.sta": "off",
}

// Every sample is imported into new accounts, with exactly its rows. A second import changes
// nothing.
func TestSamplesIntoBooks(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for name, want := range samples(t) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw})
		if want.Refused != "" {
			if err == nil {
				t.Errorf("%s is read, want: %s", base, want.Refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		rows, skipped, rejected := 0, 0, 0
		for _, a := range want.Accounts {
			rows, rejected = rows+len(a.Rows), rejected+len(a.Rejected)
			for _, s := range a.Skipped {
				skipped += max(1, s.Count)
			}
		}
		in := ImportFile{ID: b.bucket(t), File: raw}
		for i, a := range p.Accounts {
			in.Accounts = append(in.Accounts, AccountChoice{
				Key: a.Key.Plain(), Create: &AccountCreate{Name: base + " " + string(rune('a'+i))},
			})
		}
		first := b.file(t, in)
		var status []string
		for i, a := range first.Accounts {
			status = append(status, a.Proof.Status)
			if shown := p.Accounts[i].Proof; p.Accounts[i].Suggestion.AccountID == nil && shown.Status != a.Proof.Status {
				t.Errorf("%s: the preview says %s, the import %+v", base, shown.Status, a.Proof)
			}
		}
		if first.Added != int64(rows) || first.RowsSkipped != int64(skipped) || first.RowsRejected != int64(rejected) ||
			len(first.Accounts) != len(want.Accounts) || first.Likely != 0 {
			t.Errorf("%s: %+v; want %d rows, %d skipped, %d rejected, %d accounts", base, first, rows, skipped, rejected,
				len(want.Accounts))
		}
		if is := strings.Join(status, " "); proofs[base] != "" && is != proofs[base] ||
			proofs[base] == "" && (strings.Contains(is, "verified") || strings.Contains(is, "off")) {
			t.Errorf("%s: the proof is %s, want %s: %+v", base, is, proofs[base], first.Accounts[0].Proof)
		}
		codes := []string{}
		for _, w := range p.Warnings {
			codes = append(codes, w.Code)
		}
		for _, w := range want.Warnings {
			if !slices.Contains(codes, w) {
				t.Errorf("%s warns of %q, want %s", base, codes, w)
			}
		}
		before := b.canonical(t)
		for range 2 {
			if again := b.file(t, in); again.Added+again.Modified+again.Restored != 0 || again.Duplicates != int64(rows) {
				t.Errorf("%s again: %+v", base, again)
			}
		}
		if b.canonical(t) != before {
			t.Errorf("%s changed the books by its second import", base)
		}
	}
}

func (b *branch) canonical(t *testing.T) string {
	t.Helper()
	c, err := ledgertest.Canonical(t.Context(), b.db, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Statements of one account prove one another: the second begins where the first ended. A gap
// between them is reported, but raises no alarm if no file lists its days.
func TestProofAcrossFiles(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	put := func(name string) ImportedAccount {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join("..", "..", "bank", "statement", "ofx", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b.file(t, ImportFile{ID: at, File: raw}).Accounts[0]
	}
	if a := put("06-overlap-a.ofx"); a.Added != 3 || a.Proof.Status != "open" {
		t.Errorf("the first file: %+v", a)
	}
	if c := put("06-overlap-c.ofx"); c.Proof.Status != "open" || c.Proof.OffBy == nil || c.Proof.OffBy.String() != "95.00" ||
		c.Proof.From.String() != "2026-03-14" || c.Proof.To.String() != "2026-03-31" {
		t.Errorf("a file behind a hole: %+v", c.Proof)
	}
	if full := put("06-overlap-b.ofx"); full.Added != 2 || full.Duplicates != 2 || full.Proof.Status != "verified" {
		t.Errorf("the file that fills it: %+v", full)
	}
	other := b.bucket(t)
	at = other
	put("05-ids-restart-feb.ofx")
	if mar := put("05-ids-restart-mar.ofx"); mar.Added != 3 || mar.Proof.Status != "verified" {
		t.Errorf("ids that begin again: %+v", mar)
	}
}

// Two accounts of a file are imported into two accounts by one change. One revert undoes both.
func TestSeveralAccounts(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	raw, err := os.ReadFile("../../bank/statement/ofx/testdata/07-two-accounts.ofx")
	if err != nil {
		t.Fatal(err)
	}
	at := b.bucket(t)
	if _, err := b.orderFile(t, ImportFile{ID: at, File: raw}); err == nil {
		t.Error("two accounts without a choice were taken")
	}
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw})
	if err != nil || len(p.Accounts) != 2 {
		t.Fatal(p, err)
	}
	choose := func(create ...*AccountCreate) (out []AccountChoice) {
		for i, a := range p.Accounts {
			out = append(out, AccountChoice{Key: a.Key.Plain(), Create: create[i], Skip: create[i] == nil})
		}
		return out
	}
	one := &AccountCreate{Name: "Checking"}
	for name, wrong := range map[string][]AccountChoice{
		"one of two": choose(one, one)[:1], "both into one": choose(one, one), "none": choose(nil, nil),
		"unknown": {{Key: "x", Skip: true}},
	} {
		if _, err := b.orderFile(t, ImportFile{ID: at, File: raw, Accounts: wrong}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	got := b.file(t, ImportFile{ID: at, File: raw, Accounts: choose(one, &AccountCreate{Name: "Card"})})
	if got.Added != 2 || len(got.Accounts) != 2 || got.Accounts[0].AccountID == got.Accounts[1].AccountID ||
		got.Accounts[1].Added != 1 {
		t.Fatalf("%+v", got)
	}
	owed, err := pg.Value[string](t.Context(), b.db, `select type || ' ' || current from account a
		join account_balance b on b.account_id = a.id where a.id = $1`, got.Accounts[1].AccountID)
	if err != nil || owed != "credit 12.00" {
		t.Errorf("the card's balance is %q, %v", owed, err)
	}
	next, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range next.Accounts {
		if a.Suggestion.AccountID == nil || *a.Suggestion.AccountID != got.Accounts[i].AccountID || a.Duplicates != 1 {
			t.Errorf("account %d: %+v", i, a)
		}
	}
}

// A file of the same account in another format contains the same rows with other ids and texts. For
// each day and amount, as many rows as are stored are left out, unless the caller wants them.
func TestAnotherFormatOfOneAccount(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	const table = "Date,Description,Amount\n2026-03-02,Bakery Smith,-20.00\n2026-03-09,Phone,-60.00\n" +
		"2026-03-11,Market Hall,-50.00\n"
	first := b.file(t, ImportFile{ID: at, File: []byte(table), Account: &FileAccount{Name: "Giro", Currency: "USD"}})
	raw, err := os.ReadFile("../../bank/statement/ofx/testdata/06-overlap-a.ofx")
	if err != nil {
		t.Fatal(err)
	}
	into := new(first.AccountID.String())
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw, AccountID: into})
	if err != nil || p.Accounts[0].Likely != 3 || p.Accounts[0].Duplicates != 0 {
		t.Errorf("%+v, %v", p.Accounts, err)
	}
	if got := b.file(t, ImportFile{ID: at, File: raw, AccountID: into}); got.Added != 0 || got.Likely != 3 {
		t.Errorf("%+v", got)
	}
	if got := b.file(t, ImportFile{ID: at, File: raw, AccountID: into, IncludeLikely: true}); got.Added != 3 {
		t.Errorf("wanted all the same: %+v", got)
	}
	if got := b.file(t, ImportFile{ID: at, File: raw, AccountID: into}); got.Duplicates != 3 || got.Likely != 0 {
		t.Errorf("once they are in: %+v", got)
	}
}
