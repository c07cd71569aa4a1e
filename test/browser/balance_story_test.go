package browser_test

import (
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// balanceByHand enters a balance that the transactions do not match, reads where the mismatch is and
// which deleted transaction may be its cause, undoes it, does it again, and removes the balance.
func balanceByHand(t *testing.T, h *house, axe string) {
	t.Helper()
	type lost struct{ Account, Day, Stated string }
	// A payment is gone, of the days before it one balance is known, and what it left is known to the person alone.
	l, err := pg.One[lost](t.Context(), h.DB, `
		with gone as (
			update transaction set deleted_at = now(), deleted_source = 'user' where id = (
				select t.id from transaction t join account a on a.id = t.account_id
				where a.type = 'depository' and t.deleted_at is null and not t.pending and t.currency = a.currency
					and t.amount > 0 and t.date between current_date - 60 and current_date - 4
				order by t.date desc, t.id limit 1)
			returning id, account_id, amount, date
		), forgotten as (
			delete from account_balance b using gone where b.account_id = gone.account_id
		), before as (
			insert into account_balance (account_id, day, source, exact, current)
			select account_id, date - 5, 'manual', true, 1000 from gone on conflict do nothing
		)
		select a.short_id as account, (gone.date + 2)::text as day,
			(1000 - gone.amount - coalesce((select sum(t.amount) from transaction t
				where t.account_id = a.id and t.deleted_at is null and not t.pending and t.currency = a.currency
					and t.id <> gone.id and t.date > gone.date - 5 and t.date <= gone.date + 2), 0))::text as stated
		from gone join account a on a.id = gone.account_id`)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/accounts/"+l.Account, "There’s only one balance so far")
	b.do(t, step{Do: "click", Name: "Enter balance…"})
	b.do(t, step{Do: "see", Text: "at end of day"})
	b.whole(t, axe)
	b.fill(t, "Date", l.Day)
	b.fill(t, "Balance at end of day", "a lot")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Enter an amount, for example"})
	b.fill(t, "Balance at end of day", l.Stated)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "1 mismatch found"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "There’s only one balance so far"})
	b.do(t, step{Do: "click", Name: "Undo"}) // of the undo
	b.do(t, step{Do: "see", Text: "more went out than"})
	b.do(t, step{Do: "see", Text: "Same amount, deleted"})
	b.whole(t, axe)
	b.do(t, step{Do: "press", Name: "Remove balance for " + spoken(t, l.Day)})
	b.do(t, step{Do: "see", Text: "There’s only one balance so far"})
	b.whole(t, axe)
	if n := h.count(t, `select count(*) from account_balance where source = 'manual'`); n != 1 {
		t.Errorf("%d entered balances after one of two was removed", n)
	}
}

// spoken is a day as the screens write it.
func spoken(t *testing.T, day string) string {
	t.Helper()
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	form := "2 Jan"
	if d.Year() != time.Now().Year() {
		form += " 2006"
	}
	return strings.Replace(d.Format(form), "Sep", "Sept", 1)
}
