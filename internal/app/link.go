package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"coffer/internal/bank/all"
	"coffer/internal/cli"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"github.com/spf13/cobra"
)

// linkCommand links a bank from the terminal: it prints the page, waits for the person there, and
// shows the first sync until the transactions are there.
func linkCommand(c *cli.CLI) *cobra.Command {
	var provider, user, again string
	cmd := &cobra.Command{
		Use: "link", Short: "Connect a bank in the browser and wait for the first sync", Args: cobra.NoArgs,
		Long: `Prints the page where you sign in at the bank, waits until you are done, and shows the first sync.
With --again it reconnects an existing connection. The server must be running: it serves the page.`,
		Example: "  coffer connection link --provider " + all.Default() + "\n  coffer connection link --again k3xK9a2Q",
		RunE: func(cmd *cobra.Command, _ []string) error {
			caller, done, err := c.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			l := &linking{ops: c.Ops, caller: caller, out: cmd.OutOrStdout(), screen: cli.IsTerminal(cmd.OutOrStdout())}
			name, args := "connection.session", map[string]any{"provider": provider}
			if user != "" {
				args["user_id"] = user
			}
			if again != "" {
				name, args = "connection.reauth", map[string]any{"id": again}
			}
			return l.run(cmd.Context(), name, args)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", all.Default(),
		"provider to use ("+strings.Join(all.Remote("").Enum(), ", ")+")")
	cmd.Flags().StringVar(&user, "user-id", "", "member who owns this bank login (default: the oldest admin)")
	cmd.Flags().StringVar(&again, "again", "", "reconnect this connection: UUID or short id")
	return cmd
}

// A linking is one run of the command.
type linking struct {
	ops    []*op.Op
	caller cli.Caller
	out    io.Writer
	screen bool // a line can be written over
	said   string
}

// ask calls an op and reads its answer.
func (l *linking) ask(ctx context.Context, name string, args map[string]any, into any) error {
	for _, o := range l.ops {
		if o.Name != name {
			continue
		}
		answer, err := l.caller.Call(ctx, o, args)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, into)
	}
	return fmt.Errorf("there is no op %s", name)
}

// say writes a line of progress, over the last one where there is a screen.
func (l *linking) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	switch {
	case line == l.said:
	case l.screen:
		fmt.Fprintf(l.out, "\r\x1b[K%s", line)
	default:
		fmt.Fprintln(l.out, line)
	}
	l.said = line
}

// end closes a line of progress.
func (l *linking) end() {
	if l.screen && l.said != "" {
		fmt.Fprintln(l.out)
	}
	l.said = ""
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
	if err := l.ask(ctx, name, args, &s); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "Open this page to connect your bank (expires %s):\n\n  %s\n\n",
		s.ExpiresAt.Local().Format("15:04"), s.URL)
	connection, err := l.wait(ctx, s.Token)
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

// wait asks until the member is through.
func (l *linking) wait(ctx context.Context, token string) (string, error) {
	for {
		var o struct {
			State        string
			ConnectionID string `json:"connection_id"`
			Error        *struct{ Code, Message string }
		}
		if err := l.ask(ctx, "connection.outcome", map[string]any{"token": token}, &o); err != nil {
			return "", err
		}
		switch {
		case o.State == "done":
			l.say("Bank connected.")
			return o.ConnectionID, nil
		case o.State == "failed" && o.Error != nil:
			return "", errs.New(errs.Conflict, "%s (%s)", o.Error.Message, o.Error.Code)
		case o.Error != nil:
			l.say("Decide on the page: %s", o.Error.Message)
		default:
			l.say("Waiting for you to sign in…")
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
		if err := l.ask(ctx, "connection.status", map[string]any{"id": connection}, &s); err != nil {
			return err
		}
		switch {
		case s.CurrentJob != nil:
			var j struct {
				Progress struct{ Done int64 }
			}
			if err := l.ask(ctx, "job.get", map[string]any{"job_id": *s.CurrentJob}, &j); err != nil {
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
	if err := l.ask(ctx, "transaction.count", map[string]any{"connection_id": connection}, &all); err != nil {
		return err
	}
	if err := l.ask(ctx, "transaction.count", map[string]any{"connection_id": connection, "uncategorized": true},
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
	if err := l.ask(ctx, "transaction.list", map[string]any{
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
