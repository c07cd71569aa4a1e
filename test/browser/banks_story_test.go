package browser_test

import (
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
)

// TestBanks is a household's first minutes and its first troubles: empty books, a bank that fills
// them, a ribbon that leads to its payments, a bank that wants a new sign-in, and a server that does
// not answer.
func TestBanks(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.admin(t)
	t.Run("empty on a phone", func(t *testing.T) { //nolint:paralleltest // as above
		for _, size := range []string{"phone", "phone light"} {
			b := newBrowser(t, size)
			b.enterAt(t, h, "/", "Let’s get your money in")
			b.whole(t, axe)
		}
	})
	b := newBrowser(t, "desktop")
	t.Run("first minute", func(t *testing.T) { firstMinute(t, b, h, axe) }) //nolint:paralleltest // as above
	t.Run("a ribbon", func(t *testing.T) { ribbon(t, b, axe) })             //nolint:paralleltest // as above
	t.Run("asks the bank", func(t *testing.T) { asksBank(t, b, h, axe) })   //nolint:paralleltest // as above
	t.Run("signs in again", func(t *testing.T) { signsIn(t, b, h, axe) })   //nolint:paralleltest // as above
	t.Run("trouble", func(t *testing.T) { noAnswer(t, b, axe) })            //nolint:paralleltest // as above
	t.Run("looks only", func(t *testing.T) { viewer(t, h, axe) })           //nolint:paralleltest // as above
}

// slow is how long a bank takes to answer whose sync is to be seen: longer than a busy machine takes to
// open a screen, and shorter than coffer waits for a bank.
const slow = 20 * time.Second

// firstMinute begins with empty books and ends in a filled overview.
func firstMinute(t *testing.T, b *browser, h *house, axe string) {
	t.Helper()
	b.enterAt(t, h, "/", "Let’s get your money in", h.plaid.URL())
	b.do(t, step{Do: "see", Text: "Before you start"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "/^Saved$/"})
	h.plaid.Script(banks.Fault{Path: "/transactions/sync", Delay: slow})
	b.do(t, step{Do: "click", Name: "Connect a bank"})
	b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
	b.do(t, step{Do: "click", Name: "Share my accounts"})
	b.do(t, step{Do: "see", Text: "Importing your transactions…"})
	b.do(t, step{Do: "see", Text: "Where your money went"})
	b.whole(t, axe)
	h.settle(t)
}

// ribbon goes from the overview to the payments behind a number of its picture.
func ribbon(t *testing.T, b *browser, axe string) {
	t.Helper()
	b.screen(t, "/", "Where your money went")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "follow", Name: "Food & Drink"})
	b.do(t, step{Do: "see", Text: listed})
	v := b.do(t, step{Do: "look", Look: true})
	if !strings.Contains(v.URL, "/transactions") || !strings.Contains(v.URL, "category=food_and_drink") {
		t.Errorf("a ribbon led to %s", v.URL)
	}
	b.screen(t, "/cash-flow?by=account", "Cash flow by account")
	b.whole(t, axe)
	b.screen(t, "/cash-flow?span=year&compare=year", "Spending by category")
	b.whole(t, axe)
	b.screen(t, "/accounts?by=kind", "Checking and cash")
	b.whole(t, axe)
	if _, err := pg.Exec(t.Context(), b.house.DB, `insert into account_balance (account_id, day, current)
		select a.id, current_date - n, 3000 + 200 * (n % 9) from account a, generate_series(1, 300) n
		where n < 90 or n > 160 on conflict do nothing`); err != nil {
		t.Fatal(err)
	}
	b.screen(t, "/accounts/{id}", "Show table")
	b.whole(t, axe)
}

// asksBank has the bank look a balance up, after the words that this may cost money; at once again it
// is refused, and a household that never pays is not offered it.
func asksBank(t *testing.T, b *browser, h *house, axe string) {
	t.Helper()
	b.screen(t, "/accounts/{id}", "Show table")
	b.do(t, step{Do: "click", Name: "Refresh balance…"})
	b.do(t, step{Do: "see", Text: "may cost money"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Cancel"})
	if n := h.plaid.Paid(); n != 0 {
		t.Errorf("%d paid calls before anybody asked for one", n)
	}
	b.do(t, step{Do: "click", Name: "Refresh balance…"})
	b.do(t, step{Do: "click", Name: "Refresh"})
	b.do(t, step{Do: "see", Text: "Balance updated"})
	b.do(t, step{Do: "click", Name: "Refresh balance…"})
	b.do(t, step{Do: "click", Name: "Refresh"})
	b.do(t, step{Do: "see", Text: "less than 15 minutes ago"})
	b.do(t, step{Do: "forgive"}) // the browser's log has the refusal
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Cancel"})
	if n := h.plaid.Paid(); n != 1 {
		t.Errorf("%d paid calls", n)
	}
	b.screen(t, "/settings", "On request")
	b.do(t, step{Do: "click", Name: "Edit"})
	b.do(t, step{Do: "choose", Name: "Paid balance refreshes", Value: "Never"})
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "/^Saved$/"})
	b.screen(t, "/accounts/{id}", "Show table")
	v := b.do(t, step{Do: "look", Look: true})
	if strings.Contains(v.Text, "Refresh balance") {
		t.Error("a household that never pays is offered a call that may cost money")
	}
}

// signsIn mends a bank that wants a person: from the overview to its page, to the bank, and back to
// where the sync is seen.
func signsIn(t *testing.T, b *browser, h *house, axe string) {
	t.Helper()
	for _, sql := range []string{
		`update connection set status = 'pending_reauth', status_reason = 'ITEM_LOGIN_REQUIRED',
			last_sync_at = now() - interval '13 days'`,
		`update sync_log set started_at = started_at - interval '13 days',
			finished_at = finished_at - interval '13 days'`,
	} {
		if _, err := pg.Exec(t.Context(), h.DB, sql); err != nil {
			t.Fatal(err)
		}
	}
	b.screen(t, "/", "needs you to reconnect")
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: ".*needs you to reconnect.*"})
	b.do(t, step{Do: "see", Text: "Connected by"})
	b.whole(t, axe)
	b.screen(t, "/accounts", "Reconnect")
	b.whole(t, axe)
	h.plaid.Script(banks.Fault{Path: "/transactions/sync", Delay: slow})
	b.do(t, step{Do: "click", Name: "Reconnect"})
	b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
	b.do(t, step{Do: "click", Name: "Share my accounts"})
	b.do(t, step{Do: "see", Text: "Assets"})
	b.do(t, step{Do: "see", Text: "Syncing…"})
	b.whole(t, axe)
	b.do(t, step{Do: "see", Text: "Sync now"})
	h.settle(t)
	if n := h.count(t, `select count(*) from transaction where deleted_at is not null`); n > 0 {
		t.Errorf("%d payments are gone after signing in again", n)
	}
	b.screen(t, "/banks/{id}", "Manual · ")
	b.do(t, step{Do: "click", Name: "Pause syncing"})
	b.do(t, step{Do: "see", Text: "Resume syncing"})
	b.do(t, step{Do: "click", Name: "Disconnect bank…"})
	b.do(t, step{Do: "see", Text: "access to this bank"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Cancel"})
	b.do(t, step{Do: "click", Name: "Resume syncing"})
	b.do(t, step{Do: "see", Text: "Pause syncing"})
}

// noAnswer looks at what is said if the server is gone, fails, or is asked too often, and that
// trying again is enough once it is back.
func noAnswer(t *testing.T, b *browser, axe string) {
	t.Helper()
	for _, fault := range []struct{ kind, message, words string }{
		{"offline", "", "Can’t reach the server"},
		{"500", "something went wrong", "request ID req-for-the-log"},
		{"429", "too many requests; try again in 20 seconds", "try again in 20 seconds"},
	} {
		b.screen(t, "/activity", "Today")
		b.do(t, step{Do: "network", Name: fault.kind, Text: fault.message})
		b.do(t, step{Do: "click", Name: "Accounts"})
		b.do(t, step{Do: "see", Text: "Couldn’t load"})
		b.do(t, step{Do: "see", Text: fault.words})
		b.do(t, step{Do: "network"})
		b.do(t, step{Do: "forgive"})
		b.whole(t, axe)
		b.do(t, step{Do: "click", Name: "Try again"})
		b.do(t, step{Do: "see", Text: "Assets"})
	}
}

// viewer sees every screen of the banks, and nothing that changes them.
func viewer(t *testing.T, h *house, axe string) {
	t.Helper()
	h.member(t, "Looks", "viewer")
	b := newBrowser(t, "phone")
	b.enterAs(t, h, "looks@example.com", "/accounts", "You have view-only access")
	for _, path := range []string{"/accounts", "/accounts/{id}", "/banks/{id}"} {
		b.screen(t, path, "You have view-only access")
		b.whole(t, axe)
		v := b.do(t, step{Do: "look", Look: true})
		for _, word := range []string{"Sync now", "Connect a bank", "Disconnect", "Remove", "Pause", "Save", "Enter balance"} {
			if strings.Contains(v.Text, word) {
				t.Errorf("%s offers a viewer %q", path, word)
			}
		}
	}
}
