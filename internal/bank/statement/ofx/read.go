package ofx

import (
	"cmp"
	"context"
	"io"
	"iter"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A plan holds the results of the inspection that reading needs.
type plan struct{ encoding string }

func (p plan) items(ctx context.Context, file io.ReaderAt, seen *census) iter.Seq2[reading.Item, error] {
	return reading.Stream(func(emit func(reading.Item) error) error {
		r := reader{emit: emit, seen: seen, row: map[string]string{}}
		s := reading.NewTags(reading.Open(file, p.encoding), true)
		if err := reading.Each(ctx, ctxTags, s.Next, r.take); err != nil {
			return err
		}
		return r.end()
	})
}

// ctxTags is how many tags are read between two checks of the context.
const ctxTags = 10_000

// A place is the innermost part of the file whose values are needed. There is no stack: unknown
// tags are ignored, so deep nesting costs nothing.
type place int

const (
	elsewhere  place = iota
	inStatus         // of a response
	inAccount        // the account of the statement
	inRow            // a transaction
	inPayee          // the other party of a transaction
	inOther          // the account of the other party
	inCurrency       // the currency of the amount
	inOriginal       // the original currency, before conversion
	inLedger         // the booked balance
	inFree           // the available balance
)

// A reader keeps the unfinished data.
type reader struct {
	emit func(reading.Item) error
	seen *census

	at      place
	row     map[string]string
	open    bool // a row is unfinished
	status  status
	balance map[string]string
	account map[string]string // of the statement
	kind    string
	stated  bool // the account has been emitted
	key     text.Untrusted
}

// kinds are the elements that contain a statement of one account.
var kinds = map[string]string{"STMTRS": "bank", "CCSTMTRS": "card", "INVSTMTRS": "broker"}

// places are the parts of a file whose values are needed. The second value is the place after the
// end of the part.
var places = map[string][2]place{
	"STATUS":       {inStatus, elsewhere},
	"BANKACCTFROM": {inAccount, elsewhere}, "CCACCTFROM": {inAccount, elsewhere}, "INVACCTFROM": {inAccount, elsewhere},
	"PAYEE": {inPayee, inRow}, "BANKACCTTO": {inOther, inRow}, "CCACCTTO": {inOther, inRow},
	"CURRENCY": {inCurrency, inRow}, "ORIGCURRENCY": {inOriginal, inRow},
	"LEDGERBAL": {inLedger, elsewhere}, "AVAILBAL": {inFree, elsewhere},
}

// trades are the entries of a broker's statement that are not movements of cash.
var trades = set("BUYDEBT BUYMF BUYOPT BUYOTHER BUYSTOCK CLOSUREOPT INCOME INVEXPENSE JRNLFUND JRNLSEC " +
	"MARGININTEREST REINVEST RETOFCAP SELLDEBT SELLMF SELLOPT SELLOTHER SELLSTOCK SPLIT TRANSFER")

// names are the elements whose values are needed.
var names = set("DTPOSTED DTUSER TRNAMT FITID NAME MEMO CHECKNUM REFNUM CURSYM CURDEF CORRECTFITID " +
	"CORRECTACTION CODE SEVERITY MESSAGE BANKID BROKERID ACCTID ACCTTYPE BALAMT DTASOF DTSTART DTEND")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// take handles the next tag. A new transaction ends the unfinished one.
func (r *reader) take(t reading.Tag) error {
	switch kind := kinds[t.Name]; {
	case t.Name == "OFX":
		r.seen.ended = r.seen.ended || t.End
	case t.Name == "STMTTRN", t.Name == "STMTTRNP":
		err := r.flush()
		if r.at = elsewhere; t.End || err != nil {
			return err
		}
		if t.Name == "STMTTRNP" {
			return r.send(reading.Pending())
		}
		if r.account == nil {
			r.begin("bank")
		}
		r.open, r.at = true, inRow
		return nil
	case kind != "":
		err := r.flush()
		if t.End {
			err = cmp.Or(err, r.announce())
		} else {
			r.begin(kind)
		}
		return err
	case r.kind == "broker" && trades[t.Name] && !t.End && !r.open:
		return r.send(reading.Skip("security_trade",
			"a trade of securities; only movements of cash are imported"))
	}
	if p, ok := places[t.Name]; ok && (p[1] != inRow || r.open) {
		return r.move(t, p)
	}
	if !t.End && !t.Blank() {
		r.value(t)
	}
	return nil
}

// begin starts a statement.
func (r *reader) begin(kind string) {
	r.seen.statements++
	r.kind, r.account, r.stated, r.at = kind, map[string]string{}, false, elsewhere
}

// move enters a part of the file, or leaves it.
func (r *reader) move(t reading.Tag, p [2]place) error {
	if !t.End && p[0] == inCurrency && !t.Blank() { // some banks write it as a value
		r.row["CURSYM"] = t.Text()
		return nil
	}
	if !t.End {
		if p[1] == elsewhere {
			if err := r.flush(); err != nil {
				return err
			}
		}
		r.at = p[0]
		switch r.at {
		case inLedger, inFree:
			r.balance = map[string]string{}
		case inStatus:
			r.status = status{}
		}
		return nil
	}
	r.at = p[1]
	switch p[0] {
	case inStatus:
		if r.status.isError() {
			r.seen.fault = r.status
		}
	case inLedger, inFree:
		return r.point(p[0] == inFree)
	}
	return nil
}

// value stores a value if it is needed in the current place.
func (r *reader) value(t reading.Tag) {
	name := t.Name
	if !names[name] {
		return
	}
	v := t.Text()
	switch r.at {
	case inStatus:
		switch name {
		case "CODE":
			r.status.code = v
		case "SEVERITY":
			r.status.severity = v
		case "MESSAGE":
			r.status.message = v
		}
	case inLedger, inFree:
		r.balance[name] = v
	case inRow, inCurrency:
		r.row[name] = v
	case inPayee, inOriginal, inOther:
		if r.at == inPayee && name == "NAME" {
			r.row["PAYEE"] = v
		}
	case inAccount:
		if r.account != nil {
			r.account[name] = v
		}
	case elsewhere:
		if r.account != nil && (name == "CURDEF" || name == "DTSTART" || name == "DTEND") {
			r.account[name] = v
		}
	}
}

// announce emits the account of the statement before its first item.
func (r *reader) announce() error {
	if r.stated || r.account == nil {
		return nil
	}
	a := r.accountOf()
	r.stated, r.key = true, a.Key
	return r.emit(reading.Item{Account: a})
}

func (r *reader) send(i reading.Item) error {
	if err := r.announce(); err != nil {
		return err
	}
	return r.emit(i)
}

// subtypes maps the types of bank accounts.
var subtypes = map[string]string{
	"CHECKING": "checking", "SAVINGS": "savings", "MONEYMRKT": "money market", "CREDITLINE": "line of credit",
	"CD": "cd",
}

func (r *reader) accountOf() *statement.Account {
	a := &statement.Account{Type: "depository"}
	of := r.account
	switch r.kind {
	case "card":
		a.Type = "credit"
	case "broker":
		a.Type, a.Bank = "investment", text.Name(of["BROKERID"])
	default:
		a.Bank, a.Subtype = text.Name(of["BANKID"]), subtypes[strings.ToUpper(of["ACCTTYPE"])]
		if a.Subtype == "line of credit" {
			a.Type = "loan"
		}
	}
	number := strings.ToUpper(strings.ReplaceAll(of["ACCTID"], " ", ""))
	if reading.IsIBAN(number) {
		a.IBAN = text.Name(number)
	} else {
		a.Number = text.Name(of["ACCTID"])
	}
	a.Key = text.Name(strings.Join([]string{r.kind, a.Bank.Plain(), number}, " "))
	a.Currency, _ = money.ParseCurrency(strings.ToUpper(of["CURDEF"]))
	a.From, _ = reading.Compact(of["DTSTART"])
	a.To, _ = reading.Compact(of["DTEND"])
	return a
}

// point emits a balance. Its day is often that of the download, so the file may lack rows between
// two balances.
func (r *reader) point(free bool) error {
	amount, err := reading.Amount(r.balance["BALAMT"])
	day, ok := reading.Compact(r.balance["DTASOF"])
	if err != nil || !free && !ok || r.account == nil {
		return nil //nolint:nilerr // an unreadable balance is an unknown one
	}
	if free {
		a := r.accountOf()
		a.Available, r.stated, r.key = &amount, true, a.Key
		return r.emit(reading.Item{Account: a})
	}
	return r.send(reading.Item{Point: &statement.Point{Kind: statement.Stated, Day: day, Amount: amount}})
}

func (r *reader) end() error {
	if err := r.flush(); err != nil {
		return err
	}
	return r.announce()
}
