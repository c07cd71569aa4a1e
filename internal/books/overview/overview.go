// Package overview shows the household at a glance in one call: the overview of the books and the
// health of syncs. It must not change the books. It only reads what other packages store, and never
// adds up amounts in different currencies.
package overview

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/bank/all"
	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/finding"
	"coffer/internal/books/ledger"
	"coffer/internal/books/report"
	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/settings"
)

// Overviews reads the data of one household.
type Overviews struct {
	// Scheduled means that a server makes backups.
	Scheduled bool

	totals   *analytics.Totals
	accounts *account.Register
}

// New returns Overviews that use those totals and accounts.
func New(totals *analytics.Totals, accounts *account.Register) *Overviews {
	return &Overviews{totals: totals, accounts: accounts}
}

// Ops returns the operations of this package.
func (o *Overviews) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "sync.health", Route: "GET /sync/health",
			Summary: "Shows whether every connection is up to date, failing or waiting to sync.",
		}, o.Health),
		op.Reading(op.Spec{
			Name: "pulse.get", Route: "GET /pulse", Record: true,
			Summary: "Returns a few counters that tell whether anything changed or needs attention; meant " +
				"for polling.",
		}, o.Pulse),
		op.Reading(op.Spec{
			Name: "overview.get", Route: "GET /overview", Tool: "get_overview", Core: true, Record: true,
			Summary: "Shows the household at a glance: members, accounts, connections, reviews, spending, rules " +
				"and reports.",
			Agent: "Shows the household at a glance: members, accounts with balances, when each connection " +
				"last synced, the review queue, money in and out this month and last, rules, unread reports, " +
				"findings (find_patterns lists them), and who you are with the writes left today. Call this " +
				"first, and pass on its notes to the user.",
		}, o.Overview),
	}
}

// An Overview shows the household at a glance.
type Overview struct {
	You           OverviewCaller    `json:"you" doc:"The caller and its permissions"`
	HouseholdName string            `json:"household_name"`
	Today         pg.Date           `json:"today" doc:"Today in the household's time zone, which decides where months begin"`
	Members       []OverviewMember  `json:"members"`
	Accounts      []OverviewAccount `json:"accounts" doc:"Without hidden accounts"`
	Balances      []OverviewBalance `json:"balances" doc:"Today's balances, added up by currency as in GET /net-worth; currencies are never mixed"`
	Books         OverviewBooks     `json:"books" doc:"Balance checks of the accounts, by result"`
	Connections   []Freshness       `json:"connections"`
	Review        Backlog           `json:"review" doc:"Transactions tagged needs-review, without excluded duplicates"`
	Uncategorized int64             `json:"uncategorized" doc:"Posted transactions in totals without a category, reviewed or not; 10,000 means that many or more"`
	Spending      Spending          `json:"spending" doc:"Totals as in GET /transactions/summary: without transfers, mirrored rows and hidden accounts, with pending transactions"`
	Rules         RuleState         `json:"rules"`
	UnreadReports int64             `json:"unread_reports"`
	Agents        OverviewAgents    `json:"agents" doc:"Cost of the household's own agents this month, and what they need from people"`
	Links         OverviewLinks     `json:"links" doc:"Suggested account links that need review"`
	Findings      OverviewFindings  `json:"findings" doc:"Findings from the last 90 days; new transactions count after about a minute"`
	Data          OverviewData      `json:"data" doc:"The first and the newest transaction"`
	Backup        *settings.Backup  `json:"backup,omitempty" doc:"Backups made by coffer; only for admins"`
	Notes         []op.Note         `json:"notes" doc:"Caveats about the figures"`
}

// An OverviewCaller is the caller.
type OverviewCaller struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Name      string              `json:"name"`
	Kind      string              `json:"kind,omitempty" enum:"key,assistant,session,run" doc:"Absent for a command run on the server"`
	ActorType string              `json:"actor_type" enum:"user,agent,system"`
	Scope     string              `json:"scope" enum:"read_only,full_access"`
	Writes    *trackrecord.Budget `json:"writes,omitempty" doc:"Writes left of today's limit; absent without one"`
}

// OverviewAgents shows the cost of the household's own agents, and what they wait for.
type OverviewAgents struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Spent        money.Micros  `json:"spent_usd" db:"spent" doc:"AI cost this month in US dollars, including amounts reserved for calls in progress"`
	Ceiling      *money.Amount `json:"ceiling_usd" db:"ceiling" doc:"Monthly AI limit; null means no limit"`
	PlansWaiting int64         `json:"plans_waiting" db:"plans" doc:"Plans that a person must apply or drop"`
}

// OverviewLinks counts account links that wait for a decision.
type OverviewLinks struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Proposed int64 `json:"proposed"`
	Pairs    int64 `json:"pairs" doc:"Transaction pairs that totals count twice if the links are confirmed"`
	Unsure   int64 `json:"unsure" doc:"Pairs of confirmed links that totals count until somebody decides them, because something speaks against them"`
}

// OverviewFindings counts open findings by kind.
type OverviewFindings map[finding.FindingKind]int64 //nolint:revive // it names a schema of the API, where no package stands before it

// Schema lists the kinds of findings.
func (OverviewFindings) Schema() *op.Schema {
	s := &op.Schema{Name: "OverviewFindings", Type: "object"}
	for _, kind := range finding.FindingKind("").Enum() {
		count := op.SchemaOf[int64]()
		count.Description = finding.FindingKind(kind).Doc()
		s.Props = append(s.Props, op.Prop{Schema: count, Name: kind, Required: true})
	}
	return s
}

// OverviewData is the days that transactions span.
type OverviewData struct { //nolint:revive // it names a schema of the API, where no package stands before it
	FirstDate *pg.Date `json:"first_date"`
	LastDate  *pg.Date `json:"last_date"`
}

// An OverviewMember is a member of the household.
type OverviewMember struct { //nolint:revive // it names a schema of the API, where no package stands before it
	ID      id.ID  `json:"id" db:"id"`
	ShortID string `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name    string `json:"name" db:"name"`
	Role    string `json:"role" db:"role" enum:"admin,member,viewer"`
	// Login is false for a member who only owns accounts.
	Login bool `json:"has_login" db:"has_login" doc:"Has a sign-in method"`
}

// An OverviewAccount holds the balances of an account.
type OverviewAccount struct { //nolint:revive // it names a schema of the API, where no package stands before it
	ID        id.ID          `json:"id"`
	ShortID   string         `json:"short_id,omitempty" required:"true"`
	Name      text.Untrusted `json:"name" doc:"Untrusted: the bank's name for it, unless a member renamed it"`
	Type      string         `json:"type" enum:"depository,credit,loan,investment,other"`
	UserName  *string        `json:"user_name"`
	Currency  money.Currency `json:"iso_currency_code"`
	Current   *money.Amount  `json:"balance_current" doc:"For a card or loan: the debt"`
	Available *money.Amount  `json:"balance_available"`
	AsOf      *pg.Time       `json:"balance_as_of"`
	Today     *money.Amount  `json:"balance_today" doc:"The last reported balance plus posted transactions since; null if it is unknown"`
	Date      *pg.Date       `json:"balance_date" doc:"Date of the last reported balance"`
	Source    *string        `json:"balance_source" enum:"provider,statement,manual" doc:"Source of the balance"`
	Books     string         `json:"books_status" enum:"proved,gap,open,none" doc:"Whether its transactions match its balances"`
}

// OverviewBooks counts accounts by the status of their books.
type OverviewBooks struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Proved int64 `json:"proved"`
	Gap    int64 `json:"gap" doc:"Accounts with a mismatch"`
	Open   int64 `json:"open" doc:"Accounts without enough data"`
	None   int64 `json:"none" doc:"Accounts without a balance, or whose value doesn't depend on transactions"`
}

// An OverviewBalance sums up the accounts of one currency.
type OverviewBalance struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Currency money.Currency `json:"iso_currency_code"`
	Assets   money.Total    `json:"assets"`
	Debts    money.Total    `json:"debts" doc:"Debts on cards and loans"`
	Net      money.Total    `json:"net"`
	Accounts int64          `json:"accounts" doc:"Accounts with a known balance"`
}

// A Freshness reports how up to date a connection is.
type Freshness struct {
	ID              id.ID           `json:"id" db:"id"`
	ShortID         string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	Provider        all.Name        `json:"provider" db:"provider"`
	InstitutionName *text.Untrusted `json:"institution_name" db:"institution_name" doc:"Untrusted: the bank's name from the provider"`
	Status          string          `json:"status" db:"status" enum:"active,error,pending_reauth,disconnected"`
	Paused          bool            `json:"paused" db:"paused"`
	LastSyncAt      *pg.Time        `json:"last_sync_at" db:"last_sync_at"`
	LatestDate      *pg.Date        `json:"latest_date" db:"latest_date" doc:"Date of its newest transaction"`
}

// A Backlog counts what waits for review.
type Backlog struct {
	Count int64 `json:"count"`
}

// Spending compares two months.
type Spending struct {
	ThisMonth Month `json:"this_month"`
	LastMonth Month `json:"last_month"`
}

// A Month holds a month's money in and out, by currency.
type Month struct {
	Start  pg.Date      `json:"start_date"`
	End    pg.Date      `json:"end_date"`
	Totals []MonthTotal `json:"totals"`
}

// A MonthTotal holds the sums of a month in one currency.
type MonthTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	MoneyIn  money.Total    `json:"money_in"`
	MoneyOut money.Total    `json:"money_out"`
	Net      money.Total    `json:"net"`
	Count    int64          `json:"count"`
}

// A RuleState reports what the rules did.
type RuleState struct {
	Total     int64    `json:"total" db:"total"`
	Enabled   int64    `json:"enabled" db:"enabled"`
	Proposed  int64    `json:"proposed" db:"proposed" doc:"Rules suggested by agents, which stay disabled until a person enables them"`
	Hits      int64    `json:"hits" db:"hits" doc:"Matches at sync of all rules since they were created"`
	LastHitAt *pg.Time `json:"last_hit_at" db:"last_hit_at"`
}

// today holds the household's current day, name and currency.
type today struct {
	Name      string         `db:"household_name"`
	Currency  money.Currency `db:"default_currency"`
	Today     pg.Date        `db:"today"`
	ThisStart pg.Date        `db:"this_start"`
	ThisEnd   pg.Date        `db:"this_end"`
	LastStart pg.Date        `db:"last_start"`
	LastEnd   pg.Date        `db:"last_end"`
}

// Overview returns the household at a glance.
func (o *Overviews) Overview(ctx context.Context, q pg.Querier, _ op.None) (Overview, error) {
	day, err := pg.One[today](ctx, q, `
		select household_name, default_currency, d::date as today, date_trunc('month', d)::date as this_start,
			(date_trunc('month', d) + interval '1 month - 1 day')::date as this_end,
			(date_trunc('month', d) - interval '1 month')::date as last_start,
				(date_trunc('month', d) - interval '1 day')::date as last_end
		from setting cross join lateral (select (now() at time zone time_zone)::date::timestamp as d) x`)
	if err != nil {
		return Overview{}, err
	}
	out := Overview{HouseholdName: day.Name, Today: day.Today}
	if err := o.people(ctx, q, &out); err != nil {
		return Overview{}, err
	}
	// The household's currency comes first, because screens show it first.
	if i := slices.IndexFunc(out.Balances, func(b OverviewBalance) bool { return b.Currency == day.Currency }); i > 0 {
		home := out.Balances[i]
		out.Balances = slices.Insert(slices.Delete(out.Balances, i, i+1), 0, home)
	}
	if err := state(ctx, q, &out); err != nil {
		return Overview{}, err
	}
	if out.Spending.ThisMonth, err = o.month(ctx, q, day.ThisStart, day.ThisEnd); err != nil {
		return Overview{}, err
	}
	if out.Spending.LastMonth, err = o.month(ctx, q, day.LastStart, day.LastEnd); err != nil {
		return Overview{}, err
	}
	if out.You, err = caller(ctx, q); err != nil {
		return Overview{}, err
	}
	if out.Backup, err = settings.BackupFor(ctx, q, o.Scheduled); err != nil {
		return Overview{}, err
	}
	found, err := finding.OpenFindings(ctx, q, o.accounts)
	if err != nil {
		return Overview{}, err
	}
	out.Findings = OverviewFindings{}
	for _, kind := range finding.FindingKind("").Enum() {
		out.Findings[finding.FindingKind(kind)] = found[finding.FindingKind(kind)]
	}
	standing, err := analytics.Stand(ctx, q)
	out.Links = OverviewLinks{standing.Proposed, standing.Pairs, standing.Unsure}
	out.Data = OverviewData{standing.FirstDate, standing.LastDate}
	if err != nil {
		return out, err
	}
	left, err := o.totals.LeftOut(ctx, q, analytics.Days{Start: day.LastStart, End: day.ThisEnd})
	out.Notes = slices.Concat(standing.Notes(ctx, nil, nil), out.unknown(ctx), left)
	return out, err
}

// caller describes the caller.
func caller(ctx context.Context, q pg.Querier) (OverviewCaller, error) {
	a := op.ActorOf(ctx)
	you := OverviewCaller{Name: a.Name, ActorType: a.Type, Scope: a.Scope.String()}
	if a.Scope != op.Full {
		you.Scope = op.Read.String()
	}
	switch {
	case a.Session != nil:
		you.Kind = "session"
	case a.Token != nil:
		you.Kind = "assistant"
	case a.Key != nil:
		you.Kind = "key"
	case a.Run != nil:
		you.Kind = "run"
	}
	if a.ID.IsZero() || a.Scope != op.Full {
		return you, nil
	}
	var err error
	you.Writes, err = trackrecord.BudgetOf(ctx, q, a.ID, a.Type == op.Agent)
	return you, err
}

// unknown returns a note about accounts that are missing from the balances because their balance is
// not known.
func (out Overview) unknown(ctx context.Context) []op.Note {
	var n int64
	for _, a := range out.Accounts {
		if a.Today == nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	message := fmt.Sprintf("%d accounts have no balance and aren't included", n)
	if n == 1 {
		message = "1 account has no balance and isn't included"
	}
	return []op.Note{{Code: "no_balance", Message: message, Count: &n, See: op.See(ctx, "account.list")}}
}

// people reads the members and their data.
func (o *Overviews) people(ctx context.Context, q pg.Querier, out *Overview) (err error) {
	if out.Members, err = pg.All[OverviewMember](ctx, q, `select id, short_id, name, role,
		exists (select from login l where l.member_id = member.id) as has_login
		from member where deleted_at is null order by id`); err != nil {
		return err
	}
	if err := o.money(ctx, q, out); err != nil {
		return err
	}
	out.Connections, err = pg.All[Freshness](ctx, q, `
		select c.id, c.short_id, c.provider, c.institution_name, c.status, c.paused, c.last_sync_at, n.latest_date
		from connection c left join lateral (
			select max(l.date) as latest_date from account a
			cross join lateral (select t.date from transaction t where t.account_id = a.id and t.deleted_at is null
				order by t.date desc, t.id desc limit 1) l where a.connection_id = c.id) n on true
		where c.status <> 'disconnected' order by c.id`)
	return err
}

// money reads the balances of the accounts.
func (o *Overviews) money(ctx context.Context, q pg.Querier, out *Overview) error {
	accounts, err := o.accounts.Accounts(ctx, q, op.None{})
	if err != nil {
		return err
	}
	out.Accounts, out.Balances = []OverviewAccount{}, []OverviewBalance{}
	count := map[string]*int64{
		"proved": &out.Books.Proved, "gap": &out.Books.Gap, "open": &out.Books.Open, "none": &out.Books.None,
	}
	for _, a := range accounts {
		if a.Hidden {
			continue
		}
		*count[a.BooksStatus]++
		seen := OverviewAccount{
			ID: a.ID, ShortID: a.ShortID, Name: a.Name, Type: a.Type, UserName: a.UserName, Currency: a.Currency,
			Current: a.BalanceCurrent, Available: a.BalanceAvailable, AsOf: a.BalanceAsOf, Today: a.BalanceToday,
			Date: a.BalanceDate, Source: a.BalanceSource, Books: a.BooksStatus,
		}
		if a.DisplayName != nil && *a.DisplayName != "" {
			seen.Name = text.Line(*a.DisplayName, 200)
		}
		out.Accounts = append(out.Accounts, seen)
	}
	now, err := o.totals.Today(ctx, q)
	if err != nil || len(now.Points) == 0 {
		return err
	}
	for _, t := range now.Points[0].Totals {
		if t.Known > 0 {
			out.Balances = append(out.Balances,
				OverviewBalance{t.Currency, *t.Assets, *t.Debts, *t.Net, int64(t.Known)})
		}
	}
	return nil
}

// state reads what waits for people, and what rules and agents did.
func state(ctx context.Context, q pg.Querier, out *Overview) (err error) {
	if out.Review.Count, err = Reviews(ctx, q, 0); err != nil {
		return err
	}
	if out.Uncategorized, err = uncategorized(ctx, q); err != nil {
		return err
	}
	out.Rules, err = pg.One[RuleState](ctx, q, `
		select count(*) as total, count(*) filter (where r.enabled
			and (r.expires_at is null or r.expires_at > now())) as enabled,
			count(*) filter (where r.proposed) as proposed, (select coalesce(sum(hits), 0)::bigint
			from rule_hit) as hits, (select max(hit_at) from rule_hit) as last_hit_at
		from rule r where r.deleted_at is null`)
	if err != nil {
		return err
	}
	if out.UnreadReports, err = report.Unread(ctx, q); err != nil {
		return err
	}
	out.Agents, err = pg.One[OverviewAgents](ctx, q, `
		select coalesce(m.spent_micros + m.reserved_micros, 0) as spent, s.monthly_ceiling_usd as ceiling,
			(`+plans+`) as plans
		from setting s left join model_month m on m.month = date_trunc('month', now() at time zone s.time_zone)::date`)
	return err
}

// month adds up a month, in the same way as a summary of transactions.
func (o *Overviews) month(ctx context.Context, q pg.Querier, from, until pg.Date) (Month, error) {
	out := Month{Start: from, End: until, Totals: []MonthTotal{}}
	s, err := o.totals.Sums(ctx, q, analytics.SummaryRequest{Filter: ledger.Filter{StartDate: &from, EndDate: &until}})
	for _, g := range s.Groups {
		out.Totals = append(out.Totals, MonthTotal{g.Currency, g.MoneyIn, g.MoneyOut, g.Net, g.Count})
	}
	return out, err
}
