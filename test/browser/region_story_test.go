package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// A reader is somebody whose browser is somewhere, and what coffer then looks like.
type reader struct {
	place
	currency, chosen string // of the household, as it begins
	cash             string // what is typed as 1234.5
	large            string // how that is shown
	small            string // how 7.50 is shown
	understood       string // what a field shows of 1234, typed with the sign that stands between thousands
	thousands        string // that
	neither          string // the same with the other sign, which is three decimals
	day              string // how the 5th of January 2026 is shown
	week             string // the days of a week, as the calendar begins it
}

// TestRegion sets a household up in the United States and one in Germany, each from a browser of its
// own. Currency, dates, numbers and weeks are those of the place, and what is typed is understood in
// both decimal styles. The words stay English.
func TestRegion(t *testing.T) {
	t.Parallel()
	axe := built(t)
	for name, r := range map[string]reader{
		"US": {
			place: place{"en-US", "America/New_York"}, currency: "USD", chosen: "USD, US Dollar",
			cash: "1,234.50", large: "$1,234.50", small: "$7.50", thousands: "1,234", understood: "1,234.00",
			neither: "1.234", day: "Monday, January 5, 2026", week: "Sun Mon Tue Wed Thu Fri Sat",
		},
		"DE": {
			place: place{"de-DE", "Europe/Berlin"}, currency: "EUR", chosen: "EUR, Euro",
			cash: "1.234,50", large: "1.234,50 €", small: "7,50 €", thousands: "1.234", understood: "1.234,00",
			neither: "1,234", day: "Monday 5 January 2026", week: "Mon Tue Wed Thu Fri Sat Sun",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.lives(t, axe)
		})
	}
}

func (r reader) lives(t *testing.T, axe string) {
	t.Helper()
	h := newHouse(t)
	b := newBrowser(t, "desktop")
	b.place = r.place
	b.open(t, h)
	b.found(t, h)
	r.begins(t, b)
	r.writes(t, b)
	r.plans(t, b)
	r.looks(t, b)
	r.prefers(t, b)
	b.whole(t, axe)
}

// setting is what the household has decided.
func setting(t *testing.T, h *house, column string) string {
	t.Helper()
	v, err := pg.Value[string](t.Context(), h.DB, `select to_jsonb(s)->>$1 from setting s`, column)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// holds reads what a field holds.
func (b *browser) holds(t *testing.T, name string) string {
	t.Helper()
	return b.do(t, step{Do: "holds", Name: name}).Text
}

// says waits for a text with spaces of any width.
func (b *browser) says(t *testing.T, text string) {
	t.Helper()
	b.do(t, step{Do: "see", Text: "/" + strings.NewReplacer(" ", `\s`, "$", `\$`, ".", `\.`).Replace(text) + "/"})
}

// begins looks at what coffer took from the browser, and changes it in the first minute.
func (r reader) begins(t *testing.T, b *browser) {
	t.Helper()
	b.do(t, step{Do: "see", Text: "Let’s get your money in"})
	if got := setting(t, b.house, "default_currency"); got != r.currency {
		t.Errorf("the household begins with %s, not %s", got, r.currency)
	}
	if got := b.holds(t, "Currency"); got != r.chosen {
		t.Errorf("the first screen shows %q, not %q", got, r.chosen)
	}
	if got := b.holds(t, "Time zone"); got != strings.ReplaceAll(r.zone, "_", " ") {
		t.Errorf("the first screen shows the time zone %q", got)
	}
	for _, currency := range []string{"CHF, Swiss Franc", r.chosen} {
		b.do(t, step{Do: "choose", Name: "Currency", Value: currency})
		b.do(t, step{Do: "click", Name: "Save"})
		b.do(t, step{Do: "see", Text: "/^Saved$/"}) // another text has the word
		b.do(t, step{Do: "idle"})
		if got := setting(t, b.house, "default_currency"); got != currency[:3] {
			t.Errorf("%s was chosen, and it is %s", currency, got)
		}
		b.screen(t, "/", "Let’s get your money in")
	}
	if got := setting(t, b.house, "time_zone"); got != r.zone {
		t.Errorf("the time zone is %s", got)
	}
}

// writes adds an account and payments, typed in both styles.
func (r reader) writes(t *testing.T, b *browser) {
	t.Helper()
	b.screen(t, "/accounts", "Add manually…")
	b.do(t, step{Do: "click", Name: "Add manually…"})
	b.fill(t, "Account name", "Purse")
	b.fill(t, "Balance (optional)", r.cash)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Purse added"})
	b.says(t, r.large)
	b.screen(t, "/transactions", "Add transaction")
	b.do(t, step{Do: "click", Name: "Add transaction"})
	b.fill(t, "Amount", r.neither)
	b.fill(t, "Payee", "Comma")
	b.do(t, step{Do: "quiet"}) // the form has its accounts
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Enter an amount, for example"})
	b.fill(t, "Amount", r.thousands)
	b.do(t, step{Do: "key", Name: "Tab"})
	if got := b.holds(t, "Amount"); got != r.understood {
		t.Errorf("%s was understood as %s, not as %s", r.thousands, got, r.understood)
	}
	b.fill(t, "Amount", "7,50")
	b.fill(t, "Date", "2026-01-05")
	b.do(t, step{Do: "quiet"})
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Comma added"})
	b.screen(t, "/transactions", "Add transaction")
	b.do(t, step{Do: "click", Name: "Add transaction"})
	b.fill(t, "Amount", "7.50")
	b.fill(t, "Payee", "Point")
	b.do(t, step{Do: "quiet"}) // the form has its accounts
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Point added"})
	if n := b.house.count(t, `select count(*) from transaction where origin = 'manual' and amount = 7.50
		and currency = $1`, r.currency); n != 2 {
		t.Errorf("%d payments of 7.50", n)
	}
	b.says(t, r.small)
	short, err := pg.Value[string](t.Context(), b.house.DB, `select short_id from transaction where date = '2026-01-05'`)
	if err != nil {
		t.Fatal(err)
	}
	b.screen(t, "/transactions?open="+short, "Added manually")
	b.says(t, r.day)
	b.says(t, r.small)
}

// plans adds a budget in each style.
func (r reader) plans(t *testing.T, b *browser) {
	t.Helper()
	for _, amount := range []string{"7,50", "7.50"} {
		b.screen(t, "/targets", "Add budget")
		b.do(t, step{Do: "click", Name: "Add budget"})
		b.do(t, step{Do: "see", Text: "Includes subcategories"})
		if amount == "7.50" {
			b.do(t, step{Do: "choose", Name: "Category", Value: "Health"})
		}
		b.fill(t, "Monthly amount", amount)
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "see", Text: "Budget added"})
		b.says(t, "of "+r.small)
	}
	if n := b.house.count(t, `select count(*) from target where amount = 7.50 and currency = $1`, r.currency); n != 2 {
		t.Errorf("%d budgets of 7.50", n)
	}
}

// looks opens the screens that have dates, figures and weeks.
func (r reader) looks(t *testing.T, b *browser) {
	t.Helper()
	b.screen(t, "/", "Overview")
	b.says(t, r.small) // spent this month
	zone, err := time.LoadLocation(r.zone)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Now().In(zone)
	last = time.Date(last.Year(), last.Month()+1, 0, 0, 0, 0, 0, zone)
	b.do(t, step{Do: "spoil", URL: "**/api/v1/upcoming*", Text: fmt.Sprintf(`{"accounts": [], "notes": [], "days": [{
		"date": %q, "items": [{"recurring_id": "r", "name": "Rent", "account_id": "a", "amount": 1234.5,
			"iso_currency_code": %q, "certain": true}]}]}`, last.Format("2006-01-02"), r.currency)})
	b.screen(t, "/upcoming", "Rent")
	b.says(t, r.large)
	v := b.do(t, step{Do: "look", Look: true})
	if days := strings.Join(strings.Fields(v.Text), " "); !strings.Contains(days, r.week) {
		t.Errorf("the calendar does not begin with %s:\n%s", r.week, v.Text)
	}
	b.do(t, step{Do: "spoil", URL: "**/api/v1/upcoming*"})
}

// prefers chooses another region, which holds in every browser of the member.
func (r reader) prefers(t *testing.T, b *browser) {
	t.Helper()
	b.screen(t, "/me", "Language and region")
	b.do(t, step{Do: "choose", Name: "Region", Value: "United Kingdom"})
	b.do(t, step{Do: "see", Text: "weeks start on Monday"})
	b.do(t, step{Do: "press", Name: "Save"})
	b.do(t, step{Do: "idle"})
	short, err := pg.Value[string](t.Context(), b.house.DB, `select short_id from transaction where date = '2026-01-05'`)
	if err != nil {
		t.Fatal(err)
	}
	b.screen(t, "/transactions?open="+short, "Monday 5 January 2026")
	b.enterAt(t, b.house, "/transactions?open="+short, "Monday 5 January 2026") // a browser that has nothing kept
	b.screen(t, "/me", "Language and region")
	if got := b.holds(t, "Region"); got != "United Kingdom" {
		t.Errorf("the region is %q", got)
	}
}
