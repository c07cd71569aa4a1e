package mcp

import (
	"net/http"
	"testing"
)

func TestIsModern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, method, session string
		want                     bool
	}{
		{"2026-07-28", "tools/list", "", true},
		{"2026-07-28", "", "stale", true},          // a stale session id is ignored
		{"2027-01-01", "tools/list", "", true},     // unknown: the response lists the supported revisions
		{"not a date", "tools/list", "", true},     // likewise
		{"", "tools/list", "", true},               // the version is missing, and the response says so
		{"", "", "", false},                        // initialize, or the oldest clients
		{"", "initialize", "", false},              // initialize of a client that knows both eras
		{"2025-11-25", "initialize", "", false},    // the same, with its version
		{"", "tools/list", "abc", false},           // 2025-03-26 has no version header
		{"2025-11-25", "tools/list", "abc", false}, // within a session
	} {
		h := http.Header{}
		for k, v := range map[string]string{
			"MCP-Protocol-Version": c.version, "Mcp-Method": c.method,
			"Mcp-Session-Id": c.session,
		} {
			if v != "" {
				h.Set(k, v)
			}
		}
		if got := isModern(h); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
