package statement

import (
	"encoding/json"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/bank/statement/linestest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

const lines = "lines 2.1 DE00100000003000, EUR\n2026-05-01;-4.80;COFFEE\n2026-05-01;-4.80;COFFEE\nnonsense\n" +
	"2026-05-04;1200.00;SALARY\n"

// A format that nothing else knows is previewed and imported like any other: it is a directory, and
// a line in the list.
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

// Options that a connection remembers of one format are not those of another, and a file in another
// format of the same rows adds nothing.
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
	// as it was stored before there were other formats
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

// A file that coffer recognizes and cannot read is refused by preview and import.
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
