package app_test

import (
	"io"
	"strings"
	"testing"

	"coffer/internal/app"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag of every command says what it is.
func TestEveryFlagHasHelp(t *testing.T) {
	t.Parallel()
	flags := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			text, _, _ := strings.Cut(f.Usage, " (")
			if strings.TrimSpace(text) == "" || strings.HasPrefix(f.Usage, "(") {
				t.Errorf("%s --%s says nothing: %q", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(app.CommandLine(app.Config{}, nil, io.Discard, io.Discard).Root())
	if flags < 300 {
		t.Errorf("only %d flags were looked at", flags)
	}
}

// Commands say how to go on: how a dismissal is undone, and to whom a notification goes again.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	two := `{"deliveries":[{"state":"pending"},{"state":"pending"},{"state":"failed"}]}`
	for _, c := range []struct {
		op     string
		args   map[string]any
		answer string
		want   string
	}{
		{
			"finding.dismiss",
			map[string]any{"id": "k3xK9a2Q"},
			`{"state":"dismissed"}`,
			"\nUndo: coffer finding dismiss k3xK9a2Q --state open\n",
		},
		{"finding.dismiss", map[string]any{"id": "k3xK9a2Q"}, `{"state":"open"}`, ""},
		{"notification.resend", nil, two, "\nSent to 2 endpoints. Use --endpoint-id for one.\n"},
		{"notification.resend", map[string]any{"endpoint_id": "k3xK9a2Q"}, two, ""},
	} {
		if got := app.Next[c.op](c.args, []byte(c.answer)); got != c.want {
			t.Errorf("%s says %q, want %q", c.op, got, c.want)
		}
	}
}
