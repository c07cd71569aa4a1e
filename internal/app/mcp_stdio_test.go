package app_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// command returns coffer mcp with only these settings in its environment. Its messages for people
// go into said.
func command(t *testing.T, program string, said *logBook, args []string, settings ...string) *exec.Cmd {
	t.Helper()
	// A test that ends early leaves no process behind.
	cmd := exec.CommandContext(t.Context(), program, append([]string{"mcp"}, args...)...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "COFFER_LOG_LEVEL=DEBUG"}, settings...)
	cmd.Stderr = said
	return cmd
}

// TestStdio uses the tools over standard input and output, directly on the database and through a
// running server. Tools, results and rights are the same in both modes.
func TestStdio(t *testing.T) {
	t.Parallel()
	program := apptest.Program(t)
	w := newToolWorld(t, nil)
	for name, road := range map[string]struct{ args, settings []string }{
		"database": {nil, []string{"COFFER_DATABASE_URL=" + w.Config.DatabaseURL.Reveal()}},
		"bridge":   {[]string{"--server", w.url}, nil},
	} {
		start := func(t *testing.T, key, era string) (*mcp.ClientSession, *exec.Cmd, *logBook) {
			t.Helper()
			said := &logBook{}
			cmd := command(t, program, said, road.args, append(road.settings, "COFFER_API_KEY="+key)...)
			return connectThrough(t, era, &mcp.CommandTransport{Command: cmd, TerminateDuration: 30 * time.Second}),
				cmd, said
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, era := range []string{eras[0], eras[1]} {
				t.Run(era, func(t *testing.T) {
					t.Parallel()
					key := w.newKey(t, auth.CreateKey{Name: name + era, Scope: "full_access", ActorType: "user"})
					session, cmd, said := start(t, key.Secret, era)
					if got := session.InitializeResult().ProtocolVersion; got != era {
						t.Errorf("it speaks %s, want %s", got, era)
					}
					w.useEverything(t, session, name+"-"+era)
					w.revoke(t, key)
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tags"})
					if err == nil && faultOf(t, res).Code != errs.RevokedAPIKey {
						t.Errorf("with a revoked key: %+v", res)
					}
					from := time.Now()
					if err := session.Close(); err != nil || !cmd.ProcessState.Success() ||
						time.Since(from) > 20*time.Second {
						t.Errorf("at the end of its input it ended after %v with %v, %v", time.Since(from),
							cmd.ProcessState, err)
					}
					if strings.Contains(said.String(), key.Secret) {
						t.Errorf("the output has the key: %s", said)
					}
				})
			}
			t.Run("reader", func(t *testing.T) {
				t.Parallel()
				session, _, _ := start(t, w.reader, "")
				if diff := cmp.Diff(menuNames(op.Read), toolNames(t, session)); diff != "" {
					t.Errorf("tools of a read_only key (-want +got):\n%s", diff)
				}
				callTool(t, session, "list_tags", nil)
				if diff := cmp.Diff(texts(t, w.connect(t, w.reader, eras[0])), texts(t, session)); diff != "" {
					t.Errorf("prompts, pages and instructions differ from those over HTTP:\n%s", diff)
				}
				// The bridge knows only the tools that its server listed.
				if res, err := session.CallTool(t.Context(),
					&mcp.CallToolParams{
						Name:      "create_tag",
						Arguments: map[string]any{"slug": "by-reader"},
					}); !refusedAsUnknown(err) && (err != nil || !res.IsError) {
					t.Errorf("create_tag with a read_only key: %v", err)
				}
			})
			t.Run("wrong tools", func(t *testing.T) {
				t.Parallel()
				said := &logBook{}
				cmd := command(t, program, said, append([]string{"--tools", "nonsense"}, road.args...),
					append(road.settings, "COFFER_API_KEY="+w.key)...)
				if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "unknown tool") {
					t.Errorf("the server's own message is missing: %v, %s", err, said)
				}
			})
			// MCP clients show everything on standard error as a fault.
			t.Run("quiet", func(t *testing.T) {
				t.Parallel()
				said := &logBook{}
				cmd := command(t, program, said, road.args,
					append(road.settings, "COFFER_API_KEY="+w.key, "COFFER_LOG_LEVEL=INFO")...)
				session := connectThrough(t, "", &mcp.CommandTransport{Command: cmd, TerminateDuration: 30 * time.Second})
				callTool(t, session, "list_tags", nil)
				if err := session.Close(); err != nil || said.String() != "" {
					t.Errorf("it ended with %v and said %q", err, said)
				}
			})
			t.Run("all at once", func(t *testing.T) { // as printf … | coffer mcp
				t.Parallel()
				said := &logBook{}
				cmd := command(t, program, said, road.args, append(road.settings, "COFFER_API_KEY="+w.key)...)
				cmd.Stdin = strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ` +
					`{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "script", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "list_tags", "arguments": {}}}
`)
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("it ended with %v: %s", err, said)
				}
				answered := map[float64]bool{}
				for line := range strings.Lines(string(out)) {
					var answer struct {
						ID     float64        `json:"id"`
						Result map[string]any `json:"result"`
					}
					if err := json.Unmarshal([]byte(line), &answer); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					answered[answer.ID] = answer.Result != nil
				}
				if want := map[float64]bool{1: true, 2: true, 3: true}; !cmp.Equal(want, answered) {
					t.Errorf("answered: %v", answered)
				}
			})
			t.Run("strangers", func(t *testing.T) {
				t.Parallel()
				for _, key := range []string{"", "coffer_garbage", "coffer_" + strings.Repeat("0", 43)} {
					said := &logBook{}
					out, err := command(t, program, said, road.args,
						append(road.settings, "COFFER_API_KEY="+key)...).Output()
					if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() < 1 || len(out) > 0 ||
						said.String() == "" || key != "" && strings.Contains(said.String(), key) {
						t.Errorf("with key %q: %v, output %q, %s", key, err, out, said)
					}
				}
			})
		})
	}
}

// useEverything uses a session as an agent does, and compares its results with those over HTTP.
func (w *toolWorld) useEverything(t *testing.T, session *mcp.ClientSession, slug string) {
	t.Helper()
	if diff := cmp.Diff(menuNames(op.Full), toolNames(t, session)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if res := callTool(t, session, "create_tag", map[string]any{
		"slug":         slug,
		"display_name": "Ünïcødé ☂",
	}); res.IsError {
		t.Errorf("create_tag: %s", blockOf(t, res))
	}
	if r := w.send(t, exchange{method: "GET", path: "/api/v1/tags/" + slug, key: w.key}); r.status != 200 ||
		!strings.Contains(r.body, "Ünïcødé ☂") {
		t.Errorf("over HTTP the tag is %d %s", r.status, r.body)
	}
	if fault := faultOf(t, callTool(t, session, "delete_tag",
		map[string]any{"slug": "needs-review"})); fault.Code != errs.SystemProtected {
		t.Errorf("delete_tag: %+v", fault)
	}
	if fault := faultOf(t, callTool(t, session, "create_tag",
		map[string]any{"slug": 7, "strange": true})); fault.Code != errs.ValidationError || len(fault.Details) != 2 {
		t.Errorf("create_tag: %+v", fault)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_tool"}); !refusedAsUnknown(err) {
		t.Errorf("a tool that does not exist: %v", err)
	}
	direct := w.connect(t, w.key, session.InitializeResult().ProtocolVersion)
	if diff := cmp.Diff(texts(t, direct), texts(t, session)); diff != "" {
		t.Errorf("prompts, pages and instructions differ from those over HTTP:\n%s", diff)
	}
	for _, tool := range []string{"list_categories", "export_categories"} {
		want, got := callTool(t, direct, tool, nil), callTool(t, session, tool, nil)
		if diff := cmp.Diff(want.StructuredContent, got.StructuredContent); diff != "" ||
			blockOf(t, want) != blockOf(t, got) {
			t.Errorf("%s differs from what it is over HTTP:\n%s", tool, diff)
		}
	}
}
