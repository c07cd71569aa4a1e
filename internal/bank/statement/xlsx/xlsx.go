// Package xlsx reads statements that are Excel workbooks: the first sheet is a table, which the
// reader of CSV understands. It must not evaluate formulas: a cell is what the workbook shows in
// it.
package xlsx

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
)

// Format is a workbook.
var Format = statement.Format{Name: "xlsx", Title: "Excel", Detect: detect, Inspect: inspect, Read: read}

// detect looks for what a workbook has among its first files, because any archive begins alike.
func detect(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "docProps/", "xl/"} {
		if bytes.Contains(head, []byte(name)) {
			return true
		}
	}
	return false
}

// A plan is the sheet as a table of text, with what the reader of such tables makes of it.
type plan struct {
	table []byte
	inner any
}

func inspect(ctx context.Context, file io.ReaderAt, o statement.Options) (statement.Preview, error) {
	table, err := convert(ctx, file)
	if err != nil {
		return statement.Preview{}, err
	}
	own := maps.Clone(o.Own)
	if own == nil {
		own = statement.Own{}
	}
	own["encoding"], own["delimiter"] = json.RawMessage(`"utf-8"`), json.RawMessage(`","`)
	o.Own = own
	p, err := csv.Format.Inspect(ctx, bytes.NewReader(table), o)
	p.Plan = plan{table, p.Plan}
	return p, err
}

func read(ctx context.Context, _ io.ReaderAt, p statement.Preview) iter.Seq2[statement.Row, error] {
	understood, ok := p.Plan.(plan)
	if !ok {
		return func(yield func(statement.Row, error) bool) {
			yield(statement.Row{}, fmt.Errorf("xlsx: the preview of another format (%T)", p.Plan))
		}
	}
	p.Plan = understood.inner
	return csv.Format.Read(ctx, bytes.NewReader(understood.table), p)
}
