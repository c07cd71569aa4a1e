package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"coffer/internal/app/dialog"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/rules/rulebook"
	"coffer/internal/surface/cli"
	"coffer/internal/surface/mcp"
	"coffer/internal/surface/rest"
	"github.com/spf13/cobra"
)

// Main runs the command line and returns the exit code.
func Main(args []string, in io.Reader, out, fail io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if file := envFile(args); file != "" {
		err = useEnvFile(file)
	}
	var config Config
	if err == nil {
		config, err = Load()
	}
	c := CommandLine(config, in, out, fail)
	if err != nil {
		return c.Fail(err, slices.Contains(args, "--json"))
	}
	return Execute(ctx, c, args)
}

// CommandLine returns the command line for the configuration.
func CommandLine(config Config, in io.Reader, out, fail io.Writer) *cli.CLI {
	c := &cli.CLI{
		Ops: Menu(), Groups: Groups, Meant: meant, Version: Version,
		Server: config.Server, Key: config.APIKey.Reveal(), Database: !config.DatabaseURL.IsZero(), In: in, Out: out,
		Err:      fail,
		Examples: examples, Flags: flagWords, Empty: empty, JobOp: "job.get", Zone: zone,
		Also:    map[string]string{"change.get": "change.entries"},
		Shows:   map[string]string{"workflow.run": "workflow-run.get", "workflow.eval": "workflow-run.get"},
		Next:    next,
		Results: map[string]*op.Schema{rulebook.ApplyKind: op.SchemaOf[rulebook.Rehearsal]()},
		Local:   func(ctx context.Context) (cli.Caller, func(), error) { return openLocal(ctx, config) },
	}
	c.Extra = map[string][]*cobra.Command{
		"": commands(c, config), "key": {rotateCommand(config), forgetCommand(c, config)},
		"connection": {dialog.LinkCommand(c)}, "workflow-run": {transcriptCommand(c, config)},
	}
	return c
}

// zone returns the household's time zone, or UTC if the caller may not read it.
func zone(ctx context.Context, caller cli.Caller) *time.Location {
	var set struct {
		Zone string `json:"time_zone"`
	}
	server := dialog.Asker{Ops: Menu(), Caller: caller}
	if server.Ask(ctx, "setting.get", map[string]any{}, &set) != nil {
		return time.UTC
	}
	at, err := time.LoadLocation(set.Zone)
	if err != nil {
		return time.UTC
	}
	return at
}

// empty maps a command to its hint for an empty list: what to do first.
var empty = map[string]string{
	"transaction.list":  "Connect a bank (coffer connection link) or import a statement (coffer csv import).",
	"account.list":      "Connect a bank (coffer connection link) or import a statement (coffer csv import).",
	"connection.list":   "Connect a bank: coffer connection link --provider " + all.Default(),
	"change.list":       "Edits, imports and syncs appear here. You can undo each of them.",
	"job.list":          "Syncs, imports and applied rules appear here.",
	"sync.list":         "Start one: coffer sync start",
	"quarantine.list":   "No unreadable rows.",
	"workflow-run.list": "Start one: coffer workflow run review-queue",
	"finding.list":      "No findings. coffer checks after each sync and import.",
	"recurring.list":    "coffer finds them after syncs and imports. Add one yourself: coffer recurring create",
	"target.list":       "Create one: coffer target create --category food_and_drink --amount 400.00",
	"webhook.list":      "Providers send these if they can reach your server.",
	"account-link.list": "coffer suggests links after syncs. Create one yourself: coffer account-link create",
}

// meant maps words that people try to the commands they probably mean.
var meant = map[string]string{
	"tx": "coffer transaction list", "txn": "coffer transaction list", "txns": "coffer transaction list",
	"ls":     "coffer transaction list",
	"status": "coffer overview, coffer sync health or coffer doctor", "balance": "coffer account list",
	"balances": "coffer account list",
	"budget":   "coffer target list", "budgets": "coffer target list",
	"subscription": "coffer recurring list", "subscriptions": "coffer recurring list", "bills": "coffer recurring list",
	"duplicates": "coffer finding list --kind duplicate", "refunds": "coffer finding list --kind refund",
	"spending": "coffer transaction summary", "spend": "coffer transaction summary",
	"expenses": "coffer transaction summary", "income": "coffer transaction summary",
	"report": "coffer report list", "bank": "coffer connection link", "banks": "coffer connection list",
	"link":  "coffer connection link",
	"agent": "coffer workflow list", "agents": "coffer workflow list",
	"undo": "coffer change revert", "history": "coffer change list", "log": "coffer change list",
	"member": "coffer user list", "members": "coffer user list",
	"merchant": "coffer payee list", "merchants": "coffer payee list",
	"review": "coffer transaction list --tags needs-review",
	"search": "coffer transaction list --search", "find": "coffer transaction list --search",
	"config": "coffer setting", "start": "coffer serve",
}

// Execute runs one command and returns the exit code.
func Execute(ctx context.Context, c *cli.CLI, args []string) int {
	root := c.Root() //nolint:contextcheck // ExecuteContext gives each command its context
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil { // a person who interrupts a command needs no explanation
		fmt.Fprintln(c.Err, "coffer: interrupted")
		return 128 + int(syscall.SIGINT)
	}
	return c.Fail(err, slices.Contains(args, "--json"))
}

// patience is how long a command waits for a database that does not answer.
const patience = 3 * time.Second

// openLocal opens the database for one command. An empty database gets its schema, so that the
// first key can be made before the first start.
func openLocal(ctx context.Context, config Config) (cli.Caller, func(), error) {
	if config.DatabaseURL.IsZero() {
		return nil, nil, errs.New(errs.ValidationError,
			"choose where to run: --server http://127.0.0.1:8080 with the key in COFFER_API_KEY, coffer login "+
				"--server …, or COFFER_DATABASE_URL on the server itself")
	}
	// Show errors only: the person waits for the command's own output.
	config.LogLevel = max(config.LogLevel, 8)
	a, err := Build(ctx, config, config.logger())
	if err != nil {
		return nil, nil, err
	}
	if err := a.opened(ctx); err != nil {
		a.DB.Close()
		return nil, nil, err
	}
	return local{a}, a.DB.Close, nil
}

func commands(c *cli.CLI, config Config) []*cobra.Command {
	settings := false
	doctor := &cobra.Command{
		Use: "doctor", Short: "Check the installation and suggest fixes", Args: cobra.NoArgs,
		Example: "  coffer doctor\n  coffer doctor --settings",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if settings {
				return c.Say(cmd, settingList(), Settings())
			}
			found := Doctor(cmd.Context(), config)
			if err := c.Say(cmd, found.String(), found); err != nil || found.OK {
				return err
			}
			return errs.New(errs.Unavailable, "coffer isn't ready: fix the problems above")
		},
	}
	doctor.Flags().BoolVar(&settings, "settings", false, "list every setting")
	openapi := &cobra.Command{
		Use: "openapi", Short: "Print the API's OpenAPI document", Args: cobra.NoArgs,
		Example: "  coffer openapi > openapi.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), rest.Document(Menu(), RawMenu(), Groups, JobResults()).YAML())
			return err
		},
	}
	return append(archiveCommands(c, config), []*cobra.Command{
		demoCommand(config), devCommand(config), sandboxCommand(c),
		c.Login(),
		setupCommand(config, c.In),
		serveCommand(config),
		{
			Use: "migrate", Short: "Migrate the database schema", Args: cobra.NoArgs, Example: "  coffer migrate",
			RunE: func(cmd *cobra.Command, _ []string) error {
				a, err := Build(cmd.Context(), config, config.logger())
				if err != nil {
					return err
				}
				defer a.DB.Close()
				if err := a.upgraded(cmd.Context(), patience); err != nil {
					return err
				}
				return c.Say(cmd, "the schema is up to date\n", map[string]any{"schema_version": a.DB.Newest()})
			},
		},
		doctor,
		healthCommand(c, config),
		stdioCommand(c, config),
		openapi,
	}...)
}

func healthCommand(c *cli.CLI, config Config) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use: "health", Short: "Check whether the running server is ready", Args: cobra.NoArgs,
		Long: "Asks the server on this machine, at the address in COFFER_LISTEN, whether it is ready, and exits with " +
			"0 or 1. With COFFER_LAN_ADDRESS it asks serve --lan first.",
		Example: "  coffer health && echo ready",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := Probe(cmd.Context(), config, port); err != nil {
				return err
			}
			return c.Say(cmd, "the server is ready\n", map[string]any{"ready": true})
		},
	}
	cmd.Flags().IntVar(&port, "lan-port", lanPort, "with COFFER_LAN_ADDRESS: the port of serve --lan")
	return cmd
}

func settingList() string {
	var b strings.Builder
	for _, s := range Settings() {
		fmt.Fprintf(&b, "%-32s %s", s.Name, s.Doc)
		if s.Default != "" {
			fmt.Fprintf(&b, " (default %s)", s.Default)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func stdioCommand(c *cli.CLI, config Config) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Run the MCP server over stdio", Args: cobra.NoArgs,
		Long: "Runs the MCP server over standard input and output, with the permissions of the key in " +
			"COFFER_API_KEY. It uses the server given with --server, or else the database directly.",
		Example: "  COFFER_API_KEY=coffer_… coffer mcp --server http://127.0.0.1:8080 --tools core",
		RunE:    func(cmd *cobra.Command, _ []string) error { return stdio(cmd.Context(), c, config, tools) },
	}
	cmd.Flags().StringVar(&tools, "tools", "all", "tools to offer: core, all, or a comma-separated list of "+
		"names")
	return cmd
}

func stdio(ctx context.Context, c *cli.CLI, config Config, tools string) error {
	server, key, err := c.Where()
	if err != nil {
		return err
	}
	if key == "" {
		return errs.New(errs.MissingAPIKey, "set COFFER_API_KEY to the key that the agent should use")
	}
	// By default, log warnings and errors only: MCP clients show everything on standard error as a
	// fault.
	if config.LogLevel == slog.LevelInfo {
		config.LogLevel = slog.LevelWarn
	}
	if server != "" {
		return mcp.Bridge(ctx, server, key, tools, Version, config.logger())
	}
	a, err := Build(ctx, config, config.logger())
	if err != nil {
		return err
	}
	defer a.DB.Close()
	if err := a.opened(ctx); err != nil {
		return err
	}
	return a.Tools.Stdio(ctx, func(ctx context.Context) (op.Actor, error) { return a.Auth.Key(ctx, key) }, tools)
}
