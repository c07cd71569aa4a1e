package banks

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"coffer/internal/sim/household"
)

// PlaidOptions configure a simulator of Plaid. The zero value is usable.
type PlaidOptions struct {
	Addr      string            // a free port on loopback if empty
	ClientID  string            // "client" if empty
	Secret    string            // "secret" if empty
	Household household.Options // of the first item; each further one has the next seed
	Limits    bool              // apply Plaid's limits on calls per minute to items
}

// A Plaid simulates Plaid's sandbox.
type Plaid struct {
	server
	o      PlaidOptions
	keys   signers
	items  map[string]*item      // by access token
	public map[string]*public    // by public token
	links  map[string]*linkToken // by link token
	order  []*item
	count  int
	used   map[string]int // calls by path, item and minute
}

type item struct {
	book    *Book
	token   string
	webhook string
	synced  bool // webhooks about transactions begin with the first sync
	removed bool
	page    paging
}

type public struct {
	item *item
	made time.Time
	used bool
}

type linkToken struct {
	made       time.Time
	webhook    string
	item       *item // of update mode
	hosted     bool
	completion string
	given      []string // public tokens
	finished   time.Time
}

// A plaidError is an error code with its type and status.
type plaidError struct {
	code, kind string
	status     int
}

func (e plaidError) Error() string { return e.code }

// NewPlaid starts a simulator.
func NewPlaid(o PlaidOptions) (*Plaid, error) {
	if o.ClientID == "" {
		o.ClientID, o.Secret = "client", "secret"
	}
	p := &Plaid{
		o: o, items: make(map[string]*item), public: make(map[string]*public),
		links: make(map[string]*linkToken), used: make(map[string]int),
	}
	p.fail = func(w http.ResponseWriter, status int, code string) {
		e := coded(code)
		e.status = status
		p.refuse(w, e)
	}
	if err := p.RotateKey(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for path, call := range map[string]func(request) (any, error){
		"/link/token/create": p.linkCreate, "/link/token/get": p.linkGet, "/item/public_token/exchange": p.exchange,
		"/item/get":    p.itemGet,
		"/item/remove": p.itemRemove, "/accounts/get": p.accountsGet, "/accounts/balance/get": p.accountsGet,
		"/transactions/sync":    p.sync,
		"/transactions/refresh": p.refresh, "/webhook_verification_key/get": p.keyGet,
		"/sandbox/public_token/create": p.sandboxCreate,
		"/sandbox/item/reset_login":    p.sandboxReset, "/sandbox/item/fire_webhook": p.sandboxFire,
		"/sandbox/transactions/create": p.sandboxTransactions,
	} {
		mux.HandleFunc("POST "+path, p.handle(path, call))
	}
	mux.HandleFunc("GET /hosted/{token}", p.hostedPage)
	mux.HandleFunc("POST /hosted/{token}", p.hostedDone)
	if err := p.serve(o.Addr, nil, mux); err != nil {
		return nil, err
	}
	return p, nil
}

// A request has the members of the requests of all endpoints.
type request struct {
	AccessToken   string       `json:"access_token"`
	PublicToken   string       `json:"public_token"`
	LinkToken     string       `json:"link_token"`
	ClientName    string       `json:"client_name"`
	Language      string       `json:"language"`
	CountryCodes  []string     `json:"country_codes"`
	Products      []string     `json:"products"`
	Webhook       string       `json:"webhook"`
	Cursor        string       `json:"cursor"`
	Count         *int         `json:"count"`
	KeyID         string       `json:"key_id"`
	InstitutionID string       `json:"institution_id"`
	WebhookCode   string       `json:"webhook_code"`
	WebhookType   string       `json:"webhook_type"`
	Rows          []sandboxRow `json:"transactions"`
	Hosted        *struct {
		Completion string `json:"completion_redirect_uri"`
	} `json:"hosted_link"`
	User struct {
		ID string `json:"client_user_id"`
	} `json:"user"`
	Options struct {
		AccountIDs []string `json:"account_ids"`
		Webhook    string   `json:"webhook"`
		Original   bool     `json:"include_original_description"`
	} `json:"options"`
	path string
}

// handle checks keys, decodes the request, and responds under one lock, because requests are short.
func (p *Plaid) handle(path string, call func(request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("PLAID-CLIENT-ID") != p.o.ClientID || r.Header.Get("PLAID-SECRET") != p.o.Secret {
			p.refuse(w, coded("INVALID_API_KEYS"))
			return
		}
		var raw map[string]json.RawMessage
		in := request{path: path}
		body := http.MaxBytesReader(w, r.Body, 1<<20)
		if err := json.NewDecoder(body).Decode(&raw); err != nil {
			p.refuse(w, coded("INVALID_BODY"))
			return
		}
		if path == "/link/token/create" {
			delete(raw, "transactions") // an object for this endpoint, a list for others
		}
		whole, _ := json.Marshal(raw)
		if json.Unmarshal(whole, &in) != nil {
			p.refuse(w, coded("INVALID_FIELD"))
			return
		}
		out, err := call(in)
		if err != nil {
			e, ok := err.(plaidError) //nolint:errorlint // made here and never wrapped
			if !ok {
				e = coded("INTERNAL_SERVER_ERROR")
			}
			p.refuse(w, e)
			return
		}
		answer(w, http.StatusOK, out)
	}
}

func (p *Plaid) refuse(w http.ResponseWriter, e plaidError) {
	answer(w, e.status, map[string]any{
		"error_type": e.kind, "error_code": e.code, "error_message": "prose that is for nobody", "display_message": nil,
		"request_id": p.requestID(),
	})
}

func (p *Plaid) requestID() string { return token(15, "request", p.Now().UnixNano()) }

// kinds are the types of the error codes, except for those of type ITEM_ERROR.
var kinds = map[string]string{
	"INVALID_API_KEYS": "INVALID_INPUT", "INVALID_ACCESS_TOKEN": "INVALID_INPUT",
	"INVALID_PUBLIC_TOKEN": "INVALID_INPUT", "INVALID_LINK_TOKEN": "INVALID_INPUT",
	"INVALID_WEBHOOK_VERIFICATION_KEY_ID": "INVALID_INPUT", "ADDITIONAL_CONSENT_REQUIRED": "INVALID_INPUT",
	"UNAUTHORIZED_ENVIRONMENT": "INVALID_INPUT",
	"INVALID_PRODUCT":          "INVALID_INPUT", "PRODUCT_NOT_ENABLED": "INVALID_INPUT",
	"UNAUTHORIZED_INSTITUTION": "INVALID_INPUT",
	"INVALID_FIELD":            "INVALID_REQUEST", "MISSING_FIELDS": "INVALID_REQUEST",
	"INVALID_BODY":     "INVALID_REQUEST",
	"INSTITUTION_DOWN": "INSTITUTION_ERROR", "INSTITUTION_NOT_RESPONDING": "INSTITUTION_ERROR",
	"INSTITUTION_NOT_AVAILABLE":       "INSTITUTION_ERROR",
	"INSTITUTION_NO_LONGER_SUPPORTED": "INSTITUTION_ERROR", "INSTITUTION_REGISTRATION_REQUIRED": "INSTITUTION_ERROR",
	"UNSUPPORTED_RESPONSE":  "INSTITUTION_ERROR",
	"INTERNAL_SERVER_ERROR": "API_ERROR", "PLANNED_MAINTENANCE": "API_ERROR",
	"TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION": "TRANSACTIONS_ERROR",
	"CREDITS_EXHAUSTED":                            "RATE_LIMIT_EXCEEDED",
}

func coded(code string) plaidError {
	e := plaidError{code, kinds[code], http.StatusBadRequest}
	switch {
	case strings.Contains(code, "LIMIT"):
		e.kind, e.status = "RATE_LIMIT_EXCEEDED", http.StatusTooManyRequests
	case e.kind == "API_ERROR":
		e.status = http.StatusInternalServerError
	case e.kind == "":
		e.kind = "ITEM_ERROR"
	}
	return e
}

// token returns a deterministic id of n characters.
func token(n int, parts ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(parts...)))
	s := strings.NewReplacer("-", "a", "_", "b").Replace(base64.RawURLEncoding.EncodeToString(sum[:]))
	return s[:n]
}

// find returns the item of a token, with its book locked; done unlocks it.
func (p *Plaid) find(in request) (it *item, done func(), err error) {
	p.mu.Lock()
	it = p.items[in.AccessToken]
	removed := it != nil && it.removed
	over := it != nil && p.o.Limits && p.over(in.path, it)
	p.mu.Unlock()
	switch {
	case it == nil:
		return nil, nil, coded("INVALID_ACCESS_TOKEN")
	case removed:
		return nil, nil, coded("ITEM_NOT_FOUND")
	case over:
		return nil, nil, coded(strings.ToUpper(strings.NewReplacer("/get", "", "/", "_").Replace(in.path[1:])) +
			"_LIMIT")
	}
	it.book.mu.Lock()
	if it.book.trouble != "" {
		defer it.book.mu.Unlock()
		return nil, nil, coded(it.book.trouble)
	}
	return it, it.book.mu.Unlock, nil
}

// perMinute are Plaid's limits on calls for an item in the sandbox.
var perMinute = map[string]int{
	"/transactions/sync": 50, "/accounts/get": 100, "/accounts/balance/get": 25,
	"/item/get": 40,
}

func (p *Plaid) over(path string, it *item) bool {
	limit := perMinute[path]
	key := fmt.Sprint(path, it.token, time.Now().Add(p.skew).Unix()/60)
	p.used[key]++
	return limit > 0 && p.used[key] > limit
}

// NewItem creates an item as if a member had linked a bank, and returns its public token and the
// bank's data.
func (p *Plaid) NewItem(webhook string) (publicToken string, book *Book) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newItem(webhook)
}

func (p *Plaid) newItem(webhook string) (string, *Book) {
	o := p.o.Household
	if o.Seed += uint64(p.count); p.count > 0 {
		o.Family = time.Time{} // only one connection is the family's; every further one is another household's
	}
	p.count++
	it := &item{webhook: webhook, token: "access-sandbox-" + uuid("access", o.Seed, p.count)}
	it.book = newBook(o, "plaid", func(id string, n int) string { return token(37, id, "row", n) })
	p.items[it.token] = it
	p.order = append(p.order, it)
	name := "public-sandbox-" + uuid("public", o.Seed, p.count)
	p.public[name] = &public{item: it, made: time.Now().Add(p.skew)}
	return name, it.book
}

func uuid(parts ...any) string {
	s := fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(parts...))))
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:32]
}

// Book returns the bank's data for an item; nil if there is no such item.
func (p *Plaid) Book(itemID string) *Book {
	if it := p.byID(itemID); it != nil {
		return it.book
	}
	return nil
}

// Books returns the banks' data of all items, in the order in which they were linked.
func (p *Plaid) Books() []*Book {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*Book
	for _, it := range p.order {
		out = append(out, it.book)
	}
	return out
}

func (p *Plaid) byID(itemID string) *item {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, it := range p.order {
		if it.book.id == itemID {
			return it
		}
	}
	return nil
}
