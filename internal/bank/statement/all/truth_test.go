package all_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/sim/household"
	"coffer/internal/sim/statements"
)

// truth returns a household's accounts in euros, because QIF has no currencies.
func truth(rows int) (out []statements.Statement) {
	h := household.New(household.Options{Seed: 7, Transactions: rows, Years: 1, Purposes: true})
	for _, s := range statements.Of(h) {
		if s.Currency == "EUR" {
			out = append(out, s)
		}
	}
	return out
}

// The same rows are read from each format: every row with its day, amount, text and id, in its
// account, and the balances if the format states them.
func TestOneTruth(t *testing.T) {
	t.Parallel()
	want := truth(2000)
	for _, format := range statements.Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := statements.Write(&b, format, want); err != nil {
				t.Fatal(err)
			}
			content := bytes.NewReader(b.Bytes())
			f, err := statement.Detect(all.Formats, content)
			if err != nil || !strings.HasPrefix(format, f.Name) {
				t.Fatal(f.Name, err)
			}
			file, err := f.Open(t.Context(), content, statement.Options{DefaultCurrency: "EUR"})
			if err != nil {
				t.Fatal(err)
			}
			compareRows(t, file, want, format)
			compareBalances(t, file.Accounts(), want, format)
		})
	}
}

func compareRows(t *testing.T, file statement.File, want []statements.Statement, format string) {
	t.Helper()
	var rows []statement.Row
	for row, err := range file.Rows(t.Context()) {
		if e, ok := err.(*statement.RowError); ok && e.Code == "opening_balance" { //nolint:errorlint // is it itself
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	n, differ := 0, 0
	for _, s := range want {
		key := s.Number + " " + string(s.Currency)
		switch format {
		case "ofx1", "ofx2":
			key = "bank 10010010 " + s.Number
			if s.Type == "credit" {
				key = "card  " + s.Number
			}
		case "qif":
			key = s.Name
		case "csv", "xlsx":
			key = s.Number
		}
		for _, r := range s.Rows {
			name, detail, id := r.Name, r.Detail, r.ID
			switch format {
			case "qif":
				id = ""
			case "mt940":
				name = string([]rune(name)[:min(54, len([]rune(name)))])
			}
			want := fmt.Sprintf("%.40s|%s|%s|%s|%s|%s|%s", strings.Join(strings.Fields(key), " "),
				r.Day.Format(time.DateOnly), r.Amount, s.Currency, strings.TrimSpace(name), detail, id)
			if n == len(rows) {
				t.Fatalf("%d rows, and more are wanted: %s", n, want)
			}
			g := rows[n]
			n++
			got := fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s", g.Account.Plain(), g.Date, g.Amount, g.Currency, g.Name.Plain(),
				g.Detail.Plain(), g.ID.Plain())
			if differ < 5 && got != want {
				differ++
				t.Errorf("row %d: %s, want %s", n, got, want)
			}
		}
	}
	if n != len(rows) {
		t.Errorf("%d rows, want %d", len(rows), n)
	}
}

func compareBalances(t *testing.T, got []statement.Account, want []statements.Statement, format string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d accounts, want %d", len(got), len(want))
	}
	for i, s := range want {
		var kinds []string
		for _, p := range got[i].Points {
			amount := s.Closing
			if p.Kind == statement.Opening {
				amount = s.Opening
			}
			kinds = append(kinds, p.Kind)
			if !p.Amount.Equal(amount) {
				t.Errorf("%s is %s, want %s", p.Kind, p.Amount, amount)
			}
			left, err := s.Opening.Total().Add(p.Out.Neg())
			if err != nil || p.Covered && !left.Equal(p.Amount.Total()) {
				t.Errorf("%s less %s is not %s: %v", s.Opening, p.Out, p.Amount, err)
			}
			if p.Covered != (p.Kind == statement.Closing) {
				t.Errorf("%+v", p)
			}
		}
		want := map[string]string{
			"ofx1": "[point]", "ofx2": "[point]", "camt053": "[opening closing]", "mt940": "[opening closing]",
			"qif": "[opening]", "csv": "[]", "xlsx": "[]",
		}[format]
		if fmt.Sprint(kinds) != want {
			t.Errorf("%v, want %s", kinds, want)
		}
	}
}
