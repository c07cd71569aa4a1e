package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/seal"
)

const (
	hammerWriters    = 64
	hammerIncrements = 20
	// Every retry loop ends after this time. The tests need a small part of it.
	hammerPatience = 4 * time.Minute
)

// A hammerServer is one replica of the service with a real HTTP server.
type hammerServer struct {
	App *app.App
	URL string // with the prefix of the API
}

// newHammerServer builds a replica on that database. Its rate limits are very high, because these
// tests are about correctness and not about limits.
func newHammerServer(t *testing.T, database string) hammerServer {
	t.Helper()
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(database), DatabaseMaxConns: 8, RatePerMinute: 10_000_000, RateBurst: 1_000_000,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return hammerServer{a, server.URL + "/api/v1"}
}

// hammerKey creates a full-access API key and returns its text and the id of its actor.
func hammerKey(t *testing.T, a *app.App, name string) (key, actor string) {
	t.Helper()
	err := a.DB.InTx(t.Context(), func(tx pg.Tx) error {
		k, err := a.Auth.Create(t.Context(), tx, auth.CreateKey{Name: name, Scope: "full_access", ActorType: "user"})
		key, actor = k.Secret, k.ID.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, actor
}

// hammerClient keeps as many connections alive as there are writers.
func hammerClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConns: 4 * hammerWriters, MaxIdleConnsPerHost: 2 * hammerWriters}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// A hammerReply is an answer, read to its end.
type hammerReply struct {
	Status int
	Header http.Header
	Body   string
}

// Code returns the error code in the body, or "".
func (r hammerReply) Code() string {
	var face struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.Body), &face) // a body without an error has no code
	return face.Error.Code
}

// Field returns a text in the body, or "".
func (r hammerReply) Field(name string) string {
	var body map[string]any
	_ = json.Unmarshal([]byte(r.Body), &body) // a body that is not an object has no field
	s, _ := body[name].(string)
	return s
}

// Replayed reports whether the response is a stored one.
func (r hammerReply) Replayed() bool { return r.Header.Get("Idempotency-Replayed") == "true" }

// hammerSend makes one request and reads the whole response. headers contains names and values in
// turn.
func hammerSend(ctx context.Context, client *http.Client, method, url, key, body string,
	headers ...string,
) (hammerReply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return hammerReply{}, err
	}
	// Otherwise the transport itself repeats a POST with an Idempotency-Key, and the test does not
	// count that.
	req.GetBody = nil
	req.Header.Set("X-Api-Key", key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return hammerReply{}, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or the error says why not
	b, err := io.ReadAll(res.Body)
	return hammerReply{res.StatusCode, res.Header, string(b)}, err
}

// A hammerCounter is a number in the description of a tag, which several replicas serve.
type hammerCounter struct {
	client   *http.Client
	replicas []hammerServer
	key      string
	slug     string
}

func newHammerCounter(t *testing.T, replicas int) *hammerCounter {
	t.Helper()
	c := &hammerCounter{client: hammerClient(t), slug: "counter"}
	// The test does not cover a crash of PostgreSQL, and flushing to disk takes most of an update's
	// time.
	database := pgtest.URL(t) + "&synchronous_commit=off"
	for range replicas {
		c.replicas = append(c.replicas, newHammerServer(t, database))
	}
	c.key, _ = hammerKey(t, c.replicas[0].App, "hammer")
	r, err := hammerSend(t.Context(), c.client, http.MethodPost, c.replicas[0].URL+"/tags", c.key,
		`{"slug":"counter","description":"0"}`)
	if err != nil || r.Status != http.StatusCreated {
		t.Fatalf("create: %d %s %v", r.Status, r.Body, err)
	}
	return c
}

// read returns the number and the ETag of the record.
func (c *hammerCounter) read(ctx context.Context, replica int) (int, string, error) {
	r, err := hammerSend(ctx, c.client, http.MethodGet, c.replicas[replica%len(c.replicas)].URL+"/tags/"+c.slug, c.key,
		"")
	if err != nil {
		return 0, "", err
	}
	etag := r.Header.Get("ETag")
	n, err := strconv.Atoi(r.Field("description"))
	if r.Status != http.StatusOK || etag == "" || err != nil {
		return 0, "", fmt.Errorf("read: %d, ETag %q, %s", r.Status, etag, r.Body)
	}
	return n, etag, nil
}

// write sets the number, with If-Match unless etag is empty. It reports whether the replica wrote
// the number.
func (c *hammerCounter) write(ctx context.Context, replica, n int, etag string) (bool, error) {
	var headers []string
	if etag != "" {
		headers = []string{"If-Match", etag}
	}
	r, err := hammerSend(ctx, c.client, http.MethodPatch, c.replicas[replica%len(c.replicas)].URL+"/tags/"+c.slug,
		c.key, fmt.Sprintf(`{"description":"%d"}`, n), headers...)
	switch {
	case err != nil:
		return false, err
	case r.Status == http.StatusOK && r.Field("description") == strconv.Itoa(n):
		return true, nil
	case r.Status == http.StatusPreconditionFailed && r.Code() == "PRECONDITION_FAILED" && etag != "":
		return false, nil
	}
	return false, fmt.Errorf("write %d: %d %s", n, r.Status, r.Body)
}

// stored returns the number in the database.
func (c *hammerCounter) stored(t *testing.T) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), c.replicas[0].App.DB, `select description::int from tag
		where slug = $1 and deleted_at is null`, c.slug)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestHammerLosesNoUpdate: 64 writers increment a number on two replicas of one database, with
// If-Match. No increment may be lost.
func TestHammerLosesNoUpdate(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	c := newHammerCounter(t, 2)
	ctx, cancel := context.WithTimeout(t.Context(), hammerPatience)
	defer cancel()
	start := time.Now()
	var refused atomic.Int64
	var group sync.WaitGroup
	won := make([][]int, hammerWriters)
	for w := range hammerWriters {
		group.Go(func() {
			// Writers that lose wait longer and longer, as good clients do. Without that, nearly
			// all requests would be refused.
			pause := 200 * time.Millisecond
			for tries := w; len(won[w]) < hammerIncrements; tries++ {
				// Reads from another replica than it writes to: an ETag is valid on both.
				n, etag, err := c.read(ctx, tries)
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				ok, err := c.write(ctx, tries+1, n+1, etag)
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				if ok {
					won[w], pause = append(won[w], n+1), max(pause/2, 10*time.Millisecond)
					continue
				}
				refused.Add(1)
				pause = min(2*pause, 2*time.Second)
				hammerPause(ctx, pause)
			}
		})
	}
	group.Wait()
	const want = hammerWriters * hammerIncrements
	writers := map[int]int{} // the writer of each number; no number may have two
	for w, numbers := range won {
		for _, n := range numbers {
			if other, twice := writers[n]; twice {
				t.Errorf("writers %d and %d both made it %d", other, w, n)
			}
			writers[n] = w
		}
	}
	got := c.stored(t)
	if got != want || len(writers) != want {
		t.Errorf("%d writers × %d increments made %d (%d different numbers), want %d: %d updates lost", hammerWriters,
			hammerIncrements, got, len(writers), want, want-got)
	}
	if refused.Load() < hammerWriters {
		t.Errorf("only %d writes were refused: the writers did not meet", refused.Load())
	}
	t.Logf("%d updates, %d refused and repeated, %d lost, %.1f s", got, refused.Load(), want-got,
		time.Since(start).Seconds())
}

// hammerPause waits a random time before a retry, so that the same writers do not collide again.
func hammerPause(ctx context.Context, longest time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(longest)):
	}
}

// TestHammerRounds lets all 64 writers read the same number before any of them writes. With
// If-Match, one writer wins each round. The control writes without If-Match: all writes succeed,
// and all updates but one are lost.
func TestHammerRounds(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	for name, conditional := range map[string]bool{"with If-Match": true, "control without If-Match": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rounds = 3
			c := newHammerCounter(t, 2)
			told := 0
			for range rounds {
				told += hammerRound(t, c, conditional)
			}
			lost := told - c.stored(t)
			switch {
			case conditional && (told != rounds || lost != 0):
				t.Errorf("%d rounds: %d writers won and %d updates were lost, want %d and 0", rounds, told, lost,
					rounds)
			case !conditional && (told != rounds*hammerWriters || lost != rounds*(hammerWriters-1)):
				t.Errorf("%d rounds: %d writers got a success and %d updates were lost, want %d and %d", rounds, told,
					lost, rounds*hammerWriters, rounds*(hammerWriters-1))
			}
			t.Logf("%d rounds: %d writers got a success, %d updates lost", rounds, told, lost)
		})
	}
}

// hammerRound lets every writer read, and then lets every writer write. It returns how many writes
// succeeded.
func hammerRound(t *testing.T, c *hammerCounter, conditional bool) int {
	t.Helper()
	type seen struct {
		n    int
		etag string
	}
	read := make([]seen, hammerWriters)
	var group sync.WaitGroup
	for w := range hammerWriters {
		group.Go(func() {
			n, etag, err := c.read(t.Context(), w)
			if err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
			if !conditional {
				etag = ""
			}
			read[w] = seen{n, etag}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	var told atomic.Int64
	for w := range hammerWriters {
		group.Go(func() {
			ok, err := c.write(t.Context(), w+1, read[w].n+1, read[w].etag)
			if err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
			if ok {
				told.Add(1)
			}
		})
	}
	group.Wait()
	return int(told.Load())
}
