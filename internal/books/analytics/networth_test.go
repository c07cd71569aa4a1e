package analytics

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/household"
	"github.com/jackc/pgx/v5"
)

// A truth holds what an account is worth on each day; nil if that is unknown.
type truth struct {
	name     string
	kind     string
	currency money.Currency
	assets   []*int64
	stated   []bool
}

// A worthWorld holds 20 households in one set of books, and the truth of each account.
type worthWorld struct {
	*testing.T
	db     *pg.DB
	totals *Totals
	last   time.Time
	span   int // days
	truths map[id.ID]truth
}

func newWorth(t *testing.T, households int) *worthWorld {
	t.Helper()
	db := pgtest.New(t)
	w := &worthWorld{
		T: t, db: db, totals: New(ledger.New(db, category.New(ledger.CategoryUser{})), account.New(db)),
		last: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1), span: 366, truths: map[id.ID]truth{},
	}
	w.exec(`insert into descriptor (name, merchant_name, folded) values ('x', '', 'x')`)
	for seed := range households {
		w.settle(uint64(seed))
	}
	return w
}

func (w *worthWorld) exec(sql string, args ...any) {
	w.Helper()
	if _, err := pg.Exec(w.Context(), w.db, sql, args...); err != nil {
		w.Fatal(err)
	}
}

// settle adds a household. It calculates its balances forward from an opening balance and states
// some of them. It also adds rows that do not change the balance.
func (w *worthWorld) settle(seed uint64) {
	w.Helper()
	h := household.New(household.Options{Seed: seed, Transactions: 700, Years: 1, End: w.last})
	rng := rand.New(rand.NewPCG(seed, 3))
	first := w.last.AddDate(0, 0, -w.span+1)
	moved := make([]map[int]int64, len(h.Accounts)) // sums by account and day
	var rows [][]any
	accounts := make([]id.ID, len(h.Accounts))
	for i := range accounts {
		accounts[i], moved[i] = id.New(), map[int]int64{}
	}
	row := func(account int, day time.Time, amount money.Amount, c money.Currency, pending bool, origin string, deleted any) {
		u := id.New()
		rows = append(rows, []any{u, u.Short(), accounts[account], u.Short(), day, amount, string(c), pending, origin, deleted})
	}
	for r := range h.Transactions() {
		day := int(r.Date.Sub(first).Hours() / 24)
		if day < 0 || day >= w.span {
			continue
		}
		row(r.AccountIndex, r.Date, r.Amount, r.Currency, r.Pending, "bank", nil)
		if !r.Pending && r.Currency == h.Accounts[r.AccountIndex].Currency {
			moved[r.AccountIndex][day] += r.Amount.Cents()
		}
		switch rng.IntN(40) {
		case 0:
			row(r.AccountIndex, r.Date, r.Amount, r.Currency, true, "bank", nil)
		case 1:
			row(r.AccountIndex, r.Date, r.Amount, r.Currency, false, "bank", time.Now())
		case 2:
			row(r.AccountIndex, r.Date, r.Amount, "CHF", false, "bank", nil)
		}
	}
	var balances [][]any
	for i, a := range h.Accounts {
		kind, method := a.Type, "transactions"
		switch {
		case kind == "investment":
			method = "valuations"
		case kind == "depository" && seed%3 == 0:
			kind = "other"
		}
		var closed *time.Time
		if rng.IntN(8) == 0 {
			closed = new(w.last.AddDate(0, 0, -rng.IntN(100)))
		}
		name := fmt.Sprintf("%d/%d %s", seed, i, kind)
		w.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency, balance_method, closed_on)
			values ($1, $2, 'csv', $2, $3, $4, $5, $6, $7)`, accounts[i], accounts[i].Short(), name, kind,
			string(a.Currency), method, closed)
		tr := truth{name, kind, a.Currency, make([]*int64, w.span), make([]bool, w.span)}
		at, value := rng.Int64N(10_000_00), (*int64)(nil)
		knownFrom, ever := w.span, false
		for day := range moved[i] {
			if method == "transactions" {
				knownFrom = min(knownFrom, day)
			}
		}
		never := rng.IntN(10) == 0
		for day := range w.span {
			at -= moved[i][day]
			if method == "valuations" {
				at += rng.Int64N(1000) - 500 // changes of the market, which no row explains
			}
			known := at
			if !never && rng.IntN(45) == 0 {
				value, knownFrom, ever, tr.stated[day] = &known, min(knownFrom, day), true, true
				current := at
				if kind == "credit" || kind == "loan" {
					current = -at
				}
				balances = append(balances, []any{accounts[i], first.AddDate(0, 0, day), cents(w.T, current)})
			}
			if tr.assets[day] = &known; method == "valuations" {
				tr.assets[day] = value
			}
		}
		for day := range w.span {
			switch {
			case closed != nil && first.AddDate(0, 0, day).After(*closed):
				tr.assets[day], tr.stated[day] = new(int64), false
			case !ever, day < knownFrom:
				tr.assets[day] = nil
			}
		}
		w.truths[accounts[i]] = tr
	}
	w.copy("transaction", []string{
		"id", "short_id", "account_id", "provider_id", "date", "amount", "currency", "pending",
		"origin", "deleted_at", "descriptor_id",
	}, rows, 1)
	w.copy("account_balance", []string{"account_id", "day", "current", "exact"}, balances, true)
}

func (w *worthWorld) copy(table string, columns []string, rows [][]any, last any) {
	w.Helper()
	if err := w.db.InTx(w.Context(), func(tx pg.Tx) error {
		_, err := tx.CopyFrom(w.Context(), pgx.Identifier{table}, columns, pgx.CopyFromSlice(len(rows),
			func(i int) ([]any, error) { return append(rows[i], last), nil }))
		return err
	}); err != nil {
		w.Fatal(err)
	}
}

func cents(t *testing.T, n int64) money.Amount {
	t.Helper()
	a, err := money.FromCents(n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *worthWorld) ask(in NetWorthRequest) NetWorth {
	w.Helper()
	out, err := w.totals.NetWorth(w.Context(), w.db, in)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// Every day's balance of every account of 20 households equals the one that was calculated forward,
// to the cent. The totals of a currency are the sum of its accounts, whatever the grouping.
func TestNetWorthIsTheTruth(t *testing.T) {
	t.Parallel()
	w := newWorth(t, 20)
	first := pg.Day(w.last.AddDate(0, 0, -w.span+1))
	last := pg.Day(w.last)
	year := w.ask(NetWorthRequest{StartDate: &first, EndDate: &last, Interval: "day", By: new("account")})
	if len(year.Points) != w.span || len(year.Accounts) != len(w.truths) {
		t.Fatalf("%d points of %d accounts", len(year.Points), len(year.Accounts))
	}
	kinds, derived, unknown := map[string]int{}, 0, 0
	for day, p := range year.Points {
		want := map[money.Currency]int64{}
		for _, g := range p.Groups {
			tr := w.truths[*g.ID]
			known := 0
			if asset := tr.assets[day]; asset != nil {
				known = 1
				want[tr.currency] += *asset
				if *g.Net != cents(t, *asset).Total() {
					t.Fatalf("%s on %s: %s, want %d", tr.name, p.Date, g.Net, *asset)
				}
				if g.Derived != 0 == tr.stated[day] {
					t.Fatalf("%s on %s: derived %d", tr.name, p.Date, g.Derived)
				}
			}
			if g.Known != known || g.Unknown != 1-known || g.Currency != tr.currency {
				t.Fatalf("%s on %s: %+v", tr.name, p.Date, g)
			}
			kinds[tr.kind] += known
			derived, unknown = derived+g.Derived, unknown+g.Unknown
		}
		for _, total := range p.Totals {
			if total.Known == 0 {
				continue
			}
			both, err := total.Net.Add(*total.Debts)
			if err != nil || total.Net.String() != cents(t, want[total.Currency]).String() || both != *total.Assets {
				t.Fatalf("%s: %+v, want %d", p.Date, total, want[total.Currency])
			}
		}
	}
	for _, kind := range []string{"depository", "credit", "loan", "investment", "other"} {
		if kinds[kind] < 1000 {
			t.Errorf("only %d days of %s", kinds[kind], kind)
		}
	}
	if derived < 50_000 || unknown < 1000 {
		t.Errorf("%d derived and %d unknown days", derived, unknown)
	}
	t.Logf("%v, %d derived, %d unknown", kinds, derived, unknown)

	// The results by week or by type describe the same books.
	weeks := w.ask(NetWorthRequest{StartDate: &first, EndDate: &last, Interval: "week", By: new("type")})
	for _, p := range weeks.Points {
		day := int(p.Date.Time().Sub(first.Time()).Hours() / 24)
		if !reflect.DeepEqual(p.Totals, year.Points[day].Totals) {
			t.Fatalf("%s: %v, by day %v", p.Date, p.Totals, year.Points[day].Totals)
		}
		sum := map[money.Currency]money.Total{}
		for _, g := range p.Groups {
			if g.Net != nil {
				sum[g.Currency] = add(sum[g.Currency], *g.Net)
			}
		}
		for _, total := range p.Totals {
			if total.Net != nil && sum[total.Currency] != *total.Net {
				t.Fatalf("%s: types come to %s, want %s", p.Date, sum[total.Currency], total.Net)
			}
		}
	}
}

// A card that two connections report counts once. Hidden and deleted accounts do not count at all.
func TestNetWorthCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorth(t, 0)
	at := map[string]id.ID{}
	for _, c := range []struct{ name, kind, currency, current string }{
		{"giro", "depository", "EUR", "100"},
		{"card", "credit", "EUR", "30"},
		{"copy", "credit", "EUR", "30"},
		{"dollars", "depository", "USD", "7"},
		{"hidden", "depository", "EUR", "1000"},
		{"deleted", "depository", "EUR", "1000"},
	} {
		u := id.New()
		at[c.name] = u
		w.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency) values ($1, $2, 'csv', $2,
			$3, $4, $5)`, u, u.Short(), c.name, c.kind, c.currency)
		w.exec(`insert into account_balance (account_id, day, current) values ($1, current_date - 20, $2)`, u, c.current)
	}
	w.exec(`update account set hidden = true where id = $1`, at["hidden"])
	w.exec(`update account set deleted_at = now() where id = $1`, at["deleted"])
	net := func() string {
		t.Helper()
		n := w.ask(NetWorthRequest{Interval: "month"})
		p := n.Points[len(n.Points)-1]
		return fmt.Sprint(p.Totals[0].Net, p.Totals[0].Debts, p.Totals[1].Net, len(p.Totals), len(n.Accounts), len(n.Notes))
	}
	if got := net(); got != "40.00 60.00 7.00 2 4 0" {
		t.Error("without a link:", got)
	}
	link := id.New()
	w.exec(`insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence)
		values ($1, $2, $3, $4, 'mirror', 'auto')`, link, link.Short(), at["card"], at["copy"])
	if got := net(); got != "40.00 60.00 7.00 2 4 1" {
		t.Error("proposed:", got)
	}
	w.exec(`update account_link set confidence = 'confirmed'`)
	if got := net(); got != "70.00 30.00 7.00 2 3 0" {
		t.Error("confirmed:", got)
	}
	w.exec(`update account_link set kind = 'transfer'`)
	if got := net(); got != "40.00 60.00 7.00 2 4 0" {
		t.Error("a transfer:", got)
	}
}

// A point is the end of an interval, and the last point is the last requested day.
func TestNetWorthDays(t *testing.T) {
	t.Parallel()
	w := newWorth(t, 0)
	day := func(s string) *pg.Date {
		d, err := pg.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	for _, c := range []struct{ start, end, interval, want string }{
		{"2025-11-30", "2026-02-10", "month", "[2025-11-30 2025-12-31 2026-01-31 2026-02-10]"},
		{"2026-01-31", "2026-02-28", "month", "[2026-01-31 2026-02-28]"},
		{"2026-03-01", "2026-03-16", "week", "[2026-03-01 2026-03-08 2026-03-15 2026-03-16]"},
		{"2026-03-01", "2026-03-03", "day", "[2026-03-01 2026-03-02 2026-03-03]"},
		{"2026-03-01", "2026-03-01", "month", "[2026-03-01]"},
	} {
		got, err := NetWorthRequest{StartDate: day(c.start), EndDate: day(c.end), Interval: c.interval}.days(t.Context(), w.db)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if got, err := (NetWorthRequest{StartDate: day("2025-01-01"), EndDate: day("2026-02-04"), Interval: "day"}).days(t.Context(),
		w.db); err != nil || len(got) != netWorthMost {
		t.Errorf("%d points, %v", len(got), err)
	}
	for _, c := range [][2]string{{"2025-01-01", "2026-02-05"}, {"2026-02-02", "2026-02-01"}, {"2999-01-01", "2999-02-01"}} {
		if _, err := (NetWorthRequest{StartDate: day(c[0]), EndDate: day(c[1]), Interval: "day"}).days(t.Context(),
			w.db); !errs.Is(err, errs.ValidationError) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// A point is converted by the last rate on or before its day, direct or inverse but never through a
// third currency. If a currency has no rate, it is named and nothing is converted.
func TestConverted(t *testing.T) {
	t.Parallel()
	w := newWorth(t, 0)
	for _, c := range []struct{ kind, currency, current string }{
		{"depository", "EUR", "100"}, {"credit", "USD", "40"}, {"depository", "GBP", "10"},
	} {
		u := id.New()
		w.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency) values ($1, $2, 'csv', $2,
			$2, $3, $4)`, u, u.Short(), c.kind, c.currency)
		w.exec(`insert into account_balance (account_id, day, current) values ($1, '2026-01-01', $2)`, u, c.current)
	}
	set := func(currency, in money.Currency, day, rate string) error {
		d, err := pg.ParseDate(day)
		if err != nil {
			t.Fatal(err)
		}
		r, err := money.ParseRate(rate)
		if err != nil {
			t.Fatal(err)
		}
		return w.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := w.totals.SetRate(t.Context(), tx, SetRate{currency, in, d, r})
			return err
		})
	}
	from, to := pg.Day(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)), pg.Day(time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC))
	nets := func(in money.Currency) string {
		t.Helper()
		n := w.ask(NetWorthRequest{StartDate: &from, EndDate: &to, Interval: "month", In: &in})
		var out []string
		for _, p := range n.Points {
			if p.Converted == nil {
				out = append(out, "-")
				continue
			}
			out = append(out, p.Converted.Net.String())
		}
		for _, note := range n.Notes {
			if note.Code == "no_rate" {
				out = append(out, note.Message[len(note.Message)-8:])
			}
		}
		return fmt.Sprint(out)
	}
	if got := nets("EUR"); got != "[- - - GBP, USD]" {
		t.Error("without rates:", got)
	}
	for _, r := range []struct {
		currency, in money.Currency
		day, rate    string
	}{
		{"EUR", "USD", "2026-01-01", "1.25"},
		{"GBP", "USD", "2026-01-01", "1.5"},
		{"GBP", "EUR", "2026-02-15", "1.1"},
		{"USD", "EUR", "2026-03-31", "0.9"},
	} {
		if err := set(r.currency, r.in, r.day, r.rate); err != nil {
			t.Fatal(err)
		}
	}
	// In January there is no rate from pounds to euros. There are rates through dollars, which must
	// not be used.
	if got := nets("EUR"); got != "[- 79.00 75.00  for GBP]" {
		t.Error("to euros:", got)
	}
	if got := nets("USD"); got != "[100.00 100.00 86.11]" { // in March the newer rate is the inverse one: 100 ÷ 0.9
		t.Error("to dollars:", got)
	}
	if err := set("EUR", "USD", "2026-01-01", "2"); err != nil {
		t.Fatal(err)
	}
	if got := nets("USD"); got != "[175.00 175.00 86.11]" {
		t.Error("a rate that was replaced:", got)
	}
	if err := set("EUR", "EUR", "2026-01-01", "2"); !errs.Is(err, errs.ValidationError) {
		t.Error(err)
	}
	w.exec(`insert into rate (id, short_id, currency, quoted, day, rate) select gen_random_uuid(), n::text, 'AAA', 'BBB',
		date '2000-01-01' + n, 1 from generate_series(1, $1) n`, mostRates-4)
	if err := set("EUR", "CHF", "2026-01-01", "2"); !errs.Is(err, errs.Conflict) {
		t.Error("more than fit:", err)
	}
	if err := set("EUR", "USD", "2026-01-01", "3"); err != nil {
		t.Error("one that is there:", err)
	}
}
