package reviewgroup

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// A row is a transaction of a test household. source is the source of its category, and waits means
// that it waits for review.
type row struct {
	name, merchant, currency, category, source, counterparty string
	cents                                                    int64
	daysAgo                                                  int
	waits, pending, excluded                                 bool
}

func newGroups(t *testing.T, rows []row) (*Groups, *pg.DB) {
	t.Helper()
	db := pgtest.New(t)
	books := ledger.New(db, category.New(ledger.CategoryUser{}))
	account := id.New()
	if _, err := pg.Exec(t.Context(), db, `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, account, account.Short()); err != nil {
		t.Fatal(err)
	}
	today, err := pg.Value[pg.Date](t.Context(), db, `select (now() at time zone time_zone)::date from setting`)
	if err != nil {
		t.Fatal(err)
	}
	var incoming iter.Seq[ledger.Incoming] = func(yield func(ledger.Incoming) bool) {
		for i, r := range rows {
			day, err := pg.ParseDate(today.Time().AddDate(0, 0, -r.daysAgo).Format("2006-01-02"))
			if err != nil {
				t.Fatal(err)
			}
			amount, err := money.Parse(fmt.Sprintf("%d.%02d", r.cents/100, r.cents%100))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(ledger.Incoming{
				AccountID: account, ProviderID: fmt.Sprint(i), Date: day, Amount: amount,
				Currency: money.Currency(r.currency), Name: text.Name(r.name), MerchantName: text.Name(r.merchant),
				Pending: r.pending,
			}) {
				return
			}
		}
	}
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		if _, err := books.Load(t.Context(), tx, incoming); err != nil {
			return err
		}
		for i, r := range rows {
			if _, err := pg.Exec(t.Context(), tx, `
				with made as (insert into counterparty (id, short_id, name, category_id)
					select gen_random_uuid(), left(md5($5), 8), $5, (select id from category where slug = 'home_rent')
					where $5 <> '' on conflict (lower(name)) where deleted_at is null do update set name = $5 returning id)
				update transaction set category_id = (select id from category where slug = $2), category_source = nullif($3, ''),
					excluded = $4, counterparty_id = (select id from made) where provider_id = $1`,
				fmt.Sprint(i), r.category, r.source, r.excluded, r.counterparty); err != nil {
				return err
			}
			if r.waits {
				if _, err := pg.Exec(t.Context(), tx, `insert into transaction_tag select t.id, g.id, true, 'rule'
					from transaction t, tag g where t.provider_id = $1 and g.slug = 'needs-review'`, fmt.Sprint(i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(db, books), db
}

const groceries, cafes = "food_and_drink_groceries", "food_and_drink_cafes"

// Groups are sorted with the largest first. Their suggestion comes from people's earlier decisions,
// or else from rules and agents, or else from the counterparty's category. Excluded transactions,
// transactions that do not wait, and those older than two years do not count.
func TestReviewGroups(t *testing.T) {
	t.Parallel()
	p, db := newGroups(t, []row{
		{name: "REWE MARKT 4711 BERLIN", currency: "EUR", cents: 1000, daysAgo: 3, waits: true},
		{name: "REWE MARKT 17 BERLIN", currency: "EUR", cents: 3000, daysAgo: 2, waits: true, category: cafes, source: "provider"},
		{name: "REWE Markt 17 Berlin", currency: "EUR", cents: 2000, daysAgo: 1, waits: true, pending: true},
		{name: "REWE MARKT 17 BERLIN", currency: "EUR", cents: 500, daysAgo: 1, waits: true, excluded: true},
		{name: "REWE MARKT 99 BERLIN", currency: "USD", cents: 700, daysAgo: 9, waits: true},
		{name: "REWE MARKT 4 BERLIN", currency: "EUR", cents: 100, daysAgo: 40, category: groceries, source: "user"},
		{name: "REWE MARKT 5 BERLIN", currency: "EUR", cents: 100, daysAgo: 41, category: groceries, source: "user"},
		{name: "REWE MARKT 5 BERLIN", currency: "EUR", cents: 100, daysAgo: 900, category: cafes, source: "user"},
		{name: "REWE MARKT 5 BERLIN", currency: "EUR", cents: 100, daysAgo: 50, category: cafes, source: "rule"},
		{name: "CAFE 1", merchant: "Cafe", currency: "EUR", cents: 300, daysAgo: 5, waits: true, category: cafes, source: "rule"},
		{name: "CAFE 2", merchant: "Cafe", currency: "EUR", cents: 300, daysAgo: 5, waits: true, category: cafes, source: "agent"},
		{name: "DAUERAUFTRAG 88", currency: "EUR", cents: 90000, daysAgo: 5, waits: true, counterparty: "Landlord"},
		{name: "Kiosk", currency: "EUR", cents: 90, daysAgo: 6, waits: true},
		{name: "Kiosk", currency: "EUR", cents: 90, daysAgo: 60, category: cafes, source: "user"}, // 1 is not enough
	})
	out, err := p.ReviewGroups(t.Context(), db, ListReviewGroups{Limit: 25})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, g := range out.Groups {
		suggestion, _ := json.Marshal(g.Suggestion)
		categories, _ := json.Marshal(g.Categories)
		amounts, _ := json.Marshal(g.Amounts)
		lines = append(lines, fmt.Sprintf("%s %d pending %d sample %d accounts %d bound %t %s %s %s", g.PayeeName.Plain(),
			g.Count, g.Pending, len(g.Sample), len(g.Accounts), g.CounterpartyID != nil, suggestion, categories, amounts))
	}
	want := strings.Join([]string{
		`Rewe 4 pending 1 sample 3 accounts 1 bound false {"category":"food_and_drink_groceries","basis":"person","agree":2,"of":2} ` +
			`[{"category":null,"source":null,"count":3},{"category":"food_and_drink_cafes","source":"provider","count":1}] ` +
			`[{"iso_currency_code":"EUR","min":10.00,"median":20.00,"max":30.00,"total":60.00},{"iso_currency_code":"USD","min":7.00,"median":7.00,"max":7.00,"total":7.00}]`,
		`Cafe 2 pending 0 sample 2 accounts 1 bound false {"category":"food_and_drink_cafes","basis":"history","agree":2,"of":2} ` +
			`[{"category":"food_and_drink_cafes","source":"agent","count":1},{"category":"food_and_drink_cafes","source":"rule","count":1}] ` +
			`[{"iso_currency_code":"EUR","min":3.00,"median":3.00,"max":3.00,"total":6.00}]`,
		`Landlord 1 pending 0 sample 1 accounts 1 bound true {"category":"home_rent","basis":"counterparty","agree":0,"of":0} ` +
			`[{"category":null,"source":null,"count":1}] [{"iso_currency_code":"EUR","min":900.00,"median":900.00,"max":900.00,"total":900.00}]`,
		`Kiosk 1 pending 0 sample 1 accounts 1 bound false null [{"category":null,"source":null,"count":1}] ` +
			`[{"iso_currency_code":"EUR","min":0.90,"median":0.90,"max":0.90,"total":0.90}]`,
	}, "\n")
	if got := strings.Join(lines, "\n"); !sameLines(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if out.TotalGroups != 4 || out.Total != 8 || out.HasMore {
		t.Errorf("%d groups, %d transactions, more %t", out.TotalGroups, out.Total, out.HasMore)
	}
	// A group's key finds its transactions.
	for _, g := range out.Groups {
		f := ledger.Filter{Tags: []string{ledger.NeedsReview}, Excluded: new(false), CounterpartyID: new("none")}
		if g.CounterpartyID != nil {
			f.CounterpartyID = new(g.CounterpartyID.String())
		} else {
			f.Payee = new(g.Payee.String())
		}
		if n, err := p.books.Count(t.Context(), db, f); err != nil || int(n.Count) != g.Count {
			t.Errorf("%s: %d by its filter, %d in the group (%v)", g.PayeeName.Plain(), n.Count, g.Count, err)
		}
	}
}

// sameLines compares two lists of groups, but ignores the order of the last two, which have the
// same size and are sorted by random keys.
func sameLines(got, want string) bool {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) || len(a) < 2 {
		return got == want
	}
	n := len(a)
	return got == want || strings.Join(append(append([]string{}, a[:n-2]...), a[n-1], a[n-2]), "\n") == want
}

// Reading with pages of one group returns every group once.
func TestReviewGroupsPages(t *testing.T) {
	t.Parallel()
	var rows []row
	for i, name := range []string{"Baker", "Butcher", "Cobbler", "Miller", "Tailor"} {
		for n := range i%3 + 1 {
			rows = append(rows, row{name: fmt.Sprint(name, " ", n), currency: "EUR", cents: 100, daysAgo: n, waits: true})
		}
	}
	p, db := newGroups(t, rows)
	seen, last, cursor := map[id.Key]bool{}, 99, ""
	for {
		out, err := p.ReviewGroups(t.Context(), db, ListReviewGroups{Limit: 1, Cursor: cursor})
		if err != nil || len(out.Groups) != 1 || out.TotalGroups != 5 || out.Total != len(rows) {
			t.Fatalf("%+v %v", out, err)
		}
		g := out.Groups[0]
		if seen[g.Payee] || g.Count > last {
			t.Errorf("%s comes twice or out of order", g.PayeeName.Plain())
		}
		seen[g.Payee], last, cursor = true, g.Count, out.NextCursor
		if !out.HasMore {
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d groups of 5", len(seen))
	}
}
