package app_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

func TestRevocationHoldsFromTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := w.newKey(t, auth.CreateKey{Name: "short-lived", Scope: "full_access", ActorType: "user"})
	me := exchange{method: "GET", path: "/api/v1/keys/me", key: k.Secret}
	if r := w.send(t, me); r.status != 200 {
		t.Fatalf("before: %d", r.status)
	}
	if r := w.send(t, exchange{method: "DELETE", path: "/api/v1/api-keys/" + k.ShortID, key: w.key}); r.status != 204 {
		t.Fatalf("revoke: %d %s", r.status, r.body)
	}
	if r := w.send(t, me); r.code() != string(errs.RevokedAPIKey) {
		t.Fatalf("after: %d %s", r.status, r.body)
	}
}

// Text that cannot be a key costs no query, and no text that was not made here is accepted.
func TestStrangersNeverGetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(7, 7))
	before := w.DB.Stat().AcquireCount()
	for i := range 1_000_000 {
		b := make([]byte, rng.IntN(60))
		for j := range b {
			b[j] = byte(rng.IntN(256))
		}
		text := string(b)
		if i%3 == 0 {
			text = "coffer_" + text
		}
		if text == "" || len(text) == 50 && id.IsBase62(strings.TrimPrefix(text, "coffer_")) {
			continue
		}
		if _, err := w.Auth.Key(t.Context(), text); !errs.Is(err, errs.InvalidAPIKey) {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if asked := w.DB.Stat().AcquireCount() - before; asked != 0 {
		t.Errorf("a million malformed keys cost %d queries", asked)
	}
	for range 2000 {
		near := []byte(w.key)
		near[len("coffer_")+rng.IntN(43)] ^= 1
		if _, err := w.Auth.Key(t.Context(), string(near)); err == nil && string(near) != w.key {
			t.Fatalf("a key with one changed character was accepted")
		}
	}
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	used := func() *pg.Time {
		at, err := pg.Value[*pg.Time](t.Context(), w.DB, `select last_used_at from token where name = 'me'`)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key})
	if used() != nil {
		t.Fatal("a request wrote on its own path")
	}
	if err := w.Auth.Flush(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	first := used()
	if first == nil {
		t.Fatal("the last use was not written")
	}
	w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key})
	if err := w.Auth.Flush(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if again := used(); again.String() != first.String() {
		t.Errorf("written twice within a minute: %s and %s", first, again)
	}
}

// TestKeysBelongToWhoMadeThem: a key belongs to the member who created it. It ends when the member
// leaves, and allows no more than the member's role.
func TestKeysBelongToWhoMadeThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, session := w.session(t, "admin")
	r := credential{session: session}.send(t, w, "POST", "/api/v1/api-keys", `{"name":"mine","scope":"full_access"}`)
	var k auth.NewKey
	if err := json.Unmarshal([]byte(r.body), &k); err != nil || r.status != 201 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	write := func() reply {
		return w.send(t, exchange{method: "POST", path: "/api/v1/users", key: k.Secret, body: `{"name":"Kim"}`})
	}
	if r := write(); r.status != 201 {
		t.Errorf("an admin's key: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{
		method: "PATCH", path: "/api/v1/users/" + u.ShortID, key: w.key,
		body: `{"role":"member"}`,
	}); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := write(); r.code() != string(errs.Forbidden) {
		t.Errorf("the key of someone who is no longer an admin: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{method: "DELETE", path: "/api/v1/users/" + u.ShortID, key: w.key}); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := write(); r.code() != string(errs.RevokedAPIKey) {
		t.Errorf("the key of someone who left: %d %s", r.status, r.body)
	}
}
