package app_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

const (
	killCreates = 1000
	// Each create is sent this often at the same time, with one Idempotency-Key.
	killSends   = 3
	killKills   = 20
	killWorkers = 20 // concurrent creates
)

// A killLoad sends creates and counts what happens to them.
type killLoad struct {
	client *http.Client
	url    string
	key    string

	life    atomic.Int64 // how many times the server was killed
	written atomic.Int64 // requests that were sent completely and have no response yet
	// How many of these requests never got a response, by the life of the server that received
	// them.
	cut       [killKills + 1]atomic.Int64
	refused   atomic.Int64               // attempts that found no server
	running   atomic.Int64               // responses with IDEMPOTENCY_IN_PROGRESS
	busy      atomic.Int64               // responses with 503 and 429
	completed chan struct{}              // one for each create that has all its responses
	answers   [killCreates][]hammerReply // by create, one for each sender
}

// A killConn remembers which life of the server it connects to.
type killConn struct {
	net.Conn
	life int64
}

func newKillLoad(t *testing.T, server *apptest.Server, key string) *killLoad {
	t.Helper()
	l := &killLoad{client: hammerClient(t), url: server.URL(), key: key, completed: make(chan struct{}, killCreates)}
	l.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn,
		error,
	) {
		life := l.life.Load() // the counter changes after one process ends and before the next starts
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &killConn{c, life}, err
	}
	return l
}

// attempt makes one request and notices whether the server died while the request was running.
func (l *killLoad) attempt(ctx context.Context, body, idempotency string) (hammerReply, error) {
	const (
		fresh = iota
		sent
		over
	)
	var state, life atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { life.Store(info.Conn.(*killConn).life) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil && state.CompareAndSwap(fresh, sent) { // the response can arrive before this hook runs
				l.written.Add(1)
			}
		},
	})
	var headers []string
	if idempotency != "" {
		headers = []string{"Idempotency-Key", idempotency}
	}
	r, err := hammerSend(ctx, l.client, http.MethodPost, l.url+"/tags", l.key, body, headers...)
	switch was := state.Swap(over); {
	case was == sent:
		l.written.Add(-1)
		if err != nil {
			l.cut[life.Load()].Add(1)
		}
	case err != nil:
		l.refused.Add(1)
	}
	return r, err
}

// send repeats a request until it gets a final response.
func (l *killLoad) send(ctx context.Context, body, idempotency string) (hammerReply, error) {
	for {
		r, err := l.attempt(ctx, body, idempotency)
		switch {
		case ctx.Err() != nil:
			return r, fmt.Errorf("gave up: last answer %d %s: %w", r.Status, r.Body, errors.Join(ctx.Err(), err))
		case err != nil:
		case r.Status == http.StatusConflict && r.Code() == "IDEMPOTENCY_IN_PROGRESS":
			l.running.Add(1)
		case r.Status == http.StatusServiceUnavailable, r.Status == http.StatusTooManyRequests:
			l.busy.Add(1)
		default:
			return r, nil
		}
		hammerPause(ctx, 20*time.Millisecond)
	}
}

// create sends one create several times at once and keeps all responses.
func (l *killLoad) create(ctx context.Context, n int) error {
	slug := fmt.Sprintf("kill-%04d", n)
	body := fmt.Sprintf(`{"slug":%q,"name":"Kill %d","description":%q}`, slug, n, strings.Repeat("x", rand.N(900)))
	replies, failures := make([]hammerReply, killSends), make([]error, killSends)
	var group sync.WaitGroup
	for i := range killSends {
		group.Go(func() { replies[i], failures[i] = l.send(ctx, body, "once-"+slug) })
	}
	group.Wait()
	l.answers[n] = replies
	return errors.Join(failures...)
}

// run makes all creates, several at a time, and closes completed at the end.
func (l *killLoad) run(ctx context.Context, t *testing.T) {
	t.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range killWorkers {
		group.Go(func() {
			for n := next.Add(1) - 1; n < killCreates; n = next.Add(1) - 1 {
				if err := l.create(ctx, int(n)); err != nil {
					t.Errorf("create %d: %v", n, err)
					return
				}
				l.completed <- struct{}{}
			}
		})
	}
	group.Wait()
	close(l.completed)
}

// killAlong kills the server again and again, spread over the run by the number of completed
// creates. It returns how many requests were running each time.
func (l *killLoad) killAlong(ctx context.Context, t *testing.T, s *apptest.Server) []int64 {
	t.Helper()
	var inFlight []int64
	done, step := 0, killCreates/(killKills+1)
	for k := range killKills {
		for at := k*step + step/2 + rand.N(step); done < at; done++ {
			if _, more := <-l.completed; !more {
				return inFlight
			}
		}
		for deadline := time.Now().Add(10 * time.Second); l.written.Load() < killWorkers/2 &&
			time.Now().Before(deadline); {
			hammerPause(ctx, 100*time.Microsecond)
		}
		// Wait a different time before each kill, because the time until a request has an effect
		// depends on the machine.
		hammerPause(ctx, time.Duration(2+5*(k%10))*time.Millisecond)
		n := l.written.Load()
		if err := s.Kill(); err != nil {
			t.Error(err)
			return inFlight
		}
		l.life.Add(1)
		inFlight = append(inFlight, n)
		if err := s.Again(ctx); err != nil {
			t.Error(err)
			return inFlight
		}
	}
	return inFlight
}

// TestKillCreatesOnce sends 1,000 creates, each three times at once with one Idempotency-Key, while
// the test kills the server twenty times. Every create must happen exactly once, and all three
// senders must get the same response.
func TestKillCreatesOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	direct := newHammerServer(t, database) // creates the key, and later reads the database
	key, _ := hammerKey(t, direct.App, "kill")
	server := apptest.Start(t, apptest.Program(t), database)
	ctx, cancel := context.WithTimeout(t.Context(), hammerPatience)
	defer cancel()
	load := newKillLoad(t, server, key)
	start := time.Now()
	var running sync.WaitGroup
	running.Go(func() { load.run(ctx, t) })
	inFlight := load.killAlong(ctx, t, server)
	if len(inFlight) < killKills {
		cancel() // the server may be gone; stop all waiting requests
	}
	running.Wait()
	took := time.Since(start)

	if len(inFlight) != killKills {
		t.Fatalf("%d kills, want %d", len(inFlight), killKills)
	}
	var cut []int64
	for i, n := range inFlight {
		cut = append(cut, load.cut[i].Load())
		if n == 0 || cut[i] == 0 {
			t.Errorf("kill %d: %d requests were under way and %d lost their answer; it has to hit some", i+1, n, cut[i])
		}
	}
	replayed, recovered := load.check(t, direct.App.DB)
	// Chance decides whether a kill hits the moment between the effect and the response. The log
	// has the number.
	if replayed == 0 {
		t.Error("no answer was a stored one")
	}
	server.Stop(t)
	if text := server.Log(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "panic") {
		t.Error("the server's log has errors")
	}
	t.Logf("%d creates × %d in %.1f s; %d kills with in flight %v, of which cut %v; %d attempts found no server, %d "+
		"in progress, %d 503 or 429; %d stored answers, %d creates whose first answer was lost; starts %v … %v",
		killCreates, killSends, took.Seconds(), len(inFlight), inFlight, cut, load.refused.Load(), load.running.Load(),
		load.busy.Load(),
		replayed, recovered, slices.Min(server.Starting).Round(time.Millisecond),
		slices.Max(server.Starting).Round(time.Millisecond))
}

// check compares the senders' responses with each other and with the database. replayed is the
// number of stored responses. recovered is the number of creates whose first response nobody
// received, because a kill lost it.
func (l *killLoad) check(t *testing.T, db *pg.DB) (replayed, recovered int) {
	t.Helper()
	type row struct {
		ID   string `db:"id"`
		Slug string `db:"slug"`
	}
	rows, err := pg.All[row](t.Context(), db, `select id::text as id, slug from tag where slug like 'kill-%'
		order by slug`)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]string{}
	for _, r := range rows {
		stored[r.Slug] = r.ID
	}
	if len(rows) != killCreates || len(stored) != killCreates {
		t.Errorf("%d rows with %d slugs, want %d", len(rows), len(stored), killCreates)
	}
	kept, err := pg.Value[int](t.Context(), db, `select count(*) from idempotency`)
	if err != nil || kept != killCreates {
		t.Errorf("%d stored answers (%v), want %d", kept, err, killCreates)
	}
	for n, replies := range &l.answers {
		slug, firsts := fmt.Sprintf("kill-%04d", n), 0
		for _, r := range replies {
			if r.Status != http.StatusCreated || r.Body != replies[0].Body ||
				r.Header.Get("ETag") != replies[0].Header.Get("ETag") || r.Field("id") != stored[slug] ||
				r.Field("slug") != slug {
				t.Errorf("%s (row %s): %d %s\nanother: %d %s", slug, stored[slug], r.Status, r.Body, replies[0].Status,
					replies[0].Body)
			}
			if r.Replayed() {
				replayed++
			} else {
				firsts++
			}
		}
		if len(replies) != killSends || firsts > 1 {
			t.Errorf("%s: %d answers of %d senders, %d of them claim to be the first", slug, len(replies), killSends,
				firsts)
		}
		if firsts == 0 {
			recovered++
		}
	}
	return replayed, recovered
}

// TestKillControl sends the same load without an Idempotency-Key. Of three creates of one tag, two
// are refused. Three creates of an API key create three keys.
func TestKillControl(t *testing.T) {
	t.Parallel()
	const creates = 30
	s := newHammerServer(t, pgtest.URL(t))
	key, _ := hammerKey(t, s.App, "control")
	client := hammerClient(t)
	thrice := func(path, body string) []hammerReply {
		replies := make([]hammerReply, killSends)
		var group sync.WaitGroup
		for i := range replies {
			group.Go(func() {
				var err error
				if replies[i], err = hammerSend(t.Context(), client, http.MethodPost, s.URL+path, key,
					body); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		return replies
	}
	var made, conflicts int
	keys := map[string]bool{}
	for n := range creates {
		for _, r := range thrice("/tags", fmt.Sprintf(`{"slug":"control-%d"}`, n)) {
			switch {
			case r.Status == http.StatusCreated:
				made++
			case r.Status == http.StatusConflict && r.Code() == "SLUG_CONFLICT":
				conflicts++
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		}
	}
	for _, r := range thrice("/api-keys", `{"name":"thrice","scope":"read_only"}`) {
		keys[r.Field("id")] = true
	}
	if made != creates || conflicts != creates*(killSends-1) || len(keys) != killSends {
		t.Errorf("%d made, %d refused, %d keys; want %d, %d, %d", made, conflicts, len(keys), creates,
			creates*(killSends-1), killSends)
	}
}
