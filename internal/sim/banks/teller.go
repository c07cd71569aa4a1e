package banks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/household"
)

// TellerOptions configure a simulator of Teller. The zero value is usable.
type TellerOptions struct {
	Addr      string            // a free port on loopback if empty
	Sandbox   bool              // plain HTTP, without a client certificate
	Household household.Options // of the first enrolment; each further one has the next seed
	MaxCount  int               // the maximum rows of a page, even if more are requested; 0 is no limit
	Secrets   []string          // secrets that sign webhooks; a generated one if empty
}

// A Teller simulates Teller.
type Teller struct {
	server
	o          TellerOptions
	certs      certificates
	enrolments map[string]*enrolment // by access token
	count      int
}

type enrolment struct {
	book    *Book
	removed bool
}

// NewTeller starts a simulator.
func NewTeller(o TellerOptions) (*Teller, error) {
	if len(o.Secrets) == 0 {
		o.Secrets = []string{"teller-webhook-secret"}
	}
	t := &Teller{o: o, enrolments: make(map[string]*enrolment)}
	t.fail = tellerFail
	var secure *tls.Config
	if !o.Sandbox {
		var err error
		if t.certs, secure, err = newCertificates(); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /connect/connect.js", t.connectScript)
	mux.HandleFunc("GET /connect", t.connectPage)
	mux.HandleFunc("POST /connect", t.connectDone)
	mux.HandleFunc("GET /accounts", t.handle(t.accounts))
	mux.HandleFunc("DELETE /accounts", t.handle(t.disconnect))
	mux.HandleFunc("GET /accounts/{id}", t.handle(t.account))
	mux.HandleFunc("GET /accounts/{id}/balances", t.handle(t.balances))
	mux.HandleFunc("GET /accounts/{id}/transactions", t.handle(t.transactions))
	if err := t.serve(o.Addr, secure, mux); err != nil {
		return nil, err
	}
	return t, nil
}

// CA returns the authority that a client must trust, in PEM. Like Certificate and Key it is nil in
// the sandbox.
func (t *Teller) CA() []byte { return t.certs.ca }

// Certificate returns the client certificate.
func (t *Teller) Certificate() []byte { return t.certs.client }

// Key returns the client's private key.
func (t *Teller) Key() []byte { return t.certs.key }

// An Enrolment is the data that Teller Connect passes to the page when a member has linked a bank.
type Enrolment struct {
	AccessToken string
	ID          string
	Book        *Book
}

// Enroll links a bank, as Teller Connect does.
func (t *Teller) Enroll() Enrolment {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.o.Household
	if o.Seed += uint64(t.count); t.count > 0 {
		o.Family = time.Time{} // only one connection is the family's; every further one is another household's
	}
	t.count++
	b := newBook(o, "teller", func(id string, n int) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s row %d", id, n))
		return "txn_" + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:21]
	})
	e := Enrolment{AccessToken: "test_token_" + token(13, "teller", o.Seed), ID: b.id, Book: b}
	t.enrolments[e.AccessToken] = &enrolment{book: b}
	return e
}

// Book returns the bank's data for an enrolment; nil if there is no such enrolment.
func (t *Teller) Book(enrolmentID string) *Book {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.enrolments {
		if e.book.id == enrolmentID {
			return e.book
		}
	}
	return nil
}

// Books returns the banks' data of all enrolments.
func (t *Teller) Books() []*Book {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*Book
	for _, e := range t.enrolments {
		out = append(out, e.book)
	}
	return out
}

func tellerFail(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{"error": map[string]any{"code": code, "message": "prose that is for nobody"}})
}

// handle checks certificate and token, locks the enrollment's book and calls call with it.
func (t *Teller) handle(call func(w http.ResponseWriter, r *http.Request, b *Book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !t.o.Sandbox && len(r.TLS.PeerCertificates) == 0 {
			tellerFail(w, http.StatusBadRequest, "bad_request")
			return
		}
		name, password, ok := r.BasicAuth()
		if !ok {
			tellerFail(w, http.StatusUnauthorized, "unauthorized")
			return
		}
		t.mu.Lock()
		e := t.enrolments[name]
		dead := e == nil || e.removed
		t.mu.Unlock()
		if dead || password != "" {
			tellerFail(w, http.StatusForbidden, "forbidden")
			return
		}
		e.book.mu.Lock()
		defer e.book.mu.Unlock()
		call(w, r, e.book)
	}
}

// accounts responds successfully even if the login is broken.
func (t *Teller) accounts(w http.ResponseWriter, _ *http.Request, b *Book) {
	out := []any{}
	for _, a := range b.accounts {
		out = append(out, t.show(b, a))
	}
	answer(w, http.StatusOK, out)
}

func (t *Teller) show(b *Book, a Account) map[string]any {
	self := t.url + "/accounts/" + a.ID
	status := "open"
	if a.Closed {
		status = "closed"
	}
	return map[string]any{
		"id": a.ID, "enrollment_id": b.id, "name": a.Name, "type": a.Type, "subtype": a.Subtype, "currency": a.Currency,
		"last_four": a.Mask, "status": status,
		"institution": map[string]any{"id": "harbour_cu", "name": b.bank},
		"links": map[string]any{
			"self": self, "balances": self + "/balances",
			"transactions": self + "/transactions",
		},
	}
}

func (t *Teller) disconnect(w http.ResponseWriter, r *http.Request, _ *Book) {
	name, _, _ := r.BasicAuth()
	t.mu.Lock()
	t.enrolments[name].removed = true
	t.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// find returns the account of a path. If it returns false, it has sent the response.
func (t *Teller) find(w http.ResponseWriter, r *http.Request, b *Book) (Account, bool) {
	i := slices.IndexFunc(b.accounts, func(a Account) bool { return a.ID == r.PathValue("id") })
	switch {
	case i < 0:
		tellerFail(w, http.StatusNotFound, "not_found")
	case b.trouble != "":
		tellerFail(w, http.StatusNotFound, b.trouble)
	case b.accounts[i].Closed:
		tellerFail(w, http.StatusGone, "account.closed")
	default:
		return b.accounts[i], true
	}
	return Account{}, false
}

func (t *Teller) account(w http.ResponseWriter, r *http.Request, b *Book) {
	if a, ok := t.find(w, r, b); ok {
		answer(w, http.StatusOK, t.show(b, a))
	}
}

func (t *Teller) balances(w http.ResponseWriter, r *http.Request, b *Book) {
	if a, ok := t.find(w, r, b); ok {
		answer(w, http.StatusOK, map[string]any{
			"account_id": a.ID, "ledger": digits(a.Current),
			"available": digits(a.Available), "links": map[string]any{},
		})
	}
}

// digits prints an amount as Teller does, in a string.
func digits(a *money.Amount) any {
	if a == nil {
		return nil
	}
	return a.String()
}

func (t *Teller) transactions(w http.ResponseWriter, r *http.Request, b *Book) {
	a, ok := t.find(w, r, b)
	if !ok {
		return
	}
	q := r.URL.Query()
	rows := b.newest(a.ID)
	balances := running(a, rows)
	for name, keep := range map[string]func(day, limit string) bool{
		"start_date": func(day, limit string) bool { return day >= limit },
		"end_date":   func(day, limit string) bool { return day <= limit },
	} {
		limit := q.Get(name)
		if limit == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, limit); err != nil {
			tellerFail(w, http.StatusBadRequest, "bad_request")
			return
		}
		rows = slices.DeleteFunc(slices.Clone(rows),
			func(r Row) bool { return !keep(r.Date.Format(time.DateOnly), limit) })
	}
	if id := q.Get("from_id"); id != "" {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
		if i < 0 {
			tellerFail(w, http.StatusNotFound, "not_found")
			return
		}
		rows = rows[i+1:]
	}
	count := len(rows)
	if s := q.Get("count"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			tellerFail(w, http.StatusBadRequest, "bad_request")
			return
		}
		count = n
	}
	if t.o.MaxCount > 0 {
		count = min(count, t.o.MaxCount)
	}
	out := []any{}
	for _, row := range rows[:min(count, len(rows))] {
		out = append(out, t.row(row, a, balances[row.ID]))
	}
	answer(w, http.StatusOK, out)
}

// running returns the balance after each posted row, by the rows' ids. It starts from the current
// balance and subtracts the later rows.
func running(a Account, rows []Row) map[string]*money.Amount {
	out := make(map[string]*money.Amount, len(rows))
	if a.Current == nil {
		return out
	}
	cents := a.Current.Cents()
	for _, r := range rows {
		if r.Pending {
			continue
		}
		if balance, err := money.FromCents(cents); err == nil {
			out[r.ID] = &balance
		}
		if a.Type == "depository" {
			cents += r.Amount.Cents()
		} else {
			cents -= r.Amount.Cents()
		}
	}
	return out
}

// row prints a row with Teller's sign: depository accounts count money in as positive, cards
// charges.
func (t *Teller) row(r Row, a Account, balance *money.Amount) any {
	if r.Raw != nil {
		return r.Raw
	}
	amount := r.Amount
	if a.Type == "depository" {
		amount = amount.Neg()
	}
	status, processing := "posted", "complete"
	if r.Pending {
		status = "pending"
	}
	if r.Primary == "" {
		processing = "pending"
	}
	return map[string]any{
		"id": r.ID, "account_id": a.ID, "amount": amount.String(), "date": r.Date.Format(time.DateOnly),
		"description": r.Name, "status": status,
		"type": "card_payment", "running_balance": digits(balance),
		"links": map[string]any{"self": t.url + "/accounts/" + a.ID + "/transactions/" + r.ID},
		"details": map[string]any{
			"processing_status": processing, "category": orNull(r.Primary),
			"counterparty": map[string]any{"name": orNull(r.Merchant), "type": kindOf(r.Merchant)},
		},
	}
}

func kindOf(merchant text.Untrusted) any {
	if merchant == "" {
		return nil
	}
	return "organization"
}

// Webhook creates a signed delivery of this type.
func (t *Teller) Webhook(id, kind string, payload map[string]any) (Delivery, error) {
	now := t.Now()
	body, err := json.Marshal(map[string]any{
		"id": id, "type": kind, "payload": payload,
		"timestamp": now.UTC().Format(time.RFC3339),
	})
	if err != nil {
		return Delivery{}, err
	}
	return t.Sign(body), nil
}

// Sign signs a body as Teller does, now, once with each secret.
func (t *Teller) Sign(body []byte) Delivery {
	moment := strconv.FormatInt(t.Now().Unix(), 10)
	signature := []string{"t=" + moment}
	for _, secret := range t.o.Secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(moment + "."))
		mac.Write(body)
		signature = append(signature, "v1="+hex.EncodeToString(mac.Sum(nil)))
	}
	return Delivery{http.Header{
		"Content-Type":     {"application/json"},
		"Teller-Signature": {strings.Join(signature, ",")},
	}, body}
}
