package statement

import (
	"testing"

	"coffer/internal/platform/id"
)

const (
	plainFile  = "Day,Text,Amount\n2026-10-20,Salary,2845.17\n2026-10-21,Rent,-900.00\n"
	nextFile   = "Day,Text,Amount\n2026-10-20,Salary,2845.17\n2026-10-21,Rent,-900.00\n2026-10-22,Bread,-3.20\n"
	otherHeads = "Day,Text,Amount,Note\n2026-10-20,Salary,2845.17,\n2026-10-21,Rent,-900.00,\n"
)

// A file with the same columns is suggested for the account that earlier ones went into, whatever
// browser or program asks. If another account already has the file's rows, there is a warning.
func TestFilesGoWhereSuchFilesWent(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	look := func(csv string, account *id.ID) FilePreview {
		t.Helper()
		in := PreviewFile{File: []byte(csv)}
		if account != nil {
			in.AccountID = new(account.String())
		}
		p, err := b.Preview(t.Context(), b.db, in)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	warned := func(p FilePreview) bool {
		for _, w := range p.Warnings {
			if w.Code == "rows_elsewhere" {
				return true
			}
		}
		return false
	}
	if p := look(plainFile, nil); p.SuggestedAccount != nil || p.Elsewhere != nil || warned(p) {
		t.Fatalf("before the first: %+v", p)
	}
	first := b.bucket(t)
	made := b.file(t, ImportFile{ID: first, File: []byte(plainFile)})
	p := look(nextFile, nil)
	if p.SuggestedAccount == nil || *p.SuggestedAccount != made.AccountID {
		t.Errorf("suggested %v, not %s", p.SuggestedAccount, made.AccountID)
	}
	if p.Elsewhere == nil || p.Elsewhere.AccountID != made.AccountID || p.Elsewhere.Rows != 2 || !warned(p) {
		t.Errorf("rows elsewhere: %+v", p.Elsewhere)
	}
	if p := look(nextFile, &made.AccountID); *p.Duplicates != 2 || p.Elsewhere != nil || warned(p) {
		t.Errorf("into its own account: %+v", p)
	}
	if p := look(otherHeads, nil); p.SuggestedAccount != nil || p.Elsewhere == nil {
		t.Errorf("other columns: %+v", p)
	}
	// Two accounts have such files, so a person must choose.
	second := b.bucket(t)
	b.file(t, ImportFile{ID: second, File: []byte("Day,Text,Amount\n2026-11-01,Tea,-2.00\n2026-11-02,Milk,-1.00\n")})
	if p := look(nextFile, nil); p.SuggestedAccount != nil {
		t.Errorf("suggested %v of two", p.SuggestedAccount)
	}
}
