package all_test

import (
	"bytes"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/sim/statements"
)

// BenchmarkFormats reads the same rows in each format: a preview, and the rows of an import.
func BenchmarkFormats(b *testing.B) {
	want := truth(30_000)
	for _, format := range []string{"csv", "ofx1", "ofx2", "camt053", "mt940", "qif", "xlsx"} {
		var file bytes.Buffer
		if err := statements.Write(&file, format, want); err != nil {
			b.Fatal(err)
		}
		content := bytes.NewReader(file.Bytes())
		f, err := statement.Detect(all.Formats, content)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				p, err := f.Open(b.Context(), content, statement.Options{DefaultCurrency: "EUR"})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range p.Rows(b.Context()) {
					if _, ok := err.(*statement.RowError); err != nil && !ok { //nolint:errorlint // is it itself
						b.Fatal(err)
					}
				}
			}
		})
	}
}
