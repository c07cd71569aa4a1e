package csv_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/errs"
)

// rowsOf prints the rows of a file, one per line: "2026-03-04 12.50 EUR Coffee", or the code of the
// error.
func rowsOf(t testing.TB, file string, o csv.Options) []string {
	t.Helper()
	p, err := csv.Inspect(t.Context(), strings.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, file, p)
}

func lines(t testing.TB, file string, p csv.Preview) (out []string) {
	t.Helper()
	for row, err := range csv.Read(t.Context(), strings.NewReader(file), p) {
		var bad *statement.RowError
		switch {
		case errors.As(err, &bad):
			out = append(out, bad.Code)
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, strings.Join(strings.Fields(fmt.Sprint(row.Date, " ", row.Amount, " ", row.Currency, " ",
				row.Name.Plain())), " "))
		}
	}
	return out
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cell, want string }{
		{"-12,50", "12.50"},
		{"12,50", "-12.50"},
		{"-1.234,56", "1234.56"},
		{"-1 234,56", "1234.56"},
		{"-1\u00a0234,56", "1234.56"},
		{"-1\u202f234.567,89", "amount"}, // two kinds of thousands separators
		{"-1'234,56", "1234.56"},
		{"(5,00)", "5.00"},
		{"5,00-", "5.00"},
		{"- € 5,00", "5.00"},
		{"\u22125,00", "5.00"},
		{"+5,00", "-5.00"},
		{"5,00 DR", "5.00"},
		{"5,00CR", "-5.00"},
		{"5,00 C", "-5.00"},
		{"5,00 S", "5.00"},
		{"-5", "5.00"},
		{"-,50", "0.50"},
		{"-5,0000", "5.00"},
		{"-5,001", "amount"},
		{"-12.50", "amount"}, // must not become 1250
		{"-12.345.67", "amount"},
		{"-12345678901,00", "amount"},
		{"5,00 or so", "amount"},
		{"--5,00", "amount"},
		{"5,00-6,00", "amount"},
		{"1E5", "amount"},
		{"0,00", "0.00"},
		{"", "no_amount"},
	} {
		file := "Datum;Text;Betrag\n13.03.2026;Lohn;1.000,00\n14.03.2026;Lastschrift;-7,77\n14.03.2026;Lastschrift;-7,70\n15.03.2026;X;" + c.cell + "\n"
		got := rowsOf(t, file, csv.Options{AmountSign: csv.NegativeOut, DecimalSeparator: ","})
		want := c.want
		if strings.Contains(want, ".") {
			want = "2026-03-15 " + want
			if strings.Contains(c.cell, "€") {
				want += " EUR"
			}
			want += " X"
		}
		if last := got[len(got)-1]; last != want {
			t.Errorf("%q is %s, want %s", c.cell, last, want)
		}
	}
}

func TestDecimalMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cells, mark, warning string }{
		{"12,50", ",", ""},
		{"1.234,56", ",", ""},
		{"1,234.56", ".", ""},
		{"1.234.567", ",", ""},
		{"1,234 5.5", ".", ""},
		{"1.234 5,5", ",", ""},
		{"1.234", ",", "decimal_ambiguous"},
		{"1,234", ".", "decimal_ambiguous"},
		{"0.125", ".", ""},
		{"12,5 12,5 12.5", ",", "decimal_mixed"},
	} {
		file := "Date|Text|Amount\n"
		for cell := range strings.FieldsSeq(c.cells) {
			file += "2026-03-04|X|" + cell + "\n"
		}
		p, err := csv.Inspect(t.Context(), strings.NewReader(file),
			csv.Options{AmountSign: csv.PositiveOut})
		if err != nil {
			t.Fatal(err)
		}
		if p.DecimalSeparator != c.mark || c.warning != "" && !warned(p, c.warning) || c.warning == "" &&
			len(p.Warnings) > 0 && p.Warnings[0].Code != "rows_rejected" {
			t.Errorf("%s: %s, %v", c.cells, p.DecimalSeparator, p.Warnings)
		}
	}
}

func warned(p csv.Preview, code string) bool {
	return slices.ContainsFunc(p.Warnings, func(w statement.Warning) bool { return w.Code == code })
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cells, format, first, warning string }{
		{"04/03/2026|14/03/2026", "DD/MM/YYYY", "2026-03-04", ""},
		{"03/04/2026|03/14/2026", "MM/DD/YYYY", "2026-03-04", ""},
		{"3/4/26|3/14/26", "MM/DD/YY", "2026-03-04", ""},
		{"04.03.2026|05.03.2026", "DD.MM.YYYY", "2026-03-04", ""},
		{"04.03.69|05.03.70", "DD.MM.YY", "2069-03-04", ""},
		{"2026-03-04 09:10:11|2026-03-05T01:02:03Z", "YYYY-MM-DD", "2026-03-04", ""},
		{"20260304|20260305", "YYYYMMDD", "2026-03-04", ""},
		{"04032026|14032026", "DDMMYYYY", "2026-03-04", ""},
		{"4 Mar 2026|5 March 2026", "DD Mon YYYY", "2026-03-04", ""},
		{"4. März 2026|5. Mai 2026", "DD Mon YYYY", "2026-03-04", ""},
		{"4 août 2026|5 déc. 2026", "DD Mon YYYY", "2026-08-04", ""},
		{"4 ago 2026|5 de diciembre de 2026", "DD Mon YYYY", "2026-08-04", ""},
		{"04-Mar-26|05-Apr-26", "DD-Mon-YY", "2026-03-04", ""},
		{"Mar 4, 2026|Apr 14, 2026", "Mon,DD,YYYY", "2026-03-04", ""},
		{"04/03/2026|05/03/2026|01/04/2026", "DD/MM/YYYY", "2026-03-04", "date_order_ambiguous"}, // only this is sorted
		{"03/04/2026|03/05/2026|04/01/2026", "MM/DD/YYYY", "2026-03-04", "date_order_ambiguous"},
		{"04/03/2026|05/03/2026", "DD/MM/YYYY", "2026-03-04", "date_order_ambiguous"}, // by custom only
		{"04/03/2026|14/03/2026|03/14/2026|15/03/2026", "DD/MM/YYYY", "2026-03-04", "dates_mixed"},
	} {
		file := "Date;Text;Amount\n"
		for cell := range strings.SplitSeq(c.cells, "|") {
			file += `"` + cell + `";X;-1.00` + "\n"
		}
		p, err := csv.Inspect(t.Context(), strings.NewReader(file),
			csv.Options{AmountSign: csv.NegativeOut})
		if err != nil {
			t.Errorf("%s: %v", c.cells, err)
			continue
		}
		if p.DateFormat != c.format || p.Sample[0].Date != c.first ||
			warned(p, "date_order_ambiguous") != (c.warning == "date_order_ambiguous") || c.warning != "" &&
			!warned(p, c.warning) {
			t.Errorf("%s: %s, %s, %v", c.cells, p.DateFormat, p.Sample[0].Date, p.Warnings)
		}
	}
}

// With either date order the rows are sorted, in opposite directions. Only the balance shows the
// direction of the file.
func TestBalanceTellsDayFromMonth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, format string }{
		{"01/06/2026,Rent,-30.00,70.00", "02/05/2026,Food,-20.00,50.00", "MM/DD/YYYY"}, // oldest first
		{"01/06/2026,Rent,-30.00,50.00", "02/05/2026,Food,-20.00,80.00", "DD/MM/YYYY"}, // newest first
	} {
		p, err := csv.Inspect(t.Context(),
			strings.NewReader("Date,Description,Amount,Balance\n"+c.first+"\n"+c.second+"\n"), csv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.DateFormat != c.format || p.AmountSign != csv.NegativeOut || !warned(p, "date_order_ambiguous") {
			t.Errorf("%s: %s, %s, %v", c.first, p.DateFormat, p.AmountSign, p.Warnings)
		}
	}
}

func TestSignFromBalance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rows, sign string }{
		{"14/03/2026,A,5.00,95.00\n15/03/2026,B,7.00,88.00\n16/03/2026,C,-12.00,100.00\n", csv.PositiveOut},
		{"14/03/2026,A,-5.00,95.00\n15/03/2026,B,-7.00,88.00\n16/03/2026,C,12.00,100.00\n", csv.NegativeOut},
		{"16/03/2026,C,12.00,100.00\n15/03/2026,B,-7.00,88.00\n14/03/2026,A,-5.00,95.00\n", csv.NegativeOut},
		{"14/03/2026,A,-5.00,95.00\n15/03/2026,A,-5.00,90.00\n16/03/2026,A,-5.00,85.00\n", csv.NegativeOut},
		{"14/03/2026,A,5.00,95.00\n15/03/2026,A,5.00,90.00\n16/03/2026,A,5.00,85.00\n", csv.PositiveOut},
	} {
		p, err := csv.Inspect(t.Context(), strings.NewReader("Date,Description,Amount,Balance\n"+c.rows),
			csv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.AmountSign != c.sign || p.Confidence != statement.High {
			t.Errorf("%s: %s, %s, %v", c.rows, p.AmountSign, p.Confidence, p.Warnings)
		}
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const file = "Datum;Empfänger;Betrag\n13.03.2026;Bäckerei Größe €;-12,50\n"
	for name, e := range map[string]encoding.Encoding{
		csv.UTF8:             encoding.Nop,
		csv.UTF8BOM:          unicode.UTF8BOM,
		csv.UTF16LE:          unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		csv.UTF16BE:          unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"utf-16le with mark": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf-16be with mark": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		csv.Windows1252:      charmap.Windows1252,
	} {
		data, err := e.NewEncoder().String(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := csv.Inspect(t.Context(), strings.NewReader(data), csv.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := lines(t, data, p); p.Encoding != strings.TrimSuffix(name, " with mark") || len(got) != 1 ||
			got[0] != "2026-03-13 12.50 Bäckerei Größe €" {
			t.Errorf("%s: %s, %v", name, p.Encoding, got)
		}
	}
	// A single byte of Windows-1252, in the last of many rows, decides the encoding of the file.
	late := "Date,Description,Amount\n" + strings.Repeat("2026-03-13,Coffee,-1.00\n",
		10_000) + "2026-03-14,Caf\xe9,-1.00\n"
	p, err := csv.Inspect(t.Context(), strings.NewReader(late), csv.Options{})
	if err != nil || p.Encoding != csv.Windows1252 {
		t.Error(p.Encoding, err)
	}
	// One incomplete character among valid ones does not change the encoding.
	torn := "Date,Description,Amount\n2026-03-13,Größe ääää,-1.00\n2026-03-14,Caf\xc3,-1.00\n"
	p, err = csv.Inspect(t.Context(), strings.NewReader(torn), csv.Options{})
	if err != nil || p.Encoding != csv.UTF8 || !warned(p, "unreadable_characters") {
		t.Error(p.Encoding, err, p.Warnings)
	}
}

// The contract lists the fields of a mapping in the same order.
func TestTableFields(t *testing.T) {
	t.Parallel()
	if got := csv.Fields(); !slices.Equal(got, statement.TableFields) {
		t.Errorf("a mapping has %v, the contract %v", got, statement.TableFields)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		code errs.Code
	}{
		{"", errs.InvalidBody},
		{strings.Repeat("\x00\x00\x01", 100), errs.UnsupportedMediaType},
		{"Date,Description,Amount\n", errs.InvalidBody},
		{"hello\nworld\n", errs.ValidationError},
		{strings.Repeat("2026-03-04,x,1.00\n", statement.MaxSize/18+1), errs.PayloadTooLarge},
		{"Date,Description,Amount\n" + strings.Repeat("x\n", statement.MaxRows+1), errs.PayloadTooLarge},
	} {
		_, err := csv.Inspect(t.Context(), strings.NewReader(c.file), csv.Options{})
		if !errs.Is(err, c.code) {
			t.Errorf("%.20q: %v, want %s", c.file, err, c.code)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const file = "a,b,c,d\n1,03/04/2026,1.00,Coffee\n2,03/05/2026,2.00,Tea\n"
	none, one := 0, 1
	for _, c := range []struct {
		o    csv.Options
		want string
	}{
		{
			csv.Options{DateFormat: "DD/MM/YYYY", AmountSign: csv.PositiveOut, DefaultCurrency: "EUR"},
			"2026-04-03 1.00 EUR Coffee",
		},
		{csv.Options{DateFormat: "%m/%d/%Y", AmountSign: csv.NegativeOut}, "2026-03-04 -1.00 Coffee"},
		{
			csv.Options{
				HeaderRow: &one, DateFormat: "TT.MM.JJJJ", AmountSign: csv.PositiveOut,
				Mapping: &csv.Mapping{Date: csv.Named("B"), Amount: csv.At(0), Name: csv.Named("d")},
			},
			"2026-04-03 1.00 Coffee",
		},
		{csv.Options{HeaderRow: &none, DateFormat: "DD/MM/YYYY", AmountSign: csv.PositiveOut}, "no_date"},
	} {
		if got := rowsOf(t, file, c.o); got[0] != c.want {
			t.Errorf("%+v: %v", c.o, got)
		}
	}
	for _, o := range []csv.Options{
		{Encoding: "ebcdic"},
		{Delimiter: "x"},
		{DateFormat: "soon"},
		{DecimalSeparator: "'"},
		{AmountSign: "up"},
		{Mapping: &csv.Mapping{Date: csv.Named("nobody"), Amount: csv.At(2)}},
		{Mapping: &csv.Mapping{Date: csv.At(9), Amount: csv.At(2)}},
		{Mapping: &csv.Mapping{Date: csv.At(1)}},
	} {
		if _, err := csv.Inspect(t.Context(), strings.NewReader(file), o); !errs.Is(err, errs.ValidationError) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestOddTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"excel's hint": {
			"sep=;\nDate;Description;Amount\n2026-03-14;Coffee;-1,50\n",
			[]string{"2026-03-14 1.50 Coffee"},
		},
		"quotes left open": {"Date,Description,Amount\n2026-03-14,\"12\" pizza\",-1.50\n2026-03-15,5\" " +
			"nails,-2.00\n", []string{`2026-03-14 1.50 12" pizza`, `2026-03-15 2.00 5" nails`}},
		"lone returns": {
			"Date,Description,Amount\r2026-03-14,\"A\rB\",-1.50\r\r2026-03-15,C,-2.00",
			[]string{"2026-03-14 1.50 A B", "2026-03-15 2.00 C"},
		},
		"a summary above": {"Statement date,Total " +
			"amount\n31/03/2026,100.00\n\nDate,Description,Reference,Amount\n14/03/2026,Coffee,1,-1.50\n15/03/2026,Tea,2,-1.00\n", []string{"2026-03-14 1.50 Coffee", "2026-03-15 1.00 Tea"}},
		"a footer": {
			"Date,Description,Amount\n2026-03-14,Coffee,-1.50\n,Total,-1.50\nThis is no advice.\n",
			[]string{"2026-03-14 1.50 Coffee", "no_date", "no_date"},
		},
		"a bad row": {
			"Date,Description,Amount\n2026-03-14,Coffee,-1.50\n2026-02-31,Tea,-1.00\n2026-03-15,Rum,free\n",
			[]string{"2026-03-14 1.50 Coffee", "date", "amount"},
		},
		"zeros beside": {
			"Date,Description,Debit,Credit\n2026-03-14,Coffee,1.50,0.00\n2026-03-15,Pay,0.00,9.00\n2026-03-16,Both,1.00,1.00\n", []string{"2026-03-14 1.50 Coffee", "2026-03-15 -9.00 Pay", "amount"},
		},
		"hidden characters": {
			"Date,Description,Amount\n2026-03-14,\"Cof\u202efee\x1b[31m\u200b\",-1.50\n",
			[]string{"2026-03-14 1.50 Coffee"},
		},
		"words nobody knows": {
			"päivä;selite;määrä\n14.03.2026;Kahvi;-1,50\n15.03.2026;Palkka;100,00\n16.03.2026;Leipä;-2,50\n",
			[]string{"2026-03-14 1.50 Kahvi", "2026-03-15 -100.00 Palkka", "2026-03-16 2.50 Leipä"},
		},
		"a currency in a cell": {
			"Date,Description,Amount\n2026-03-14,Coffee,-1.50 NOK\n2026-03-15,Tea,£-2.00\n",
			[]string{"2026-03-14 1.50 NOK Coffee", "2026-03-15 2.00 GBP Tea"},
		},
	} {
		if got := rowsOf(t, c.file, csv.Options{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A quote that is never closed spoils only a limited part of the file.
func TestQuoteNeverClosed(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	file.WriteString("Date,Description,Amount\n2026-03-13,\"Coffee,-1.00\n")
	const n = 10_000
	for range n {
		file.WriteString("2026-03-14,Tea,-1.00\n")
	}
	got := rowsOf(t, file.String(), csv.Options{})
	if got[0] != "too_long" || len(got) < n-2000 || got[len(got)-1] != "2026-03-14 1.00 Tea" {
		t.Error(got[0], len(got))
	}
}

// TestColumnThatCameLater: the preview warns if a file has more columns than the mapping of an
// earlier one.
func TestColumnThatCameLater(t *testing.T) {
	t.Parallel()
	before := "Date,Description,Amount\n2026-03-04,Landlord,-850.00\n2026-03-05,Grocer,-12.50\n"
	after := "Date,Description,Amount,Purpose,Balance\n2026-04-04,Landlord,-850.00,Rent April flat 3,1150.00\n" +
		"2026-04-05,Grocer,-12.50,Card 4711,1137.50\n"
	first, err := csv.Inspect(t.Context(), strings.NewReader(before), csv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mapping *csv.Mapping
		want    int
	}{{nil, 0}, {&first.Mapping, 2}} {
		p, err := csv.Inspect(t.Context(), strings.NewReader(after), csv.Options{Mapping: c.mapping})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, w := range p.Warnings {
			if w.Code == "column_not_read" {
				n++
			}
		}
		if n != c.want || c.mapping == nil && (p.Mapping.Detail == nil || p.Mapping.Balance == nil) {
			t.Errorf("%d warnings of columns, want %d: %+v %+v", n, c.want, p.Warnings, p.Mapping)
		}
	}
}

// A column of currencies is used although some cells have none. Those rows are rejected, and not
// read with the default currency.
func TestCurrencyColumnWithOddCells(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"EUR USD CHF": "EUR USD CHF", "EUR USD EURO": "EUR USD -", "€ € £": "EUR EUR GBP", "USD  USD": "USD EUR USD",
		"usd USD N/A": "USD USD -", "A4711 B12 usd": "EUR EUR EUR", // most cells are not currencies
	} {
		text := "Date,Description,Amount,Currency\n"
		for i, cell := range strings.Split(file, " ") {
			text += fmt.Sprintf("2026-03-%02d,Row,-1.00,%s\n", 1+i, cell)
		}
		f, err := csv.Format.Open(t.Context(), strings.NewReader(text), statement.Options{UsualCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for row, err := range f.Rows(t.Context()) {
			if err != nil {
				row.Currency = "-"
			}
			got = append(got, string(row.Currency))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is read as %q, want %q", file, got, want)
		}
	}
}
