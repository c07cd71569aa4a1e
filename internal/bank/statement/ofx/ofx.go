// Package ofx reads statements in OFX, which Quicken calls QFX and QuickBooks QBO. One tolerant
// reader accepts OFX 1, which is SGML without most end tags, OFX 2, which is XML, and the
// deviations of banks.
package ofx

import (
	"bytes"
	"context"
	"io"
	"iter"
	"regexp"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
)

// Format covers OFX 1 and 2. Some banks leave out the header, or parts of it.
var Format = statement.Format{Name: "ofx", Title: "OFX", Detect: detect, Inspect: inspect, Read: reading.Read}

func detect(head []byte) bool {
	head = bytes.ToUpper(head)
	return bytes.HasPrefix(head, []byte("OFXHEADER")) || bytes.HasPrefix(head, []byte("<OFX>")) ||
		bytes.HasPrefix(head, []byte("<?OFX")) || // OFX 2 is XML
		bytes.HasPrefix(head, []byte("<?XML")) &&
			(bytes.Contains(head, []byte("<?OFX")) || bytes.Contains(head, []byte("<OFX>")))
}

var (
	versionIs  = regexp.MustCompile(`(?i)\bVERSION[:=]\s*"?(\d{3})`)
	encodingIs = regexp.MustCompile(`(?i)\b(?:CHARSET:\s*|encoding=")([\w-]+)`)
)

// inspect reads the file once, to count its contents.
func inspect(ctx context.Context, file io.ReaderAt, o statement.Options) (statement.Preview, error) {
	head, err := statement.Head(file)
	if err != nil {
		return statement.Preview{}, err
	}
	if at := bytes.Index(bytes.ToUpper(head), []byte("<OFX>")); at >= 0 {
		head = head[:at]
	}
	encoding, warnings, err := reading.Text(ctx, file, submatch(encodingIs, head))
	if err != nil {
		return statement.Preview{}, err
	}
	p := statement.Preview{Version: submatch(versionIs, head), Warnings: warnings}
	plan := plan{encoding: encoding}
	var seen census
	survey := func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
		return plan.items(ctx, file, &seen)
	}
	if err := reading.Survey(ctx, file, survey, &p); err != nil {
		return statement.Preview{}, err
	}
	if err := seen.refusal(); err != nil {
		return statement.Preview{}, err
	}
	p.Warnings = append(p.Warnings, seen.warnings()...)
	if when := o.Own[ledgerBalance]; string(when) == `"before"` {
		before(p.Accounts)
		p.Settled = statement.Own{ledgerBalance: when}
	}
	p.Plan = reading.Items(func(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
		return plan.items(ctx, file, &census{})
	})
	return p, nil
}

// ledgerBalance is the option that says whether a balance is the one before the rows.
const ledgerBalance = "ledger_balance"

// before treats the balance of each account as the one before its rows.
func before(accounts []statement.Account) {
	for _, a := range accounts {
		if len(a.Points) != 1 || a.FirstDate == "" {
			continue
		}
		p := &a.Points[0]
		p.Kind, p.Morning, p.Stands, p.Day = statement.Opening, true, p.Day, a.FirstDate
	}
}

func submatch(r *regexp.Regexp, b []byte) string {
	if m := r.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}
