package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"coffer/internal/archive"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/seal"
	"coffer/internal/settings"
	"coffer/internal/surface/cli"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

func backupCommand(c *cli.CLI, config Config) *cobra.Command {
	var recipients []string
	var plain, uncompressed bool
	cmd := &cobra.Command{
		Use: "backup <file>", Short: "Write an encrypted, verified backup of the database",
		Args: cobra.ExactArgs(1),
		Long: `Writes the whole database to a new file, encrypted with age: with the passphrase in COFFER_BACKUP_PASSPHRASE,
or for the public keys in COFFER_BACKUP_RECIPIENTS or given with --recipient. The file is read back and every hash is
checked before the file gets its final name. Servers keep running. A database with an older schema can be backed up too.

With - instead of a file it writes to standard output, for a program that stores it elsewhere; then nothing is read
back. restic and borg store only what has changed if you pass --plain --uncompressed, and encrypt it themselves.

Bank credentials stay encrypted with COFFER_ENCRYPTION_KEY, which is not in the backup: keep a copy of it elsewhere.`,
		Example: "  COFFER_BACKUP_PASSPHRASE=… coffer backup /backups/coffer-$(date +%F).age\n" +
			"  coffer backup --recipient age1… coffer.age\n" +
			"  coffer backup - --plain --uncompressed | restic backup --stdin --stdin-filename coffer.zip",
		RunE: func(cmd *cobra.Command, args []string) error {
			way := archive.Way{Lock: config.backupLock(), Uncompressed: uncompressed, Every: config.every()}
			switch {
			case plain && len(recipients) > 0:
				return errs.New(errs.ValidationError, "pass either --plain or --recipient, not both")
			case plain:
				way.Lock = archive.Lock{Open: true}
			case len(recipients) > 0:
				way.Lock = archive.Lock{Recipients: recipients}
			}
			if args[0] == "-" && cli.IsTerminal(cmd.OutOrStdout()) {
				return errs.New(errs.ValidationError, "a backup is not text: write it to a file or into a pipe")
			}
			return toBackUp(cmd.Context(), config, func(a *App) error {
				if args[0] == "-" {
					m, err := a.Archive.BackupTo(cmd.Context(), cmd.OutOrStdout(), way, nil)
					if err != nil {
						return err
					}
					return printContents(cmd.ErrOrStderr(), "written", m)
				}
				m, err := a.Archive.Backup(cmd.Context(), args[0], way, counter(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				return printContents(cmd.OutOrStdout(), "written and verified", m)
			})
		},
	}
	cmd.Flags().StringSliceVar(&recipients, "recipient", nil,
		"public key that can open the backup, as printed by age-keygen; can be repeated")
	cmd.Flags().BoolVar(&plain, "plain", false, "don't encrypt; whatever stores the backup must")
	cmd.Flags().BoolVar(&uncompressed, "uncompressed", false,
		"don't compress, so that restic and borg store only what has changed")
	cmd.AddCommand(verifyCommand(c, config))
	return cmd
}

// toBackUp runs f on a database that has this program's schema or an older one. An older one is
// allowed because people make a backup before an upgrade.
func toBackUp(ctx context.Context, config Config, f func(*App) error) error {
	return quietly(ctx, config, func(a *App) error {
		if err := a.reach(ctx, patience); err != nil {
			return err
		}
		at, err := a.DB.SchemaVersion(ctx)
		switch {
		case err != nil:
			return err
		case at == 0:
			return errs.New(errs.ValidationError, "this database is empty; check COFFER_DATABASE_URL")
		case at > a.DB.Newest():
			return errs.New(errs.Unavailable, "the database has schema %d, but this version of coffer supports up to "+
				"%d: back it up with the newer version that migrated it", at, a.DB.Newest())
		}
		return f(a)
	})
}

// quietly runs f without the log of a server: the person waits for the command's own output.
func quietly(ctx context.Context, config Config, f func(*App) error) error {
	config.LogLevel = max(config.LogLevel, 8)
	a, err := Build(ctx, config, config.logger())
	if err != nil {
		return err
	}
	defer a.DB.Close()
	return f(a)
}

func restoreCommand(config Config) *cobra.Command {
	identity := ""
	cmd := &cobra.Command{
		Use: "restore <file>", Short: "Restore a backup into an empty database", Args: cobra.ExactArgs(1),
		Long: "Restores a backup into an empty database: either completely or not at all. The passphrase " +
			"comes from COFFER_BACKUP_PASSPHRASE, or the key from the file given with --identity. Set " +
			"COFFER_ENCRYPTION_KEY to the key of the server that made the backup. A backup of an older schema " +
			"is migrated after it is restored.",
		Example: "  COFFER_DATABASE_URL=postgres://…/empty COFFER_BACKUP_PASSPHRASE=… coffer restore coffer.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return quietly(cmd.Context(), config, func(a *App) error {
				m, err := a.restore(cmd.Context(), args[0], identity, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := printContents(cmd.OutOrStdout(), "restored", m); err != nil {
					return err
				}
				return a.checkKey(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "key file from age-keygen, for a backup with recipients")
	return cmd
}

// restore restores a backup into the schema it was made from, and then migrates it.
func (a *App) restore(ctx context.Context, file, identity string, progress io.Writer) (archive.Manifest, error) {
	if err := a.reach(ctx, patience); err != nil {
		return archive.Manifest{}, err
	}
	m, err := a.Archive.Restore(ctx, file,
		archive.Lock{Passphrase: a.Config.BackupPassphrase.Reveal(), Identities: identity}, counter(progress))
	if err != nil {
		return archive.Manifest{}, err
	}
	if err := a.migrate(ctx); err != nil {
		return archive.Manifest{}, err
	}
	return m, a.fillIn(ctx)
}

func verifyCommand(c *cli.CLI, config Config) *cobra.Command {
	identity, scratch := "", ""
	cmd := &cobra.Command{
		Use: "verify <file>", Short: "Restore a backup on trial and compare every row", Args: cobra.ExactArgs(1),
		Long: "Restores a backup into a temporary database beside the household's, compares every row with the " +
			"backup, migrates the database, and drops it. The database user needs the right CREATEDB; without it, " +
			"pass an empty database with --scratch, which keeps the restored data.",
		Example: "  coffer backup verify /var/lib/coffer/coffer-20261118T020000Z.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return quietly(cmd.Context(), config, func(a *App) error {
				m, err := a.verifyBackup(cmd.Context(), args[0], identity, scratch, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return c.Say(cmd, contentsOf("restored on trial, every row is the same", m), m)
			})
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "key file from age-keygen, for a backup with recipients")
	cmd.Flags().StringVar(&scratch, "scratch", "", "URL of an empty database to restore into")
	return cmd
}

// verifyBackup restores a backup into a temporary database. Restoring reads every row again and
// compares it with the backup.
func (a *App) verifyBackup(ctx context.Context, file, identity, scratch string, progress io.Writer,
) (m archive.Manifest, end error) {
	if err := a.reach(ctx, patience); err != nil {
		return m, err
	}
	if scratch == "" {
		at, drop, err := a.scratch(ctx)
		if err != nil {
			return m, err
		}
		scratch = at
		defer func() { end = errors.Join(end, drop()) }()
	}
	config := a.Config
	config.DatabaseURL = seal.NewSecret(scratch)
	trial, err := Build(ctx, config, a.Log)
	if err != nil {
		return m, err
	}
	m, err = trial.restore(ctx, file, identity, progress)
	trial.DB.Close()
	if err != nil {
		return m, err
	}
	return m, settings.VerifiedBackup(ctx, a.DB, m.Created)
}

// scratch creates a temporary database on the household's server. It returns the database's address
// and a function that drops it.
func (a *App) scratch(ctx context.Context) (at string, drop func() error, err error) {
	own := a.Config.DatabaseURL.Reveal()
	name := "coffer_verify_" + strings.ToLower(id.Base62(16))
	if at, err = onServer(own, name); err != nil {
		return "", nil, err
	}
	do := func(ctx context.Context, statement string) error {
		c, err := pgx.Connect(ctx, own)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
		return administer(ctx, c, statement, name)
	}
	return at, func() error { return do(context.WithoutCancel(ctx), "drop database %s with (force)") },
		do(ctx, "create database %s")
}

// contentsOf describes what is in an archive.
func contentsOf(what string, m archive.Manifest) string {
	rows := int64(0)
	for _, t := range m.Tables {
		rows += t.Rows
	}
	return fmt.Sprintf("%s: %d transactions, %d rows in %d tables, as of %s\n", what,
		m.Transactions(), rows, len(m.Tables), m.Created)
}

// printContents prints the contents of an archive.
func printContents(w io.Writer, what string, m archive.Manifest) error {
	_, err := io.WriteString(w, contentsOf(what, m))
	return err
}
