package banktest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Paper is a simulated bank whose ledger is delivered as CSV files. It shares no code with the
// reader, so the imported rows can be compared with the ledger.
type Paper struct {
	Manner PaperIDs
	r      *rand.Rand
	rows   []paperRow
}

// PaperIDs is how a bank's files number their rows.
type PaperIDs int

// The numbering styles.
const (
	NoIDs       PaperIDs = iota // no such column
	CountedIDs                  // from 1 in every file
	PaddedIDs                   // the same, written as TX-001
	DailyIDs                    // from 1 on every day
	SequenceIDs                 // from 1 over the whole ledger
	UniqueIDs                   // unique for each row
	ReusedIDs                   // the mandate's id, shared by all payments of one kind
	MixedIDs                    // each file is unique, counted or without ids
	PaperManners
)

type paperRow struct {
	day   time.Time
	cents int64
	text  string
	id    string
	place int // index in the ledger, from 1
}

// NewPaper creates a ledger: few amounts and few texts over a few weeks, so that equal rows on one
// day are common.
func NewPaper(r *rand.Rand, manner PaperIDs) *Paper {
	p := &Paper{Manner: manner, r: r}
	day := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(300))
	texts := []string{"COFFEE", "RENT SHARE", "Power Co", "Corner Market 12"}
	for n := range 12 + r.IntN(25) {
		day = day.AddDate(0, 0, []int{0, 0, 0, 1, 1, 3}[r.IntN(6)])
		row := paperRow{
			day: day, cents: []int64{450, 450, 6000, 999}[r.IntN(4)], text: texts[r.IntN(len(texts))],
			place: n + 1,
		}
		row.id = fmt.Sprintf("%08x", r.Uint32()|1<<31)
		if manner == ReusedIDs {
			row.id = "M-" + strings.ToUpper(row.text[:4])
		}
		p.rows = append(p.rows, row)
	}
	return p
}

// A Statement is a file written by a bank, and the rows of the ledger that it lists.
type Statement struct {
	File string
	Rows []int
}

// Cut writes a statement of some days, oldest or newest row first. Its last day may be incomplete,
// like an export at noon. The first day is complete unless the rows have ids: if a file without ids
// begins with one of two equal rows, nobody can know which one.
func (p *Paper) Cut() Statement {
	days := slices.Compact(func() (out []string) {
		for _, row := range p.rows {
			out = append(out, row.day.Format(time.DateOnly))
		}
		return out
	}())
	from := p.r.IntN(len(days))
	until := min(len(days)-1, from+p.r.IntN(8))
	var s Statement
	for i, row := range p.rows {
		if day := row.day.Format(time.DateOnly); day >= days[from] && day <= days[until] {
			s.Rows = append(s.Rows, i)
		}
	}
	last := 0 // number of rows of the last day
	for _, i := range s.Rows {
		if p.rows[i].day.Format(time.DateOnly) == days[until] {
			last++
		}
	}
	if p.r.IntN(3) == 0 && last < len(s.Rows) {
		s.Rows = s.Rows[:len(s.Rows)-p.r.IntN(last+1)]
	}
	if p.Manner == UniqueIDs && p.r.IntN(3) == 0 {
		s.Rows = s.Rows[p.r.IntN(len(s.Rows)):]
	}
	if p.r.IntN(2) == 0 {
		slices.Reverse(s.Rows)
	}
	s.File = p.write(s.Rows)
	return s
}

func (p *Paper) write(rows []int) string {
	manner := p.Manner
	if manner == MixedIDs {
		manner = []PaperIDs{UniqueIDs, CountedIDs, NoIDs}[p.r.IntN(3)]
	}
	var b strings.Builder
	b.WriteString("Date,Description,Amount")
	if manner != NoIDs {
		b.WriteString(",Transaction ID")
	}
	b.WriteString("\n")
	today, before := 0, time.Time{}
	for n, i := range rows {
		row := p.rows[i]
		if today++; !row.day.Equal(before) {
			today, before = 1, row.day
		}
		fmt.Fprintf(&b, "%s,%s,-%d.%02d", row.day.Format(time.DateOnly), row.text, row.cents/100, row.cents%100)
		switch manner {
		case CountedIDs:
			fmt.Fprintf(&b, ",%d", n+1)
		case PaddedIDs:
			fmt.Fprintf(&b, ",TX-%03d", n+1)
		case DailyIDs:
			fmt.Fprintf(&b, ",%d", today)
		case SequenceIDs:
			fmt.Fprintf(&b, ",%d", row.place)
		case UniqueIDs, ReusedIDs:
			b.WriteString("," + row.id)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Listed returns the rows that these statements list, each once, sorted, as day, amount and text.
func (p *Paper) Listed(statements []Statement) (out []string) {
	seen := map[int]bool{}
	for _, s := range statements {
		for _, i := range s.Rows {
			if row := p.rows[i]; !seen[i] {
				seen[i] = true
				out = append(out, fmt.Sprintf("%s %d.%02d %s", row.day.Format(time.DateOnly), row.cents/100,
					row.cents%100, row.text))
			}
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// Taken holds the counts that an import of a statement reports.
type Taken struct{ Added, Modified, Duplicates, Left int64 }

// A Drawer is the tested import into one account.
type Drawer interface {
	Put(ctx context.Context, file string) (Taken, error)
	Rows(ctx context.Context) ([]string, error) // sorted, as Listed has them
}

// TryPaper imports statements of a bank into a drawer, two of them twice. It returns an error if
// the result is wrong: rows are lost, duplicated, moved to another day, or counted incorrectly.
func TryPaper(ctx context.Context, p *Paper, statements int, d Drawer) error {
	var put []Statement
	for range statements {
		put = append(put, p.Cut())
	}
	var added int64
	for i, s := range put {
		got, err := d.Put(ctx, s.File)
		if err != nil {
			return fmt.Errorf("statement %d: %w\n%s", i, err, s.File)
		}
		added += got.Added
		if sum := got.Added + got.Modified + got.Duplicates + got.Left; sum != int64(len(s.Rows)) ||
			got.Modified != 0 || got.Left != 0 {
			return fmt.Errorf("statement %d of %d rows reports %+v\n%s", i, len(s.Rows), got, s.File)
		}
		rows, err := d.Rows(ctx)
		if err != nil {
			return err
		}
		if want := p.Listed(put[:i+1]); !slices.Equal(rows, want) {
			return fmt.Errorf("after statement %d:\n%s\nthe books have\n%s\nand not\n%s", i, s.File,
				strings.Join(rows, "\n"), strings.Join(want, "\n"))
		}
	}
	if want := p.Listed(put); added != int64(len(want)) {
		return fmt.Errorf("%d rows were reported as added, %d there are", added, len(want))
	}
	p.r.Shuffle(len(put), func(i, k int) { put[i], put[k] = put[k], put[i] })
	for _, s := range put[:min(2, len(put))] {
		if got, err := d.Put(ctx, s.File); err != nil || got.Duplicates != int64(len(s.Rows)) {
			return fmt.Errorf("again, a statement of %d rows reports %+v, %w\n%s", len(s.Rows), got, err, s.File)
		}
	}
	return nil
}
