package feed

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/job"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// file imports a file and answers the job's result.
func (b *branch) file(t *testing.T, in ImportFile) Imported {
	t.Helper()
	var j job.Job
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = b.ImportFile(t.Context(), tx, in)
		return err
	})
	for err == nil && !j.Ended() {
		j, err = b.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	if err != nil || j.State != job.Succeeded {
		t.Fatalf("%+v %+v, %v", j, j.Error, err)
	}
	var out Imported
	if err := json.Unmarshal(j.Result, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *branch) bucket(t *testing.T) string {
	t.Helper()
	var c Connection
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		c, err = b.CreateConnection(t.Context(), tx, CreateConnection{Provider: "csv"}, opened{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID.String()
}

func TestImport(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	at := b.bucket(t)
	statement := "Date,Description,Amount,Balance\n2026-05-01,COFFEE,-4.80,95.20\n2026-05-01,COFFEE,-4.80,90.40\n2026-05-02,RENT,-90.00,0.40\n"
	first := b.file(t, ImportFile{ID: at, CSV: statement})
	if first.Added != 3 || first.Duplicates != 0 || len(first.Rejected) != 0 || first.ChangeID == nil {
		t.Fatalf("%+v", first)
	}
	if again := b.file(t, ImportFile{ID: at, CSV: statement}); again.Added != 0 || again.Duplicates != 3 || again.ChangeID != nil {
		t.Errorf("the same file: %+v", again)
	}
	if more := b.file(t, ImportFile{ID: at, CSV: statement + "2026-05-03,COFFEE,-4.80,-4.40\n"}); more.Added != 1 || more.Duplicates != 3 {
		t.Errorf("a longer one: %+v", more)
	}
	if n, err := pg.Value[int64](t.Context(), b.db, `select count(*) from upload`); err != nil || n != 0 {
		t.Errorf("%d files are left, %v", n, err)
	}
	tagged, err := pg.Value[int64](t.Context(), b.db, `select count(*) from transaction_tag where present`)
	if err != nil || tagged != 4 {
		t.Errorf("%d wait for review, %v", tagged, err)
	}
}

// A long file goes in whole, part by part.
func TestImportLarge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a while")
	}
	b := newBranch(t, 10)
	at := b.bucket(t)
	var s strings.Builder
	s.WriteString("Date;Name;Amount\n")
	const rows = 20_000
	for i := range rows {
		fmt.Fprintf(&s, "%02d.%02d.2025;SHOP %d;-%d,%02d\n", 1+i%28, 1+i%12, i%300, 1+i%90, i%100)
	}
	start := time.Now()
	out := b.file(t, ImportFile{ID: at, CSV: s.String()})
	t.Logf("%d rows in %s", rows, time.Since(start).Round(time.Millisecond))
	if out.Added != rows {
		t.Errorf("%+v", out)
	}
	if again := b.file(t, ImportFile{ID: at, CSV: s.String()}); again.Added != 0 || again.Duplicates != rows {
		t.Errorf("again: %+v", again)
	}
}

// What a preview says can be sent back as it is.
func TestPreviewComesBack(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	for _, file := range []string{
		"Datum;Text;Betrag\n03.05.2026;Laden;-1.234,50\n14.05.2026;Gehalt;3.200,00\n",
		"05/03/2026,-4.80,*,,COFFEE\n05/14/2026,1200.00,*,,SALARY\n", // no header
	} {
		p, err := b.PreviewFile(t.Context(), b.db, PreviewFile{CSV: file})
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]any{
			"encoding": p.Encoding, "delimiter": p.Delimiter, "header_row": p.HeaderRow, "date_format": p.DateFormat, "decimal_separator": p.DecimalSeparator,
			"amount_sign": p.AmountSign, "mapping": p.Mapping,
		}
		raw, err := json.Marshal(map[string]any{"csv": file, "options": said})
		if err != nil {
			t.Fatal(err)
		}
		var part op.Loose[PreviewFile]
		if err := json.Unmarshal(raw, &part); err != nil {
			t.Fatal(err)
		}
		in, err := part.Read()
		if err != nil {
			t.Fatal(err)
		}
		again, err := b.PreviewFile(t.Context(), b.db, in)
		if err != nil || again.RowsTotal != p.RowsTotal || again.RowsTotal != 2 || string(again.Mapping) != string(p.Mapping) {
			t.Errorf("%+v, then %+v, %v", p, again, err)
		}
	}
}
