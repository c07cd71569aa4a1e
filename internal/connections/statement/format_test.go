package statement

import (
	"encoding/json"
	"slices"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/bank/statement/linestest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

const lines = "lines 2.1 DE00100000003000, EUR\n2026-05-01;-4.80;COFFEE\n2026-05-01;-4.80;COFFEE\nnonsense\n" +
	"2026-05-04;1200.00;SALARY\n"

// A format that no other code knows is previewed and imported like any other. A new format needs
// only a directory and a line in the list.
func TestNewFormatIsADirectoryAndALine(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.formats = append([]statement.Format{linestest.Format}, all.Formats...)
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(lines)})
	if err != nil || p.Format.Name != "lines" || p.Format.Title != "Lines" || *p.Format.Version != "2.1" ||
		p.RowsTotal != 4 || p.RowsRejected != 1 || len(p.Sample) != 3 || p.Mask.Plain() != "3000" ||
		*p.DefaultCurrency != "EUR" || *p.FirstDate != "2026-05-01" || p.Columns == nil || p.Mapping == nil ||
		p.Warnings == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	at := b.bucket(t)
	first := b.file(t, ImportFile{ID: at, File: []byte(lines)})
	if first.Added != 3 || first.RowsRejected != 1 || first.Rejected[0].Row != 4 {
		t.Errorf("%+v", first)
	}
	if again := b.file(t, ImportFile{ID: at, File: []byte(lines)}); again.Added != 0 || again.Duplicates != 3 ||
		!again.Reused {
		t.Errorf("%+v", again)
	}
	account := first.AccountID.String()
	if p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(lines), AccountID: &account}); err != nil ||
		*p.Duplicates != 3 || *p.SuggestedAccount != first.AccountID {
		t.Errorf("%+v, %v", p, err)
	}
}

// The remembered options of one format are not used for another. A file of the same rows in another
// format adds nothing.
func TestFormatsOfOneConnection(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.formats = append([]statement.Format{linestest.Format}, all.Formats...)
	at := b.bucket(t)
	odd := "Wann;Was;Wieviel\n01.05.2026;COFFEE;-4,80\n01.05.2026;COFFEE;-4,80\n04.05.2026;SALARY;1200,00\n"
	mapping := FileMapping{"date": json.RawMessage("0"), "name": json.RawMessage("1"), "amount": json.RawMessage("2")}
	account := &FileAccount{Name: "Giro", Currency: "EUR"}
	if got := b.file(t, ImportFile{
		ID: at, File: []byte(odd), Account: account, FileOptions: FileOptions{Mapping: mapping},
	}); got.Added != 3 {
		t.Errorf("%+v", got)
	}
	stored := func() string {
		t.Helper()
		s, err := pg.Value[string](t.Context(), b.db, `select coalesce(statement_options->>'format', '') || ' ' ||
			coalesce(statement_options->'mapping'->>'name', '') from connection where id = $1`, at)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got := stored(); got != "csv Was" {
		t.Errorf("the connection remembers %q", got)
	}
	// the stored form of versions that had only one format
	b.exec(t, `update connection set statement_options = statement_options - 'format' where id = $1`, at)
	if got := b.file(t, ImportFile{ID: at, File: []byte(odd)}); got.Duplicates != 3 {
		t.Errorf("%+v", got)
	}
	if got := b.file(t, ImportFile{ID: at, File: []byte(lines)}); got.Added != 0 || got.Duplicates != 3 {
		t.Errorf("%+v", got)
	}
	if got := stored(); got != "lines " {
		t.Errorf("the connection remembers %q", got)
	}
}

// Preview and import reject a file that coffer recognizes but cannot read.
func TestUnreadFormats(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	file := []byte("%PDF-1.7")
	if _, err := b.Preview(t.Context(), b.db, PreviewFile{File: file}); !errs.Is(err, errs.UnsupportedMediaType) {
		t.Error(err)
	}
	if _, err := b.orderFile(t, ImportFile{ID: b.bucket(t), File: file}); !errs.Is(err, errs.UnsupportedMediaType) {
		t.Error(err)
	}
}

// A column of currencies that earlier files did not have is read. If a person left it out of the
// mapping, it stays out, with a warning.
func TestCurrencyColumnThatCameLater(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	c := b.bucket(t)
	send := func(file string, mapping FileMapping) Imported {
		t.Helper()
		return b.file(t, ImportFile{ID: c, File: []byte(file), FileOptions: FileOptions{Mapping: mapping}})
	}
	const with = "Date,Description,Amount,Currency\n"
	send("Date,Description,Amount\n2026-03-01,A,-1.00\n", nil)
	send(with+"2026-03-02,B,-2.00,USD\n", nil)
	send(with+"2026-03-03,C,-3.00,USD\n", nil)
	out := send(with+"2026-03-04,D,-4.00,USD\n", FileMapping{
		"date": json.RawMessage("0"), "name": json.RawMessage("1"), "amount": json.RawMessage("2"),
	})
	if !slices.ContainsFunc(out.Warnings, func(w statement.Warning) bool { return w.Code == "column_not_read" }) {
		t.Errorf("nothing says that the currencies are not read: %+v", out.Warnings)
	}
	send(with+"2026-03-05,E,-5.00,USD\n", nil)
	got, err := pg.Values[string](t.Context(), b.db, `select currency from transaction order by date`)
	if want := []string{"EUR", "USD", "USD", "EUR", "EUR"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}
