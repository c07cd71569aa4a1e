package statement

import (
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// camtFile returns a message with two entries of a day: a batch of three pieces and a single
// payment. The pieces are only listed if details is set.
func camtFile(message int, details, ids bool) []byte {
	name, part := map[int]string{52: "BkToCstmrAcctRpt", 53: "BkToCstmrStmt", 54: "BkToCstmrDbtCdtNtfctn"}[message],
		map[int]string{52: "Rpt", 53: "Stmt", 54: "Ntfctn"}[message]
	entry := func(ref, amount, words string, pieces ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>`+
			`<BookgDt><Dt>2026-03-05</Dt></BookgDt>`, amount)
		if ids {
			fmt.Fprintf(&b, `<AcctSvcrRef>%s</AcctSvcrRef>`, ref)
		}
		if details && len(pieces) > 0 {
			b.WriteString(`<NtryDtls>`)
			for i, p := range pieces {
				fmt.Fprintf(&b, `<TxDtls><AmtDtls><TxAmt><Amt Ccy="EUR">%s</Amt></TxAmt></AmtDtls><RltdPties><Cdtr>`+
					`<Nm>Payee %d</Nm></Cdtr></RltdPties></TxDtls>`, p, i)
			}
			b.WriteString(`</NtryDtls>`)
		}
		fmt.Fprintf(&b, `<AddtlNtryInf>%s</AddtlNtryInf></Ntry>`, words)
		return b.String()
	}
	return []byte(fmt.Sprintf(`<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.0%d.001.08"><%s><%s>`+
		`<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>%s%s</%s></%s></Document>`, message, name, part,
		entry("B1", "30.00", "Batch of payments", "10.00", "8.00", "12.00"), entry("S1", "5.00", "Card payment"), part, name))
}

func (b *branch) sumOf(t *testing.T, account id.ID) string {
	t.Helper()
	sum, err := pg.Value[string](t.Context(), b.db, `select coalesce(sum(amount), 0)::text from transaction
		where account_id = $1 and deleted_at is null and parent_id is null`, account)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A report of the day, the statement and the notice list one batch as a whole or as its pieces. In
// whatever order they are imported, the account contains the batch once.
func TestBatchesOnce(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	orders := [][3]int{{52, 53, 54}, {52, 54, 53}, {53, 52, 54}, {53, 54, 52}, {54, 52, 53}, {54, 53, 52}}
	for _, pieces := range []map[int]bool{{54: true}, {53: true, 54: true}, {52: true, 53: false, 54: true}} {
		for _, order := range orders {
			at := b.bucket(t)
			var of id.ID
			for round := range 2 {
				for i, message := range order {
					file := camtFile(message, pieces[message], true)
					if of.IsZero() {
						of = b.file(t, ImportFile{ID: at, File: file}).AccountID
						continue
					}
					p, err := b.Preview(t.Context(), b.db, PreviewFile{File: file, AccountID: new(of.String())})
					if err != nil {
						t.Fatal(err)
					}
					out := b.file(t, ImportFile{ID: at, File: file})
					if out.Added != 0 || out.Likely != 0 || *p.Duplicates != int64(p.RowsTotal) {
						t.Errorf("%v %v, round %d, file %d: %+v, %d are shown as duplicates", pieces, order, round, i, out.Counts,
							*p.Duplicates)
					}
				}
			}
			if sum := b.sumOf(t, of); sum != "35.00" {
				t.Errorf("%v %v: the rows add up to %s", pieces, order, sum)
			}
		}
	}
}

// Another source, or a file without ids, contains the whole batch before or after its pieces. They
// are likely the same, so they are left out.
func TestBatchesOfAnotherSource(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const table = "Date,Description,Amount\n2026-03-05,Batch of payments,-30.00\n2026-03-05,Card payment,-5.00\n"
	const mt940 = ":20:A\r\n:25:DE89370400440532013000\r\n:28C:1/1\r\n:60F:C260304EUR100,00\r\n" +
		":61:2603050305D30,00NMSCNONREF//B1\r\n:86:166?00BATCH?20Batch of payments\r\n" +
		":61:2603050305D5,00NMSCNONREF//S1\r\n:86:166?00CARD?20Card payment\r\n:62F:C260305EUR65,00\r\n-\r\n"
	for name, files := range map[string][2][]byte{
		"table, then pieces":             {[]byte(table), camtFile(54, true, true)},
		"pieces, then table":             {camtFile(54, true, true), []byte(table)},
		"MT940, then pieces":             {[]byte(mt940), camtFile(53, true, true)},
		"pieces, then MT940":             {camtFile(53, true, true), []byte(mt940)},
		"without ids: whole, then parts": {camtFile(53, false, false), camtFile(54, true, false)},
		"without ids: parts, then whole": {camtFile(54, true, false), camtFile(53, false, false)},
	} {
		at := b.bucket(t)
		of := b.file(t, ImportFile{ID: at, File: files[0], Account: &FileAccount{Name: name, Currency: "EUR"}}).AccountID
		for range 2 {
			out := b.file(t, ImportFile{ID: at, File: files[1], AccountID: new(of.String())})
			if out.Added != 0 || out.Likely == 0 {
				t.Errorf("%s: %+v", name, out.Counts)
			}
		}
		if sum := b.sumOf(t, of); sum != "35.00" {
			t.Errorf("%s: the rows add up to %s", name, sum)
		}
	}
	// a row whose amount equals the sum of two other rows by chance is new
	at := b.bucket(t)
	b.file(t, ImportFile{ID: at, File: camtFile(54, true, true)})
	out := b.file(t, ImportFile{ID: at, File: []byte("Date,Description,Amount\n2026-03-05,Batch,-30.00\n2026-03-05,Card,-5.00\n" +
		"2026-03-05,Market,-20.00\n2026-03-06,Shop,-15.00\n")})
	if out.Added != 2 || out.Likely != 2 {
		t.Errorf("%+v", out.Counts)
	}
}
