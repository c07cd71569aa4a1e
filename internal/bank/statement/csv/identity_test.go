package csv_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/banktest"
	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/racetest"
)

// A shelf keeps rows under their keys, as the books do.
type shelf struct {
	rows map[string]statement.Stored
	// identify returns the keys of a file's rows, in order; nil for the real keys.
	identify func(file string) []string
}

func newShelf() *shelf { return &shelf{rows: map[string]statement.Stored{}} }

func (s *shelf) Rows(context.Context) (out []string, _ error) {
	for _, r := range s.rows {
		out = append(out, fmt.Sprintf("%s %d.%02d %s", r.Date, r.Cents/100, r.Cents%100, r.Name))
	}
	slices.Sort(out)
	return out, nil
}

func (s *shelf) Put(ctx context.Context, file string) (banktest.Taken, error) {
	var out banktest.Taken
	data := strings.NewReader(file)
	p, err := csv.Inspect(ctx, data, csv.Options{AmountSign: csv.NegativeOut})
	if err != nil {
		return out, err
	}
	var there []statement.Stored
	for _, r := range s.rows {
		if r.Date >= p.FirstDate && r.Date <= p.LastDate {
			there = append(there, r)
		}
	}
	slices.SortFunc(there, func(a, b statement.Stored) int { return strings.Compare(a.Date+a.Key, b.Date+b.Key) })
	ids, err := statement.Identify(ctx, p.File(data), there)
	if err != nil {
		return out, err
	}
	var keys []string
	if s.identify != nil {
		keys = s.identify(file)
	}
	n := 0
	for row, err := range csv.Read(ctx, data, p) {
		if err != nil {
			return out, err
		}
		is := ids.Next(row)
		if keys != nil {
			is = statement.Identity{Key: keys[n]}
		}
		n++
		now := statement.Stored{Key: is.Key, Date: row.Date, Cents: row.Amount.Cents(), Name: row.Name.Plain()}
		before, ok := s.rows[is.Key]
		if is.Was != "" {
			before, ok = s.rows[is.Was]
			delete(s.rows, is.Was)
		}
		switch {
		case !ok && is.Stored:
			return out, fmt.Errorf("row %d is said to be stored under %s", row.Number, is.Key)
		case !ok:
			out.Added++
		case before == now:
			out.Duplicates++
		default:
			out.Modified++
		}
		s.rows[is.Key] = now
	}
	return out, nil
}

// TestStatementsInAnyOrder imports 2,000 random statements of 400 banks into shelves.
func TestStatementsInAnyOrder(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	for n := range uint64(400) {
		r := rand.New(rand.NewPCG(n, 11))
		p := banktest.NewPaper(r, banktest.PaperIDs(n%uint64(banktest.PaperManners)))
		if err := banktest.TryPaper(t.Context(), p, 5, newShelf()); err != nil {
			t.Fatalf("bank %d, manner %d: %v", n, p.Manner, err)
		}
	}
}

// undated returns keys made of only the id and the amount, or for rows without an id of the day,
// the amount and the text.
func undated(file string) (out []string) {
	seen := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(file), "\n") {
		cells := strings.Split(line, ",")
		if i == 0 {
			continue
		}
		key := strings.Join(cells, " ")
		if len(cells) == 4 {
			key = cells[2] + " " + cells[3]
		}
		seen[key]++
		out = append(out, fmt.Sprint(key, seen[key]))
	}
	return out
}

// TestStatementsWithoutTheDay is the control. With keys that leave out the day, errors are found
// for each numbering style that repeats ids, and for no other.
func TestStatementsWithoutTheDay(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	var found [banktest.PaperManners]int
	for n := range uint64(160) {
		r := rand.New(rand.NewPCG(n, 12))
		p := banktest.NewPaper(r, banktest.PaperIDs(n%uint64(banktest.PaperManners)))
		s := newShelf()
		s.identify = undated
		if banktest.TryPaper(t.Context(), p, 5, s) != nil {
			found[p.Manner]++
		}
	}
	t.Log(found)
	for _, m := range []banktest.PaperIDs{
		banktest.CountedIDs, banktest.PaddedIDs, banktest.DailyIDs,
		banktest.ReusedIDs, banktest.MixedIDs,
	} {
		if found[m] < 15 {
			t.Errorf("of 20 banks whose ids are of manner %d, %d are noticed", m, found[m])
		}
	}
	for _, m := range []banktest.PaperIDs{banktest.NoIDs, banktest.SequenceIDs, banktest.UniqueIDs} {
		if found[m] != 0 {
			t.Errorf("%d banks of manner %d are said to fail, whose ids never come again", found[m], m)
		}
	}
}

// If a bank moves a row to another day, the stored row is moved too, provided that the file shows
// that the row has left its former day.
func TestMovedRows(t *testing.T) {
	t.Parallel()
	file := func(rows ...string) string {
		return "Date,Description,Amount,Transaction ID\n" + strings.Join(rows, "\n") + "\n"
	}
	a, b, c := "2026-05-01,COFFEE,-4.80,a7", "2026-05-03,RENT,-90.00,b8", "2026-05-05,POWER,-40.00,c9"
	for name, x := range map[string]struct {
		second string
		want   banktest.Taken
		rows   int
	}{
		"moved": {
			file(a, "2026-05-04,RENT,-90.00,b8", c),
			banktest.Taken{Modified: 1, Duplicates: 2},
			3,
		},
		"moved and renamed": {
			file(a, "2026-05-04,RENT MAY,-90.00,b8", c),
			banktest.Taken{Modified: 1, Duplicates: 2},
			3,
		},
		"again, on another day": {
			file(a, b, "2026-05-04,RENT,-90.00,b8", c),
			banktest.Taken{Added: 1, Duplicates: 3},
			4,
		},
		"another amount": {
			file(a, "2026-05-04,RENT,-91.00,b8", c),
			banktest.Taken{Added: 1, Duplicates: 2},
			4,
		},
		"next month": {
			file("2026-06-03,RENT,-90.00,b8", "2026-06-05,POWER,-40.00,c9"),
			banktest.Taken{Added: 2},
			5,
		},
		"a file that begins late": {file("2026-05-04,RENT,-90.00,b8", c), banktest.Taken{Added: 1, Duplicates: 1}, 4},
		"a first day that is cut": {
			file("2026-05-03,COFFEE,-1.00,d1", "2026-05-04,RENT,-90.00,b8", c),
			banktest.Taken{Added: 2, Duplicates: 1},
			5,
		},
	} {
		s := newShelf()
		if _, err := s.Put(t.Context(), file(a, b, c)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Put(t.Context(), x.second)
		if rows, _ := s.Rows(t.Context()); err != nil || got != x.want || len(rows) != x.rows {
			t.Errorf("%s: %+v, %d rows, want %+v, %d; %v", name, got, len(rows), x.want, x.rows, err)
		}
		// A row that moved is recognized on its new day.
		if got, err := s.Put(t.Context(), x.second); err != nil || got.Added+got.Modified != 0 {
			t.Errorf("%s, again: %+v, %v", name, got, err)
		}
	}
}

// Rows that are stored under the keys of earlier versions are recognized: importing their files
// again adds nothing. In those versions, keys of rows with an id had no day. The keys below were
// written by such a version.
func TestFormerKeys(t *testing.T) {
	t.Parallel()
	former := []statement.Stored{
		{Key: "80e3c659f1535f5adaf3645f4bc328b7", Date: "2026-05-03", Cents: 9000, Name: "RENT"},         // b8
		{Key: "e48a0c0e41fbd7caabb0111c6240e165", Date: "2026-05-05", Cents: 4000, Name: "POWER"},        // c9
		{Key: "5baa0aa58b8bfd734d655079d101ba8f", Date: "2026-05-06", Cents: 700, Name: "GYM"},           // m1
		{Key: "a4a77a8b90f47edce0266e4974a802c4", Date: "2026-05-13", Cents: 700, Name: "GYM"},           // m1
		{Key: "f33000666c1b38cd1990032df5857dd3", Date: "2026-06-03", Cents: 6000, Name: "RENT SHARE"},   // 1
		{Key: "ca279b1aa22aca5a4d482d947cf7b4e5", Date: "2026-06-14", Cents: 999, Name: "STREAM CO"},     // 2
		{Key: "43720f23bd47f6f464db4e0ec828b187", Date: "2026-06-20", Cents: 4000, Name: "POWER"},        // 3
		{Key: "31968a12b26c71709d22adbcc837641e", Date: "2026-07-01", Cents: 350, Name: "Corner Coffee"}, // no id
	}
	file := func(rows ...string) string {
		return "Date,Description,Amount,Transaction ID\n" + strings.Join(rows, "\n") + "\n"
	}
	for name, x := range map[string]struct {
		file string
		want banktest.Taken
	}{
		"ids": {
			file("2026-05-03,RENT,-90.00,b8", "2026-05-05,POWER,-40.00,c9"),
			banktest.Taken{Duplicates: 2},
		},
		"ids, another text": {
			file("2026-05-03,RENT MAY,-90.00,b8", "2026-05-05,POWER,-40.00,c9"),
			banktest.Taken{Modified: 1, Duplicates: 1},
		},
		"an id that came twice": {
			file("2026-05-06,GYM,-7.00,m1", "2026-05-13,GYM,-7.00,m1"),
			banktest.Taken{Duplicates: 2},
		},
		"the second of the two": {
			file("2026-05-13,GYM,-7.00,m1", "2026-05-20,GYM,-7.00,m1"),
			banktest.Taken{Added: 1, Duplicates: 1},
		},
		"moved": {file("2026-05-02,COFFEE,-1.00,d4", "2026-05-04,RENT,-90.00,b8",
			"2026-05-05,POWER,-40.00,c9"), banktest.Taken{Added: 1, Modified: 1, Duplicates: 1}},
		"counted": {file("2026-06-03,RENT SHARE,-60.00,1", "2026-06-14,STREAM CO,-9.99,2",
			"2026-06-20,POWER,-40.00,3"), banktest.Taken{Duplicates: 3}},
		"counted, the month before": {file("2026-05-03,RENT SHARE,-60.00,1", "2026-05-14,STREAM CO,-9.99,2",
			"2026-05-20,POWER,-40.00,3"), banktest.Taken{Added: 3}},
		"without ids": {
			"Date,Description,Amount\n2026-07-01,Corner Coffee,-3.50\n2026-07-01,Corner Coffee,-3.50\n",
			banktest.Taken{Added: 1, Duplicates: 1},
		},
		"no ids before": {
			file("2026-07-01,CORNER COFFEE,-3.50,e5", "2026-07-02,RENT,-90.00,f6"),
			banktest.Taken{Added: 1, Modified: 1},
		},
	} {
		s := newShelf()
		for _, r := range former {
			s.rows[r.Key] = r
		}
		got, err := s.Put(t.Context(), x.file)
		if err != nil || got != x.want || len(s.rows) != len(former)+int(got.Added) {
			t.Errorf("%s: %+v, want %+v, %v", name, got, x.want, err)
		}
		if got, err := s.Put(t.Context(), x.file); err != nil || got.Added+got.Modified != 0 {
			t.Errorf("%s, again: %+v, %v", name, got, err)
		}
	}
}

// Columns that only number rows are distinguished from columns of ids.
func TestCountingColumns(t *testing.T) {
	t.Parallel()
	for ids, want := range map[string]bool{
		"1 2 3": true, "3 2 1": true, "0 1 2": true, "0001 0002": true, "TX-9 TX-10": false, "TX-1 TX-2": true,
		"1": true, "7": false,
		"1 2 1 2 3": true, "3 2 1 2 1": true, "1 1 1": true, "101 102 103": false, "1 3 4": false, "1 2 A3": false,
		"4711 4712": false, "a b c": false,
		"1  3": false, "2 1 0": true, "ref1 ref2 pay3": false, "99999999999999999999 1": false,
	} {
		var b strings.Builder
		b.WriteString("Date,Description,Amount,Transaction ID\n")
		for i, id := range strings.Split(ids, " ") {
			fmt.Fprintf(&b, "2026-05-%02d,COFFEE,-4.80,%s\n", 13+i, id)
		}
		p, err := csv.Inspect(t.Context(), strings.NewReader(b.String()), csv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(p.Warnings, func(w statement.Warning) bool { return w.Code == "id_counts_rows" })
		if warned != want || (p.Sample[0].ID == "") != want {
			t.Errorf("%q: warned %t, the first id is %q", ids, warned, p.Sample[0].ID.Plain())
		}
	}
}

// Columns of money out and money in are recognized whatever other columns the file has. Exports of
// other programs are read with a warning or not at all.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"zeros":  "Date,Payee,Outflow,Inflow\n2026-02-07,Grocer,54.20,0.00\n2026-02-20,Salary,0.00,100.00\n2026-02-21,Rent,90.00,0.00\n",
		"blanks": "Date,Payee,Outflow,Inflow\n2026-02-07,Grocer,$54.20,\n2026-02-20,Salary,,$100.00\n2026-02-21,Rent,$90.00,\n",
	} {
		p, err := csv.Inspect(t.Context(), strings.NewReader(file), csv.Options{})
		if err != nil || p.AmountSign != csv.Split || p.Mapping.Balance != nil || p.Mapping.Amount != nil ||
			p.RowsTotal != 3 {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		if p.Sample[0].Amount.String() != "54.20" || p.Sample[1].Amount.String() != "-100.00" {
			t.Errorf("%s: %+v", name, p.Sample)
		}
	}
	const gnucash = "Date,Transaction ID,Number,Description,Full Account Name,Account Name,Amount With Sym,Amount " +
		"Num.\n" +
		"2026-02-09,6d0b,,Superstore,Expenses:Groceries,Groceries,\"30,00 " +
		"€\",30.00\n,,,,Assets:Checking,Checking,\"-30,00 €\",-30.00\n"
	if _, err := csv.Inspect(t.Context(), strings.NewReader(gnucash), csv.Options{}); !errs.Is(err,
		errs.UnsupportedMediaType) {
		t.Errorf("postings on several lines: %v", err)
	}
}
