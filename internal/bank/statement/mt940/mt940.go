// Package mt940 reads account statements in SWIFT's MT940 format and its interim report MT942,
// including the variants of German, Dutch and other banks. It must not rely on field lengths,
// because banks exceed them.
package mt940

import (
	"context"
	"io"
	"iter"
	"regexp"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
)

// Format covers both messages.
var Format = statement.Format{Name: "mt940", Title: "MT940", Detect: detect, Inspect: inspect, Read: reading.Read}

var (
	beginIs  = regexp.MustCompile(`(?m)(?:^|\{4:[ \r\n]*):20:`)
	amountIs = regexp.MustCompile(`(?m)^:(?:60[FM]|62[FM]|34F):`)
)

func detect(head []byte) bool { return beginIs.Match(head) && amountIs.Match(head) }

func inspect(ctx context.Context, file io.ReaderAt, _ statement.Options) (statement.Preview, error) {
	encoding, warnings, err := reading.Text(ctx, file, "")
	if err != nil {
		return statement.Preview{}, err
	}
	p := statement.Preview{Warnings: warnings}
	var seen census
	read := reading.Items(func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
		seen = census{}
		return items(ctx, file, encoding, &seen)
	})
	if err := reading.Survey(ctx, file, read, &p); err != nil {
		return statement.Preview{}, err
	}
	if seen.statements == 0 {
		return statement.Preview{}, errs.New(errs.InvalidBody, "the file has no statement; download it again")
	}
	if p.Version = "940"; seen.interim {
		p.Version = "942"
	}
	p.Plan = reading.Items(func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
		return items(ctx, file, encoding, &census{})
	})
	return p, nil
}
