package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
)

// A killDesk is one server and one caller, for tests without load.
type killDesk struct {
	t      *testing.T
	server hammerServer
	client *http.Client
	key    string
	actor  string
}

func newKillDesk(t *testing.T) *killDesk {
	t.Helper()
	d := &killDesk{t: t, server: newHammerServer(t, pgtest.URL(t)), client: hammerClient(t)}
	d.key, d.actor = hammerKey(t, d.server.App, "desk")
	return d
}

// do sends a request with the API key, and with an Idempotency-Key unless idempotency is empty. The
// response must have that status and error code.
func (d *killDesk) do(key, method, path, body, idempotency string, status int, code string) hammerReply {
	d.t.Helper()
	var headers []string
	if idempotency != "" {
		headers = []string{"Idempotency-Key", idempotency}
	}
	r, err := hammerSend(d.t.Context(), d.client, method, d.server.URL+path, key, body, headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	if r.Status != status || r.Code() != code {
		d.t.Fatalf("%s %s: %d %s, want %d %s", method, path, r.Status, r.Body, status, code)
	}
	return r
}

// post sends a POST with the desk's own API key. replayed says whether the response must be a
// stored one.
func (d *killDesk) post(path, body, idempotency string, status int, code string, replayed bool) hammerReply {
	d.t.Helper()
	r := d.do(d.key, http.MethodPost, path, body, idempotency, status, code)
	if r.Replayed() != replayed {
		d.t.Fatalf("POST %s: Idempotency-Replayed is %q, want replayed to be %t: %s", path,
			r.Header.Get("Idempotency-Replayed"), replayed, r.Body)
	}
	return r
}

func (d *killDesk) exec(sql string, args ...any) int64 {
	d.t.Helper()
	n, err := pg.Exec(d.t.Context(), d.server.App.DB, sql, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func (d *killDesk) count(sql string, args ...any) int {
	d.t.Helper()
	n, err := pg.Value[int](d.t.Context(), d.server.App.DB, sql, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func TestIdempotencyKeyNamesOneCall(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	first := d.post("/tags", `{"slug":"one","name":"One"}`, "k", http.StatusCreated, "", false)
	// The same call, with other spacing.
	again := d.post("/tags", ` { "name" : "One", "slug" : "one" } `, "k", http.StatusCreated, "", true)
	if again.Body != first.Body || again.Header.Get("ETag") != first.Header.Get("ETag") ||
		again.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
		t.Errorf("the stored answer differs:\n%v %s\n%v %s", first.Header, first.Body, again.Header, again.Body)
	}
	// The same key with another body.
	d.post("/tags", `{"slug":"two","name":"One"}`, "k", http.StatusConflict, "IDEMPOTENCY_CONFLICT", false)
	// The same key on another route.
	d.post("/categories", `{"slug":"one","name":"One"}`, "k", http.StatusConflict, "IDEMPOTENCY_CONFLICT", false)
	// The conflicts have not replaced the stored response.
	d.post("/tags", `{"slug":"one","name":"One"}`, "k", http.StatusCreated, "", true)
	// A key that differs in case is another key.
	d.post("/tags", `{"slug":"one","name":"One"}`, "K", http.StatusConflict, "SLUG_CONFLICT", false)
	if n := d.count(`select count(*) from tag where slug in ('one', 'two')`); n != 1 {
		t.Errorf("%d tags, want 1", n)
	}
}

func TestIdempotencyIsPerActor(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	other, _ := hammerKey(t, d.server.App, "other")
	mine := d.post("/api-keys", `{"name":"made","scope":"read_only"}`, "k", http.StatusCreated, "", false)
	theirs := d.do(other, http.MethodPost, "/api-keys", `{"name":"made","scope":"read_only"}`, "k", http.StatusCreated,
		"")
	if theirs.Replayed() || theirs.Field("id") == mine.Field("id") || theirs.Field("key") == mine.Field("key") {
		t.Errorf("another actor got this actor's answer: %s", theirs.Body)
	}
	d.do(other, http.MethodPost, "/tags", `{"slug":"one"}`, "t", http.StatusCreated, "")
	// The other caller's key with another body does not conflict with mine.
	d.post("/tags", `{"slug":"two"}`, "t", http.StatusCreated, "", false)
}

func TestIdempotencyReplaysRefusals(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	d.post("/tags", `{"slug":"taken"}`, "", http.StatusCreated, "", false)
	first := d.post("/tags", `{"slug":"taken"}`, "k", http.StatusConflict, "SLUG_CONFLICT", false)
	d.do(d.key, http.MethodDelete, "/tags/taken", "", "", http.StatusNoContent, "")
	// The same call would succeed now, but its stored response is the refusal.
	again := d.post("/tags", `{"slug":"taken"}`, "k", http.StatusConflict, "SLUG_CONFLICT", true)
	if again.Body != first.Body || again.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the stored refusal differs: %s\n%s", first.Body, again.Body)
	}
	d.post("/tags", `{"slug":"taken"}`, "k2", http.StatusCreated, "", false)
}

func TestIdempotencyKeyLength(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	d.post("/tags", `{"slug":"one"}`, "\xff", http.StatusBadRequest, "VALIDATION_ERROR", false)
	d.post("/tags", `{"slug":"one"}`, strings.Repeat("k", 256), http.StatusBadRequest, "VALIDATION_ERROR", false)
	if n := d.count(`select count(*) from tag where slug = 'one'`); n != 0 {
		t.Error("a call with a bad key had an effect")
	}
	d.post("/tags", `{"slug":"one"}`, strings.Repeat("k", 255), http.StatusCreated, "", false)
	d.post("/tags", `{"slug":"one"}`, strings.Repeat("k", 255), http.StatusCreated, "", true)
}

func TestIdempotencyWindow(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	body := `{"name":"made","scope":"read_only"}`
	first := d.post("/api-keys", body, "k", http.StatusCreated, "", false)
	age := func(interval string) {
		t.Helper()
		if n := d.exec(`update idempotency set created_at = now() - $1::interval where key = 'k'`, interval); n != 1 {
			t.Fatalf("%d answers aged, want 1", n)
		}
	}
	age("23 hours 59 minutes")
	if r := d.post("/api-keys", body, "k", http.StatusCreated, "", true); r.Body != first.Body {
		t.Errorf("another answer within the window: %s", r.Body)
	}
	age("24 hours 1 second")
	second := d.post("/api-keys", body, "k", http.StatusCreated, "", false)
	if second.Field("id") == first.Field("id") {
		t.Error("the call did not run again after the window")
	}
	// The new response is stored for the full time again.
	if r := d.post("/api-keys", body, "k", http.StatusCreated, "", true); r.Body != second.Body {
		t.Errorf("the new answer is not the stored one: %s", r.Body)
	}
	age("24 hours 1 second")
	// The old body no longer belongs to the key.
	d.post("/api-keys", `{"name":"other","scope":"read_only"}`, "k", http.StatusCreated, "", false)
}

// TestIdempotencyInProgress blocks the first call inside the database, so that the second call
// arrives while the first one runs.
func TestIdempotencyInProgress(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	hold, err := d.server.App.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Rollback(context.WithoutCancel(t.Context()))
	if _, err := hold.Exec(t.Context(), `lock table tag in exclusive mode`); err != nil {
		t.Fatal(err)
	}
	first := make(chan hammerReply, 1)
	go func() {
		r, err := hammerSend(t.Context(), d.client, http.MethodPost, d.server.URL+"/tags", d.key, `{"slug":"slow"}`,
			"Idempotency-Key", "k")
		if err != nil {
			r.Body = err.Error()
		}
		first <- r
	}()
	for deadline := time.Now().Add(5 * time.Minute); ; hammerPause(t.Context(), 10*time.Millisecond) {
		if d.count(`select count(*) from pg_stat_activity where datname = current_database()
			and wait_event_type = 'Lock'`) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the first call does not wait for the table")
		}
	}
	d.post("/tags", `{"slug":"slow"}`, "k", http.StatusConflict, "IDEMPOTENCY_IN_PROGRESS", false)
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := <-first
	if r.Status != http.StatusCreated || r.Replayed() {
		t.Errorf("the first call: %d %s", r.Status, r.Body)
	}
	if again := d.post("/tags", `{"slug":"slow"}`, "k", http.StatusCreated, "", true); again.Body != r.Body {
		t.Errorf("the stored answer differs: %s\n%s", r.Body, again.Body)
	}
}

// TestIdempotencyIsForCreating: a read returns the current state, whatever the header contains.
func TestIdempotencyIsForCreating(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	d.post("/tags", `{"slug":"one"}`, "k", http.StatusCreated, "", false)
	for _, key := range []string{"k", "other", strings.Repeat("k", 300)} {
		before := d.do(d.key, http.MethodGet, "/tags", "", key, http.StatusOK, "")
		slug := "t" + fmt.Sprint(len(before.Body))
		d.post("/tags", fmt.Sprintf(`{"slug":%q}`, slug), "", http.StatusCreated, "", false)
		after := d.do(d.key, http.MethodGet, "/tags", "", key, http.StatusOK, "")
		if before.Replayed() || after.Replayed() || !strings.Contains(after.Body, `"`+slug+`"`) {
			t.Errorf("GET with Idempotency-Key %.10s… gave an old answer: %s", key, after.Body)
		}
	}
	if n := d.count(`select count(*) from idempotency`); n != 1 {
		t.Errorf("%d stored answers, want that of the POST alone", n)
	}
}

// TestIdempotencyKeepsNoSecret: the response that shows a new API key is stored, but a copy of the
// database does not reveal the key.
func TestIdempotencyKeepsNoSecret(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := newKillDesk(t)
	first := d.post("/api-keys", `{"name":"made","scope":"full_access"}`, "k", http.StatusCreated, "", false)
	again := d.post("/api-keys", `{"name":"made","scope":"full_access"}`, "k", http.StatusCreated, "", true)
	made := first.Field("key")
	if made == "" || again.Field("key") != made || again.Body != first.Body {
		t.Fatalf("the key was not shown again: %s\n%s", first.Body, again.Body)
	}
	if n := d.count(`select count(*) from token where name = 'made'`); n != 1 {
		t.Fatalf("%d keys were made, want 1", n)
	}
	d.do(made, http.MethodGet, "/keys/me", "", "", http.StatusOK, "") // the key works
	dump := killDump(t, d.server.App.DB)
	hash := sha256.Sum256([]byte(made))
	for name, known := range map[string]string{
		"the key's hash":   hex.EncodeToString(hash[:]),
		"the key's prefix": made[:15], "the stored answer": "(" + d.actor + ",k,",
	} {
		if !strings.Contains(dump, known) {
			t.Errorf("the dump lacks %s: it cannot show that something else is missing", name)
		}
	}
	for _, key := range []string{d.key, made} {
		bond := sha256.Sum256([]byte("bond " + key)) // this decrypts the stored response
		random := strings.TrimPrefix(key, "coffer_")
		for name, secret := range map[string]string{
			"an API key": key, "its random part": random,
			"the end of its random part": random[8:], "what opens its answers": string(bond[:]),
		} {
			for as, text := range map[string]string{
				"as text": secret, "in hex": hex.EncodeToString([]byte(secret)),
				"in base64":               base64.RawStdEncoding.EncodeToString([]byte(secret)),
				"in base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte(secret)),
			} {
				if strings.Contains(dump, text) {
					t.Errorf("the database holds %s %s", name, as)
				}
			}
		}
	}
}

// killDump returns every row of every table as text, with binary columns in hex.
func killDump(t *testing.T, db *pg.DB) string {
	t.Helper()
	tables, err := pg.Values[string](t.Context(), db, `
		select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'p', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
			order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range tables {
		rows, err := pg.Values[string](t.Context(), db, `select t::text from `+table+` t`)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", table, strings.Join(rows, "\n"))
	}
	if len(tables) < 5 {
		t.Fatalf("only %d tables: %v", len(tables), tables)
	}
	return b.String()
}
