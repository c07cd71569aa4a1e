// Package app builds the service from one Config: it connects the parts and holds the lists of ops,
// raw routes and commands. It imports all packages and no package imports it; it contains no domain
// rules.
package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"coffer/internal/agents/eval"
	"coffer/internal/agents/guide"
	"coffer/internal/agents/run"
	"coffer/internal/agents/workflow"
	"coffer/internal/archive"
	formats "coffer/internal/bank/statement/all"
	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/accountmerge"
	"coffer/internal/books/alert"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	findings "coffer/internal/books/finding"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/manual"
	"coffer/internal/books/overview"
	"coffer/internal/books/recurring"
	"coffer/internal/books/report"
	"coffer/internal/books/savedview"
	"coffer/internal/books/target"
	"coffer/internal/connections/connection"
	"coffer/internal/connections/linksession"
	"coffer/internal/connections/statement"
	"coffer/internal/connections/webhook"
	"coffer/internal/notify"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/rules/rulebook"
	"coffer/internal/settings"
	"coffer/internal/surface/mcp"
	"coffer/internal/surface/rest"
	"coffer/internal/surface/signin"
	"coffer/internal/surface/signin/oauth"
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
	Categories   *category.Categories
	Accounts     *account.Register
	Books        *ledger.Books
	Totals       *analytics.Totals
	Recurring    *recurring.Payments
	Findings     *findings.Desk
	Others       *counterparty.Counterparties
	Rules        *rulebook.Rulebook
	Links        *accountlink.Links
	Hand         *manual.Manual
	Setting      *settings.Settings
	Reports      *report.Reports
	Targets      *target.Targets
	Notify       *notify.Notifier
	Watch        *alert.Alerts
	Overviews    *overview.Overviews
	Views        *savedview.Views
	References   *guide.Guide
	Connections  *connection.Connections
	LinkSessions *linksession.Sessions
	Statements   *statement.Statements
	Removals     *accountmerge.Merges
	Members      *archive.Members
	Hooks        *webhook.Webhooks
	Archive      *archive.Archive
	Workflows    *workflow.Workflows
	Plans        *workflow.Plans
	Agent        *run.Agent
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
	o.Migrations = c.Migrations
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
	desk.Plain, a.Auth.AllowHTTP = c.AllowHTTP, c.AllowHTTP
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

// wires are the dependencies from outside. Without them, the parts have only their list of
// operations.
type wires struct {
	db      *pg.DB
	log     *slog.Logger
	ring    *seal.Ring
	config  Config
	setting settings.Config
}

// parts builds the packages of the domain and passes each of them what it needs.
func parts(w wires) *App {
	db := w.db
	a := &App{DB: db, Auth: auth.New(db), Jobs: job.New(db, w.log)}
	a.system, a.ops = &system{app: a}, sync.OnceValue(a.menu)
	// A new package that refers to categories must be added to this list.
	a.Categories = category.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{},
		target.CategoryUser{})
	a.Accounts = account.New(db)
	a.Books = ledger.New(db, a.Categories)
	a.Totals = analytics.New(a.Books, a.Accounts)
	a.Recurring = recurring.New(a.DB, a.Books)
	a.Findings = findings.New(a.DB, a.Books, a.Accounts, a.Recurring)
	a.Others = counterparty.New(a.Categories, a.Books)
	a.Rules = rulebook.New(db, a.Categories, a.Books, a.Jobs)
	a.Links = accountlink.New(db, a.Books, a.Jobs)
	a.Books.Tell(a.Links)
	a.Hand = manual.New(a.Books, a.Rules, a.Links)
	a.Books.Pair(a.Hand)
	w.setting.DB = db
	w.setting.Rezoned = func(ctx context.Context, tx pg.Tx) error { return a.Workflows.Rezone(ctx, tx) }
	a.Setting = settings.New(w.setting)
	a.Auth.Begin = func(ctx context.Context, tx pg.Tx, currency string) error {
		return a.Setting.Begin(ctx, tx, money.Currency(currency))
	}
	a.Reports = report.New()
	a.Notify = notify.New(notify.Config{DB: db, Ring: w.ring, Log: w.log, Report: a.reportOf("notifications")})
	a.Targets = target.New(a.Categories, a.Totals)
	a.Overviews = overview.New(a.Totals, a.Accounts)
	a.Views = savedview.New(a.Books)
	a.References = guide.New(a.Categories)
	a.Watch = alert.New(db, a.Recurring, a.Accounts)
	scheduled := w.config.BackupDir != ""
	a.Watch.Scheduled, a.Overviews.Scheduled, a.Setting.Scheduled = scheduled, scheduled, scheduled
	a.Connections = connection.New(connection.Config{
		DB: db, Auth: a.Auth, Accounts: a.Accounts, Books: a.Books, Rules: a.Rules, Jobs: a.Jobs, Ring: w.ring,
		Providers: a.Setting,
		Then: []func(context.Context, *job.Run, bool) error{
			a.Links.AfterSync,
			a.Recurring.AfterSync, // after Links, whose links decide what is a duplicate or a transfer
			a.Watch.AfterSync,
			// A closure, because a.Workflows is set further below.
			func(ctx context.Context, run *job.Run, changed bool) error {
				return a.Workflows.AfterSync(ctx, run, changed)
			},
		},
	})
	a.LinkSessions = linksession.New(linksession.Config{
		DB: db, Connections: a.Connections, Ring: w.ring, Pages: w.config.pagesAt(), Webhooks: w.config.PublicURL,
	})
	a.Statements = statement.New(db, a.Connections, a.Accounts, a.Books, a.Rules, a.Jobs, formats.Formats)
	a.Removals = accountmerge.New(accountmerge.Config{
		Accounts: a.Accounts, Books: a.Books, Links: a.Links, Hand: a.Hand, Jobs: a.Jobs,
		Then: []func(context.Context, *job.Run, bool) error{a.Links.AfterSync, a.Recurring.AfterSync},
	})
	a.Members = archive.NewMembers(a.Auth, a.Connections, a.Accounts)
	a.Hooks = webhook.New(webhook.Config{
		DB: db, Connections: a.Connections, Sessions: a.LinkSessions, Jobs: a.Jobs, Ring: w.ring, Log: w.log,
	})
	a.Archive = archive.New(archive.Config{
		DB: db, Jobs: a.Jobs, Auth: a.Auth, Connections: a.Connections, Links: a.Links, Version: Version,
		Address: w.config.address(),
	})
	a.Journal = journal.New(journal.Config{DB: db, Subjects: slices.Concat(a.Categories.Subjects(), a.Books.Subjects(),
		a.Hand.Subjects(), a.Accounts.Subjects(), a.Others.Subjects(), a.Rules.Subjects(), a.Links.Subjects(),
		a.Reports.Subjects(), a.Targets.Subjects(), a.Recurring.Subjects(), a.Findings.Subjects())})
	a.Undo = journal.NewUndo(a.Journal, a.Jobs)
	a.Workflows = workflow.New(workflow.Config{
		DB: db, Jobs: a.Jobs, Books: a.Books, Settings: a.Setting, Undo: a.Undo, Reports: a.Reports, Menu: a.Ops,
	})
	store := &workflow.Store{Journal: a.Journal, Reports: a.Reports}
	a.Plans = workflow.NewPlans(db, store)
	a.Agent = run.New(run.Config{
		DB: db, Store: store, Journal: a.Journal, Books: a.Books, Reports: a.Reports, Models: a.Setting,
		Evals: eval.New(a.Rules),
	})
	a.Jobs.Add(a.kinds()...)
	return a
}

// reportOf returns a function that stores a report in the name of one part of the system.
func (a *App) reportOf(part string) func(ctx context.Context, tx pg.Tx, title, body string) error {
	return func(ctx context.Context, tx pg.Tx, title, body string) error {
		_, err := a.Reports.Create(op.WithActor(ctx, op.Actor{Type: op.System, Name: part}), tx,
			report.CreateReport{Title: title, Body: body, Kind: part})
		return err
	}
}

// Groups describes each noun of the command line.
var Groups = map[string]string{
	"account":       "Accounts and their balances.",
	"account-link":  "Linked accounts: duplicate cards and transfers.",
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

// papers are the documents generated from the menu.
var papers = sync.OnceValues(func() (rest.Papers, error) {
	return rest.Print(Menu(), RawMenu(), Groups, JobResults(), Version)
})

// Menu returns every operation, without a database, for documents and help.
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

// documented returns the raw routes that the API document shows.
func (a *App) documented() []rest.Raw {
	return append(append(a.system.raw(), a.jobEvents(), a.transcript(), a.download(), a.calendar()), a.desk()...)
}

// RawMenu returns the raw routes of the API document, without a database.
func RawMenu() []rest.Raw { return idle().documented() }

// Rest returns the server of the HTTP interface.
func (a *App) Rest() *rest.Server {
	return &rest.Server{
		Ops: a.Ops(), Raw: a.Raw(), Groups: Groups, Runner: a.Runner, Key: a.Auth.Key, Session: a.Auth.Session,
		Token: a.Auth.Token, API: a.OAuth.API(), Log: a.Log, Version: Version, Host: a.Config.host(),
		Origin: a.Config.origin(), Base: a.Config.address(), Proxies: a.Config.TrustedProxies,
		Papers: papers, Plain: a.Desk.Warns,
		Limits: rest.Limits{
			PerMinute: a.Config.RatePerMinute, Burst: a.Config.RateBurst,
			FailuresPerMinute: a.Config.AuthFailures,
		},
	}
}

// operator is the person on the server's machine who has the database password. The operator may do
// everything.
var operator = op.Actor{
	Type: op.User, ID: id.Must("00000000-0000-7000-8000-000000000001"), Name: "operator",
	Scope: op.Full,
}

// local runs ops straight on the database, for the operator on the same machine.
type local struct{ app *App }

// Call implements cli.Caller. The command line is built from a menu without a database. Call runs
// the op of the same name in local's app, which has one.
func (l local) Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error) {
	for _, live := range l.app.Ops() {
		if live.ID() == o.ID() {
			o = live
		}
	}
	if field, _ := o.TextBody(); field != "" {
		given, _ := args[field].(string)
		args[field] = o.FromBody([]byte(given)) // the REST interface reads the same file the same way
	}
	a, err := l.app.Runner.Call(ctx, o, op.Call{
		Actor: operator, Surface: op.Command, Args: args,
		RequestID: id.Base62(16),
	})
	return a.Body, err
}

// Working implements cli.Worker.
func (l local) Working(ctx context.Context) (bool, error) { return l.app.Jobs.Served(ctx) }
