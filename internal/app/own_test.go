package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// TestOwnRecords: every member, also a viewer, can read and end their own records, and nobody
// else's.
func TestOwnRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stranger := w.session(t, "admin")
	viewer, cookie := w.session(t, "viewer")
	more := func(times int) (secrets []string) {
		for range times {
			_, secret, err := w.Auth.OpenSession(t.Context(), auth.SignIn{User: viewer}, "other browser")
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, secret)
		}
		return secrets
	}
	me := credential{session: cookie}
	get := func(c credential, path string, into any) {
		t.Helper()
		r := c.send(t, w, "GET", "/api/v1/users/me/"+path, "")
		if err := json.Unmarshal([]byte(r.body), into); r.status != 200 || err != nil {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		validateResponse(t, exchange{method: "GET", path: "/api/v1/users/me/" + path}, r)
	}
	type record struct {
		ID      string
		ShortID string `json:"short_id"`
		UserID  string `json:"user_id"`
	}
	var sessions struct {
		Sessions []record
		Next     string `json:"next_cursor"`
	}
	others := more(2)
	get(me, "sessions", &sessions)
	if len(sessions.Sessions) != 3 || sessions.Sessions[0].UserID != viewer.ID.String() {
		t.Fatalf("the sessions of a viewer: %+v", sessions)
	}
	newest := sessions.Sessions[0]
	get(me, "sessions?limit=1", &sessions)
	get(me, "sessions?limit=2&cursor="+sessions.Next, &sessions)
	if len(sessions.Sessions) != 2 || sessions.Next != "" {
		t.Errorf("the second page: %+v", sessions)
	}
	end := func(c credential, path string, want int) {
		t.Helper()
		if r := c.send(t, w, "DELETE", "/api/v1/users/me/"+path, ""); r.status != want {
			t.Errorf("DELETE %s: %d %s, not %d", path, r.status, r.body, want)
		}
	}
	end(credential{session: stranger}, "sessions/"+newest.ID, 404)
	end(credential{key: w.key}, "sessions/"+newest.ID, 404)
	end(me, "sessions/"+newest.ID, 204)
	get(me, "sessions", &sessions)
	end(me, "sessions/"+sessions.Sessions[0].ShortID, 204)
	for _, secret := range others {
		if r := (credential{session: secret}).send(t, w, "GET", "/api/v1/tags", ""); r.status != 401 {
			t.Errorf("a session that was ended: %d", r.status)
		}
	}

	tokens, _ := w.letIn(t, cookie, op.Read, w.OAuth.API())
	var assistants struct{ Assistants []record }
	get(me, "assistants", &assistants)
	if len(assistants.Assistants) != 1 {
		t.Fatalf("assistants: %+v", assistants)
	}
	end(credential{session: stranger}, "assistants/"+assistants.Assistants[0].ID, 404)
	end(me, "assistants/"+assistants.Assistants[0].ShortID, 204)
	if r := (credential{token: tokens.Access}).send(t, w, "GET", "/api/v1/tags", ""); r.status != 401 {
		t.Errorf("an assistant that was ended: %d", r.status)
	}

	err := w.DB.InTx(t.Context(), func(tx pg.Tx) error {
		for _, subject := range []string{"one", "two"} {
			if _, err := w.Auth.CreateLogin(t.Context(), tx, auth.CreateLogin{
				UserID: viewer.ID.String(), Kind: auth.OIDC, Identifier: new("https://issuer.example " + subject),
			}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var logins struct{ Logins []record }
	get(me, "login", &logins)
	if len(logins.Logins) != 2 {
		t.Fatalf("sign-in methods: %+v", logins)
	}
	// In a session whose sign-in is not recent, this is not allowed.
	if _, err := w.DB.Exec(t.Context(), `update token set proved_at = now() - interval '6 minutes'
		where kind = 'session' and member_id = $1`, viewer.ID); err != nil {
		t.Fatal(err)
	}
	if r := me.send(t, w, "DELETE", "/api/v1/users/me/login/"+logins.Logins[0].ID, ""); r.code() != "PROOF_REQUIRED" {
		t.Errorf("without proof: %d %s", r.status, r.body)
	}
	if _, err := w.DB.Exec(t.Context(), `update token set proved_at = now() where kind = 'session'
		and member_id = $1`, viewer.ID); err != nil {
		t.Fatal(err)
	}
	end(credential{session: stranger}, "login/"+logins.Logins[0].ID, 404)
	end(me, "login/"+logins.Logins[0].ID, 204)
	if r := me.send(t, w, "DELETE", "/api/v1/users/me/login/"+logins.Logins[1].ShortID, ""); r.status != 409 ||
		!strings.Contains(r.body, "last sign-in method") {
		t.Errorf("the last one: %d %s", r.status, r.body)
	}
}
