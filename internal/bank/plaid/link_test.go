package plaid_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/plaid"
	"coffer/internal/platform/errs"
	"coffer/internal/sim/banks"
)

func TestLinkInThePage(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	session, err := p.Session(t.Context(), bank.LinkRequest{
		User:    "member-1",
		Webhook: "http://127.0.0.1:1/webhooks/plaid", Redirect: "https://home.example/return",
	})
	if err != nil || session.URL != "" || session.Config["token"] != session.Token ||
		session.ExpiresAt.Before(sim.Now().Add(3*time.Hour)) {
		t.Fatalf("got %+v, %v", session, err)
	}
	public, err := sim.FinishLink(session.Token)
	if err != nil {
		t.Fatal(err)
	}
	given := json.RawMessage(`{"public_token":"` + public + `"}`)
	linked, err := p.Exchange(t.Context(), session.Token, given)
	if err != nil || sim.Book(linked.ConnectionID) == nil {
		t.Fatalf("got %+v, %v", linked, err)
	}
	if _, err := p.Exchange(t.Context(), session.Token, given); bank.Classify(err).Code != "INVALID_PUBLIC_TOKEN" ||
		bank.Classify(err).Class != bank.Permanent {
		t.Errorf("a public token twice: %v", err)
	}
	late, _ := sim.NewItem("")
	sim.Advance(31 * time.Minute)
	if _, err := p.Exchange(t.Context(), "", json.RawMessage(`{"public_token":"`+late+`"}`)); bank.Classify(
		err).Code != "INVALID_PUBLIC_TOKEN" {
		t.Errorf("a public token after its time: %v", err)
	}
	for _, given := range []string{``, `{}`, `[]`, `{"public_token":7}`, `null`} {
		if _, err := p.Exchange(t.Context(), "", json.RawMessage(given)); !errs.Is(err, errs.ValidationError) {
			t.Errorf("%s: got %v", given, err)
		}
	}
}

// TestExchangeWithoutTheBanksName: the exchange succeeds without the bank's name, because the
// public token cannot be used again.
func TestExchangeWithoutTheBanksName(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	public, book := sim.NewItem("")
	sim.Script(banks.Fault{Path: "/item/get", Status: 500, Code: "INTERNAL_SERVER_ERROR"})
	linked, err := p.Exchange(t.Context(), "", json.RawMessage(`{"public_token":"`+public+`"}`))
	if err != nil || linked.ConnectionID != book.ID() || linked.InstitutionName != "" {
		t.Errorf("got %+v, %v", linked, err)
	}
}

func TestHostedLink(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	session, err := p.Session(t.Context(), bank.LinkRequest{User: "member-1", Hosted: true})
	if err != nil || !strings.HasPrefix(session.URL, sim.URL()) {
		t.Fatalf("got %+v, %v", session, err)
	}
	if o, err := p.Outcome(t.Context(), session.Token); err != nil || o.Done || o.Given != nil {
		t.Errorf("before: got %d given, %v", len(o.Given), err)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		req, _ := http.NewRequestWithContext(t.Context(), method, session.URL, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", method, resp, err)
		}
		_ = resp.Body.Close()
	}
	o, err := p.Outcome(t.Context(), session.Token)
	if err != nil || !o.Done || len(o.Given) != 1 {
		t.Fatalf("after: got %d given, %v", len(o.Given), err)
	}
	linked, err := p.Exchange(t.Context(), session.Token, o.Given[0])
	if err != nil || sim.Book(linked.ConnectionID) == nil {
		t.Errorf("got %+v, %v", linked, err)
	}
	if _, err := p.Outcome(t.Context(), "link-sandbox-none"); bank.Classify(err).Code != "INVALID_LINK_TOKEN" {
		t.Errorf("got %v", err)
	}
	if shown, _ := json.Marshal(o); strings.Contains(string(shown), "public") {
		t.Error("an outcome prints its tokens")
	}
}

func TestUpdateModeMendsTheItem(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	linked, book := connect(t, sim, p)
	book.Break("ITEM_LOGIN_REQUIRED")
	session, err := p.Relink(t.Context(), linked.Credentials,
		bank.LinkRequest{User: "member-1", Accounts: true, Hosted: true})
	if err != nil || session.URL == "" {
		t.Fatalf("got %+v, %v", session, err)
	}
	if _, err := p.Accounts(t.Context(), linked.Credentials); bank.Classify(err).Class != bank.Reauth {
		t.Errorf("before: %v", err)
	}
	if _, err := sim.FinishLink(session.Token); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Accounts(t.Context(), linked.Credentials); err != nil {
		t.Errorf("after: %v", err)
	}
}

func TestHistoryArrivesInParts(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	linked, book := connect(t, sim, p)
	all := len(book.Rows())
	cursor, got := "", 0
	pull := func() bool {
		t.Helper()
		next, gathering := "", false
		for last := false; !last; {
			page, err := p.Pull(t.Context(), linked.Credentials, bank.Position{Cursor: cursor, Next: next})
			if err != nil {
				t.Fatal(err)
			}
			got += len(page.Transactions)
			next, last, gathering = page.Next, page.Last, page.Gathering
			if last {
				cursor = page.Cursor
			}
		}
		return gathering
	}
	book.Withhold(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	if gathering := pull(); !gathering || got != 0 || cursor != "" {
		t.Errorf("not ready: %d rows, cursor %q, gathering %t", got, cursor, gathering)
	}
	book.Release()
	book.Withhold(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	if gathering := pull(); !gathering || got == 0 || got >= all || cursor == "" {
		t.Errorf("initial: %d rows of %d, gathering %t", got, all, gathering)
	}
	book.Release()
	if gathering := pull(); gathering || got != all {
		t.Errorf("historical: %d rows of %d, gathering %t", got, all, gathering)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := plaid.Config{Environment: "sandbox", ClientID: "c", Secret: secret}
	for name, spoil := range map[string]func(*plaid.Config){
		"environment": func(c *plaid.Config) { c.Environment = "development" },
		"client":      func(c *plaid.Config) { c.ClientID = "" },
		"secret":      func(c *plaid.Config) { c.Secret = "" },
		"http":        func(c *plaid.Config) { c.BaseURL = "http://plaid.example" },
		"name":        func(c *plaid.Config) { c.BaseURL = "http://localhost:80" }, // it may resolve to any address
		"path":        func(c *plaid.Config) { c.BaseURL = "https://plaid.example/v2" },
		"user":        func(c *plaid.Config) { c.BaseURL = "https://me:you@plaid.example" },
		"other":       func(c *plaid.Config) { c.BaseURL = "ftp://127.0.0.1" },
	} {
		c := good
		spoil(&c)
		if _, err := plaid.New(c); !errs.Is(err, errs.ProviderNotConfig) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p, err := plaid.New(good)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", p, p, p), secret) {
		t.Error("the provider prints its secret")
	}
}
