package xlsx_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"coffer/internal/bank/statement/wanttest"
	"coffer/internal/bank/statement/xlsx"
)

// A part is one of the files of a workbook.
type part struct{ name, text string }

// workbook returns a zip file of the given parts, and the part with the content types.
func workbook(t testing.TB, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range append([]part{{"[Content_Types].xml", "<Types/>"}}, parts...) {
		w, err := z.Create(p.name)
		if err == nil {
			_, err = io.WriteString(w, p.text)
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

const (
	book   = `<workbook><workbookPr/><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>`
	styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd.mm.yy"/></numFmts><cellXfs>` +
		`<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`
	words = `<sst><si><t>Date</t></si><si><r><t>Desc</t></r><r><t>ription</t></r><rPh><t>x</t></rPh></si>` +
		`<si><t>Amount</t></si></sst>`
	head = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>`
)

// FuzzRead mutates the parts of a workbook, because a mutated zip archive would hardly ever have
// valid checksums.
func FuzzRead(f *testing.F) {
	f.Add(book, styles, words, head+`<row r="3"><c r="A3" s="1"><v>46083</v></c></row>`)
	f.Add("", "", "", `<row><c t="d"><v>2026-03-02T00:00</v></c><c t="inlineStr"><is><t>A</t></is></c><c><v>1E2</v></c></row>`)
	f.Fuzz(func(t *testing.T, book, styles, words, rows string) {
		wanttest.Laws(t, xlsx.Format, workbook(t, part{"xl/workbook.xml", book}, part{"xl/styles.xml", styles},
			part{"xl/sharedStrings.xml", words}, part{"xl/worksheets/sheet1.xml", rows}))
	})
}
