package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// modernMeta is the metadata that every request of the newest revision contains.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernEra +
	`","io.modelcontextprotocol/clientCapabilities":{}}`

// An rpc is a request as a client without the SDK would send it.
type rpc struct {
	key, era, session, method string
	tool                      string // of tools/call
	params                    string // the JSON object, if any
}

// A message is a response of the protocol.
type message struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (w *toolWorld) rpc(t *testing.T, q rpc) (reply, message) {
	t.Helper()
	header := map[string]string{"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": q.era}
	params := q.params
	if params == "" {
		params = "{}"
	}
	if q.era == modernEra {
		header["Mcp-Method"] = q.method
		if q.tool != "" {
			header["Mcp-Name"] = q.tool
		}
		rest := params[1:]
		if rest != "}" {
			rest = "," + rest
		}
		params = "{" + modernMeta + rest
	} else if q.session != "" {
		header["Mcp-Session-Id"] = q.session
	}
	id := `"id":7,`
	if strings.HasPrefix(q.method, "notifications/") {
		id = ""
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, q.method, params)
	r := w.send(t, exchange{method: "POST", path: "/mcp/key", key: q.key, body: body, header: header})
	return r, readMessage(t, r)
}

// readMessage finds the message in a body that is JSON or an event stream. In a stream, the last
// event counts.
func readMessage(t *testing.T, r reply) message {
	t.Helper()
	text := r.body
	switch kind := r.header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "text/event-stream"):
		for line := range strings.Lines(r.body) {
			if data, ok := strings.CutPrefix(line, "data:"); ok && strings.TrimSpace(data) != "" {
				text = data
			}
		}
	case kind != "application/json":
		return message{} // a refusal by the transport is plain text
	}
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil && r.status == http.StatusOK {
		t.Errorf("the answer is no JSON: %v\n%.200s", err, r.body)
	}
	return m
}

// open starts a session in a revision that has sessions. The newest has none.
func (w *toolWorld) open(t *testing.T, key, era string) string {
	t.Helper()
	if era == modernEra {
		return ""
	}
	r, m := w.rpc(t, rpc{
		key: key, era: era, method: "initialize",
		params: `{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`,
	})
	session := r.header.Get("Mcp-Session-Id")
	if m.Result == nil || session == "" {
		t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	if r, _ := w.rpc(t, rpc{
		key: key, era: era, session: session,
		method: "notifications/initialized",
	}); r.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", r.status, r.body)
	}
	return session
}

// malformed returns arguments that no tool accepts, from wrong types to text that is not JSON.
func malformed() []string {
	return []string{
		`[]`, `[{}]`, `"x"`, `0`, `-1e400`, `true`, `{"":null}`, `{"slug":null}`, `{"slug":[]}`,
		`{"slug":{"slug":"x"}}`, `{"slug":1}`, `{"slug":1e999999999}`,
		`{"slug":"a","slug":"b"}`, `{"slug":"\u0000"}`, `{"slug":"\ud800"}`, `{"slug":" "}`,
		`{"slug":"../../etc/passwd"}`, `{"slug":"x","__proto__":{"admin":true}}`,
		`{"tsv":"\u0000\t\n"}`, `{"tsv":7,"dry_run":"yes"}`, `{"tsv":"slug\n","dry_run":1e-400}`,
		`{"dry_run":0.1,"limit":99999999999999999999999}`,
		// These are not JSON, so the whole request is invalid.
		``, `{`, `{"slug":"a"`, `nul`, `{'slug':'a'}`, `{"slug":"a",}`, `{"slug":"` + "\xff\xfe" + `"}`,
		`{"slug":"` + "\n" + `"}`, "\x00", `{} {}`,
	}
}

// monstrous returns malformed arguments that are very large or deeply nested.
func monstrous() []string {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"n%d":%d,`, i, i)
	}
	return []string{
		`{"slug":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		`{"slug":` + strings.Repeat(`{"slug":`, 1000) + `1` + strings.Repeat("}", 1001),
		`{"slug":"` + strings.Repeat("x", 1<<20) + `"}`, `{` + many.String() + `"slug":"x y"}`,
		`{"slug":` + strings.Repeat("9", 100_000) + `}`,
	}
}

// TestMalformedArguments: whatever a client sends as arguments, the response follows the protocol
// and says what is wrong. It changes nothing and does not affect later calls.
func TestMalformedArguments(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	state := func() string {
		return w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key}).body + w.send(t,
			exchange{method: "GET", path: "/api/v1/categories", key: w.key}).body
	}
	before := state()
	for _, era := range []string{eras[0], eras[1]} {
		session := w.open(t, w.key, era)
		for _, tool := range menuNames(op.Full) {
			list := malformed()
			if tool == "create_tag" {
				list = append(list, monstrous()...)
			}
			for _, args := range list {
				r, m := w.rpc(t, rpc{
					key: w.key, era: era, session: session, method: "tools/call", tool: tool,
					params: fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args),
				})
				if fault := answeredBadly(r, m); fault != "" {
					t.Errorf("%s: %s(%.60q): %s: %d %.300s", era, tool, args, fault, r.status, r.body)
				}
			}
		}
		if r, m := w.rpc(t, rpc{
			key: w.key, era: era, session: session, method: "tools/call", tool: "list_tags",
			params: `{"name":"list_tags"}`,
		}); m.Result == nil {
			t.Errorf("%s: after that nothing works: %d %s", era, r.status, r.body)
		}
	}
	if after := state(); after != before {
		t.Errorf("malformed arguments changed something")
	}
	if text := w.log.String(); strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("malformed arguments are logged as our own faults:\n%.2000s", text)
	}
}

// answeredBadly describes what is wrong with the response to a malformed call. The response must be
// an error of the tool or of the protocol, and not an internal error. For a correct response it is
// "".
func answeredBadly(r reply, m message) string {
	if r.status >= http.StatusInternalServerError {
		return "the server failed"
	}
	if m.Result == nil {
		refusals := []int64{
			jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams,
			mcp.CodeHeaderMismatch,
		}
		if m.Error != nil && !slices.Contains(refusals, m.Error.Code) || m.Error == nil &&
			r.status != http.StatusBadRequest {
			return "neither a result nor a refusal"
		}
		return ""
	}
	var res struct {
		IsError bool                    `json:"isError"`
		Content []struct{ Text string } `json:"content"`
	}
	if err := json.Unmarshal(m.Result, &res); err != nil || !res.IsError || len(res.Content) != 1 {
		return "the tool ran"
	}
	var face errs.Face
	if err := json.Unmarshal([]byte(res.Content[0].Text), &face); err != nil ||
		face.Error.Code.Status() >= http.StatusInternalServerError {
		return "not an error of the caller"
	}
	return ""
}

// A body that is too large is refused before it is read.
func TestOversizedCall(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for _, era := range []string{eras[0], eras[1]} {
		session := w.open(t, w.key, era)
		args := `{"name":"import_categories","arguments":{"tsv":"` + strings.Repeat("x", 9<<20) + `"}}`
		r, m := w.rpc(t, rpc{
			key: w.key, era: era, session: session, method: "tools/call", tool: "import_categories",
			params: args,
		})
		if r.status != http.StatusRequestEntityTooLarge || m.Result != nil {
			t.Errorf("%s: %d %.200s", era, r.status, r.body)
		}
	}
}

// TestFailingTool: a tool that panics or fails ends one call and not the process. The response does
// not contain the text of the failure.
func TestFailingTool(t *testing.T) {
	t.Parallel()
	const private = "a secret of the inside"
	tool := func(s *mcp.Server, name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	w := newToolWorld(t, func(s *mcp.Server) {
		tool(s, "panics", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic(private) })
		tool(s, "fails", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New(private)
		})
		tool(s, "headers", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: fmt.Sprint(req.Extra.Header, req.Extra.TokenInfo)},
			}}, nil
		})
	})
	for _, era := range []string{eras[0], eras[1]} {
		session := w.connect(t, w.key, era)
		for _, name := range []string{"panics", "fails"} {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
			e, ok := errors.AsType[*jsonrpc.Error](err)
			if !ok || e.Code != jsonrpc.CodeInternalError || strings.Contains(err.Error(), private) {
				t.Errorf("%s: %s: %v", era, name, err)
			}
		}
		if seen := blockOf(t, callTool(t, session, "headers", nil)); strings.Contains(seen, w.key) {
			t.Errorf("%s: a tool sees the key: %s", era, seen)
		}
	}
	// The value of a panic may contain a secret, so the log contains only the place of the panic.
	if fails, panics := strings.Count(w.log.String(), private), strings.Count(w.log.String(),
		"panic in "); fails != 2 || panics != 2 {
		t.Errorf("of two failures the log has %d, of two panics %d", fails, panics)
	}
	if strings.Contains(w.log.String(), w.key) {
		t.Error("the log has the key")
	}
}
