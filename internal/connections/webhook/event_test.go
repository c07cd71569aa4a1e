package webhook

import (
	"fmt"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// put stores an event of that provider and age, and returns its id.
func put(t *testing.T, db *pg.DB, provider, status string, days int) id.ID {
	t.Helper()
	u := id.New()
	_, err := db.Exec(t.Context(), `
		insert into webhook_event (id, short_id, provider, identity, event_type, effect, about, account, code, advice,
			payload_hash, status, created_at)
		values ($1, $2, $3, $2, 'TYPE', $4, 'item', '', '', '', '', $5, now() - make_interval(days => $6))`,
		u, u.Short(), provider, bank.Sync.String(), status, days)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEventsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	w := &Webhooks{db: db}
	var made []id.ID
	for range 5 {
		made = append(made, put(t, db, "plaid", "processed", 0))
	}
	put(t, db, "teller", "error", 0)
	provider := all.Remote("plaid")
	for page, want := range map[int][]id.ID{1: {made[4], made[3]}, 2: {made[2], made[1]}, 3: {made[0]}, 4: nil} {
		out, err := w.Events(t.Context(), db, List{Provider: &provider, Page: page, Limit: 2})
		var got []id.ID
		for _, e := range out.WebhookEvents {
			got = append(got, e.ID)
		}
		if err != nil || out.Total != 5 || out.TotalPages != 3 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("page %d: %v of %d, want %v (%v)", page, got, out.Total, want, err)
		}
	}
	if out, err := w.Events(t.Context(), db, List{Status: new("error"), Page: 1, Limit: 10}); err != nil ||
		out.Total != 1 || out.WebhookEvents[0].Provider != "teller" {
		t.Errorf("those with an error: %+v, %v", out, err)
	}
}

// An event that no job will process any more is marked as failed, and events are kept for 90 days.
func TestSweep(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	w := &Webhooks{db: db}
	fresh, stuck := put(t, db, "plaid", "received", 0), put(t, db, "plaid", "received", 1)
	done, old := put(t, db, "plaid", "processed", keptFor-1), put(t, db, "plaid", "processed", keptFor+1)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for u, want := range map[id.ID]string{fresh: "received", stuck: "error", done: "processed", old: ""} {
		got, err := pg.Value[string](t.Context(), db, `select coalesce((select status from webhook_event
			where id = $1), '')`, u)
		if err != nil || got != want {
			t.Errorf("the status is %q, want %q (%v)", got, want, err)
		}
	}
}

// An event is marked with its outcome.
func TestFinishEvent(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for message, want := range map[string]string{"": "processed", "no such connection": "error"} {
		u := put(t, db, "plaid", "received", 0)
		err := db.InTx(t.Context(), func(tx pg.Tx) error { return finishEvent(t.Context(), tx, u, nil, message) })
		if err != nil {
			t.Fatal(err)
		}
		e, err := pg.One[stored](t.Context(), db, storedRows+` where id = $1`, u)
		if err != nil || e.Status != want {
			t.Errorf("with %q it is %s, %v", message, e.Status, err)
		}
		if hint := e.hint("webhook"); hint.Provider != "plaid" || hint.Event.Effect != bank.Sync ||
			hint.Event.ConnectionID != "item" || !hint.Event.ExpiresAt.IsZero() {
			t.Errorf("it is read as %+v", hint)
		}
	}
}

func TestSessionIsSealed(t *testing.T) {
	t.Parallel()
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	event := id.New()
	w := &Webhooks{ring: ring}
	sealed, err := w.conceal(event, "link-session")
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := ring.Open(sessionPlace(event), sealed); err != nil || string(plain) != "link-session" {
		t.Errorf("%q, %v", plain, err)
	}
	if _, err := ring.Open(sessionPlace(id.New()), sealed); err == nil {
		t.Error("it opens for another event too")
	}
	if sealed, err = w.conceal(event, ""); sealed != nil || err != nil {
		t.Errorf("no session: %v, %v", sealed, err)
	}
}
