package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A counterDesk is a household, and a simulated provider whose setup tokens it can use. It records
// the log and the responses.
type counterDesk struct {
	desk
	sim *banks.SimpleFIN
	log *logBook
	all strings.Builder // the bodies of the responses
}

func newCounterDesk(t *testing.T) *counterDesk {
	t.Helper()
	sim, err := banks.NewSimpleFIN(banks.SimpleFINOptions{
		Household: household.Options{Seed: 3, Transactions: 200, Years: 1, End: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	d := &counterDesk{sim: sim, log: &logBook{}}
	d.world = newLoggedWorld(t, pgtest.URL(t), app.Config{
		EncryptionKey: seal.NewSecret(testRing), PublicURL: "http://127.0.0.1:1",
		Providers: app.Providers{"simplefin": {"url": sim.URL()}},
	}, httptest.NewUnstartedServer(nil), slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return d
}

// ask sends a request and records the response.
func (d *counterDesk) ask(t *testing.T, method, path, body string) reply {
	t.Helper()
	r := d.send(t, exchange{method: method, path: "/api/v1" + path, key: d.key, body: body})
	d.all.WriteString(r.body)
	return r
}

func fieldsOf(token string) string {
	return fmt.Sprintf(`{"provider":"simplefin","fields":{"setup_token":%q}}`, token)
}

// TestLinkByForm links a bank with the form that GET /providers describes: on the page of a
// session, and with the values in the request that starts the session. Secrets are shown nowhere.
func TestLinkByForm(t *testing.T) {
	t.Parallel()
	d := newCounterDesk(t)
	if r := d.ask(t, http.MethodGet, "/providers", ""); !strings.Contains(r.body, `"way":"form"`) ||
		!strings.Contains(r.body, `"name":"setup_token"`) {
		t.Fatal(r.body)
	}
	// On the page: the page explains invalid tokens, and the correct token links the bank.
	s := d.begin(t, "/connections/link-session", `{"provider":"simplefin"}`)
	if r := d.page(t, s); !strings.Contains(r.body, `name="setup_token"`) || !strings.Contains(r.body, "Setup token") {
		t.Fatal(r.body)
	}
	first := d.sim.SetupToken()
	for given, want := range map[string]string{
		"nonsense-of-mine": "incomplete or damaged",
		base64.StdEncoding.EncodeToString([]byte("https://192.168.1.1/claim/x")): "not public",
	} {
		r := d.post(t, s, url.Values{"coffer-form": {"yes"}, "setup_token": {given}})
		d.all.WriteString(r.body)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, want) || strings.Contains(r.body, given) {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	r := d.post(t, s, url.Values{"coffer-form": {"yes"}, "setup_token": {first}})
	if d.all.WriteString(r.body); !strings.Contains(r.body, "Bank connected") {
		t.Fatalf("%d %s", r.status, r.body)
	}
	secrets := append(d.sim.Secrets(), first)
	connection := d.outcome(t, s.Token).ConnectionID
	// In the request: an invalid value is refused at once, and a used token ends the session.
	inward := base64.StdEncoding.EncodeToString([]byte("https://10.0.0.1/claim/x"))
	calls := d.sim.Calls("/")
	for body, field := range map[string]string{
		fieldsOf(inward): "fields.setup_token",
		fieldsOf("x"):    "fields.setup_token",
		`{"provider":"simplefin","fields":{"other":"x"}}`: "fields",
		`{"provider":"plaid","fields":{"other":"x"}}`:     "",
	} {
		if r := d.ask(t, http.MethodPost, "/connections/link-session", body); r.status < 400 ||
			field != "" && !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if d.sim.Calls("/") != calls {
		t.Error("a call was made")
	}
	s = d.begin(t, "/connections/link-session", fieldsOf(first))
	if d.sweep(t, s); d.outcome(t, s.Token).State != "failed" || d.outcome(t, s.Token).Error.Code != "TOKEN_CLAIMED" {
		t.Errorf("%+v", d.outcome(t, s.Token))
	}
	// Access that was revoked can be renewed in place, but only with the same accounts.
	d.renews(t, connection, &secrets)
	export := d.ask(t, http.MethodGet, "/export", "")
	rows, err := pg.Values[string](t.Context(), d.DB, `select encode(credentials, 'escape') from connection
		where credentials is not null union all select row_to_json(j)::text from job j union all
		select row_to_json(s)::text from sync_log s union all select row_to_json(l)::text from link_session l`)
	if err != nil {
		t.Fatal(err)
	}
	everything := d.all.String() + export.body + d.log.String() + strings.Join(rows, "\n")
	for i, secret := range secrets {
		if strings.Contains(everything, secret) {
			t.Errorf("secret %d is shown", i)
		}
	}
	if !strings.Contains(everything, "Setup token") { // the control
		t.Error("nothing was kept")
	}
}

func (d *counterDesk) renews(t *testing.T, connection string, secrets *[]string) {
	t.Helper()
	n := d.count(t, `select count(*) from connection`)
	renewal := d.sim.RenewalToken()
	d.sim.Refuse(http.StatusForbidden)
	if _, err := pg.Exec(t.Context(), d.DB, `update connection set status = 'pending_reauth'`); err != nil {
		t.Fatal(err)
	}
	begin := func(token string) linkSession {
		fields := map[string]any{"fields": map[string]string{"setup_token": token}}
		body, _ := json.Marshal(fields)
		s := d.begin(t, "/connections/"+connection+"/reauth-session", string(body))
		d.sweep(t, s)
		return s
	}
	if o := d.outcome(t, begin(renewal).Token); o.State != "done" {
		t.Errorf("%+v", o)
	}
	*secrets = append(append(*secrets, renewal), d.sim.Secrets()...)
	other := d.sim.SetupToken()
	if o := d.outcome(t, begin(other).Token); o.State != "failed" || o.Error.Code != "CONFLICT" {
		t.Errorf("another person's accounts: %+v", o)
	}
	*secrets = append(append(*secrets, other), d.sim.Secrets()...)
	if got := d.count(t, `select count(*) from connection where status = 'active'`); got != n {
		t.Errorf("%d connections work of %d", got, n)
	}
}
