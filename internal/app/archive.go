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

	"coffer/internal/app/dialog"
	"coffer/internal/archive"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/surface/cli"
	"coffer/internal/surface/rest"
	"github.com/spf13/cobra"
)

// download serves the link of an export. It is not an op, because a file is not JSON; the link
// itself is the credential.
func (a *App) download() rest.Raw {
	return rest.Raw{
		Route: "GET /exports/{token}", Scope: op.Open, Name: "export.download", Type: "application/octet-stream",
		Serve:   a.Archive.Download,
		Summary: "Downloads an export file, once; the link is in the job's result.",
	}
}

// archiveCommands returns the commands that export, import, back up and restore the household's
// data.
func archiveCommands(c *cli.CLI, config Config) []*cobra.Command {
	return []*cobra.Command{
		exportCommand(c, config), dialog.ImportCommand(c, func(cmd *cobra.Command, path string) error {
			return importArchive(cmd, config, path)
		}), backupCommand(c, config),
		restoreCommand(config),
	}
}

func exportCommand(c *cli.CLI, config Config) *cobra.Command {
	format, file := "", ""
	cmd := &cobra.Command{
		Use: "export", Short: "Export everything, or only transactions, to a file", Args: cobra.NoArgs,
		Long: `Exports everything as one archive, or only the transactions as CSV or for hledger or Beancount. The file is
a consistent snapshot; servers keep running. Secrets are not exported: the archive's manifest lists the exceptions.`,
		Example: "  coffer export > coffer.zip\n  coffer export --format hledger > coffer.journal\n  coffer export " +
			"--format csv --file transactions.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if file == "-" && format == "archive" && cli.IsTerminal(out) {
				return errs.New(errs.ValidationError,
					"the archive is binary; redirect it to a file (coffer export > coffer.zip) or use --file")
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
	cmd.Flags().StringVar(&format, "format", "archive", "format ("+strings.Join(archive.Formats, ", ")+")")
	cmd.Flags().StringVar(&file, "file", "-", "file to write; - is standard output")
	return cmd
}

// fetch asks a server for an export, waits for it and downloads it.
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

// follow downloads the export from the given server, which has already responded. The link contains
// the public address, which may not be reachable from here.
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
		return errs.New(errs.Unavailable, "the download failed with status %d; try again", res.StatusCode)
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

// counter returns a function that shows on a terminal how many rows are done.
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

// importArchive imports an archive that coffer export wrote.
func importArchive(cmd *cobra.Command, config Config, path string) error {
	f, err := os.Open(path) //nolint:gosec // the person who runs the command chooses the file
	if err != nil {
		return errs.New(errs.ValidationError, "cannot read the archive: %v", err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return errs.New(errs.ValidationError, "cannot read the archive: %v", err)
	}
	return onDatabase(cmd.Context(), config, func(a *App) error {
		in, err := a.Archive.Import(cmd.Context(), f, info.Size(), counter(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		if err := printContents(cmd.OutOrStdout(), "imported", in.Manifest); err != nil {
			return err
		}
		return switchedOff(cmd.OutOrStdout(), in.Closed)
	})
}

// switchedOff lists what an import leaves switched off until a person switches it on again, and how
// to do so.
func switchedOff(w io.Writer, c archive.Closed) error {
	for _, off := range []struct {
		n    int64
		what string
	}{
		{c.Connections, "bank connections are disconnected; connect the banks again (coffer connection link)"},
		{c.Workflows, "workflows are disabled; check each one, then enable it (coffer workflow enable)"},
		{c.Addresses, "model server addresses were not imported; set those that you trust (coffer model set)"},
	} {
		if off.n == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%d %s\n", off.n, off.what); err != nil {
			return err
		}
	}
	return nil
}
