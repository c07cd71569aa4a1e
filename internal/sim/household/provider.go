package household

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A source is the way in which a row reaches the household. It determines which fields the row has.
type source uint8

const (
	fromPlaid source = iota
	fromTeller
	fromFile
)

var sources = map[string]source{"plaid": fromPlaid, "teller": fromTeller, "csv": fromFile}

// stillPending is the probability per mille that a card's row is still pending: on the last day,
// the day before, and so on.
var stillPending = [...]int{900, 650, 300, 100}

// An entry identifies equal rows of a statement whose rows have no id.
type entry struct {
	account int
	amount  money.Amount
	name    text.Untrusted
}

// describe writes a merchant's row in the form of the account's provider.
func (w *walk) describe(t *Transaction, m *merchant, class category, channel string) {
	if len(m.forms) > 0 {
		t.Name = w.writer.write(m.forms[w.below(len(m.forms))], m.label)
	} else {
		t.Name = m.names[w.small(len(m.names))]
	}
	switch w.source[t.AccountIndex] {
	case fromPlaid:
		t.MerchantName = m.clean
	case fromTeller:
		t.MerchantName = m.loud
	}
	w.classify(t, class, channel)
}

// classify sets the provider's category of a row. Teller classifies a row only when it is posted.
func (w *walk) classify(t *Transaction, class category, channel string) {
	t.RawPrimary, t.RawDetailed, t.PaymentChannel = "", "", ""
	t.Truth = class.detailed
	switch w.source[t.AccountIndex] {
	case fromPlaid:
		t.RawPrimary, t.RawDetailed, t.PaymentChannel = class.primary, class.detailed, channel
	case fromTeller:
		if t.Pending {
			t.MerchantName = ""
		} else {
			t.RawPrimary = class.teller
		}
	}
}

// identify sets the id that the provider would give a row of today. A file has no ids. There the
// row's content is its id, with a count if a day has several equal rows.
func (w *walk) identify(t *Transaction) {
	switch w.source[t.AccountIndex] {
	case fromPlaid:
		t.ProviderID = w.id("", base62, 37)
	case fromTeller:
		t.ProviderID = w.id("txn_", base32, 21)
	default:
		e := entry{t.AccountIndex, t.Amount, t.Name}
		w.seen[e]++
		b := t.Date.AppendFormat(w.writer.buf[:0], time.DateOnly)
		b = strconv.AppendInt(append(b, '|'), t.Amount.Cents(), 10)
		b = append(append(b, '|'), t.Name.Plain()...)
		b = strconv.AppendInt(append(b, '|'), int64(w.seen[e]), 10)
		w.writer.buf = b
		sum := sha256.Sum256(b)
		t.ProviderID = hex.EncodeToString(sum[:16])
	}
}
