package all_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/racetest"
)

// bombs are files that are designed to take much time or memory, by their method.
func bombs(t *testing.T, size int) map[string][]byte {
	t.Helper()
	repeat := func(begin, unit string) []byte {
		return append([]byte(begin), bytes.Repeat([]byte(unit), size/len(unit))...)
	}
	const (
		ofx  = "OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM>"
		camt = `<Document xmlns="camt.053.001.08"><BkToCstmrStmt><Stmt>`
		mt   = ":20:A\n:25:1\n:60F:C260101EUR1,00\n"
		qif  = "!Type:Bank\n"
	)
	out := map[string][]byte{
		"ofx depth":       repeat(ofx, "<A>"),
		"ofx rows":        repeat(ofx, "<STMTTRN>"),
		"ofx accounts":    repeat(ofx, "<STMTRS><BANKACCTFROM><ACCTID>1</BANKACCTFROM>"),
		"ofx angles":      repeat(ofx, "<"),
		"ofx ands":        repeat(ofx+"<STMTTRN><NAME>", "&amp;"),
		"ofx quotes":      repeat(ofx, `<a "`),
		"ofx literals":    repeat(ofx, "<![CDATA["),
		"ofx one value":   repeat(ofx+"<STMTTRN><NAME>", "x"),
		"camt depth":      repeat(camt, "<A>"),
		"camt entries":    repeat(camt, "<Ntry></Ntry>"),
		"camt details":    repeat(camt+"<Ntry><NtryDtls>", "<TxDtls><Amt Ccy=\"EUR\">1</Amt></TxDtls>"),
		"camt words":      repeat(camt+"<Ntry><NtryDtls><TxDtls><RmtInf>", "<Ustrd>xxxxxxxxxxxx</Ustrd>"),
		"camt balances":   repeat(camt, "<Bal></Bal>"),
		"camt entities":   repeat(camt+"<Id>", "&a;"),
		"camt doctype":    repeat(`<!DOCTYPE camt.053.001.02 [<!ENTITY a "x">`, `<!ENTITY b "&a;&a;">`),
		"camt statements": repeat(`<Document xmlns="camt.053.001.08">`, "<Stmt></Stmt>"),
		"mt940 one field": repeat(mt+":61:", "x\n"),
		"mt940 entries":   repeat(mt, ":61:2603040303DR19,90N\n"),
		"mt940 subfields": repeat(mt+":61:2603040303DR19,90N\n:86:105", "?20"),
		"mt940 codes":     repeat(mt+":61:2603040303DR19,90N\n:86:", "/EREF/"),
		"mt940 pages":     repeat(mt, ":60M:C260101EUR1,00\n:62M:C260101EUR1,00\n"),
		"mt940 colons":    repeat(mt, ":\n"),
		"qif splits":      repeat(qif+"D1/2/26\nT1\n", "SA\n$1\n"),
		"qif accounts":    repeat(qif, "!Account\nNA\n^\n!Type:Bank\nD1/2/26\nT1\n^\n"),
		"qif one line":    repeat(qif+"P", "x"),
		"xlsx columns":    workbook(t, `<row r="1">`+strings.Repeat("<c/>", 1_000_000)+"</row>"),
		"xlsx gap":        workbook(t, `<row r="1048576"><c><v>1</v></c></row>`),
		"xlsx rows":       workbook(t, strings.Repeat("<row/><row></row>", size/17)),
		"xlsx depth":      workbook(t, strings.Repeat("<row><c>", size/8)),
		"xlsx words":      workbook(t, `<row><c t="inlineStr">`+strings.Repeat("<t>x</t>", 4*size)),
		"xlsx shared":     sharing(t, 16*size),
		"zip workbook":    packed(t, entries("xl/%d.xml")),
		"zip entries":     packed(t, entries("%d.xml")),
		"zip hidden":      packed(t, entries(".%d")),
		"zip zeros":       packed(t, map[string]string{"a.xml": strings.Repeat("\x00", 64*size)}),
		"xlsx zeros":      workbook(t, strings.Repeat("\x00", 64*size)),
	}
	return out
}

// workbook returns a workbook with one sheet.
func workbook(t *testing.T, rows string) []byte {
	t.Helper()
	return packed(t, map[string]string{
		"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>", "xl/worksheets/sheet1.xml": rows,
	})
}

// sharing returns a workbook with a row in which all cells share one long text.
func sharing(t *testing.T, size int) []byte {
	t.Helper()
	return packed(t, map[string]string{
		"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>",
		"xl/sharedStrings.xml":     "<si>" + strings.Repeat("<t>xxxxxxxx</t>", size/16) + "</si>",
		"xl/worksheets/sheet1.xml": "<row>" + strings.Repeat(`<c t="s"><v>0</v></c>`, 256) + "</row>",
	})
}

// entries returns a hundred thousand empty files.
func entries(name string) map[string]string {
	out := map[string]string{}
	for i := range 100_000 {
		out[fmt.Sprintf(name, i)] = ""
	}
	return out
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
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

// processor returns the CPU time of this program, so other programs do not matter.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Reading such a file ends soon and uses little memory. The result is an error for people or a
// preview.
func TestBombs(t *testing.T) { //nolint:paralleltest // it measures
	racetest.Sequential(t)
	for name, data := range bombs(t, 1<<20) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := processor(t)
		f := statement.Format{Name: "zip"}
		alone, err := statement.Unpack(data)
		if err == nil && alone[0].Name == "" {
			f, err = statement.Detect(all.Formats, bytes.NewReader(data))
		}
		if err == nil {
			_, err = f.Open(t.Context(), bytes.NewReader(data), statement.Options{})
		}
		took := processor(t) - start
		runtime.ReadMemStats(&after)
		if format, _, _ := strings.Cut(name, " "); f.Name != format {
			t.Errorf("%s is taken for %s", name, f.Name)
		}
		if e, ok := errors.AsType[*errs.Error](err); err != nil && !ok {
			t.Errorf("%s: %v", name, e)
		}
		if took > 30*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		if used := int64(after.Sys) - int64(before.Sys); used > 128<<20 {
			t.Errorf("%s took %d MiB from the system", name, used>>20)
		}
		t.Logf("%-16s %8s %4d MiB allocated in all, %v", name, took.Round(time.Millisecond),
			(after.TotalAlloc-before.TotalAlloc)>>20, err)
	}
}
