// Package app builds the service from one Config: it connects the parts and holds the lists of ops,
// raw routes and commands. It imports all packages and no package imports it; it contains no domain
// rules.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"coffer/internal/account"
	"coffer/internal/accountlink"
	"coffer/internal/archive"
	"coffer/internal/auth"
	"coffer/internal/byhand"
	"coffer/internal/counterparty"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/filing"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/linksession"
	"coffer/internal/mcp"
	"coffer/internal/member"
	"coffer/internal/money"
	"coffer/internal/notify"
	"coffer/internal/op"
	"coffer/internal/overview"
	"coffer/internal/pattern"
	"coffer/internal/payee"
	"coffer/internal/pg"
	"coffer/internal/reference"
	"coffer/internal/removal"
	"coffer/internal/report"
	"coffer/internal/rest"
	"coffer/internal/review"
	"coffer/internal/rulebook"
	"coffer/internal/seal"
	"coffer/internal/setting"
	"coffer/internal/signin"
	"coffer/internal/signin/oauth"
	"coffer/internal/statement"
	"coffer/internal/target"
	"coffer/internal/total"
	"coffer/internal/view"
	"coffer/internal/watch"
	"coffer/internal/webhook"
	"coffer/internal/workflow"
	"coffer/internal/workflow/agent"
	"coffer/internal/workflow/eval"
	"github.com/prometheus/client_golang/prometheus"
)

// Set at build time.
var (
	Version = "dev"
	Commit  = "unknown"
	BuiltAt = ""
)

// An App is the service, built on one database.
type App struct {
	Config       Config
	DB           *pg.DB
	Ring         *seal.Ring // nil without an encryption key
	Auth         *auth.Auth
	Jobs         *job.Jobs
	Journal      *journal.Journal
	Undo         *journal.Undo
	Filing       *filing.Filing
	Accounts     *account.Register
	Books        *ledger.Books
	Totals       *total.Totals
	Patterns     *pattern.Patterns
	Others       *counterparty.Counterparties
	Rules        *rulebook.Rulebook
	Links        *accountlink.Links
	Hand         *byhand.Hand
	Setting      *setting.Settings
	Reports      *report.Reports
	Targets      *target.Targets
	Notify       *notify.Notifier
	Watch        *watch.Watch
	Overviews    *overview.Overviews
	Views        *view.Views
	References   *reference.References
	Feed         *feed.Feed
	LinkSessions *linksession.Sessions
	Statements   *statement.Statements
	Removals     *removal.Removals
	Members      *member.Members
	Hooks        *webhook.Webhooks
	Archive      *archive.Archive
	Workflows    *workflow.Workflows
	Plans        *workflow.Plans
	Agent        *agent.Agent
	Runner       *op.Runner
	Tools        *mcp.Tools
	Desk         *signin.Desk
	OAuth        *oauth.Server
	Log          *slog.Logger
	Metrics      *prometheus.Registry
	system       *system
	ops          func() []*op.Op // made once
}

// Build connects the parts. It opens no connections.
func Build(ctx context.Context, c Config, log *slog.Logger) (*App, error) {
	return BuildWith(ctx, c, pg.Options{MaxConns: c.DatabaseMaxConns, Reserve: true}, log)
}

// BuildWith is Build with other options for the connections to the database.
func BuildWith(ctx context.Context, c Config, o pg.Options, log *slog.Logger) (*App, error) {
	if c.DatabaseURL.IsZero() {
		return nil, errors.New("COFFER_DATABASE_URL is not set; set it to a PostgreSQL URL, such as " +
			"postgres://user:password@127.0.0.1:5432/coffer")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	ring, err := c.ring()
	if err != nil {
		return nil, err
	}
	db, err := pg.Open(ctx, c.DatabaseURL.Reveal(), o)
	if err != nil {
		return nil, err
	}
	environment, err := c.environment(ring)
	if err != nil {
		db.Close()
		return nil, err
	}
	desk, err := signin.New(nil, c.base(), c.origin())
	if err != nil {
		db.Close()
		return nil, err
	}
	a := parts(wires{db, log, ring, c, environment})
	desk.Auth, desk.Log, a.Desk = a.Auth, log, desk
	a.Auth.Base = c.base()
	if c.OIDCIssuer != "" {
		desk.Issuer = &signin.Issuer{
			URL: c.OIDCIssuer, ClientID: c.OIDCClientID, Secret: c.OIDCClientSecret.Reveal(),
			Name: c.OIDCName,
		}
	}
	a.OAuth = &oauth.Server{Desk: desk, Docs: oauth.NewDocuments(c.OAuthClientHosts)}
	desk.Grants = a.OAuth.Grants()
	if c.LoginsPerMinute > 0 {
		a.Auth.LoginsPerMinute = c.LoginsPerMinute
	}
	a.Config, a.Ring, a.Log, a.Metrics = c, ring, log, prometheus.NewRegistry()
	a.Runner = &op.Runner{
		DB: db, Log: log, Observe: observer(a.Metrics, db), Words: op.WordsOf(a.Ops()),
		Candidates: candidates(),
	}
	a.Plans.Use(a.Runner, a.Ops())
	a.Agent.Use(a.Runner, a.Ops())
	a.Jobs.Observe = jobObserver(a.Metrics)
	a.Tools = a.tools(log)
	return a, nil
}

// wires are the dependencies from outside. Without them the parts have only their operations.
type wires struct {
	db      *pg.DB
	log     *slog.Logger
	ring    *seal.Ring
	config  Config
	setting setting.Config
}

// parts are the packages of the domain, each handed what it needs.
func parts(w wires) *App {
	db := w.db
	a := &App{DB: db, Auth: auth.New(db), Jobs: job.New(db, w.log)}
	a.system, a.ops = &system{app: a}, sync.OnceValue(a.menu)
	// whatever else points at categories joins here
	a.Filing = filing.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{},
		target.CategoryUser{})
	a.Accounts = account.New(db)
	a.Books = ledger.New(db, a.Filing)
	a.Totals = total.New(a.Books, a.Accounts)
	a.Patterns = pattern.New(a.DB, a.Books, a.Accounts)
	a.Others = counterparty.New(a.Filing, a.Books)
	a.Rules = rulebook.New(db, a.Filing, a.Books, a.Jobs)
	a.Links = accountlink.New(db, a.Books, a.Jobs)
	a.Books.Tell(a.Links)
	a.Hand = byhand.New(a.Books, a.Rules, a.Links)
	a.Books.Pair(a.Hand)
	w.setting.DB = db
	w.setting.Rezoned = func(ctx context.Context, tx pg.Tx) error { return a.Workflows.Rezone(ctx, tx) }
	a.Setting = setting.New(w.setting)
	a.Auth.Begin = func(ctx context.Context, tx pg.Tx, currency string) error {
		return a.Setting.Begin(ctx, tx, money.Currency(currency))
	}
	a.Reports = report.New()
	a.Notify = notify.New(notify.Config{DB: db, Ring: w.ring, Log: w.log, Report: a.reportOf("notifications")})
	a.Targets = target.New(a.Filing, a.Totals)
	a.Overviews = overview.New(a.Totals, a.Accounts)
	a.Views = view.New(a.Books)
	a.References = reference.New(a.Filing)
	a.Watch = watch.New(db, a.Patterns, a.Accounts)
	a.Feed = feed.New(feed.Config{
		DB: db, Auth: a.Auth, Accounts: a.Accounts, Books: a.Books, Rules: a.Rules, Jobs: a.Jobs, Ring: w.ring,
		Providers: a.Setting,
		Then: []func(context.Context, *job.Run, bool) error{
			a.Links.AfterSync,
			a.Patterns.AfterSync, // what is linked is no recurring payment
			a.Watch.AfterSync,
			func(ctx context.Context, run *job.Run, changed bool) error { // there are no Workflows yet
				return a.Workflows.AfterSync(ctx, run, changed)
			},
		},
	})
	a.LinkSessions = linksession.New(linksession.Config{
		DB: db, Feed: a.Feed, Ring: w.ring, Pages: w.config.pagesAt(), Webhooks: w.config.PublicURL,
	})
	a.Statements = statement.New(db, a.Feed, a.Accounts, a.Books, a.Rules, a.Jobs)
	a.Removals = removal.New(removal.Config{
		Accounts: a.Accounts, Books: a.Books, Links: a.Links, Hand: a.Hand, Jobs: a.Jobs,
		Then: []func(context.Context, *job.Run, bool) error{a.Links.AfterSync, a.Patterns.AfterSync},
	})
	a.Members = member.New(a.Auth, a.Feed, a.Accounts)
	a.Hooks = webhook.New(webhook.Config{
		DB: db, Feed: a.Feed, Sessions: a.LinkSessions, Jobs: a.Jobs, Ring: w.ring, Log: w.log,
	})
	a.Archive = archive.New(archive.Config{
		DB: db, Jobs: a.Jobs, Auth: a.Auth, Feed: a.Feed, Links: a.Links, Version: Version,
		Address: w.config.address(),
	})
	a.Journal = journal.New(journal.Config{DB: db, Subjects: slices.Concat(a.Filing.Subjects(), a.Books.Subjects(),
		a.Hand.Subjects(), a.Accounts.Subjects(), a.Others.Subjects(), a.Rules.Subjects(), a.Links.Subjects(),
		a.Reports.Subjects(), a.Targets.Subjects(), a.Patterns.Subjects())})
	a.Undo = journal.NewUndo(a.Journal, a.Jobs)
	a.Workflows = workflow.New(workflow.Config{
		DB: db, Jobs: a.Jobs, Books: a.Books, Settings: a.Setting, Undo: a.Undo, Reports: a.Reports, Menu: a.Ops,
	})
	store := &workflow.Store{Journal: a.Journal, Reports: a.Reports}
	a.Plans = workflow.NewPlans(db, store)
	a.Agent = agent.New(agent.Config{
		DB: db, Store: store, Journal: a.Journal, Books: a.Books, Reports: a.Reports, Models: a.Setting,
		Evals: eval.New(a.Rules),
	})
	a.Jobs.Add(a.kinds()...)
	return a
}

// reportOf returns what stores a report of the system, in the name of one of its parts.
func (a *App) reportOf(part string) func(ctx context.Context, tx pg.Tx, title, body string) error {
	return func(ctx context.Context, tx pg.Tx, title, body string) error {
		_, err := a.Reports.Create(op.WithActor(ctx, op.Actor{Type: op.System, Name: part}), tx,
			report.CreateReport{Title: title, Body: body, Kind: part})
		return err
	}
}

// Ops returns every operation of the service.
func (a *App) Ops() []*op.Op { return a.ops() }

func (a *App) menu() []*op.Op {
	return forAdmins(slices.Concat(a.system.ops(), a.Auth.Ops(), a.Jobs.Ops(), a.LinkSessions.Ops(), a.Feed.Ops(),
		a.Statements.Ops(), a.Members.Ops(), a.Hooks.Ops(), a.Filing.Ops(), a.Books.Ops(), a.Hand.Ops(),
		a.Accounts.Ops(), a.Totals.Ops(), a.Patterns.Ops(), review.New(a.Books).Ops(), a.Others.Ops(),
		payee.New(a.DB, a.Books, a.Others, a.Rules).Ops(), a.Rules.Ops(),
		a.References.Ops(), a.Links.Ops(), a.Journal.Ops(), a.Undo.Ops(), a.Archive.Ops(), a.Setting.Ops(),
		a.Reports.Ops(), a.Notify.Ops(), a.Views.Ops(), a.Targets.Ops(), a.Removals.Ops(), a.Overviews.Ops(),
		a.Workflows.Ops(), a.Plans.Ops()))
}

// Groups describes each noun of the menu.
var Groups = map[string]string{
	"account":       "Accounts and their balances.",
	"account-link":  "Links between accounts: duplicate cards and transfers.",
	"agent":         "Limits and settings for agents.",
	"auth":          "Signing in and out.",
	"assistant":     "Assistants that members have connected.",
	"annotation":    "The history of a transaction.",
	"balance":       "Balances entered by people.",
	"calendar":      "Upcoming payments as calendar apps read them.",
	"calendar-link": "Links by which calendar apps read upcoming payments.",
	"year":          "A calendar year by category and tag.",
	"cashflow":      "Income and spending in a period.",
	"category":      "The categories of transactions: a tree of two levels.",
	"change":        "Every change, who made it and how to undo it.",
	"comment":       "Comments on transactions.",
	"counterparty":  "The other party of transactions, across banks.",
	"payee":         "Who is paid and who pays, by the names in the bank's texts.",
	"csv":           "Statement files from banks.",
	"endpoint":      "Webhook URLs that receive notifications.",
	"export":        "Exporting the household's data.",
	"finding":       "Findings to check: duplicate charges, refunds, unusual charges, balance mismatches.",
	"health":        "Whether the service is working.",
	"job":           "Background jobs: progress and results.",
	"key":           "API keys and their permissions.",
	"login-method":  "Members' sign-in methods.",
	"me":            "The signed-in member's own sign-in methods, sessions and assistants.",
	"model":         "AI model providers and prices.",
	"net-worth":     "Net worth over time.",
	"notification":  "Notifications and their delivery.",
	"overview":      "The household at a glance.",
	"pulse":         "Counters for polling: what changed or needs attention.",
	"prompt-block":  "Text blocks shared by workflow prompts.",
	"proof":         "Balance checks: whether transactions match the balances.",
	"provider":      "Bank providers and their configuration.",
	"quarantine":    "Unreadable rows from banks.",
	"rate":          "The household's own exchange rates.",
	"recurring":     "Recurring payments and price changes.",
	"report":        "Reports written by people and agents.",
	"review":        "The review queue, by payee.",
	"rule":          "Rules that run on new transactions.",
	"connection":    "Bank connections and CSV file connections.",
	"sync":          "Syncs with banks.",
	"setting":       "The household's settings.",
	"session":       "Members' sessions.",
	"setup":         "Setup steps that are still missing.",
	"tag":           "Labels for transactions.",
	"target":        "Monthly budgets (targets).",
	"transaction":   "Transactions: search, summarize, categorize.",
	"upcoming":      "Upcoming recurring payments and projected balances.",
	"user":          "Members of the household.",
	"view":          "Saved views: filters for the transaction list.",
	"webhook":       "Webhook events from providers.",
	"workflow":      "Workflows: the household's own agents, their triggers and limits.",
	"workflow-run":  "Workflow runs: results, plans and costs.",
	"version":       "Version information.",
}

// idle is the service without a database, of which only the menu is used.
var idle = sync.OnceValue(func() *App { return parts(wires{}) })

// papers are the documents of the menu.
var papers = sync.OnceValues(func() (rest.Papers, error) {
	return rest.Print(Menu(), RawMenu(), Groups, JobResults(), Version)
})

// Menu returns every operation without a database behind it, for documents and help.
func Menu() []*op.Op { return idle().Ops() }

// Raw returns every route that is not an op.
func (a *App) Raw() []rest.Raw {
	return slices.Concat(a.documented(), a.pages(), a.deliveries(), []rest.Raw{{
		Route: "/mcp/key", Scope: op.AnyKey, Agents: true, MaxBody: mcp.MaxBody, Handler: a.Tools.Handler(),
	}, {
		Route: "/mcp", Scope: op.AnyKey, Agents: true, Resource: a.OAuth.Resource(), Refused: a.OAuth.Refused,
		MaxBody: mcp.MaxBody, Handler: a.Tools.Stepwise(a.OAuth.Further),
	}})
}

// documented are the raw routes that the document shows.
func (a *App) documented() []rest.Raw {
	return append(append(a.system.raw(), a.jobEvents(), a.transcript(), a.download(), a.calendar()), a.desk()...)
}

// RawMenu is Raw for documents.
func RawMenu() []rest.Raw { return idle().documented() }

// Rest returns the HTTP surface.
func (a *App) Rest() *rest.Server {
	return &rest.Server{
		Ops: a.Ops(), Raw: a.Raw(), Groups: Groups, Runner: a.Runner, Key: a.Auth.Key, Session: a.Auth.Session,
		Token: a.Auth.Token, API: a.OAuth.API(), Log: a.Log, Version: Version, Host: a.Config.host(),
		Origin: a.Config.origin(), Base: a.Config.address(), Proxies: a.Config.TrustedProxies,
		Papers: papers,
		Limits: rest.Limits{
			PerMinute: a.Config.RatePerMinute, Burst: a.Config.RateBurst,
			FailuresPerMinute: a.Config.AuthFailures,
		},
	}
}

// sealed are all columns that hold sealed values; rotation goes through them.
var sealed = []pg.SealedColumn{
	{Table: "instance", Column: "seal_check", Key: "id"},
	{Table: "connection", Column: "credentials", Key: "id"},
	{Table: "quarantine", Column: "raw", Key: "id"},
	{Table: "link_session", Column: "secret", Key: "id"},
	{Table: "webhook_event", Column: "session", Key: "id"},
	{Table: "provider_setting", Column: "fields", Key: "provider"},
	{Table: "model_setting", Column: "key", Key: "provider"},
	{Table: "endpoint", Column: "secret", Key: "id"},
	{Table: "endpoint", Column: "old_secret", Key: "id"},
}

var (
	checkPlace = seal.Place{Table: "instance", Column: "seal_check", Row: "true"}
	checkText  = []byte("coffer")
)

// checkKey makes sure that the encryption key is the one that sealed the stored secrets; the first
// key is remembered.
func (a *App) checkKey(ctx context.Context) error {
	stored, err := pg.Value[[]byte](ctx, a.DB, `select seal_check from instance`)
	if err != nil {
		return fmt.Errorf("read the key check: %w", err)
	}
	switch {
	case a.Ring == nil:
		return nil
	case stored == nil:
		mark, err := a.Ring.Seal(checkPlace, checkText)
		if err != nil {
			return err
		}
		// Of several servers that start at once with different keys one must win, and the others
		// must notice.
		if _, err := pg.Exec(ctx, a.DB, `update instance set seal_check = $1
			where seal_check is null`, mark); err != nil {
			return err
		}
		return a.checkKey(ctx)
	}
	if _, err := a.Ring.Open(checkPlace, stored); err != nil {
		return fmt.Errorf("COFFER_ENCRYPTION_KEY is not the key that encrypted the stored secrets (%w); set "+
			"that key, or put it into COFFER_ENCRYPTION_KEYS_OLD and run: coffer key rotate", err)
	}
	return nil
}

// operator is the person who works on the server's machine with the database's own password, and
// may do everything.
var operator = op.Actor{
	Type: op.User, ID: id.Must("00000000-0000-7000-8000-000000000001"), Name: "operator",
	Scope: op.Full,
}

// local runs ops straight on the database, for the operator on the same machine.
type local struct{ app *App }

// Call implements cli.Caller. The command line is built from a menu without a database; Call runs
// the op of the same name that has one.
func (l local) Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error) {
	for _, live := range l.app.Ops() {
		if live.ID() == o.ID() {
			o = live
		}
	}
	if field, _ := o.TextBody(); field != "" {
		given, _ := args[field].(string)
		args[field] = o.FromBody([]byte(given)) // as the REST interface takes the same file
	}
	a, err := l.app.Runner.Call(ctx, o, op.Call{
		Actor: operator, Surface: op.Command, Args: args,
		RequestID: id.Base62(16),
	})
	return a.Body, err
}

// Working implements cli.Worker.
func (l local) Working(ctx context.Context) (bool, error) { return l.app.Jobs.Served(ctx) }

// ready connects, waiting a while for a database that is still starting, migrates and checks the
// encryption key.
func (a *App) ready(ctx context.Context, patience time.Duration) error {
	err := a.DB.Wait(ctx, patience, func(err error) {
		a.Log.Warn("waiting for PostgreSQL", "error", errs.LogText(err))
	})
	if err != nil {
		return errs.Wrap(err, errs.Unavailable,
			"PostgreSQL does not respond at COFFER_DATABASE_URL; run coffer doctor for details")
	}
	steps, err := a.DB.Migrate(ctx)
	if err != nil {
		return err
	}
	if n := len(steps); n > 5 { // a new database
		a.Log.Info("migrated", "steps", n, "to", steps[n-1])
		steps = nil
	}
	for _, s := range steps {
		a.Log.Info("migrated", "step", s)
	}
	filled, err := a.Books.FillPayees(ctx)
	if err != nil {
		return err
	}
	if filled > 0 {
		a.Log.Info("grouped wordings by payee", "wordings", filled)
	}
	shipped, err := a.Workflows.FillPresets(ctx)
	if err != nil {
		return err
	}
	if shipped > 0 {
		a.Log.Info("stored shipped workflows", "texts", shipped)
	}
	return a.checkKey(ctx)
}
