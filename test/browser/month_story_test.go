package browser_test

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// TestMonth is a household's first month, from an empty server to its end, as the questions that
// people ask. A screen answers each with the figures of the API or the bank's file, within a
// limited number of clicks and fields. The table lists how many it took.
func TestMonth(t *testing.T) {
	t.Parallel()
	built(t)
	m := &month{house: newHouse(t), robin: newBrowser(t, "desktop"), kim: newBrowser(t, "phone")}
	defer m.print(t)
	for _, q := range []question{
		{"How do I begin?", "B1 H2", 9, m.begins},
		{"How does my bank get in?", "B1", 3, m.links},
		{"And the bank that only gives me files?", "B3 B5 H12", 5, m.imports},
		{"I took the same file again. Does it count twice?", "B4", 2, m.importsAgain},
		{"What is on every account today?", "B3 H1", 1, m.balances},
		{"What do we own in all?", "B3 H17", 1, m.worth},
		{"What was the payment with number 47110815 for?", "B5", 2, m.purpose},
		{"So much to review. Do I read every payment?", "H3", 2, m.reviews},
		{"What did that change, and can I take it back?", "H7", 4, m.undoes},
		{"Can it be filed by itself from now on?", "B2 H10", 4, m.rules},
		{"What do we pay every month, and what increased?", "H15", 1, m.recurring},
		{"Is anything odd? I know about that price.", "H15", 3, m.findings},
		{"What is still to be paid?", "H15", 3, m.upcoming},
		{"I paid cash. Where does it go?", "H17", 10, m.cash},
		{"One receipt, two things. Can I divide it?", "H17", 7, m.splits},
		{"Is it more than last month?", "H14", 2, m.compares},
		{"How does Kim get in?", "H18", 9, m.invites},
		{"What do we have and what did we spend? (on a phone)", "B1", 1, m.partner},
	} {
		m.ask(t, q)
	}
}

// A question is what a person wants to know: which finding of the trial by a new user it stands for,
// the most that its answer may take, and the way to it, which returns where the answer stands.
type question struct {
	asks, finding string
	most          int
	answer        func(*testing.T) string
}

// A month is a household with two people, and what they asked so far.
type month struct {
	*house
	robin, kim *browser
	file       string // the statement
	rows       []string
}

// ask plays a question.
func (m *month) ask(t *testing.T, q question) {
	t.Helper()
	start, before := time.Now(), m.robin.acts+m.kim.acts
	where := q.answer(t)
	took, acts := time.Since(start), m.robin.acts+m.kim.acts-before
	m.rows = append(m.rows, fmt.Sprintf("%s\t%s\t%s\t%d of %d\t%.1f", q.asks, q.finding, where, acts, q.most,
		took.Seconds()))
	if acts > q.most {
		t.Errorf("%s took %d clicks and fields, at most %d", q.asks, acts, q.most)
	}
}

// print prints the table, also of a month that was broken off.
func (m *month) print(t *testing.T) {
	t.Helper()
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nstep\tfinding\tanswered\tclicks and fields\tseconds")
	_, _ = fmt.Fprintln(w, strings.Join(m.rows, "\n"))
	_ = w.Flush() // into memory
	t.Log(s.String())
}

// reads looks at the screen, which must say each of the texts. Where one has dots, what is before them
// stands close before what is after them, as a name before its figure.
func (b *browser) reads(t *testing.T, texts ...string) {
	t.Helper()
	b.do(t, step{Do: "quiet"})
	b.do(t, step{Do: "idle"})
	v := b.look(t)
	for _, text := range texts {
		parts := strings.Split(text, " … ")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		if !regexp.MustCompile(`(?s)` + strings.Join(parts, `.{1,120}?`)).MatchString(v.Text) {
			t.Errorf("%s does not say %q:\n%s", v.URL, text, v.Text)
		}
	}
}

// money is an amount in EUR as the screens write it, with so many decimals.
func money(amount float64, decimals int) string {
	s := fmt.Sprintf("%.*f", decimals, math.Abs(amount))
	if decimals == 0 {
		s = fmt.Sprintf("%.0f", math.Floor(math.Abs(amount)+0.5))
	}
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if amount < 0 {
		return "−€" + whole
	}
	return "€" + whole
}

// begins sets the household up, and enters what coffer cannot know.
func (m *month) begins(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.open(t, m.house, m.plaid.URL())
	b.found(t, m.house)
	b.do(t, step{Do: "see", Text: "Let’s get your money in"})
	b.do(t, step{Do: "choose", Name: "Currency", Value: "EUR, Euro"})
	b.do(t, step{Do: "choose", Name: "Review", Value: "All transactions, including history"})
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "/^Saved$/"}) // the page also says that nothing is saved before a preview
	b.reads(t, "Connect a bank", "Import a statement")
	return "Overview"
}

func (m *month) links(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Connect a bank"})
	b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
	b.do(t, step{Do: "click", Name: "Share my accounts"})
	b.do(t, step{Do: "see", Text: "Where your money went"})
	m.settle(t)
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d transactions to review", m.waiting(t))})
	b.reads(t, "Baufinanzierung", "Tagesgeld")
	return "Overview"
}

func (m *month) imports(t *testing.T) string {
	t.Helper()
	b := m.robin
	m.file = girokonto(t)
	b.do(t, step{Do: "click", Name: "Transactions"})
	b.do(t, step{Do: "click", Name: "Import"})
	b.do(t, step{Do: "upload", Name: "Choose file", File: m.file})
	b.do(t, step{Do: "see", Text: "Import summary"})
	b.fill(t, "Bank", "Sparkasse Nord")
	b.do(t, step{Do: "click", Name: "Import 25 transactions"})
	b.do(t, step{Do: "see", Text: "Imported into Girokonto"})
	m.settle(t)
	b.reads(t, "Imported 25 transactions … Imported into Girokonto")
	if n := len(m.list(t, "limit=500&search=Gemüsekiste+Ahrweiler")); n != 12 {
		t.Errorf("%d of the file's 12 payments are there", n)
	}
	return "Import"
}

func (m *month) importsAgain(t *testing.T) string {
	t.Helper()
	b := m.robin
	before := m.count(t, `select count(*) from transaction`)
	b.do(t, step{Do: "click", Name: "Import another file"})
	b.do(t, step{Do: "upload", Name: "Choose file", File: m.file})
	b.do(t, step{Do: "see", Text: "This file has no new transactions"})
	b.reads(t, "Already imported … 25")
	if n := m.count(t, `select count(*) from transaction`); n != before {
		t.Errorf("%d payments became %d", before, n)
	}
	return "Import"
}

// An owned is an account as the API has it.
type owned struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Balance *float64 `json:"balance_today"`
}

// figures are the names of all accounts with what is on them today.
func (m *month) figures(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, a := range get[[]owned](t, m.house, "/api/v1/accounts") {
		if a.Balance == nil {
			t.Errorf("%s has no balance", a.Name)
			continue
		}
		if a.Type == "credit" || a.Type == "loan" {
			*a.Balance = -*a.Balance
		}
		out = append(out, a.Name+" … "+money(*a.Balance, 2))
	}
	return out
}

func (m *month) balances(t *testing.T) string {
	t.Helper()
	m.robin.do(t, step{Do: "click", Name: "Accounts"})
	m.robin.do(t, step{Do: "see", Text: "Assets"})
	all := m.figures(t)
	m.robin.reads(t, all...)
	if !slices.Contains(all, "Girokonto … "+money(left, 2)) || len(all) != 6 {
		t.Errorf("the file ends with %s, and the accounts are %q", money(left, 2), all)
	}
	return "Accounts"
}

// A known holds the overview's figures about the household.
type known struct {
	Balances []struct {
		Net, Assets, Debts float64
		Accounts           int
	}
	Spending struct {
		This struct {
			Totals []struct {
				Out float64 `json:"money_out"`
			}
		} `json:"this_month"`
	}
}

func (m *month) worth(t *testing.T) string {
	t.Helper()
	m.robin.do(t, step{Do: "click", Name: "Net worth"})
	m.robin.do(t, step{Do: "see", Text: "Breakdown"})
	of := get[known](t, m.house, "/api/v1/overview").Balances[0]
	if of.Accounts != 6 {
		t.Errorf("the net worth is of %d accounts", of.Accounts)
	}
	m.robin.reads(t, "Net worth … "+money(of.Net, 2)+" … Assets … "+money(of.Assets, 2)+" … Debts … "+
		money(of.Debts, 2))
	return "Net worth"
}

func (m *month) purpose(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Transactions"})
	b.fill(t, "Search", "47110815")
	b.do(t, step{Do: "see", Text: `/\b1 transaction\b/`}) // and not 301 transactions
	b.reads(t, "Fahrrad Meyer … Rechnung 47110815 Bremse … €64.50")
	if n := len(m.list(t, "search=47110815")); n != 1 {
		t.Errorf("%d payments are found", n)
	}
	return "Transactions"
}

// reviews files a payee with one click.
func (m *month) reviews(t *testing.T) string {
	t.Helper()
	b := m.robin
	before := m.waiting(t)
	b.do(t, step{Do: "click", Name: "Review.*"})
	b.do(t, step{Do: "see", Text: "Needs your input"})
	b.reads(t, "Gemüsekiste Ahrweiler … €466.86 … 12 transactions")
	if q := get[struct {
		Groups int `json:"total_groups"`
		Total  int `json:"total"`
	}](t, m.house, "/api/v1/review/groups"); q.Total != before || q.Groups > q.Total*3/4 {
		t.Errorf("%d payments wait in %d groups of %d", before, q.Groups, q.Total)
	}
	b.do(t, step{Do: "click", Name: `Groceries ?\d?`})
	b.do(t, step{Do: "see", Text: "as Groceries"})
	b.reads(t, fmt.Sprintf("%d to review", before-12))
	if now := m.waiting(t); now != before-12 {
		t.Errorf("%d waited, and %d do", before, now)
	}
	return "Review"
}

func (m *month) undoes(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Activity"})
	b.do(t, step{Do: "see", Text: "Robin categorized 12 “Gemüsekiste Ahrweiler” transactions as “Groceries”"})
	b.do(t, step{Do: "click", Name: "12 transactions"})
	b.reads(t, "Gemüsekiste Ahrweiler … Category … Uncategorized … changed to … Groceries … €46.44")
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "click", Name: "Undo 12"})
	b.do(t, step{Do: "see", Text: "/^Undone$/"}) // and not what would be undone
	b.reads(t, "undone by Robin")
	if n := len(m.list(t, "limit=500&uncategorized=true&tags=needs-review&search=Gemüsekiste+Ahrweiler")); n != 12 {
		t.Errorf("%d of 12 payments are as they were", n)
	}
	return "Activity"
}

// rules makes a rule of what coffer offers for a payee.
func (m *month) rules(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Review.*"})
	b.do(t, step{Do: "see", Text: "Needs your input"})
	b.do(t, step{Do: "see", Text: "Gemüsekiste Ahrweiler"}) // which the undo brought back, as the first
	b.do(t, step{Do: "quiet"})
	b.do(t, step{Do: "click", Name: "Create rule ?R?"})
	b.do(t, step{Do: "see", Text: "Preview"})
	b.do(t, step{Do: "choose", Name: "Category", Value: "Groceries"})
	offer := get[struct {
		Candidates []struct {
			Count int `json:"match_count"`
		}
	}](t, m.house, "/api/v1/rules/suggest?category=food_and_drink_groceries&transaction_id="+
		m.list(t, "limit=1&search=Gemüsekiste+Ahrweiler")[0].ID)
	save := fmt.Sprintf("Save and update %d", offer.Candidates[0].Count)
	b.do(t, step{Do: "see", Text: save})
	b.reads(t, "contains “Gemüsekiste Ahrweiler”, set the category to Groceries", "Uncategorized … Groceries")
	b.do(t, step{Do: "click", Name: save})
	b.do(t, step{Do: "see", Text: "Updated 12 of"})
	b.reads(t)
	if n := len(m.list(t, "limit=500&category=food_and_drink_groceries&search=Gemüsekiste+Ahrweiler")); n != 12 {
		t.Errorf("%d of 12 payments have a category", n)
	}
	return "Rules"
}

func (m *month) recurring(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Recurring"})
	b.do(t, step{Do: "see", Text: "Bills and subscriptions"})
	type recurs struct {
		Name   string  `json:"payee_name"`
		Amount float64 `json:"amount"`
		Yearly float64 `json:"yearly_amount"`
		Status string  `json:"status"`
	}
	texts := []string{"Streambox … €9.99 → €12.99 … €155.88 per year", "Hausverwaltung Krüger … €850.00 … €10,200.00 per year"}
	all := get[struct{ Recurring []recurs }](t, m.house, "/api/v1/recurring?limit=100").Recurring
	if len(all) < 10 {
		t.Errorf("only %d payments recur", len(all))
	}
	for _, r := range all {
		if r.Status == "ended" { // folded away
			continue
		}
		texts = append(texts, r.Name+" … "+money(math.Abs(r.Amount), 2)+" … "+money(math.Abs(r.Yearly), 2)+" per year")
	}
	b.reads(t, texts...)
	return "Recurring"
}

func (m *month) findings(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Review.*"})
	b.do(t, step{Do: "click", Name: "Alerts.*"})
	b.do(t, step{Do: "see", Text: "in the last 90 days"})
	b.reads(t, "Streambox … Price increase from €9.99 … €12.99")
	b.do(t, step{Do: "press", Name: "Dismiss Streambox"})
	b.do(t, step{Do: "see", Text: "1 dismissed"})
	b.reads(t)
	if n := m.count(t, `select count(*) from finding where state = 'dismissed' and deleted_at is null`); n != 1 {
		t.Errorf("%d alerts are dismissed", n)
	}
	return "Review, Alerts"
}

func (m *month) upcoming(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Recurring"})
	b.do(t, step{Do: "click", Name: "Calendar"})
	b.do(t, step{Do: "see", Text: time.Now().Format("January 2006")})
	due := charged(0).AddDate(0, 1, 0)
	if due.Month() != time.Now().Month() {
		b.do(t, step{Do: "press", Name: "Next month"})
		b.do(t, step{Do: "see", Text: due.Format("January 2006")})
	}
	b.do(t, step{Do: "see", Text: "Streambox"})
	b.reads(t, "Streambox … €12.99", "Hausverwaltung Krüger … €850.00")
	return "Recurring, Calendar"
}

// cash adds a purse, and what was paid from it.
func (m *month) cash(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Accounts"})
	b.do(t, step{Do: "click", Name: "Add manually…"})
	b.fill(t, "Account name", "Purse")
	b.fill(t, "Balance (optional)", "50")
	b.fill(t, "As of", time.Now().AddDate(0, 0, -1).Format(time.DateOnly))
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Purse added"})
	b.do(t, step{Do: "click", Name: "Add transaction"})
	b.fill(t, "Amount", "12.50")
	b.fill(t, "Payee", "Market stall")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Market stall added"})
	b.reads(t, "Balance … €37.50", "Market stall … €12.50")
	return "Account"
}

func (m *month) splits(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Transactions"})
	b.fill(t, "Search", "47110815")
	b.do(t, step{Do: "see", Text: `/\b1 transaction\b/`})
	b.do(t, step{Do: "click", Name: "Fahrrad Meyer.*"})
	b.do(t, step{Do: "press", Name: "Split"})
	b.fill(t, "Amount for part 1", "20")
	b.do(t, step{Do: "choose", Name: "Category for part 1", Value: "Transport: Bikes & Scooters"})
	b.reads(t, "€44.50")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Edit split"})
	b.reads(t, "Bikes & Scooters … €20.00", "€44.50")
	if n := m.count(t, `select count(*) from transaction where parent_id is not null and deleted_at is null
		and amount in (20, 44.50)`); n != 2 {
		t.Errorf("%d parts, not 2", n)
	}
	return "Transactions"
}

// compares looks at two months side by side.
func (m *month) compares(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Cash flow"})
	b.do(t, step{Do: "click", Name: "Trends"})
	b.do(t, step{Do: "see", Text: "Monthly spending"})
	first := time.Now().AddDate(0, 0, 1-time.Now().Day())
	of := get[struct {
		Pivot struct {
			Columns []struct{ Key string }
			Rows    []struct {
				Keys   map[string]string
				Values []float64
			}
		}
	}](t, m.house, "/api/v1/transactions/summary?group_by=primary_category,month&pivot=true&measure=out&start_date="+
		first.AddDate(0, -1, 0).Format(time.DateOnly)+"&end_date="+first.AddDate(0, 1, -1).Format(time.DateOnly)).Pivot
	names := map[string]string{"home": "Home", "food_and_drink": "Food & Drink", "utilities": "Utilities"}
	var texts []string
	for _, r := range of.Rows {
		if name := names[r.Keys["primary_category"]]; name != "" && len(r.Values) == 2 {
			texts = append(texts, name+" … "+spent(r.Values[0])+" … "+spent(r.Values[1]))
		}
	}
	if len(texts) != len(names) {
		t.Errorf("the months are %v", of)
	}
	// The wages have no category yet, which must not hide what was spent without one.
	b.reads(t, append(texts, "Uncategorized … €")...)
	return "Cash flow, Trends"
}

// spent is a cell of the months.
func spent(amount float64) string {
	if amount == 0 {
		return "–"
	}
	return money(amount, 0)
}

func (m *month) invites(t *testing.T) string {
	t.Helper()
	b := m.robin
	b.do(t, step{Do: "click", Name: "Settings"})
	b.do(t, step{Do: "click", Name: "Members"})
	b.do(t, step{Do: "click", Name: "Add member"})
	b.fill(t, "Name", "Kim")
	b.fill(t, "Email", "kim@example.com")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Invitation for Kim"})
	b.reads(t)
	m.kim.open(t, m.house)
	m.kim.visit(t, joinLink.FindString(b.look(t).Text), http.StatusOK, "Welcome, Kim")
	m.kim.fill(t, "Password", "a sentence of Kim’s own")
	m.kim.click(t, "Join with password", "Create recovery codes")
	return "Settings, Members, and a link"
}

// partner plays Kim, who has done nothing yet, on a phone.
func (m *month) partner(t *testing.T) string {
	t.Helper()
	b := m.kim
	b.do(t, step{Do: "see", Text: "Net worth"})
	out := get[known](t, m.house, "/api/v1/overview").Spending.This.Totals[0].Out
	if out < 12.50 {
		t.Errorf("%.2f was spent this month", out)
	}
	b.reads(t, append(m.figures(t), "This month … Money out … "+money(out, 2))...)
	return "Overview"
}
