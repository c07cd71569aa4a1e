package household

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A source is how a row reaches the household, which decides how much is known about it.
type source uint8

const (
	fromPlaid source = iota
	fromTeller
	fromFile
)

var sources = map[string]source{"plaid": fromPlaid, "teller": fromTeller, "csv": fromFile}

// stillPending is how likely a card's row is pending on the last day, the day before, and so on;
// per mille.
var stillPending = [...]int{900, 650, 300, 100}

// An entry is what makes two rows of a statement the same, for those that carry no id.
type entry struct {
	account int
	amount  money.Amount
	name    text.Untrusted
}

// describe writes a merchant's row as the account's provider would.
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

// classify gives a row the provider's category. Teller looks at a row only when it is posted.
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

// identify gives a row of today the id that its provider would. A file has none: there the row's
// content is its id, counted where a day has several of the same.
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
