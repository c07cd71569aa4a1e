// Package statements writes the accounts of an invented household as the files that banks offer for
// download, in every format that coffer reads. Tests can import the same data through each format.
// The package must not share code with the readers.
package statements

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/sim/household"
)

// Formats are the formats that [Write] supports.
var Formats = []string{"ofx1", "ofx2", "camt053", "mt940", "qif", "csv", "xlsx"}

// A Statement is a bank's data about one account in a period.
type Statement struct {
	Name, Type, Subtype string
	Number              string // an IBAN, or the masked number of a card
	Currency            money.Currency
	From, To            time.Time
	// Opening and Closing are the balances before the first row and after the last one. A debt is
	// negative.
	Opening, Closing money.Amount
	Rows             []Row // oldest first
}

// A Row is one transaction.
type Row struct {
	Day          time.Time
	Amount       money.Amount // positive is money out
	Name, Detail string
	ID           string
}

// Of returns the booked rows of the household's accounts, without accounts that have no rows.
func Of(h *household.Household) []Statement {
	all := make([]Statement, len(h.Accounts))
	for i, a := range h.Accounts {
		all[i] = Statement{
			Name: a.Name.Plain(), Type: a.Type, Subtype: a.Subtype, Number: number(i, a), Currency: a.Currency,
			From: h.Start, To: h.Options.End,
		}
		if a.Current != nil {
			all[i].Closing = *a.Current
			if a.Type == "credit" || a.Type == "loan" {
				all[i].Closing = a.Current.Neg()
			}
		}
	}
	for t := range h.Transactions() {
		if t.Pending {
			continue
		}
		s := &all[t.AccountIndex]
		s.Rows = append(s.Rows, Row{
			Day: t.Date, Amount: t.Amount, Name: t.Name.Plain(), Detail: t.Detail.Plain(), ID: t.ProviderID,
		})
	}
	var out []Statement
	for _, s := range all {
		if len(s.Rows) == 0 {
			continue
		}
		sum := s.Closing.Cents()
		for _, r := range s.Rows {
			sum += r.Amount.Cents()
		}
		s.Opening = cents(sum)
		out = append(out, s)
	}
	return out
}

func cents(n int64) money.Amount {
	a, err := money.FromCents(n)
	if err != nil {
		panic(err)
	}
	return a
}

// number returns an IBAN that ends with the account's mask, or the masked number of a card.
func number(index int, a household.Account) string {
	if a.Type == "credit" {
		return "XXXXXXXXXXXX" + a.Mask
	}
	rest := fmt.Sprintf("10010010%06d%s", index+1, a.Mask)
	n := 0
	for _, c := range rest + "131400" { // the country code and check digits go behind the number
		n = (n*10 + int(c-'0')) % 97
	}
	return fmt.Sprintf("DE%02d%s", 98-n, rest)
}

// Write writes a file of these statements.
func Write(w io.Writer, format string, all []Statement) error {
	var text string
	switch format {
	case "ofx1":
		text = ofx(all, false)
	case "ofx2":
		text = ofx(all, true)
	case "camt053":
		text = camt(all)
	case "mt940":
		text = mt940(all)
	case "qif":
		text = qif(all)
	case "csv":
		text = csv(all)
	case "xlsx":
		return xlsx(w, all)
	default:
		return fmt.Errorf("statements: no format %q", format)
	}
	_, err := io.WriteString(w, text)
	return err
}

// table returns a header and a line for each row.
func table(all []Statement) [][]string {
	out := [][]string{{"Date", "Description", "Memo", "Amount", "Currency", "Account", "Transaction ID"}}
	for _, s := range all {
		for _, r := range s.Rows {
			out = append(out, []string{
				r.Day.Format(time.DateOnly), r.Name, r.Detail, r.Amount.Neg().String(), string(s.Currency), s.Number,
				r.ID,
			})
		}
	}
	return out
}

func csv(all []Statement) string {
	var b strings.Builder
	for _, line := range table(all) {
		for i, cell := range line {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('"')
			b.WriteString(strings.ReplaceAll(cell, `"`, `""`))
			b.WriteByte('"')
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

func qif(all []Statement) string {
	var b strings.Builder
	for _, s := range all {
		kind := map[string]string{"credit": "CCard", "loan": "Oth L", "investment": "Oth A"}[s.Type]
		if kind == "" {
			kind = "Bank"
		}
		fmt.Fprintf(&b, "!Account\nN%s\nT%s\n^\n!Type:%s\n", s.Name, kind, kind)
		fmt.Fprintf(&b, "D%s\nT%s\nPOpening Balance\nL[%s]\n^\n", s.From.Format("01/02/2006"), s.Opening, s.Name)
		for _, r := range s.Rows {
			fmt.Fprintf(&b, "D%s\nT%s\nP%s\n", r.Day.Format("01/02/2006"), r.Amount.Neg(), r.Name)
			if r.Detail != "" {
				fmt.Fprintf(&b, "M%s\n", r.Detail)
			}
			b.WriteString("^\n")
		}
	}
	return b.String()
}

// cut splits a text into pieces of that many characters.
func cut(s string, size int) (out []string) {
	r := []rune(s)
	for len(r) > size {
		out, r = append(out, string(r[:size])), r[size:]
	}
	return append(out, string(r))
}

func abs(a money.Amount) money.Amount {
	if a.IsNeg() {
		return a.Neg()
	}
	return a
}

func mt940(all []Statement) string {
	var b strings.Builder
	comma := func(a money.Amount) string { return strings.ReplaceAll(abs(a).String(), ".", ",") }
	holds := func(a money.Amount) string {
		if a.IsNeg() {
			return "D"
		}
		return "C"
	}
	for i, s := range all {
		fmt.Fprintf(&b, ":20:STARTUMS\r\n:25:%s%s\r\n:28C:%d/1\r\n", s.Number, s.Currency, i+1)
		fmt.Fprintf(&b, ":60F:%s%s%s%s\r\n", holds(s.Opening), s.From.Format("060102"), s.Currency, comma(s.Opening))
		for _, r := range s.Rows {
			mark := "D"
			if r.Amount.IsNeg() {
				mark = "C"
			}
			day := r.Day.Format("060102")
			fmt.Fprintf(&b, ":61:%s%s%s%sNMSCNONREF//%s\r\n", day, day[2:], mark, comma(r.Amount), r.ID)
			var about strings.Builder
			about.WriteString("166?00UMSATZ")
			if r.Detail != "" {
				for n, part := range cut("SVWZ+"+r.Detail, 27) {
					if n < 14 {
						about.WriteString("?" + strconv.Itoa(20+n%10+40*(n/10)) + part)
					}
				}
			}
			for n, part := range cut(r.Name, 27) {
				if n < 2 {
					about.WriteString("?" + strconv.Itoa(32+n) + part)
				}
			}
			b.WriteString(wrapped(":86:" + about.String()))
		}
		fmt.Fprintf(&b, ":62F:%s%s%s%s\r\n-\r\n", holds(s.Closing), s.To.Format("060102"), s.Currency, comma(s.Closing))
	}
	return b.String()
}

// wrapped splits a field into lines of 65 characters. No line looks like another field.
func wrapped(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n >= 65 && r != ':' && r != '-' && r != ' ' {
			b.WriteString("\r\n")
			n = 0
		}
		b.WriteRune(r)
		n++
	}
	return b.String() + "\r\n"
}
