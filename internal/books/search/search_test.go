package search

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// String prints a query for the tables: alternatives with " | ", terms with " & ".
func (q Query) String() string {
	var all []string
	for _, a := range q {
		var terms []string
		for _, t := range a {
			terms = append(terms, t.String())
		}
		all = append(all, strings.Join(terms, " & "))
	}
	return strings.Join(all, " | ")
}

func (t Term) String() string {
	var s []string
	if t.Tag != "" {
		s = append(s, "#"+t.Tag)
	}
	if t.Text != "" && t.Tag == "" {
		s = append(s, "'"+t.Text+"'")
	}
	if t.Amount != nil {
		s = append(s, t.Amount.String())
	}
	return strings.Join(s, " or ")
}

func (a Amount) String() string {
	direction := map[int]string{1: "in ", -1: "out ", 0: ""}[a.Direction]
	if a.Low != nil && a.High != nil && a.Low.Cmp(*a.High) == 0 {
		return direction + a.Low.String()
	}
	s := ""
	if a.Low != nil {
		s = "≥" + a.Low.String()
		if a.Above {
			s = ">" + a.Low.String()
		}
	}
	if a.High != nil {
		end := "≤"
		if a.Below {
			end = "<"
		}
		s += end + a.High.String()
	}
	return direction + s
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"", ""},
		{" , ,, ", ""},
		{"aldi", "'aldi'"},
		{"  aldi\tgroceries ", "'aldi' & 'groceries'"},
		{"rent,rewe", "'rent' | 'rewe'"},
		{"corner shop, rewe city", "'corner' & 'shop' | 'rewe' & 'city'"},
		{`"corner shop" paris`, "'corner shop' & 'paris'"},
		{`"a, b",c`, "'a, b' | 'c'"},
		{"“corner  shop”", "'corner shop'"},
		{"„corner shop“", "'corner shop'"},
		{"«corner shop»", "'corner shop'"},
		{`"corner sh`, "'corner sh'"},
		{`"" rewe`, "'rewe'"},
		{`5"pipe`, `'5"pipe'`},
		{"#shared", "#shared"},
		{"#Trip:Rome rewe", "#trip:rome & 'rewe'"},
		{"#", "'#'"},
		{"#not_a-tag-", "'#not_a-tag-'"},
		{"#a,#b", "#a | #b"},
		{"75.05", "75.05"},
		{"75,05", "75.05"},
		{"75,05,rewe", "75.05 | 'rewe'"},
		{"rewe,75,05", "'rewe' | 75.05"},
		{"75,05, 12,30", "75.05 | 12.30"},
		{"1123,1124", "'1123' or 1123.00 | '1124' or 1124.00"},
		{"rewe 75,05", "'rewe' & 75.05"},
		{"75", "'75' or 75.00"},
		{"007", "'007' or 7.00"},
		{"123456789012345", "'123456789012345'"},
		{"75,05 €", "75.05"},
		{"75,05\u00a0€ rewe", "75.05 & 'rewe'"},
		{"€ 75", "75.00"},
		{"75 €, rewe", "75.00 | 'rewe'"},
		{"1 234,56", "1234.56"},
		{"1\u202f234\u202f567,80\u00a0€", "1234567.80"},
		{"3 100", "'3' or 3.00 & '100' or 100.00"},
		{"€", "'€'"},
		{"75 rewe", "'75' or 75.00 & 'rewe'"},
		{"2026-11-15", "'2026-11-15'"},
		{"15.11.2026", "'15.11.2026'"},
		{"100..200 >50", "≥100.00≤200.00 & >50.00"},
		{"-75 +80", "out 75.00 & in 80.00"},
		{"7-eleven", "'7-eleven'"},
		{"o'neill", "'o'neill'"},
	} {
		if got := Parse(c.typed, true).String(); got != c.want {
			t.Errorf("%q is %s, want %s", c.typed, got, c.want)
		}
	}
}

// Without commas as separators, only spaces separate, and a comma is part of its word.
func TestParseWords(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"rent,rewe": "'rent,rewe'", "75,05 rewe": "75.05 & 'rewe'", "#1123 STARBUCKS": "#1123 & 'STARBUCKS'",
	} {
		if got := Parse(typed, false).String(); got != want {
			t.Errorf("%q is %s, want %s", typed, got, want)
		}
	}
}

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"75.05", "75.05"},
		{"75,05", "75.05"},
		{"75.5", "75.50"},
		{"75,5", "75.50"},
		{".50", "0.50"},
		{"0,99", "0.99"},
		{"1.234,56", "1234.56"},
		{"1,234.56", "1234.56"},
		{"1'234.56", "1234.56"},
		{"1’234.50", "1234.50"},
		{"1.234", "1234.00"},
		{"1,234", "1234.00"},
		{"1.234.567", "1234567.00"},
		{"1,234,567.89", "1234567.89"},
		{"1.234.567,89", "1234567.89"},
		{"€75", "75.00"},
		{"75€", "75.00"},
		{"$1,234.56", "1234.56"},
		{"£12", "12.00"},
		{"+75", "in 75.00"},
		{"-75", "out 75.00"},
		{"−75,05", "out 75.05"},
		{"-€75", "out 75.00"},
		{"€-75", "out 75.00"},
		{"+€12.99", "in 12.99"},
		{">100", ">100.00"},
		{">=100", "≥100.00"},
		{"≥100", "≥100.00"},
		{"<20", "<20.00"},
		{"<=20,50", "≤20.50"},
		{">€1.000", ">1000.00"},
		{">-100", "out >100.00"},
		{">+100", "in >100.00"},
		{"100..200", "≥100.00≤200.00"},
		{"200..100", "≥100.00≤200.00"},
		{"100..", "≥100.00"},
		{"..200", "≤200.00"},
		{"..-200", "out ≤200.00"},
		{"10,50..20,75", "≥10.50≤20.75"},
		{"-100..200", "out ≥100.00≤200.00"},
		{"-100..-200", "out ≥100.00≤200.00"},
		{"100..100", "100.00"},
		{"", "no"},
		{"..", "no"},
		{">", "no"},
		{"€", "no"},
		{"-", "no"},
		{"+-5", "no"},
		{"--5", "no"},
		{"75.", "no"},
		{"75.055.1", "no"},
		{"0.055", "no"},
		{"12,34,567", "no"},
		{"1.234,567", "no"},
		{"1,23.4", "no"},
		{"1.2.3", "no"},
		{"12345.678", "no"},
		{"1234,567", "no"},
		{"1'23", "no"},
		{"'75", "no"},
		{"1..2..3", "no"},
		{"+100..-200", "no"},
		{"100..-200", "no"},
		{"12345678901", "no"},
		{"1e5", "no"},
		{"٣", "no"},
		{"7 5", "no"},
	} {
		a, ok := ParseAmount(c.typed)
		got := "no"
		if ok {
			got = a.String()
		}
		if got != c.want {
			t.Errorf("%q is %s, want %s", c.typed, got, c.want)
		}
	}
}

// For any input, no term is empty or invented, and the bounds of amounts are in order. Parsing the
// same text again returns the same query.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"aldi groceries", `"a b",c #d`, "75,05", "1.234,56 €", ">100 <20", "100..200", "-€75", "1 234,56", "“x", "#,,#", "1,2,3,4",
		"..,..", "€€€", "'1'", "\x00\xff", "−5..−3",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, typed string, commas bool) {
		q := Parse(typed, commas)
		if !commas && len(q) > 1 {
			t.Fatalf("%q has alternatives without commas: %v", typed, q)
		}
		squeezed := strings.Join(strings.Fields(typed), " ")
		for _, all := range q {
			if len(all) == 0 {
				t.Fatalf("%q has an empty alternative", typed)
			}
			for _, term := range all {
				if term.Text == "" && term.Amount == nil {
					t.Fatalf("%q has an empty term", typed)
				}
				if term.Tag != "" && (term.Text != "" && !strings.EqualFold(term.Text, "#"+term.Tag)) {
					t.Fatalf("%q has the tag %q beside %q", typed, term.Tag, term.Text)
				}
				if utf8.ValidString(typed) && term.Text != "" && !strings.Contains(squeezed, term.Text) {
					t.Fatalf("%q has %q, which nobody typed", typed, term.Text)
				}
				checkAmount(t, typed, term.Amount)
			}
		}
		if one, err := json.Marshal(q); err != nil || fmt.Sprint(Parse(typed, commas)) != q.String() {
			t.Fatalf("%q is read differently the second time: %s (%v)", typed, one, err)
		}
	})
}

func checkAmount(t *testing.T, typed string, a *Amount) {
	t.Helper()
	if a == nil {
		return
	}
	if a.Low == nil && a.High == nil {
		t.Fatalf("%q has an amount without an end", typed)
	}
	if a.Low != nil && (a.Low.IsNeg() || a.High != nil && a.Low.Cmp(*a.High) > 0) || a.High != nil && a.High.IsNeg() {
		t.Fatalf("%q is the range %v", typed, a)
	}
	if a.Low != nil && a.High != nil && (a.Above || a.Below) {
		t.Fatalf("%q is a range with an open end: %v", typed, a)
	}
}

func TestParseMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"12.50", "12.50"},
		{"12,50", "12.50"},
		{"€12,50", "12.50 €"},
		{"12,50 €", "12.50 €"},
		{" 12,50\u00a0€ ", "12.50 €"},
		{"$12.50", "12.50 $"},
		{"US$12.50", "12.50 US$"},
		{"12.50 USD", "12.50 USD"},
		{"EUR 12.50", "12.50 EUR"},
		{"CHF 12.–", "12.00 CHF"},
		{"12.- CHF", "12.00 CHF"},
		{"1 234,56 kr", "1234.56 kr"},
		{"1.234,56 zł", "1234.56 zł"},
		{"+12.50", "in 12.50"},
		{"-12.50", "out 12.50"},
		{"−€12,50", "out 12.50 €"},
		{"+ €12,50", "in 12.50 €"},
		{"€-12,50", "out 12.50 €"},
		{"7", "7.00"},
		{"", "no"},
		{"€", "no"},
		{">5", "no"},
		{"5..7", "no"},
		{"€5€", "no"},
		{"five", "no"},
		{"5a5", "no"},
		{"1,2,3", "no"},
		{"12.505", "12505.00"},
		{"0.505", "no"},
		{"9999999999999", "no"},
	} {
		a, direction, currency, ok := ParseMoney(c.typed)
		got := "no"
		if ok {
			got = strings.TrimSpace(map[int]string{1: "in ", -1: "out "}[direction] + a.String() + " " + currency)
		}
		if got != c.want {
			t.Errorf("%q is %s, want %s", c.typed, got, c.want)
		}
	}
}
