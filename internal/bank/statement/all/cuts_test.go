package all_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/platform/racetest"
	"coffer/internal/sim/household"
	"coffer/internal/sim/statements"
)

// A shelf holds the rows of an account by their keys.
type shelf struct {
	rows    map[string]statement.Stored
	withDay bool // false for the control: keys without the day
}

// put imports a file, and returns how many rows were new.
func (s *shelf) put(t *testing.T, format string, of statements.Statement) (added int) {
	t.Helper()
	var b bytes.Buffer
	if err := statements.Write(&b, format, []statements.Statement{of}); err != nil {
		t.Fatal(err)
	}
	content := bytes.NewReader(b.Bytes())
	f, err := statement.Detect(all.Formats, content)
	if err != nil {
		t.Fatal(err)
	}
	file, err := f.Open(t.Context(), content, statement.Options{DefaultCurrency: "EUR"})
	if err != nil {
		t.Fatal(format, err)
	}
	var stored []statement.Stored
	for _, r := range s.rows {
		stored = append(stored, r)
	}
	slices.SortFunc(stored, func(a, b statement.Stored) int { return strings.Compare(a.Key, b.Key) })
	ids, err := statement.Identify(t.Context(), file, stored)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for row, err := range file.Rows(t.Context()) {
		if _, left := err.(*statement.RowError); left { //nolint:errorlint // is it itself
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		is := ids.Next(row)
		if !s.withDay {
			key := row.ID.Plain() + " " + row.Amount.String()
			seen[key]++
			is = statement.Identity{Key: fmt.Sprint(key, seen[key])}
		}
		if is.Likely {
			t.Fatalf("%s: a row of the same source is a likely duplicate", format)
		}
		if is.Was != "" {
			delete(s.rows, is.Was)
		}
		if _, there := s.rows[is.Key]; !there {
			added++
		}
		s.rows[is.Key] = statement.Stored{
			Key: is.Key, Date: row.Date, Cents: row.Amount.Cents(), Name: row.Name.Plain(),
		}
	}
	return added
}

// lines returns the rows without their keys.
func (s *shelf) lines() []string {
	var out []string
	for _, r := range s.rows {
		out = append(out, fmt.Sprint(r.Date, " ", r.Cents, " ", r.Name))
	}
	slices.Sort(out)
	return out
}

// cut returns the rows from one day to another, both included.
func cut(of statements.Statement, from, to time.Time) statements.Statement {
	opening := of.Opening.Cents()
	var rows []statements.Row
	for _, r := range of.Rows {
		switch {
		case r.Day.Before(from):
			opening -= r.Amount.Cents()
		case !r.Day.After(to):
			rows = append(rows, r)
		}
	}
	closing := opening
	for _, r := range rows {
		closing -= r.Amount.Cents()
	}
	of.From, of.To, of.Rows = from, to, rows
	of.Opening, of.Closing = inCents(opening), inCents(closing)
	return of
}

// reused gives the rows ids that repeat, each month and for all rows of a day, as some banks do.
func reused(of statements.Statement) statements.Statement {
	of.Rows = slices.Clone(of.Rows)
	for i, r := range of.Rows {
		of.Rows[i].ID = string([]byte{byte('A' + r.Day.Day()*7%26), byte('K' + r.Day.Day()%3), byte('A' + r.Day.Day()*11%26)})
		of.Rows[i].Amount = inCents(int64(1+r.Day.Day()%3) * 1000)
	}
	sum := of.Opening.Cents()
	for _, r := range of.Rows {
		sum -= r.Amount.Cents()
	}
	of.Closing = inCents(sum)
	return of
}

// Overlapping files of whole days, in any order, lead to the same rows as one file of all days.
// That holds for every format, and for ids that repeat. The control is a key without the day, which
// loses rows.
func TestCutsInAnyOrder(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	h := household.New(household.Options{Seed: 11, Transactions: 600, Years: 1, Purposes: true})
	var of statements.Statement
	for _, s := range statements.Of(h) {
		if s.Currency == "EUR" && s.Type == "depository" && len(s.Rows) > len(of.Rows) {
			of = s
		}
	}
	cuts, lost, banks, least := 0, 0, 160, 1000
	if testing.Short() {
		banks, least = 20, 100
	}
	for n := range uint64(banks) {
		r := rand.New(rand.NewPCG(n, 52))
		format := []string{"ofx1", "ofx2", "camt053", "mt940", "csv"}[n%5]
		begin := r.IntN(200)
		truth := cut(of, of.Rows[0].Day.AddDate(0, 0, begin), of.Rows[0].Day.AddDate(0, 0, begin+90))
		if n%2 == 1 && format != "csv" { // in a short CSV file, such a column is not recognized as ids
			truth = reused(truth)
		}
		if len(truth.Rows) == 0 {
			continue
		}
		whole := &shelf{rows: map[string]statement.Stored{}, withDay: true}
		whole.put(t, format, truth)
		got := &shelf{rows: map[string]statement.Stored{}, withDay: true}
		control := &shelf{rows: map[string]statement.Stored{}}
		var parts []statements.Statement
		for at := 0; at <= 90; {
			length := 5 + r.IntN(20)
			parts = append(parts, cut(truth, truth.From.AddDate(0, 0, at), truth.From.AddDate(0, 0, min(90, at+length))))
			at += 1 + r.IntN(length)
		}
		r.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		for _, p := range parts {
			if len(p.Rows) == 0 {
				continue
			}
			cuts++
			got.put(t, format, p)
			control.put(t, format, p)
		}
		if a, b := got.lines(), whole.lines(); !slices.Equal(a, b) {
			t.Fatalf("household %d, %s: %d rows from cuts, %d from the whole file", n, format, len(a), len(b))
		}
		lost += len(whole.rows) - len(control.rows)
	}
	if cuts < least || lost == 0 {
		t.Errorf("%d cuts; keys without the day lose %d rows", cuts, lost)
	}
	t.Logf("%d cuts; keys without the day lose %d rows", cuts, lost)
}
