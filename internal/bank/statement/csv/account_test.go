package csv_test

import (
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
)

// The accounts of a file are distinguished by its column of accounts. Lines without an account,
// such as totals, are only counted if there is one account.
func TestAccounts(t *testing.T) {
	t.Parallel()
	accounts := func(file string) []statement.Account {
		f, err := csv.Format.Open(t.Context(), strings.NewReader(file), statement.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f.Accounts()
	}
	got := accounts("Date,Description,Amount,Account,Currency\n2026-03-02,A,-1.00,Giro 1234,EUR\n" +
		"2026-03-04,B,-2.00,Savings,USD\n2026-03-06,E,-2.00,Savings,USD\n2026-03-03,C,x,Giro 1234,EUR\n2026-03-05,D,-3.00,Giro 1234,EUR\n")
	if len(got) != 2 || got[0].Key != "Giro 1234" || got[0].Rows != 2 || got[0].RowsRejected != 1 ||
		got[0].LastDate != "2026-03-05" || got[0].Currency != "EUR" || got[0].Mask() != "1234" ||
		got[1].Key != "Savings" || got[1].Currency != "USD" || got[1].Mask() != "" {
		t.Errorf("%+v", got)
	}
	got = accounts("Date,Description,Amount,Account\n2026-03-02,A,-1.00,Giro\nTotal,,-1.00,\n")
	if len(got) != 1 || len(got[0].Skipped) != 1 || got[0].Skipped[0] != (statement.Skipped{Reason: "no_date", Count: 1}) {
		t.Errorf("%+v", got)
	}
	got = accounts("Date,Description,Amount\n2026-03-02,A,-1.00\n2026-03-03,A,-1.00\n2026-03-04,B,x\n")
	if len(got) != 1 || got[0].Key != "" || got[0].Rows != 2 || len(got[0].Rejected) != 1 {
		t.Errorf("%+v", got)
	}
}
