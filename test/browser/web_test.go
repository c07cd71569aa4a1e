package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
	"coffer/internal/surface/web"
)

// listed is on Transactions once the list has loaded: the sums of a month.
const listed = "out €"

// The screens of the app, with a text that stands there once they have loaded.
var screens = []struct{ path, text string }{
	{"/", "Spending vs."},
	{"/review", "Needs your input"},
	{"/review/alerts", "Alerts"},
	{"/review/links", "Linked accounts"},
	{"/review/suggestions", "Suggestions"},
	{"/transactions", listed},
	{"/import", "Drop a bank statement"},
	{"/accounts", "Assets"},
	{"/accounts/{id}", "Recent transactions"},
	{"/banks/{id}", "Connected by"},
	{"/payees/{id}", "By month"},
	{"/budget", "of €"},
	{"/recurring", "Bills and subscriptions"},
	{"/recurring/calendar", "Projected balances through"},
	{"/recurring/{id}", "Paid in total"},
	{"/cash-flow", "Spending by category"},
	{"/cash-flow/trends", "Monthly spending"},
	{"/cash-flow/year", "By category"},
	{"/net-worth", "Breakdown"},
	{"/reports", "Reports"},
	{"/rules", "Turn off"},
	{"/rules/new", "Complete the conditions"},
	{"/rules/{id}", "Overlapping rules"},
	{"/agents", "Never run"},
	{"/agents/assistants", "Add this MCP server URL"},
	{"/agents/limits", "Quiet hours"},
	{"/workflows/{id}", "Transactions per run"},
	{"/runs/{id}", "Tool call:"},
	{"/activity", "Today"},
	{"/settings", "Paid balance refreshes"},
	{"/settings/members", "Admins manage everything"},
	{"/settings/categories", "Food"},
	{"/settings/keys", "Create API key"},
	{"/settings/providers", "Bank provider webhooks"},
	{"/settings/models", "Default model"},
	{"/settings/notifications", "Add webhook"},
	{"/settings/rates", "Add rate"},
	{"/settings/export", "Format"},
	{"/settings/about", "API reference"},
	{"/me", "Active sessions"},
	{"/more", "Plan"},
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
	t.Run("old addresses", func(t *testing.T) { leadOn(t, h) })          //nolint:paralleltest // as above
	t.Run("work", func(t *testing.T) { work(t, h, axe) })                //nolint:paralleltest // as above
	t.Run("faults are found", func(t *testing.T) { planted(t, h, axe) }) //nolint:paralleltest // as above
}

// every opens each screen. On each, the console stays empty, no policy is breached, no request goes
// elsewhere, axe finds nothing, nothing is wider than the window, and controls are large enough.
func every(t *testing.T, h *house, size, axe string) {
	t.Helper()
	b := newBrowser(t, size)
	b.enterAt(t, h, screens[0].path, screens[0].text)
	b.whole(t, axe)
	only := os.Getenv("COFFER_TEST_SCREEN") // while one is being built
	for _, s := range screens[1:] {
		if only != "" && only != s.path {
			continue
		}
		b.screen(t, s.path, s.text)
		b.whole(t, axe)
	}
	b.do(t, step{Do: "key", Name: "?"})
	b.do(t, step{Do: "see", Text: "Available whenever you’re not typing"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "Escape"})
	b.do(t, step{Do: "key", Name: "Control+k"})
	b.do(t, step{Do: "see", Text: "/^Page$/"})
	b.whole(t, axe)
}

// leadOn opens the addresses that screens once had, by which people may have kept them.
func leadOn(t *testing.T, h *house) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/months?by=payee", "Monthly spending")
	b.do(t, step{Do: "idle"})
	if v := b.do(t, step{Do: "look", Look: true}); !strings.HasSuffix(v.URL, "/cash-flow/trends?by=payee") {
		t.Errorf("whoever signs in for an old address is at %s", v.URL)
	}
	for was, is := range web.Moved() {
		b.screen(t, was, "coffer")
		b.do(t, step{Do: "idle"})
		if v := b.do(t, step{Do: "look", Look: true}); v.URL != h.url+is {
			t.Errorf("%s leads to %s", was, v.URL)
		}
	}
}

// work approves a payee, undoes that, comments on a payment, and finds it all in the activity.
func work(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/review", "Needs your input")
	before := h.waiting(t)
	b.do(t, step{Do: "key", Name: "a"})
	b.do(t, step{Do: "see", Text: "Approved"})
	if now := h.waiting(t); now >= before {
		t.Errorf("%d waited, and %d do after agreeing", before, now)
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if now := h.waiting(t); now != before {
		t.Errorf("%d waited, and %d do after the undo", before, now)
	}
	b.screen(t, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "j"})
	b.do(t, step{Do: "key", Name: "Enter"})
	b.do(t, step{Do: "see", Text: "Bank details"})
	b.whole(t, axe)
	b.fill(t, "Add a comment", "Lamps for the <b>children</b>")
	b.do(t, step{Do: "click", Name: "Add"})
	b.do(t, step{Do: "see", Text: "Comment added"})
	b.do(t, step{Do: "see", Text: "Lamps for the <b>children</b>"})
	b.screen(t, "/activity", "undone")
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
	find(t, "run make web", filepath.Join("..", "..", "internal", "surface", "web", "dist", "app", "index.html"))
	return find(t, "run npm ci in web", filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
}

// enterAt signs in the admin of a house, who asked for that screen. From then on no message on the
// console is allowed, and no request to others than those that are named.
func (b *browser) enterAt(t *testing.T, h *house, path, text string, allow ...string) {
	t.Helper()
	b.enterAs(t, h, email, path, text, allow...)
}

func (b *browser) enterAs(t *testing.T, h *house, who, path, text string, allow ...string) {
	t.Helper()
	b.house = h
	b.do(t, step{
		Do: "open", Name: "strict", Size: b.size, Allow: append(allow, h.url), Value: b.clock,
		Locale: b.place.locale, Zone: b.place.zone, Text: b.kept,
	})
	b.screen(t, path, "Password")
	b.fill(t, "Email", who)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: text})
}

// ids find a record for a screen that shows one.
var ids = map[string]string{
	"/accounts/{id}":  `select short_id from account order by balance_current is null, id limit 1`,
	"/rules/{id}":     `select short_id from rule where not is_system order by id limit 1`,
	"/workflows/{id}": `select slug from workflow order by slug limit 1`,
	"/runs/{id}":      `select short_id from workflow_run order by id limit 1`,
	"/recurring/{id}": `select short_id from recurring where direction = 'out' order by jsonb_array_length(price_changes) desc, id limit 1`,
	"/banks/{id}":     `select short_id from connection order by id limit 1`,
}

// recordAt returns the path of a screen with a record in it, or with none that exists.
func (h *house) recordAt(t *testing.T, path string) string {
	t.Helper()
	var found []string
	var err error
	switch {
	case path == "/payees/{id}":
		var keys []id.Key
		keys, err = pg.Values[id.Key](t.Context(), h.DB, `select d.payee from transaction t
			join descriptor d on d.id = t.descriptor_id where d.payee is not null and t.deleted_at is null and not t.transfer and not t.excluded
			group by 1 order by count(*) desc, 1 limit 1`)
		for _, k := range keys {
			found = append(found, k.String())
		}
	case ids[path] != "":
		found, err = pg.Values[string](t.Context(), h.DB, ids[path])
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(path, "{id}", append(found, nowhere)[0], 1)
}

// nowhere is the id of no record.
const nowhere = "nowhere1"

// screen goes to a screen and waits for its text.
func (b *browser) screen(t *testing.T, path, text string) {
	t.Helper()
	path = b.house.recordAt(t, path)
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

// whole checks a screen with all checks of pages and those of screens.
func (b *browser) whole(t *testing.T, axe string) {
	t.Helper()
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "targets"})
	rule := ""
	if strings.Contains(b.size, " ") { // the other colors of a size that is looked at as a whole
		rule = "color-contrast"
	}
	b.do(t, step{Do: "axe", File: axe, Name: rule})
	b.look(t)
}

// furnish gives the house an admin who can sign in, two years of made-up books that end today, and an inbox.
func (h *house) furnish(t *testing.T) {
	t.Helper()
	h.furnishWith(t, household.New(household.Options{Seed: 7, Transactions: 1200, Years: 2, End: time.Now()}))
}

func (h *house) furnishWith(t *testing.T, made *household.Household) {
	t.Helper()
	if err := h.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	h.admin(t)
	var operations []map[string]any
	for _, id := range h.newest(t, 50) {
		operations = append(operations, map[string]any{"transaction_id": id, "tags_to_add": []string{"needs-review"}})
	}
	body, err := json.Marshal(map[string]any{"operations": operations})
	if err != nil {
		t.Fatal(err)
	}
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json", string(body))
	payee, _ := h.commonPayee(t)
	h.rule(t, payee+" above 50", payee, "shopping", "", 50)
	for _, target := range []string{
		`{"category":"food_and_drink","amount":300}`, `{"category":"home","amount":50}`,
		`{"category":"transport","amount":80,"rollover":true,"start_month":"` +
			time.Now().AddDate(0, -2, 0).Format("2006-01") + `"}`,
	} {
		post[json.RawMessage](t, h, "/api/v1/targets", "application/json", target)
	}
	h.ran(t, "weekly-digest", "Last week nothing was remarkable.")
}

// admin gives the house an admin who can sign in.
func (h *house) admin(t *testing.T) {
	t.Helper()
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
