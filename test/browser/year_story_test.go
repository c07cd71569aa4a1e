package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// yearSpending is what was spent in this year in euros, added up from the rows.
const yearSpending = `
	select '€' || to_char(coalesce(sum(t.amount), 0), 'FM999,999,990.00') from transaction t
		join account a on a.id = t.account_id left join category c on c.id = t.category_id
		left join category p on p.id = c.parent_id
	where t.currency = 'EUR' and t.deleted_at is null and not t.is_split and not t.excluded and not t.transfer
		and t.excluded_reason is null and not a.hidden and coalesce(p.kind, c.kind, '') not in ('income', 'transfer')
		and (c.id is not null or t.amount > 0)
		and t.date between date_trunc('year', now())::date
			and (now() at time zone (select time_zone from setting))::date`

// A year shows what the rows add up to, a transaction that is left out of totals and one that counts
// again included. On paper each tag that is open begins a page.
func TestYear(t *testing.T) { //nolint:paralleltest // one house, and one browser at a time
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	spending := func() string {
		t.Helper()
		s, err := pg.Value[string](t.Context(), h.DB, yearSpending)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, err := pg.Value[string](t.Context(), h.DB, `
		select t.short_id from transaction t join category c on c.id = t.category_id
			join category p on p.id = coalesce(c.parent_id, c.id) join account a on a.id = t.account_id
		where p.kind = 'expense' and t.currency = 'EUR' and t.deleted_at is null and not t.is_split and not t.excluded
			and not t.transfer and not a.hidden and t.amount > 20 and t.date >= date_trunc('year', now())
			and t.date < now() - interval '3 days' order by t.date desc, t.id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, "desktop")
	before := spending()
	b.enterAt(t, h, "/cash-flow/year", before)
	b.do(t, step{Do: "click", Name: "Food & Drink"})
	b.do(t, step{Do: "see", Text: "Groceries"})
	b.whole(t, axe)
	b.screen(t, "/transactions?open="+one, "Bank details")
	b.do(t, step{Do: "choose", Name: "Totals", Value: "Excluded: Reimbursed"})
	b.do(t, step{Do: "see", Text: "Excluded from totals"})
	b.do(t, step{Do: "see", Text: "excluded from totals"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if again := spending(); again != before {
		t.Errorf("after the undo %s, and %s before", again, before)
	}
	b.do(t, step{Do: "choose", Name: "Totals", Value: "Excluded: Reimbursed"})
	b.do(t, step{Do: "see", Text: "excluded from totals"})
	b.whole(t, axe)
	if after := spending(); after == before {
		t.Error("the transaction still counts")
	} else {
		b.screen(t, "/cash-flow/year", after)
	}
	b.do(t, step{Do: "see", Text: "Excluded from totals"})
	b.do(t, step{Do: "see", Text: "/Reimbursed/"})
	b.screen(t, "/transactions?open="+one, "excluded from totals")
	b.do(t, step{Do: "choose", Name: "Totals", Value: "Counts in totals"})
	b.do(t, step{Do: "see", Text: "/^Counted in totals$/"}) // the list says how many are not counted in totals
	b.screen(t, "/cash-flow/year", before)
	plain := pages(t, b)
	b.do(t, step{Do: "click", Name: "shared.*"})
	b.do(t, step{Do: "see", Text: "Payee"})
	b.do(t, step{Do: "idle"})
	if with := pages(t, b); with <= plain {
		t.Errorf("%d pages with a tag, and %d without", with, plain)
	}
}

// pages prints the page and returns how many sheets that takes.
func pages(t *testing.T, b *browser) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "year.pdf")
	if dir := os.Getenv("COFFER_TEST_SHOTS"); dir != "" {
		file = filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+filepath.Base(t.TempDir())+".pdf")
	}
	b.do(t, step{Do: "pdf", File: file})
	printed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(printed, []byte("/Type /Page\n"))
}
