package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"coffer/internal/cli"
	"coffer/internal/errs"
	"coffer/internal/mcp"
	"coffer/internal/op"
	"coffer/internal/rest"
	"github.com/spf13/cobra"
)

// Main runs the command line and answers the exit code.
func Main(args []string, in io.Reader, out, fail io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := Load()
	c := &cli.CLI{
		Ops: Menu(), Groups: Groups, Version: Version, Server: config.Server, Key: config.APIKey.Reveal(), Database: !config.DatabaseURL.IsZero(), In: in, Out: out, Err: fail,
		Local: func(ctx context.Context) (cli.Caller, func(), error) { return openLocal(ctx, config) },
	}
	c.Extra = map[string][]*cobra.Command{"": commands(c, config), "key": {rotateCommand(config)}, "connection": {linkCommand(c)}}
	root := c.Root()
	root.SetArgs(args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return 0
	}
	if ctx.Err() != nil { // what broke off is no news to whoever broke it off
		fmt.Fprintln(fail, "coffer: interrupted")
		return 128 + int(syscall.SIGINT)
	}
	return c.Fail(err, slices.Contains(args, "--json"))
}

// patience is how long a command waits for a database that does not answer.
const patience = 3 * time.Second

// openLocal opens the database for one command. An empty database gets its schema, so that the first key can be made before the first start.
func openLocal(ctx context.Context, config Config) (cli.Caller, func(), error) {
	if config.DatabaseURL.IsZero() {
		return nil, nil, errs.New(errs.ValidationError, "say where to run: --server http://127.0.0.1:8080 with the key in COFFER_API_KEY, coffer login --server …, or COFFER_DATABASE_URL on the server's machine")
	}
	config.LogLevel = max(config.LogLevel, 8) // only errors: the command's own answer is what the person waits for
	a, err := Build(ctx, config, config.logger())
	if err != nil {
		return nil, nil, err
	}
	err = a.settled(ctx)
	if err == nil {
		err = a.ready(ctx, patience)
	}
	if err != nil {
		a.DB.Close()
		return nil, nil, err
	}
	return local{a}, a.DB.Close, nil
}

func commands(c *cli.CLI, config Config) []*cobra.Command {
	settings := false
	doctor := &cobra.Command{
		Use: "doctor", Short: "Say what is wrong and how to mend it", Args: cobra.NoArgs,
		Example: "  coffer doctor\n  coffer doctor --settings",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if settings {
				for _, s := range Settings() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-32s %s", s.Name, s.Doc)
					if s.Default != "" {
						fmt.Fprintf(cmd.OutOrStdout(), " (default %s)", s.Default)
					}
					fmt.Fprintln(cmd.OutOrStdout())
				}
				return nil
			}
			if !Doctor(cmd.Context(), cmd.OutOrStdout(), config) {
				return errs.New(errs.Unavailable, "coffer cannot work yet")
			}
			return nil
		},
	}
	doctor.Flags().BoolVar(&settings, "settings", false, "list every setting")
	openapi := &cobra.Command{
		Use: "openapi", Short: "Print the API's OpenAPI document", Args: cobra.NoArgs, Example: "  coffer openapi > openapi.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), rest.Document(Menu(), RawMenu(), Groups).YAML())
			return err
		},
	}
	return append(archiveCommands(c, config), []*cobra.Command{
		devCommand(config), sandboxCommand(),
		c.Login(),
		setupCommand(config, c.In),
		{
			Use: "serve", Short: "Migrate the database and serve", Args: cobra.NoArgs,
			Example: "  COFFER_DATABASE_URL=postgres://coffer@127.0.0.1:5432/coffer coffer serve",
			RunE: func(cmd *cobra.Command, _ []string) error {
				a, err := Build(cmd.Context(), config, config.logger())
				if err != nil {
					return err
				}
				return a.Serve(cmd.Context(), nil)
			},
		},
		{
			Use: "migrate", Short: "Bring the database's schema up to date", Args: cobra.NoArgs, Example: "  coffer migrate",
			RunE: func(cmd *cobra.Command, _ []string) error {
				a, err := Build(cmd.Context(), config, config.logger())
				if err != nil {
					return err
				}
				defer a.DB.Close()
				if err := a.ready(cmd.Context(), patience); err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "the schema is up to date")
				return err
			},
		},
		doctor,
		{
			Use: "health", Short: "Ask the running server whether it is ready", Args: cobra.NoArgs, Example: "  coffer health && echo ready",
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := Probe(cmd.Context(), config); err != nil {
					return err
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "the server is ready")
				return err
			},
		},
		{
			Use: "mcp", Short: "Serve the tools to an agent over standard input and output", Args: cobra.NoArgs,
			Long:    "Serves the tools over standard input and output with the rights of the key in COFFER_API_KEY: those of the server that --server names, or else straight on the database.",
			Example: "  COFFER_API_KEY=coffer_… coffer mcp --server http://127.0.0.1:8080",
			RunE:    func(cmd *cobra.Command, _ []string) error { return stdio(cmd.Context(), c, config) },
		},
		openapi,
	}...)
}

func stdio(ctx context.Context, c *cli.CLI, config Config) error {
	server, key, err := c.Where()
	if err != nil {
		return err
	}
	if key == "" {
		return errs.New(errs.MissingAPIKey, "set COFFER_API_KEY to the key whose rights the agent should have")
	}
	if server != "" {
		return mcp.Bridge(ctx, server, key, Version, config.logger())
	}
	a, err := Build(ctx, config, config.logger())
	if err != nil {
		return err
	}
	defer a.DB.Close()
	if err := a.ready(ctx, patience); err != nil {
		return err
	}
	return a.Tools.Stdio(ctx, func(ctx context.Context) (op.Actor, error) { return a.Auth.Key(ctx, key) })
}

// rotateCommand seals everything anew with the current encryption key. It is no op: it needs both keys, which only the server's machine has.
func rotateCommand(config Config) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Seal stored secrets with a new encryption key", Args: cobra.NoArgs,
		Long: `Seals every stored secret with COFFER_ENCRYPTION_KEY. The old key must stand in COFFER_ENCRYPTION_KEYS_OLD,
for running servers too, until this command has ended; then it can go. Servers go on serving meanwhile.`,
		Example: "  COFFER_ENCRYPTION_KEYS_OLD=$OLD COFFER_ENCRYPTION_KEY=$NEW coffer key rotate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := Build(cmd.Context(), config, config.logger())
			if err != nil {
				return err
			}
			defer a.DB.Close()
			if a.Ring == nil {
				return errs.New(errs.EncryptionKeyNeeded, "set COFFER_ENCRYPTION_KEY to the new key and COFFER_ENCRYPTION_KEYS_OLD to the old one")
			}
			if err := a.ready(cmd.Context(), patience); err != nil {
				return err
			}
			total := 0
			for _, column := range sealed {
				n, err := a.DB.Reseal(cmd.Context(), a.Ring, column)
				total += n
				if err != nil {
					return fmt.Errorf("after %d secrets: %w; it can be run again", total, err)
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d secrets are sealed with key %s now; COFFER_ENCRYPTION_KEYS_OLD can go\n", total, a.Ring.Current())
			return err
		},
	}
}
