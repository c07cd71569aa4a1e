package report

import (
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A list is complete, however many reports are read at a time, and it can continue after any
// report.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var r Reports
	var ids []string // newest first
	for n := range 11 {
		fresh := id.New()
		if _, err := pg.Exec(t.Context(), db, `
			insert into report (id, short_id, title, body, kind, author_type)
				values ($1, $2, $3, 'x', 'summary', 'user')`, fresh, fresh.Short(), fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		ids = append([]string{fresh.Short()}, ids...)
	}
	list := func(in ListReports) (string, error) {
		var titles []string
		err := r.Each(t.Context(), db, in, func(one Report) error {
			titles = append(titles, one.Title)
			return nil
		})
		return strings.Join(titles, " "), err
	}
	for want, in := range map[string]ListReports{
		"10 9 8 7 6 5 4 3 2 1 0": {},
		"10 9 8 7":               {Limit: new(few)},
		"10 9 8 7 6":             {Limit: new(few + 1)},
		"5 4 3 2 1 0":            {Before: &ids[4]},
		"5 4":                    {Before: &ids[4], Limit: new(2)},
		"":                       {Before: &ids[10]},
	} {
		if got, err := list(in); err != nil || got != want {
			t.Errorf("got %s, want %s; %v", got, want, err)
		}
	}
	if _, err := list(ListReports{Before: new("nothing0")}); !errs.Is(err, errs.InvalidReference) {
		t.Errorf("before nothing: %v", err)
	}
}
