package simplefin_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/bank/simplefin"
	"coffer/internal/platform/errs"
	"coffer/internal/sim/banks"
)

func TestEveryError(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.SimpleFINOptions{})
	linked := connect(t, sim, p)
	for _, c := range []struct {
		status int
		body   string
		want   bank.Class
		code   string
	}{
		{402, "", bank.Permanent, "PAYMENT_REQUIRED"},
		{403, "", bank.Reauth, "ACCESS_REVOKED"},
		{401, "", bank.Reauth, "ACCESS_REVOKED"},
		{404, "", bank.Permanent, "NOT_FOUND"},
		{429, "", bank.Later, "TOO_MANY_REQUESTS"},
		{418, "", bank.Ours, "REFUSED"},
		{503, "", bank.Later, "UNAVAILABLE"},
		{200, `{"accounts":[],"errlist":[{"code":"gen.auth","msg":"x"}]}`, bank.Reauth, "gen.auth"},
		{200, `{"errlist":[]}`, bank.Later, bank.CodeMalformed},
	} {
		sim.Script(banks.Fault{Path: "/simplefin/accounts", Status: c.status, Body: c.body})
		_, err := p.Pull(t.Context(), linked.Credentials, bank.Position{})
		e := bank.Classify(err)
		if err == nil || e.Class != c.want || e.Code != c.code || e.Advice == "" || e.Revoked {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}

// An error about one bank or account is reported as such. Only the accounts that it cannot affect
// count as completely read.
func TestPartialTrouble(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.SimpleFINOptions{})
	linked := connect(t, sim, p)
	account := func(conn, id string) string {
		return fmt.Sprintf(`{"conn_id":%q,"id":%q,"name":"n","currency":"USD","balance":"1.00","transactions":[]}`, conn, id)
	}
	for said, want := range map[string]string{
		``: "A B C",
		`{"code":"con.auth","msg":"x","conn_id":"1"}`:                     "C",
		`{"code":"con.auth.of.next.year","message":"x","conn_id":"1"}`:    "C",
		`{"code":"con.","msg":"x","conn_id":"2"}`:                         "A B",
		`{"code":"con.auth","msg":"x"}`:                                   "",
		`{"code":"act.failed","msg":"x","account_id":"A"}`:                "B C",
		`{"code":"act.missingdata","msg":"x","account_id":"C"}`:           "A B",
		`{"code":"gen.api","msg":"you ask too often"}`:                    "A B C",
		`{"code":"gen.api","msg":"exceeds limit of 90 days, was capped"}`: "",
		`{"code":"gen.","msg":"x"}`:                                       "",
		`{"code":"odd","msg":"x"}`:                                        "",
	} {
		body := `{"errlist":[` + said + `],"connections":[{"conn_id":"1","name":"One"},{"conn_id":"2","name":"Two"}],"accounts":[` +
			account("1", "A") + "," + account("1", "B") + "," + account("2", "C") + `]}`
		sim.Script(banks.Fault{Path: "/simplefin/accounts", Status: 200, Body: body})
		page, err := p.Pull(t.Context(), linked.Credentials, bank.Position{From: lastDay.AddDate(0, 0, -45)})
		if err != nil {
			t.Fatal(err)
		}
		var whole []string
		for _, c := range page.Complete {
			whole = append(whole, c.AccountID)
		}
		if got := strings.Join(whole, " "); got != want || !page.Last || (said == "") != (len(page.Troubles) == 0) {
			t.Errorf("%s: complete %q, want %q; %+v", said, got, want, page.Troubles)
		}
		if strings.Contains(said, `"conn_id":"1"`) &&
			(page.Troubles[0].BankName.Plain() != "One" || page.Troubles[0].Class != bank.Reauth) {
			t.Errorf("%s: %+v", said, page.Troubles[0])
		}
	}
}

// Two banks may use the same id for an account.
func TestSameAccountID(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.SimpleFINOptions{})
	linked := connect(t, sim, p)
	sim.Script(banks.Fault{Path: "/simplefin/accounts", Status: 200, Body: `{"errlist":[],"accounts":[
		{"conn_id":"1","id":"A","name":"x","currency":"USD","balance":"1"},
		{"conn_id":"2","id":"A","name":"y","currency":"USD","balance":"2"},
		{"conn_id":"2","id":"M","name":"miles","currency":"https://miles.example/","balance":"9"}]}`})
	got, err := p.Accounts(t.Context(), linked.Credentials)
	if err != nil || len(got) != 2 || got[0].ProviderID != "1:A" || got[1].ProviderID != "2:A" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.SimpleFINOptions{})
	token := sim.SetupToken()
	messy := " \"" + strings.TrimRight(token[:9]+"\n"+token[9:], "=") + "\" \u200b"
	if _, err := p.Exchange(t.Context(), "", given(messy)); err != nil {
		t.Fatalf("as people paste it: %v", err)
	}
	_, err := p.Exchange(t.Context(), "", given(token))
	if e := bank.Classify(err); e.Class != bank.Permanent || e.Code != "TOKEN_CLAIMED" ||
		!strings.Contains(e.Advice, "disable it") {
		t.Errorf("a second time: %v", err)
	}
	for _, junk := range []string{"", "x", "not a token", base64.StdEncoding.EncodeToString([]byte("mailto:a"))} {
		err := p.Check(given(junk))
		if !errs.Is(err, errs.ValidationError) || junk != "" && strings.Contains(err.Error(), junk) {
			t.Errorf("%q: %v", junk, err)
		}
	}
	for _, body := range []string{"nothing", "https://host.example/simplefin", "http://user:pass@10.0.0.1/simplefin"} {
		sim.Script(banks.Fault{Path: "/simplefin/claim", Status: http.StatusOK, Body: body})
		if _, err := p.Exchange(t.Context(), "", given(sim.SetupToken())); bank.Classify(err).Class != bank.Permanent {
			t.Errorf("the access URL %q: %v", body, err)
		}
	}
}

// A token for a private address is rejected before anything is sent, in whatever form the address
// is written. So is an access URL. Only the home address in the server's environment is allowed.
func TestInward(t *testing.T) {
	t.Parallel()
	sim, _ := start(t, banks.SimpleFINOptions{})
	p, err := simplefin.New(simplefin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	secure := strings.Replace(sim.URL(), "http:", "https:", 1)
	port := sim.URL()[strings.LastIndex(sim.URL(), ":"):]
	for _, at := range []string{
		sim.URL(), secure, "https://localhost" + port, "https://[::1]" + port,
		"https://[::ffff:127.0.0.1]" + port, "https://10.0.0.1", "https://192.168.1.1", "https://169.254.169.254",
		"https://100.64.0.1", "https://intranet", "http://bridge.simplefin.org", "https://localhost.",
	} {
		token := base64.StdEncoding.EncodeToString([]byte(at + "/simplefin/claim/x"))
		if _, err := p.Exchange(t.Context(), "", given(token)); !errs.Is(err, errs.ValidationError) ||
			strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", at, err)
		}
		whole := strings.Replace(at, "://", "://u:p@", 1) + "/simplefin"
		stored, _ := json.Marshal(map[string]string{"access_url": whole})
		if _, err := p.Accounts(t.Context(), stored); bank.Classify(err).Code != bank.CodeAddress {
			t.Errorf("an access URL at %s: %v", at, err)
		}
	}
	if n := sim.Calls("/"); n != 0 {
		t.Errorf("%d calls arrived", n)
	}
}

// The guide leads to the configured server, which issues the setup tokens.
func TestGuide(t *testing.T) {
	t.Parallel()
	_, p := start(t, banks.SimpleFINOptions{})
	guide := simplefin.Spec.GuideOf(p)
	res, err := http.Get(guide)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing of it is read
	if res.StatusCode != http.StatusOK || !strings.Contains(guide, "127.0.0.1") {
		t.Errorf("%s: %s", guide, res.Status)
	}
	usual, err := simplefin.New(simplefin.Config{})
	if err != nil || simplefin.Spec.GuideOf(usual) != simplefin.Spec.Guide || simplefin.Spec.GuideOf(nil) != simplefin.Spec.Guide {
		t.Errorf("%v %s", err, simplefin.Spec.GuideOf(usual))
	}
}

// Rows without a day, and with odd days.
func TestDays(t *testing.T) {
	t.Parallel()
	_, p := start(t, banks.SimpleFINOptions{})
	a := bank.Account{ProviderID: "a", Currency: "USD"}
	for row, want := range map[string]string{
		`{"id":"t","posted":1767323045,"amount":"-1.50"}`:                   "2026-01-02",
		`{"id":"t","posted":0,"transacted_at":1767323045,"amount":"-1.50"}`: "2026-01-02",
		`{"id":"t","posted":0,"amount":"-1.50","pending":true}`:             string(bank.BadDate),
		`{"id":"t","posted":99999999999999,"amount":"-1.50"}`:               string(bank.BadDate),
		`{"id":"t","posted":"1767323045","amount":"-1.50"}`:                 "2026-01-02",
		`{"id":"t","posted":1767323045,"amount":"-1.505"}`:                  string(bank.BadAmount),
		`{"posted":1767323045,"amount":"-1.50"}`:                            string(bank.BadID),
		`{"id":"t","posted":1767323045,"amount":"1e400"}`:                   string(bank.BadAmount),
	} {
		got, reason := p.Reread(bank.Raw(row), a)
		if reason == "" {
			reason = bank.Reason(got.Date.Format("2006-01-02"))
			if got.Amount.String() != "1.50" {
				t.Errorf("%s is %s", row, got.Amount)
			}
		}
		if string(reason) != want {
			t.Errorf("%s: %s, want %s", row, reason, want)
		}
	}
}

// Every window requests at most 90 days, and a first sync makes few calls.
func TestWindows(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.SimpleFINOptions{})
	linked := connect(t, sim, p)
	at := bank.Position{}
	for calls := 1; ; calls++ {
		page, err := p.Pull(t.Context(), linked.Credentials, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range page.Troubles {
			t.Errorf("asked for too much: %+v", x)
		}
		if at.Next = page.Next; page.Last {
			if calls > 9 || len(page.Complete) == 0 {
				t.Errorf("%d calls, %d accounts complete", calls, len(page.Complete))
			}
			return
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":"t","posted":1767323045,"amount":"-1.50","description":"x","mcc":"5411","pending":true}`))
	_, p := func() (any, *simplefin.SimpleFIN) { p, _ := simplefin.New(simplefin.Config{}); return nil, p }()
	f.Fuzz(func(t *testing.T, raw []byte) {
		row, reason := p.Reread(raw, bank.Account{ProviderID: "a", Currency: "USD"})
		if reason == "" && (row.AccountID != "a" || !bank.IsID(row.ProviderID) || row.Date.IsZero()) {
			t.Errorf("read %+v", row)
		}
	})
}
