package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// told stores an event as if a provider had sent it for the first connection, item-1.
func (w *world) told(t testing.TB, provider, kind, effect, status, message string) id.ID {
	t.Helper()
	made := id.New()
	_, err := w.DB.Exec(t.Context(), `
		insert into webhook_event (id, short_id, provider, identity, event_type, effect, connection_id, about,
			account, code, advice, payload_hash, status, error_message)
		values ($1, $2, $3, $1::uuid::text, $4, $5, (select id from connection where provider = $3
			order by id limit 1), 'item-1', '', '', '', repeat('ab', 32), $6, $7)`,
		made, made.Short(), provider, kind, effect, status, message)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// fillHooks sets the provider's id of the household's connection, and adds three events.
func (w *world) fillHooks(t testing.TB) {
	t.Helper()
	if _, err := w.DB.Exec(t.Context(), `update connection set provider_id = 'item-1'`); err != nil {
		t.Fatal(err)
	}
	w.told(t, "plaid", "TRANSACTIONS.SYNC_UPDATES_AVAILABLE", "sync", "processed", "")
	w.told(t, "plaid", "ITEM.NEW_ACCOUNTS_AVAILABLE", "new_accounts", "processed", "")
	w.told(t, "teller", "transactions.processed", "sync", "error",
		"no connection matches the id in this event; connect the bank, then replay the event")
}

// A bankWorld is a world with simulators of both providers.
type bankWorld struct {
	*world
	config app.Config
	plaid  *banks.Plaid
	teller *banks.Teller
	books  []*banks.Book // of Plaid's item and Teller's enrolment
}

func newBankWorld(t *testing.T, rows int) *bankWorld {
	t.Helper()
	size := household.Options{Seed: 7, Transactions: rows, Years: 1}
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: size, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	b := &bankWorld{plaid: p, teller: tl, config: app.Config{
		EncryptionKey: seal.NewSecret(testRing), Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": p.URL()},
			"teller": {
				"application_id": "app_1", "environment": "sandbox", "url": tl.URL(),
				"webhook_secrets": "old,teller-webhook-secret",
			},
		},
	}}
	b.world = newWorldOn(t, pgtest.URL(t), b.config)
	return b
}

// linkBoth links a bank at each provider, waits for their first syncs, and returns their ids.
func (b *bankWorld) linkBoth(t *testing.T) (plaid, teller string) {
	t.Helper()
	token, book := b.plaid.NewItem("")
	e := b.teller.Enroll()
	b.books = []*banks.Book{book, e.Book}
	return b.link(t, fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token)),
		b.link(t, fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
			e.AccessToken, e.ID))
}

// deliver sends a delivery and returns the status and the body.
func deliver(ctx context.Context, client *http.Client, url string, d banks.Delivery) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Body))
	if err != nil {
		return 0, "", err
	}
	req.Header = d.Header.Clone()
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

func (w *world) deliver(t testing.TB, provider string, d banks.Delivery) (int, string) {
	t.Helper()
	status, body, err := deliver(t.Context(), http.DefaultClient, w.url+"/webhooks/"+provider, d)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func (b *bankWorld) signed(t testing.TB, item, kind, code string, more map[string]any) banks.Delivery {
	t.Helper()
	d, err := b.plaid.Webhook(item, kind, code, more)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// idle waits until no job is queued or running.
func (w *world) idle(t testing.TB, patience time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		live, err := pg.Values[string](t.Context(), w.DB, `select kind || ' ' || state || ' ' || args::text from job
			where finished_at is null`)
		if err != nil {
			t.Fatal(err)
		}
		if len(live) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d jobs do not end: %v", len(live), live[:min(len(live), 5)])
		}
	}
}

// hooks returns the list of events, newest first.
func (w *world) hooks(t testing.TB, query string) []map[string]any {
	t.Helper()
	r := w.send(t, exchange{method: http.MethodGet, path: "/api/v1/webhook-events?" + query, key: w.key})
	var page struct {
		Events []map[string]any `json:"webhook_events"`
	}
	if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return page.Events
}

// TestWebhooksOverHTTP: both providers send signed events, which coffer processes with a sync and
// can replay. The connection shows the events of its provider.
func TestWebhooksOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBankWorld(t, 60)
	b.work(t)
	plaid, teller := b.linkBoth(t)
	b.idle(t, time.Minute)
	item, enrolment := b.books[0].ID(), b.books[1].ID()
	for i, book := range b.books {
		row := slices.MaxFunc(book.Rows(), func(a, b banks.Row) int { return a.Date.Compare(b.Date) })
		row.ID, row.Name = "", "FRESH"
		book.Add(row)
		if i == 0 {
			status, body := b.deliver(t, "plaid", b.signed(t, item, "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", nil))
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			continue
		}
		d, err := b.teller.Webhook("wh_1", "transactions.processed", map[string]any{"enrollment_id": enrolment})
		if err != nil {
			t.Fatal(err)
		}
		if status, body := b.deliver(t, "teller", d); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	b.idle(t, time.Minute)
	b.holdsBooks(t, b.books...)
	logs, err := pg.Value[int](t.Context(), b.DB, `select count(*) from sync_log
		where trigger = 'webhook' and status = 'success'`)
	if err != nil || logs != 2 {
		t.Errorf("%d syncs by webhook (%v), want 2", logs, err)
	}
	seen := b.hooks(t, "")
	if len(seen) != 2 || seen[0]["connection_id"] != teller || seen[1]["connection_id"] != plaid ||
		seen[1]["status"] != "processed" || len(seen[1]["raw_payload_hash"].(string)) != 64 ||
		seen[1]["institution_name"] == "" {
		t.Errorf("%v", seen)
	}
	if leak, err := pg.Value[bool](t.Context(), b.DB, `select exists (select from webhook_event e
		where e::text like '%webhook_code%')`); err != nil || leak {
		t.Errorf("a body is kept (%v)", err)
	}
	r := b.send(t, exchange{method: http.MethodPost, path: fmt.Sprintf("/api/v1/webhook-events/%s/replay",
		seen[0]["short_id"]), key: b.key})
	if r.status != http.StatusOK || !strings.Contains(r.body, `"triggered":true`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	b.idle(t, time.Minute)
	b.deliver(t, "plaid", b.signed(t, item, "ITEM", "PENDING_EXPIRATION",
		map[string]any{"consent_expiration_time": "2099-07-01T00:00:00Z"}))
	b.deliver(t, "plaid", b.signed(t, item, "ITEM", "NEW_ACCOUNTS_AVAILABLE", nil))
	gone, err := b.teller.Webhook("wh_2", "enrollment.disconnected",
		map[string]any{"enrollment_id": enrolment, "reason": "disconnected.credentials_invalid"})
	if err != nil {
		t.Fatal(err)
	}
	b.deliver(t, "teller", gone)
	b.idle(t, time.Minute)
	for connection, want := range map[string][]string{
		plaid: {
			`"status":"active"`, `"status_reason":"CONSENT_EXPIRING"`,
			`"consent_expires_at":"2099-07-01T00:00:00.000000Z"`, `"new_accounts_available":true`,
		},
		teller: {`"status":"pending_reauth"`, `"next_sync_at":null`},
	} {
		r := b.send(t, exchange{method: http.MethodGet, path: "/api/v1/connections/" + connection, key: b.key})
		for _, x := range want {
			if !strings.Contains(r.body, x) {
				t.Errorf("%s is not in %s", x, r.body)
			}
		}
	}
	b.deliver(t, "plaid", b.signed(t, item, "ITEM", "USER_PERMISSION_REVOKED", nil))
	b.deliver(t, "plaid", b.signed(t, "stranger", "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", nil))
	b.idle(t, time.Minute)
	if wrong := b.hooks(t, "status=error"); len(wrong) != 1 || wrong[0]["error_message"] == "" ||
		wrong[0]["connection_id"] != "" {
		t.Errorf("%v", wrong)
	}
	if ended, err := pg.Value[bool](t.Context(), b.DB, `select status = 'disconnected' and credentials is null
		from connection where id = $1`, plaid); err != nil || !ended {
		t.Errorf("access was revoked, and the connection is not disconnected (%v)", err)
	}
	large := banks.Delivery{Header: http.Header{}, Body: bytes.Repeat([]byte("x"), 256<<10+1)}
	if status, _ := b.deliver(t, "plaid", large); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", status)
	}
	if status, body := newWorld(t).deliver(t, "plaid", b.signed(t, item, "ITEM", "ERROR",
		nil)); status != http.StatusUnprocessableEntity {
		t.Errorf("a provider that is not configured: %d %s", status, body)
	}
}

// holdsBooks checks that the stored data equals what the banks have.
func (w *world) holdsBooks(t testing.TB, books ...*banks.Book) {
	t.Helper()
	for _, book := range books {
		stored, err := pg.Values[string](t.Context(), w.DB, `
			select t.provider_id || ' ' || t.date || ' ' || t.amount || ' ' || t.currency || ' ' || t.pending
				from connection c join account a on a.connection_id = c.id join transaction t on t.account_id = a.id
			where c.provider_id = $1 and t.deleted_at is null`, book.ID())
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, r := range book.Rows() {
			want = append(want, fmt.Sprintf("%s %s %s %s %t", r.ID, r.Date.Format("2006-01-02"), r.Amount, r.Currency,
				r.Pending))
		}
		slices.Sort(stored)
		slices.Sort(want)
		if !slices.Equal(stored, want) {
			t.Errorf("%s: %d rows are stored, the bank has %d", book.ID(), len(stored), len(want))
		}
	}
}

// TestWebhookEndsALinkSession: Plaid reports that a member has finished on its own page. The
// session ends and its bank syncs, although nobody opens the page and no sweep runs.
func TestWebhookEndsALinkSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	d.share(t, s)
	name := fmt.Sprint(s.ProviderConfig["token"])
	for range 2 { // a second delivery is harmless
		told, err := d.plaid.Webhook("", "LINK", "SESSION_FINISHED",
			map[string]any{"link_token": name, "status": "SUCCESS"})
		if err != nil {
			t.Fatal(err)
		}
		if status, body := d.deliver(t, "plaid", told); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		d.idle(t, time.Minute)
	}
	if n := d.count(t, `select count(*) from link_session s join connection c on c.id = s.connection_id
		where s.state = 'done' and c.last_sync_at is not null`); n != 1 {
		t.Errorf("%d sessions are done", n)
	}
	if n := d.count(t, `select count(*) from connection`); n != 1 {
		t.Errorf("%d connections", n)
	}
	if n := d.count(t, `select count(*) from webhook_event where status <> 'processed'
		or webhook_event::text like '%' || $1 || '%'`, name); n != 0 {
		t.Errorf("%d events are not done, or show the session's name", n)
	}
}
