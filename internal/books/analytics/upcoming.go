package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

const (
	upcomingMost     = 2000 // the most payments in a result
	toolUpcomingMost = 100  // the most payments that a model gets
)

// UpcomingRequest asks for the payments that are expected.
type UpcomingRequest struct {
	Days int `json:"days,omitempty" minimum:"1" maximum:"366" default:"30" doc:"Number of days ahead; today is the first"`
}

// Upcoming lists the expected payments of the next days. They are derived from the recurring
// payments.
type Upcoming struct {
	Totals   []UpcomingTotal   `json:"totals" doc:"By currency, without transfers; currencies are never mixed"`
	Accounts []UpcomingAccount `json:"accounts" doc:"The accounts of the payments"`
	Days     []UpcomingDay     `json:"days" screen:"unroll" doc:"The days with payments"`
	Notes    []op.Note         `json:"notes" doc:"Caveats about the figures"`
}

// An UpcomingTotal sums up the payments in one currency.
type UpcomingTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	MoneyIn  money.Total    `json:"money_in"`
	MoneyOut money.Total    `json:"money_out"`
	Net      money.Total    `json:"net" doc:"money_in minus money_out"`
	Count    int64          `json:"count"`
}

// An UpcomingAccount is an account with its projected balances.
type UpcomingAccount struct {
	AccountID id.ID           `json:"account_id"`
	Name      text.Untrusted  `json:"name" doc:"The household's name for it, else the bank's (untrusted)"`
	Currency  money.Currency  `json:"iso_currency_code"`
	Today     *money.Amount   `json:"balance_today" doc:"For a card or loan: the debt; null if it is unknown"`
	Debt      bool            `json:"debt,omitempty" doc:"A card or loan: its balances are debts"`
	Lowest    *UpcomingLowest `json:"lowest" doc:"Lowest end-of-day balance if all payments arrive; for a card or loan, the highest debt. Null if it is unknown, or doesn't depend on transactions"`
}

// An UpcomingLowest is the day on which an account is projected to have its lowest balance.
type UpcomingLowest struct {
	Date    pg.Date     `json:"date" doc:"The first such day"`
	Balance money.Total `json:"balance"`
}

// An UpcomingDay holds one day's payments.
type UpcomingDay struct {
	Date  pg.Date        `json:"date"`
	Items []UpcomingItem `json:"items" doc:"The largest first"`
}

// An UpcomingItem is one expected payment.
type UpcomingItem struct {
	RecurringID id.ID          `json:"recurring_id"`
	Name        text.Untrusted `json:"name" doc:"The household's name for it, else the payee (untrusted)"`
	AccountID   id.ID          `json:"account_id"`
	Amount      money.Amount   `json:"amount" doc:"Current amount; if it varies, the usual one. Positive is money out"`
	Currency    money.Currency `json:"iso_currency_code"`
	Certain     bool           `json:"certain" doc:"The amount is fixed, and the payment is confirmed or regular"`
	Transfer    bool           `json:"transfer,omitempty" doc:"A transfer: it changes balances but no totals"`
	Due         *pg.Date       `json:"due_date,omitempty" doc:"Original due date; the payment is overdue"`
}

// Upcoming returns the expected payments of the next days.
func (t *Totals) Upcoming(ctx context.Context, q pg.Querier, in UpcomingRequest) (Upcoming, error) {
	return t.upcoming(ctx, q, in.Days, upcomingMost)
}

func (t *Totals) upcoming(ctx context.Context, q pg.Querier, days, limit int) (Upcoming, error) {
	standing, err := Stand(ctx, q)
	if err != nil {
		return Upcoming{}, err
	}
	from := standing.Today
	expected, err := recurring.Expect(ctx, q, from, pg.Day(from.Time().AddDate(0, 0, days-1)))
	if err != nil {
		return Upcoming{}, err
	}
	accounts, err := t.accounts.Accounts(ctx, q, op.None{})
	if err != nil {
		return Upcoming{}, err
	}
	out, foreign, err := lookAhead(from, expected, accounts)
	if err != nil {
		return Upcoming{}, err
	}
	out.Notes = append(standing.links(ctx), append(out.unknown(ctx, foreign), standing.stale(ctx, from)...)...)
	if left := out.cut(limit); left > 0 {
		out.Notes = append(out.Notes, op.Note{
			Code: "truncated", Count: &left, Message: plural(left, "later payment is", "later payments are") +
				" counted but not listed; request fewer days",
		})
	}
	return out, nil
}

// lookAhead assigns payments to their days and projects the balances of their accounts. It is a
// pure function. It also returns the number of payments whose currency differs from their
// account's. They are not in the account's projected balance.
func lookAhead(today pg.Date, expected []recurring.Expected, accounts []account.Account) (Upcoming, int64, error) {
	out := Upcoming{Totals: []UpcomingTotal{}, Accounts: []UpcomingAccount{}, Days: []UpcomingDay{}}
	of := make(map[id.ID]account.Account, len(accounts))
	for _, a := range accounts {
		if !a.Hidden {
			of[a.ID] = a
		}
	}
	byDay := map[int64][]UpcomingItem{} // by Unix seconds, because dates with different time zones are not equal
	var foreign int64
	for _, e := range expected {
		a, counted := of[e.AccountID]
		if !counted {
			continue
		}
		for _, day := range e.Days {
			if a.ClosedOn != nil && day.Time().After(a.ClosedOn.Time()) {
				break
			}
			item := UpcomingItem{
				RecurringID: e.ID, Name: e.PayeeName, AccountID: e.AccountID, Amount: e.Amount, Currency: e.Currency,
				Certain: e.Confidence == "high" && e.AmountType == "fixed", Transfer: e.Transfer,
			}
			if e.Name != nil {
				item.Name = text.Line(*e.Name, 200)
			}
			if day.Time().Before(today.Time()) { // it is overdue and can come any day
				item.Due, item.Certain, day = &day, false, today
			}
			if e.Currency != a.Currency {
				foreign++
			}
			byDay[day.Time().Unix()] = append(byDay[day.Time().Unix()], item)
		}
	}
	for day, items := range byDay {
		slices.SortFunc(items, func(a, b UpcomingItem) int {
			return cmp.Or(cmp.Compare(size(b), size(a)), a.RecurringID.Compare(b.RecurringID), due(a).Compare(due(b)))
		})
		out.Days = append(out.Days, UpcomingDay{pg.Day(time.Unix(day, 0)), items})
	}
	slices.SortFunc(out.Days, func(a, b UpcomingDay) int { return a.Date.Time().Compare(b.Date.Time()) })
	if err := out.addUp(); err != nil {
		return out, 0, err
	}
	err := out.follow(today, accounts)
	return out, foreign, err
}

// size returns the amount of a payment in cents, without its sign.
func size(i UpcomingItem) int64 { return max(i.Amount.Cents(), -i.Amount.Cents()) }

// due returns the day on which an overdue payment was expected, or the zero time.
func due(i UpcomingItem) time.Time {
	if i.Due == nil {
		return time.Time{}
	}
	return i.Due.Time()
}

// addUp adds up the payments, by currency.
func (u *Upcoming) addUp() error {
	totals := map[money.Currency]*UpcomingTotal{}
	for _, d := range u.Days {
		for _, i := range d.Items {
			if i.Transfer {
				continue
			}
			t := totals[i.Currency]
			if t == nil {
				t = &UpcomingTotal{Currency: i.Currency}
				totals[i.Currency] = t
			}
			side, amount := &t.MoneyOut, i.Amount.Total()
			if amount.IsNeg() {
				side, amount = &t.MoneyIn, amount.Neg()
			}
			var err error
			if *side, err = side.Add(amount); err != nil {
				return err
			}
			if t.Net, err = t.Net.Add(i.Amount.Total().Neg()); err != nil {
				return err
			}
			t.Count++
		}
	}
	for _, t := range totals {
		u.Totals = append(u.Totals, *t)
	}
	slices.SortFunc(u.Totals, func(a, b UpcomingTotal) int { return cmp.Compare(a.Currency, b.Currency) })
	return nil
}

// A course is an account's projected balance from day to day; a debt is negative.
type course struct {
	account.Account
	known       bool
	now, lowest money.Total
	on          pg.Date // the first day with the lowest balance
}

func (c *course) debt() bool { return c.Type == "credit" || c.Type == "loan" }

// follow projects the balance of each account that has payments, starting at the end of today.
func (u *Upcoming) follow(today pg.Date, accounts []account.Account) error {
	courses := make(map[id.ID]*course, len(accounts))
	for _, a := range accounts {
		c := &course{Account: a, on: today, known: a.BalanceToday != nil && a.BalanceMethod == "transactions"}
		if c.known {
			if c.now = a.BalanceToday.Total(); c.debt() {
				c.now = c.now.Neg()
			}
			c.lowest = c.now
		}
		courses[a.ID] = c
	}
	here := map[id.ID]bool{}
	for _, d := range u.Days {
		for _, i := range d.Items {
			here[i.AccountID] = true
			c := courses[i.AccountID]
			amount, ours := i.Amount.Total().In(i.Currency).Of(c.Currency)
			if !c.known || !ours {
				continue
			}
			var err error
			if c.now, err = c.now.Add(amount.Neg()); err != nil {
				return err
			}
		}
		for _, i := range d.Items {
			c := courses[i.AccountID]
			if c.now.Cmp(c.lowest) < 0 || d.Date.Time().Equal(today.Time()) {
				c.lowest, c.on = c.now, d.Date
			}
		}
	}
	for _, a := range accounts {
		if !here[a.ID] {
			continue
		}
		one := UpcomingAccount{AccountID: a.ID, Name: nameOf(a), Currency: a.Currency, Today: a.BalanceToday}
		one.Debt = courses[a.ID].debt()
		if c := courses[a.ID]; c.known {
			if one.Lowest = (&UpcomingLowest{c.on, c.lowest}); c.debt() {
				one.Lowest.Balance = c.lowest.Neg()
			}
		}
		u.Accounts = append(u.Accounts, one)
	}
	return nil
}

// unknown returns notes about what the projected balances leave out, and about accounts without a
// projection.
func (u *Upcoming) unknown(ctx context.Context, foreign int64) []op.Note {
	notes := []op.Note{}
	var n int64
	for _, a := range u.Accounts {
		if a.Today == nil {
			n++
		}
	}
	if n > 0 {
		notes = append(notes, op.Note{
			Code: "no_balance", Count: &n, See: op.See(ctx, "balance.set"),
			Message: plural(n, "account has", "accounts have") + " no balance, so no projection is possible; " +
				"enter one",
		})
	}
	if slices.ContainsFunc(u.Accounts, func(a UpcomingAccount) bool { return a.Lowest != nil }) {
		notes = append(notes, op.Note{
			Code: "recurring_only", Message: "the lowest balances only include recurring payments; leave " +
				"room for everyday spending, such as groceries",
		})
	}
	if foreign > 0 {
		notes = append(notes, op.Note{
			Code: "no_rate", Count: &foreign,
			Message: plural(foreign, "payment is", "payments are") + " in a different currency than the " +
				"account and not in its projection",
		})
	}
	return notes
}

// cut keeps the first payments, and returns the number of the others.
func (u *Upcoming) cut(limit int) (left int64) {
	for i := range u.Days {
		n := len(u.Days[i].Items)
		left += int64(max(0, n-limit))
		u.Days[i].Items = u.Days[i].Items[:min(n, limit)]
		limit -= len(u.Days[i].Items)
	}
	u.Days = slices.DeleteFunc(u.Days, func(d UpcomingDay) bool { return len(d.Items) == 0 })
	return left
}
