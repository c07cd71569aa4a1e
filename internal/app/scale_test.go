package app_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// TestScaleFigures compares the figures on the page about scale with the program, as far as they
// can be counted on any machine.
func TestScaleFigures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/proof/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := func(pattern string) float64 {
		m := regexp.MustCompile(pattern).FindSubmatch(page)
		if m == nil {
			t.Fatalf("the page does not say %s", pattern)
		}
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	w := newWorldOn(t, pgtest.URL(t), app.Config{})
	asked := 1 // the query of the jobs themselves
	for _, task := range w.AllTasks() {
		if task.Next != nil {
			asked++
		}
	}
	if want := stated(`(\d+) every 30 s`); float64(asked) != want {
		t.Errorf("an idle server asks %d questions, and the page says %v", asked, want)
	}
	decision, err := os.ReadFile("../../docs/decisions/0010-jobs.md")
	if err != nil || asked != 8 || !strings.Contains(string(decision), "asks eight questions in 30 seconds") {
		t.Errorf("decision 10 has another figure than %d: %v", asked, err)
	}
	size, err := pg.Value[float64](t.Context(), w.DB, `select pg_database_size(current_database()) / 1e6`)
	if want := stated(`database, empty \| (\d+) MB`); err != nil || math.Abs(size-want) > want/5 {
		t.Errorf("an empty database has %.1f MB, and the page says %v: %v", size, want, err)
	}
}
