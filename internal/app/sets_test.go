package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/op"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// listed returns the tools that a key sees at an address, and the size of their list in bytes.
func listed(t *testing.T, w *toolWorld, key, address string, header http.Header) (tools []*sdk.Tool, size int) {
	t.Helper()
	session := connectThrough(t, modernEra, &sdk.StreamableClientTransport{
		Endpoint: w.url + address, HTTPClient: &http.Client{Transport: withHeader{key, header}}, MaxRetries: -1,
	})
	res, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := json.Marshal(res.Tools)
	if err != nil {
		t.Fatal(err)
	}
	return res.Tools, len(printed)
}

type withHeader struct {
	key    string
	header http.Header
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, h.header)
	return withKey{key: h.key}.RoundTrip(r)
}

// coreTools are the tools of the set "core".
var coreTools = strings.Fields(`
	get_overview get_finances find_patterns query_transactions get_transaction transaction_summary
	list_review_groups update_transactions suggest_rule preview_rule create_transaction_rule
	find_matching_rules apply_rules list_account_links list_changes revert_change submit_report
	get_reference get_job`)

// A model reads the list of tools with every request, so its size is bounded for each set of tools.
func TestToolSets(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	names := func(tools []*sdk.Tool) []string {
		var out []string
		for _, tool := range tools {
			out = append(out, tool.Name)
		}
		slices.Sort(out)
		return out
	}
	core := slices.Sorted(slices.Values(coreTools))
	for _, c := range []struct {
		what, key, address string
		header             http.Header
		want               []string
		most               int
	}{
		{"all", w.key, "/mcp/key", nil, menuNames(op.Full), 38_000},
		{"read-only", w.reader, "/mcp/key", nil, menuNames(op.Read), 20_000},
		{"core", w.key, "/mcp/key?tools=core", nil, core, 20_000},
		{"core by header", w.key, "/mcp/key", http.Header{"X-Mcp-Toolsets": {"core"}}, core, 20_000},
		{"two", w.key, "/mcp/key?tools=list_users,get_job", nil, []string{"get_job", "list_users"}, 2_000},
		{"with schemas", w.key, "/mcp/key?schemas=1", nil, menuNames(op.Full), 1 << 20},
	} {
		tools, size := listed(t, w, c.key, c.address, c.header)
		t.Logf("%-15s %2d tools, %6d bytes", c.what, len(tools), size)
		if got := names(tools); !slices.Equal(got, c.want) {
			t.Errorf("%s: the tools are %v, want %v", c.what, got, c.want)
		}
		if size > c.most {
			t.Errorf("%s: %d bytes, want at most %d", c.what, size, c.most)
		}
		schemas := slices.ContainsFunc(tools, func(tool *sdk.Tool) bool { return tool.OutputSchema != nil })
		if want := strings.Contains(c.address, "schemas"); schemas != want {
			t.Errorf("%s: output schemas: %v, want %v", c.what, schemas, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/mcp/key?tools=make_coffee",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := withKey{key: w.key}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read from
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("a set that does not exist: status %d, want 400", res.StatusCode)
	}
}

// TestToolsOutsideTheSet: a model that calls a tool outside its key's scope or its set gets a tool
// result that says why it failed.
func TestToolsOutsideTheSet(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	tag := map[string]any{"slug": "trip", "display_name": "Trip"}
	reading := w.connect(t, w.reader, modernEra)
	if res := callTool(t, reading, "create_tag", tag); !res.IsError || !strings.Contains(blockOf(t, res), "is read_only") {
		t.Errorf("a read-only key: %s", blockOf(t, res))
	}
	narrow := connectThrough(t, modernEra, &sdk.StreamableClientTransport{
		Endpoint: w.url + "/mcp/key?tools=core", HTTPClient: &http.Client{Transport: withKey{key: w.key}}, MaxRetries: -1,
	})
	if res := callTool(t, narrow, "create_tag", tag); !res.IsError || !strings.Contains(blockOf(t, res), "tools=all") {
		t.Errorf("outside the set: %s", blockOf(t, res))
	}
	if res := callTool(t, narrow, "get_overview", nil); res.IsError {
		t.Errorf("in the set: %s", blockOf(t, res))
	}
}
