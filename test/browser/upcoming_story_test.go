package browser_test

import (
	"regexp"
	"testing"
	"time"

	"coffer/internal/books/payeename"
	"coffer/internal/platform/pg"
)

// upcomingPayments looks at what is due this month and next, opens the transactions of one, and
// does the same on a phone.
func upcomingPayments(t *testing.T, h *house, axe string) {
	t.Helper()
	wording, err := pg.Value[string](t.Context(), h.DB, `select coalesce(r.name, nullif(d.merchant_name, ''), d.name)
		from recurring r join transaction t on t.id = r.last_id join descriptor d on d.id = t.descriptor_id
		where r.cadence = 'monthly' and r.state <> 'dismissed' and t.counterparty_id is null
			and r.next_date between current_date - 5 and current_date + 40
		group by 1 having count(*) = 1 order by 1 limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	name := payeename.Of(wording, "")
	next := time.Now().AddDate(0, 0, 1-time.Now().Day()).AddDate(0, 1, 0)
	for _, size := range []string{"desktop", "phone"} {
		b := newBrowser(t, size)
		b.enterAt(t, h, "/recurring/calendar", "Projected balances through")
		b.do(t, step{Do: "press", Name: "Next month"})
		b.do(t, step{Do: "see", Text: "Projected balances through " + next.AddDate(0, 1, -1).Format("2 Jan")})
		b.do(t, step{Do: "see", Text: name})
		b.whole(t, axe)
		b.do(t, step{Do: "click", Name: regexp.QuoteMeta(name)})
		b.do(t, step{Do: "see", Text: "over time"})
	}
}
