// Package camt reads the account statements of ISO 20022: camt.053 for a period, camt.052 for the
// current day, and camt.054 for single entries. It reads every version and any namespace prefix. It
// must not expand or fetch anything that a file refers to.
package camt

import (
	"bytes"
	"context"
	"io"
	"iter"
	"regexp"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
)

// Format covers the three kinds of messages.
var Format = statement.Format{Name: "camt", Title: "CAMT", Detect: detect, Inspect: inspect, Read: reading.Read}

var (
	messageIs  = regexp.MustCompile(`<(?:[\w.-]+:)?(?:BkToCstmrStmt|BkToCstmrAcctRpt|BkToCstmrDbtCdtNtfctn)\b`)
	versionIs  = regexp.MustCompile(`\bcamt\.(05[234]\.001\.\d\d)\b`)
	encodingIs = regexp.MustCompile(`^<\?xml[^>]*\bencoding=["']([\w-]+)`)
)

func detect(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<")) && (messageIs.Match(head) || versionIs.Match(head))
}

// inspect reads the file once. It reads the file again if its balances show that the bank writes
// reversals with the opposite sign.
func inspect(ctx context.Context, file io.ReaderAt, _ statement.Options) (statement.Preview, error) {
	head, err := statement.Head(file)
	if err != nil {
		return statement.Preview{}, err
	}
	encoding, warnings, err := reading.Text(ctx, file, submatch(encodingIs, head))
	if err != nil {
		return statement.Preview{}, err
	}
	plan := plan{encoding: encoding}
	for turned := false; ; turned = true {
		p := statement.Preview{Version: submatch(versionIs, head), Warnings: warnings}
		var seen census
		survey := func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
			return plan.items(ctx, file, &seen)
		}
		if err := reading.Survey(ctx, file, survey, &p); err != nil {
			return statement.Preview{}, err
		}
		if seen.statements == 0 {
			return statement.Preview{}, errs.New(errs.InvalidBody, "the file has no statement; download it again")
		}
		if !turned && len(seen.turn) > 0 {
			plan.turn = seen.turn
			continue
		}
		if turned {
			p.Warnings = append(p.Warnings, statement.Warning{
				Code: "reversal_turned",
				Message: "the file's balances only fit if reversals have the opposite sign from the standard, " +
					"so they were read with that sign",
			})
		}
		p.Plan = reading.Items(func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
			return plan.items(ctx, file, &census{})
		})
		return p, nil
	}
}

func submatch(r *regexp.Regexp, b []byte) string {
	if m := r.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}
