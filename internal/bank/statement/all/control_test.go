package all_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app/apptest"
)

// The samples detect the most frequent mistakes of readers of statements.
func TestSamplesNoticeMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format, sample string
		mutant               apptest.Mutant
	}{
		{"zones are converted", "ofx", "08-time-zones.ofx", apptest.Mutant{
			File: "internal/bank/statement/reading/day.go",
			Old:  "	return Date(n/10_000, n/100%100, n%100)",
			New: `	day, ok := Date(n/10_000, n/100%100, n%100)
	at, zone, found := strings.Cut(s, "[")
	hours, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(zone, "+"), "]"), ":")
	off, err := time.ParseDuration(hours + "h")
	when, failed := time.Parse("20060102150405", at[:min(len(at), 14)])
	if !ok || !found || err != nil || failed != nil {
		return day, ok
	}
	return when.Add(-off).Format(time.DateOnly), true`,
		}},
		{"the amount of the details counts", "camt", "21-camt053-08-ch.xml", apptest.Mutant{
			File: "internal/bank/statement/camt/entry.go",
			Old:  "	amount, err := reading.Amount(e.amount)\n",
			New: `	if e.count == 1 && e.details[0].amount != "" {
		e.amount = e.details[0].amount
	}
	amount, err := reading.Amount(e.amount)
`,
		}},
		{"the declared charset is believed", "ofx", "04-br-mislabelled.ofx", apptest.Mutant{
			File: "internal/bank/statement/reading/encoding.go",
			Old:  "	if encoding == Windows1252 && known && stated != UTF8 && stated != UTF16LE && stated != UTF16BE {",
			New:  "	if known {",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := func(mutants ...apptest.Mutant) (string, error) {
				program := apptest.TestProgram(t, "coffer/internal/bank/statement/"+c.format, mutants...)
				cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestSamples$")
				cmd.Dir = filepath.Join("..", c.format)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := run(); err != nil {
				t.Errorf("without it: %v\n%s", err, out)
			}
			out, err := run(c.mutant)
			if err == nil || !strings.Contains(out, "--- FAIL: TestSamples/"+c.sample+" ") {
				t.Errorf("not noticed by %s: %v\n%s", c.sample, err, out)
			}
		})
	}
}
