package banks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/money"
)

// A customer is a bank's data about one person. It is the same in all sessions.
type customer struct {
	bank    aspsp
	book    *Book
	after   map[string]money.Amount // the balance after each booked row, by the row's id
	balance map[string]int64        // balances of accounts, in cents
	denied  map[string]bool         // accounts to which the bank denies access
	asked   map[string][]time.Time
	renamed int // how often the bank has given its rows new numbers
	keys    string
	days    int // how many days back the bank lists; 0 is everything
}

func (s *EnableBanking) newCustomer(of aspsp) *customer {
	o := s.o.Household
	if n := len(s.customers); n > 0 {
		o.Seed += uint64(n)
		o.Family = time.Time{}
	}
	c := &customer{
		bank: of, after: map[string]money.Amount{}, balance: map[string]int64{}, denied: map[string]bool{},
		asked: map[string][]time.Time{},
		book: newBook(o, "plaid", func(_ string, n int) string {
			sum := sha256.Sum256(fmt.Appendf(nil, "eu row %d", n))
			return "row" + hex.EncodeToString(sum[:8])
		}),
	}
	for _, a := range c.book.accounts { // so that the balance after all rows is the account's balance
		b, err := money.Parse(asset(a, a.Current))
		if err != nil {
			panic(err) // it was printed a moment ago
		}
		c.balance[a.ID] = b.Cents()
		for _, r := range c.book.newest(a.ID) {
			if !r.Pending {
				c.balance[a.ID] += r.Amount.Cents()
			}
		}
	}
	return c
}

// euKind is the type of an account as banks write it.
func euKind(a Account) string {
	switch {
	case a.Type == "credit":
		return "CARD"
	case a.Type == "loan":
		return "LOAN"
	case a.Type == "depository" && a.Subtype == "savings":
		return "SVGS"
	case a.Type == "depository":
		return "CACC"
	}
	return "OTHR"
}

func euAccount(a Account, uid string) any {
	out := map[string]any{
		"uid": uid, "identification_hash": hashOf(a.ID), "identification_hashes": []string{hashOf(a.ID)},
		"product": a.Name, "name": "Robin Example", "currency": a.Currency, "cash_account_type": euKind(a),
		"account_id": map[string]any{"iban": nil},
	}
	if a.Mask != "" {
		out["account_id"] = map[string]any{"iban": "DE8937040044053201" + a.Mask}
	}
	return out
}

func hashOf(account string) string {
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:])
}

// HashOf returns the hash that identifies an account in all sessions.
func (s *EnableBanking) HashOf(account string) string { return hashOf(account) }

// runs reports whether the bank states the balance after each row of an account. It does so for
// every other account.
func (c *customer) runs(account string) bool {
	at := slices.IndexFunc(c.book.accounts, func(a Account) bool { return a.ID == account })
	return at%2 == 0
}

// settle adds the newly booked rows to the account's balance. It does not change a balance that was
// already stated after a row.
func (c *customer) settle(account string) {
	for _, r := range slices.Backward(c.book.newest(account)) {
		if _, done := c.after[r.ID]; done || r.Pending || r.Raw != nil {
			continue
		}
		c.balance[account] -= r.Amount.Cents()
		after, err := money.FromCents(c.balance[account])
		if err != nil {
			panic(err) // a household is not that rich
		}
		c.after[r.ID] = after
	}
}

// After returns the balance after a row of the newest session's customer, if the bank states it.
func (s *EnableBanking) After(row Row) (money.Amount, bool) {
	c := s.newest().customer
	s.mu.Lock()
	defer s.mu.Unlock()
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	c.settle(row.AccountID)
	after, ok := c.after[row.ID]
	return after, ok && c.runs(row.AccountID)
}

// Balance returns the balance of an account of the newest session's customer.
func (s *EnableBanking) Balance(account string) money.Amount {
	c := s.newest().customer
	s.mu.Lock()
	defer s.mu.Unlock()
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	c.settle(account)
	out, err := money.FromCents(c.balance[account])
	if err != nil {
		panic(err) // a household is not that rich
	}
	return out
}

func (s *EnableBanking) balances(w http.ResponseWriter, r *http.Request) {
	c, a, ok := s.enter(w, r, false)
	if !ok {
		return
	}
	s.mu.Lock()
	c.book.mu.Lock()
	c.settle(a.ID)
	held, err := money.FromCents(c.balance[a.ID])
	c.book.mu.Unlock()
	s.mu.Unlock()
	if err != nil {
		panic(err)
	}
	of := func(kind, amount, day string) any {
		return map[string]any{
			"balance_type": kind, "name": "prose", "reference_date": day,
			"balance_amount": map[string]any{"amount": amount, "currency": a.Currency},
		}
	}
	today := s.Now().UTC().Format(time.DateOnly)
	answer(w, http.StatusOK, map[string]any{"balances": []any{ // the available amount includes an overdraft
		of("ITAV", "99999.00", today), of("CLBD", "1.00", "2001-01-01"), of("CLBD", "2.00", "2002-01-01"),
		of("ITBD", held.String(), today),
	}})
}

func (s *EnableBanking) transactions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	key := q.Get("continuation_key")
	c, a, ok := s.enter(w, r, key == "")
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	from, err := time.Parse(time.DateOnly, q.Get("date_from"))
	if err != nil && q.Get("strategy") != "longest" {
		s.fail(w, http.StatusUnprocessableEntity, "WRONG_REQUEST_PARAMETERS")
		return
	}
	today := time.Now().Add(s.skew).UTC().Truncate(24 * time.Hour)
	if c.days > 0 && from.Before(today.AddDate(0, 0, -c.days)) {
		s.fail(w, http.StatusUnprocessableEntity, "WRONG_TRANSACTIONS_PERIOD")
		return
	}
	c.settle(a.ID)
	rows := c.list(a, from)
	start, asked := 0, q.Get("date_from")
	if key != "" { // every parameter must be repeated
		place, with, _ := strings.Cut(key, ".")
		if start, err = strconv.Atoi(place); err != nil || with != asked || c.keys == KeysRejected {
			s.fail(w, http.StatusUnprocessableEntity, "WRONG_CONTINUATION_KEY")
			return
		}
	}
	at := start
	if c.keys == KeysIgnored {
		at = 0
	}
	end := min(at+s.o.PageSize, len(rows))
	out := map[string]any{"transactions": rows[at:end], "continuation_key": nil}
	switch {
	case c.keys == KeysRepeated && key != "":
		out["continuation_key"] = key
	case end < len(rows):
		out["continuation_key"] = strconv.Itoa(start+s.o.PageSize) + "." + asked
	case at == 0 && start == 0 && len(rows) > 0: // some banks end with an empty page
		out["continuation_key"] = strconv.Itoa(end) + "." + asked
	}
	answer(w, http.StatusOK, out)
}

// list returns the bank's list of an account's rows, newest first. Now and then it contains a
// payment twice, under two references.
func (c *customer) list(a Account, from time.Time) []any {
	rows := []any{}
	for n, r := range c.book.newest(a.ID) {
		switch {
		case r.Raw != nil:
			rows = append(rows, r.Raw)
		case r.Date.Before(from):
		default:
			rows = append(rows, c.row(r, n))
			if sum := sha256.Sum256([]byte(r.ID)); sum[0] < 8 && !r.Pending && c.runs(a.ID) {
				rows = append(rows, c.row(r, n+100_000))
			}
		}
	}
	return rows
}

func (c *customer) row(r Row, n int) any {
	out := map[string]any{
		"transaction_amount": map[string]any{
			"amount": strings.TrimPrefix(r.Amount.String(), "-"), "currency": r.Currency,
		},
		"credit_debit_indicator": "DBIT", "status": "BOOK", "booking_date": r.Date.Format(time.DateOnly),
		"value_date": r.Date.Format(time.DateOnly), "transaction_date": nil, "remittance_information": []string{},
		// The reference is a position in the list, or empty.
		"entry_reference": fmt.Sprintf("%s.%d-%d", r.Date.Format(time.DateOnly), n, c.renamed),
		"transaction_id":  nil, "balance_after_transaction": nil,
	}
	other := "creditor"
	if r.Amount.IsNeg() {
		out["credit_debit_indicator"], other = "CRDT", "debtor"
	}
	out[other] = map[string]any{"name": r.Name}
	if r.Detail != "" {
		out["remittance_information"] = []any{r.Detail}
	}
	if !r.Authorized.IsZero() {
		out["transaction_date"] = r.Authorized.Format(time.DateOnly)
	}
	if code := mccs[r.Primary.Plain()]; code != "" {
		out["merchant_category_code"] = code
	}
	if after, ok := c.after[r.ID]; ok && c.runs(r.AccountID) {
		out["balance_after_transaction"] = map[string]any{"amount": after.String(), "currency": r.Currency}
	}
	if r.Pending {
		out["status"], out["booking_date"], out["entry_reference"] = "PDNG", nil, nil
	}
	return out
}
