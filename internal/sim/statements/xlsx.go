package statements

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
	"time"
)

// xlsx writes the table as the first sheet of a workbook. Dates and amounts are numbers; texts are
// in the table of shared strings.
func xlsx(w io.Writer, all []Statement) error {
	var sheet, shared strings.Builder
	strs := map[string]int{}
	word := func(s string) int {
		n, ok := strs[s]
		if !ok {
			n = len(strs)
			strs[s] = n
			shared.WriteString("<si><t xml:space=\"preserve\">" + escape(s) + "</t></si>")
		}
		return n
	}
	for y, line := range table(all) {
		fmt.Fprintf(&sheet, `<row r="%d">`, y+1)
		for x, cell := range line {
			at := fmt.Sprintf("%c%d", 'A'+x, y+1)
			switch {
			case cell == "": // a blank cell is left out
			case y > 0 && x == 0:
				day, err := time.Parse(time.DateOnly, cell)
				if err != nil {
					return err
				}
				epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
				fmt.Fprintf(&sheet, `<c r="%s" s="1"><v>%d</v></c>`, at, int(day.Sub(epoch).Hours()/24))
			case y > 0 && x == 3:
				fmt.Fprintf(&sheet, `<c r="%s"><v>%s</v></c>`, at, cell)
			default:
				fmt.Fprintf(&sheet, `<c r="%s" t="s"><v>%d</v></c>`, at, word(cell))
			}
		}
		sheet.WriteString("</row>\n")
	}
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	z := zip.NewWriter(w)
	for _, f := range []struct{ name, text string }{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{
			"xl/workbook.xml", `<workbook ` + main + ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/` +
				`2006/relationships"><sheets><sheet name="Statement" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		},
		{
			"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/` +
				`relationships"><Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		},
		{
			"xl/styles.xml", `<styleSheet ` + main + `><cellXfs count="2"><xf numFmtId="0"/>` +
				`<xf numFmtId="14"/></cellXfs></styleSheet>`,
		},
		{"xl/sharedStrings.xml", `<sst ` + main + `>` + shared.String() + `</sst>`},
		{"xl/worksheets/sheet1.xml", `<worksheet ` + main + `><sheetData>` + sheet.String() + `</sheetData></worksheet>`},
	} {
		m, err := z.Create(f.name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(m, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+f.text); err != nil {
			return err
		}
	}
	return z.Close()
}
