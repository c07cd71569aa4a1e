package rulebook_test

import (
	"fmt"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
)

// With review_history from_link, the history of an account does not wait for review, either when it
// is imported or when the bank changes it. That is the same for all callers. Transactions from the
// day of the link on do wait. With the default setting, all transactions wait.
func TestReviewFromTheDayOfTheLink(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"all", "from_link"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.exec(`update setting set review_history = $1`, setting)
			today := value[pg.Date](w, `select (now() at time zone time_zone)::date from setting`)
			var page []ledger.Incoming
			w.in(func(tx pg.Tx) error {
				ids, err := account.New(w.db).AddAccounts(w.ctx, tx, []account.Incoming{{
					Provider: "csv", ProviderID: "a", Type: "depository", Currency: "EUR", Name: text.Name("Checking"),
				}})
				if err != nil {
					return err
				}
				page = nil
				for i, days := range []int{-400, -1, 0, 1} {
					day, err := pg.ParseDate(today.Time().AddDate(0, 0, days).Format("2006-01-02"))
					if err != nil {
						return err
					}
					page = append(page, ledger.Incoming{
						AccountID: ids[0], ProviderID: fmt.Sprint(i), Date: day, Currency: "EUR", Name: text.Name("Shop"),
					})
				}
				_, _, err = w.rules.Merge(w.ctx, tx, id.New(), page)
				return err
			})
			want := map[string]int{"all": 4, "from_link": 2}[setting]
			const waiting = `select count(*)::int from transaction t join transaction_tag tt on tt.transaction_id = t.id and tt.present`
			if n := value[int](w, waiting); n != want {
				t.Errorf("%d wait for review, want %d", n, want)
			}
			matched, explained := 0, 0
			for _, u := range value[[]string](w, `select array_agg(id::text) from transaction`) {
				m, err := w.rules.Match(w.ctx, w.db, rulebook.MatchRules{TransactionID: &u})
				if err != nil {
					t.Fatal(err)
				}
				e, err := w.rules.Explain(w.ctx, w.db, ledger.TransactionRef{TransactionID: u})
				if err != nil {
					t.Fatal(err)
				}
				matched, explained = matched+m.MatchedCount, explained+len(e.Rules)
			}
			if matched != want || explained != want {
				t.Errorf("%d match and %d are explained by the rule, want %d", matched, explained, want)
			}
		})
	}
}
