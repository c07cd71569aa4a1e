package app

import (
	"fmt"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"github.com/spf13/cobra"
)

// exampleStatement has the rows of the example statement, newest first. age is in days before the
// last day; %s in a reference is the name of the month.
var exampleStatement = []struct {
	age                               int
	payee, reference, amount, balance string
}{
	{0, "Harbour Electric", "Invoice %s", "-84.00", "2412.35"},
	{2, "LIDL DUBLIN 4", "Card payment 4711", "-41.27", "2496.35"},
	{3, "Northlight Ltd", "Salary %s", "2845.17", "2537.62"},
	{6, "Summer Bakery", "Card payment 4711", "-6.40", "-307.55"},
	{6, "Summer Bakery", "Card payment 4711", "-6.40", "-301.15"},
	{9, "LIDL DUBLIN 4", "Card payment 4711", "-38.70", "-294.75"},
	{15, "Irish Rail", "Monthly ticket", "-58.00", "-256.05"},
	{25, "Netflix", "Subscription", "-13.99", "-198.05"},
	{29, "Murphy Lettings", "Rent %s flat 3", "-1120.00", "-184.06"},
}

// statementCommand writes the example statement that the guides import. Its dates end today, so
// that the current month has transactions.
func statementCommand() *cobra.Command {
	var end string
	c := &cobra.Command{
		Use: "statement", Short: "Print an example bank statement as CSV", Args: cobra.NoArgs,
		Long:    "Prints a CSV statement with nine transactions of the last 30 days, to try an import with.",
		Example: "  coffer demo statement > statement.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			last := time.Now()
			if end != "" {
				day, err := pg.ParseDate(end)
				if err != nil {
					return errs.New(errs.ValidationError, "--end must be a date, such as 2026-11-15")
				}
				last = day.Time()
			}
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, "Date,Payee,Reference,Amount,Currency,Balance")
			for _, row := range exampleStatement {
				day := last.AddDate(0, 0, -row.age)
				reference := strings.ReplaceAll(row.reference, "%s", day.Month().String())
				fmt.Fprintf(out, "%s,%s,%s,%s,EUR,%s\n", day.Format("02/01/2006"), row.payee, reference, row.amount,
					row.balance)
			}
			return nil
		},
	}
	c.Flags().StringVar(&end, "end", "", "date of the newest transaction (default today)")
	return c
}
