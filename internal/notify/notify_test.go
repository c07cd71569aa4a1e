package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

const testKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func ringOf() (*seal.Ring, error) { return seal.NewRing(testKey) }

func newRing(t testing.TB) *seal.Ring {
	t.Helper()
	ring, err := ringOf()
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// A received message is a request that a receiver got.
type received struct {
	header http.Header
	body   []byte
	at     time.Time
}

// A receiver records its requests, and responds as configured.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer http.HandlerFunc // nil for status 200
}

func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the sender was killed
		}
		r.mu.Lock()
		r.got = append(r.got, received{req.Header.Clone(), body, time.Now()})
		r.mu.Unlock()
		if r.answer != nil {
			r.answer(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.got...)
}

// A house is a household with a Notifier whose timeouts are short.
type house struct {
	*testing.T
	*Notifier
	reports []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t}
	h.Notifier = New(Config{
		DB: pgtest.New(t), Ring: newRing(t), Log: slog.New(slog.DiscardHandler),
		Report: func(_ context.Context, _ pg.Tx, title, body string) error {
			h.reports = append(h.reports, title+": "+body)
			return nil
		},
	})
	h.limits.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	h.limits.check = 5 * time.Millisecond
	return h
}

func (h *house) ctx() context.Context {
	return op.WithActor(h.Context(), op.Actor{Type: op.User, Name: "Ada", Scope: op.Full})
}

func (h *house) tx(f func(tx pg.Tx) error) {
	h.Helper()
	if err := h.db.InTx(h.ctx(), f); err != nil {
		h.Fatal(err)
	}
}

func (h *house) endpoint(in CreateEndpoint) NewEndpoint {
	h.Helper()
	var out NewEndpoint
	if in.Content == "" {
		in.Content = "lean"
	}
	h.tx(func(tx pg.Tx) (err error) {
		out, err = h.CreateEndpoint(h.ctx(), tx, in)
		return err
	})
	return out
}

func (h *house) post(events ...Event) {
	h.Helper()
	h.tx(func(tx pg.Tx) error { return Post(h.ctx(), tx, events...) })
}

// sweep sends all due messages.
func (h *house) sweep() {
	h.Helper()
	for {
		left, err := next(h.ctx(), h.db)
		if err != nil {
			h.Fatal(err)
		}
		if left > time.Minute {
			return
		}
		if left > 0 {
			time.Sleep(left)
		}
		if err := h.Sweep(h.ctx()); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *house) list() []Notification {
	h.Helper()
	out, err := h.List(h.ctx(), h.db, ListNotifications{Limit: 50})
	if err != nil {
		h.Fatal(err)
	}
	return out.Notifications
}

func (h *house) find(ref string) Endpoint {
	h.Helper()
	list, err := h.Endpoints(h.ctx(), h.db, op.None{})
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range list.Endpoints {
		if e.ShortID == ref {
			return e
		}
	}
	h.Fatalf("no endpoint %s", ref)
	return Endpoint{}
}

// An event is sent once to every endpoint that takes its type. Each message passes the verification
// of the specification. Bank text is only sent to endpoints whose content is full.
func TestMessagesArrive(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	all, some, none := newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)
	full := h.endpoint(CreateEndpoint{URL: all.URL, Content: "full"})
	lean := h.endpoint(CreateEndpoint{URL: some.URL, Events: []Type{SyncFailed}})
	h.endpoint(CreateEndpoint{URL: none.URL, Events: []Type{Submitted}})
	event := Event{
		Type: SyncFailed, Subject: "one", Data: map[string]any{"reason": "X"},
		Full: map[string]any{"institution_name": "Bank & <Sons>"},
	}
	h.post(event, event)
	h.post(event)
	if err := h.db.InTx(h.ctx(), func(tx pg.Tx) error {
		if err := Post(h.ctx(), tx, Event{Type: SyncFailed, Subject: "undone"}); err != nil {
			return err
		}
		return errors.New("the cause fails")
	}); err == nil {
		t.Fatal("it was committed")
	}
	h.sweep()
	if n := len(none.all()); n != 0 {
		t.Errorf("%d messages of a type that the endpoint does not take", n)
	}
	for _, x := range []struct {
		*receiver
		secret, data string
	}{
		{all, full.Secret, `{"reason": "X", "institution_name": "Bank & <Sons>"}`},
		{some, lean.Secret, `{"reason": "X"}`},
	} {
		got := x.all()
		if len(got) != 1 {
			t.Fatalf("%d messages", len(got))
		}
		if err := verify(x.secret, got[0].header, got[0].body, time.Now()); err != nil {
			t.Errorf("%v: %s", err, got[0].header)
		}
		var m struct {
			Type      string          `json:"type"`
			Timestamp time.Time       `json:"timestamp"`
			Data      json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(got[0].body, &m); err != nil || m.Type != "sync.failed" ||
			time.Since(m.Timestamp) > time.Minute || !same(t, m.Data, x.data) {
			t.Errorf("%s %v", got[0].body, err)
		}
	}
	list := h.list()
	if len(list) != 1 || len(list[0].Deliveries) != 2 || list[0].Deliveries[0].State != "delivered" ||
		"msg_"+list[0].ShortID != all.all()[0].header.Get("Webhook-Id") {
		t.Errorf("%+v", list)
	}
	if strings.Contains(string(list[0].Data), "Sons") {
		t.Errorf("bank text is listed: %s", list[0].Data)
	}
	if h.find(full.ShortID).LastSuccessAt == nil {
		t.Error("the success is not shown")
	}
}

func same(t *testing.T, got []byte, want string) bool {
	t.Helper()
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatalf("%s", got)
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// A failed message is sent again with the same id and body. Three failed messages in a row disable
// the endpoint, and a report explains that. A success in between resets the count.
func TestRetriesAndDisabling(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var mu sync.Mutex
	broken := true
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	e := h.endpoint(CreateEndpoint{URL: r.URL + "/secret-path"})
	set := func(v bool) { mu.Lock(); broken = v; mu.Unlock() }
	one := func(subject string) { h.post(Event{Type: SyncFailed, Subject: subject}); h.sweep() }
	one("a")
	if got := r.all(); len(got) != 3 || got[0].header.Get("Webhook-Id") != got[2].header.Get("Webhook-Id") ||
		!bytes.Equal(got[0].body, got[2].body) {
		t.Fatalf("%d attempts: %v", len(got), got)
	}
	one("b")
	set(false)
	one("c")
	set(true)
	one("d")
	one("e")
	if now := h.find(e.ShortID); !now.Enabled {
		t.Fatalf("two in a row were enough: %+v", now)
	}
	one("f")
	now := h.find(e.ShortID)
	if now.Enabled || now.DisabledReason == nil || *now.DisabledReason != "failing" {
		t.Errorf("%+v", now)
	}
	if len(h.reports) != 1 || strings.Contains(h.reports[0], "secret-path") {
		t.Errorf("reports: %q", h.reports)
	}
	before := len(r.all())
	one("g")
	if len(r.all()) != before {
		t.Error("a disabled endpoint was sent to")
	}
	set(false)
	h.tx(func(tx pg.Tx) error {
		_, err := h.PatchEndpoint(h.ctx(), tx, PatchEndpoint{EndpointRef: EndpointRef{e.ShortID}, Enabled: new(true)})
		return err
	})
	h.tx(func(tx pg.Tx) error {
		_, err := h.Resend(h.ctx(), tx, Resend{ID: h.list()[0].ShortID})
		return err
	})
	h.sweep()
	if got := r.all(); len(got) != before+1 || got[before].header.Get("Webhook-Id") != "msg_"+h.list()[0].ShortID {
		t.Errorf("resent: %d", len(got)-before)
	}
}

// Status 410 disables the endpoint at once, whatever other messages are pending.
func TestGoneDisables(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	e := h.endpoint(CreateEndpoint{URL: r.URL})
	h.post(Event{Type: SyncFailed, Subject: "a"}, Event{Type: SyncFailed, Subject: "b"})
	h.sweep()
	now := h.find(e.ShortID)
	if len(r.all()) != 1 || now.Enabled || *now.DisabledReason != "gone" || len(h.reports) != 1 {
		t.Errorf("%d messages, %+v, %d reports", len(r.all()), now, len(h.reports))
	}
	for _, n := range h.list() {
		if n.Deliveries[0].State != "failed" {
			t.Errorf("%+v", n.Deliveries)
		}
	}
}

// Retries wait as long as the contract says, plus or minus a tenth, and at least as long as the
// receiver asks.
func TestRetriesWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.limits = usual
	var ask string
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if ask != "" {
			w.Header().Set("Retry-After", ask)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	h.endpoint(CreateEndpoint{URL: r.URL})
	h.post(Event{Type: SyncFailed, Subject: "a"})
	attempt := func() time.Duration {
		t.Helper()
		if _, err := pg.Exec(h.ctx(), h.db, `update delivery set next_at = now()`); err != nil {
			t.Fatal(err)
		}
		if err := h.Sweep(h.ctx()); err != nil {
			t.Fatal(err)
		}
		left, err := next(h.ctx(), h.db)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	for i, want := range []string{"5s", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"} {
		d, _ := time.ParseDuration(want)
		if i == 1 {
			ask, d = "1800", 30*time.Minute
		} else {
			ask = ""
		}
		if left := attempt(); left < d-d/10-2*time.Second || left > d+d/10+time.Second {
			t.Errorf("retry %d comes after %v, not %v", i+1, left, d)
		}
	}
	if attempt() < time.Hour*24*365 || len(r.all()) != 10 {
		t.Errorf("%d attempts", len(r.all()))
	}
}

// During a rotation both secrets are valid for verification; afterwards only the new one is.
func TestRotation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := newReceiver(t, nil)
	e := h.endpoint(CreateEndpoint{URL: r.URL})
	var second NewEndpoint
	h.tx(func(tx pg.Tx) (err error) {
		second, err = h.RotateEndpoint(h.ctx(), tx, EndpointRef{e.ShortID})
		return err
	})
	h.post(Event{Type: SyncFailed, Subject: "a"})
	h.sweep()
	if _, err := pg.Exec(h.ctx(), h.db, `update endpoint set old_until = old_until - interval '24 hours'`); err != nil {
		t.Fatal(err)
	}
	h.post(Event{Type: SyncFailed, Subject: "b"})
	h.sweep()
	got := r.all()
	for i, want := range [][2]bool{{true, true}, {false, true}} {
		for j, secret := range []string{e.Secret, second.Secret} {
			if err := verify(secret, got[i].header, got[i].body, time.Now()); (err == nil) != want[j] {
				t.Errorf("message %d, secret %d: %v", i+1, j+1, err)
			}
		}
	}
}

// A notification's state is the most important state of its deliveries.
func TestStateOfDeliveries(t *testing.T) {
	t.Parallel()
	for want, states := range map[string][]string{
		"none": {}, "delivered": {"delivered", "delivered"}, "pending": {"delivered", "pending"},
		"failed": {"pending", "failed", "delivered"},
	} {
		var all []Delivery
		for _, s := range states {
			all = append(all, Delivery{State: s})
		}
		if got := together(all); got != want {
			t.Errorf("%q stand as %s, not %s", states, got, want)
		}
	}
}

// TestEndpointGoesMeanwhile: if an endpoint is deleted during an event, the transaction of the
// event does not fail. Neither does a resend that another endpoint still takes.
func TestEndpointGoesMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	stays := h.endpoint(CreateEndpoint{URL: "https://stays.example/"})
	h.post(Event{Type: SyncFailed, Subject: "before"})
	notification := h.list()[0].ShortID
	for name, do := range map[string]func(tx pg.Tx) error{
		"post": func(tx pg.Tx) error { return Post(h.ctx(), tx, Event{Type: SyncFailed, Subject: "meanwhile"}) },
		"resend": func(tx pg.Tx) error {
			_, err := h.Resend(h.ctx(), tx, Resend{ID: notification})
			return err
		},
	} {
		goes := h.endpoint(CreateEndpoint{URL: "https://goes.example/"})
		done := make(chan error, 1)
		h.tx(func(tx pg.Tx) error {
			if _, err := h.DeleteEndpoint(h.ctx(), tx, EndpointRef{ID: goes.ShortID}); err != nil {
				return err
			}
			go func() { done <- h.db.InTx(h.ctx(), do) }()
			for blocked := 0; blocked == 0; time.Sleep(5 * time.Millisecond) {
				var err error
				if blocked, err = pg.Value[int](h.ctx(), h.db, `select count(*) from pg_stat_activity
					where datname = current_database() and wait_event_type = 'Lock'`); err != nil {
					return err
				}
			}
			return nil
		})
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range h.list() {
		if len(n.Deliveries) != 1 || n.Deliveries[0].EndpointID != stays.ID {
			t.Errorf("%+v", n)
		}
	}
}
