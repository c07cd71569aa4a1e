package app_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

var update = flag.Bool("update", false, "write the goldens anew")

// A world is the whole service on its own database, with a real HTTP server.
type world struct {
	*app.App
	url string // of the server
	key string // a person's key with full_access
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, pgtest.URL(t), app.Config{})
}

func newWorldOn(t testing.TB, database string, c app.Config) *world {
	t.Helper()
	return newWorldAt(t, database, c, httptest.NewUnstartedServer(nil))
}

// newWorldAt does the same as newWorldOn, with a server that already has an address. The
// configuration can then contain the address.
func newWorldAt(t testing.TB, database string, c app.Config, server *httptest.Server) *world {
	t.Helper()
	return newLoggedWorld(t, database, c, server, slog.DiscardHandler)
}

// newLoggedWorld does the same as newWorldAt, with a log.
func newLoggedWorld(t testing.TB, database string, c app.Config, server *httptest.Server, log slog.Handler) *world {
	t.Helper()
	c.DatabaseURL, c.DatabaseMaxConns = seal.NewSecret(database), 8
	if c.RatePerMinute == 0 {
		c.RatePerMinute, c.RateBurst, c.AuthFailures, c.LoginsPerMinute = 60_000_000, 1_000_000, 1_000_000, 1_000_000
	}
	a, err := app.Build(t.Context(), c, slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	w := &world{App: a, url: server.URL}
	w.key = w.newKey(t, auth.CreateKey{Name: "me", Scope: "full_access", ActorType: "user"}).Secret
	return w
}

func (w *world) newKey(t testing.TB, in auth.CreateKey) auth.NewKey {
	t.Helper()
	var k auth.NewKey
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		k, err = w.Auth.Create(t.Context(), tx, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// An exchange is a request in a test.
type exchange struct {
	method, path, key, body, kind string
	header                        map[string]string
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (w *world) send(t testing.TB, x exchange) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), x.method, w.url+x.path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	if x.key != "" {
		req.Header.Set("X-API-Key", x.key)
	}
	if x.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if x.kind != "" {
		req.Header.Set("Content-Type", x.kind)
	}
	for k, v := range x.header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, string(body), res.Header}
}

// code returns the error code of a reply, or "".
func (r reply) code() string {
	var face struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.body), &face)
	return face.Error.Code
}

// call runs an op as a function, with the world's key.
func (w *world) call(ctx context.Context, o *op.Op, surface op.Surface, args map[string]any) (op.Answer, error) {
	actor, err := w.Auth.Key(ctx, w.key)
	if err != nil {
		return op.Answer{}, err
	}
	return w.Runner.Call(ctx, o, op.Call{Actor: actor, Surface: surface, Args: args, RequestID: "test"})
}

func opNamed(t testing.TB, ops []*op.Op, name string) *op.Op {
	t.Helper()
	for _, o := range ops {
		if o.ID() == name {
			return o
		}
	}
	t.Fatalf("there is no op %s", name)
	return nil
}

// TestMain: with the race detector, only tests that call racetest.Concurrent run. They have many
// callers, servers or jobs at once.
func TestMain(m *testing.M) { racetest.Main(m) }

// golden compares got with a file, or with -update writes it.
func golden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the code says; if the change is meant, run make update and review the diff\n%s", path,
			firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "first difference in line " + json.Number(itoa(i+1)).String() + "\n- " + a[i] + "\n+ " + b[i]
		}
	}
	return "they differ in length"
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// fillBooks adds a small household: two accounts at one bank, with six transactions in two
// currencies.
func (w *world) fillBooks(t testing.TB) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.System, Name: "test"})
	day := func(s string) pg.Date {
		d, err := pg.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	err := w.DB.InTx(ctx, func(tx pg.Tx) error {
		owner, err := w.Auth.CreateUser(ctx, tx, auth.CreateUser{Name: "Ada", Role: "admin"})
		if err != nil {
			return err
		}
		connections, err := w.Connections.AddConnections(ctx, tx,
			[]connection.NewConnection{{MemberID: owner.ID, Provider: "plaid", Institution: text.Name("First Bank")}})
		if err != nil {
			return err
		}
		accounts, err := w.Accounts.AddAccounts(ctx, tx, []account.Incoming{
			{
				ConnectionID: &connections[0], Provider: "plaid", ProviderID: "acc-1", Name: text.Name("Everyday"),
				Type: "depository", Currency: "EUR", BalanceCurrent: new(money.MustParse("1200.50")),
			},
			{
				ConnectionID: &connections[0], Provider: "plaid", ProviderID: "acc-2", Name: text.Name("Dollars"),
				Type: "depository", Currency: "USD",
			},
		})
		if err != nil {
			return err
		}
		row := func(n, account int, date, amount, name, merchant, primary, detailed string) ledger.Incoming {
			return ledger.Incoming{
				AccountID: accounts[account], ProviderID: itoa(n), Date: day(date), Amount: money.MustParse(amount),
				Currency: []money.Currency{"EUR", "USD"}[account],
				Name:     text.Name(name), MerchantName: text.Name(merchant), CategoryPrimary: text.Name(primary),
				CategoryDetailed: text.Name(detailed), Extra: bank.Extra{PaymentChannel: "in store"},
			}
		}
		_, err = w.Books.Load(ctx, tx, slices.Values([]ledger.Incoming{
			row(1, 0, "2026-03-01", "-3200.00", "SALARY ACME LTD", "", "INCOME", "INCOME_SALARY"),
			row(2, 0, "2026-03-02", "54.20", "REWE SAGT DANKE 1123", "REWE", "FOOD_AND_DRINK",
				"FOOD_AND_DRINK_GROCERIES"),
			row(3, 0, "2026-03-05", "4.80", "STARBUCKS #1123", "Starbucks", "FOOD_AND_DRINK", "FOOD_AND_DRINK_COFFEE"),
			row(4, 0, "2026-04-01", "980.00", "RENT APRIL", "", "RENT_AND_UTILITIES", "RENT_AND_UTILITIES_RENT"),
			row(5, 1, "2026-04-03", "12.00", "AMZN Mktp US*2K4RT1", "Amazon", "GENERAL_MERCHANDISE",
				"GENERAL_MERCHANDISE_ONLINE_MARKETPLACES"),
			row(6, 0, "2026-04-04", "-4.80", "STARBUCKS #1123 REFUND", "Starbucks", "", ""),
		}))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The balance gets a fixed day, so that stories read the same every day.
	if _, err := w.DB.Exec(ctx, `update account_balance set day = '2026-04-04'`); err != nil {
		t.Fatal(err)
	}
}

// seededMember is the short id of the member that exists in every new household.
const seededMember = "00000001"

// loggedIn gives a member a passkey record, a session, and a program that the member let in.
func (w *world) loggedIn(t testing.TB, member string) (login id.ID) {
	t.Helper()
	u, err := w.Auth.FindUser(t.Context(), w.DB, member)
	if err != nil {
		t.Fatal(err)
	}
	login = id.New()
	if _, err := w.DB.Exec(t.Context(), `
		insert into login (id, short_id, member_id, kind, identifier, proof, credential)
			values ($1, $2, $3, 'passkey', 'a phone', '{}',
			$4)`, login, login.Short(), u.ID, []byte(login.String())); err != nil {
		t.Fatal(err)
	}
	_, session, err := w.Auth.OpenSession(t.Context(), auth.SignIn{User: u}, "Firefox on Linux")
	if err != nil {
		t.Fatal(err)
	}
	w.letIn(t, session, op.Read, w.OAuth.Resource())
	return login
}

// synced creates the log of a sync.
func (w *world) synced(t testing.TB) id.ID {
	t.Helper()
	made := id.New()
	_, err := w.DB.Exec(t.Context(), `insert into sync_log (id, short_id, connection_id, trigger, job_id)
		select $1, $2, id, 'manual', $1 from connection limit 1`, made, made.Short())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// quarantined creates a row that could not be read.
func (w *world) quarantined(t testing.TB) id.ID {
	t.Helper()
	made := id.New()
	_, err := w.DB.Exec(t.Context(), `insert into quarantine (id, short_id, connection_id, provider_id, reason)
		select $1, $2, id, $2, 'amount' from connection limit 1`, made, made.Short())
	if err != nil {
		t.Fatal(err)
	}
	return made
}
