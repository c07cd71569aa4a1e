package connection

import (
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A bank learns about a person only if that person asked recently, from a public address.
func TestPresence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actor   string
		address string
		agent   string
		is      bool
	}{
		"a person":           {op.User, "9.9.9.9", "Firefox", true},
		"an agent":           {op.Agent, "9.9.9.9", "Firefox", false},
		"coffer itself":      {op.System, "9.9.9.9", "Firefox", false},
		"the home network":   {op.User, "192.168.1.20", "Firefox", false},
		"this machine":       {op.User, "::1", "Firefox", false},
		"a nameless program": {op.User, "9.9.9.9", " ", false},
		"no network":         {op.User, "", "", false},
	} {
		ctx := op.From(op.WithActor(t.Context(), op.Actor{Type: c.actor}), op.Origin{Address: c.address, Agent: c.agent})
		order := syncRequest{Waits: present(ctx)}
		if got := order.person(); (got != nil) != c.is {
			t.Errorf("%s: %v", name, got)
		}
		if order.Waits != nil {
			order.Waits.Until = time.Now().Add(-time.Second)
		}
		if order.person() != nil {
			t.Errorf("%s still waits", name)
		}
	}
}

// The warning about consent appears in its last week, and not when the bank is linked.
func TestConsentKnownFromTheStart(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	for days, warns := range map[int]bool{179: false, 8: false, 6: true} {
		if err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := pg.Exec(t.Context(), tx, `update connection set status = 'pending_reauth', status_reason = null,
				consent_expires_at = now() + make_interval(days => $2) where id = $1`, b.connection, days)
			if err == nil {
				err = works(t.Context(), tx, b.connection, false)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if s := b.health(t); (s.Reason != nil) != warns || s.Consent == nil {
			t.Errorf("%d days: %+v", days, s)
		}
	}
}
