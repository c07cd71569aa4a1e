package enablebanking

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

type amount struct {
	Amount   json.RawMessage     `json:"amount"`
	Currency bank.OptionalString `json:"currency"`
}

type party struct {
	Name bank.OptionalString `json:"name"`
}

type transaction struct {
	Amount      amount              `json:"transaction_amount"`
	Direction   bank.OptionalString `json:"credit_debit_indicator"`
	Status      bank.OptionalString `json:"status"`
	Booked      bank.OptionalString `json:"booking_date"`
	Value       bank.OptionalString `json:"value_date"`
	Made        bank.OptionalString `json:"transaction_date"`
	Creditor    *party              `json:"creditor"`
	Debtor      *party              `json:"debtor"`
	Purpose     json.RawMessage     `json:"remittance_information"`
	MCC         bank.OptionalString `json:"merchant_category_code"`
	After       *amount             `json:"balance_after_transaction"`
	Description struct {
		Text bank.OptionalString `json:"description"`
	} `json:"bank_transaction_code"`
}

// skip marks a row that moved no money: it is planned, refused, or only reserved.
const skip bank.Reason = "skip"

// readTransaction reads a row of an account, or returns the reason why it cannot; a row that is to
// be left out has the reason skip. What it returns has no id yet.
func readTransaction(raw []byte, a bank.Account) (bank.Transaction, bank.Reason) {
	out := bank.Transaction{AccountID: a.ProviderID, Currency: a.Currency}
	var row transaction
	if json.Unmarshal(raw, &row) != nil {
		return out, bank.BadShape
	}
	switch row.Status {
	case "BOOK":
	case "PDNG":
		out.Pending = true
	case "HOLD", "SCHD", "CNCL", "RJCT", "INFO", "OTHR":
		return out, skip
	default:
		return out, bank.BadShape
	}
	if currency, err := money.ParseCurrency(string(row.Amount.Currency)); err == nil {
		out.Currency = currency
	} else if row.Amount.Currency != "" || out.Currency == "" {
		return out, bank.BadCurrency
	}
	value, err := bank.ParseAmount(row.Amount.Amount)
	if err != nil {
		return out, bank.BadAmount
	}
	if value.IsNeg() { // the indicator says which way, whatever the sign
		value = value.Neg()
	}
	switch row.Direction {
	case "DBIT":
		out.Amount = value
	case "CRDT":
		out.Amount = value.Neg()
	default:
		return out, bank.BadAmount
	}
	dated := false
	for _, day := range []bank.OptionalString{row.Booked, row.Value, row.Made} {
		if out.Date, dated = bank.ParseDay(string(day)); dated {
			break
		}
	}
	if made, ok := bank.ParseDay(string(row.Made)); ok {
		out.AuthorizedDate = made
	}
	out.Name, out.Detail = row.words(out.Amount)
	if code := string(row.MCC); len(code) == 4 && strings.Trim(code, "0123456789") == "" {
		out.CategoryPrimary = text.Line(code, 4)
	}
	if row.After != nil && !out.Pending {
		if after, err := bank.ParseAmount(row.After.Amount); err == nil &&
			(row.After.Currency == "" || string(row.After.Currency) == string(out.Currency)) {
			out.Balance = &after
		}
	}
	if !dated {
		return out, bank.BadDate
	}
	return out, ""
}

// words are the name of a row and its purpose: the other party's name, or else the bank's own text.
func (t transaction) words(out money.Amount) (name, detail text.Untrusted) {
	other := t.Creditor
	if out.IsNeg() {
		other = t.Debtor
	}
	if other != nil {
		name = text.Name(string(other.Name))
	}
	var lines []bank.OptionalString
	if json.Unmarshal(t.Purpose, &lines) != nil {
		var one bank.OptionalString
		_ = json.Unmarshal(t.Purpose, &one) // anything but text says nothing
		lines = []bank.OptionalString{one}
	}
	var parts []string
	for _, line := range lines {
		if line != "" {
			parts = append(parts, string(line))
		}
	}
	detail = text.Name(purpose(strings.Join(parts, " ")))
	if name == "" {
		name, detail = detail, ""
	}
	if name == "" {
		name = text.Name(string(t.Description.Text))
	}
	if detail == name {
		detail = ""
	}
	return name, detail
}

// tags are what German banks put before the parts of a purpose. Other words with a plus are not
// tags.
var tags = []string{
	"EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "COAM+", "OAMT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
}

// purpose is the part of a tagged purpose that is meant for people, or all of one without tags.
func purpose(s string) string {
	_, after, found := strings.Cut(s, "SVWZ+")
	if !found {
		for _, tag := range tags {
			if rest, ok := strings.CutPrefix(s, tag); ok {
				return rest
			}
		}
		return s
	}
	for _, tag := range tags {
		after, _, _ = strings.Cut(after, tag)
	}
	return strings.TrimSpace(after)
}

// identity is what makes a row the one that it is, without its count: its day, its amount, and the
// balance after it, or else its words. References of the bank are no part of it: they are missing
// on the first day, are positions in the list, or differ between two answers.
func identity(t bank.Transaction) string {
	kind, last := "posted", fmt.Sprintf("%q %q", t.Name.Plain(), t.Detail.Plain())
	if t.Pending {
		kind = "pending"
	}
	if t.Balance != nil {
		last = "after " + t.Balance.String()
	}
	return fmt.Sprintf("%s %s %s %s %s", kind, t.Date.Format(time.DateOnly), t.Amount, t.Currency, last)
}

// numbered is the id of the nth row of an identity.
func numbered(identity string, n int) string { return hashID(fmt.Sprintf("%s %d", identity, n)) }

func hashID(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "EB-" + hex.EncodeToString(sum[:12])
}

// number gives rows of one account their ids.
func number(rows []bank.Transaction) {
	count := map[string]int{}
	for i, t := range rows {
		key := identity(t)
		count[key]++
		rows[i].ProviderID = numbered(key, count[key])
	}
}

// provenShare is how many of a hundred rows must continue from the balance of another one, before
// balances say which rows are one payment.
const provenShare = 60

// A step is a row as its balances see it.
type step struct {
	day      time.Time
	from, to int64
}

// stepOf is the step of a booked row that states a balance.
func stepOf(t bank.Transaction) (step, bool) {
	if t.Pending || t.Balance == nil || t.Amount.IsZero() {
		return step{}, false
	}
	return step{t.Date, t.Balance.Cents() + t.Amount.Cents(), t.Balance.Cents()}, true
}

// steps are all steps of an account.
type steps struct {
	out, in map[int64]int // by balance
	n       int
}

func (s *steps) add(x step, n int) {
	s.out[x.from] += n
	s.in[x.to] += n
	s.n += n
}

// paths is how many paths the steps are, at least.
func (s *steps) paths() int {
	n := 0
	for at, leaving := range s.out {
		n += max(0, leaving-s.in[at])
	}
	return max(n, min(s.n, 1))
}

// proven reports whether the balances are those after each row. Some banks state the day's last
// one.
func (s *steps) proven() bool { return (s.n-s.paths())*100 >= s.n*provenShare }

// single leaves out rows that are listed twice: some banks list a payment again under another
// reference. Two real payments of one amount that end at one balance have between them what brought
// the balance back, so that all rows together form one path of balances. A copy breaks the path,
// and is left out if it is whole without. Where balances prove nothing, each row is a payment.
// Around are rows that can't be read otherwise, whose balances belong to the path.
func single(rows, around []bank.Transaction) []bank.Transaction {
	all := steps{out: map[int64]int{}, in: map[int64]int{}}
	for _, t := range around {
		if x, ok := stepOf(t); ok {
			all.add(x, 1)
		}
	}
	var copies []step
	seen := map[step]bool{}
	for _, t := range rows {
		x, ok := stepOf(t)
		switch {
		case ok && seen[x]:
			copies = append(copies, x)
		case ok:
			seen[x] = true
			all.add(x, 1)
		}
	}
	drop := map[step]int{}
	for _, x := range copies { // each is a payment, unless the path is whole without it alone
		before, proven := all.paths(), all.proven()
		if all.add(x, 1); all.paths() > before && proven && (before == 1 || all.in[x.from] > 0) {
			all.add(x, -1)
			drop[x]++
		}
	}
	return slices.DeleteFunc(rows, func(t bank.Transaction) bool {
		x, ok := stepOf(t)
		if !ok || drop[x] == 0 {
			return false
		}
		drop[x]--
		return true
	})
}

// Reread implements [bank.Rereader].
func (e *EnableBanking) Reread(raw bank.Raw, a bank.Account) (bank.Transaction, bank.Reason) {
	out, reason := readTransaction(raw, a)
	if reason == "" {
		out.ProviderID = numbered(identity(out), 1)
	}
	return out, reason
}
