package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/op"
	"golang.org/x/time/rate"
)

// Limits bound what one caller may ask of one process. Zero values are the contract's.
type Limits struct {
	PerMinute         int // requests of one key; 0 means 3,000
	Burst             int // of these at once; 0 means 300
	FailuresPerMinute int // failed authentications from one address; 0 means 20
}

func (l *Limits) fill() {
	if l.PerMinute == 0 {
		l.PerMinute = 3000
	}
	if l.Burst == 0 {
		l.Burst = 300
	}
	if l.FailuresPerMinute == 0 {
		l.FailuresPerMinute = 20
	}
}

// A gate stands before every route: size first, then who is calling, then how often, then whether they may.
type gate struct {
	server   *Server
	limits   Limits
	foreign  *http.CrossOriginProtection
	keys     buckets
	failures buckets
}

func newGate(s *Server) (*gate, error) {
	l := s.Limits
	l.fill()
	foreign := http.NewCrossOriginProtection()
	if s.Origin != "" {
		if err := foreign.AddTrustedOrigin(s.Origin); err != nil {
			return nil, fmt.Errorf("COFFER_PUBLIC_URL: %w", err)
		}
	}
	return &gate{
		server: s, limits: l, foreign: foreign,
		keys:     buckets{every: time.Minute / time.Duration(l.PerMinute), burst: l.Burst},
		failures: buckets{every: time.Minute / time.Duration(l.FailuresPerMinute), burst: l.FailuresPerMinute},
	}, nil
}

// A demand is what a route asks of a request before it is read.
type demand struct {
	scope    op.Scope
	limit    int64                // of the body
	agents   bool                 // the key may come as a bearer token, and a session is no way in
	tokens   bool                 // access tokens are the only way in
	resource string               // what an access token must have been made for
	may      func(op.Actor) error // whether the one who calls may
}

// enter admits a request or says why not. An open route admits everyone; a key that is sent there is not looked at.
func (g *gate) enter(w http.ResponseWriter, r *http.Request, d demand) (op.Actor, error) {
	if r.ContentLength > d.limit {
		return op.Actor{}, tooLarge(d.limit)
	}
	if d.scope == op.Open {
		return op.Actor{}, nil
	}
	actor, err := g.who(r, d)
	if err != nil {
		if e := errs.Public(err, ""); e.Kind() == errs.KindUnauthenticated && !g.failures.take(auth.Network(address(r))) {
			return op.Actor{}, errs.New(errs.RateLimited, "too many failed authentications from this address; wait a minute, and check the key").Later(time.Minute)
		}
		return op.Actor{}, err
	}
	if err := g.pace(w, actor); err != nil {
		return op.Actor{}, err
	}
	return actor, d.may(actor)
}

// who says who calls: by the key, where none is sent by the access token, and else by the session. One that is no good is no reason to look further.
// A browser sends the session along with whatever page asks it to, so what changes something must come from a page of ours.
func (g *gate) who(r *http.Request, d demand) (op.Actor, error) {
	key := r.Header.Get("X-API-Key")
	token := bearer(r)
	if d.agents && key == "" {
		key = token
	}
	session, err := r.Cookie(auth.SessionCookie)
	switch {
	case d.tokens, key == "" && token != "" && g.server.Token != nil:
		return g.server.Token(r.Context(), token, d.resource)
	case key != "", d.agents, err != nil, g.server.Session == nil:
		return g.server.Key(r.Context(), key)
	}
	if err := g.foreign.Check(r); err != nil {
		return op.Actor{}, errs.Wrap(err, errs.Forbidden, "requests from pages of another site are refused")
	}
	return g.server.Session(r.Context(), session.Value)
}

// addressed refuses requests that a foreign web page made a browser send: those with another site's Origin, and those to a host name that is not ours (DNS rebinding).
// An address in numbers cannot be rebound, so it passes as a host.
func (g *gate) addressed(r *http.Request) error {
	if name := hostname(r.Host); net.ParseIP(name) == nil && !g.ours(name) {
		return errs.New(errs.Forbidden, "this server does not answer here under that host name; its operator allows one with COFFER_PUBLIC_URL")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Host != r.Host && !g.ours(u.Hostname()) {
			return errs.New(errs.Forbidden, "requests from pages of another site are refused")
		}
	}
	return nil
}

func (g *gate) ours(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback() || g.server.Host != "" && name == g.server.Host
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.Trim(host, "[]")
}

// bearer is the bearer token of a request, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (g *gate) pace(w http.ResponseWriter, a op.Actor) error {
	b := g.keys.of(a.ID.String())
	ok := b.Allow()
	left := max(int(b.Tokens()), 0)
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=60`, g.limits.PerMinute))
	w.Header().Set("RateLimit", fmt.Sprintf(`"key";r=%d;t=1`, left))
	if ok {
		return nil
	}
	w.Header().Set("Retry-After", "1")
	return errs.New(errs.RateLimited, "this key may make %d requests a minute, %d at once; wait a second and go on more slowly", g.limits.PerMinute, g.limits.Burst)
}

func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

const manyBuckets = 10_000

// buckets are one token bucket per name, kept in memory: they bound bursts on one process and decide nothing else.
type buckets struct {
	every time.Duration
	burst int
	mu    sync.Mutex
	all   map[string]*rate.Limiter
}

func (b *buckets) of(name string) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.all[name]; ok {
		return l
	}
	if b.all == nil || len(b.all) >= manyBuckets {
		b.all = b.busy()
	}
	l := rate.NewLimiter(rate.Every(b.every), b.burst)
	b.all[name] = l
	return l
}

// busy are the buckets that are not full again. When a flood of addresses keeps all of them busy they are dropped: memory stays bounded, and the flood starts anew.
func (b *buckets) busy() map[string]*rate.Limiter {
	kept := map[string]*rate.Limiter{}
	for name, l := range b.all {
		if l.Tokens() < float64(b.burst) {
			kept[name] = l
		}
	}
	if len(kept) >= manyBuckets {
		clear(kept)
	}
	return kept
}

func (b *buckets) take(name string) bool { return b.of(name).Allow() }
