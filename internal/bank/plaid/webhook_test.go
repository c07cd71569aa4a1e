package plaid_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/plaid"
	"coffer/internal/sim/banks"
)

func contextWithin(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func TestWebhookVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/webhook.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		IssuedAt int64           `json:"iat"`
		Key      json.RawMessage `json:"key_get_response"`
		Header   string          `json:"plaid_verification_header"`
		Body     string          `json:"raw_body"`
		Printed  string          `json:"same_json_reserialized_must_fail"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write(v.Key)
	}))
	t.Cleanup(server.Close)
	for age, good := range map[time.Duration]bool{
		0: true, 4 * time.Minute: true, 6 * time.Minute: false,
		-30 * time.Second: true, -2 * time.Minute: false,
	} {
		now := func() time.Time { return time.Unix(v.IssuedAt, 0).Add(age) }
		p, err := plaid.New(plaid.Config{
			Environment: "sandbox", BaseURL: server.URL, ClientID: "c", Secret: "s",
			Now: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		h.Set("plaid-verification", v.Header)
		e, err := p.Verify(t.Context(), h, []byte(v.Body))
		if (err == nil) != good || good && (e.Effect != bank.Sync || e.ConnectionID != "item-test-1" ||
			e.Type != "TRANSACTIONS.SYNC_UPDATES_AVAILABLE") {
			t.Errorf("%s old: got %+v, %v", age, e, err)
		}
		if _, err := p.Verify(t.Context(), h, []byte(v.Printed)); !errors.Is(err, bank.ErrForged) {
			t.Errorf("a re-encoded body: got %v", err)
		}
	}
}

func TestEveryWebhook(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	failed := func(code, kind string) map[string]any {
		return map[string]any{"error": map[string]any{
			"error_code": code, "error_type": kind, "status": 400,
			"error_message": "prose",
		}}
	}
	for _, c := range []struct {
		kind, code string
		more       map[string]any
		want       bank.Event
	}{
		{"TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", nil, bank.Event{Effect: bank.Sync}},
		{"TRANSACTIONS", "INITIAL_UPDATE", nil, bank.Event{Effect: bank.Sync}},
		{"TRANSACTIONS", "HISTORICAL_UPDATE", nil, bank.Event{Effect: bank.Sync}},
		{"TRANSACTIONS", "DEFAULT_UPDATE", nil, bank.Event{Effect: bank.Sync}},
		{"TRANSACTIONS", "TRANSACTIONS_REMOVED", nil, bank.Event{}},
		{"TRANSACTIONS", "RECURRING_TRANSACTIONS_UPDATE", nil, bank.Event{}},
		{
			"ITEM", "ERROR", failed("ITEM_LOGIN_REQUIRED", "ITEM_ERROR"),
			bank.Event{Effect: bank.NeedsReauth, Code: "ITEM_LOGIN_REQUIRED"},
		},
		{"ITEM", "ERROR", failed("INSTITUTION_DOWN", "INSTITUTION_ERROR"), bank.Event{Effect: bank.Sync}},
		{
			"ITEM", "ERROR", failed("USER_PERMISSION_REVOKED", "ITEM_ERROR"),
			bank.Event{Effect: bank.Revoked, Code: "USER_PERMISSION_REVOKED"},
		},
		{"ITEM", "ERROR", nil, bank.Event{}},
		{
			"ITEM", "PENDING_EXPIRATION",
			map[string]any{"consent_expiration_time": "2026-07-01T00:00:00Z"},
			bank.Event{
				Effect: bank.Expiring, Code: "PENDING_EXPIRATION",
				ExpiresAt: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
			},
		},
		{
			"ITEM", "PENDING_DISCONNECT",
			map[string]any{"reason": "INSTITUTION_MIGRATION"},
			bank.Event{Effect: bank.Expiring, Code: "PENDING_DISCONNECT"},
		},
		{"ITEM", "LOGIN_REPAIRED", nil, bank.Event{Effect: bank.Repaired}},
		{"ITEM", "USER_PERMISSION_REVOKED", nil, bank.Event{Effect: bank.Revoked, Code: "USER_PERMISSION_REVOKED"}},
		{
			"ITEM", "USER_ACCOUNT_REVOKED",
			map[string]any{"account_id": "acc1"},
			bank.Event{Effect: bank.AccountGone, AccountID: "acc1"},
		},
		{"ITEM", "NEW_ACCOUNTS_AVAILABLE", nil, bank.Event{Effect: bank.NewAccounts}},
		{"ITEM", "WEBHOOK_UPDATE_ACKNOWLEDGED", nil, bank.Event{}},
		{
			"LINK", "SESSION_FINISHED",
			map[string]any{"link_token": "link-sandbox-1", "status": "SUCCESS"},
			bank.Event{Effect: bank.SessionDone, Session: "link-sandbox-1"},
		},
		{"LINK", "EVENTS", nil, bank.Event{}},
		{"NEW", "THING", map[string]any{"item_id": 7}, bank.Event{}},
	} {
		d, err := sim.Webhook("item1", c.kind, c.code, c.more)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Verify(t.Context(), d.Header, d.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got.Type != c.kind+"."+c.code || !strings.Contains(got.ID, ".") ||
			(got.ConnectionID != "item1") != (c.kind == "NEW") {
			t.Errorf("%s.%s: got %+v", c.kind, c.code, got)
		}
		if (got.Advice != "") != (got.Effect == bank.NeedsReauth || got.Effect == bank.Revoked) {
			t.Errorf("%s.%s: advice %q", c.kind, c.code, got.Advice)
		}
		got.ID, got.Type, got.ConnectionID, got.Advice = "", "", "", ""
		if got != c.want {
			t.Errorf("%s.%s: got %+v, want %+v", c.kind, c.code, got, c.want)
		}
	}
}

// TestKeys counts the requests for keys. Forged ids must not use up the limit, and a key that was
// revoked must not be trusted for long.
func TestKeys(t *testing.T) {
	t.Parallel()
	const path = "/webhook_verification_key/get"
	sim, p := start(t, banks.PlaidOptions{})
	deliver := func() error {
		t.Helper()
		d, err := sim.Webhook("i", "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Verify(t.Context(), d.Header, d.Body)
		return err
	}
	for range 50 {
		if err := deliver(); err != nil {
			t.Fatal(err)
		}
	}
	if n := sim.Calls(path); n != 1 {
		t.Errorf("%d questions for one key", n)
	}
	other, err := banks.NewPlaid(banks.PlaidOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	for i := range 200 {
		if err := other.RotateKey(); err != nil {
			t.Fatal(err)
		}
		d, err := other.Sign([]byte(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Verify(t.Context(), d.Header, d.Body); err == nil {
			t.Fatal("a stranger's key is trusted")
		}
	}
	if n := sim.Calls(path); n > 2 {
		t.Errorf("%d questions, of them more than one for keys that do not exist", n)
	}
	if err := deliver(); err != nil {
		t.Errorf("the known key: %v", err)
	}
	// The old key is revoked and a new one signs. The new key is fetched as soon as the limit
	// allows it.
	old, err := sim.Webhook("i", "ITEM", "LOGIN_REPAIRED", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.RotateKey(); err != nil {
		t.Fatal(err)
	}
	if err := deliver(); bank.Classify(err).Code != "KEY_LOOKUP_LIMITED" {
		t.Errorf("got %v", err)
	}
	sim.Advance(2 * time.Minute)
	if err := deliver(); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if _, err := p.Verify(t.Context(), old.Header, old.Body); err != nil {
		t.Errorf("an ended key within its hour: %v", err)
	}
	sim.Advance(time.Minute)
	fresh := sim.Calls(path)
	sim.Advance(2 * time.Hour)
	if err := deliver(); err != nil || sim.Calls(path) != fresh+1 {
		t.Errorf("a key is not asked for again: %v", err)
	}
	// Plaid cannot be reached: a key that it confirmed stays valid for a day, but not forever.
	sim.Advance(2 * time.Hour)
	sim.Script(banks.Fault{Path: path, Times: -1, Status: 503})
	if err := deliver(); err != nil {
		t.Errorf("Plaid is down: %v", err)
	}
	sim.Advance(30 * time.Hour)
	if err := deliver(); err == nil {
		t.Error("a key is trusted for ever")
	}
}

// TestEndedKey verifies one delivery with two clients: one that does not know its key yet, and one
// that fetched the key before it was revoked.
func TestEndedKey(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{})
	verify := func(p *plaid.Plaid, d banks.Delivery) error {
		_, err := p.Verify(t.Context(), d.Header, d.Body)
		return err
	}
	sign := func() banks.Delivery {
		t.Helper()
		d, err := sim.Webhook("i", "ITEM", "LOGIN_REPAIRED", nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if err := verify(p, sign()); err != nil {
		t.Fatal(err)
	}
	sim.Advance(59 * time.Minute)
	d := sign()
	if err := sim.RotateKey(); err != nil {
		t.Fatal(err)
	}
	fresh, err := plaid.New(plaid.Config{
		Environment: "sandbox", BaseURL: sim.URL(), ClientID: "client", Secret: secret,
		Now: sim.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(fresh, d); !errors.Is(err, bank.ErrForged) {
		t.Errorf("a client that never knew the key: %v", err)
	}
	if err := verify(p, d); err != nil {
		t.Errorf("within the hour: %v", err)
	}
	sim.Advance(2 * time.Minute)
	for range 2 {
		if err := verify(p, d); err == nil {
			t.Error("after the hour the key is still believed")
		}
	}
}

// TestOtherAlgorithms signs correctly but names another algorithm. An attacker does so in the hope
// that the verifier trusts the name.
func TestOtherAlgorithms(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"key":{"alg":"ES256","crv":"P-256","kty":"EC","use":"sig","kid":"k","expired_at":null,"x":%q,"y":%q}}`, text(point[1:33]), text(point[33:]))
	}))
	t.Cleanup(server.Close)
	body := []byte(`{"webhook_type":"ITEM","webhook_code":"LOGIN_REPAIRED"}`)
	for alg, good := range map[string]bool{
		"ES256": true, "es256": false, "none": false, "HS256": false, "ES384": false,
		"": false,
	} {
		p, err := plaid.New(plaid.Config{Environment: "sandbox", BaseURL: server.URL, ClientID: "c", Secret: "s"})
		if err != nil {
			t.Fatal(err)
		}
		signed := text(fmt.Appendf(nil, `{"alg":%q,"kid":"k"}`, alg)) + "." + text(fmt.Appendf(nil,
			`{"iat":%d,"request_body_sha256":"%x"}`, time.Now().Unix(), sha256.Sum256(body)))
		digest := sha256.Sum256([]byte(signed))
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		if _, err := p.Verify(t.Context(), http.Header{"Plaid-Verification": {signed + "." + text(signature)}},
			body); (err == nil) != good {
			t.Errorf("%q: got %v", alg, err)
		}
	}
}

// TestKeyIsAskedForOnce sends several deliveries with a new key at the same time. All wait for the
// same response, even if one sender disconnects.
func TestKeyIsAskedForOnce(t *testing.T) {
	t.Parallel()
	const path = "/webhook_verification_key/get"
	sim, p := start(t, banks.PlaidOptions{})
	sim.Script(banks.Fault{Path: path, Delay: 300 * time.Millisecond})
	gone, leave := contextWithin(t, 50*time.Millisecond)
	defer leave()
	var group sync.WaitGroup
	for i := range 20 {
		d, err := sim.Webhook("i", "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", map[string]any{"n": i})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if i == 0 {
			ctx = gone
		}
		group.Go(func() {
			if i > 0 {
				for sim.Calls(path) == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			if _, err := p.Verify(ctx, d.Header, d.Body); err != nil {
				t.Errorf("delivery %d: %v", i, err)
			}
		})
	}
	group.Wait()
	if n := sim.Calls(path); n != 1 {
		t.Errorf("%d questions for one key", n)
	}
}
