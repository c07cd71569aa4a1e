package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// left is the balance at the end of the file of girokonto.
var left = 1000 + 4*(2400.00-850) - 3*9.99 - 12.99 - 12*30 - 1.37*78 - 64.50

// charged is the day on which what recurs was last paid, or so many months before.
func charged(months int) time.Time {
	d := time.Now().UTC().AddDate(0, 0, -2)
	return d.AddDate(0, -months, min(0, 28-d.Day()))
}

// girokonto writes the statement of a bank as German banks do, with purposes and balances: rent, wages, a
// subscription that got dearer, groceries every week, and a bicycle.
func girokonto(t *testing.T) string {
	t.Helper()
	type row struct {
		day            time.Time
		payee, purpose string
		cents          int
	}
	today := time.Now().UTC()
	rows := []row{{today.AddDate(0, 0, -1), "Fahrrad Meyer", "Rechnung 47110815 Bremse", -6450}}
	for k, price := range []int{1299, 999, 999, 999} {
		d := charged(k)
		rows = append(rows, row{d, "Hausverwaltung Krüger", "Miete " + d.Format("01/2006") + " Whg 3 OG", -85000},
			row{d, "Streambox", "Abo Familie", -price}, row{d, "Nordwerk GmbH", "Gehalt " + d.Format("01/2006"), 240000})
	}
	for k := range 12 {
		rows = append(rows, row{
			today.AddDate(0, 0, -7*(k+1)), "Gemüsekiste Ahrweiler", fmt.Sprintf("GA NR000%d", 12341+k), -3000 - 137*(k+1),
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.day.Compare(b.day) })
	comma := func(c int) string { return strings.Replace(fmt.Sprintf("%.2f", float64(c)/100), ".", ",", 1) }
	var s strings.Builder
	s.WriteString("Buchungstag;Empfänger;Verwendungszweck;Betrag;Saldo;Währung\n")
	stands := 1000_00
	for _, r := range rows {
		stands += r.cents
		fmt.Fprintf(&s, "%s;%s;%s;%s;%s;EUR\n", r.day.Format("02.01.2006"), r.payee, r.purpose, comma(r.cents),
			comma(stands))
	}
	at := filepath.Join(t.TempDir(), "Girokonto.csv")
	if err := os.WriteFile(at, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}
