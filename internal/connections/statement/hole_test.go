package statement

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/books/account"
	"coffer/internal/platform/money"
	"coffer/internal/platform/racetest"
	"coffer/internal/sim/household"
	"coffer/internal/sim/statements"
)

// months returns consecutive statements of an account, of 30 days each.
func months(t *testing.T, of statements.Statement, n int) (out []statements.Statement) {
	t.Helper()
	opening := of.Opening.Cents()
	for i := range n {
		m := of
		m.From, m.To = of.From.AddDate(0, 0, 30*i), of.From.AddDate(0, 0, 30*i+29)
		m.Opening, m.Rows = cents(t, opening), nil
		for _, r := range of.Rows {
			if !r.Day.Before(m.From) && !r.Day.After(m.To) {
				m.Rows = append(m.Rows, r)
				opening -= r.Amount.Cents()
			}
		}
		m.Closing = cents(t, opening)
		out = append(out, m)
	}
	return out
}

func cents(t *testing.T, n int64) money.Amount {
	t.Helper()
	a, err := money.FromCents(n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// zipped returns an archive with a file for each statement.
func zipped(t *testing.T, format string, of []statements.Statement) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, s := range of {
		f, err := w.Create(fmt.Sprintf("%02d", i))
		if err == nil {
			err = statements.Write(f, format, []statements.Statement{s})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// proofOf returns what a first import of an archive would prove. It needs no database.
func proofOf(t *testing.T, raw []byte) (account.StatementProof, portion) {
	t.Helper()
	s := &Statements{formats: all.Formats}
	d, err := s.receive(raw, func(f statement.Format, file io.ReaderAt) (statement.File, error) {
		return f.Open(t.Context(), file, statement.Options{DefaultCurrency: "EUR"})
	})
	if err != nil {
		t.Fatal(err)
	}
	p := d.portions()
	if len(p) != 1 {
		t.Fatalf("%d accounts", len(p))
	}
	r, err := s.reckon(t.Context(), nil, place{}, p[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.proof, p[0]
}

// A row is missing from one of three statements. It is located between two balances, with its
// amount. Complete statements raise no alarm, and neither does a month without a file. The control
// is a proof that assumes that such a month is covered.
func TestMissingRowIsFound(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	h := household.New(household.Options{Seed: 3, Transactions: 1500, Years: 1, Purposes: true})
	var accounts []statements.Statement
	for _, s := range statements.Of(h) {
		if s.Currency == "EUR" && s.Type == "depository" {
			accounts = append(accounts, s)
		}
	}
	found, whole, wolf, tried := 0, 0, 0, 0
	for n := uint64(0); tried < 200; n++ {
		r := rand.New(rand.NewPCG(n, 53))
		of := accounts[r.IntN(len(accounts))]
		of.Rows = slices.Clone(of.Rows)
		skip := r.IntN(200)
		for len(of.Rows) > 0 && of.Rows[0].Day.Before(of.From.AddDate(0, 0, skip)) {
			of.Opening = cents(t, of.Opening.Cents()-of.Rows[0].Amount.Cents())
			of.Rows = of.Rows[1:]
		}
		of.From = of.From.AddDate(0, 0, skip)
		three := months(t, of, 3)
		at := r.IntN(3)
		if slices.ContainsFunc(three, func(s statements.Statement) bool { return len(s.Rows) < 2 }) {
			if n > 5000 {
				t.Fatal("the household has too few rows")
			}
			continue
		}
		tried++
		format := []string{"camt053", "mt940"}[n%2]
		if proof, _ := proofOf(t, zipped(t, format, three)); proof.Status == account.Verified {
			whole++
		} else {
			t.Errorf("%d, whole: %+v", n, proof)
		}
		hole := slices.Clone(three)
		row := r.IntN(len(hole[at].Rows))
		missing := hole[at].Rows[row]
		hole[at].Rows = slices.Delete(slices.Clone(hole[at].Rows), row, row+1)
		proof, _ := proofOf(t, zipped(t, format, hole))
		if proof.Status == account.Off && proof.OffBy.String() == missing.Amount.String() &&
			!proof.From.Time().After(missing.Day) && proof.To.Time().Sub(missing.Day) >= 0 &&
			proof.To.Time().Sub(proof.From.Time()) <= 31*24*time.Hour {
			found++
		} else {
			t.Errorf("%d, without %+v: %+v", n, missing, proof)
		}
		apart := zipped(t, format, []statements.Statement{three[0], three[2]})
		proof, p := proofOf(t, apart)
		if proof.Status == account.Off {
			t.Errorf("%d, a month that was not imported: %+v", n, proof)
		}
		if three[1].Opening != three[1].Closing && criesWolf(t, p) {
			wolf++
		}
	}
	t.Logf("%d of %d holes found, %d whole; the control raises %d false alarms", found, tried, whole, wolf)
	if found != tried || whole != tried || wolf == 0 {
		t.Errorf("%d of %d holes found, %d whole; the control raises %d false alarms", found, tried, whole, wolf)
	}
}

// criesWolf reports whether a proof that assumes all days are covered raises an alarm.
func criesWolf(t *testing.T, p portion) bool {
	t.Helper()
	closings := p.closings()
	for i := range closings {
		closings[i].Since = p.day(p.FirstDate).AddDate(-1, 0, 0)
	}
	var r *account.Register
	proof, err := r.ProveStatement(t.Context(), nil, nil, "EUR", account.Statement{Closings: closings})
	if err != nil {
		t.Fatal(err)
	}
	return proof.Status == account.Off
}
