package statement

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// The same number of rows is matched whether the file or the feed comes first. Matched rows have
// the same amount and are at most three days apart. If many equal amounts are some days apart, the
// nearest row is not always the best choice for the others, so a few results differ. The control is
// a feed with other amounts.
func TestFedAsIdentified(t *testing.T) {
	t.Parallel()
	names := []string{"Kaffee Bar", "KAFFEE", "Markt", "Miete Januar"}
	total, differ := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		row := func() Row {
			day := time.Date(2026, 1, 1+r.IntN(12), 0, 0, 0, 0, time.UTC)
			return Row{
				Date: day.Format(time.DateOnly), Amount: money.MustParse(fmt.Sprint(1 + r.IntN(3))),
				Name: text.Name(names[r.IntN(len(names))]),
			}
		}
		var file, feed []Row
		for range r.IntN(6) {
			file = append(file, row())
		}
		for range r.IntN(6) {
			feed = append(feed, row())
		}
		var asFile, asFeed []Stored
		prints := Fingerprints{}
		for _, f := range file {
			asFile = append(asFile, Stored{Key: prints.Of(f), Date: f.Date, Cents: f.Amount.Cents(), Name: f.Name.Plain()})
		}
		for n, f := range feed {
			asFeed = append(asFeed, Stored{Key: fmt.Sprint("bank", n), Date: f.Date, Cents: f.Amount.Cents(), Name: f.Name.Plain()})
		}
		found, used := 0, map[int]bool{}
		for n, at := range Fed(feed, asFile) {
			if at < 0 {
				continue
			}
			a, _ := time.Parse(time.DateOnly, feed[n].Date)
			b, _ := time.Parse(time.DateOnly, file[at].Date)
			if used[at] || feed[n].Amount != file[at].Amount || a.Sub(b).Abs() > Apart*24*time.Hour {
				t.Errorf("%d: %+v is not %+v", seed, feed[n], file[at])
			}
			used[at] = true
			found++
		}
		ids, err := Identify(t.Context(), fileOf(file), asFeed)
		if err != nil {
			t.Fatal(err)
		}
		likely := 0
		for _, f := range file {
			if ids.Next(f).Likely {
				likely++
			}
		}
		if likely != found {
			differ++
		}
		total += found
		for i := range asFile {
			asFile[i].Cents += 1000
		}
		for _, at := range Fed(feed, asFile) {
			if at >= 0 {
				t.Errorf("%d: another amount is the same", seed)
			}
		}
	}
	t.Logf("%d rows were found; %d of 300 pairs differ by their order", total, differ)
	if total == 0 || differ > 3 {
		t.Errorf("%d rows were found; %d of 300 pairs differ by their order", total, differ)
	}
}

func fileOf(rows []Row) File {
	return File{
		Preview: Preview{FirstDate: "2026-01-01", LastDate: "2026-01-12"},
		Format: Format{Name: tables, Read: func(context.Context, io.ReaderAt, Preview) iter.Seq2[Row, error] {
			return func(yield func(Row, error) bool) {
				for _, r := range rows {
					if !yield(r, nil) {
						return
					}
				}
			}
		}},
	}
}
