package browser_test

import (
	"testing"

	"coffer/internal/books/payeename"
	"coffer/internal/platform/pg"
)

// recurringPayments opens a contract, confirms it and undoes that, renames it, and dismisses it.
func recurringPayments(t *testing.T, h *house, axe string) {
	t.Helper()
	said := func(want int, sql string) {
		t.Helper()
		if n := h.count(t, `select count(*) from recurring where `+sql); n != want {
			t.Errorf("%d are %s, not %d", n, sql, want)
		}
	}
	wording, err := pg.Value[string](t.Context(), h.DB, `select coalesce(nullif(d.merchant_name, ''), d.name)
		from recurring r join transaction t on t.id = r.last_id join descriptor d on d.id = t.descriptor_id
		where r.direction = 'out' and r.fixed and not r.transfer group by 1 having count(*) = 1 order by max(r.next_date) desc, 1 limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	name := payeename.Of(wording, "")
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/recurring", "Bills and subscriptions")
	b.do(t, step{Do: "click", Name: name})
	b.do(t, step{Do: "see", Text: "Price over time"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Confirm"})
	b.do(t, step{Do: "see", Text: name + " confirmed"})
	said(1, `state = 'confirmed'`)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	said(0, `state = 'confirmed'`)
	b.do(t, step{Do: "click", Name: "Rename"})
	b.do(t, step{Do: "see", Text: "Payee:"})
	b.whole(t, axe)
	b.fill(t, "Name", "Our own name")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Renamed"})
	said(1, `name = 'Our own name'`)
	b.do(t, step{Do: "click", Name: "Dismiss"})
	b.do(t, step{Do: "see", Text: "coffer won’t suggest it again"})
	said(1, `state = 'dismissed'`)
	b.screen(t, "/recurring", "1 dismissed")
	b.whole(t, axe)
	contractsOfOneName(t, h, axe)
}

// contractsOfOneName sees from which account each of two contracts is paid that have one name.
func contractsOfOneName(t *testing.T, h *house, axe string) {
	t.Helper()
	accounts, err := pg.Values[string](t.Context(), h.DB, `
		with twins as (select distinct on (account_id) id, account_id from recurring
			where state <> 'dismissed' and not transfer and next_date between current_date and current_date + 28
			order by account_id, next_date limit 2),
		named as (update recurring set name = 'Phone' where id in (select id from twins))
		select coalesce(nullif(a.display_name, ''), a.name) from account a join twins on twins.account_id = a.id order by 1`)
	if err != nil || len(accounts) != 2 {
		t.Fatalf("%q: %v", accounts, err)
	}
	for _, size := range []string{"desktop", "phone"} {
		b := newBrowser(t, size)
		b.enterAt(t, h, "/recurring", "Bills and subscriptions")
		for _, a := range accounts {
			b.do(t, step{Do: "says", Name: "main", Text: " · " + a})
		}
		b.whole(t, axe)
		b.screen(t, "/recurring/calendar", "Projected balances")
		b.do(t, step{Do: "press", Name: "Next month"})
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
	}
}
