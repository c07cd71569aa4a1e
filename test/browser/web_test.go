package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/auth"
	"coffer/internal/household"
	"coffer/internal/web"
)

// The screens of the app, with a text that stands there once they have loaded.
var screens = []struct{ path, text string }{
	{"/", "Against"},
	{"/review", "Needs a look"},
	{"/transactions", "payments"},
	{"/activity", "Today"},
}

// TestScreens looks at the web app as a person does who has a year of books and an inbox.
func TestScreens(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	if len(screens) != len(web.Screens()) {
		t.Errorf("%d screens are looked at, and %v served", len(screens), web.Screens())
	}
	for _, size := range []string{"desktop", "phone", "desktop dark", "phone light"} { //nolint:paralleltest // as above
		t.Run(size, func(t *testing.T) { every(t, h, size, axe) })
	}
	t.Run("work", func(t *testing.T) { work(t, h, axe) })                //nolint:paralleltest // as above
	t.Run("faults are found", func(t *testing.T) { planted(t, h, axe) }) //nolint:paralleltest // as above
}

// every opens each screen. On each, the browser says nothing on its console, no policy is breached,
// nobody else is asked, axe finds nothing, nothing is wider than the window, and what is pressed is
// large enough.
func every(t *testing.T, h *house, size, axe string) {
	t.Helper()
	b := newBrowser(t, size)
	b.enterAt(t, h, screens[0].path, screens[0].text)
	b.whole(t, axe)
	for _, s := range screens[1:] {
		b.screen(t, s.path, s.text)
		b.whole(t, axe)
	}
	b.do(t, step{Do: "key", Name: "?"})
	b.do(t, step{Do: "see", Text: "They work wherever you are not typing"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "Escape"})
	b.do(t, step{Do: "key", Name: "Control+k"})
	b.do(t, step{Do: "see", Text: "Search or go to"})
	b.whole(t, axe)
}

// work agrees to a payee, takes it back, comments on a payment, and finds it all in the activity.
func work(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/review", "Needs a look")
	before := h.waiting(t)
	b.do(t, step{Do: "key", Name: "a"})
	b.do(t, step{Do: "see", Text: "Agreed to"})
	if now := h.waiting(t); now >= before {
		t.Errorf("%d waited, and %d do after agreeing", before, now)
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Taken back"})
	if now := h.waiting(t); now != before {
		t.Errorf("%d waited, and %d do after the undo", before, now)
	}
	b.screen(t, "/transactions", "payments")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "j"})
	b.do(t, step{Do: "key", Name: "Enter"})
	b.do(t, step{Do: "see", Text: "What the bank says"})
	b.whole(t, axe)
	b.fill(t, "Write a comment", "Lamps for the <b>children</b>")
	b.do(t, step{Do: "click", Name: "Add"})
	b.do(t, step{Do: "see", Text: "Comment added"})
	b.do(t, step{Do: "see", Text: "Lamps for the <b>children</b>"})
	b.screen(t, "/activity", "taken back")
	b.whole(t, axe)
}

// planted adds a fault of each kind, and sees that it is found.
func planted(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/activity", "Today")
	for kind, want := range map[string]string{
		"policy": "Content Security Policy", "overflow": "wider than the window", "small": "a target of 20",
		"axe": "axe: ", "console": "console info",
	} {
		b.screen(t, "/activity", "Today")
		b.do(t, step{Do: "plant", Name: kind})
		found := b.faults(t, axe)
		if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("%s was planted, and found was %q", kind, found)
		}
	}
}

// built finds what looking at the app needs, and returns where axe is.
func built(t *testing.T) string {
	t.Helper()
	find(t, "run make web", filepath.Join("..", "..", "internal", "web", "dist", "app", "index.html"))
	return find(t, "run npm ci in web", filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
}

// enterAt signs the admin of a furnished house in, who asked for that screen; from then on no word on
// the console is allowed.
func (b *browser) enterAt(t *testing.T, h *house, path, text string) {
	t.Helper()
	b.house = h
	b.do(t, step{Do: "open", Name: "strict", Size: b.size, Allow: []string{h.url}})
	b.screen(t, path, "Password")
	b.fill(t, "E-mail address", email)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: text})
}

// screen goes to a screen and waits for its text.
func (b *browser) screen(t *testing.T, path, text string) {
	t.Helper()
	b.do(t, step{Do: "visit", URL: b.house.url + path})
	b.do(t, step{Do: "see", Text: text})
}

func (b *browser) faults(t *testing.T, axe string) []string {
	t.Helper()
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "targets"})
	b.do(t, step{Do: "axe", File: axe})
	return b.do(t, step{Do: "look", Look: true}).Faults
}

// whole looks at a screen with all that is held against screens beyond what is held against pages.
func (b *browser) whole(t *testing.T, axe string) {
	t.Helper()
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "targets"})
	b.do(t, step{Do: "axe", File: axe})
	b.look(t)
}

// furnish gives the house an admin who can sign in, a year of made-up books, and an inbox.
func (h *house) furnish(t *testing.T) {
	t.Helper()
	made := household.New(household.Options{Seed: 7, Transactions: 1200, Years: 2, End: time.Now()})
	if err := h.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	ticket, err := h.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.PostForm(h.url+"/setup/"+ticket, map[string][]string{
		"name": {"Robin"}, "email": {email}, "password": {password},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	var operations []map[string]any
	for _, id := range h.newest(t, 50) {
		operations = append(operations, map[string]any{"transaction_id": id, "tags_to_add": []string{"needs-review"}})
	}
	body, err := json.Marshal(map[string]any{"operations": operations})
	if err != nil {
		t.Fatal(err)
	}
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json", string(body))
}

// newest are the ids of that many transactions.
func (h *house) newest(t *testing.T, n int) []string {
	t.Helper()
	var ids []string
	for _, tx := range h.list(t, fmt.Sprintf("limit=%d", n)) {
		ids = append(ids, tx.ID)
	}
	return ids
}

func (h *house) waiting(t *testing.T) int {
	t.Helper()
	return len(h.list(t, "limit=500&tags=needs-review"))
}

func (h *house) list(t *testing.T, query string) []struct{ ID string } {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/transactions?"+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", h.key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing is left of it
	var page struct{ Transactions []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", query, res.StatusCode, err)
	}
	return page.Transactions
}
