package banks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// small is a household of few rows.
var small = household.Options{Transactions: 400, Years: 1}

func newPlaid(t *testing.T) *banks.Plaid {
	t.Helper()
	sim, err := banks.NewPlaid(banks.PlaidOptions{Household: small})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

// call posts to the simulator as a client would.
func call(t *testing.T, sim *banks.Plaid, path string, in map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, sim.URL()+path, bytes.NewReader(body))
	req.Header = http.Header{"Plaid-Client-Id": {"client"}, "Plaid-Secret": {"secret"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out
}

// item links a bank through the sandbox's own call.
func item(t *testing.T, sim *banks.Plaid, webhook string) (string, *banks.Book) {
	t.Helper()
	_, made := call(t, sim, "/sandbox/public_token/create",
		map[string]any{
			"institution_id": "ins_1", "initial_products": []string{"transactions"},
			"options": map[string]any{"webhook": webhook},
		})
	_, out := call(t, sim, "/item/public_token/exchange", map[string]any{"public_token": made["public_token"]})
	return out["access_token"].(string), sim.Book(out["item_id"].(string))
}

func TestSameSeedSameBank(t *testing.T) {
	t.Parallel()
	_, a := newPlaid(t).NewItem("")
	sim := newPlaid(t)
	_, b := sim.NewItem("")
	_, c := sim.NewItem("")
	if !slices.EqualFunc(a.Rows(), b.Rows(), func(x, y banks.Row) bool {
		return x.ID == y.ID &&
			x.Amount == y.Amount && x.Name == y.Name
	}) {
		t.Error("two simulators of one seed differ")
	}
	if c.ID() == b.ID() || len(c.Rows()) == 0 || slices.ContainsFunc(c.Rows(),
		func(r banks.Row) bool { return r.ID == b.Rows()[0].ID }) {
		t.Error("two items are one")
	}
}

func TestSyncTellsWhatHappened(t *testing.T) {
	t.Parallel()
	sim := newPlaid(t)
	token, book := item(t, sim, "")
	_, first := call(t, sim, "/transactions/sync", map[string]any{"access_token": token, "count": 500})
	if first["has_more"] != false || len(first["added"].([]any)) != len(book.Rows()) {
		t.Fatalf("the first sync has %d rows of %d", len(first["added"].([]any)), len(book.Rows()))
	}
	account := book.Accounts()[0].ID
	gone := book.Rows()[0].ID
	book.Remove(gone)
	changed := book.Rows()[0].ID
	book.Change(changed, func(r *banks.Row) { r.Name = "New name" })
	fleeting := book.Add(banks.Row{AccountID: account, Date: time.Now(), Amount: money.MustParse("1.00")})
	book.Remove(fleeting.ID)
	pending := book.Add(banks.Row{
		AccountID: account, Date: time.Now(), Amount: money.MustParse("12.50"),
		Pending: true,
	})
	_, second := call(t, sim, "/transactions/sync", map[string]any{
		"access_token": token,
		"cursor":       first["next_cursor"], "count": 500,
	})
	ids := func(out map[string]any, kind string) (got []string) {
		for _, r := range out[kind].([]any) {
			got = append(got, r.(map[string]any)["transaction_id"].(string))
		}
		return got
	}
	if !slices.Equal(ids(second, "removed"), []string{gone}) ||
		!slices.Equal(ids(second, "modified"), []string{changed}) ||
		!slices.Equal(ids(second, "added"), []string{pending.ID}) {
		t.Errorf("got %v", second)
	}
	posted := book.Post(pending.ID, nil)
	_, third := call(t, sim, "/transactions/sync", map[string]any{
		"access_token": token,
		"cursor":       second["next_cursor"], "count": 1,
	})
	if third["has_more"] != true || !slices.Equal(ids(third, "removed"), []string{pending.ID}) {
		t.Errorf("got %v", third)
	}
	_, fourth := call(t, sim, "/transactions/sync", map[string]any{
		"access_token": token,
		"cursor":       third["next_cursor"], "count": 1,
	})
	row := fourth["added"].([]any)[0].(map[string]any)
	if row["transaction_id"] != posted.ID || row["pending_transaction_id"] != pending.ID {
		t.Errorf("got %v", row)
	}
	book.Remove(posted.ID)
	status, failed := call(t, sim, "/transactions/sync",
		map[string]any{"access_token": token, "cursor": third["next_cursor"], "count": 1})
	if status != http.StatusBadRequest || failed["error_code"] != "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION" {
		t.Errorf("got %d %v", status, failed)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	sim := newPlaid(t)
	token, _ := item(t, sim, "")
	for _, c := range []struct {
		path string
		in   map[string]any
		want string
	}{
		{"/accounts/get", map[string]any{"access_token": "access-sandbox-none"}, "INVALID_ACCESS_TOKEN"},
		{"/item/get", map[string]any{"access_token": "none"}, "INVALID_ACCESS_TOKEN"},
		{"/item/remove", map[string]any{"access_token": "none"}, "INVALID_ACCESS_TOKEN"},
		{"/transactions/sync", map[string]any{"access_token": token, "count": 501}, "INVALID_FIELD"},
		{"/transactions/sync", map[string]any{"access_token": token, "cursor": "made up"}, "INVALID_FIELD"},
		{"/transactions/sync", map[string]any{"access_token": 7}, "INVALID_FIELD"},
		{"/link/token/create", map[string]any{}, "MISSING_FIELDS"},
		{"/link/token/create", map[string]any{
			"client_name": "c", "language": "en", "country_codes": []string{"US"},
			"user": map[string]any{"client_user_id": "u"},
		}, "INVALID_FIELD"},
		{"/webhook_verification_key/get", map[string]any{"key_id": "none"}, "INVALID_WEBHOOK_VERIFICATION_KEY_ID"},
		{"/sandbox/public_token/create", map[string]any{}, "MISSING_FIELDS"},
	} {
		status, out := call(t, sim, c.path, c.in)
		if status != http.StatusBadRequest || out["error_code"] != c.want || out["request_id"] == "" {
			t.Errorf("%s: got %d %v, want %s", c.path, status, out, c.want)
		}
	}
	resp, err := http.Post(sim.URL()+"/accounts/get", "application/json", bytes.NewReader([]byte(`{}`)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, _ := io.ReadAll(resp.Body); !bytes.Contains(body, []byte("INVALID_API_KEYS")) {
		t.Errorf("without keys: %s", body)
	}
}

func TestSandboxCalls(t *testing.T) {
	t.Parallel()
	sim := newPlaid(t)
	got := make(chan *http.Request, 4)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	t.Cleanup(hook.Close)
	token, book := item(t, sim, hook.URL)
	// Before the first sync, no webhooks about transactions are sent.
	if err := sim.Fire(t.Context(), book.ID(), "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", nil); err != nil ||
		len(got) != 0 {
		t.Errorf("%d webhooks before the first sync, %v", len(got), err)
	}
	call(t, sim, "/transactions/sync", map[string]any{"access_token": token})
	call(t, sim, "/sandbox/item/fire_webhook", map[string]any{
		"access_token": token,
		"webhook_code": "SYNC_UPDATES_AVAILABLE",
	})
	select {
	case r := <-got:
		if r.Header.Get("Plaid-Verification") == "" {
			t.Error("a webhook without a signature")
		}
	case <-time.After(5 * time.Minute):
		t.Error("no webhook")
	}
	n := len(book.Rows())
	call(t, sim, "/sandbox/transactions/create", map[string]any{
		"access_token": token,
		"transactions": []any{map[string]any{
			"date_transacted": "2026-06-29", "date_posted": "2026-06-30",
			"amount": 12.5, "description": "Tea",
		}},
	})
	if rows := book.Rows(); len(rows) != n+1 || !slices.ContainsFunc(rows,
		func(r banks.Row) bool { return r.Name == "Tea" && r.Amount == money.MustParse("12.50") }) {
		t.Error("no such row")
	}
	book.Add(banks.Row{AccountID: book.Accounts()[0].ID, Date: time.Now(), Pending: true})
	call(t, sim, "/transactions/refresh", map[string]any{"access_token": token})
	if len(book.Pending()) != 0 {
		t.Error("a refresh leaves rows pending")
	}
	call(t, sim, "/sandbox/item/reset_login", map[string]any{"access_token": token})
	if _, out := call(t, sim, "/item/get", map[string]any{"access_token": token}); out["item"].(map[string]any)["error"].(map[string]any)["error_code"] != "ITEM_LOGIN_REQUIRED" {
		t.Errorf("got %v", out)
	}
	if err := sim.Fire(t.Context(), "none", "ITEM", "ERROR", nil); err == nil {
		t.Error("an unknown item sends webhooks")
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	sim := newPlaid(t)
	token, _ := item(t, sim, "")
	sim.Script(banks.Fault{Path: "/item", Skip: 1, Times: 2, Status: 503})
	var got []int
	for range 4 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, sim.URL()+"/item/get",
			bytes.NewReader([]byte(`{"access_token":"`+token+`"}`)))
		req.Header = http.Header{"Plaid-Client-Id": {"client"}, "Plaid-Secret": {"secret"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		got = append(got, resp.StatusCode)
	}
	if !slices.Equal(got, []int{200, 503, 503, 200}) {
		t.Errorf("got %v", got)
	}
	sim.Script(banks.Fault{Delay: time.Hour, Times: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, sim.URL()+"/item/get", http.NoBody)
	if resp, err := http.DefaultClient.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", resp, err)
	}
	sim.Calm()
	if status, _ := call(t, sim, "/item/get", map[string]any{"access_token": token}); status != http.StatusOK {
		t.Errorf("got %d after the storm", status)
	}
}

func TestTellerSpeaksTeller(t *testing.T) {
	t.Parallel()
	sim, err := banks.NewTeller(banks.TellerOptions{Sandbox: true, Household: small})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	e := sim.Enroll()
	if sim.Book(e.ID) != e.Book || sim.Book("none") != nil {
		t.Error("the enrolment is not found")
	}
	get := func(path string) (int, []byte) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, sim.URL()+path, http.NoBody)
		req.SetBasicAuth(e.AccessToken, "")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, body
	}
	a := e.Book.Accounts()[0].ID
	var all, page []struct{ ID, Date, Amount string }
	_, body := get("/accounts/" + a + "/transactions")
	if err := json.Unmarshal(body, &all); err != nil || len(all) < 20 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(x, y struct{ ID, Date, Amount string }) int {
		return strings.Compare(y.Date, x.Date)
	}) {
		t.Error("not newest first")
	}
	_, body = get("/accounts/" + a + "/transactions?count=5&from_id=" + all[4].ID)
	if err := json.Unmarshal(body, &page); err != nil || !slices.Equal(page, all[5:10]) {
		t.Errorf("got %v, %v", page, err)
	}
	_, body = get("/accounts/" + a + "/transactions?start_date=" + all[9].Date + "&end_date=" + all[3].Date)
	if err := json.Unmarshal(body, &page); err != nil || page[0].Date != all[3].Date ||
		page[len(page)-1].Date != all[9].Date {
		t.Errorf("got %v, %v", page, err)
	}
	for path, want := range map[string]int{
		"/accounts/" + a: 200, "/accounts/none": 404, "/accounts/" + a + "/transactions?count=0": 400,
		"/accounts/" + a + "/transactions?start_date=x": 400,
		"/accounts/" + a + "/transactions?from_id=none": 404,
	} {
		if status, _ := get(path); status != want {
			t.Errorf("%s: got %d, want %d", path, status, want)
		}
	}
	e.Book.Break("enrollment.disconnected")
	if status, _ := get("/accounts/" + a + "/transactions"); status != http.StatusNotFound {
		t.Errorf("broken: got %d", status)
	}
	if status, _ := get("/accounts"); status != http.StatusOK {
		t.Errorf("the list of a broken enrolment: got %d", status)
	}
}
