package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode/utf8"

	"coffer/internal/app"
	"coffer/internal/platform/op"
	"coffer/internal/platform/seal"
)

// A typed is a command that a person types at a terminal of 80 columns. It has the question that
// the command answers, the findings of the first user trial that it covers, and the words that must
// be on the screen. A word with a dollar sign is an id that an earlier command printed.
type typed struct {
	command, answers, finding string
	needs                     []string
	without                   []string // must not be on the screen
	keeps                     string   // name=path: keeps a value of the JSON output
	fails, remote             bool
}

// bakery is a rule as a person types it.
const bakery = `{"name":"Bread","conditions":{"field":"name","op":"contains","value":"bakery"},` +
	`"category_slug":"food_and_drink_groceries"}`

// typedMonth continues where the guide ends, in the same household.
var typedMonth = []typed{
	{
		command: "account list", answers: "what is on each account", finding: "H1 B3",
		needs: []string{"BALANCE", "2400.00"}, keeps: "account=[0].short_id",
	},
	{command: "overview", answers: "how the household stands", finding: "H1 B3", needs: []string{"2400.00", "NET"}},
	{
		command: "transaction list --search 'flat 3'", answers: "what a payment was for", finding: "H1 B5",
		needs: []string{"1120.00", "Murphy Lettings", "CATEGORY  MEMO", "Rent  ", "MEMO", "Rent October"}, keeps: "rent=transactions[0].short_id",
	},
	{command: "transaction get $rent", answers: "all about one payment", finding: "B5", needs: []string{"Rent October flat 3"}},
	{
		command: "rule create --rules '" + bakery + "'", answers: "a rule, typed", finding: "B2 H10",
		needs: []string{"Bread"},
	},
	{
		command: "rule apply --dry-run", answers: "what the rules would change", finding: "H5",
		needs: []string{"2026-10-24", "6.40", "Summer Bakery", "BEFORE → AFTER", "Done: 2 changed"},
	},
	{command: "rule apply", answers: "what they changed", finding: "H4", needs: []string{"Done: 2 changed"}, without: []string{"queued"}},
	{
		command: "change list --limit 1", answers: "which change that was", finding: "H7",
		needs: []string{"Applied 4 rules", "TRANSACTIONS"}, keeps: "change=changes[0].short_id",
	},
	{
		command: "change get $change", answers: "what it changed", finding: "H7",
		needs: []string{"2026-10-24", "6.40", "Summer Bakery", "food_and_drink_groceries"},
	},
	{
		command: "change revert $change --dry-run", answers: "what undoing it would do", finding: "H7",
		needs: []string{"reverted", "2"},
	},
	{
		command: "csv import $bank --file statement.csv", answers: "the same file again", finding: "B4 H4",
		needs: []string{"Done: 0 added, 9 duplicates."}, without: []string{"queued"},
	},
	{
		command: "change list --cause import", answers: "which change the import was", finding: "H7",
		needs: []string{"Imported 9 transactions"}, keeps: "import=changes[0].short_id",
	},
	{command: "change revert $import", answers: "the import is undone", finding: "H16", needs: []string{"reverted"}},
	{
		command: "csv import $bank --file statement.csv", answers: "and the file again", finding: "H16 H4",
		needs: []string{"9 restored"},
	},
	{
		command: `csv import $bank --file statement.csv --account '{"name":"Second","iso_currency_code":"EUR"}'`,
		answers: "a second account, on a server", finding: "H8 B4", needs: []string{"Done: 9 added"}, remote: true,
	},
	{
		command: `csv preview --file statement.csv --mapping '{"date":0,"name":1,"amount":3}'`,
		answers: "its columns, on a server", finding: "H8", needs: []string{"Murphy Lettings"}, remote: true,
	},
	{
		command: "account-link list", answers: "which accounts show the same", finding: "H6",
		needs: []string{"Second"}, keeps: "link=account_links[0].short_id",
	},
	{
		command: "account-link matches $link", answers: "the pairs that are asked about", finding: "H6",
		needs: []string{"2026-10-01", "1120.00", "Murphy Lettings"},
	},
	{
		command: "account-link update $link --confidence confirmed", answers: "they are the same; each counts once", finding: "H6 B4",
	},
	{
		command: "transaction summary --group-by primary_category --start-date 2026-10-01 --end-date 2026-10-31 " +
			"--compare previous_period", answers: "two months compared", finding: "H14",
		needs: []string{"PREVIOUS", "CHANGE", "-1120.00"},
	},
	{
		command: "report create --title October --body '# October\n\nWe spent **less**.'", answers: "a report", finding: "H11",
		needs: []string{"October"},
	},
	{
		command: "report list", answers: "which reports there are", finding: "H11", needs: []string{"October"},
		keeps: "report=[0].short_id",
	},
	{command: "report get $report", answers: "what it says", finding: "H11", needs: []string{"\n# October\n\nWe spent"}},
	{command: "overview --json", answers: "the same for a program", finding: "H9", needs: []string{`"balances":`}},
	{command: "version --json", answers: "the same for a program", finding: "H9", needs: []string{`"version":`}},
	{
		command: "transaction update $rent --category groceries", answers: "a wrong category", finding: "H19", fails: true,
		needs: []string{"did you mean food_and_drink_groceries", "coffer category list"},
	},
	{
		command: "transaction list --start-date yesterday", answers: "a wrong day", finding: "H19", fails: true,
		needs: []string{"--start-date"}, without: []string{"start_date"},
	},
}

// TestFirstMonth runs the whole guide for the first month, and compares what the guide shows with
// what the commands print. Then it runs the commands that answer a new user's questions at a
// terminal of 80 columns, and prints a table of the results.
func TestFirstMonth(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/using/first-month.md")
	if err != nil {
		t.Fatal(err)
	}
	r, w := newReader(t)
	shown, missing := r.play(string(page))
	if shown < 18 {
		t.Errorf("only %d lines of output were compared", shown)
	}
	for _, line := range missing {
		t.Errorf("no command prints %q here", line)
	}
	here := instance{config: r.config, dir: r.dir}
	there := instance{config: app.Config{Server: w.url, APIKey: seal.NewSecret(w.key)}, dir: r.dir}
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(rows, "\ncommand\tanswers\tfinding\tlines\twidest at 80")
	for _, c := range typedMonth {
		side := here
		if c.remote {
			side = there
		}
		out, faults := r.types(side, c)
		for _, f := range faults {
			t.Errorf("coffer %s: %s:\n%s", c.command, f, out)
		}
		lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
		_, _ = fmt.Fprintf(rows, "%.50s\t%s\t%s\t%d\t%d\n",
			strings.ReplaceAll(c.command, "\n", " "), c.answers, c.finding, len(lines), widest(out))
	}
	_ = rows.Flush() // writes into memory, so it cannot fail
	t.Log(table.String())
}

// types runs a command, and returns the screen and the faults in it.
func (r reader) types(side instance, c typed) (screen string, faults []string) {
	r.t.Helper()
	args := shellWords(c.command)
	for i := range args {
		for name, value := range r.variables {
			if args[i] == "$"+name {
				args[i] = value
			}
		}
	}
	if name, path, ok := strings.Cut(c.keeps, "="); ok {
		out, fail, _ := side.run(r.t.Context(), 0, args...)
		if fail != "" {
			return fail, []string{"it fails"}
		}
		r.variables[name] = r.pick(out, path)
	}
	out, fail, code := side.run(r.t.Context(), 80, args...)
	screen = out + fail
	if (code != 0) != c.fails {
		faults = append(faults, fmt.Sprintf("exit %d", code))
	}
	for _, need := range c.needs {
		if !strings.Contains(screen, need) {
			faults = append(faults, fmt.Sprintf("it does not say %q", need))
		}
	}
	for _, word := range c.without {
		if strings.Contains(screen, word) {
			faults = append(faults, fmt.Sprintf("it says %q", word))
		}
	}
	if json.Valid([]byte(out)) { // JSON is for programs and may be wide
		return screen, faults
	}
	if n := widest(out); n > 80 {
		faults = append(faults, fmt.Sprintf("a line has %d columns", n))
	}
	if foreign(op.Command, screen) {
		faults = append(faults, "it speaks the words of REST")
	}
	return screen, faults
}

// widest returns the length of the longest line.
func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return most
}
