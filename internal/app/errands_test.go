package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// An errand is a job that takes more than one question. An assistant does it in books made by hand,
// so the correct result is known.
type errand struct {
	*toolWorld
	*assistant
	today    time.Time
	accounts map[string]id.ID
	rows     []ledger.Incoming
}

// A standing payment comes every month on its day, for a year.
type standing struct {
	account, name string
	day           int
	cents         int64 // positive is money out
	own, varies   bool  // own: between own accounts; varies: another amount each month
}

// of returns the amount paid in a month. The amounts of varying payments have their base amount as
// the median of any six months that end with the tenth or eleventh.
func (s standing) of(month int) int64 {
	if !s.varies {
		return s.cents
	}
	return s.cents + s.cents/max(s.cents, -s.cents)*int64(month%5-1)*2_00
}

// errands are the recurring payments. Some go between own accounts, and appear in both.
var errands = []standing{
	{"Giro", "SALARY ACME", 27, -3000_00, false, false},
	{"Giro", "RENT 4TH FLOOR", 3, 1200_00, false, false},
	{"Giro", "CITY POWER", 5, 80_00, false, false},
	{"Giro", "CARD BILL 4421", 20, 702_00, true, true},
	{"Card", "PAYMENT RECEIVED THANK YOU", 20, -702_00, true, true},
	{"Giro", "STANDING ORDER SAVINGS", 18, 250_00, true, false},
	{"Savings", "FROM GIRO", 18, -250_00, true, false},
	{"Card", "FILMS AND MORE", 9, 12_99, false, false},
	{"Card", "MUSIC CLUB", 14, 9_99, false, false},
}

func newErrand(t *testing.T) *errand {
	t.Helper()
	e := &errand{toolWorld: newToolWorld(t, nil), accounts: map[string]id.ID{}}
	e.assistant = &assistant{t: t, session: e.connect(t, e.key, modernEra)}
	// Use a time zone in which it is about noon, so that the day does not change during the test.
	// The names of these zones have the opposite sign: Etc/GMT+5 is five hours behind UTC.
	zone := time.Now().UTC().Hour() - 12
	e.exec(`update setting set time_zone = $1`, fmt.Sprintf("Etc/GMT%+d", zone))
	e.today = time.Now().UTC().Add(-time.Duration(zone) * time.Hour).Truncate(24 * time.Hour)
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.System, Name: "test"})
	err := e.DB.InTx(ctx, func(tx pg.Tx) error {
		names := []string{"Giro", "Card", "Savings"}
		made, err := e.Accounts.AddAccounts(ctx, tx, []account.Incoming{
			{Provider: "plaid", ProviderID: "giro", Name: text.Name("Giro"), Type: "depository", Currency: "EUR"},
			{Provider: "plaid", ProviderID: "card", Name: text.Name("Card"), Type: "credit", Currency: "EUR"},
			{Provider: "teller", ProviderID: "savings", Name: text.Name("Savings"), Type: "depository", Currency: "EUR"},
		})
		for i := range made {
			e.accounts[names[i]] = made[i]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range errands {
		for month := range 12 {
			if day := e.day(s.day, -month); !day.After(e.today) {
				e.put(s.account, s.name, day, s.of(11-month))
			}
		}
	}
	// Everyday spending at irregular intervals and with different amounts.
	for i := range 90 {
		e.put("Giro", "CORNER SHOP", e.today.AddDate(0, 0, -i*i%331-1), 11_00+int64(i*i)%37*1_07)
	}
	e.load()
	return e
}

// day returns a day of the month that is months away from this month.
func (e *errand) day(day, months int) time.Time {
	return time.Date(e.today.Year(), e.today.Month()+time.Month(months), day, 0, 0, 0, 0, time.UTC)
}

// put adds a row to those that the bank will send.
func (e *errand) put(account, name string, day time.Time, cents int64) {
	e.t.Helper()
	amount, err := money.FromCents(cents)
	if err != nil {
		e.t.Fatal(err)
	}
	e.rows = append(e.rows, ledger.Incoming{
		AccountID: e.accounts[account], ProviderID: itoa(len(e.rows)), Date: pg.Day(day), Amount: amount,
		Currency: "EUR", Name: text.Name(name),
	})
}

// load stores the rows, and then runs the searches that a sync runs at its end.
func (e *errand) load() {
	e.t.Helper()
	err := e.DB.InTx(e.t.Context(), func(tx pg.Tx) error {
		_, err := e.Books.Load(e.t.Context(), tx, func(yield func(ledger.Incoming) bool) {
			for _, r := range e.rows {
				if !yield(r) {
					return
				}
			}
		})
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.sweep(e.t)
	e.look()
}

// look runs the search for recurring payments that follows a minute after a change.
func (e *errand) look() {
	e.t.Helper()
	if err := e.DB.InTx(e.t.Context(), func(tx pg.Tx) error { return e.Recurring.Sweep(e.t.Context(), tx) }); err != nil {
		e.t.Fatal(err)
	}
}

func (e *errand) exec(sql string, args ...any) {
	if _, err := e.DB.Exec(e.t.Context(), sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

// lowest returns the lowest balance of each account in the next 30 days, and the sums that come
// into and go out of the household. It adds up the known payments day by day, and leaves out
// accounts without any.
func (e *errand) lowest(balances map[string]int64) (out map[string]string, sums string) {
	out = map[string]string{}
	var in, spent int64
	for name, now := range balances {
		least, on, due := now, e.today, false
		for n := range 30 {
			day := e.today.AddDate(0, 0, n)
			for _, s := range errands {
				if s.account != name || s.day != day.Day() || n == 0 {
					continue
				}
				now, due = now-s.cents, true
				switch {
				case s.own:
				case s.cents < 0:
					in -= s.cents
				default:
					spent += s.cents
				}
			}
			if now < least {
				least, on = now, day
			}
		}
		// On the day of the standing order, the next one may be 30 days away.
		if !due {
			continue
		}
		if name == "Card" { // the balance is a debt
			least = -least
		}
		out[name] = fmt.Sprintf("%s %d.%02d", on.Format(time.DateOnly), least/100, least%100)
	}
	return out, fmt.Sprintf("%d.%02d %d.%02d", in/100, in%100, spent/100, spent%100)
}

// TestLowestBalanceBeforePayday: does the current account fall below a limit before payday? The
// result is the same before and after the household confirms that the card bill and the standing
// order go between its own accounts. Both leave the account in any case.
func TestLowestBalanceBeforePayday(t *testing.T) {
	t.Parallel()
	e := newErrand(t)
	balances := map[string]int64{"Giro": 2500_00, "Card": -650_00, "Savings": 8000_00}
	for name, cents := range balances {
		amount, err := money.FromCents(max(cents, -cents))
		if err != nil {
			t.Fatal(err)
		}
		e.call("set_balance", map[string]any{
			"id": e.accounts[name].Short(), "day": e.today.Format(time.DateOnly), "current": amount,
		})
	}
	want, sums := e.lowest(balances)
	ahead := func(state string, transfers bool) {
		t.Helper()
		e.calls, e.bytes = 0, 0
		got := e.call("get_finances", map[string]any{"view": "upcoming", "days": 30})["upcoming"].(map[string]any)
		e.spent("lowest balance, links "+state, 1, 1_500)
		for _, a := range got["accounts"].([]any) {
			a := a.(map[string]any)
			low := a["lowest"].(map[string]any)
			balance := money.MustParse(fmt.Sprint(low["balance"])).String()
			if said := fmt.Sprint(low["date"], " ", balance); said != want[a["name"].(string)] {
				t.Errorf("links %s: the lowest balance of %s is %s, want %s", state, a["name"], said, want[a["name"].(string)])
			}
		}
		if n := len(got["accounts"].([]any)); n != len(want) {
			t.Errorf("links %s: %d accounts, want %d", state, n, len(want))
		}
		total := got["totals"].([]any)[0].(map[string]any)
		amount := func(key string) string { return money.MustParse(fmt.Sprint(total[key])).String() }
		if said := amount("money_in") + " " + amount("money_out"); (said == sums) != transfers {
			t.Errorf("links %s: totals are %s, want %s without transfers", state, said, sums)
		}
		if code := got["notes"].([]any); fmt.Sprint(code[len(code)-1].(map[string]any)["code"]) != "recurring_only" {
			t.Errorf("links %s: nothing says what is not counted: %v", state, code)
		}
		found := e.text("find_patterns", map[string]any{"kind": "recurring"})
		for _, name := range []string{"Bill", "Thank You", "Savings", "From Giro"} {
			if strings.Contains(found, `"payee":"`+name+`"`) == transfers {
				t.Errorf("links %s: %s among the recurring payments is %v", state, name, !transfers)
			}
		}
	}
	decide := func(verdict string) {
		t.Helper()
		links := e.call("list_account_links", nil)["account_links"].([]any)
		if len(links) != 2 {
			t.Fatalf("%d links: %v", len(links), links)
		}
		for _, l := range links {
			e.call("review_account_link", map[string]any{"id": l.(map[string]any)["id"], "confidence": verdict, "force": true})
		}
		e.look()
	}
	ahead("confirmed by coffer", true)
	decide("rejected")
	ahead("rejected", false)
	decide("confirmed")
	ahead("confirmed again", true)
}

// The yearly sum of recurring payments excludes transfers between own accounts, over REST and as a
// tool, and equals the sum of the expected payments.
func TestYearlySumLeavesTransfersOut(t *testing.T) {
	t.Parallel()
	e := newErrand(t)
	var in, out int64
	count := 0
	for _, s := range errands {
		switch {
		case s.own:
			continue
		case s.cents < 0:
			in -= 12 * s.cents
		default:
			out += 12 * s.cents
		}
		count++
	}
	want := fmt.Sprintf("in %d.%02d, out %d.%02d, %d", in/100, in%100, out/100, out%100, count)
	said := func(answer map[string]any) string {
		t.Helper()
		one := answer["yearly"].([]any)[0].(map[string]any)
		amount := func(key string) string { return money.MustParse(fmt.Sprint(one[key])).String() }
		return fmt.Sprintf("in %s, out %s, %v", amount("money_in"), amount("money_out"), one["count"])
	}
	both := func() (rest, tool string) {
		t.Helper()
		var answer map[string]any
		e.world.read(t, "/api/v1/recurring", &answer)
		return said(answer), said(e.call("find_patterns", map[string]any{"kind": "recurring", "limit": 1}))
	}
	decide := func(verdict string) {
		t.Helper()
		for _, l := range e.call("list_account_links", nil)["account_links"].([]any) {
			e.call("review_account_link", map[string]any{"id": l.(map[string]any)["id"], "confidence": verdict, "force": true})
		}
		e.look()
	}
	decide("rejected")
	if rest, tool := both(); rest != tool || rest == want {
		t.Errorf("without links a year is %s, and as a tool %s", rest, tool)
	}
	decide("confirmed")
	if rest, tool := both(); rest != want || tool != want {
		t.Errorf("a year is %s, and as a tool %s, want %s", rest, tool, want)
	}
	expected := map[any]bool{}
	ahead := e.call("get_finances", map[string]any{"view": "upcoming", "days": 35})["upcoming"].(map[string]any)
	for _, d := range ahead["days"].([]any) {
		for _, i := range d.(map[string]any)["items"].([]any) {
			if i := i.(map[string]any); i["transfer"] == nil {
				expected[i["recurring_id"]] = true
			}
		}
	}
	if len(expected) != count {
		t.Errorf("%d recurring payments are expected, %d are added up", len(expected), count)
	}
	var all struct{ Total int }
	if e.world.read(t, "/api/v1/recurring", &all); all.Total != len(errands) {
		t.Errorf("%d of %d recurring payments are listed", all.Total, len(errands))
	}
}
