package ofx

import (
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// flush emits the unfinished transaction.
func (r *reader) flush() error {
	if !r.open {
		return nil
	}
	r.open = false
	defer clear(r.row)
	if err := r.announce(); err != nil {
		return err
	}
	item := r.parse(r.row)
	if item.Left == nil && item.Delete == "" {
		r.seen.id(r.key, item.Row.Date, r.row["FITID"])
	}
	return r.emit(item)
}

// parse reads a transaction. Only the sign of its amount counts: the transaction type is often
// wrong.
func (r *reader) parse(v map[string]string) reading.Item {
	if fixed := v["CORRECTFITID"]; fixed != "" && strings.EqualFold(v["CORRECTACTION"], "DELETE") {
		return reading.Item{Delete: text.Name(fixed)}
	}
	day, ok := reading.Compact(v["DTPOSTED"])
	if !ok {
		return reading.Reject("date", "the date is not YYYYMMDD")
	}
	amount, err := reading.Amount(v["TRNAMT"])
	if err != nil {
		return reading.Reject("amount", err.Error())
	}
	row := statement.Row{Date: day, Amount: amount.Neg(), ID: text.Name(v["FITID"])}
	currency := v["CURSYM"]
	if currency == "" {
		currency = r.account["CURDEF"]
	}
	if currency != "" {
		if row.Currency, err = money.ParseCurrency(strings.ToUpper(currency)); err != nil {
			return reading.Reject("currency", "the currency is not a three-letter code")
		}
	}
	row.Name, row.Detail = words(v)
	extra := statement.Extra{
		Check: text.Name(v["CHECKNUM"]), Reference: text.Name(v["REFNUM"]), Replaces: text.Name(v["CORRECTFITID"]),
	}
	if day, ok := reading.Compact(v["DTUSER"]); ok && day != row.Date {
		extra.Authorized = day
	}
	if extra.Check != "" || extra.Reference != "" || extra.Replaces != "" || extra.Authorized != "" {
		row.Extra = &extra
	}
	return reading.Item{Row: row}
}

// words returns the name and the detail of a row. NAME has at most 32 characters. If the memo
// begins with the name and continues it, the memo is the complete name.
func words(v map[string]string) (name, detail text.Untrusted) {
	short, memo := v["NAME"], v["MEMO"]
	if short == "" {
		short = v["PAYEE"]
	}
	if short == "" || len(memo) > len(short) && strings.HasPrefix(memo, short) {
		short, memo = memo, ""
	}
	name = text.Name(short)
	return name, text.Detail(memo, name)
}
