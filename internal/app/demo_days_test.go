package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
)

// A calendar is a database whose clock a test moves. The schema public has functions named now and
// clock_timestamp, and the search path puts them before PostgreSQL's own. So the service's queries
// and the defaults of columns use them.
type calendar struct {
	*testing.T
	url, name string
	conn      *pgx.Conn
}

func newCalendar(t *testing.T, day string) calendar {
	t.Helper()
	at := pgtest.EmptyURL(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	c := calendar{t, at, strings.TrimPrefix(u.Path, "/"), conn}
	c.turn(day)
	c.exec(`alter database ` + pgx.Identifier{c.name}.Sanitize() + ` set search_path = public, pg_catalog`)
	return c
}

func (c calendar) exec(sql string) {
	c.Helper()
	if _, err := c.conn.Exec(c.Context(), sql); err != nil {
		c.Fatal(err)
	}
}

// turn sets the clock to noon of the given day.
func (c calendar) turn(day string) {
	c.Helper()
	noon, err := time.Parse(time.RFC3339, day+"T12:00:00Z")
	if err != nil {
		c.Fatal(err)
	}
	for name, how := range map[string]string{"now": "stable", "clock_timestamp": "volatile"} {
		c.exec(fmt.Sprintf(`create or replace function public.%[1]s() returns timestamptz language sql %[2]s
			as 'select pg_catalog.%[1]s() + interval ''%[3]d seconds'''`, name, how, int64(time.Until(noon).Seconds())))
	}
}

func (c calendar) config() app.Config {
	return app.Config{DatabaseURL: seal.NewSecret(c.url), DatabaseMaxConns: 4, LogLevel: 8}
}

// TestDemoOnAnyDay makes the demo on unusual days, such as the first and the last of a month. The
// first screen must look good on each.
func TestDemoOnAnyDay(t *testing.T) {
	t.Parallel()
	for _, day := range []string{"2026-12-01", "2027-01-02", "2027-05-15", "2027-08-31", "2028-02-29"} {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			c := newCalendar(t, day)
			if err := app.FillDemo(t.Context(), c.config(), c.name); err != nil {
				t.Fatal(err)
			}
			w := newWorldOn(t, c.url, app.Config{})
			first(t, w, day)
			budgetsOf(t, w)
			worth(t, w)
			if day == "2028-02-29" {
				c.goesOn(w)
			}
		})
	}
}

// ask reads a response of the API.
func ask[T any](t *testing.T, w *world, path string) (out T) {
	t.Helper()
	r := w.send(t, exchange{method: http.MethodGet, path: "/api/v1" + path, key: w.key})
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, r.status, r.body, err)
	}
	return out
}

type glance struct {
	Today       string
	Review      struct{ Count int }
	Connections []struct {
		Status   string
		LastSync time.Time `json:"last_sync_at"`
	}
	Accounts []struct {
		Name  string
		Today *float64 `json:"balance_today"`
		Books string   `json:"books_status"`
	}
	Uncategorized int
	Rules         struct{ Proposed int }
	Unread        int `json:"unread_reports"`
	Agents        struct {
		Plans int `json:"plans_waiting"`
	}
	Links    struct{ Proposed, Pairs, Unsure int }
	Findings map[string]int
	Spending struct {
		Month struct {
			Totals []struct {
				Currency string  `json:"iso_currency_code"`
				In       float64 `json:"money_in"`
				Out      float64 `json:"money_out"`
				Net      float64
			}
		} `json:"this_month"`
	}
	Notes []struct{ Code, Message string }
	Data  struct {
		Last string `json:"last_date"`
	}
}

// first checks what a visitor sees first.
func first(t *testing.T, w *world, day string) {
	t.Helper()
	o := ask[glance](t, w, "/overview")
	totals := o.Spending.Month.Totals
	if o.Today != day || len(totals) != 1 || totals[0].Net <= 500 || totals[0].Out <= 0 || totals[0].In < 3000 {
		t.Errorf("on %s the month so far is %+v", o.Today, totals)
	}
	if len(o.Notes) != 0 || o.Uncategorized != 0 || o.Links.Proposed != 2 || o.Links.Pairs != 0 || o.Links.Unsure != 0 {
		t.Errorf("notes %v, uncategorized %d, links %+v", o.Notes, o.Uncategorized, o.Links)
	}
	if o.Review.Count < 5 || o.Review.Count > 40 || o.Rules.Proposed != 1 || o.Unread != 1 || o.Agents.Plans != 1 {
		t.Errorf("review %+v, rules %+v, unread %d, agents %+v", o.Review, o.Rules, o.Unread, o.Agents)
	}
	found := 0
	for _, n := range o.Findings {
		found += n
	}
	f := o.Findings
	if f["duplicate"] != 1 || f["price_change"] != 1 || f["refund"] != 1 || f["gap"] != 0 || found > 6 {
		t.Errorf("findings: %v", f)
	}
	for _, c := range o.Connections {
		if c.Status != "active" || c.LastSync.Format(time.DateOnly) != day {
			t.Errorf("a bank is %s and was synced on %s", c.Status, c.LastSync)
		}
	}
	for _, a := range o.Accounts {
		if a.Today == nil || a.Books == "gap" {
			t.Errorf("%s has no balance, or one that does not match", a.Name)
		}
	}
	last, _ := time.Parse(time.DateOnly, o.Data.Last)
	today, _ := time.Parse(time.DateOnly, day)
	if len(o.Connections) != 3 || len(o.Accounts) != 13 || today.Sub(last) > 48*time.Hour {
		t.Errorf("%d banks, %d accounts, the newest transaction is of %s", len(o.Connections), len(o.Accounts), o.Data.Last)
	}
	links := ask[struct {
		Links []struct{ Confidence string } `json:"account_links"`
	}](t, w, "/account-links")
	decided := 0
	for _, l := range links.Links {
		if l.Confidence == "confirmed" {
			decided++
		}
	}
	if len(links.Links) != 13 || decided != 11 {
		t.Errorf("%d of %d account links are decided", decided, len(links.Links))
	}
	said := ""
	for _, r := range ask[[]struct{ Title, Kind, Body string }](t, w, "/reports") {
		if r.Kind == "monthly" {
			said = r.Title + "\n" + r.Body
		}
	}
	before := today.AddDate(0, 0, -today.Day()).Month().String()
	if !strings.HasPrefix(said, before+" at a glance") {
		t.Errorf("no report about %s: %q", before, said)
	}
}

// budgetsOf checks that one of five budgets is over, whatever the day.
func budgetsOf(t *testing.T, w *world) {
	t.Helper()
	got := ask[struct {
		Targets []struct{ Category, State string }
	}](t, w, "/targets")
	over := []string{}
	for _, b := range got.Targets {
		if b.State == "over" {
			over = append(over, b.Category)
		}
	}
	if len(got.Targets) != 5 || len(over) != 1 || over[0] != "entertainment" {
		t.Errorf("of %d budgets %v are over", len(got.Targets), over)
	}
}

// worth checks that net worth rises over two years, without a large step in any week.
func worth(t *testing.T, w *world) {
	t.Helper()
	o := ask[glance](t, w, "/overview")
	today, _ := time.Parse(time.DateOnly, o.Today)
	n := ask[struct {
		Points []struct {
			Date   string
			Totals []struct {
				Net     float64
				Unknown int
			}
		}
	}](t, w, "/net-worth?interval=week&start_date="+today.AddDate(-1, -10, 0).Format(time.DateOnly))
	for i, p := range n.Points {
		if len(p.Totals) != 1 || p.Totals[0].Unknown != 0 {
			t.Fatalf("%s: %+v", p.Date, p.Totals)
		}
		if i == 0 {
			continue
		}
		if step := p.Totals[0].Net - n.Points[i-1].Totals[0].Net; step < -6000 || step > 12000 {
			t.Errorf("on %s net worth moves by %.2f", p.Date, step)
		}
	}
	if last := len(n.Points) - 1; n.Points[last].Totals[0].Net < n.Points[0].Totals[0].Net+20000 {
		t.Errorf("net worth goes from %v to %v", n.Points[0], n.Points[last])
	}
}

// goesOn opens the demo two days later. Its banks add the transactions since then.
func (c calendar) goesOn(w *world) {
	c.Helper()
	before := ask[struct{ Count int }](c.T, w, "/transactions/count")
	c.turn("2028-03-02")
	if err := app.ReopenDemo(c.Context(), c.config(), c.name); err != nil {
		c.Fatal(err)
	}
	o := ask[glance](c.T, w, "/overview")
	after := ask[struct{ Count int }](c.T, w, "/transactions/count")
	if o.Data.Last < "2028-03-01" || after.Count <= before.Count || after.Count > before.Count+40 {
		c.Errorf("the newest transaction is of %s, and %d of %d are new", o.Data.Last, after.Count-before.Count, after.Count)
	}
	if totals := o.Spending.Month.Totals; len(totals) != 1 || totals[0].Net <= 0 {
		c.Errorf("the new month: %+v", totals)
	}
}
