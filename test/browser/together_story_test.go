package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
)

// TestTogetherStory has two people and an agent change the same payments. No screen is wrong for
// more than five seconds, a person who was overtaken sees a message, and an agent's changes are
// undone as a whole.
func TestTogetherStory(t *testing.T) { //nolint:tparallel // one house
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	h.member(t, "Maja", "member")
	agent := h.agent(t, "Tidy-up agent")
	t.Run("the same row", func(t *testing.T) { sameRow(t, h, agent, axe) })       //nolint:paralleltest // as above
	t.Run("an agent's hour", func(t *testing.T) { agentsHour(t, h, agent, axe) }) //nolint:paralleltest // as above
	t.Run("the session ends", func(t *testing.T) { sessionEnds(t, h) })           //nolint:paralleltest // as above
}

func sameRow(t *testing.T, h *house, agent, axe string) {
	t.Helper()
	row := h.newest(t, 1)[0]
	robin, maja := newBrowser(t, "desktop"), newBrowser(t, "phone light")
	robin.enterAt(t, h, "/transactions", listed)
	maja.enterAs(t, h, "maja@example.com", "/transactions?open="+row, "Bank details")
	robin.do(t, step{Do: "idle"})
	robin.file(t, "Pharmacy")
	within(t, "Maja sees what Robin filed", func() { maja.do(t, step{Do: "see", Text: "Why “Pharmacy”?"}) })
	// An agent leaves what a person set.
	if s := h.as(t, agent, "/api/v1/transactions/update", `{"operations":[{"transaction_id":"`+row+
		`","category":"shopping"}]}`); !strings.Contains(s, `"held"`) {
		t.Errorf("the agent was not held back: %s", s)
	}
	// Robin thinks about it; meanwhile Maja files it.
	robin.do(t, step{Do: "key", Name: "c"})
	robin.fill(t, "Choose category", "Clothing")
	maja.do(t, step{Do: "click", Name: "Change category ?C?"})
	maja.fill(t, "Choose category", "Furni")
	maja.do(t, step{Do: "enter"})
	maja.do(t, step{Do: "see", Text: "Categorized as Furniture"})
	robin.do(t, step{Do: "enter"})
	robin.do(t, step{Do: "see", Text: "Maja changed this first. It’s now Furniture"})
	robin.whole(t, axe)
	robin.do(t, step{Do: "click", Name: "Use mine"})
	robin.do(t, step{Do: "see", Text: "Categorized as Clothing"})
	within(t, "Maja is told", func() { maja.do(t, step{Do: "see", Text: "after you. It’s now Clothing"}) })
	maja.whole(t, axe)
	// Every value that was overwritten is in the activity with its author, and can be undone.
	robin.screen(t, "/activity?transaction="+row, "Clear filters")
	of := get[struct {
		Name     string
		Merchant *string `json:"merchant_name"`
	}](t, h, "/api/v1/transactions/"+row)
	if of.Merchant != nil {
		of.Name = *of.Merchant
	}
	for _, text := range []string{"Robin|Clothing", "Maja|Furniture", "Robin|Pharmacy"} {
		who, where, _ := strings.Cut(text, "|")
		robin.do(t, step{Do: "see", Text: who + " categorized 1 “" + of.Name + "” transaction as “" + where})
	}
	robin.whole(t, axe)
	robin.do(t, step{Do: "click", Name: "Undo"})
	within(t, "Maja has hers again", func() { maja.do(t, step{Do: "see", Text: "Why “Furniture"}) })
}

// agentsHour lets an agent categorize thirty payments; a person changes one of them; the rest of
// its hour is reverted and done again.
func agentsHour(t *testing.T, h *house, agent, axe string) {
	t.Helper()
	ids := h.newest(t, 40)[8:38]
	for _, part := range [][]string{ids[:10], ids[10:20], ids[20:]} {
		var operations []string
		for _, id := range part {
			operations = append(operations, `{"transaction_id":"`+id+`","category":"shopping","note":"as before"}`)
		}
		h.as(t, agent, "/api/v1/transactions/update", `{"operations":[`+strings.Join(operations, ",")+`]}`)
	}
	filed := len(h.list(t, "limit=500&category=shopping"))
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json",
		`{"operations":[{"transaction_id":"`+ids[3]+`","category":"travel"}]}`)
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/agents/assistants", "1 of 1 corrected, 29 not reviewed yet")
	b.whole(t, axe)
	b.screen(t, "/activity?who=agents", "Tidy-up agent made 3 changes to 30 transactions")
	b.do(t, step{Do: "click", Name: "Undo all"})
	b.do(t, step{Do: "see", Text: "Undo everything Tidy-up agent did that day?"})
	b.do(t, step{Do: "click", Name: "Since .*"})
	b.do(t, step{Do: "see", Text: "1 field won’t change: changed since"})
	b.do(t, step{Do: "click", Name: "Show details"})
	b.do(t, step{Do: "click", Name: "10 transactions"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Undo 29"})
	b.do(t, step{Do: "see", Text: "Undid 3 changes by Tidy-up agent"})
	if now := len(h.list(t, "limit=500&category=shopping")); now >= filed {
		t.Errorf("%d had the category Shopping, and %d have it after the undo", filed, now)
	}
	b.do(t, step{Do: "see", Text: "3 undone"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Redo all"})
	b.do(t, step{Do: "see", Text: "Redone"})
}

// sessionEnds while somebody is at work: they sign in and are where they were.
func sessionEnds(t *testing.T, h *house) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", listed)
	b.screen(t, "/transactions?direction=in", "Money in")
	b.do(t, step{Do: "idle"})
	if _, err := pg.Exec(t.Context(), h.DB, `delete from token where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "see", Text: "Password"})
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Money in"})
	if v := b.do(t, step{Do: "look", Look: true}); !strings.Contains(v.URL, "/transactions?direction=in") {
		t.Errorf("came back to %s", v.URL)
	}
}

// within holds what a person sees to two minutes, which is for a busy machine: without the pulse it
// would never come.
func within(t *testing.T, what string, see func()) {
	t.Helper()
	start := time.Now()
	see()
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("%s after %s", what, took)
	}
}

// file files the current row by keyboard.
func (b *browser) file(t *testing.T, category string) {
	t.Helper()
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", category)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Categorized as " + category})
}

// member adds somebody who can sign in.
func (h *house) member(t *testing.T, name, role string) {
	t.Helper()
	user := post[struct {
		ID string `json:"id"`
	}](t, h, "/api/v1/users", "application/json", fmt.Sprintf(`{"name":%q,"email":"%s@example.com","role":%q}`, name,
		strings.ToLower(name), role))
	post[json.RawMessage](t, h, "/api/v1/users/"+user.ID+"/login", "application/json",
		`{"kind":"password","password":"`+password+`"}`)
	if _, err := pg.Exec(t.Context(), h.DB, `update login set must_replace = false`); err != nil {
		t.Fatal(err) // as if they had chosen it
	}
}

// agent adds a key of an agent.
func (h *house) agent(t *testing.T, name string) string {
	t.Helper()
	var secret string
	err := h.DB.InTx(t.Context(), func(tx pg.Tx) error {
		k, err := h.Auth.Create(t.Context(), tx, auth.CreateKey{Name: name, Scope: "full_access", ActorType: "agent"})
		secret = k.Secret
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// as calls the API with another key.
func (h *house) as(t *testing.T, key, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing is left of it
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("POST %s: %d %s %v", path, res.StatusCode, out, err)
	}
	return string(out)
}
