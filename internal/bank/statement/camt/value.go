package camt

import (
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A sum is the total of the booked entries of a statement, and of the reversals among them.
type sum struct{ all, reversals money.Total }

// A balance is a Bal element.
type balance struct {
	code, amount, day string
	debit             bool
}

// An entry is a Ntry element.
type entry struct {
	amount, currency  string
	debit, reversal   bool
	status            string
	booked, value, id string
	more              string // AddtlNtryInf
	details           []detail
	count             int // number of details, including those beyond maxDetails
}

// A detail is a TxDtls element.
type detail struct {
	amount, currency, id string
	sign                 string // CdtDbtInd
	parties              [4]string
	free                 string // Ustrd: pieces of one text
	structured           string
	more                 string // AddtlTxInf
}

// The parties of a detail.
const (
	ultimateCreditor = iota
	creditor
	ultimateDebtor
	debtor
)

// value stores the text of an element if coffer needs it. Versions differ: version 02 has a status
// as text and an amount in AmtDtls. Later versions have Sts/Cd, an amount in the details and names
// below Pty.
func (r *reader) value(t reading.Tag) {
	path := r.path[r.base:]
	if rest, ok := cut(path, "Ntry/NtryDtls/TxDtls/"); ok {
		r.detail(t, rest)
		return
	}
	if rest, ok := cut(path, "Ntry/"); ok {
		r.entry.take(t, rest)
		return
	}
	b, a := &r.balance, &r.account
	switch string(path) {
	case "Acct/Id/IBAN/":
		a.IBAN = text.Name(strings.ToUpper(strings.ReplaceAll(t.Text(), " ", "")))
	case "Acct/Id/Othr/Id/":
		a.Number = text.Name(t.Text())
	case "Acct/Ccy/":
		a.Currency, _ = money.ParseCurrency(t.Text())
	case "Acct/Nm/":
		a.Name = text.Name(t.Text())
	case "Acct/Ownr/Nm/", "Acct/Ownr/Pty/Nm/":
		r.owner = text.Fold(text.Name(t.Text()).Plain())
	case "Acct/Svcr/FinInstnId/BIC/", "Acct/Svcr/FinInstnId/BICFI/":
		a.Bank = text.Name(t.Text())
	case "Bal/":
		*b = balance{}
	case "Bal/Tp/CdOrPrtry/Cd/":
		b.code = t.Text()
	case "Bal/Amt/":
		b.amount = t.Text()
		r.assume(t.Attr("Ccy"))
	case "Bal/CdtDbtInd/":
		b.debit = t.Text() == "DBIT"
	case "Bal/Dt/Dt/", "Bal/Dt/DtTm/":
		b.day = t.Text()
	}
}

// cut returns the part of a path after a prefix.
func cut(path []byte, prefix string) ([]byte, bool) {
	if len(path) < len(prefix) || string(path[:len(prefix)]) != prefix {
		return nil, false
	}
	return path[len(prefix):], true
}

// assume sets the account's currency to that of an amount, if the account has none.
func (r *reader) assume(currency string) {
	if r.currency == "" {
		r.currency, _ = money.ParseCurrency(currency)
	}
}

func (e *entry) take(t reading.Tag, path []byte) {
	switch string(path) {
	case "":
		*e = entry{details: e.details[:0]}
	case "Amt/":
		e.amount, e.currency = t.Text(), t.Attr("Ccy")
	case "CdtDbtInd/":
		e.debit = t.Text() == "DBIT"
	case "RvslInd/":
		v := t.Text()
		e.reversal = v == "true" || v == "1"
	case "Sts/", "Sts/Cd/":
		if !t.Blank() {
			e.status = t.Text()
		}
	case "BookgDt/Dt/", "BookgDt/DtTm/":
		e.booked = t.Text()
	case "ValDt/Dt/", "ValDt/DtTm/":
		e.value = t.Text()
	case "AcctSvcrRef/":
		e.id = t.Text()
	case "AddtlNtryInf/":
		e.more = t.Text()
	}
}

// parties are the elements with a party's name. Before version 08, the element itself contains the
// name.
var parties = map[string]int{
	"RltdPties/UltmtCdtr/": ultimateCreditor, "RltdPties/Cdtr/": creditor,
	"RltdPties/UltmtDbtr/": ultimateDebtor, "RltdPties/Dbtr/": debtor,
}

func (r *reader) detail(t reading.Tag, path []byte) {
	e := &r.entry
	if len(path) == 0 {
		if e.count++; e.count <= maxDetails {
			e.details = append(e.details, detail{})
		}
		return
	}
	if e.count > maxDetails {
		return
	}
	d := &e.details[len(e.details)-1]
	switch string(path) {
	case "Refs/AcctSvcrRef/":
		d.id = t.Text()
	case "Amt/":
		d.amount, d.currency = t.Text(), t.Attr("Ccy")
	case "AmtDtls/TxAmt/Amt/":
		if d.amount == "" {
			d.amount, d.currency = t.Text(), t.Attr("Ccy")
		}
	case "CdtDbtInd/":
		d.sign = t.Text()
	case "RmtInf/Ustrd/":
		if len(d.free) < maxWords {
			d.free += t.Raw()
		}
	case "RmtInf/Strd/AddtlRmtInf/":
		d.structure(t.Text(), true)
	case "RmtInf/Strd/CdtrRefInf/Ref/":
		d.structure(t.Text(), false)
	case "AddtlTxInf/":
		d.more = t.Text()
	default:
		if t.Name != "Nm" {
			return
		}
		path = path[:len(path)-len("Nm/")]
		if n := len(path) - len("Pty/"); n > 0 && string(path[n:]) == "Pty/" {
			path = path[:n]
		}
		if at, ok := parties[string(path)]; ok {
			d.parties[at] = t.Text()
		}
	}
}

// structure adds a structured remittance. Words come before references.
func (d *detail) structure(s string, first bool) {
	switch {
	case len(d.structured) >= maxWords:
	case d.structured == "":
		d.structured = s
	case first:
		d.structured = s + " " + d.structured
	default:
		d.structured += " " + s
	}
}

// keep stores a balance until its meaning is clear.
func (r *reader) keep() {
	if len(r.balances) < maxDepth {
		r.balances = append(r.balances, r.balance)
	}
}

// point converts a balance to a [statement.Point].
func (b balance) point(kind string) *statement.Point {
	amount, err := reading.Amount(b.amount)
	day, ok := reading.Compact(b.day)
	if err != nil || !ok {
		return nil
	}
	if b.debit {
		amount = amount.Neg()
	}
	return &statement.Point{Kind: kind, Day: day, Amount: amount, Morning: b.code == "OPBD"}
}
