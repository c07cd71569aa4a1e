package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"coffer/internal/app/family"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
)

// The demo is a separate database on the household's PostgreSQL server. A comment on the database
// marks it as the demo. coffer demo never serves, replaces or drops a database without this mark.
const (
	demoDatabase = "coffer_demo"
	demoMark     = "coffer demo: a made-up household, dropped by coffer demo --drop"
	// demoMaking is the prefix of the name while the database is being filled. The database gets
	// the demo's name only when it is complete, so nobody sees half a demo.
	demoMaking = "coffer_demo_making_"
	// An advisory lock: only one process at a time makes or drops a demo.
	demoLock = int64(0x636f666665720d)
)

var demoName = regexp.MustCompile(`^coffer_demo(_[0-9a-z]{1,40})?$`)

// demoCommand makes, serves and drops the demo.
func demoCommand(config Config) *cobra.Command {
	var listen, name string
	var drop bool
	demo := &cobra.Command{
		Use: "demo", Short: "Try coffer with a sample household in its own database", Args: cobra.NoArgs,
		Long: `Creates the database coffer_demo on the server in COFFER_DATABASE_URL, fills it with two years of a fictional
family's transactions up to today, and serves it until you stop it. The next start serves the same database, with the
transactions since; --drop deletes it. Your own database is not opened. Its banks and its AI model are simulated on
this machine.`,
		Example: "  coffer demo\n  coffer demo --listen 127.0.0.1:9000\n  coffer demo --drop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !demoName.MatchString(name) {
				return errs.New(errs.ValidationError, "--database must be coffer_demo or begin with coffer_demo_")
			}
			d := demo{config: config, name: name, out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr()}
			d.config.Listen, d.config.PublicURL = listen, ""
			// This command prints for people, so it logs errors only.
			d.config.LogLevel = max(config.LogLevel, slog.LevelError)
			if config.DatabaseURL.IsZero() {
				return errs.New(errs.ValidationError, "set COFFER_DATABASE_URL to a database on the server that the "+
					"demo should use: postgres://user:password@host:5432/name")
			}
			if drop {
				return d.drop(cmd.Context())
			}
			return d.run(cmd.Context())
		},
	}
	demo.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "listen address")
	demo.Flags().StringVar(&name, "database", demoDatabase, "database name; for a second demo, for example "+
		"coffer_demo_two")
	demo.Flags().BoolVar(&drop, "drop", false, "delete the demo database")
	demo.AddCommand(statementCommand())
	return demo
}

type demo struct {
	config        Config
	name          string
	out, progress io.Writer
}

// run serves the demo, and first makes it if it does not exist.
func (d demo) run(ctx context.Context) error {
	if err := d.keeping(ctx, func(c *pgx.Conn) error { return d.ensure(ctx, c) }); err != nil {
		return err
	}
	banks := &sandbox{}
	defer banks.close()
	a, err := d.open(ctx, d.name, banks)
	if err != nil {
		return err
	}
	return a.Serve(ctx, func(address string) {
		fmt.Fprintf(d.out, "\nDemo running at http://%s\n\n", address)
		for _, m := range family.Members {
			fmt.Fprintf(d.out, "  %-22s %-20s %s\n", m.Role+":", m.Email, family.Password)
		}
		fmt.Fprintf(d.out, "\nAll data is fictional. Stop with Ctrl-C. Delete it with: %s\n\n", d.dropping())
	})
}

// dropping returns the command that drops this demo.
func (d demo) dropping() string {
	if d.name == demoDatabase {
		return "coffer demo --drop"
	}
	return "coffer demo --database " + d.name + " --drop"
}

// demoKey encrypts the credentials of the demo's simulated banks, which are not secret.
const demoKey = "Y29mZmVyIGRlbW86IG5vdGhpbmcgaXMgc2VjcmV0ISE="

// open builds the service on one of the demo's databases, with simulated banks and a simulated
// model.
func (d demo) open(ctx context.Context, name string, banks *sandbox) (*App, error) {
	at, err := onServer(d.config.DatabaseURL.Reveal(), name)
	if err != nil {
		return nil, err
	}
	madeOn, today, err := demoDays(ctx, at)
	if err != nil {
		return nil, err
	}
	// The demo is just being made: later starts sync the days since then.
	if madeOn == nil {
		err = banks.open(family.Options(today, today.AddDate(0, 0, -family.Review)))
	} else if err = banks.open(family.Options(*madeOn, today)); err == nil {
		// The simulators create the same items again, whose tokens the connections have stored.
		banks.Linked()
	}
	if err != nil {
		return nil, err
	}
	config := d.config
	banks.values(&config)
	config.DatabaseURL = seal.NewSecret(at)
	config.EncryptionKey, config.EncryptionKeysOld = seal.NewSecret(demoKey), nil
	return Build(ctx, config, config.logger())
}

// demoDays returns the day on which the demo in a database was made, or nil if it is not complete
// yet, and today by the database's clock.
func demoDays(ctx context.Context, at string) (madeOn *time.Time, today time.Time, err error) {
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, today, err
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	var made bool
	if err := c.QueryRow(ctx, `select (now() at time zone $1)::date, to_regclass('connection') is not null`,
		family.Zone).Scan(&today, &made); err != nil || !made {
		return nil, today, err
	}
	err = c.QueryRow(ctx, `select (min(created_at) at time zone $1)::date from connection`, family.Zone).Scan(&madeOn)
	return madeOn, today, err
}

// onServer returns the URL of another database on the same server.
func onServer(address, database string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.Query().Get("host") == "" {
		return "", errs.New(errs.ValidationError,
			"COFFER_DATABASE_URL must be a URL: postgres://user:password@host:5432/name")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// keeping runs f on a connection that holds the demo lock, so only one process at a time makes or
// drops demos. The lock ends with the connection: a killed process blocks no other.
func (d demo) keeping(ctx context.Context, f func(*pgx.Conn) error) error {
	var c *pgx.Conn
	var err error
	// "" is the household's own database. It is used only to connect.
	for _, name := range []string{"postgres", "template1", ""} {
		at := d.config.DatabaseURL.Reveal()
		if name != "" {
			if at, err = onServer(at, name); err != nil {
				return err
			}
		}
		if c, err = pgx.Connect(ctx, at); err == nil {
			break
		}
	}
	if err != nil {
		return errs.Wrap(err, errs.Unavailable,
			"PostgreSQL does not respond at COFFER_DATABASE_URL; run coffer doctor for details")
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only held the lock
	if _, err := c.Exec(ctx, `select pg_advisory_lock($1)`, demoLock); err != nil {
		return fmt.Errorf("wait for another coffer demo: %w", err)
	}
	return f(c)
}

// mark returns the comment on a database, and whether the database exists.
func mark(ctx context.Context, c *pgx.Conn, name string) (comment string, there bool, err error) {
	err = c.QueryRow(ctx, `select coalesce(shobj_description(oid, 'pg_database'), '') from pg_database
		where datname = $1`, name).Scan(&comment)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return comment, err == nil, err
}

func (d demo) notOurs() error {
	return errs.New(errs.Conflict, "a database named %s already exists and wasn't created by coffer demo; "+
		"rename it or pass --database coffer_demo_two", d.name)
}

// ensure makes the demo unless it exists.
func (d demo) ensure(ctx context.Context, c *pgx.Conn) error {
	comment, there, err := mark(ctx, c, d.name)
	if err != nil || there && comment == demoMark {
		return err
	}
	if there {
		return d.notOurs()
	}
	if err := d.sweep(ctx, c); err != nil {
		return err
	}
	work := demoMaking + strings.ToLower(id.Base62(16))
	if err := administer(ctx, c, "create database %s", work); err != nil {
		return err
	}
	if err := administer(ctx, c, "comment on database %s is '"+demoMark+"'", work); err != nil {
		return err
	}
	if err := d.fill(ctx, work); err != nil {
		return errors.Join(err, dropDatabase(context.WithoutCancel(ctx), c, work))
	}
	return administer(ctx, c, "alter database %s rename to %s", work, d.name)
}

// fill fills the database with that name.
func (d demo) fill(ctx context.Context, name string) error {
	banks := &sandbox{}
	defer banks.close()
	a, err := d.open(ctx, name, banks)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.opened(ctx); err != nil {
		return err
	}
	fmt.Fprintln(d.progress, "Creating a sample household. This takes a few seconds.")
	return family.MoveIn(ctx, family.House{
		DB: a.DB, Auth: a.Auth, Jobs: a.Jobs, Runner: a.Runner, Ops: a.Ops(), Operator: operator, Banks: banks,
		Tasks: slices.Concat(a.Recurring.Tasks(), a.Findings.Tasks(), a.Accounts.Tasks()),
		Model: family.Model{Provider: sandboxProvider, Name: sandboxModel, Price: sandboxPrice},
	})
}

// sweep drops unfinished databases that a killed process left.
func (d demo) sweep(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, `select datname from pg_database
		where starts_with(datname, $1) and shobj_description(oid, 'pg_database') = $2`, demoMaking, demoMark)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := dropDatabase(ctx, c, name); err != nil {
			return err
		}
	}
	return nil
}

// drop removes the demo and unfinished databases, and nothing else.
func (d demo) drop(ctx context.Context) error {
	return d.keeping(ctx, func(c *pgx.Conn) error {
		if err := d.sweep(ctx, c); err != nil {
			return err
		}
		comment, there, err := mark(ctx, c, d.name)
		switch {
		case err != nil:
			return err
		case !there:
			_, err = fmt.Fprintln(d.out, "No demo to delete.")
			return err
		case comment != demoMark:
			return d.notOurs()
		}
		if err := dropDatabase(ctx, c, d.name); err != nil {
			return err
		}
		_, err = fmt.Fprintln(d.out, "Demo deleted.")
		return err
	})
}

// dropDatabase drops a database if it has the mark.
func dropDatabase(ctx context.Context, c *pgx.Conn, name string) error {
	if comment, there, err := mark(ctx, c, name); err != nil || !there || comment != demoMark {
		return err
	}
	err := administer(ctx, c, "drop database %s", name)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "55006" {
		return errs.Wrap(err, errs.InUse, "a coffer demo is still running on %s; stop it first", name)
	}
	return err
}

// administer runs a statement whose placeholders are identifiers. PostgreSQL takes no query
// parameters there.
func administer(ctx context.Context, c *pgx.Conn, statement string, names ...string) error {
	quoted := make([]any, len(names))
	for i, n := range names {
		quoted[i] = pgx.Identifier{n}.Sanitize()
	}
	_, err := c.Exec(ctx, fmt.Sprintf(statement, quoted...))
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return errs.Wrap(err, errs.Forbidden, "the role in COFFER_DATABASE_URL can't create databases; as a "+
			"PostgreSQL administrator, run: alter role … createdb")
	}
	return err
}
