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

// skip marks a row that moved no money: it is planned, rejected or only reserved.
const skip bank.Reason = "skip"

// readTransaction reads a row of an account, or returns the reason why it cannot. For a row that
// must be left out, the reason is skip. The returned transaction has no id yet.
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
	if value.IsNeg() { // the indicator gives the direction, whatever the sign
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

// words returns the name of a row and its purpose. The name is the other party's or else the bank's
// own text.
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
		_ = json.Unmarshal(t.Purpose, &one) // if it is not text, it is ignored
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

// tags are the markers that German banks put before the parts of a purpose. Other words with a plus
// are not tags.
var tags = []string{
	"EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "COAM+", "OAMT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
}

// purpose returns the part of a tagged purpose that is meant for people. A purpose without tags is
// returned completely.
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

// identity returns the content that identifies a row: its day, its amount, and the balance after it
// or else its text. Equal rows have the same identity. The bank's references are not used: they may
// be missing on the first day, be positions in the list, or differ between two responses.
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

// numbered returns the id of the nth row with an identity.
func numbered(identity string, n int) string { return hashID(fmt.Sprintf("%s %d", identity, n)) }

func hashID(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "EB-" + hex.EncodeToString(sum[:12])
}

// number sets the ids of the rows of one account.
func number(rows []bank.Transaction) {
	count := map[string]int{}
	for i, t := range rows {
		key := identity(t)
		count[key]++
		rows[i].ProviderID = numbered(key, count[key])
	}
}

// provenShare is the percentage of rows that must continue from another row's balance. Below it,
// the balances cannot show which rows are the same payment.
const provenShare = 60

// A step is how a row moves the balance.
type step struct {
	day      time.Time
	from, to int64
}

// stepOf returns the step of a booked row that states a balance.
func stepOf(t bank.Transaction) (step, bool) {
	if t.Pending || t.Balance == nil || t.Amount.IsZero() {
		return step{}, false
	}
	return step{t.Date, t.Balance.Cents() + t.Amount.Cents(), t.Balance.Cents()}, true
}

// steps are the steps of all rows of an account.
type steps struct {
	out, in map[int64]int // by balance
	n       int
}

func (s *steps) add(x step, n int) {
	s.out[x.from] += n
	s.in[x.to] += n
	s.n += n
}

// paths returns the minimum number of paths that the steps form.
func (s *steps) paths() int {
	n := 0
	for at, leaving := range s.out {
		n += max(0, leaving-s.in[at])
	}
	return max(n, min(s.n, 1))
}

// proven reports whether each balance is the one after its row. Some banks state the day's last
// balance in every row instead.
func (s *steps) proven() bool { return (s.n-s.paths())*100 >= s.n*provenShare }

// single leaves out copies: some banks list a payment twice, under another reference. If two equal
// rows with the same balance are both real payments, other rows between them brought the balance
// back. Then all rows together form one path of balances. A copy breaks this path, and single
// leaves it out if the path is complete without it. If the balances prove nothing, each row counts
// as a payment. The rows in around are unreadable in other respects, but their balances belong to
// the path.
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
	for _, x := range copies { // keep each, unless only it breaks the path
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
