package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

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
	keys     buckets
	failures buckets
}

func newGate(s *Server) *gate {
	l := s.Limits
	l.fill()
	return &gate{
		server: s, limits: l,
		keys:     buckets{every: time.Minute / time.Duration(l.PerMinute), burst: l.Burst},
		failures: buckets{every: time.Minute / time.Duration(l.FailuresPerMinute), burst: l.FailuresPerMinute},
	}
}

// enter admits a request or says why not. An open route admits everyone; a key that is sent there is not looked at.
func (g *gate) enter(w http.ResponseWriter, r *http.Request, need op.Scope, limit int64, bearer bool) (op.Actor, error) {
	if r.ContentLength > limit {
		return op.Actor{}, tooLarge(limit)
	}
	if need == op.Open {
		return op.Actor{}, nil
	}
	actor, err := g.server.Key(r.Context(), presented(r, bearer))
	if err != nil {
		if e := errs.Public(err, ""); e.Kind() == errs.KindUnauthenticated && !g.failures.take(address(r)) {
			w.Header().Set("Retry-After", "60")
			return op.Actor{}, errs.New(errs.RateLimited, "too many failed authentications from this address; wait a minute, and check the key")
		}
		return op.Actor{}, err
	}
	if err := g.pace(w, actor); err != nil {
		return op.Actor{}, err
	}
	return actor, op.Allowed(need, actor)
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

func presented(r *http.Request, bearer bool) string {
	if k := r.Header.Get("X-API-Key"); k != "" || !bearer {
		return k
	}
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
