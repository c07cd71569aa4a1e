package app_test

import (
	"io"
	"strings"
	"testing"

	"coffer/internal/app"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEveryFlagHasHelp: every flag of every command has a description.
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

// TestInvitationsForThisComputer: an invitation that no phone can open says so and says what to do.
// It has no QR code.
func TestInvitationsForThisComputer(t *testing.T) {
	t.Parallel()
	for address, here := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:80": true,
		"https://192.168.1.5:8443": false, "https://coffer.example": false,
	} {
		for op, answer := range map[string]string{
			"user.invite": `{"url":"` + address + `/join/x"}`,
			"user.create": `{"invitation":{"url":"` + address + `/join/x"}}`,
		} {
			text := app.Next[op](nil, []byte(answer))
			if strings.Contains(text, "opens only on the computer") != here || strings.Contains(text, "█") == here ||
				strings.Contains(text, "coffer serve --lan") != here {
				t.Errorf("%s of %s says:\n%s", op, address, text)
			}
		}
	}
}

// TestLoadable: the sandbox prints a command with which a shell can load the variables, wherever
// the file is.
func TestLoadable(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"sandbox.env": "./sandbox.env", "/tmp/x.env": "/tmp/x.env", "../x.env": "../x.env", "a/x.env": "a/x.env",
	} {
		if got := app.Loadable(path); got != want {
			t.Errorf("%s is loaded as %s, not %s", path, got, want)
		}
	}
}

// TestNextSteps: commands print the next step, such as how to undo a dismissal, and how many
// endpoints get a notification again.
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
		{
			"transaction.explain", nil, `{"fields":[{"field":"category","value":null,"source":null}]}`,
			"\nUncategorized: the bank sent no category, no rule set one, and no one chose one.\n",
		},
		{"transaction.explain", nil, `{"fields":[{"field":"category","value":null,"source":"user"}]}`, ""},
		{"transaction.explain", nil, `{"fields":[{"field":"category","value":"fun","source":"rule"}]}`, ""},
		{"notification.resend", nil, two, "\nSent to 2 endpoints. Use --endpoint-id for one.\n"},
		{"notification.resend", map[string]any{"endpoint_id": "k3xK9a2Q"}, two, ""},
	} {
		if got := app.Next[c.op](c.args, []byte(c.answer)); got != c.want {
			t.Errorf("%s says %q, want %q", c.op, got, c.want)
		}
	}
}
