package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"coffer/internal/archive"
	"coffer/internal/cli"
	"coffer/internal/errs"
	"coffer/internal/job"
	"coffer/internal/op"
	"coffer/internal/rest"
	"github.com/spf13/cobra"
)

// download is where the link of an export leads. It is no op, because a file is no JSON; the link
// itself is the credential.
func (a *App) download() rest.Raw {
	return rest.Raw{
		Route: "GET /exports/{token}", Scope: op.Open, Name: "export.download", Type: "application/octet-stream",
		Serve:   a.Archive.Download,
		Summary: "Downloads the file of an export, once; the link is in the result of its job.",
	}
}

// archiveCommands take the household's data out and bring it back.
func archiveCommands(c *cli.CLI, config Config) []*cobra.Command {
	return []*cobra.Command{
		exportCommand(c, config), importCommand(config), backupCommand(config),
		restoreCommand(config),
	}
}

func exportCommand(c *cli.CLI, config Config) *cobra.Command {
	format, file := "", ""
	cmd := &cobra.Command{
		Use: "export", Short: "Write the whole household, or only its ledger, to a file", Args: cobra.NoArgs,
		Long: `Writes the whole household as one archive, or its ledger alone as CSV or for hledger or Beancount.
It is of one moment, and servers go on serving meanwhile. Secrets stay: the archive's manifest says what is left out.`,
		Example: "  coffer export > coffer.zip\n  coffer export --format hledger > coffer.journal\n  coffer export " +
			"--format csv --file transactions.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if file == "-" && format == "archive" && cli.IsTerminal(out) {
				return errs.New(errs.ValidationError,
					"an archive is binary: redirect it to a file (coffer export > coffer.zip), or name one with --file")
			}
			write := func(ctx context.Context, w io.Writer) error {
				server, _, err := c.Where()
				if err != nil {
					return err
				}
				if server != "" {
					return fetch(ctx, c, format, w)
				}
				return onDatabase(ctx, config, func(a *App) error {
					return a.Archive.Write(ctx, w, format, counter(cmd.ErrOrStderr()))
				})
			}
			if file == "-" {
				return write(cmd.Context(), out)
			}
			return archive.IntoFile(file, func(f *os.File) error { return write(cmd.Context(), f) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "archive", "what to write ("+strings.Join(archive.Formats, ", ")+")")
	cmd.Flags().StringVar(&file, "file", "-", "the file to write; - is standard output")
	return cmd
}

// fetch asks a server for an export, waits for it and takes it.
func fetch(ctx context.Context, c *cli.CLI, format string, w io.Writer) error {
	caller, end, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer end()
	var begin, look *op.Op
	for _, o := range c.Ops {
		switch o.Name {
		case "export.create":
			begin = o
		case "job.get":
			look = o
		}
	}
	answer, err := caller.Call(ctx, begin, map[string]any{"format": format, "wait": "30s"})
	for {
		var now job.Job
		if err == nil {
			err = json.Unmarshal(answer, &now)
		}
		if err != nil {
			return err
		}
		if now.Error != nil {
			return errs.New(errs.Unavailable, "the export failed: %s (%s)", now.Error.Message, now.Error.Code)
		}
		if now.Ended() {
			var link archive.ExportLink
			if json.Unmarshal(now.Result, &link) != nil || link.URL == nil {
				return errs.New(errs.Unavailable, "the export ended without a link (%s); try again", now.State)
			}
			server, _, err := c.Where()
			if err != nil {
				return err
			}
			return follow(ctx, server, *link.URL, w)
		}
		answer, err = caller.Call(ctx, look, map[string]any{"job_id": now.ShortID, "wait": "30s"})
	}
}

// follow fetches what is behind the link, from the server that is known to answer: the address in
// the link is the one that the world knows.
func follow(ctx context.Context, server, link string, w io.Writer) error {
	u, err := url.Parse(link)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+u.EscapedPath(),
		http.NoBody)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errs.Wrap(err, errs.Unavailable, "the server at %s does not respond", server)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	if res.StatusCode != http.StatusOK {
		return errs.New(errs.Unavailable, "the link returned status %d; try again", res.StatusCode)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		return errs.Wrap(err, errs.Unavailable, "the download was interrupted; try again")
	}
	return nil
}

// onDatabase runs f on the database, which must have this program's schema or none.
func onDatabase(ctx context.Context, config Config, f func(*App) error) error {
	caller, end, err := openLocal(ctx, config)
	if err != nil {
		return err
	}
	defer end()
	on, ok := caller.(local)
	if !ok {
		return fmt.Errorf("open the database: it is a %T", caller)
	}
	return f(on.app)
}

// counter shows on a terminal how many rows are done.
func counter(w io.Writer) func(int64) {
	done, shown := int64(0), time.Now()
	return func(rows int64) {
		done += rows
		if cli.IsTerminal(w) && time.Since(shown) > 200*time.Millisecond {
			shown = time.Now()
			fmt.Fprintf(w, "\r%d rows ", done)
		}
	}
}

func importCommand(config Config) *cobra.Command {
	return &cobra.Command{
		Use: "import <file>", Short: "Import an export into an empty household", Args: cobra.ExactArgs(1),
		Long: "Imports an archive made by coffer export into an empty household: either completely or not at all. " +
			"All hashes in it are checked first. Connections to banks arrive disconnected, because an export " +
			"contains no credentials.",
		Example: "  coffer import coffer.zip",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return errs.New(errs.ValidationError, "cannot read the archive: %v", err)
			}
			defer f.Close() //nolint:errcheck // only read
			info, err := f.Stat()
			if err != nil {
				return errs.New(errs.ValidationError, "cannot read the archive: %v", err)
			}
			return onDatabase(cmd.Context(), config, func(a *App) error {
				m, err := a.Archive.Import(cmd.Context(), f, info.Size(), counter(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				return said(cmd, "imported", m)
			})
		},
	}
}

// said tells what an archive held.
func said(cmd *cobra.Command, what string, m archive.Manifest) error {
	rows := int64(0)
	for _, t := range m.Tables {
		rows += t.Rows
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(),
		"%s: %d transactions with everything that belongs to them, %d rows in %d tables, as of %s\n", what,
		m.Transactions(), rows, len(m.Tables), m.Created)
	return err
}

func backupCommand(config Config) *cobra.Command {
	var recipients []string
	cmd := &cobra.Command{
		Use: "backup <file>", Short: "Write the whole database to an encrypted file, and verify it",
		Args: cobra.ExactArgs(1),
		Long: `Writes everything that the database holds into a new file, encrypted with age: with the passphrase in
COFFER_BACKUP_PASSPHRASE, or for the public keys that --recipient names. The file is read back and every
hash compared before it gets its name. Servers go on serving meanwhile.

Bank credentials stay sealed with COFFER_ENCRYPTION_KEY, which is not in the backup: keep a copy of it elsewhere.`,
		Example: "  COFFER_BACKUP_PASSPHRASE=… coffer backup /backups/coffer-$(date +%F).age\n  coffer backup " +
			"--recipient age1… coffer.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return onDatabase(cmd.Context(), config, func(a *App) error {
				lock := archive.Lock{Passphrase: config.BackupPassphrase.Reveal(), Recipients: recipients}
				if len(recipients) > 0 {
					lock.Passphrase = ""
				}
				m, err := a.Archive.Backup(cmd.Context(), args[0], lock, counter(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				return said(cmd, "written and read back", m)
			})
		},
	}
	cmd.Flags().StringSliceVar(&recipients, "recipient", nil,
		"public key that may open the backup, as age-keygen prints it; can be repeated")
	return cmd
}

func restoreCommand(config Config) *cobra.Command {
	identity := ""
	cmd := &cobra.Command{
		Use: "restore <file>", Short: "Restore a backup into an empty database", Args: cobra.ExactArgs(1),
		Long: "Restores a backup into an empty database: either completely or not at all. The passphrase comes " +
			"from COFFER_BACKUP_PASSPHRASE, or the key from the file given with --identity. Set " +
			"COFFER_ENCRYPTION_KEY to the key that the backed-up server had.",
		Example: "  COFFER_DATABASE_URL=postgres://…/empty COFFER_BACKUP_PASSPHRASE=… coffer restore coffer.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return onDatabase(cmd.Context(), config, func(a *App) error {
				m, err := a.Archive.Restore(cmd.Context(), args[0],
					archive.Lock{Passphrase: config.BackupPassphrase.Reveal(), Identities: identity},
					counter(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				if err := said(cmd, "restored", m); err != nil {
					return err
				}
				return a.checkKey(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "the file that age-keygen wrote, for a backup with recipients")
	return cmd
}
