package app_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// screens are the commands whose tables people read every day. Each lists texts that must be
// visible at 80 columns: money, and what people need for decisions.
var screens = []struct {
	line  string
	needs []string
}{
	{"account list", []string{"BALANCE", "NAME", "DATE", "SOURCE"}},
	{"transaction list --sort-by amount --limit 6", []string{"DATE", "AMOUNT", "NAME", "CATEGORY", "TAGS", "--all"}},
	{"transaction list --sort-by amount --sort-order asc --limit 3", []string{"+ means money in"}},
	{"transaction list --search nothing-is-called-this", []string{"No matching transactions"}},
	{
		"transaction summary --group-by month,primary_category --start-date 2026-05-01",
		[]string{"MONTH", "MONEY OUT", "NET"},
	},
	{
		"transaction summary --group-by primary_category --start-date 2026-05-01 --end-date 2026-05-31 " +
			"--compare previous_period --sort-by change --limit 5",
		[]string{"PREVIOUS", "CHANGE", "other"},
	},
	{"cashflow get --start-date 2026-05-01 --end-date 2026-05-31", []string{"income", "saved", "AMOUNT"}},
	{"target list --month 2026-05", []string{"CATEGORY", "AMOUNT", "SPENT", "AVAILABLE", "STATE"}},
	{"net-worth --start-date 2026-01-01 --end-date 2026-06-30", []string{"DATE", "NET", "ASSETS", "DEBTS", "CUR"}},
	{"net-worth --start-date 2026-05-01 --end-date 2026-06-30 --by account", []string{"DATE", "NET", "NAME"}},
	{"overview", []string{"ASSETS", "DEBTS", "NET", "BALANCE", "proved"}},
	{"recurring list --limit 8", []string{"AMOUNT", "PAYEE", "CADENCE", "NEXT"}},
	{"upcoming --days 40", []string{"DEBT", "highest for a debt", "MONEY OUT", "BALANCE", "LOWEST", "DATE", "AMOUNT", "NAME"}},
	{"rule list", []string{"NAME", "ENABLED", "CONDITIONS", "CREATED BY"}},
	{"rule apply --dry-run --rule-ids k3xK9a2Q", []string{"Done: ", "AMOUNT", "BEFORE → AFTER", "– → shared"}},
	{"account-link matches k3xK9a2Q --limit 2", []string{"DATE", "AMOUNT", "NAME", "CONFIDENCE"}},
	{"change get m7Pz2LbR", []string{"DATE", "AMOUNT", "NAME", "BEFORE → AFTER"}},
	{"report get k3xK9a2Q", []string{"\n# June\n\nWe spent less.\n"}},
	{"webhook list --provider teller", []string{"match"}},
	{"transaction untag m7Pz2LbR needs-review", []string{"Removed tag needs-review from transaction m7Pz2LbR."}},
}

var days = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)

var moments = regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d \w+)?\b`)

// TestGoldenScreens prints the tables of a seeded household at 80 and at 120 columns. No line is
// wider, and the expected texts are visible.
func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	demo(t, database)
	w := newWorldOn(t, database, app.Config{EncryptionKey: seal.NewSecret(testRing)})
	working(t, w)
	here := instance{config: app.Config{
		DatabaseURL: w.Config.DatabaseURL, DatabaseMaxConns: 4,
		EncryptionKey: seal.NewSecret(testRing),
	}}
	var all strings.Builder
	for _, width := range []int{80, 120} {
		for _, s := range screens {
			out, fail, code := here.run(t.Context(), width, strings.Fields(s.line)...)
			if code != 0 || fail != "" {
				t.Errorf("coffer %s: exit %d, %s", s.line, code, fail)
			}
			for line := range strings.SplitSeq(out, "\n") {
				if utf8.RuneCountInString(line) > width {
					t.Errorf("coffer %s at %d columns has a line of %d:\n%s", s.line, width,
						utf8.RuneCountInString(line), line)
				}
			}
			for _, text := range s.needs {
				if !strings.Contains(out, text) {
					t.Errorf("coffer %s at %d columns does not say %q:\n%s", s.line, width, text, out)
				}
			}
			if s.line == "overview" || strings.HasPrefix(s.line, "upcoming") { // they contain today's date
				continue
			}
			if s.line == "account list" { // the balances have today's date
				out = days.ReplaceAllString(out, "0000-00-00")
			}
			out = moments.ReplaceAllStringFunc(out, func(m string) string { return "0000-00-00 00:00:00 UTC"[:len(m)] })
			fmt.Fprintf(&all, "$ coffer %s   # %d columns\n%s\n", s.line, width, shortened(out))
		}
	}
	golden(t, "testdata/screens.txt", all.String())
}

// shortened replaces ids in a column: eight characters at the beginning of a line.
func shortened(out string) string {
	return regexp.MustCompile(`(?m)^( *)[0-9A-Za-z]{8}  `).ReplaceAllString(out, "${1}xxxxxxxx  ")
}
