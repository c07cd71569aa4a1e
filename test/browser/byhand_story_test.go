package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// accountByHand adds a house that no bank knows, renames it, closes it, undoes that,
// deletes it and undoes that too.
func accountByHand(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/accounts", "Assets")
	b.do(t, step{Do: "click", Name: "Add manually…"})
	b.do(t, step{Do: "choose", Name: "Account type", Value: "Real estate"})
	b.do(t, step{Do: "see", Text: "The balance stays at the value you enter"})
	b.whole(t, axe)
	b.fill(t, "Account name", "Our <b>house</b>")
	b.fill(t, "Value (optional)", "a lot")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Enter an amount, for example"})
	b.fill(t, "Value (optional)", "410,000")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Our <b>house</b> added"})
	b.do(t, step{Do: "see", Text: "None (manual account)"})
	b.do(t, step{Do: "see", Text: "410,000"})
	b.whole(t, axe)
	at, err := pg.Value[string](t.Context(), h.DB, `select short_id from account where provider = 'manual'`)
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "forgive"})
	b.screen(t, "/accounts/"+at, "None (manual account)") // without what was said before
	b.fill(t, "Name", "The house")
	b.fill(t, "Closed on", "2026-01-31")
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "/^Saved$/"})
	if n := h.count(t, `select count(*) from account where name = 'The house' and closed_on = '2026-01-31'`); n != 1 {
		t.Error("the account was not changed")
	}
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if n := h.count(t, `select count(*) from account where name = 'Our <b>house</b>' and closed_on is null`); n != 1 {
		t.Error("the account was not changed back")
	}
	b.screen(t, "/accounts/"+at, "None (manual account)")
	b.do(t, step{Do: "click", Name: "Delete account…"})
	b.do(t, step{Do: "see", Text: "This account has no transactions"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Delete account"})
	b.do(t, step{Do: "see", Text: "</b> deleted"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "see", Text: "Manual accounts"})
	b.whole(t, axe)
	if n := h.count(t, `select count(*) from account where provider = 'manual' and deleted_at is null`); n != 1 {
		t.Errorf("%d manual accounts", n)
	}
}

// mergedAccounts merges an account into another after reading what that does, and undoes it.
func mergedAccounts(t *testing.T, h *house, axe string) {
	t.Helper()
	type account struct {
		ShortID string `json:"short_id"`
	}
	purse := post[account](t, h, "/api/v1/accounts", "application/json", `{"name":"Purse","kind":"cash"}`)
	till := post[account](t, h, "/api/v1/accounts", "application/json", `{"name":"Till","kind":"cash"}`)
	for _, at := range []string{purse.ShortID, till.ShortID} {
		post[json.RawMessage](t, h, "/api/v1/transactions", "application/json",
			`{"account_id":"`+at+`","date":"2026-01-05","amount":12.5,"name":"Bakery"}`)
	}
	rows := func(of account) int {
		return h.count(t, `select count(*) from transaction t join account a on a.id = t.account_id
			where t.deleted_at is null and a.deleted_at is null and a.short_id = $1`, of.ShortID)
	}
	for _, on := range []string{"desktop", "phone"} {
		b := newBrowser(t, on)
		b.enterAt(t, h, "/accounts/"+purse.ShortID, "None (manual account)")
		b.do(t, step{Do: "choose", Name: "Merge into", Value: "Till"})
		b.do(t, step{Do: "click", Name: "Merge…"})
		b.do(t, step{Do: "see", Text: "1 transaction will move"})
		b.whole(t, axe)
		b.do(t, step{Do: "click", Name: "Merge accounts"})
		b.do(t, step{Do: "see", Text: "Purse merged"})
		b.do(t, step{Do: "idle"})
		if v := b.look(t); !strings.HasSuffix(v.URL, "/accounts/"+till.ShortID) || rows(till) != 2 {
			t.Errorf("at %s, and the account has %d payments", v.URL, rows(till))
		}
		b.do(t, step{Do: "click", Name: "Undo"})
		b.do(t, step{Do: "see", Text: "Undone"})
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
		if rows(purse) != 1 || rows(till) != 1 {
			t.Errorf("after it was undone the accounts have %d and %d payments", rows(purse), rows(till))
		}
	}
}
