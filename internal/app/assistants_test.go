package app_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// hint is the scope that the challenge of a 401 names.
var hint = regexp.MustCompile(`scope="([^"]*)"`)

// announced returns the scopes that the metadata at a path lists.
func (v *visitor) announced(t *testing.T, path string) string {
	t.Helper()
	var about struct {
		Scopes []string `json:"scopes_supported"`
	}
	r := v.send(t, exchange{method: "GET", path: path})
	if err := json.Unmarshal([]byte(r.body), &about); err != nil {
		t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return strings.Join(about.Scopes, " ")
}

// assistants are the programs of the guides. Each function returns the scope that the program
// requests when it connects. None of them requests more later, after a tool was refused.
var assistants = map[string]func(t *testing.T, v *visitor) string{
	"claude.ai: what the challenge hints": func(t *testing.T, v *visitor) string {
		t.Helper()
		m := hint.FindStringSubmatch(v.tool(t, "", listTools).header.Get("WWW-Authenticate"))
		if m == nil {
			t.Fatal("the challenge hints at no scope")
		}
		return m[1]
	},
	"Claude Code: what the resource's metadata list": func(t *testing.T, v *visitor) string {
		t.Helper()
		return v.announced(t, "/.well-known/oauth-protected-resource/mcp")
	},
	"ChatGPT: all that the server's metadata list": func(t *testing.T, v *visitor) string {
		t.Helper()
		return v.announced(t, "/.well-known/oauth-authorization-server/oauth")
	},
	"Codex: nothing":                  func(*testing.T, *visitor) string { return "" },
	"Cursor: reading, as it once was": func(*testing.T, *visitor) string { return "read" },
}

var radio = regexp.MustCompile(`<input type="radio" name="grant" value="(\w+)"(?: data-choice="\w+")?( checked)?>`)

// TestAssistantsGetWhatTheMemberChooses: whatever scope an assistant requests, the member chooses
// between read and write on the consent page, where read is preselected. The token response states
// the granted scope, and the token allows that and no more.
func TestAssistantsGetWhatTheMemberChooses(t *testing.T) {
	t.Parallel()
	v := published(t)
	for name, asks := range assistants {
		for _, choice := range []string{"", "read", "write"} {
			c := newClient(t, v)
			ask := c.asks(v, asks(t, v))
			if ask.Get("scope") == "" {
				ask.Del("scope")
			}
			r, _ := v.do(t, "GET", "/oauth/authorize?"+ask.Encode(), nil)
			offered := radio.FindAllStringSubmatch(r.body, -1)
			if len(offered) != 2 || offered[0][1] != "read" || offered[0][2] == "" || offered[1][1] != "write" ||
				offered[1][2] != "" {
				t.Errorf("%s is offered %q", name, offered)
			}
			form := url.Values{"decision": {"allow"}, "grant": {choice}}
			if choice == "" { // the preselected choice
				form.Set("grant", "read")
			}
			for _, m := range hidden.FindAllStringSubmatch(r.body, -1) {
				form.Set(m[1], html.UnescapeString(m[2]))
			}
			r, to := v.do(t, "POST", "/oauth/authorize", form)
			if r.status != http.StatusSeeOther {
				t.Fatalf("%s, %s: %d %s", name, choice, r.status, r.body)
			}
			_, g := v.fetch(t, c.redemption(answerOf(t, to).Get("code")))
			scope, status := "read", http.StatusForbidden
			if choice == "write" {
				scope, status = "read write", http.StatusOK
			}
			if g.Scope != scope {
				t.Errorf("%s was granted %q by %q", name, g.Scope, choice)
			}
			if r := v.tool(t, g.Access, createTag); r.status != status {
				t.Errorf("%s, granted %q, writes: %d %s", name, g.Scope, r.status, r.body)
			}
			_, g = v.fetch(t, c.renewal(g.Refresh)) // an hour later
			if r := v.tool(t, g.Access, createTag); g.Scope != scope || r.status != status {
				t.Errorf("%s, renewed to %q, writes: %d %s", name, g.Scope, r.status, r.body)
			}
		}
	}
}
