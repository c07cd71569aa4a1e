package statement

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
)

// packed returns a zip file of the given names and contents.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An import accepts the keys that the preview shows, whatever names the archive uses for its files.
func TestShownKeysAreTaken(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	raw := packed(t, "my  visa.csv", "Date,Name,Amount,Currency\n2026-03-02,Bakery,-4.50,EUR\n",
		"giro\u200b.csv", "Date,Name,Amount,Currency\n2026-03-02,Rent,-900.00,EUR\n")
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw})
	if err != nil || len(p.Accounts) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	in := ImportFile{ID: b.bucket(t), File: raw}
	for _, a := range p.Accounts {
		in.Accounts = append(in.Accounts, AccountChoice{
			Key: a.Key.Plain(), Create: &AccountCreate{Name: "My " + a.Key.Plain()},
		})
	}
	if got := b.file(t, in); got.Added != 2 {
		t.Errorf("%+v", got)
	}
}

// Rows that another account has are detected in each file of an archive.
func TestRowsElsewhereInAnArchive(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const head = "Date,Name,Amount,Currency\n"
	const known = head + "2026-03-02,Bakery,-4.50,EUR\n2026-03-03,Rent,-900.00,EUR\n"
	first := b.file(t, ImportFile{ID: b.bucket(t), File: []byte(known), Account: &FileAccount{Name: "Giro"}})
	p, err := b.Preview(t.Context(), b.db, PreviewFile{
		File: packed(t, "1.csv", head+"2026-03-01,Cinema,-22.00,EUR\n", "2.csv", known),
	})
	if err != nil || p.Elsewhere == nil || p.Elsewhere.AccountID != first.AccountID || p.Elsewhere.Rows != 2 {
		t.Fatalf("%+v, %v", p.Elsewhere, err)
	}
	if !slices.ContainsFunc(p.Warnings, func(w statement.Warning) bool { return strings.HasPrefix(w.Message, "2 of 3 rows") }) {
		t.Errorf("%+v", p.Warnings)
	}
}
