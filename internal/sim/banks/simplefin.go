package banks

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/sim/household"
)

// SimpleFINOptions configure a simulator of a SimpleFIN server. The zero value is usable.
type SimpleFINOptions struct {
	Addr      string            // a free port on loopback if empty
	Household household.Options // of the first access; each further one has the next seed
	First     bool              // supports only the first version of the protocol
	Quota     int               // requests in 24 hours; further ones get 429; 0 is no limit
}

// A SimpleFIN simulates a SimpleFIN server. One access gives access to the accounts of two banks.
type SimpleFIN struct {
	server
	o      SimpleFINOptions
	tokens map[string]bool      // setup tokens that can be claimed
	again  map[string]*accessed // renewal tokens, with the access that they renew
	users  map[string]*accessed
	order  []*accessed
}

// An accessed is the data behind an access URL.
type accessed struct {
	name, password string
	books          []*Book
	trouble        map[*Book]map[string]string // codes by account; "" means the whole bank
	general        string                      // a code about the whole access
	status         int                         // sent in place of data; 0 for none
	asked          []time.Time
}

// simpleFINDays is the maximum number of days that a response covers.
const simpleFINDays = 90

// NewSimpleFIN starts a simulator.
func NewSimpleFIN(o SimpleFINOptions) (*SimpleFIN, error) {
	s := &SimpleFIN{o: o, tokens: map[string]bool{}, again: map[string]*accessed{}, users: map[string]*accessed{}}
	s.fail = func(w http.ResponseWriter, status int, code string) {
		answer(w, status, map[string]any{"errlist": []any{map[string]any{"code": code, "msg": "prose"}}})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /create", s.create)
	mux.HandleFunc("POST /create", s.created)
	mux.HandleFunc("POST /simplefin/claim/{token}", s.claim)
	mux.HandleFunc("GET /simplefin/accounts", s.accounts)
	mux.HandleFunc("GET /simplefin/info", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"versions": []string{"1.0"}})
	})
	err := s.serve(o.Addr, nil, mux)
	return s, err
}

// SetupToken creates a setup token, which can be claimed once.
func (s *SimpleFIN) SetupToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := token(20, "setup", s.o.Household.Seed+uint64(len(s.tokens)))
	s.tokens[n] = true
	return base64.StdEncoding.EncodeToString([]byte(s.url + "/simplefin/claim/" + n))
}

// RenewalToken creates a setup token for the same banks as the newest access, and ends that access.
func (s *SimpleFIN) RenewalToken() string {
	u, made := s.newest(), s.SetupToken()
	plain, _ := base64.StdEncoding.DecodeString(made) // it was just encoded
	s.locked(func() { s.again[string(plain[strings.LastIndex(string(plain), "/")+1:])] = u })
	return made
}

// Books returns the banks of the newest access, or nil if none was claimed.
func (s *SimpleFIN) Books() []*Book {
	if u := s.newest(); u != nil {
		return u.books
	}
	return nil
}

// AllBooks returns the banks of every access.
func (s *SimpleFIN) AllBooks() []*Book {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Book
	for _, u := range s.order {
		out = append(out, u.books...)
	}
	return out
}

func (s *SimpleFIN) newest() *accessed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return nil
	}
	return s.order[len(s.order)-1]
}

// Secrets returns the values that give access to the newest access's data. They must not be shown
// anywhere.
func (s *SimpleFIN) Secrets() []string {
	u := s.newest()
	return []string{u.name, u.password}
}

// Refuse makes the newest access respond with this status; 0 ends that.
func (s *SimpleFIN) Refuse(status int) { u := s.newest(); s.locked(func() { u.status = status }) }

// Trouble adds an error with this code, about the whole access, to its responses; "" ends that.
func (s *SimpleFIN) Trouble(code string) { u := s.newest(); s.locked(func() { u.general = code }) }

// TroubleAt adds an error with this code, about a bank or one of its accounts, to the responses of
// the newest access, and leaves out the newest rows there; "" ends that.
func (s *SimpleFIN) TroubleAt(b *Book, account, code string) {
	u := s.newest()
	s.locked(func() {
		if u.trouble[b] == nil {
			u.trouble[b] = map[string]string{}
		}
		if u.trouble[b][account] = code; code == "" {
			delete(u.trouble[b], account)
		}
	})
}

func (s *SimpleFIN) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Requests counts the requests for accounts of the newest access within the last 24 hours.
func (s *SimpleFIN) Requests() int {
	u := s.newest()
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(u.asked)
}

// Forget resets the count of requests, as after a day.
func (s *SimpleFIN) Forget() { u := s.newest(); s.locked(func() { u.asked = nil }) }

// Reissue gives the posted rows of an account new ids without changing anything else, and returns
// how many rows there were.
func (b *Book) Reissue(account string, since time.Time) int {
	n := 0
	for _, r := range b.Rows() {
		if r.AccountID != account || r.Pending || r.Raw != nil || r.Date.Before(since) {
			continue
		}
		b.Remove(r.ID)
		r.ID = ""
		b.Add(r)
		n++
	}
	return n
}

// claim returns the access URL for a setup token, once.
func (s *SimpleFIN) claim(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := r.PathValue("token"); !s.tokens[name] || r.ContentLength != 0 {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	s.tokens[r.PathValue("token")] = false
	if u := s.again[r.PathValue("token")]; u != nil {
		delete(s.users, u.name)
		u.name, u.password, u.status = token(24, "user", u.name), token(32, "password", u.password), 0
		s.users[u.name] = u
		s.grant(w, u)
		return
	}
	o := s.o.Household
	n := uint64(len(s.order))
	if o.Seed += n; n > 0 {
		o.Family = time.Time{} // there is one family, and whatever else is linked is another household's
	}
	u := &accessed{
		name: token(24, "user", o.Seed), password: token(32, "password", o.Seed),
		trouble: map[*Book]map[string]string{},
	}
	for _, provider := range []string{"teller", "plaid"} {
		u.books = append(u.books, newBook(o, provider, func(_ string, n int) string {
			sum := sha256.Sum256(fmt.Appendf(nil, "row %d", n))
			return "TRN-" + hex.EncodeToString(sum[:8]) // the same id in both banks
		}))
	}
	s.order = append(s.order, u)
	s.users[u.name] = u
	s.grant(w, u)
}

func (s *SimpleFIN) grant(w http.ResponseWriter, u *accessed) {
	_, _ = fmt.Fprintf(w, "http://%s:%s@%s/simplefin\n", u.name, u.password, strings.TrimPrefix(s.url, "http://"))
}

// enter returns the access of a request. If it returns nil, it has sent the response.
func (s *SimpleFIN) enter(w http.ResponseWriter, r *http.Request) *accessed {
	name, password, _ := r.BasicAuth()
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if u == nil || u.password != password {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return nil
	}
	if u.status != 0 {
		http.Error(w, http.StatusText(u.status), u.status)
		return nil
	}
	u.asked = slices.DeleteFunc(u.asked, func(t time.Time) bool { return now.Sub(t) >= 24*time.Hour })
	if u.asked = append(u.asked, now); s.o.Quota > 0 && len(u.asked) > s.o.Quota {
		http.Error(w, "Too Many Requests", http.StatusTooManyRequests)
		return nil
	}
	return u
}

// A reading is a parsed request for accounts.
type reading struct {
	second   bool // the protocol's second version
	from, to time.Time
	pending  bool
	rows     bool
	only     []string
	capped   bool
}

func (s *SimpleFIN) read(r *http.Request) reading {
	q := r.URL.Query()
	at := func(name string) time.Time {
		n, err := strconv.ParseInt(q.Get(name), 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.Unix(n, 0)
	}
	out := reading{
		second: q.Get("version") == "2" && !s.o.First, from: at("start-date"), to: at("end-date"),
		pending: q.Get("pending") == "1", rows: q.Get("balances-only") != "1", only: q["account"],
	}
	if out.from.IsZero() { // without a start, only rows from yesterday on
		out.from = s.Now().Add(-24 * time.Hour)
	}
	end := out.to
	if end.IsZero() {
		end = s.Now()
	}
	if earliest := end.AddDate(0, 0, -simpleFINDays); out.from.Before(earliest) {
		out.from, out.capped = earliest, true
	}
	return out
}

func (s *SimpleFIN) accounts(w http.ResponseWriter, r *http.Request) {
	u := s.enter(w, r)
	if u == nil {
		return
	}
	ask := s.read(r)
	accounts, connections, faults := []any{}, []any{}, []any{}
	fault := func(code, conn, account string) {
		faults = append(faults, fault(ask.second, code, conn, account, u.books))
	}
	s.mu.Lock()
	general := u.general
	trouble := maps.Clone(u.trouble)
	s.mu.Unlock()
	if general != "" {
		fault(general, "", "")
	}
	if ask.capped && ask.second {
		fault("gen.api", "", "")
	}
	for i, b := range u.books {
		conn := fmt.Sprintf("CON-%d", i+1)
		b.mu.Lock()
		connections = append(connections, map[string]any{
			"conn_id": conn, "name": b.bank, "org_id": "ORG-" + conn, "sfin_url": s.url + "/simplefin",
		})
		if code := trouble[b][""]; code != "" {
			fault(code, conn, "")
		}
		for _, a := range b.accounts {
			if len(ask.only) > 0 && !slices.Contains(ask.only, a.ID) {
				continue
			}
			code := trouble[b][a.ID]
			if code != "" {
				fault(code, conn, a.ID)
			}
			accounts = append(accounts, s.show(b, a, conn, ask, code != "" || trouble[b][""] != ""))
		}
		b.mu.Unlock()
	}
	out := map[string]any{"accounts": accounts}
	if ask.second {
		out["errlist"], out["connections"] = faults, connections
	} else {
		out["errors"] = faults
	}
	answer(w, http.StatusOK, out)
}

// fault returns one error: an object with a code, or in the first version a sentence. Some errors
// have the sentence in the member that the protocol's examples use, instead of the specified one.
func fault(second bool, code, conn, account string, books []*Book) any {
	about := ""
	for i, b := range books {
		if conn == fmt.Sprintf("CON-%d", i+1) {
			about = b.bank.Plain()
		}
	}
	if !second {
		switch {
		case about == "":
			return "You must reauthenticate."
		case strings.HasSuffix(code, ".auth"):
			return "Connection to " + about + " may need attention"
		}
		return "Data of " + about + " couldn't be read"
	}
	out := map[string]any{"code": code, "msg": "prose that is for nobody"}
	if code == "gen.api" {
		out["message"] = "Requested date range exceeds limit of 90 days and was capped."
		delete(out, "msg")
	}
	if conn != "" {
		out["conn_id"] = conn
	}
	if account != "" {
		out["account_id"] = account
	}
	return out
}

// show returns an account with its rows. An account in trouble lacks its newest rows.
func (s *SimpleFIN) show(b *Book, a Account, conn string, ask reading, stale bool) any {
	out := map[string]any{
		"id": a.ID, "name": a.Name, "currency": a.Currency, "balance": asset(a, a.Current),
		"balance-date": s.Now().Unix(), "transactions": []any{},
	}
	if a.Available != nil {
		out["available-balance"] = a.Available.String()
	}
	if ask.second {
		out["conn_id"] = conn
	} else {
		out["org"] = map[string]any{"id": conn, "name": b.bank, "domain": "bank.example", "sfin-url": s.url}
	}
	if !ask.rows {
		return out
	}
	rows := []any{}
	for _, r := range b.newest(a.ID) {
		noon := r.Date.Add(12 * time.Hour)
		if stale && noon.After(s.Now().AddDate(0, 0, -7)) {
			continue
		}
		in := !noon.Before(ask.from) && (ask.to.IsZero() || noon.Before(ask.to))
		if r.Pending && ask.pending || !r.Pending && in {
			rows = append(rows, simpleFINRow(r, noon))
		}
	}
	out["transactions"] = rows
	return out
}

// asset returns a balance as money in the account: debts are negative.
func asset(a Account, balance *money.Amount) string {
	switch {
	case balance == nil:
		return "0.00"
	case a.Type == "credit" || a.Type == "loan":
		return balance.Neg().String()
	}
	return balance.String()
}

// mccs are the card networks' codes for some of the household's categories.
var mccs = map[string]string{
	"groceries": "5411", "dining": "5812", "fuel": "5541", "transport": "4111", "transportation": "4111",
	"clothing": "5651", "health": "5912", "entertainment": "7832", "phone": "4814", "utilities": "4900",
}

func simpleFINRow(r Row, noon time.Time) any {
	if r.Raw != nil {
		return r.Raw
	}
	out := map[string]any{
		"id": r.ID, "posted": noon.Unix(), "amount": r.Amount.Neg().String(), "description": r.Name,
		"transacted_at": noon.Unix(), "mcc": nil,
	}
	if r.Pending {
		out["posted"], out["pending"] = 0, true
	}
	if r.Merchant != "" {
		out["payee"] = r.Merchant
	}
	if r.Detail != "" {
		out["memo"] = r.Detail
	}
	if code := mccs[r.Primary.Plain()]; code != "" && !r.Pending {
		out["mcc"] = code
	}
	return out
}

// create shows the page where a person gets a setup token.
func (s *SimpleFIN) create(w http.ResponseWriter, _ *http.Request) {
	showPage(w, "create", nil)
}

func (s *SimpleFIN) created(w http.ResponseWriter, _ *http.Request) {
	showPage(w, "setup", s.SetupToken())
}
