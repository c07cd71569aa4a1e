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
	killSends   = 3 // of each create, at the same time, with one Idempotency-Key
	killKills   = 20
	killWorkers = 20 // creates under way at the same time
)

// A killLoad sends creates and counts what happens to them.
type killLoad struct {
	client *http.Client
	url    string
	key    string

	life    atomic.Int64 // how many times the server was killed
	written atomic.Int64 // requests that were sent whole and have no answer yet
	// of these, by the life of the server that got them, those whose answer never came
	cut       [killKills + 1]atomic.Int64
	refused   atomic.Int64               // attempts that found no server
	running   atomic.Int64               // responses with IDEMPOTENCY_IN_PROGRESS
	busy      atomic.Int64               // responses with 503 and 429
	completed chan struct{}              // one for each create that has all its responses
	answers   [killCreates][]hammerReply // by create, one for each sender
}

// A killConn knows to which life of the server it leads.
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
		life := l.life.Load() // counted between the end of one process and the start of the next
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &killConn{c, life}, err
	}
	return l
}

// attempt makes one request and watches whether it was under way when the server died.
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
			if info.Err == nil && state.CompareAndSwap(fresh, sent) { // the answer can be there before the hook runs
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

// send repeats a request until it gets an answer that is one.
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

// run makes all creates, some at a time, and closes completed when no more will come.
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
		// Another moment of theirs each time, because how soon the effect is there depends on the machine.
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
// the server is killed twenty times. Every create must happen once, and all who asked for it must
// get the same answer.
func TestKillCreatesOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	direct := newHammerServer(t, database) // makes the key, and looks at the database afterwards
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
		cancel() // the server may be gone: nobody needs to ask it any longer
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
	// Whether a kill hits the moment between effect and answer is chance; how many did is in the log.
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

// check compares the responses that the senders got with each other and with the database. It
// returns how many of them were stored ones, and how many creates nobody saw run, because a kill
// lost the first response.
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

// TestKillControl is the same load without a key: of three who ask for one tag two are refused, and
// three who ask for an API key make three.
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
