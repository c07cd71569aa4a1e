// Package xlsx reads statements that are Excel workbooks. It converts the first sheet to a table
// for the CSV reader. It must not evaluate formulas: the value of a cell is what the workbook
// shows.
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

// Format is the Excel workbook.
var Format = statement.Format{Name: "xlsx", Title: "Excel", Detect: detect, Inspect: inspect, Read: read}

// detect looks for the names of a workbook's files, because all zip archives begin with the same
// bytes.
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

// A plan is the sheet as a table of text, and the plan of the CSV reader for that table.
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
