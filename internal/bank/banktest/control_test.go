package banktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// toyPage is the number of rows on a page of the toy.
const toyPage = 50

// A toy is a provider and its bank in one. It keeps every promise of the contract, except the one
// that defect names.
type toy struct {
	defect string

	mu      sync.Mutex
	rows    []bank.Transaction
	made    int // number of rows so far
	spoilt  bool
	broken  bool
	revoked bool
	churned bool
	fault   banktest.Fault
	pulls   int
}

func (p *toy) Name() string { return "toy" }

func (p *toy) Traits() bank.Traits {
	t := bank.Traits{Title: "Toy", Shape: bank.Window, PageSize: toyPage, WindowDays: 400, MinInterval: time.Minute}
	if p.defect == "traits" {
		t.WindowDays = 0
	}
	return t
}

func (p *toy) Accounts(_ context.Context, c bank.Credentials) ([]bank.Account, error) {
	if string(c) != "toy" {
		return nil, &bank.Error{Class: bank.Ours}
	}
	_, out := p.Truth()
	if p.defect == "accounts" {
		out[0].Type = bank.Loan
	}
	return out, nil
}

// fails returns the error of a call, or nil.
func (p *toy) fails(ctx context.Context) error {
	fault := p.fault
	p.fault = ""
	switch {
	case ctx.Err() != nil && p.defect != "canceled":
		return &bank.Error{Class: bank.Later, Cause: ctx.Err()}
	case p.revoked && p.defect != "revoking":
		return &bank.Error{Class: bank.Permanent, Code: "GONE"}
	case fault != "" && p.defect == "faults":
		return &bank.Error{Class: bank.Permanent, Code: "FAULT"}
	case fault != "":
		return &bank.Error{Class: bank.Later, Code: "FAULT", RetryAfter: 7 * time.Second}
	case p.broken && p.defect == "reauth":
		return &bank.Error{Class: bank.Later, Code: "LOGIN", Advice: "canary"}
	case p.broken:
		return &bank.Error{Class: bank.Reauth, Code: "LOGIN", Advice: "sign in"}
	}
	return nil
}

func (p *toy) Pull(ctx context.Context, _ bank.Credentials, at bank.Position) (bank.Page, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fails(ctx); err != nil {
		return bank.Page{}, err
	}
	rows := slices.Clone(p.rows)
	p.pulls++
	switch {
	case p.defect == "loss", p.defect == "midway" && p.churned, p.defect == "together" && p.pulls == 2:
		rows = rows[1:]
	case p.defect == "sign":
		rows[0].Amount = rows[0].Amount.Neg()
	case p.defect == "ghost":
		rows = append(rows, bank.Transaction{ProviderID: "ghost", AccountID: "a"})
	case p.defect == "twice":
		rows = slices.Insert(rows, 0, rows[0])
	case p.defect == "no end":
		return bank.Page{Transactions: rows[:1], Next: "n"}, nil
	}
	start, _ := strconv.Atoi(at.Next) // "" is 0
	end := min(start+toyPage, len(rows))
	page := bank.Page{Transactions: rows[min(start, end):end]}
	if p.spoilt && start == 0 && p.defect != "bad rows" {
		page.Bad = []bank.Bad{{ProviderID: "spoilt", AccountID: "a", Reason: bank.BadDate, Raw: bank.Raw(`{}`)}}
	}
	if page.Last = end == len(rows); !page.Last {
		page.Next = strconv.Itoa(end)
	} else if p.defect != "removal" {
		page.Complete = []bank.Extent{{AccountID: "a"}}
	}
	return page, nil
}

func (p *toy) Revoke(context.Context, bank.Credentials) error { p.revoked = true; return nil }

func (p *toy) Balances(_ context.Context, _ bank.Credentials, accounts []string) ([]bank.Account, error) {
	_, all := p.Truth()
	if p.defect == "balances" {
		all[0].Current = nil
	}
	return slices.DeleteFunc(all, func(a bank.Account) bool {
		return len(accounts) > 0 && !slices.Contains(accounts, a.ProviderID)
	}), nil
}

func (p *toy) Truth() ([]bank.Transaction, []bank.Account) {
	return p.rows, []bank.Account{
		{ProviderID: "a", Type: bank.Depository, Currency: "EUR", Current: new(money.MustParse("5.00"))},
		{ProviderID: "b", Type: bank.Depository, Currency: "EUR", Current: new(money.MustParse("6.00"))},
	}
}

func (p *toy) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		p.made++
		p.rows = append(p.rows, bank.Transaction{
			ProviderID: fmt.Sprint("r", p.made), AccountID: "a", Amount: money.MustParse("1.00"),
			Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		})
	}
}
func (p *toy) Churn()                    { p.rows, p.churned = p.rows[1:], true }
func (p *toy) Spoil() string             { p.spoilt = true; return "spoilt" }
func (p *toy) Break()                    { p.broken = true }
func (p *toy) Repair()                   { p.broken = false }
func (p *toy) Fault(kind banktest.Fault) { p.fault = kind }
func (p *toy) Webhook(time.Duration) (http.Header, []byte) {
	return http.Header{"Sig": {"good-signature"}}, []byte(`{"a":1}`)
}

// gullible is a toy that accepts every webhook event.
type gullible struct{ *toy }

func (gullible) Verify(context.Context, http.Header, []byte) (bank.Event, error) {
	return bank.Event{ID: "1", ConnectionID: "c", Effect: bank.Sync}, nil
}

// A toyDesk is a toy whose members choose a bank and sign in on its page.
type toyDesk struct {
	*toy
	sessions int
	state    string          // of the newest session
	codes    map[string]bool // not yet exchanged
	named    []http.Header
	without  int
}

func (d *toyDesk) Traits() bank.Traits {
	t := d.toy.Traits()
	t.DailyCalls, t.PerLoop = 4, true
	return t
}

func (d *toyDesk) Institutions(_ context.Context, country string) ([]bank.Institution, error) {
	of := func(id, name string) bank.Institution {
		return bank.Institution{ID: id, Name: text.Name(name), Country: d.Country()}
	}
	switch {
	case d.defect == "no banks", country != d.Country() && d.defect != "every country":
		return nil, nil
	case d.defect == "one id":
		return []bank.Institution{of("1", "One"), of("1", "Two")}, nil
	case d.defect == "no name":
		return []bank.Institution{of("1", ""), of("2", "Two")}, nil
	}
	return []bank.Institution{of("1", "One"), of("2", "Two")}, nil
}

func (d *toyDesk) Session(_ context.Context, r bank.LinkRequest) (bank.Session, error) {
	if r.Institution != "1" && r.Institution != "2" && d.defect != "any bank" {
		return bank.Session{}, errors.New("no such bank")
	}
	d.sessions++
	d.state = fmt.Sprint("state", d.sessions)
	if d.defect == "one state" {
		d.state = "state"
	}
	query := url.Values{"to": {r.Redirect}}
	if d.defect == "state in the address" {
		query.Set("state", d.state)
	}
	return bank.Session{Token: d.state, URL: "https://bank.example/?" + query.Encode()}, nil
}

func (d *toyDesk) Visit(_ context.Context, page string, leave bool) (string, error) {
	u, err := url.Parse(page)
	if err != nil {
		return "", err
	}
	query, code := url.Values{"state": {d.state}}, fmt.Sprint("code", d.sessions)
	if d.defect == "another session" {
		query.Set("state", "of-another")
	}
	if leave {
		query.Set("error", "left")
	} else {
		query.Set("code", code)
		d.codes[code] = true
	}
	to := u.Query().Get("to")
	if d.defect == "another place" {
		to = "https://elsewhere.example/"
	}
	return to + "?" + query.Encode(), nil
}

func (d *toyDesk) Exchange(_ context.Context, _ string, given json.RawMessage) (bank.Linked, error) {
	var in struct{ Code, Error string }
	if err := json.Unmarshal(given, &in); err != nil {
		return bank.Linked{}, err
	}
	if (in.Error != "" || !d.codes[in.Code]) && d.defect != "anybody" {
		return bank.Linked{}, &bank.Error{Class: bank.Permanent, Code: "LEFT"}
	}
	if d.defect != "one sign-in, two connections" {
		delete(d.codes, in.Code)
	}
	out := bank.Linked{
		Credentials: bank.Credentials("toy" + in.Code), InstitutionID: "1", InstitutionName: text.Name("One"),
		ConsentEnds: time.Now().Add(time.Hour),
	}
	switch d.defect {
	case "another bank":
		out.InstitutionID = "2"
	case "no end of consent":
		out.ConsentEnds = time.Time{}
	case "the old credentials":
		out.Credentials = bank.Credentials("toy")
	}
	return out, nil
}

func (d *toyDesk) Relink(ctx context.Context, _ bank.Credentials, r bank.LinkRequest) (bank.Session, error) {
	r.Institution = "1"
	return d.Session(ctx, r)
}

func (d *toyDesk) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	d.attends(at.Person)
	page, err := d.toy.Pull(ctx, c, at)
	if d.defect == "accounts of the session" {
		for i := range page.Transactions {
			page.Transactions[i].AccountID = string(c)
		}
	}
	return page, err
}

// attends records the person who waits.
func (d *toyDesk) attends(p *bank.Person) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case p == nil && d.defect != "a person who is not there":
		d.without++
	case d.defect == "nobody is named":
		d.without++
	case d.defect == "the address alone":
		d.named = append(d.named, http.Header{"Ip": {p.Address.String()}})
	case p == nil:
		d.named = append(d.named, http.Header{"Ip": {"9.9.9.9"}, "Agent": {"Firefox"}})
	default:
		d.named = append(d.named, http.Header{"Ip": {p.Address.String()}, "Agent": {p.Agent}})
	}
}

func (d *toyDesk) Country() string              { return "DE" }
func (d *toyDesk) People() ([]http.Header, int) { return d.named, d.without }

// TestSuiteFindsDefects is the control: a provider without defects passes every check, and each
// defect is found by its check. Every check has a defect.
func TestSuiteFindsDefects(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	try := func(defect, check string, c banktest.Check, provider bank.Provider, side banktest.Bank) {
		err := c.Run(t.Context(), banktest.Subject{
			Provider: provider, Credentials: bank.Credentials("toy"), Bank: side, Secrets: []string{"canary"},
		})
		if (err == nil) != (defect == "") {
			t.Errorf("defect %q: %s returns %v", defect, check, err)
		}
		found[check] = found[check] || defect != "" && err != nil
	}
	newToy := func(defect string) *toy {
		p := &toy{defect: defect}
		p.Add(9)
		if defect == "" || defect == "midway" {
			p.Add(2 * toyPage)
		}
		return p
	}
	for _, c := range banktest.Checks() {
		p := newToy("")
		try("", c.Name, c, p, p)
		d := &toyDesk{toy: newToy(""), codes: map[string]bool{}}
		try("", c.Name, c, d, d)
	}
	for check, defects := range map[string][]string{
		"traits": {"traits"}, "accounts": {"accounts"}, "history": {"loss", "sign", "ghost", "twice", "no end"},
		"changes": {"removal"}, "changes between pages": {"midway"}, "several at once": {"together"},
		"faults": {"faults"}, "signing in again": {"reauth"}, "bad rows": {"bad rows"}, "revoking": {"revoking"},
		"balances": {"balances"}, "an end to waiting": {"canceled"},
	} {
		for _, defect := range defects {
			p := newToy(defect)
			try(defect, check, checkOf(t, check), p, p)
		}
	}
	for check, defects := range map[string][]string{
		"choosing a bank": {"no banks", "one id", "no name", "every country", "any bank"},
		"linking by redirect": {
			"one state", "state in the address", "another session", "another place", "anybody",
			"one sign-in, two connections", "another bank", "no end of consent", "the old credentials",
			"accounts of the session",
		},
		"a person present": {"a person who is not there", "nobody is named", "the address alone"},
	} {
		for _, defect := range defects {
			d := &toyDesk{toy: newToy(defect), codes: map[string]bool{}}
			try(defect, check, checkOf(t, check), d, d)
		}
	}
	p := newToy("")
	try("gullible", "webhooks", checkOf(t, "webhooks"), gullible{p}, p)
	for _, c := range banktest.Checks() {
		if !found[c.Name] {
			t.Errorf("no defect shows that %q can fail", c.Name)
		}
	}
}

func checkOf(t *testing.T, name string) banktest.Check {
	t.Helper()
	for _, c := range banktest.Checks() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %q", name)
	return banktest.Check{}
}
