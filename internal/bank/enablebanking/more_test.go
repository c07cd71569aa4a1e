package enablebanking_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/enablebanking"
	"coffer/internal/platform/errs"
	"coffer/internal/sim/banks"
)

// pull reads a complete loop.
func pull(t *testing.T, p *enablebanking.EnableBanking, c bank.Credentials, at bank.Position) (out bank.Page) {
	t.Helper()
	for {
		page, err := p.Pull(t.Context(), c, at)
		if err != nil {
			t.Fatal(err)
		}
		out.Accounts = append(out.Accounts, page.Accounts...)
		out.Transactions = append(out.Transactions, page.Transactions...)
		out.Bad = append(out.Bad, page.Bad...)
		out.Complete = append(out.Complete, page.Complete...)
		out.Troubles = append(out.Troubles, page.Troubles...)
		if page.Last {
			return out
		}
		at.Next = page.Next
	}
}

func TestEveryError(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{})
	linked := connect(t, sim, p)
	for _, c := range []struct {
		status int
		code   string
		want   bank.Class
		wait   time.Duration
	}{
		{401, "EXPIRED_SESSION", bank.Reauth, 0},
		{401, "REVOKED_SESSION", bank.Reauth, 0},
		{400, "WRONG_SESSION_STATUS", bank.Reauth, 0},
		{422, "CLOSED_SESSION", bank.Permanent, 0},
		{400, "ASPSP_PSU_ACTION_REQUIRED", bank.Reauth, 0},
		{429, "ASPSP_RATE_LIMIT_EXCEEDED", bank.Later, 6 * time.Hour},
		{400, "ASPSP_ERROR", bank.Later, 0},
		{408, "ASPSP_TIMEOUT", bank.Later, 0},
		{422, "WRONG_REQUEST_PARAMETERS", bank.Ours, 0},
		{503, "SOMETHING", bank.Later, 5 * time.Minute},
	} {
		sim.Script(banks.Fault{Path: "/accounts/", Status: c.status, Code: c.code})
		_, err := p.Pull(t.Context(), linked.Credentials, bank.Position{})
		e := bank.Classify(err)
		if err == nil || e.Class != c.want || e.Code != c.code || e.Advice == "" || e.Revoked || e.RetryAfter != c.wait {
			t.Errorf("%d %s: %v, wait %s", c.status, c.code, err, e.RetryAfter)
		}
	}
	for code, word := range map[string]string{
		"REDIRECT_URI_NOT_ALLOWED": "/link/return", "NO_ACCOUNTS_ADDED": "control panel", "UNAUTHORIZED_ACCESS": "application ID",
	} {
		sim.Script(banks.Fault{Path: "/auth", Status: 401, Code: code})
		_, err := p.Relink(t.Context(), linked.Credentials, bank.LinkRequest{Redirect: redirect})
		if e := bank.Classify(err); err == nil || e.Class != bank.Ours || !strings.Contains(e.Advice, word) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// If a bank rejects one account, or cuts its list, the other accounts are still read. The client
// asks whether the session has ended, because that may cause the same response.
func TestOneAccount(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{})
	linked := connect(t, sim, p)
	all := pull(t, p, linked.Credentials, bank.Position{})
	first := sim.Book().Accounts()[0].ID
	sim.Deny(first, true)
	got := pull(t, p, linked.Credentials, bank.Position{})
	if len(got.Accounts) != len(all.Accounts) || len(got.Complete) != len(all.Complete)-1 || len(got.Troubles) != 1 ||
		got.Troubles[0].AccountID != sim.HashOf(first) || got.Troubles[0].Class != bank.Later ||
		slices.ContainsFunc(got.Complete, func(x bank.Extent) bool { return x.AccountID == sim.HashOf(first) }) {
		t.Errorf("%+v %+v", got.Complete, got.Troubles)
	}
	sim.Status("EXPIRED")
	if _, err := p.Pull(t.Context(), linked.Credentials, bank.Position{}); bank.Classify(err).Class != bank.Reauth {
		t.Errorf("an ended session: %v", err)
	}
}

// Reading ends whatever the bank does with continuation keys. A list that was cut is not complete.
func TestContinuationKeys(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{PageSize: 20})
	linked := connect(t, sim, p)
	all := pull(t, p, linked.Credentials, bank.Position{})
	for _, way := range []string{banks.KeysIgnored, banks.KeysRepeated, banks.KeysRejected} {
		sim.Keys(way)
		before := sim.Calls("/accounts/")
		got := pull(t, p, linked.Credentials, bank.Position{})
		if calls := sim.Calls("/accounts/") - before; calls > 4*len(all.Accounts) {
			t.Errorf("%s: %d calls", way, calls)
		}
		for _, a := range all.Accounts { // with more than one page it cannot be complete
			n := 0
			for _, row := range all.Transactions {
				if row.AccountID == a.ProviderID {
					n++
				}
			}
			whole := slices.ContainsFunc(got.Complete, func(x bank.Extent) bool { return x.AccountID == a.ProviderID })
			bad := slices.ContainsFunc(got.Troubles, func(x bank.Trouble) bool {
				return x.AccountID == a.ProviderID && x.Code == "INCOMPLETE"
			})
			if whole == bad || n > 20 && whole {
				t.Errorf("%s: %d rows, complete %v, trouble %v", way, n, whole, bad)
			}
		}
		if len(got.Transactions) == 0 || len(got.Troubles) == 0 {
			t.Errorf("%s: %d rows, %d troubles", way, len(got.Transactions), len(got.Troubles))
		}
		// the rows have the same ids as in a complete list
		for _, row := range got.Transactions {
			if !slices.ContainsFunc(all.Transactions, func(x bank.Transaction) bool { return x.ProviderID == row.ProviderID }) {
				t.Errorf("%s: %s is new", way, row.ProviderID)
			}
		}
	}
	sim.Keys("")
	if got := pull(t, p, linked.Credentials, bank.Position{}); len(got.Complete) != len(all.Accounts) {
		t.Errorf("%+v", got.Complete)
	}
}

// If a bank rejects a period, the client requests a shorter one. Earlier days do not count as read.
func TestShorterPeriods(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{})
	linked := connect(t, sim, p)
	today := sim.Now().UTC().Truncate(24 * time.Hour)
	for lists, days := range map[int]int{89: 89, 88: 60, 60: 60, 59: 30, 30: 30} {
		sim.Lists(lists)
		got := pull(t, p, linked.Credentials, bank.Position{})
		since := today.AddDate(0, 0, -days)
		for _, whole := range got.Complete {
			if !whole.From.Equal(since) {
				t.Errorf("%d days: complete from %s", lists, whole.From)
			}
		}
		if len(got.Complete) == 0 || len(got.Transactions) == 0 {
			t.Errorf("%d days: nothing", lists)
		}
	}
	sim.Lists(7)
	_, err := p.Pull(t.Context(), linked.Credentials, bank.Position{})
	if e := bank.Classify(err); e.Class != bank.Later || e.Code != "WRONG_TRANSACTIONS_PERIOD" {
		t.Errorf("a week: %v", err)
	}
}

// A row is identified by its day, amount and balance or words. The bank's references do not matter.
func TestIdentity(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{})
	linked := connect(t, sim, p)
	row := func(amount, after, name, ref string) string {
		direction, other := "DBIT", "creditor"
		if strings.HasPrefix(amount, "+") {
			direction, other = "CRDT", "debtor"
		}
		out := fmt.Sprintf(`{"transaction_amount":{"amount":%q,"currency":"EUR"},"credit_debit_indicator":%q,
			"status":"BOOK","booking_date":"2026-03-02","entry_reference":%q,%q:{"name":%q}`,
			strings.TrimLeft(amount, "+-"), direction, ref, other, name)
		if after != "" {
			out += fmt.Sprintf(`,"balance_after_transaction":{"amount":%q,"currency":"EUR"}`, after)
		}
		return out + "}"
	}
	read := func(rows ...string) []bank.Transaction {
		sim.Script(banks.Fault{
			Path: "/accounts/", Skip: len(sim.Book().Accounts()), Status: 200,
			Body: `{"transactions":[` + strings.Join(rows, ",") + `]}`,
		})
		page, err := p.Pull(t.Context(), linked.Credentials, bank.Position{})
		sim.Calm()
		if err != nil || len(page.Bad) != 0 {
			t.Fatal(err, page.Bad)
		}
		return page.Transactions
	}
	ids := func(rows []bank.Transaction) (out []string) {
		for _, r := range rows {
			out = append(out, r.ProviderID)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	chain := []string{
		row("-7", "61", "Bakery", "5"), row("-5", "68", "Cafe", "4"), row("+3", "73", "Shop", "3"),
		row("-20", "70", "Market", "2"), row("+10", "90", "Pay", "1"),
	}
	plain := read(chain...)
	for name, c := range map[string]struct {
		rows []string
		want int
	}{
		"a copy with another reference":      {append([]string{row("-5", "68", "Cafe", "9")}, chain...), 5},
		"a copy with other words":            {append([]string{row("-5", "68", "CAFE CENTRAL", "9")}, chain...), 5},
		"two copies":                         {append([]string{row("-5", "68", "Cafe", "9"), row("-7", "61", "Bakery", "8")}, chain...), 5},
		"the same payment twice, after cash": {append([]string{row("-7", "61", "Bakery", "7"), row("+7", "68", "Bakery", "6")}, chain...), 7},
		"the same payment twice": {
			append([]string{row("-5", "56", "Cafe", "7"), row("-5", "61", "Cafe", "6")}, chain[1:]...), 6,
		},
		"no balances":                 {[]string{row("-5", "", "Cafe", "1"), row("-5", "", "Cafe", "2")}, 2},
		"balances of the day's end":   {[]string{row("-5", "10", "Cafe", "1"), row("-5", "10", "Cafe", "2"), row("-4", "10", "Shop", "3")}, 3},
		"a circle":                    {[]string{row("-5", "5", "Cafe", "3"), row("+5", "10", "Cafe", "2"), row("-5", "5", "Cafe", "1")}, 3},
		"a circle that does not end ": {[]string{row("+5", "10", "Cafe", "4"), row("-5", "5", "Cafe", "3"), row("+5", "10", "Cafe", "2"), row("-5", "5", "Cafe", "1")}, 4},
	} {
		if got := read(c.rows...); len(got) != c.want || len(ids(got)) != c.want {
			t.Errorf("%s: %d rows, %d ids", name, len(got), len(ids(got)))
		}
	}
	if got := read(append([]string{row("-5", "68", "Other words", "99")}, chain...)...); !slices.Equal(ids(got), ids(plain)) {
		t.Error("a copy changes the ids")
	}
	a, b := read(row("-5", "68", "Cafe", "1")), read(row("-5", "68", "CAFE CENTRAL", "1"))
	if a[0].ProviderID != b[0].ProviderID {
		t.Error("the words are part of the id although the balance after the row is known")
	}
	both := read(row("-5", "56", "Cafe", "2"), row("-5", "61", "Cafe", "1"))
	if one := read(row("-5", "56", "Cafe", "2")); one[0].ProviderID != both[0].ProviderID {
		t.Error("which of two equal payments a row is depends on what else is listed")
	}
	if a, b := read(row("-5", "", "Cafe", "1")), read(row("-5", "", "Cafe", "")); a[0].ProviderID != b[0].ProviderID {
		t.Error("the reference is part of the id")
	}
}

// The contents of a row, in the different forms that banks use.
func TestRows(t *testing.T) {
	t.Parallel()
	_, p := start(t, banks.EnableBankingOptions{})
	of := bank.Account{ProviderID: "A", Currency: "EUR"}
	row := func(change string) string {
		all := map[string]any{}
		_ = json.Unmarshal([]byte(`{"transaction_amount":{"amount":"5.00","currency":"EUR"},"credit_debit_indicator":"DBIT",
			"status":"BOOK","booking_date":"2026-03-02"}`), &all)
		_ = json.Unmarshal([]byte(change), &all)
		out, _ := json.Marshal(all)
		return string(out)
	}
	for change, want := range map[string]bank.Reason{
		`{}`: "", `{"status":"PDNG"}`: "", `{"booking_date":null,"value_date":"2026-03-01"}`: "",
		`{"booking_date":null,"transaction_date":"2026-03-01"}`: "",
		`{"booking_date":null}`:                                 bank.BadDate, `{"booking_date":"2026-02-30"}`: bank.BadDate,
		`{"credit_debit_indicator":null}`:                            bank.BadAmount,
		`{"transaction_amount":{"amount":"x","currency":"EUR"}}`:     bank.BadAmount,
		`{"transaction_amount":{"amount":"1.234","currency":"EUR"}}`: bank.BadAmount,
		`{"transaction_amount":{"amount":"1.00","currency":"euro"}}`: bank.BadCurrency,
		`{"status":null}`:          bank.BadShape,
		`{"transaction_amount":7}`: bank.BadShape,
		`{"remittance_information":{"a":1},"entry_reference":["x"]}`:    "",
		`{"balance_after_transaction":{"amount":"x","currency":"EUR"}}`: "",
	} {
		if got, reason := p.Reread(bank.Raw(row(change)), of); reason != want || reason == "" && got.ProviderID == "" {
			t.Errorf("%s: %q", change, reason)
		}
	}
	for change, want := range map[string]string{
		`{"transaction_amount":{"amount":"-5.00","currency":"EUR"}}`:                                     "5.00 / ",
		`{"credit_debit_indicator":"CRDT","debtor":{"name":"Employer"}}`:                                 "-5.00 Employer/ ",
		`{"creditor":{"name":"Shop"},"remittance_information":["EREF+7 MREF+8 SVWZ+Invoice 12 ABWA+x"]}`: "5.00 Shop/Invoice 12 ",
		`{"remittance_information":["BMW+Parts","GmbH"]}`:                                                "5.00 BMW+Parts GmbH/ ",
		`{"remittance_information":"Rent"}`:                                                              "5.00 Rent/ ",
		`{"bank_transaction_code":{"description":"Fee"}}`:                                                "5.00 Fee/ ",
		`{"merchant_category_code":"5411"}`:                                                              "5.00 /5411 ",
	} {
		got, _ := p.Reread(bank.Raw(row(change)), of)
		say := fmt.Sprintf("%s %s/%s%s ", got.Amount, got.Name.Plain(), got.Detail.Plain(), got.CategoryPrimary.Plain())
		if say != want {
			t.Errorf("%s: %q, want %q", change, say, want)
		}
	}
}

// The key may be in either format of RSA keys. No error shows an invalid key.
func TestKeys(t *testing.T) {
	t.Parallel()
	sim, _ := start(t, banks.EnableBankingOptions{})
	pkcs8, _ := pem.Decode([]byte(sim.Key()))
	key, err := x509.ParsePKCS8PrivateKey(pkcs8.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	older := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key.(*rsa.PrivateKey))})
	config := enablebanking.Config{Application: sim.Application(), Key: older, BaseURL: sim.URL()}
	p, err := enablebanking.New(config)
	if err != nil || p.Test(t.Context()) != nil {
		t.Errorf("PKCS#1: %v, %v", err, p.Test(t.Context()))
	}
	config.Application = "another"
	if p, err = enablebanking.New(config); err != nil || bank.Classify(p.Test(t.Context())).Class != bank.Ours {
		t.Errorf("another application: %v", p.Test(t.Context()))
	}
	for _, wrong := range []string{"", "canary", string(pem.EncodeToMemory(&pem.Block{Type: "X", Bytes: []byte("canary")}))} {
		config.Key = []byte(wrong)
		if _, err := enablebanking.New(config); !errs.Is(err, errs.ProviderNotConfig) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// The requested consent is as long as the bank allows, minus a margin.
func TestConsent(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{})
	linked := connect(t, sim, p)
	if left := linked.ConsentEnds.Sub(sim.Now()).Hours() / 24; left < 178 || left > 179.1 {
		t.Errorf("%v days", left)
	}
	sim.Advance(179 * 24 * time.Hour)
	if _, err := p.Pull(t.Context(), linked.Credentials, bank.Position{}); bank.Classify(err).Class != bank.Reauth {
		t.Errorf("after its end: %v", err)
	}
}

// The bank's limit is four loops a day, and loops for a person do not count. If a bank requires
// more data about a person, the call is repeated without the person.
func TestLimit(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.EnableBankingOptions{Daily: 4})
	linked := connect(t, sim, p)
	for range 4 {
		pull(t, p, linked.Credentials, bank.Position{})
	}
	_, err := p.Pull(t.Context(), linked.Credentials, bank.Position{})
	if e := bank.Classify(err); e.Class != bank.Later || e.RetryAfter != 6*time.Hour {
		t.Errorf("the fifth: %v", err)
	}
	person := bank.NewPerson("9.9.9.9", "Firefox")
	pull(t, p, linked.Credentials, bank.Position{Person: person})
	sim.Advance(24 * time.Hour)
	sim.Script(banks.Fault{Path: "/accounts/", Status: http.StatusUnprocessableEntity, Code: "PSU_HEADER_NOT_PROVIDED"})
	pull(t, p, linked.Credentials, bank.Position{Person: person})
	for address, is := range map[string]bool{
		"9.9.9.9": true, "2620:fe::fe": true, "192.168.1.2": false, "127.0.0.1": false, "100.64.1.1": false, "x": false, "": false,
	} {
		if got := bank.NewPerson(address, "Firefox"); (got != nil) != is {
			t.Errorf("%s: %v", address, got)
		}
	}
}
