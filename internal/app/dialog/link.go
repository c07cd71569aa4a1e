// Package dialog holds the commands that lead a person at a terminal through several ops: linking a
// bank, and importing files. It knows the ops by name only.
package dialog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/surface/cli"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// LinkCommand links a bank from the terminal: it prints the page, waits for the person there, and
// shows the first sync until the transactions are there.
func LinkCommand(c *cli.CLI) *cobra.Command {
	var provider, user, again, country, name string
	cmd := &cobra.Command{
		Use: "link", Short: "Connect a bank in the browser and wait for the first sync", Args: cobra.NoArgs,
		Long: `Prints the page where you sign in at the bank, waits until you are done, and shows the first sync.
With --again it reconnects an existing connection. The server must be running: it serves the page.
If the provider has a list of banks, choose one with --country and --bank; a part of the name is enough if no other
bank has it. If the provider has a form, such as for a setup token, enter its values here: a terminal doesn't show
secrets; elsewhere, pass one value per line on the standard input.`,
		Example: "  coffer connection link --provider " + all.Default() + "\n  coffer connection link --again k3xK9a2Q",
		RunE: func(cmd *cobra.Command, _ []string) error {
			caller, done, err := c.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			out := cmd.OutOrStdout()
			l := &linking{Asker: Asker{c.Ops, caller}, out: out, screen: cli.IsTerminal(out)}
			begin, args := "connection.session", map[string]any{"provider": provider}
			if user != "" {
				args["user_id"] = user
			}
			if again != "" {
				begin, args = "connection.reauth", map[string]any{"id": again}
				if provider, err = l.providerOf(cmd.Context(), again); err != nil {
					return err
				}
			}
			spec, _ := all.Find(provider)
			if spec.Link.Institutions && again == "" {
				if args["institution_id"], err = l.choose(cmd.Context(), provider, country, name); err != nil {
					return err
				}
			}
			if spec.Link.Way == bank.ByForm {
				if args["fields"], err = fillIn(cmd.InOrStdin(), cmd.OutOrStdout(), spec); err != nil {
					return err
				}
			}
			return l.run(cmd.Context(), begin, args)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", all.Default(),
		"provider to use ("+strings.Join(all.Remote("").Enum(), ", ")+")")
	cmd.Flags().StringVar(&user, "user-id", "", "member who owns this bank login (default: the oldest admin)")
	cmd.Flags().StringVar(&country, "country", "",
		"country of the bank, such as DE, if the provider has a list of banks")
	cmd.Flags().StringVar(&name, "bank", "", "name of the bank in that list, or a part of it")
	cmd.Flags().StringVar(&again, "again", "", "reconnect this connection: UUID or short id")
	return cmd
}

// choose finds the one bank of a provider's list whose name has these words.
func (l *linking) choose(ctx context.Context, provider, country, name string) (string, error) {
	if country == "" || name == "" {
		return "", errs.New(errs.ValidationError, "choose the bank with --country and --bank, such as --country DE "+
			"--bank sparkasse")
	}
	var found struct {
		Institutions []struct{ ID, Name string }
		Total        int
	}
	if err := l.Ask(ctx, "provider.institutions", map[string]any{
		"provider": provider, "country": strings.ToUpper(country), "search": name, "limit": json.Number("20"),
	}, &found); err != nil {
		return "", err
	}
	var names []string
	for _, b := range found.Institutions {
		if names = append(names, b.Name); strings.EqualFold(b.Name, name) || found.Total == 1 {
			return b.ID, nil
		}
	}
	if len(names) == 0 {
		return "", errs.New(errs.ValidationError, "no bank in %s has this name", strings.ToUpper(country))
	}
	return "", errs.New(errs.ValidationError, "%d banks have this name; repeat with more of it: %s", found.Total,
		strings.Join(names, ", "))
}

// providerOf returns the provider of a connection.
func (l *linking) providerOf(ctx context.Context, connection string) (string, error) {
	var c struct{ Provider string }
	err := l.Ask(ctx, "connection.get", map[string]any{"id": connection}, &c)
	return c.Provider, err
}

// fillIn asks for the values of a provider's form: on a terminal, or one per line.
func fillIn(in io.Reader, out io.Writer, spec bank.Spec) (map[string]any, error) {
	values := map[string]any{}
	lines := bufio.NewReader(in)
	for _, f := range spec.Link.Fields {
		file, ok := in.(*os.File)
		var value string
		var err error
		switch {
		case !ok || !term.IsTerminal(file.Fd()):
			value, err = lines.ReadString('\n')
		case f.Secret():
			fmt.Fprintf(out, "%s\n%s (not shown): ", f.Doc, f.Title)
			var raw []byte
			raw, err = term.ReadPassword(file.Fd())
			value = string(raw)
			fmt.Fprintln(out)
		default:
			fmt.Fprintf(out, "%s\n%s: ", f.Doc, f.Title)
			value, err = lines.ReadString('\n')
		}
		if value = strings.TrimSpace(value); value == "" {
			return nil, errs.New(errs.ValidationError, "%s is required: enter it here, or pass it on the "+
				"standard input", f.Title)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		values[f.Name] = value
	}
	return values, nil
}

// A linking is one run of the command.
type linking struct {
	Asker
	out      io.Writer
	screen   bool // a line can be written over
	lastLine string
}

// say writes a line of progress, over the last one where there is a screen.
func (l *linking) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	switch {
	case line == l.lastLine:
	case l.screen:
		fmt.Fprintf(l.out, "\r\x1b[K%s", line)
	default:
		fmt.Fprintln(l.out, line)
	}
	l.lastLine = line
}

// end closes a line of progress.
func (l *linking) end() {
	if l.screen && l.lastLine != "" {
		fmt.Fprintln(l.out)
	}
	l.lastLine = ""
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (l *linking) run(ctx context.Context, name string, args map[string]any) error {
	var s struct {
		Token     string    `json:"token"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := l.Ask(ctx, name, args, &s); err != nil {
		return err
	}
	waiting := "Connecting the bank…" // with what was given, which needs nobody
	if args["fields"] == nil {
		waiting = "Waiting for you to sign in…"
		fmt.Fprintf(l.out, "Open this page to connect your bank (expires %s):\n\n  %s\n\n",
			s.ExpiresAt.Local().Format("15:04"), s.URL)
	}
	connection, err := l.wait(ctx, s.Token, s.URL, waiting)
	l.end()
	if err != nil {
		return err
	}
	err = l.follow(ctx, connection)
	l.end()
	if err != nil {
		return err
	}
	return l.show(ctx, connection)
}

// wait asks until the session of a page has ended, and says so meanwhile.
func (l *linking) wait(ctx context.Context, token, page, waiting string) (string, error) {
	for {
		var o struct {
			State        string
			ConnectionID string `json:"connection_id"`
			Error        *struct{ Code, Message string }
		}
		if err := l.Ask(ctx, "connection.outcome", map[string]any{"token": token}, &o); err != nil {
			return "", err
		}
		switch {
		case o.State == "done":
			l.say("Bank connected.")
			return o.ConnectionID, nil
		case o.State == "failed" && o.Error != nil:
			return "", errs.New(errs.Conflict, "%s (%s)", o.Error.Message, o.Error.Code)
		case o.Error != nil:
			l.say("Decide on the page %s: %s", page, o.Error.Message)
		default:
			l.say("%s", waiting)
		}
		if err := pause(ctx, 2*time.Second); err != nil {
			return "", err
		}
	}
}

// follow shows the sync until it has ended.
func (l *linking) follow(ctx context.Context, connection string) error {
	l.end()
	for {
		var s struct {
			Status        string
			StatusMessage string  `json:"status_message"`
			CurrentJob    *string `json:"current_job"`
			LastSync      *struct {
				Status       string
				ErrorMessage string `json:"error_message"`
			} `json:"last_sync"`
		}
		if err := l.Ask(ctx, "connection.status", map[string]any{"id": connection}, &s); err != nil {
			return err
		}
		switch {
		case s.CurrentJob != nil:
			var j struct {
				Progress struct{ Done int64 }
			}
			if err := l.Ask(ctx, "job.get", map[string]any{"job_id": *s.CurrentJob}, &j); err != nil {
				return err
			}
			l.say("Importing transactions: %d so far…", j.Progress.Done)
		case s.LastSync != nil && s.LastSync.Status == "success":
			return nil
		case s.LastSync != nil:
			return errs.New(errs.ProviderError, "the sync failed: %s %s", s.LastSync.ErrorMessage, s.StatusMessage)
		default:
			l.say("Waiting for the sync to start…")
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// show prints the number of transactions that are there now, and the newest of them.
func (l *linking) show(ctx context.Context, connection string) error {
	var all, unfiled struct{ Count int64 }
	if err := l.Ask(ctx, "transaction.count", map[string]any{"connection_id": connection}, &all); err != nil {
		return err
	}
	if err := l.Ask(ctx, "transaction.count", map[string]any{"connection_id": connection, "uncategorized": true},
		&unfiled); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "Imported %d transactions, %d categorized. Latest:\n\n", all.Count,
		all.Count-unfiled.Count)
	var newest struct {
		Transactions []struct {
			Date, Name, Category string
			Amount               json.Number
			Currency             string `json:"iso_currency_code"`
			Pending              bool
		}
	}
	if err := l.Ask(ctx, "transaction.list", map[string]any{
		"connection_id": connection, "limit": json.Number("8"),
		"fields": "date,amount,iso_currency_code,name,category,pending",
	}, &newest); err != nil {
		return err
	}
	for _, t := range newest.Transactions {
		state := ""
		if t.Pending {
			state = " (pending)"
		}
		fmt.Fprintf(l.out, "%s  %10s %s  %-32s  %.40s%s\n", t.Date, t.Amount, t.Currency, t.Category, t.Name, state)
	}
	if u, err := id.Parse(connection); err == nil {
		connection = u.Short()
	}
	fmt.Fprintf(l.out, "\nSee all: coffer transaction list --connection-id %s\n", connection)
	return nil
}
