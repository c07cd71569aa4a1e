package all_test

import (
	"bytes"
	"errors"
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

// feed stands for a bank's feed among the formats. It is not a file format, so it can only come
// first.
const feed = "feed"

// asSource returns an account as another source delivers it: with different ids, texts and a few
// different days, and without some of its rows.
func asSource(r *rand.Rand, of statements.Statement, source string) statements.Statement {
	var rows []statements.Row
	for i, row := range of.Rows {
		if r.IntN(50) == 0 {
			continue // the source lacks it
		}
		row.ID = fmt.Sprintf("%s%06dX", strings.ToUpper(source[:2]), i)
		switch source {
		case feed:
			row.Name, row.Detail = strings.ToUpper(row.Name), ""
		case "mt940":
			row.Name = "SEPA " + row.Name
		case "csv":
			row.Name += " " + row.Day.Format("02.01.")
		}
		if r.IntN(10) == 0 {
			row.Day = row.Day.AddDate(0, 0, 1+r.IntN(2))
		}
		if !row.Day.After(of.To) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b statements.Row) int { return a.Day.Compare(b.Day) })
	of.Rows = rows
	return of
}

// withDecoys adds decoys to an account: rows with the amount and the text of another row of the
// same week.
func withDecoys(r *rand.Rand, of statements.Statement) statements.Statement {
	rows := slices.Clone(of.Rows)
	for _, row := range of.Rows {
		if r.IntN(15) == 0 {
			row.Day = row.Day.AddDate(0, 0, r.IntN(4))
			row.ID += "again"
			if !row.Day.After(of.To) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b statements.Row) int { return a.Day.Compare(b.Day) })
	of.Rows = rows
	return of
}

// take imports the rows of a source like the import job: likely duplicates are left out unless they
// are wanted.
func take(t *testing.T, stored []statement.Stored, source string, of statements.Statement, wanted bool) []statement.Stored {
	t.Helper()
	if source == feed {
		for _, r := range of.Rows {
			stored = append(stored, statement.Stored{
				Key: r.ID, Date: r.Day.Format(time.DateOnly), Cents: r.Amount.Cents(), Name: r.Name,
			})
		}
		return stored
	}
	var b bytes.Buffer
	if err := statements.Write(&b, source, []statements.Statement{of}); err != nil {
		t.Fatal(err)
	}
	content := bytes.NewReader(b.Bytes())
	f, err := statement.Detect(all.Formats, content)
	if err != nil {
		t.Fatal(err)
	}
	file, err := f.Open(t.Context(), content, statement.Options{DefaultCurrency: "EUR"})
	if err != nil {
		t.Fatal(source, err)
	}
	ids, err := statement.Identify(t.Context(), file, stored)
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range file.Rows(t.Context()) {
		if _, left := errors.AsType[*statement.RowError](err); left {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		is := ids.Next(row)
		if is.Stored || is.Covered || is.Likely && !wanted {
			continue
		}
		stored = append(stored, statement.Stored{
			Key: is.Key, Date: row.Date, Cents: row.Amount.Cents(), Name: row.Name.Plain(),
		})
	}
	return stored
}

// agree returns how many stored rows match a row of the truth, each at most once. They must have
// the same amount, and days that are at most as far apart as in two sources.
func agree(truth statements.Statement, stored []statement.Stored) (n int) {
	left := map[int64][]time.Time{}
	for _, r := range truth.Rows {
		left[r.Amount.Cents()] = append(left[r.Amount.Cents()], r.Day)
	}
	slices.SortFunc(stored, func(a, b statement.Stored) int { return strings.Compare(a.Date, b.Date) })
	for _, s := range stored {
		day, _ := time.Parse(time.DateOnly, s.Date)
		days := left[s.Cents]
		for i, d := range days {
			if apart := day.Sub(d).Abs(); apart <= statement.Apart*24*time.Hour {
				left[s.Cents] = slices.Delete(days, i, i+1)
				n++
				break
			}
		}
	}
	return n
}

// Several sources deliver an account in random order. Each has its own ids, texts and days and
// lacks some rows, and some rows repeat others of the week. The account finally has the rows of the
// truth. The control treats likely duplicates as new.
func TestSourcesInAnyOrder(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	h := household.New(household.Options{Seed: 5, Transactions: 2000, Years: 1, Purposes: true})
	var accounts []statements.Statement
	for _, s := range statements.Of(h) {
		if s.Currency == "EUR" && s.Type == "depository" && len(s.Rows) > 100 {
			accounts = append(accounts, s)
		}
	}
	households := 16
	if testing.Short() {
		households = 8
	}
	rows, kept, right, found, doubled := 0, 0, 0, 0, 0
	for n := range uint64(households) {
		r := rand.New(rand.NewPCG(n, 54))
		of := accounts[r.IntN(len(accounts))]
		from := of.Rows[0].Day.AddDate(0, 0, r.IntN(120))
		truth := withDecoys(r, cut(of, from, from.AddDate(0, 0, 150)))
		sources := []string{"csv", "ofx1", "camt053", "mt940"}
		r.Shuffle(len(sources), func(i, k int) { sources[i], sources[k] = sources[k], sources[i] })
		if n%3 == 0 {
			sources[0] = feed
		}
		var stored, control []statement.Stored
		for _, source := range sources {
			said := asSource(r, truth, source)
			stored, control = take(t, stored, source, said, false), take(t, control, source, said, true)
			before := len(stored)
			if source != feed {
				if stored = take(t, stored, source, said, false); len(stored) != before {
					t.Errorf("household %d: %s adds %d rows by its second import", n, source, len(stored)-before)
				}
			}
		}
		same := agree(truth, stored)
		rows, kept, right, found = rows+len(truth.Rows), kept+len(stored), right+same, found+same
		doubled += len(control) - agree(truth, control)
	}
	precision, recall := float64(right)/float64(kept), float64(found)/float64(rows)
	t.Logf("%d rows, %d kept: precision %.4f, recall %.4f; the control doubles %d", rows, kept, precision, recall, doubled)
	if precision < 0.99 || recall < 0.95 || rows < 500 {
		t.Errorf("precision %.4f, recall %.4f of %d rows", precision, recall, rows)
	}
	if doubled < rows {
		t.Errorf("the control doubles %d of %d rows", doubled, rows)
	}
}
