package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
	"coffer/internal/surface/cli"
	"coffer/internal/surface/rest"
	"github.com/spf13/cobra"
)

// transcriptCommand shows the messages, calls and results of a run.
func transcriptCommand(c *cli.CLI, config Config) *cobra.Command {
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use: "transcript <id>", Short: "Show a run's transcript", Args: cobra.ExactArgs(1),
		Long: `Shows a run's transcript: one line per message, tool call, result, cost and limit. In a pipe the lines are
JSON. With --follow it continues until the run ends.`,
		Example: "  coffer workflow-run transcript k3xK9a2Q\n  coffer workflow-run transcript k3xK9a2Q --follow",
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			show := func(line []byte) error {
				if asJSON || !cli.IsTerminal(out) {
					_, err := fmt.Fprintf(out, "%s\n", line)
					return err
				}
				_, err := fmt.Fprintln(out, spoken(line))
				return err
			}
			server, key, err := c.Where()
			if err != nil {
				return err
			}
			if server != "" {
				return remoteTranscript(cmd.Context(), server, key, args[0], follow, show)
			}
			return onDatabase(cmd.Context(), config, func(a *App) error {
				return localTranscript(cmd.Context(), a.Workflows, a, args[0], follow, show)
			})
		},
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "keep following until the run ends")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as JSON")
	return cmd
}

func localTranscript(ctx context.Context, w *workflow.Workflows, a *App, ref string, follow bool,
	show func([]byte) error,
) error {
	after := 0
	for {
		now, err := w.RunByID(ctx, a.DB, workflow.RunRef{ID: ref})
		if err != nil {
			return err
		}
		for {
			lines, err := w.Lines(ctx, a.DB, now.ID, after)
			if err != nil {
				return err
			}
			if len(lines) == 0 {
				break
			}
			for _, l := range lines {
				printed, err := json.Marshal(l)
				if err == nil {
					err = show(printed)
				}
				if err != nil {
					return err
				}
				after = l.Seq
			}
		}
		if !follow || now.FinishedAt != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// longestLine bounds a line of a transcript, which may hold a tool's whole result.
const longestLine = 16 << 20

func remoteTranscript(ctx context.Context, server, key, ref string, follow bool, show func([]byte) error) error {
	at := strings.TrimSuffix(strings.TrimSuffix(server, "/"), rest.Prefix) + rest.Prefix + "/workflow-runs/" +
		url.PathEscape(ref) + "/transcript"
	if follow {
		at += "?follow=true"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return errs.New(errs.ValidationError,
			"the server's address must be a URL, such as http://127.0.0.1:8080")
	}
	req.Header.Set("X-API-Key", key)
	// A redirect would send the key to another server.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return errs.Wrap(err, errs.Unavailable, "the server at %s does not respond", server)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	if res.StatusCode != http.StatusOK {
		var face errs.Face
		body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		if json.Unmarshal(body, &face) != nil || face.Error.Code == "" {
			return errs.New(errs.Unavailable, "the server returned status %d", res.StatusCode)
		}
		return &errs.Error{Code: face.Error.Code, Message: face.Error.Message, Details: face.Error.Details}
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 { // an empty line means that the run is still going on
			continue
		}
		if err := show(lines.Bytes()); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return errs.Wrap(lines.Err(), errs.Unavailable, "the transcript was interrupted; try again")
	}
	return nil
}

const (
	// shownLine is the longest text of a line that a person sees; --json has the rest.
	shownLine = 2_000
	// shownPrompt is how much of a prompt is shown. Every sheet repeats it.
	shownPrompt = 160
)

// spoken formats a line of a transcript for a person. Text from models and banks cannot move the
// cursor or change colors.
func spoken(line []byte) string {
	var l struct {
		At, Kind, Text, Tool, Status, Limit, Route, Why string
		Message                                         string
		Arguments                                       json.RawMessage
		Content                                         any
		Calls                                           []struct{ Tool string }
		Cost                                            json.Number `json:"cost_usd"`
		Turn                                            int
		Rows                                            []json.RawMessage
		Definition                                      struct{ Name, Model string }
	}
	if json.Unmarshal(line, &l) != nil {
		return text.Line(string(line), shownLine).Plain()
	}
	switch l.Kind {
	case "system", "user":
		l.Text = text.Line(l.Text, shownPrompt).Plain() + " …"
	case "definition":
		l.Text = l.Definition.Name + ", asking " + l.Definition.Model
	case "worklist":
		l.Text = fmt.Sprintf("%d rows to decide", len(l.Rows))
	case "decided":
		l.Text = outcomes(l.Rows)
	}
	texts := []string{l.Text, l.Tool, string(l.Arguments), l.Route, l.Why, l.Limit, l.Status, l.Message}
	for _, c := range l.Calls {
		texts = append(texts, "→ "+c.Tool)
	}
	if l.Content != nil {
		texts = append(texts, fmt.Sprint(l.Content))
	}
	if l.Cost != "" {
		texts = append(texts, "$"+l.Cost.String())
	}
	var parts []string
	for _, s := range texts {
		if s = text.Line(s, shownLine).Plain(); s != "" {
			parts = append(parts, s)
		}
	}
	clock := l.At
	if at, err := time.Parse(time.RFC3339Nano, l.At); err == nil {
		clock = at.Local().Format(time.TimeOnly)
	}
	return fmt.Sprintf("%s  %-11s  %s", clock, text.Line(l.Kind, 20).Plain(), strings.Join(parts, "  "))
}

// outcomes counts the results of the rows of a sheet.
func outcomes(rows []json.RawMessage) string {
	counts := map[string]int{}
	for _, row := range rows {
		var r struct{ Outcome string }
		if json.Unmarshal(row, &r) == nil {
			counts[r.Outcome]++
		}
	}
	var parts []string
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[outcome], outcome))
	}
	return strings.Join(parts, ", ")
}

// next maps a command of runs to a function that returns the hint for the next step.
var next = map[string]func(map[string]any, []byte) string{
	"workflow-run.get": func(_ map[string]any, answer []byte) string {
		var r struct {
			ID       string     `json:"short_id"`
			Changes  []string   `json:"changes"`
			Report   *id.ID     `json:"report_id"`
			Finished *time.Time `json:"finished_at"`
			Plan     struct{ State string }
		}
		if json.Unmarshal(answer, &r) != nil {
			return ""
		}
		var b strings.Builder
		b.WriteString("\nTranscript:     coffer workflow-run transcript " + r.ID + "\n")
		if r.Report != nil {
			b.WriteString("Report:         coffer report get " + r.Report.Short() + "\n")
		}
		switch {
		case r.Plan.State == "waiting":
			b.WriteString("Plan:           coffer workflow-run plan " + r.ID +
				"\nApply the plan: coffer workflow-run apply " + r.ID + "\n")
		case r.Finished != nil && len(r.Changes) > 0:
			b.WriteString("Undo:           coffer workflow-run revert " + r.ID + "\n")
		}
		return b.String()
	},
	"finding.dismiss": func(args map[string]any, answer []byte) string {
		var now struct{ State string }
		if json.Unmarshal(answer, &now) != nil || now.State != "dismissed" {
			return ""
		}
		return fmt.Sprintf("\nUndo: coffer finding dismiss %v --state open\n", args["id"])
	},
	"notification.resend": func(args map[string]any, answer []byte) string {
		var sent struct {
			Deliveries []struct{ State string }
		}
		if json.Unmarshal(answer, &sent) != nil || args["endpoint_id"] != nil {
			return ""
		}
		n := 0
		for _, d := range sent.Deliveries {
			if d.State == "pending" {
				n++
			}
		}
		if n == 1 {
			return "\nSent to 1 endpoint.\n"
		}
		return fmt.Sprintf("\nSent to %d endpoints. Use --endpoint-id for one.\n", n)
	},
	"upcoming.get": func(_ map[string]any, answer []byte) string {
		text := "\nLOWEST is the lowest end-of-day balance"
		if bytes.Contains(answer, []byte(`"debt":true`)) {
			text += " (highest for a debt)"
		}
		if !bytes.Contains(answer, []byte(`"lowest":{`)) {
			return ""
		}
		return text + ".\n"
	},
	"transaction.explain": func(_ map[string]any, answer []byte) string {
		var why struct {
			Fields []struct {
				Field         string
				Value, Source *string
			}
		}
		if json.Unmarshal(answer, &why) != nil {
			return ""
		}
		for _, f := range why.Fields {
			if f.Field == "category" && f.Value == nil && f.Source == nil {
				return "\nUncategorized: the bank sent no category, no rule set one, and no one chose one.\n"
			}
		}
		return ""
	},
	"user.invite": func(_ map[string]any, answer []byte) string { return invitation(answer) },
	"user.create": func(_ map[string]any, answer []byte) string {
		var made struct{ Invitation json.RawMessage }
		if json.Unmarshal(answer, &made) != nil || len(made.Invitation) == 0 {
			return ""
		}
		return invitation(made.Invitation)
	},
	"workflow-run.apply": func(args map[string]any, _ []byte) string {
		return fmt.Sprintf("\nUndo: coffer workflow-run revert %v\n", args["id"])
	},
}
