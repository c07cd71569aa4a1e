package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

var totalsGroupings = []string{
	"category", "primary_category", "counterparty", "payee", "merchant", "account", "user", "tag",
	"month", "week", "day",
}

// A totalsRow is a transaction with everything by which a summary can group it.
type totalsRow struct {
	Amount       string    `db:"amount"`
	Currency     string    `db:"currency"`
	Date         time.Time `db:"date"`
	Category     *string   `db:"category"`
	Primary      *string   `db:"primary_category"`
	Kind         *string   `db:"kind"`
	Counterparty *string   `db:"counterparty"`
	Merchant     string    `db:"merchant"`
	Account      string    `db:"account"`
	User         *string   `db:"user"`
	Tags         []string  `db:"tags"`
	Excluded     bool      `db:"excluded"`
	Hidden       bool      `db:"hidden"`

	CounterpartyID *id.ID `db:"counterparty_id"`
	Payee          id.Key `db:"payee"`
	AccountID      id.ID  `db:"account_id"`
	UserID         *id.ID `db:"user_id"`
}

// totalsWho returns a name with the id, because names are not unique.
func totalsWho(name *string, who *id.ID) *string {
	if who == nil {
		return name
	}
	return new(*name + " " + who.Short())
}

// keys returns the groups of a grouping to which the row belongs. Only for tags can there be
// several.
func (r totalsRow) keys(grouping string) []*string {
	one := func(s *string) []*string { return []*string{s} }
	switch grouping {
	case "category":
		return one(r.Category)
	case "primary_category":
		return one(r.Primary)
	case "counterparty":
		return one(totalsWho(r.Counterparty, r.CounterpartyID))
	case "payee":
		if r.CounterpartyID != nil {
			return one(new(r.CounterpartyID.Short()))
		}
		return one(new(r.Payee.String()))
	case "merchant":
		return one(&r.Merchant)
	case "account":
		return one(totalsWho(&r.Account, &r.AccountID))
	case "user":
		return one(totalsWho(r.User, r.UserID))
	case "month":
		return one(new(r.Date.Format("2006-01")))
	case "week":
		return one(new(r.Date.AddDate(0, 0, -(int(r.Date.Weekday())+6)%7).Format(time.DateOnly)))
	case "day":
		return one(new(r.Date.Format(time.DateOnly)))
	case "tag":
		if len(r.Tags) > 0 {
			out := []*string{}
			for i := range r.Tags {
				out = append(out, &r.Tags[i])
			}
			return out
		}
	}
	return one(nil)
}

type totalsSums struct{ in, out, net, count int64 }

// totalsKey returns a text for a group: its keys and its currency.
func totalsKey(keys []*string, currency string) string {
	var b strings.Builder
	for _, k := range keys {
		if k == nil {
			b.WriteString("null|")
		} else {
			fmt.Fprintf(&b, "%q|", *k)
		}
	}
	return b.String() + currency
}

// totalsCents parses a number with two decimals, without the program's own arithmetic.
func totalsCents(t testing.TB, s string) int64 {
	t.Helper()
	whole, fraction, ok := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	if !ok || len(fraction) != 2 || err != nil {
		t.Fatalf("%q is not an amount with two decimals", s)
	}
	return n
}

// totalsSum adds up rows in cents.
func totalsSum(t testing.TB, rows []totalsRow, by, include []string,
	currency func(string) string,
) map[string]totalsSums {
	t.Helper()
	out := map[string]totalsSums{}
	for _, r := range rows {
		if r.Excluded && !slices.Contains(include, "excluded") || r.Hidden && !slices.Contains(include, "hidden") ||
			r.Kind != nil && *r.Kind == "transfer" && !slices.Contains(include, "transfers") {
			continue
		}
		groups := [][]*string{{}}
		for _, grouping := range by {
			var longer [][]*string
			for _, g := range groups {
				for _, k := range r.keys(grouping) {
					longer = append(longer, append(slices.Clone(g), k))
				}
			}
			groups = longer
		}
		cents := totalsCents(t, r.Amount)
		for _, g := range groups {
			key := totalsKey(g, currency(r.Currency))
			s := out[key]
			s.in, s.out, s.net, s.count = s.in+max(-cents, 0), s.out+max(cents, 0), s.net-cents, s.count+1
			out[key] = s
		}
	}
	return out
}

func totalsRead(t testing.TB, body []byte, by []string) map[string]totalsSums {
	t.Helper()
	var answer struct {
		Groups []struct {
			Keys     map[string]*string `json:"keys"`
			IDs      map[string]*string `json:"ids"`
			Payee    *string            `json:"payee"`
			Currency string             `json:"iso_currency_code"`
			In       json.Number        `json:"money_in"`
			Out      json.Number        `json:"money_out"`
			Net      json.Number        `json:"net"`
			Count    int64              `json:"count"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	out := map[string]totalsSums{}
	for _, g := range answer.Groups {
		keys := []*string{}
		for _, name := range by {
			k := g.Keys[name]
			if who := g.IDs[name]; who != nil && !strings.HasSuffix(name, "category") { // slugs are unique already
				k = new(*k + " " + *who)
				if u, err := id.Parse(*who); err == nil { // over REST; a tool prints the short id
					k = totalsWho(g.Keys[name], &u)
				}
			}
			// Several wordings can belong to one payee, and the shown one depends on the rows.
			if name == "payee" {
				if k = g.Payee; k == nil {
					k = g.IDs[name]
				}
				if u, err := id.Parse(*k); err == nil {
					k = new(u.Short())
				}
			}
			keys = append(keys, k)
		}
		key := totalsKey(keys, g.Currency)
		if _, twice := out[key]; twice || len(g.Keys) != len(by) {
			t.Fatalf("group %s comes twice, or with other keys: %v", key, g.Keys)
		}
		out[key] = totalsSums{
			totalsCents(t, g.In.String()), totalsCents(t, g.Out.String()),
			totalsCents(t, g.Net.String()), g.Count,
		}
	}
	return out
}

// TestTotalsNeverMixCurrencies: no summary adds amounts in two currencies. For every grouping,
// every pair of groupings, and whatever is included again, the totals equal sums in whole cents
// over the rows. This holds over REST and as a tool.
func TestTotalsNeverMixCurrencies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.totalsSeed(t)
	rows, err := pg.All[totalsRow](t.Context(), w.DB, `
		select t.amount::text as amount, t.currency, t.date, c.slug as category,
			coalesce(p.slug, c.slug) as primary_category, coalesce(p.kind, c.kind) as kind, o.name as counterparty,
			case when d.merchant_name = '' then d.name else d.merchant_name end as merchant,
				coalesce(a.display_name, a.name) as account, m.name as user,
			array(select g.slug from transaction_tag k join tag g on g.id = k.tag_id
				where k.transaction_id = t.id and k.present and g.deleted_at is null) as tags, t.excluded, a.hidden,
			t.counterparty_id, t.account_id, m.id as user_id, d.payee
		from transaction t join account a on a.id = t.account_id join descriptor d on d.id = t.descriptor_id left
			join connection n on n.id = a.connection_id
		left join member m on m.id = coalesce(a.owner_id, n.member_id) left join category c on c.id = t.category_id
			left join category p on p.id = c.parent_id
		left join counterparty o on o.id = t.counterparty_id where t.deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	combinations := [][]string{{}}
	for _, a := range totalsGroupings {
		combinations = append(combinations, []string{a})
		for _, b := range totalsGroupings {
			if a != b {
				combinations = append(combinations, []string{a, b})
			}
		}
	}
	all := []string{"transfers", "excluded", "hidden"}
	includes := [][]string{{}, all, all[:1], all[1:2], all[2:], all[1:]}
	summary := opNamed(t, w.Ops(), "transaction.summary")
	same := func(currency string) string { return currency }
	mixed := func(string) string { return "EUR" }
	noticed := 0
	for i, by := range combinations {
		for j, include := range includes {
			if j > 1 && i%4 != 0 {
				// What to include does not depend on the grouping, so try each include with a
				// quarter of the groupings.
				continue
			}
			query := url.Values{"group_by": by, "include": include}
			res := w.send(t, exchange{
				method: http.MethodGet, path: "/api/v1/transactions/summary?" + query.Encode(),
				key: w.key,
			})
			if res.status != http.StatusOK {
				t.Fatalf("%v %v: %d %s", by, include, res.status, res.body)
			}
			got, want := totalsRead(t, []byte(res.body), by), totalsSum(t, rows, by, include, same)
			if !maps.Equal(got, want) {
				t.Errorf("%v with %v: %s", by, include, totalsDifference(got, want))
			}
			if !maps.Equal(got, totalsSum(t, rows, by, include, mixed)) {
				noticed++
			}
			answer, err := w.call(t.Context(), summary, op.Tool,
				map[string]any{"group_by": toAny(by), "include": toAny(include), "limit": json.Number("200")})
			short := totalsRead(t, answer.Body, by)
			cut := strings.Contains(string(answer.Body), `"other":[{`)
			for key, sums := range want { // a tool returns only the first groups
				if _, ok := short[key]; !ok && cut {
					short[key] = sums
				}
			}
			if err != nil || !maps.Equal(short, want) {
				t.Errorf("the tool, %v with %v: %v %s", by, include, err, totalsDifference(short, want))
			}
		}
	}
	// The controls: if the summary had added currencies, every single comparison would have failed.
	// Including something changes the sums.
	if want := len(combinations)*2 + (len(includes)-2)*((len(combinations)+3)/4); noticed != want {
		t.Errorf("adding currencies would be noticed in %d of %d comparisons", noticed, want)
	}
	for _, include := range includes[1:] {
		if maps.Equal(totalsSum(t, rows, nil, include, same), totalsSum(t, rows, nil, nil, same)) {
			t.Errorf("including %v changes nothing, so the test proves nothing", include)
		}
	}
	names := map[string]bool{}
	for key := range totalsSum(t, rows, []string{"account"}, all, same) {
		names[regexp.MustCompile(` \w{8}"`).ReplaceAllString(key, `"`)] = true
	}
	if len(names) >= len(totalsSum(t, rows, []string{"account"}, all, same)) {
		t.Error("no two accounts of one currency have one name, so the test proves nothing")
	}
	if len(totalsSum(t, rows, []string{"payee"}, all, same)) >= len(totalsSum(t, rows, []string{"merchant"}, all, same)) {
		t.Error("no payee has two wordings, so the test proves nothing")
	}
	var tagged int64
	for _, s := range totalsSum(t, rows, []string{"tag"}, all, same) {
		tagged += s.count
	}
	if tagged <= int64(len(rows)) {
		t.Error("no transaction has two tags, so the test proves nothing")
	}
}

func toAny(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func totalsDifference(got, want map[string]totalsSums) string {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			return fmt.Sprintf("%s is %+v, want %+v", k, got[k], want[k])
		}
	}
	return fmt.Sprintf("%d groups, want %d", len(got), len(want))
}

// totalsSeed creates books in which currencies could get mixed: accounts with the same name,
// accounts of one person, and an account with rows in three currencies.
func (w *world) totalsSeed(t testing.TB) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.System, Name: "test"})
	w.fillBooks(t)
	dice := rand.New(rand.NewPCG(1, 2))
	err := w.DB.InTx(ctx, func(tx pg.Tx) error {
		named := func(provider, name string, currency money.Currency) account.Incoming {
			return account.Incoming{
				Provider: "csv", ProviderID: provider, Name: text.Name(name), Type: "depository",
				Currency: currency,
			}
		}
		ids, err := w.Accounts.AddAccounts(ctx, tx, []account.Incoming{
			named("t1", "Everyday", "USD"), named("t2", "Everyday", "JPY"), named("t3", "Mixed", "EUR"),
			named("t4", "Hidden", "EUR"), named("t5", "Dollars", "EUR"),
		})
		if err != nil {
			return err
		}
		_, err = w.Books.Load(ctx, tx, func(yield func(ledger.Incoming) bool) {
			for i := range 600 {
				cents := dice.Int64N(40000) - 15000
				if i%97 == 0 {
					cents = []int64{999999999999, -999999999999, 0, 1, -1}[i/97%5]
				}
				amount, err := money.FromCents(cents)
				if err != nil {
					panic(err)
				}
				day := pg.Day(time.Date(2025, 11, 20+dice.IntN(90), 0, 0, 0, 0, time.UTC))
				if !yield(ledger.Incoming{
					AccountID: ids[i%len(ids)], ProviderID: fmt.Sprint("t", i), Date: day, Amount: amount,
					Currency:     []money.Currency{"EUR", "USD", "JPY"}[dice.IntN(3)],
					Name:         text.Name(fmt.Sprint("shop ", dice.IntN(5))),
					MerchantName: text.Name([]string{"", "Merchant", "shop 1"}[dice.IntN(3)]),
					Extra:        bank.Extra{PaymentChannel: "online"},
				}) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, totalsSeedSQL)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const totalsSeedSQL = `
	update account set hidden = true where name = 'Hidden';
	update account set owner_id = (select id from member where name = 'Ada') where provider_id in ('t1', 't3');
	update account set owner_id = (select id from member where name = 'Household') where provider_id in ('t2', 't4');
	insert into counterparty (id, short_id, name) values (gen_random_uuid(), 'p1', 'One'),
		(gen_random_uuid(), 'p2', 'Two');
	insert into tag (id, short_id, slug, display_name) values (gen_random_uuid(), 'g1', 'one', 'One'),
		(gen_random_uuid(), 'g2', 'two', 'Two'), (gen_random_uuid(), 'g3', 'gone', 'Gone');
	update transaction t set excluded = hashtext(provider_id) % 11 = 0, deleted_at = case
		when hashtext(provider_id) % 13 = 0 then now() end,
		category_id = (select id from category
			where slug = (array['food_and_drink_groceries', 'food_and_drink', 'transfers_investments', 'transfers',
			'income_salary', 'no_such'])[1 + abs(hashtext(provider_id || 'c')) % 6]),
		counterparty_id = (select id from counterparty
			where name = (array['One', 'Two', 'none'])[1 + abs(hashtext(provider_id || 'p')) % 3])
		where provider_id like 't%';
	insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, hashtext(t.provider_id || 'present') % 5 <> 0, 'rule' from transaction t, tag g
			where hashtext(t.provider_id || g.slug) % 2 = 0;
	update tag set deleted_at = now() where slug = 'gone';`

// TestAMillionAmountsComeBack: a million amounts have the same value in JSON and in NUMERIC as in
// Go, and are read back unchanged.
func TestAMillionAmountsComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const million = 1_000_000
	dice := rand.New(rand.NewPCG(3, 4))
	amounts := make([]money.Amount, million)
	for i := range amounts {
		cents := dice.Int64N(999_999_999_999) >> dice.IntN(40)
		if i < 2000 {
			cents = int64(i) // all of the smallest amounts, in which the decimals matter
		}
		if i%2 == 1 {
			cents = -cents
		}
		var err error
		if amounts[i], err = money.FromCents(cents); err != nil {
			t.Fatal(err)
		}
	}
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) error {
		if _, err := tx.Exec(t.Context(), `create temporary table amounts (n int, amount numeric(12,2),
			json json) on commit drop`); err != nil {
			return err
		}
		_, err := tx.CopyFrom(t.Context(), pgx.Identifier{"amounts"}, []string{"n", "amount", "json"},
			pgx.CopyFromSlice(million, func(i int) ([]any, error) {
				b, err := amounts[i].MarshalJSON()
				return []any{i, amounts[i], json.RawMessage(b)}, err
			}))
		if err != nil {
			return err
		}
		for _, check := range []string{
			`select count(*) from amounts where json::text <> amount::text`,
			`select count(*) from amounts where json::text::numeric(12,2) <> amount`,
			`select count(*) from amounts where to_json(amount)::text <> json::text`,
		} {
			if n, err := pg.Value[int](t.Context(), tx, check); err != nil || n > 0 {
				t.Errorf("%s: %d (%v)", check, n, err)
			}
		}
		rows, err := tx.Query(t.Context(), `select n, amount, json::text from amounts`)
		if err != nil {
			return err
		}
		seen, n, back, printed := 0, 0, money.Amount{}, ""
		_, err = pgx.ForEachRow(rows, []any{&n, &back, &printed}, func() error {
			seen++
			var read money.Amount
			if err := read.UnmarshalJSON([]byte(printed)); err != nil || read != amounts[n] || back != amounts[n] {
				return fmt.Errorf("%s came back as %s, and %s from JSON (%w)", amounts[n], back, read, err)
			}
			return nil
		})
		if seen != million {
			t.Errorf("%d came back", seen)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
