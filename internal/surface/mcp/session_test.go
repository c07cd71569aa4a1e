package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A sessionHouse serves sessions to callers, whose names are in a header.
type sessionHouse struct {
	*sessionTable
	handler http.Handler
	callers map[string]id.ID
}

func newSessionHouse(perKey, total int) *sessionHouse {
	servers := newServers(func(op.Scope) *mcp.Server { return newServer("1", "", false, nil) })
	h := &sessionHouse{sessionTable: newSessionTable(servers.live), callers: map[string]id.ID{}}
	h.perKey, h.total = perKey, total
	get := func(*http.Request) *mcp.Server { return servers.get(op.Read) }
	inner := h.serve(mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true}))
	h.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r.WithContext(op.WithActor(r.Context(), op.Actor{ID: h.caller(r.Header.Get("Caller"))})))
	})
	return h
}

func (h *sessionHouse) caller(name string) id.ID {
	if _, ok := h.callers[name]; !ok {
		h.callers[name] = id.New()
	}
	return h.callers[name]
}

func (h *sessionHouse) send(ctx context.Context, caller, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Caller", caller)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// start opens n sessions, or stops when one is refused.
func (h *sessionHouse) start(ctx context.Context, caller string, n int) (sessions []string,
	refusal *httptest.ResponseRecorder,
) {
	for range n {
		w := h.send(ctx, caller, "", initialize)
		if w.Code != http.StatusOK {
			return sessions, w
		}
		sessions = append(sessions, w.Header().Get("Mcp-Session-Id"))
	}
	return sessions, nil
}

func (h *sessionHouse) alive(ctx context.Context, caller, session string) bool {
	return h.send(ctx, caller, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).Code == http.StatusOK
}

// A caller that keeps opening sessions uses only its own slots: its longest-idle sessions are
// closed, and other callers keep theirs and can open new ones.
func TestSessionsOfOneCallerLeaveTheOthersTheirs(t *testing.T) {
	t.Parallel()
	h := newSessionHouse(20, 50)
	ctx := t.Context()
	quiet, _ := h.start(ctx, "quiet", 2)
	greedy, refusal := h.start(ctx, "greedy", 60)
	if refusal != nil || len(greedy) != 60 {
		t.Fatalf("the greedy caller was refused after %d: %v", len(greedy), refusal)
	}
	for n, session := range greedy {
		if got, want := h.alive(ctx, "greedy", session), n >= 40; got != want {
			t.Errorf("session %d of the greedy caller: alive %v, want %v", n, got, want)
		}
	}
	for _, session := range quiet {
		if !h.alive(ctx, "quiet", session) {
			t.Error("a session of the quiet caller has ended")
		}
	}
	if _, refusal := h.start(ctx, "other", 5); refusal != nil {
		t.Errorf("another caller: %d %s", refusal.Code, refusal.Body)
	}
}

// Check the test: if callers share all slots, one caller takes them all, and the check above
// notices.
func TestSessionsWithoutBoundPerCallerAreTaken(t *testing.T) {
	t.Parallel()
	h := newSessionHouse(50, 50)
	if _, refusal := h.start(t.Context(), "greedy", 50); refusal != nil {
		t.Fatalf("%d %s", refusal.Code, refusal.Body)
	}
	_, refusal := h.start(t.Context(), "other", 1)
	if refusal == nil || refusal.Code != http.StatusServiceUnavailable || refusal.Header().Get("Retry-After") == "" {
		t.Errorf("another caller got a session although all slots were taken: %v", refusal)
	}
}

// A session with a running request is not closed. A caller whose sessions are all busy gets an
// error.
func TestBusySessionsStay(t *testing.T) {
	t.Parallel()
	h := newSessionHouse(3, 50)
	sessions, _ := h.start(t.Context(), "busy", 3)
	for _, s := range sessions {
		h.begin(s, h.caller("busy"))
	}
	_, refusal := h.start(t.Context(), "busy", 1)
	if refusal == nil || refusal.Code != http.StatusServiceUnavailable ||
		!strings.Contains(refusal.Body.String(), "3 open sessions") {
		t.Fatalf("a fourth session: %v", refusal)
	}
	h.end(sessions[1], h.caller("busy"))
	if _, refusal := h.start(t.Context(), "busy", 1); refusal != nil {
		t.Fatalf("after one became idle: %d %s", refusal.Code, refusal.Body)
	}
	for n, s := range sessions {
		if got, want := h.alive(t.Context(), "busy", s), n != 1; got != want {
			t.Errorf("session %d: alive %v, want %v", n, got, want)
		}
	}
}
