package mt940_test

import (
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/mt940"
	"coffer/internal/bank/statement/wanttest"
)

// Each sample file is read as expected: rows, skipped entries, balances and warnings.
func TestSamples(t *testing.T) {
	t.Parallel()
	wanttest.Check(t, mt940.Format)
}

// The account is read even if the bank is on a second line. Two such accounts stay separate.
func TestAccountWithItsBank(t *testing.T) {
	t.Parallel()
	const one = ":20:A\n:25P:NL08INGB0000001234\nINGBNL2A\n:28C:1\n:60F:C260301EUR10,00\n:61:2603020302D1,00NMSC\n" +
		":62F:C260302EUR9,00\n-\n"
	file, err := mt940.Format.Open(t.Context(), strings.NewReader(one+strings.Replace(one, "1234", "4321", 1)),
		statement.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := file.Accounts()
	if len(all) != 2 || all[0].IBAN+all[0].Number != "NL08INGB0000001234" || all[0].Rows != 1 || all[1].Rows != 1 {
		t.Errorf("%+v", all)
	}
}
