// Package wanttest compares what a format reads from sample files with their expected contents. The
// expected contents are in <file>.want.json beside each sample.
package wanttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/text"
)

// A File is the expected contents of a sample. Rows have only the fields that the file states.
type File struct {
	Format     string    `json:"format"`
	Refused    string    `json:"refused"`
	Confidence string    `json:"confidence"`
	DateFormat string    `json:"date_format"`
	Decimal    string    `json:"decimal"`
	Warnings   []string  `json:"warnings"`
	Accounts   []Account `json:"accounts"`
}

// An Account is the expected contents of one account of a sample. Its balances have coffer's sign:
// debt on a card is positive.
type Account struct {
	ID        string           `json:"id"`
	Type      string           `json:"type"`
	Subtype   string           `json:"subtype"`
	Currency  string           `json:"currency"`
	Bank      string           `json:"bank"`
	Opening   *Point           `json:"opening"`
	Closing   *Point           `json:"closing"`
	Interim   *Point           `json:"interim"`
	Available string           `json:"available"`
	Skipped   []Left           `json:"skipped"`
	Rejected  []Left           `json:"rejected"`
	Deletes   []string         `json:"deletes"`
	Rows      []map[string]any `json:"rows"`
}

// A Point is a balance.
type Point struct{ Day, Amount string }

// Left is the reason why a line is not a row.
type Left struct {
	Code  string `json:"code"`
	Count int    `json:"count,omitempty"`
}

// Load reads the expected contents of a sample.
func Load(t testing.TB, sample string) (File, []byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Clean(sample + ".want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f File
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(sample, err)
	}
	content, err := os.ReadFile(filepath.Clean(sample))
	if err != nil {
		t.Fatal(err)
	}
	return f, content
}

// Samples returns the files of a folder that have expected contents.
func Samples(t testing.TB, dir string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.want.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, f := range files {
		out = append(out, strings.TrimSuffix(f, ".want.json"))
	}
	return out
}

// Check reads every sample of testdata and compares it with its expected contents.
func Check(t *testing.T, f statement.Format) {
	t.Helper()
	for _, sample := range Samples(t, "testdata") {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			t.Parallel()
			want, content := Load(t, sample)
			Compare(t, f, want, content)
		})
	}
}

// Compare reads a file and compares it with its expected contents.
func Compare(t *testing.T, f statement.Format, want File, content []byte) {
	t.Helper()
	file, err := f.Open(t.Context(), bytes.NewReader(content), statement.Options{})
	if want.Refused != "" {
		if err == nil {
			t.Errorf("read, want: %s", want.Refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want.Confidence == "" {
		want.Confidence = statement.High
	}
	got := read(t, file)
	for _, a := range want.Accounts {
		if a.Rows == nil {
			a.Rows = []map[string]any{}
		}
		if len(a.Rejected)*10 > len(a.Rejected)+len(a.Rows) {
			want.Confidence = statement.Low
		}
	}
	got.Format, got.Refused = want.Format, ""
	if want.Decimal == "" {
		got.DateFormat, got.Decimal = "", ""
	}
	a, b := lines(t, want), lines(t, got)
	if a != b {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
}

func lines(t *testing.T, f File) string {
	t.Helper()
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// read converts what a file states to the form of the expected contents.
func read(t *testing.T, file statement.File) File {
	t.Helper()
	out := File{Confidence: file.Confidence}
	if file.Table != nil {
		out.DateFormat, out.Decimal = file.Table.DateFormat, file.Table.DecimalSeparator
	}
	for _, w := range file.Warnings {
		out.Warnings = append(out.Warnings, w.Code)
	}
	at := map[text.Untrusted]int{}
	for i, a := range file.Accounts() {
		at[a.Key] = i
		out.Accounts = append(out.Accounts, account(t, a))
	}
	for row, err := range file.Rows(t.Context()) {
		if _, bad := errors.AsType[*statement.RowError](err); bad {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a := &out.Accounts[at[row.Account]]
		a.Rows = append(a.Rows, fields(t, row, a.Currency))
	}
	return out
}

func account(t *testing.T, a statement.Account) Account {
	t.Helper()
	out := Account{
		ID: a.Number.Plain() + a.IBAN.Plain(), Type: a.Type, Subtype: a.Subtype, Currency: string(a.Currency),
		Bank: a.Bank.Plain(), Rows: []map[string]any{},
	}
	if out.ID == "" {
		out.ID = a.Name.Plain()
	}
	for _, p := range a.Points {
		amount := p.Amount
		if a.Type == "credit" {
			amount = amount.Neg()
		}
		point := &Point{p.Day, amount.String()}
		switch p.Kind {
		case statement.Opening:
			if out.Opening == nil {
				out.Opening = point
			}
		case statement.Running:
			out.Interim = point
		default:
			out.Closing, out.Interim = point, nil
		}
	}
	if a.Available != nil {
		out.Available = a.Available.String()
	}
	for _, s := range a.Skipped {
		out.Skipped = append(out.Skipped, Left{s.Reason, s.Count})
	}
	for _, r := range a.Rejected {
		out.Rejected = append(out.Rejected, Left{Code: r.Code})
	}
	for _, d := range a.Deletes {
		out.Deletes = append(out.Deletes, d.Plain())
	}
	return out
}

// fields returns the fields of a row that are not empty.
func fields(t *testing.T, r statement.Row, currency string) map[string]any {
	t.Helper()
	out := map[string]any{
		"date": r.Date, "amount": r.Amount.String(), "name": r.Name.Plain(), "detail": r.Detail.Plain(),
		"id": r.ID.Plain(), "category": r.Category.Plain(),
	}
	if string(r.Currency) != currency {
		out["currency"] = string(r.Currency)
	}
	if e := r.Extra; e != nil {
		maps.Copy(out, map[string]any{
			"value": e.Value, "authorized": e.Authorized, "check": e.Check.Plain(), "reference": e.Reference.Plain(),
			"replaces": e.Replaces.Plain(), "transfer": e.Transfer.Plain(),
		})
		if len(e.Tags) > 0 {
			out["tags"] = plain(e.Tags)
		}
		var parts []any
		for _, p := range e.Parts {
			part := map[string]any{
				"amount": p.Amount.String(), "category": p.Category.Plain(), "transfer": p.Transfer.Plain(),
				"memo": p.Detail.Plain(),
			}
			if len(p.Tags) > 0 {
				part["tags"] = plain(p.Tags)
			}
			maps.DeleteFunc(part, func(_ string, v any) bool { return v == "" })
			parts = append(parts, part)
		}
		if len(parts) > 0 {
			out["splits"] = parts
		}
	}
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == "" })
	return out
}

func plain(list []text.Untrusted) (out []any) {
	for _, s := range list {
		out = append(out, s.Plain())
	}
	return out
}
