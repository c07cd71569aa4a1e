// Package linestest is an invented statement format. With it a test proves that a new format needs
// only a directory and a line in the list. A file has a line "lines 1 DE00…, EUR" and then a line
// "day;amount;name" for each transaction, with a minus for money out.
package linestest

import (
	"bytes"
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

const magic = "lines "

// Format is the invented format.
var Format = statement.Format{
	Name: "lines", Title: "Lines",
	Detect:  func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) },
	Inspect: inspect, Read: read,
}

func inspect(ctx context.Context, file io.ReaderAt, _ statement.Options) (statement.Preview, error) {
	all, err := lines(file)
	if err != nil {
		return statement.Preview{}, err
	}
	words := strings.Fields(strings.ReplaceAll(all[0], ",", ""))
	if len(words) != 4 {
		return statement.Preview{}, errs.New(errs.InvalidBody, "the first line names no account")
	}
	p := statement.Preview{
		Confidence: statement.High, Version: words[1], AccountNumber: text.Name(words[2]),
		Currency: money.Currency(words[3]), DefaultCurrency: money.Currency(words[3]), Plan: all[1:],
	}
	for row, err := range read(ctx, file, p) {
		p.RowsTotal++
		if err != nil {
			p.RowsRejected++
			continue
		}
		if p.FirstDate == "" || row.Date < p.FirstDate {
			p.FirstDate = row.Date
		}
		p.LastDate = max(p.LastDate, row.Date)
		p.Sample = append(p.Sample, statement.Sample{Row: row, Errors: []string{}})
	}
	return p, nil
}

func read(_ context.Context, _ io.ReaderAt, p statement.Preview) iter.Seq2[statement.Row, error] {
	return func(yield func(statement.Row, error) bool) {
		rest, _ := p.Plan.([]string)
		for i, line := range rest {
			row, err := parse(line)
			row.Number = i + 2
			if err != nil {
				err = &statement.RowError{Row: i + 2, Code: "line", Message: err.Error()}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func parse(line string) (row statement.Row, err error) {
	cells := strings.SplitN(line, ";", 3)
	if len(cells) != 3 {
		return row, errs.New(errs.InvalidBody, "the line is not day;amount;name")
	}
	if _, err := time.Parse(time.DateOnly, cells[0]); err != nil {
		return row, errs.New(errs.InvalidBody, "the line has no day")
	}
	amount, err := money.Parse(cells[1])
	return statement.Row{Date: cells[0], Amount: amount.Neg(), Name: text.Name(cells[2])}, err
}

func lines(file io.ReaderAt) ([]string, error) {
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, statement.MaxSize))
	return strings.Split(strings.TrimSpace(string(raw)), "\n"), err
}
