package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"golang.org/x/time/rate"
)

// Limits are the limits of one caller in one process. Zero values mean the defaults of the API.
type Limits struct {
	PerMinute         int // requests of one key; 0 means 3,000
	Burst             int // requests of one key at the same moment; 0 means 300
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

// A gate checks every request before its route: first the size, then the caller, then the rate,
// then the permission.
type gate struct {
	server   *Server
	limits   Limits
	foreign  *http.CrossOriginProtection
	keys     buckets
	failures buckets
	bodies   *op.Share // bytes of large bodies
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
	if s.Bodies == nil {
		s.Bodies = bodyShare()
	}
	return &gate{
		server: s, limits: l, foreign: foreign, bodies: s.Bodies,
		keys:     buckets{every: time.Minute / time.Duration(l.PerMinute), burst: l.Burst},
		failures: buckets{every: time.Minute / time.Duration(l.FailuresPerMinute), burst: l.FailuresPerMinute},
	}, nil
}

// A demand lists a route's requirements for a request before it is read.
type demand struct {
	scope    op.Scope
	limit    int64                // of the body
	agents   bool                 // the key may be a bearer token, and sessions do not count
	tokens   bool                 // only access tokens are accepted
	resource string               // the resource that an access token must have been issued for
	may      func(op.Actor) error // whether the caller has permission
}

// enter admits a request or returns an error. An open route admits everyone and ignores a key.
func (g *gate) enter(w http.ResponseWriter, r *http.Request, d demand) (op.Actor, error) {
	if r.ContentLength > d.limit {
		return op.Actor{}, tooLarge(d.limit)
	}
	if d.scope == op.Open {
		return op.Actor{}, nil
	}
	actor, err := g.authenticate(r, d)
	if err != nil {
		if e := errs.Public(err, ""); e.Kind() == errs.KindUnauthenticated &&
			!g.failures.take(auth.Network(address(r))) {
			return op.Actor{}, errs.New(errs.RateLimited,
				"too many failed authentications from this address; check the key and try again in a minute").
				Later(time.Minute).Limited("failures", g.limits.FailuresPerMinute, time.Minute)
		}
		return op.Actor{}, err
	}
	if err := g.pace(w, actor); err != nil {
		return op.Actor{}, err
	}
	if err := expected(r, actor); err != nil {
		return op.Actor{}, err
	}
	return actor, d.may(actor)
}

// memberHeader is the request header with the id of the member for whom the request is meant.
const memberHeader = "Coffer-Member"

// expected rejects a request that is meant for another member. On a shared device, somebody else
// may sign in while a page still sends what the previous member entered.
func expected(r *http.Request, a op.Actor) error {
	want := r.Header.Get(memberHeader)
	if want == "" || a.Member != nil && a.Member.String() == want {
		return nil
	}
	return errs.New(errs.Conflict, "this request is for a different member than the one who is signed in; sign in as "+
		"the member in %s", memberHeader)
}

// authenticate identifies the caller by API key, else access token, else session. An invalid
// credential is an error; it never falls back to the next one. A browser sends the session with any
// page's request, so a request that changes something must come from one of our own pages.
func (g *gate) authenticate(r *http.Request, d demand) (op.Actor, error) {
	key := r.Header.Get("X-API-Key")
	token := bearer(r)
	if d.agents && key == "" {
		key = token
	}
	session, signedIn := auth.SessionIn(r)
	switch {
	case d.tokens, key == "" && token != "" && g.server.Token != nil:
		return g.server.Token(r.Context(), token, d.resource)
	case key != "", d.agents, !signedIn, g.server.Session == nil:
		return g.server.Key(r.Context(), key)
	}
	if err := g.foreign.Check(r); err != nil {
		return op.Actor{}, errs.Wrap(err, errs.Forbidden, "requests from pages of other sites are not allowed")
	}
	return g.server.Session(r.Context(), session)
}

// addressed rejects requests that a foreign web page made a browser send: those with another site's
// Origin, and those to a host name that is not ours (DNS rebinding). A numeric address cannot be
// rebound, so it is accepted as a host.
func (g *gate) addressed(r *http.Request) error {
	if name := hostname(r.Host); net.ParseIP(name) == nil && !g.ours(name) {
		return errs.New(errs.Forbidden,
			"this host name is not allowed; set the server's own host name in COFFER_PUBLIC_URL")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Host != r.Host && !g.ours(u.Hostname()) {
			return errs.New(errs.Forbidden, "requests from pages of other sites are not allowed")
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

// bearer returns the bearer token of a request, or "".
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
	return errs.New(errs.RateLimited,
		"too many requests: this key is limited to %d per minute and %d at once; wait a second and slow down",
		g.limits.PerMinute,
		g.limits.Burst)
}

func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

const manyBuckets = 10_000

// buckets holds one token bucket per name in memory. They only limit bursts in one process.
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

// busy returns the buckets that are not full. If a flood of addresses keeps all of them busy, they
// are dropped: memory stays bounded, and counting starts again.
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
