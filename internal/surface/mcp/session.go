package mcp

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	sessionTimeout = 30 * time.Minute
	maxSessions    = 1000 // of all callers together; each costs some 7 KB while idle
	sessionsPerKey = 20   // of one caller, so that none can take the slots of others
)

// A sessionTable records the owners of open sessions of the older revisions. The SDK knows which
// ones are open; the table knows who opened each and when it was last used.
type sessionTable struct {
	live   func() map[string]*mcp.ServerSession // the open sessions, by id
	perKey int
	total  int
	now    func() time.Time

	mu      sync.Mutex
	open    map[string]*session
	opening map[id.ID]int // requests that are about to open a session, by caller
}

// A session is a session that a caller opened.
type session struct {
	owner id.ID
	used  time.Time // when a request in it last began or ended
	busy  int       // POST requests running in it
}

func newSessionTable(live func() map[string]*mcp.ServerSession) *sessionTable {
	return &sessionTable{
		live: live, perKey: sessionsPerKey, total: maxSessions, now: time.Now,
		open: map[string]*session{}, opening: map[id.ID]int{},
	}
}

// serve passes a request to the SDK's handler. A request that opens a session needs a free slot. A
// caller that has used all of its slots loses its own longest-idle session, never another caller's.
func (t *sessionTable) serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner := op.ActorOf(r.Context()).ID
		if name := r.Header.Get("Mcp-Session-Id"); name != "" {
			if r.Method == http.MethodPost { // an open event stream alone does not make a session busy
				t.begin(name, owner)
				defer t.end(name, owner)
			}
			next.ServeHTTP(w, r)
			return
		}
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		oldest, refusal := t.reserve(owner)
		if refusal != "" {
			w.Header().Set("Retry-After", "60")
			http.Error(w, refusal, http.StatusServiceUnavailable)
			return
		}
		if oldest != nil {
			_ = oldest.Close() // idle: there is nothing to wait for
		}
		defer func() { t.opened(owner, w.Header().Get("Mcp-Session-Id")) }()
		next.ServeHTTP(w, r)
	})
}

func (t *sessionTable) begin(name string, owner id.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.open[name]; s != nil && s.owner == owner {
		s.busy++
		s.used = t.now()
	}
}

func (t *sessionTable) end(name string, owner id.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.open[name]; s != nil && s.owner == owner && s.busy > 0 {
		s.busy--
		s.used = t.now()
	}
}

// reserve takes a slot for a session that the caller is about to open. It returns the session to
// close for it, if any, or an error text if there is no slot.
func (t *sessionTable) reserve(owner id.ID) (givesWay *mcp.ServerSession, refusal string) {
	live := t.live()
	t.mu.Lock()
	defer t.mu.Unlock()
	all, own, oldest := 0, t.opening[owner], ""
	for _, n := range t.opening {
		all += n
	}
	for name, s := range t.open {
		if live[name] == nil {
			delete(t.open, name)
			continue
		}
		all++
		if s.owner != owner {
			continue
		}
		own++
		if s.busy == 0 && (oldest == "" || s.used.Before(t.open[oldest].used)) {
			oldest = name
		}
	}
	switch {
	case own < t.perKey && all >= t.total:
		return nil, fmt.Sprintf("the server has reached its limit of %d open sessions; try again in a minute", all)
	case own >= t.perKey && oldest == "":
		return nil, fmt.Sprintf("this key has %d open sessions and all are in use; close one (DELETE with its "+
			"Mcp-Session-Id), or try again in a minute", own)
	case own >= t.perKey:
		givesWay = live[oldest]
		delete(t.open, oldest)
	}
	t.opening[owner]++
	return givesWay, ""
}

// opened ends a reservation. The name is empty if no session was opened.
func (t *sessionTable) opened(owner id.ID, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.opening[owner]--; t.opening[owner] == 0 {
		delete(t.opening, owner)
	}
	if name != "" {
		t.open[name] = &session{owner: owner, used: t.now()}
	}
}

// servers holds a handler's servers by scope. Each is created when the first request needs it,
// because most households have no assistant.
type servers struct {
	make func(op.Scope) *mcp.Server
	mu   sync.Mutex
	made map[op.Scope]*mcp.Server
}

func newServers(create func(op.Scope) *mcp.Server) *servers {
	return &servers{make: create, made: map[op.Scope]*mcp.Server{}}
}

// get returns the server of a scope, or nil if the scope has none.
func (s *servers) get(scope op.Scope) *mcp.Server {
	if scope != op.Read && scope != op.Full {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[scope] == nil {
		s.made[scope] = s.make(scope)
	}
	return s.made[scope]
}

// live lists the open sessions by id.
func (s *servers) live() map[string]*mcp.ServerSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := map[string]*mcp.ServerSession{}
	for _, one := range s.made {
		for session := range one.Sessions() {
			live[session.ID()] = session
		}
	}
	return live
}
