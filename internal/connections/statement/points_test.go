package statement

import (
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
)

// If a bank states the balance before the rows of a file, the balance is off by exactly their sum.
// The preview and the import then warn. A balance that is off by any other amount causes no such
// warning.
func TestBalanceBeforeTheRows(t *testing.T) {
	t.Parallel()
	const file = "<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>9009<ACCTTYPE>CHECKING" +
		"</BANKACCTFROM><BANKTRANLIST><DTSTART>20260302<DTEND>20260314" +
		"<STMTTRN><DTPOSTED>20260302<TRNAMT>-20.00<FITID>a1<NAME>BAKERY</STMTTRN>" +
		"<STMTTRN><DTPOSTED>20260309<TRNAMT>-60.00<FITID>a2<NAME>PHONE</STMTTRN></BANKTRANLIST>" +
		"<LEDGERBAL><BALAMT>%<DTASOF>20260314</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
	const earlier = ":20:A\r\n:25:9009\r\n:28C:1/1\r\n:60F:C260227EUR505,00\r\n" +
		":61:2603010301D5,00NMSCNONREF\r\n:86:Kiosk\r\n:62F:C260301EUR500,00\r\n-\r\n"
	b := newBranch(t)
	for balance, want := range map[string]bool{"500.00": true, "420.00": false, "450.00": false} {
		at := b.bucket(t)
		into := new(b.file(t, ImportFile{ID: at, File: []byte(earlier)}).AccountID.String())
		raw := []byte(strings.Replace(file, "%", balance, 1))
		says := func(all []statement.Warning) bool {
			return slices.ContainsFunc(all, func(w statement.Warning) bool { return w.Code == "balance_before_rows" })
		}
		p, err := b.Preview(t.Context(), b.db, PreviewFile{File: raw, AccountID: into})
		if err != nil || says(p.Warnings) != want {
			t.Errorf("%s: the preview says %+v of %+v, %v", balance, p.Warnings, p.Accounts[0].Proof, err)
		}
		if out := b.file(t, ImportFile{ID: at, File: raw, AccountID: into}); says(out.Warnings) != want || out.Added != 2 {
			t.Errorf("%s: the import says %+v of %+v", balance, out.Warnings, out.Accounts[0].Proof)
		}
		if !want {
			continue
		}
		before := ImportFile{ID: at, File: raw, AccountID: into, Options: &FileOptions{LedgerBalance: new("before")}}
		out := b.file(t, before)
		if out.Added != 0 || says(out.Warnings) || out.Accounts[0].Proof.Status != "verified" || out.Accounts[0].Opening == nil {
			t.Errorf("%s, as the balance before: %+v", balance, out)
		}
	}
}
