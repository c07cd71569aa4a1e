package banks

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/internal/sim/household"
)

// EnableBankingOptions configure a simulator of Enable Banking. The zero value is usable.
type EnableBankingOptions struct {
	Addr      string            // a free port on loopback if empty
	Household household.Options // of the first bank; each further one has the next seed
	PageSize  int               // rows per page; 50 if zero
	Daily     int               // how often an account may be read in 24 hours without a person; 0 is no limit
}

// An EnableBanking simulates Enable Banking and the banks behind it.
type EnableBanking struct {
	server
	o         EnableBankingOptions
	key       *rsa.PrivateKey
	consents  map[string]*consent // by the code in the address to which the bank's page returns, or by their own id
	customers map[string]*customer
	sessions  map[string]*euSession
	order     []*euSession
	made      int
	people    []http.Header // of calls for accounts with a person's headers
	alone     int           // number of calls for accounts without them
}

// A consent is one visit to the bank's page.
type consent struct {
	bank            aspsp
	state, redirect string
	until           time.Time
	code            string
}

type euSession struct {
	id       string
	customer *customer
	status   string
	until    time.Time
	accounts map[string]string // by uid
}

// How a bank can mishandle continuation keys, for [EnableBanking.Keys].
const (
	KeysIgnored  = "ignored"  // the first page is sent again, with another key
	KeysRepeated = "repeated" // the next page has the same key as the request
	KeysRejected = "rejected" // the bank rejects its own key
)

// NewEnableBanking starts a simulator.
func NewEnableBanking(o EnableBankingOptions) (*EnableBanking, error) {
	key, err := applicationKey()
	if err != nil {
		return nil, err
	}
	s := &EnableBanking{
		o: o, key: key, consents: map[string]*consent{}, customers: map[string]*customer{},
		sessions: map[string]*euSession{},
	}
	s.o.PageSize = cmp.Or(o.PageSize, 50)
	s.fail = euFail
	mux := http.NewServeMux()
	for route, do := range map[string]func(http.ResponseWriter, *http.Request){
		"GET /application": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, map[string]any{"name": "coffer", "kid": s.Application(), "active": true})
		},
		"GET /aspsps":                      s.aspsps,
		"POST /auth":                       s.auth,
		"POST /sessions":                   s.open,
		"GET /sessions/{id}":               s.session,
		"DELETE /sessions/{id}":            s.end,
		"GET /accounts/{uid}/balances":     s.balances,
		"GET /accounts/{uid}/transactions": s.transactions,
	} {
		mux.HandleFunc(route, s.signed(do))
	}
	mux.HandleFunc("GET /consent/{id}", s.consentPage)
	mux.HandleFunc("POST /consent/{id}", s.consented)
	err = s.serve(o.Addr, nil, mux)
	return s, err
}

// applicationKey is one key for all simulators of the program, because creating a key takes long.
var applicationKey = sync.OnceValues(func() (*rsa.PrivateKey, error) {
	return rsa.GenerateKey(rand.Reader, 2048)
})

// Application returns the id of the registered application.
func (s *EnableBanking) Application() string { return "5a3d0000-0000-4000-8000-00000000eb01" }

// Key returns the application's private key, in PEM.
func (s *EnableBanking) Key() string {
	raw, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		panic(err) // an RSA key always encodes
	}
	return string(block("PRIVATE KEY", raw))
}

func euFail(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{"code": status, "error": code, "message": "prose that is for nobody"})
}

// newest returns the newest session; nil if there is none.
func (s *EnableBanking) newest() *euSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return nil
	}
	return s.order[len(s.order)-1]
}

// Book returns the book of the newest session's customer; nil if there is none.
func (s *EnableBanking) Book() *Book {
	if x := s.newest(); x != nil {
		return x.customer.book
	}
	return nil
}

// AllBooks returns the books of all customers.
func (s *EnableBanking) AllBooks() []*Book {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Book
	for _, x := range s.order {
		if !slices.Contains(out, x.customer.book) {
			out = append(out, x.customer.book)
		}
	}
	return out
}

// Secrets returns the values that give access to the newest session. They must not be shown
// anywhere.
func (s *EnableBanking) Secrets() []string {
	x := s.newest()
	out := []string{x.id}
	for uid := range x.accounts {
		out = append(out, uid)
	}
	return out
}

// Status sets the status of the newest session, such as EXPIRED or AUTHORIZED.
func (s *EnableBanking) Status(status string) {
	x := s.newest()
	s.locked(func() { x.status = status })
}

// Deny makes the bank deny or allow access to an account of the newest session's customer.
func (s *EnableBanking) Deny(account string, denied bool) {
	x := s.newest()
	s.locked(func() { x.customer.denied[account] = denied })
}

// Keys makes the bank of the newest session mishandle continuation keys in one of the ways above;
// "" makes it handle them properly.
func (s *EnableBanking) Keys(way string) { x := s.newest(); s.locked(func() { x.customer.keys = way }) }

// Lists limits the rows that the bank of the newest session lists to that many days; 0 is no limit.
func (s *EnableBanking) Lists(days int) { x := s.newest(); s.locked(func() { x.customer.days = days }) }

// Renumber gives all rows of the newest session's customer new references.
func (s *EnableBanking) Renumber() { x := s.newest(); s.locked(func() { x.customer.renamed++ }) }

// Reads returns how many calls for accounts had a person's headers and how many did not, and the
// last headers of a person.
func (s *EnableBanking) Reads() (with, without int, last http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.people); n > 0 {
		last = s.people[n-1]
	}
	return len(s.people), s.alone, last
}

func (s *EnableBanking) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Visit acts as a member who opens the bank's page and shares everything, or leaves. It returns the
// address to which the browser is redirected.
func (s *EnableBanking) Visit(ctx context.Context, page string, leave bool) (string, error) {
	form := url.Values{}
	if leave {
		form.Set("leave", "yes")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	_ = res.Body.Close()
	if to := res.Header.Get("Location"); to != "" {
		return to, nil
	}
	return "", errors.New("banksim: the bank's page leads nowhere")
}

// An aspsp is a bank in the list.
type aspsp struct {
	Name    string   `json:"name"`
	Country string   `json:"country"`
	BIC     string   `json:"bic"`
	Consent int      `json:"maximum_consent_validity"`
	Users   []string `json:"psu_types"`
	Beta    bool     `json:"beta"`
}

// aspspsOf returns the banks of a country: some by name, and in Germany so many that lists need
// pages.
func aspspsOf(country string) []aspsp {
	named := map[string][]string{
		"DE": {"Musterbank", "Förde Sparkasse (Beispiel)", "Beispielbank AG"},
		"FR": {"Banque de l'Exemple", "Crédit Modèle"},
		"GB": {"Harbour Bank", "Example Building Society"},
		"FI": {"Esimerkkipankki"}, "NL": {"Voorbeeldbank"}, "ES": {"Banco de Ejemplo"},
	}[country]
	if country == "DE" {
		for i := range 120 {
			named = append(named, fmt.Sprintf("Volksbank Musterkreis %03d", i+1))
		}
	}
	out := []aspsp{}
	for i, n := range named {
		out = append(out, aspsp{
			Name: n, Country: country, BIC: "XXXX" + country + "22", Consent: 180 * 24 * 60 * 60,
			Users: []string{"personal", "business"}, Beta: i == 2,
		})
		if i%3 == 1 {
			out[i].Consent = 90 * 24 * 60 * 60
		}
	}
	if len(out) > 0 {
		out = append(out, aspsp{Name: "Company Bank", Country: country, Consent: 7776000, Users: []string{"business"}})
	}
	return out
}

func (s *EnableBanking) aspsps(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, map[string]any{"aspsps": aspspsOf(r.URL.Query().Get("country"))})
}

// auth starts a consent.
func (s *EnableBanking) auth(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Access struct {
			ValidUntil time.Time `json:"valid_until"`
		} `json:"access"`
		ASPSP    aspsp  `json:"aspsp"`
		State    string `json:"state"`
		Redirect string `json:"redirect_url"`
		User     string `json:"psu_type"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.State == "" || in.User != "personal" {
		s.fail(w, http.StatusUnprocessableEntity, "WRONG_REQUEST_PARAMETERS")
		return
	}
	banks := aspspsOf(in.ASPSP.Country)
	at := slices.IndexFunc(banks, func(a aspsp) bool { return a.Name == in.ASPSP.Name })
	back, err := url.Parse(in.Redirect)
	switch {
	case at < 0:
		s.fail(w, http.StatusUnprocessableEntity, "ASPSP_NOT_FOUND")
		return
	case err != nil || back.Host == "" || back.Path != "/link/return":
		s.fail(w, http.StatusBadRequest, "REDIRECT_URI_NOT_ALLOWED")
		return
	case in.Access.ValidUntil.After(s.Now().Add(time.Duration(banks[at].Consent)*time.Second - time.Hour)):
		s.fail(w, http.StatusUnprocessableEntity, "WRONG_VALIDITY") // the bank's clock differs
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	id := token(24, "consent", s.o.Household.Seed, s.made)
	s.consents[id] = &consent{bank: banks[at], state: in.State, redirect: in.Redirect, until: in.Access.ValidUntil}
	answer(w, http.StatusOK, map[string]any{"url": s.url + "/consent/" + id, "authorization_id": id})
}

func (s *EnableBanking) consentPage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := s.consents[r.PathValue("id")]
	s.mu.Unlock()
	if c == nil {
		http.NotFound(w, r)
		return
	}
	showPage(w, "hosted", c.bank.Name)
}

func (s *EnableBanking) consented(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.consents[r.PathValue("id")]
	if c == nil {
		http.NotFound(w, r)
		return
	}
	query := url.Values{"state": {c.state}}
	if r.FormValue("leave") != "" {
		query.Set("error", "access_denied")
		query.Set("error_description", "prose that is for nobody")
	} else {
		s.made++
		c.code = token(32, "code", s.o.Household.Seed, s.made)
		s.consents[c.code] = c
		query.Set("code", c.code)
	}
	http.Redirect(w, r, c.redirect+"?"+query.Encode(), http.StatusSeeOther)
}

// open exchanges a code for a session, once.
func (s *EnableBanking) open(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	s.mu.Lock()
	c := s.consents[in.Code]
	if err != nil || c == nil || c.code == "" || c.code != in.Code {
		s.mu.Unlock()
		s.fail(w, http.StatusBadRequest, "WRONG_AUTHORIZATION_CODE")
		return
	}
	delete(s.consents, in.Code)
	name := c.bank.Country + c.bank.Name
	who := s.customers[name]
	if who == nil {
		who = s.newCustomer(c.bank)
		s.customers[name] = who
	}
	s.made++
	x := &euSession{
		id: token(24, "session", s.o.Household.Seed, s.made), customer: who, status: "AUTHORIZED", until: c.until,
		accounts: map[string]string{},
	}
	accounts := []any{}
	for i, a := range who.book.accounts {
		uid := token(24, "uid", s.o.Household.Seed, s.made, i)
		x.accounts[uid] = a.ID
		accounts = append(accounts, euAccount(a, uid))
	}
	s.sessions[x.id] = x
	s.order = append(s.order, x)
	s.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{
		"session_id": x.id, "accounts": accounts, "aspsp": c.bank, "psu_type": "personal",
		"access": map[string]any{"valid_until": c.until.UTC().Format("2006-01-02T15:04:05.000000-07:00")},
	})
}

// state returns the current status of a session.
func (s *EnableBanking) state(x *euSession) string {
	if x.status == "AUTHORIZED" && time.Now().Add(s.skew).After(x.until) {
		return "EXPIRED"
	}
	return x.status
}

func (s *EnableBanking) session(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	x := s.sessions[r.PathValue("id")]
	var status string
	if x != nil {
		status = s.state(x)
	}
	s.mu.Unlock()
	if x == nil {
		s.fail(w, http.StatusNotFound, "SESSION_DOES_NOT_EXIST")
		return
	}
	answer(w, http.StatusOK, map[string]any{"status": status, "aspsp": x.customer.bank})
}

func (s *EnableBanking) end(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.sessions[r.PathValue("id")]
	if x == nil || s.state(x) != "AUTHORIZED" {
		s.fail(w, http.StatusUnprocessableEntity, "CLOSED_SESSION")
		return
	}
	x.status = "CLOSED"
	answer(w, http.StatusOK, map[string]any{"message": "OK"})
}

// enter returns the account of a call. If it returns false, it has sent the response. first means
// that the call starts to read the account, and so counts toward the daily limit.
func (s *EnableBanking) enter(w http.ResponseWriter, r *http.Request, first bool) (*customer, Account, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid := r.PathValue("uid")
	var x *euSession
	for _, each := range s.sessions {
		if each.accounts[uid] != "" {
			x = each
		}
	}
	if x == nil {
		s.fail(w, http.StatusNotFound, "ACCOUNT_DOES_NOT_EXIST")
		return nil, Account{}, false
	}
	if status := s.state(x); status != "AUTHORIZED" {
		s.fail(w, http.StatusUnauthorized, status+"_SESSION")
		return nil, Account{}, false
	}
	c, account := x.customer, x.accounts[uid]
	if c.denied[account] {
		s.fail(w, http.StatusForbidden, "FORBIDDEN")
		return nil, Account{}, false
	}
	if r.Header.Get("Psu-Ip-Address") != "" {
		s.people = append(s.people, r.Header.Clone())
	} else {
		s.alone++
		now := time.Now().Add(s.skew)
		c.asked[account] = slices.DeleteFunc(c.asked[account],
			func(t time.Time) bool { return now.Sub(t) >= 24*time.Hour })
		if first {
			c.asked[account] = append(c.asked[account], now)
		}
		if s.o.Daily > 0 && len(c.asked[account]) > s.o.Daily {
			s.fail(w, http.StatusTooManyRequests, "ASPSP_RATE_LIMIT_EXCEEDED")
			return nil, Account{}, false
		}
	}
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	return c, c.book.account(account), true
}
