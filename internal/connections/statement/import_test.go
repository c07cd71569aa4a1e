package statement

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"coffer/internal/connections/connection"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
)

// file imports a file and returns the job's result.
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
	return result(t, j)
}

func result(t *testing.T, j job.Job) (out Imported) {
	t.Helper()
	if err := json.Unmarshal(j.Result, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *branch) bucket(t *testing.T) string {
	t.Helper()
	var c connection.Connection
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		c, err = b.connections.CreateConnection(t.Context(), tx, connection.CreateConnection{Provider: "csv"}, connection.Opened{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID.String()
}

func TestImport(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	at := b.bucket(t)
	file := "Date,Description,Amount,Balance\n2026-05-01,COFFEE,-4.80,95.20\n2026-05-01,COFFEE,-4.80,90.40\n2026-05-02,RENT,-90.00,0.40\n"
	first := b.file(t, ImportFile{ID: at, File: []byte(file), FileName: new(`C:\kim\may.csv`)})
	if first.Added != 3 || first.Duplicates != 0 || len(first.Rejected) != 0 || first.ChangeID == nil {
		t.Fatalf("%+v", first)
	}
	log, err := b.connections.SyncLogs(t.Context(), b.db, connection.ListSyncLogs{Trigger: new("import"), Limit: 5})
	if err != nil || len(log.SyncLogs) != 1 || *log.SyncLogs[0].AccountID != first.AccountID ||
		*log.SyncLogs[0].FileName != "may.csv" || *log.SyncLogs[0].ChangeID != *first.ChangeID {
		t.Errorf("the log does not say what was imported: %+v, %v", log, err)
	}
	if none, err := b.connections.SyncLogs(t.Context(), b.db, connection.ListSyncLogs{Trigger: new("manual"), Limit: 5}); err != nil ||
		len(none.SyncLogs) != 0 {
		t.Errorf("syncs that were none: %+v, %v", none, err)
	}
	if again := b.file(t, ImportFile{ID: at, File: []byte(file)}); again.Added != 0 || again.Duplicates != 3 ||
		again.ChangeID != nil {
		t.Errorf("the same file: %+v", again)
	}
	if more := b.file(t, ImportFile{ID: at, File: []byte(file + "2026-05-03,COFFEE,-4.80,-4.40\n")}); more.Added != 1 ||
		more.Duplicates != 3 {
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

// All rows of a long file are stored, part by part.
func TestImportLarge(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	if testing.Short() {
		t.Skip("takes a while")
	}
	b := newBranch(t)
	at := b.bucket(t)
	var s strings.Builder
	s.WriteString("Date;Name;Amount\n")
	const rows = 20_000
	for i := range rows {
		fmt.Fprintf(&s, "%02d.%02d.2025;SHOP %d;-%d,%02d\n", 1+i%28, 1+i%12, i%300, 1+i%90, i%100)
	}
	start := time.Now()
	out := b.file(t, ImportFile{ID: at, File: []byte(s.String())})
	t.Logf("%d rows in %s", rows, time.Since(start).Round(time.Millisecond))
	if out.Added != rows {
		t.Errorf("%+v", out)
	}
	if again := b.file(t, ImportFile{ID: at, File: []byte(s.String())}); again.Added != 0 || again.Duplicates != rows {
		t.Errorf("again: %+v", again)
	}
}

// The result of a preview can be sent back unchanged.
func TestPreviewComesBack(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for _, file := range []string{
		"Datum;Text;Betrag\n03.05.2026;Laden;-1.234,50\n14.05.2026;Gehalt;3.200,00\n",
		"05/03/2026,-4.80,*,,COFFEE\n05/14/2026,1200.00,*,,SALARY\n", // no header
	} {
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(file)})
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]any{
			"encoding": p.Encoding, "delimiter": p.Delimiter, "header_row": p.HeaderRow, "date_format": p.DateFormat,
			"decimal_separator": p.DecimalSeparator,
			"amount_sign":       p.AmountSign, "mapping": p.Mapping,
		}
		raw, err := json.Marshal(map[string]any{"csv": file, "options": said})
		if err != nil {
			t.Fatal(err)
		}
		var part op.Deferred[PreviewFile]
		if err := json.Unmarshal(raw, &part); err != nil {
			t.Fatal(err)
		}
		in, err := part.Read()
		if err != nil {
			t.Fatal(err)
		}
		again, err := b.Preview(t.Context(), b.db, in)
		if err != nil || again.RowsTotal != p.RowsTotal || again.RowsTotal != 2 ||
			fmt.Sprint(again.Mapping) != fmt.Sprint(p.Mapping) {
			t.Errorf("%+v, then %+v, %v", p, again, err)
		}
	}
}

// long returns a file with the given number of rows, and bytes per row in a column that is not
// read.
func long(rows, idle int) string {
	var s strings.Builder
	pad := strings.Repeat("x", idle)
	s.WriteString("Date;Name;Amount;Reserved\n")
	for i := range rows {
		fmt.Fprintf(&s, "%02d.%02d.2025;SHOP %d;-%d,%02d;%s\n", 1+i%28, 1+i%12, i%300, 1+i%90, i%100, pad)
	}
	return s.String()
}

// A hundred thousand rows are imported. The import keeps its file in memory only once, so memory
// use grows by little more than the size of the file.
func TestImportHoldsItsFileOnce(t *testing.T) { //nolint:paralleltest // it measures the heap, which others would fill
	racetest.Sequential(t)
	if testing.Short() {
		t.Skip("takes a while")
	}
	b := newBranch(t)
	at := b.bucket(t)
	start := time.Now()
	if out := b.file(t, ImportFile{ID: at, File: []byte(long(100_000, 0))}); out.Added != 100_000 {
		t.Fatalf("%d of 100,000 rows went in", out.Added)
	}
	t.Logf("100,000 rows in %v", time.Since(start).Round(time.Millisecond))
	const rows = 10_000
	peak := func(idle int) (size int, most int64) {
		at := b.bucket(t)
		var j job.Job
		file := long(rows, idle) // before the transaction, which must not be idle for long
		size = len(file)
		err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			// the job begins after this commit, when the file is stored
			j, err = b.ImportFile(t.Context(), tx, ImportFile{ID: at, File: []byte(file)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for !j.Ended() {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, int64(m.HeapAlloc))
			if j, err = b.jobs.Get(t.Context(), b.db, job.Ref{JobID: j.ID.String()}); err != nil {
				t.Fatal(err)
			}
		}
		if j.State != job.Succeeded {
			t.Fatalf("%+v", j.Error)
		}
		return size, most
	}
	peak(0) // warm up: some memory is allocated only once
	small, little := peak(0)
	large, much := peak(2000)
	grown := much - little
	if grown > int64(large-small)*3/2 {
		t.Errorf("a file that is %d bytes larger takes %d bytes more", large-small, grown)
	}
	t.Logf("%d bytes of file: %d bytes in use at most; %d bytes: %d", small, little, large, much)
}
