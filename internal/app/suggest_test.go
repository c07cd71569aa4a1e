package app_test

import (
	"io"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
	"coffer/internal/sim/household"
)

// TestSuggestedRules checks the first suggested rule for each frequent payee, in households in
// which people have categorized everything. The rule matches all of the payee's transactions, and
// no other payee's transactions with another category. A rule by the first word alone fails the
// second part.
func TestSuggestedRules(t *testing.T) {
	t.Parallel()
	var payees, whole, apart, crude, none int
	for seed := range 5 {
		w := newWorld(t)
		for _, p := range filedByPeople(t, w, uint64(seed)+1) {
			payees++
			got, err := w.Rules.Suggest(t.Context(), w.DB, rulebook.SuggestRules{
				Payee: new(p.Payee.String()), Category: &p.Category,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Candidates) == 0 {
				none++
				continue
			}
			best := got.Candidates[0]
			if best.OfPayee == p.Count && got.Transactions == p.Count {
				whole++
			} else if testing.Verbose() {
				t.Logf("%s: %d of %d: %s", got.PayeeName.Plain(), best.OfPayee, p.Count, best.Rule.Name)
			}
			if best.Held <= p.Count-p.Agree {
				apart++
			} else if testing.Verbose() {
				t.Logf("%s: %d held: %s", got.PayeeName.Plain(), best.Held-(p.Count-p.Agree), best.Rule.Name)
			}
			wrong, err := pg.Value[int64](t.Context(), w.DB, `
				select count(*) from transaction t join descriptor d on d.id = t.descriptor_id
					join category c on c.id = t.category_id
				where d.name ilike split_part($1, ' ', 1) || '%' and d.payee <> $2 and c.slug <> $3`,
				best.Sample[0].Name.Plain(), p.Payee, p.Category)
			if err != nil {
				t.Fatal(err)
			}
			if wrong == 0 {
				crude++
			}
		}
	}
	t.Logf("%d payees: the first suggestion finds all of the payee's transactions for %d, none that people filed "+
		"elsewhere for %d (by the first word alone: %d), and there is none for %d", payees, whole, apart, crude, none)
	if payees < 500 || whole*10 < payees*9 || apart*100 < payees*95 {
		t.Error("too few")
	}
	if crude*100 >= payees*95 {
		t.Error("the control is as good")
	}
}

type filedPayee struct {
	Payee    id.Key `db:"payee"`
	Category string `db:"category"` // the category of most of its transactions
	Agree    int64  `db:"agree"`
	Count    int64  `db:"count"`
}

// filedByPeople fills a world with a household in which people gave each transaction its true
// category. It returns the 200 most frequent payees.
func filedByPeople(t *testing.T, w *world, seed uint64) []filedPayee {
	t.Helper()
	made := household.New(household.Options{Seed: seed, Transactions: 2000, Years: 2})
	if err := w.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	var accounts, ids, truths []string
	for tx := range made.Transactions() {
		accounts = append(accounts, made.Accounts[tx.AccountIndex].ProviderID)
		ids, truths = append(ids, tx.ProviderID), append(truths, tx.Truth.Plain())
	}
	if _, err := pg.Exec(t.Context(), w.DB, `
		update transaction t set category_id = m.category_id, category_source = 'user'
		from unnest($1::text[], $2::text[], $3::text[]) v (account, id, truth)
			join account a on a.provider_id = v.account
			join category_mapping m on m.provider = 'plaid' and m.raw_detailed = v.truth
		where t.account_id = a.id and t.provider_id = v.id`, accounts, ids, truths); err != nil {
		t.Fatal(err)
	}
	out, err := pg.All[filedPayee](t.Context(), w.DB, `
		select distinct on (count, payee) payee, slug as category, n as agree, count from (
			select d.payee, c.slug, count(*) as n, (sum(count(*)) over (partition by d.payee))::bigint as count
			from transaction t join descriptor d on d.id = t.descriptor_id join category c on c.id = t.category_id
			where t.deleted_at is null group by 1, 2) x
		order by count desc, payee, n desc limit 200`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
