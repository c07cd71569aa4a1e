package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/surface/web"
)

// A payment as somebody writes it down: so many months ago, on that day.
type payment struct {
	account  string
	months   int // before this one
	day      int
	amount   float64 // money out is positive
	name     string
	category string
}

// A small household is one of those in which screens have little to show.
type small struct {
	name     string
	currency string
	payments []payment
	first    bool   // it is the first of the month, here and at the server
	ended    bool   // the newest transactions are from the month before, which opens
	text     string // the text of the overview
}

var smalls = []small{
	{name: "empty", text: "Let’s get your money in"},
	{
		name: "one row", text: "Last 13 months",
		payments: []payment{{"Purse", 0, 1, 12.5, "Bakery", "food_and_drink_groceries"}},
	},
	{
		name: "empty month", ended: true, text: "Last 13 months",
		payments: []payment{
			{"Everyday", 1, 1, 700, "Rent", "home_rent"},
			{"Everyday", 1, 1, -900, "Wages", "income_salary"},
			{"Everyday", 2, 1, 700, "Rent", "home_rent"},
			{"Everyday", 2, 15, 31.4, "Bakery", ""},
		},
	},
	{
		name: "only dollars", currency: "USD", text: "Spending vs.",
		payments: []payment{
			{"Checking", 0, 1, 40.5, "Deli", "food_and_drink_groceries"},
			{"Checking", 0, 1, -900, "Wages", "income_salary"},
			{"Checking", 1, 3, 20, "Deli", "food_and_drink_groceries"},
		},
	},
	{
		name: "only transfers", text: "Excludes 2 transactions",
		payments: []payment{
			{"Everyday", 0, 1, 50, "To savings", "transfers_savings"},
			{"Savings", 0, 1, -50, "From everyday", "transfers_savings"},
		},
	},
	{
		name: "first of the month", first: true, ended: true, text: "Last 13 months",
		payments: []payment{
			{"Everyday", 1, 1, 700, "Rent", "home_rent"},
			{"Everyday", 1, 20, -900, "Wages", "income_salary"},
			{"Everyday", 2, 1, 700, "Rent", "home_rent"},
			{"Everyday", 2, 20, -900, "Wages", "income_salary"},
		},
	},
}

// wrongs are the messages of the app about its own failures.
var wrongs = []string{"Couldn’t show this card", "Couldn’t load", "Something went wrong"}

// TestSmallHouseholds opens every screen where there is little or nothing to show: each has its
// heading and the navigation, nothing breaks, and no word is on the console.
func TestSmallHouseholds(t *testing.T) {
	t.Parallel()
	built(t)
	for _, s := range smalls {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := s.house(t)
			desk := s.browser(t, h, "desktop")
			desk.stands(t)
			for months := 0; months < 2 && len(s.payments) > 0; months++ {
				month := s.month().AddDate(0, -months, 0)
				desk.do(t, step{Do: "visit", URL: h.url + "/?month=" + month.Format("2006-01")})
				desk.do(t, step{Do: "see", Text: h.left(t, month)})
				if s.ended && months == 0 {
					desk.do(t, step{Do: "see", Text: "Your newest transactions are from"})
				}
			}
			for _, path := range web.Screens() {
				desk.small(t, path)
			}
			for _, path := range []string{"/?month=2019-05", "/cash-flow?span=year", "/cash-flow?at=2019-05", "/cash-flow/trends?by=payee", "/cash-flow/year?at=2019-05"} {
				desk.small(t, path)
			}
			phone := s.browser(t, h, "phone")
			phone.stands(t)
			for _, path := range []string{"/cash-flow", "/transactions", "/review", "/net-worth", "/cash-flow/trends", "/cash-flow/year", "/recurring/calendar", "/more"} {
				phone.small(t, path)
			}
		})
	}
}

// house makes the household by hand, as its first member would.
func (s small) house(t *testing.T) *house {
	t.Helper()
	port := free(t)
	h := &house{log: t.Output(), pages: http.NewServeMux(), seen: make(map[string]bool), name: s.name + "-"}
	h.url = fmt.Sprintf("http://localhost:%d", port)
	h.config = app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"), DatabaseMaxConns: 6,
		RatePerMinute: 1_000_000, RateBurst: 1_000_000, AuthFailures: 1_000_000, LoginsPerMinute: 1_000,
		Listen: fmt.Sprintf("127.0.0.1:%d", port), PublicURL: h.url,
		EncryptionKey: seal.NewSecret("dGhlIHJpbmcgb2YgdGhlIGJyb3dzZXIncyB0ZXN0cyE="),
	}
	h.build(t)
	h.serve(t)
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	h.admin(t)
	h.keyed(t)
	if s.currency != "" {
		h.exec(t, `update setting set default_currency = $1`, s.currency)
	}
	accounts := map[string]string{}
	for _, p := range s.payments {
		if accounts[p.account] == "" {
			accounts[p.account] = post[struct{ ID string }](t, h, "/api/v1/accounts", "application/json",
				`{"name":"`+p.account+`","kind":"checking"}`).ID
		}
		body := map[string]any{
			"account_id": accounts[p.account], "amount": p.amount, "name": p.name,
			"date": s.month().AddDate(0, -p.months, p.day-1).Format(time.DateOnly),
		}
		if p.category != "" {
			body["category"] = p.category
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		post[json.RawMessage](t, h, "/api/v1/transactions", "application/json", string(text))
	}
	h.settle(t)
	if s.first {
		h.moveClock(t, s.now())
	}
	return h
}

// now is the day on which the household lives.
func (s small) now() time.Time {
	now := time.Now().UTC()
	if s.first {
		return time.Date(now.Year(), now.Month(), 1, 9, 0, 0, 0, time.UTC)
	}
	return now
}

// month is the first day of the month in which it lives.
func (s small) month() time.Time { return s.now().AddDate(0, 0, 1-s.now().Day()) }

// left returns money in less money out of a month, as the overview writes it and the database adds
// it up.
func (h *house) left(t *testing.T, month time.Time) string {
	t.Helper()
	sum, err := pg.Value[string](t.Context(), h.DB, `
		select case when n < 0 then '−' else '' end || case currency when 'USD' then 'US$' else '€' end
			|| to_char(abs(n), 'FM999,990.00')
		from (select coalesce(-sum(t.amount) filter (where date_trunc('month', t.date) = $1::date
				and coalesce(p.kind, c.kind, '') <> 'transfer'), 0) as n, max(t.currency) as currency
			from transaction t left join category c on c.id = t.category_id left join category p on p.id = c.parent_id
			where t.deleted_at is null) x`, month.Format(time.DateOnly))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// moveClock restarts the server at another time. The server takes its days from the database, whose
// now() is looked up like any other function: a function that is found first returns another time.
func (h *house) moveClock(t *testing.T, now time.Time) {
	t.Helper()
	h.exec(t, `create schema clock`)
	h.exec(t, fmt.Sprintf(`create function clock.now() returns timestamptz language sql stable
		as 'select pg_catalog.now() - interval ''%d seconds'''`, int(time.Since(now).Seconds())))
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.config.DatabaseURL = seal.NewSecret(h.config.DatabaseURL.Reveal() + "&search_path=clock,pg_catalog,public")
	h.build(t)
	h.serve(t)
	if n := h.count(t, `select count(*) from setting where (now() at time zone time_zone)::date = $1`,
		now.Format(time.DateOnly)); n != 1 {
		t.Fatal("the server's clock did not move")
	}
}

func (h *house) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), h.DB, sql, args...); err != nil {
		t.Fatal(err)
	}
}

// browser signs the admin in, whose clock is the household's.
func (s small) browser(t *testing.T, h *house, size string) *browser {
	t.Helper()
	b := newBrowser(t, size)
	if s.first {
		b.clock = s.now().Format(time.RFC3339)
	}
	b.enterAt(t, h, "/", s.text)
	if s.ended {
		b.do(t, step{Do: "see", Text: "/^" + s.month().AddDate(0, -1, 0).Month().String() + "$/"})
	}
	return b
}

// small opens a screen. A screen for a record that this household does not have states that.
func (b *browser) small(t *testing.T, path string) {
	t.Helper()
	path = strings.TrimSuffix(path, "{$}")
	path = b.house.recordAt(t, path)
	b.do(t, step{Do: "visit", URL: b.house.url + path})
	if strings.HasSuffix(path, "/"+nowhere) {
		b.do(t, step{Do: "quiet"})
		b.do(t, step{Do: "forgive"})
	}
	b.stands(t)
}

// stands looks at a screen that has loaded: it is whole.
func (b *browser) stands(t *testing.T) view {
	t.Helper()
	b.do(t, step{Do: "quiet"})
	b.do(t, step{Do: "framed"})
	v := b.look(t)
	for _, w := range wrongs {
		if strings.Contains(v.Text, w) {
			t.Errorf("%s (%s) says %q:\n%s", v.URL, b.size, w, v.Text)
		}
	}
	return v
}

// TestBrokenParts breaks the server's responses, so that a card and then a whole page cannot be
// drawn. Each shows an error in its own place, the rest stays, and it comes back. It also shows
// that TestSmallHouseholds would notice.
func TestBrokenParts(t *testing.T) {
	t.Parallel()
	built(t)
	s := smalls[1]
	h := s.house(t)
	h.name = "broken-"
	b := s.browser(t, h, "desktop")
	b.stands(t)
	const flow, days = "**/api/v1/cashflow?*", "**/api/v1/transactions/summary?*"
	for _, spoiled := range []struct{ url, says, stays string }{
		{flow, "Couldn’t show this card", "Last 13 months"},
		{days, "Couldn’t load this page", "Overview"},
	} {
		b.do(t, step{Do: "spoil", URL: spoiled.url, Text: `{"currencies":[{"iso_currency_code":"EUR","money_in":1,
			"money_out":1,"net":0,"count":1,"nodes":[{"id":"a","kind":"no such kind"}],"links":[{"amount":"none"}]}],
			"groups":[null],"period":{},"notes":[]}`})
		b.do(t, step{Do: "visit", URL: h.url + "/"})
		b.do(t, step{Do: "see", Text: spoiled.says})
		b.do(t, step{Do: "quiet"})
		b.do(t, step{Do: "framed"})
		v := b.do(t, step{Do: "look", Look: true})
		b.shot(t, v)
		for _, want := range []string{spoiled.stays, "Transactions", "Your data is safe", "Try again"} {
			if !strings.Contains(v.Text, want) {
				t.Errorf("%q is not on a page with a broken part:\n%s", want, v.Text)
			}
		}
		if !slices.ContainsFunc(v.Faults, func(f string) bool { return strings.Contains(f, "console error") }) {
			t.Errorf("nothing was said on the console: %q", v.Faults)
		}
		b.do(t, step{Do: "spoil", URL: spoiled.url})
		b.do(t, step{Do: "click", Name: "Try again"})
		b.do(t, step{Do: "see", Text: "Spending"})
		b.do(t, step{Do: "quiet"})
		b.do(t, step{Do: "forgive", Text: "console error"}) // what was said until it came back
		b.stands(t)
	}
	// a page whose script cannot be fetched, because there is no network
	b.do(t, step{Do: "network", Name: "offline"})
	b.do(t, step{Do: "click", Name: "Rules"})
	b.do(t, step{Do: "see", Text: "Couldn’t load this page"})
	b.do(t, step{Do: "see", Text: "Can’t reach the server"})
	b.do(t, step{Do: "framed"})
	b.do(t, step{Do: "network"})
	b.do(t, step{Do: "click", Name: "Try again"})
	b.do(t, step{Do: "see", Text: "New rule"})
	b.do(t, step{Do: "forgive", Text: "console error"})
	b.stands(t)
}

// TestSwitches presses the switches of screens: the content is then the same as after a fresh load
// of that address, without anything from before.
func TestSwitches(t *testing.T) {
	t.Parallel()
	built(t)
	s := smalls[2]
	h := s.house(t)
	h.name = "switched-"
	b := s.browser(t, h, "desktop")
	for path, switches := range map[string][]string{
		"/cash-flow/trends": {"By payee", "Income", "By account", "By category", "Spending"},
		"/cash-flow":        {"Quarter", "By account", "Year", "Last year", "Month"},
		"/net-worth":        {"By account", "3 years", "By member", "By type"},
	} {
		b.do(t, step{Do: "visit", URL: h.url + path})
		b.stands(t)
		for _, name := range switches {
			b.do(t, step{Do: "click", Name: name})
			b.do(t, step{Do: "idle"})
			switched := b.stands(t)
			b.do(t, step{Do: "visit", URL: switched.URL})
			b.do(t, step{Do: "idle"})
			if fresh := b.stands(t); fresh.Text != switched.Text {
				t.Errorf("%s after %q:\n%s\na fresh load:\n%s", switched.URL, name, switched.Text, fresh.Text)
			}
		}
	}
	b.do(t, step{Do: "visit", URL: h.url + "/transactions"})
	if v := b.stands(t); !figure.MatchString(v.Text) {
		t.Errorf("no amount is shown, so that hiding them proves nothing:\n%s", v.Text)
	}
	b.do(t, step{Do: "elsewhere", Name: "."})
	b.do(t, step{Do: "see", Text: "••••"}) // this tab is told a moment later
	if v := b.stands(t); figure.MatchString(v.Text) {
		t.Errorf("amounts are hidden in another tab, and shown here:\n%s", v.Text)
	}
}
