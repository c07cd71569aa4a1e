package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/surface/rest"
)

// countWork is the work of these tests: to count up to a number, and to fail with a message if
// there is one.
type countWork struct {
	To   int    `json:"to"`
	Fail string `json:"fail,omitempty"`
}

// countKind returns a kind of job that counts one number per batch. If there is a gate, each number
// first waits for a value from it.
func countKind(gate <-chan struct{}) job.Kind {
	return job.Kind{Name: "count", Unit: "numbers", Work: func(ctx context.Context, run *job.Run) (any, error) {
		var in countWork
		var at int
		if err := run.Args(&in); err != nil {
			return nil, err
		}
		if _, err := run.Position(&at); err != nil {
			return nil, err
		}
		for at < in.To {
			if gate != nil {
				select {
				case <-gate:
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}
			err := run.Batch(ctx, func(context.Context, pg.Tx) (job.Step, error) {
				return job.Step{Position: at + 1, Done: 1, Total: int64(in.To)}, nil
			})
			if err != nil {
				return nil, err
			}
			at++
		}
		if in.Fail != "" {
			return nil, errs.New(errs.Conflict, "%s", in.Fail)
		}
		return countWork{To: at}, nil
	}}
}

func (w *world) enqueue(t testing.TB, in countWork, o job.Options) job.Job {
	t.Helper()
	var made job.Job
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		made, err = w.Jobs.Enqueue(t.Context(), tx, "count", in, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// work runs the world's jobs until the test ends or stop is called.
func (w *world) work(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Jobs.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("jobs: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// fillJobs leaves one job that succeeded, one that failed, and one that is due tomorrow.
func (w *world) fillJobs(t testing.TB) {
	t.Helper()
	w.Jobs.Add(countKind(nil))
	w.work(t)
	for _, in := range []countWork{{To: 3}, {To: 1, Fail: "the third wheel is missing; mend it and try again"}} {
		made := w.enqueue(t, in, job.Options{})
		if got, err := w.Jobs.Wait(t.Context(), made.ID, 20*time.Second); err != nil || !got.Ended() {
			t.Fatalf("%+v %v", got, err)
		}
	}
	w.enqueue(t, countWork{To: 5}, job.Options{RunAt: time.Now().Add(24 * time.Hour)})
}

// startOp returns an op that starts a count, as an op of a domain would.
func startOp(w *world) *op.Op {
	type in struct {
		To int `json:"to"`
	}
	return op.Long(op.Writing(op.Spec{
		Name: "count.start", Route: "POST /counts", Tool: "start_count",
		Summary: "Counts.",
	},
		func(ctx context.Context, tx pg.Tx, in in) (job.Job, error) {
			return w.Jobs.Enqueue(ctx, tx, "count", countWork{To: in.To}, job.Options{})
		}), 20*time.Second, w.Jobs.Await)
}

func (w *world) start(t *testing.T, o *op.Op, surface op.Surface, key string, args map[string]any) (op.Answer,
	job.Job,
) {
	t.Helper()
	actor, err := w.Auth.Key(t.Context(), w.key)
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Runner.Call(t.Context(), o, op.Call{
		Actor: actor, Surface: surface, Args: args, RequestID: "test",
		IdempotencyKey: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	var j job.Job
	if err := json.Unmarshal(a.Body, &j); surface != op.Tool && err != nil {
		t.Fatal(err)
	}
	return a, j
}

// A call that starts a job returns 202 at once, or 200 with its result if the caller waits. A
// repeated idempotency key waits for the same job.
func TestLongWorkAnswersAndWaits(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	gate := make(chan struct{})
	w.Jobs.Add(countKind(gate))
	w.work(t)
	o := startOp(w)
	args := func(more ...any) map[string]any {
		m := map[string]any{"to": json.Number("2")}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	a, first := w.start(t, o, op.REST, "once", args())
	if a.Status != http.StatusAccepted || first.Ended() || string(first.Result) != "null" {
		t.Errorf("without a wait: %d %s", a.Status, a.Body)
	}
	began := time.Now()
	if a, j := w.start(t, o, op.REST, "once", args("wait", "1s")); a.Status != http.StatusAccepted || !a.Replayed ||
		j.ID != first.ID || time.Since(began) < time.Second {
		t.Errorf("a wait that was too short: %d %v %s", a.Status, a.Replayed, a.Body)
	}
	close(gate)
	a, j := w.start(t, o, op.REST, "once", args("wait", "30s"))
	if a.Status != http.StatusOK || !a.Replayed || j.ID != first.ID || j.State != job.Succeeded ||
		string(j.Result) != `{"to":2}` {
		t.Errorf("waited for: %d %v %s", a.Status, a.Replayed, a.Body)
	}
	if a, j := w.start(t, o, op.REST, "", args("wait", "30s")); a.Status != http.StatusOK || j.ID == first.ID ||
		j.State != job.Succeeded {
		t.Errorf("without a key: %d %s", a.Status, a.Body)
	}
	if a, _ := w.start(t, o, op.Tool, "", args()); !strings.Contains(string(a.Body), `"state":"succeeded"`) {
		t.Errorf("a tool waits unless it says otherwise: %s", a.Body)
	}
	if a, _ := w.start(t, o, op.Tool, "", args("wait_seconds", json.Number("0"))); a.Status != http.StatusAccepted {
		t.Errorf("a tool that will not wait: %s", a.Body)
	}
	for surface, bad := range map[op.Surface]map[string]any{
		op.REST: args("wait", "31s"), op.Command: args("wait_seconds", json.Number("1")), op.Tool: args("wait", "1s"),
	} {
		if _, err := w.call(t.Context(), o, surface, bad); !errs.Is(err, errs.ValidationError) {
			t.Errorf("%s %v: %v", surface, bad, err)
		}
	}
}

// The document shows both responses, and the names of the waiting time for a tool and a route.
func TestLongWorkInTheDocument(t *testing.T) {
	t.Parallel()
	o := startOp(&world{App: &app.App{Jobs: job.New(nil, nil)}})
	text := rest.Document([]*op.Op{o}, nil, app.Groups, nil).YAML()
	for _, want := range []string{`"200":`, `"202":`, `name: "wait"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	tool, err := json.Marshal(o.ToolInput())
	if err != nil || !strings.Contains(string(tool), `"wait_seconds"`) || strings.Contains(string(tool), `"wait"`) {
		t.Errorf("%s %v", tool, err)
	}
}

// TestWaitingOverHTTP: over HTTP the wait is a query parameter. Many waiting callers do not use up
// the connection pool.
func TestWaitingOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.Jobs.Add(countKind(gate))
	w.work(t)
	made := w.enqueue(t, countWork{To: 1}, job.Options{})
	var group sync.WaitGroup
	for range 30 { // more than the pool's 10 connections
		group.Go(func() {
			x := exchange{method: "GET", path: "/api/v1/jobs/" + made.ShortID + "?wait=30s", key: w.key}
			r := w.send(t, x)
			validateResponse(t, x, r)
			if r.status != 200 || !strings.Contains(r.body, `"state":"succeeded"`) {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	if r := w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key}); r.status != 200 {
		t.Errorf("beside those who wait: %d", r.status)
	}
	close(gate)
	group.Wait()
}

// An sseEvent is one event as it arrives.
type sseEvent struct {
	id, name string
	job      job.Job
}

// events opens a job's event stream. next returns the next event, or false when the stream has
// ended.
func (w *world) events(ctx context.Context, t *testing.T, which string,
	header ...string,
) (next func() (sseEvent, bool)) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/api/v1/jobs/"+which+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", w.key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, kind)
	}
	lines := bufio.NewScanner(res.Body)
	return func() (e sseEvent, ok bool) {
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.job); err != nil {
					t.Errorf("%s: %v", value, err)
				}
			case "":
				if e.name != "" {
					return e, true
				}
			}
		}
		return e, false
	}
}

func TestJobEvents(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	gate := make(chan struct{})
	w.Jobs.Add(countKind(gate))
	w.work(t)
	made := w.enqueue(t, countWork{To: 3}, job.Options{})
	next := w.events(t.Context(), t, made.ID.String())
	seen := int64(-1)
	for n := 0; ; n++ {
		e, ok := next()
		if !ok {
			t.Fatal("the stream ended before the job")
		}
		if e.job.ID != made.ID || e.id != fmt.Sprint(n+1) || e.job.Progress.Done < seen {
			t.Errorf("event %d: %+v", n, e)
		}
		if e.name == "done" {
			if e.job.State != job.Succeeded || e.job.Progress.Done != 3 {
				t.Errorf("done: %+v", e.job)
			}
			break
		}
		if e.job.State == job.Running && e.job.Progress.Done > seen {
			if seen = e.job.Progress.Done; seen < 3 {
				gate <- struct{}{} // the test has seen this number, so the job can count the next
			}
		}
	}
	if _, more := next(); more {
		t.Error("the stream goes on after done")
	}
	// A client that reconnects after the end gets the last event, whatever id it sends.
	if e, ok := w.events(t.Context(), t, made.ShortID, "Last-Event-ID", "2")(); !ok || e.name != "done" {
		t.Errorf("after the end: %+v", e)
	}
	if r := w.send(t, exchange{method: "GET", path: "/api/v1/jobs/nothing0/events", key: w.key}); r.status != 404 ||
		r.code() != "NOT_FOUND" {
		t.Errorf("no job: %d %s", r.status, r.body)
	}
}

// TestJobEventsEndWithTheirClientAndServer: a stream ends when its client disconnects and when its
// server stops. The job ends in neither case.
func TestJobEventsEndWithTheirClientAndServer(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	w.Jobs.Add(countKind(make(chan struct{})))
	stop := w.work(t)
	made := w.enqueue(t, countWork{To: 3}, job.Options{})
	ctx, leave := context.WithCancel(t.Context())
	gone := w.events(ctx, t, made.ID.String())
	stays := w.events(t.Context(), t, made.ID.String())
	for _, next := range []func() (sseEvent, bool){gone, stays} {
		for { // until the job waits at the gate
			e, ok := next()
			if !ok {
				t.Fatal("the stream ended before its job ran")
			}
			if e.job.State == job.Running {
				break
			}
		}
	}
	leave()
	if _, ok := gone(); ok {
		t.Error("a client that has left got an event")
	}
	stop()
	for { // the stream must end without a done event
		e, ok := stays()
		if !ok {
			break
		}
		if e.name == "done" {
			t.Errorf("the job did not end: %+v", e.job)
		}
	}
	if got, err := w.Jobs.Get(t.Context(), w.DB, job.Ref{JobID: made.ShortID}); err != nil || got.State != job.Queued {
		t.Errorf("the job is not put back: %+v %v", got, err)
	}
}

// A caller who opens too many streams gets an error; others can still open theirs.
func TestJobEventsOfOneCallerAreBounded(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	w.Jobs.Add(countKind(nil))
	made := w.enqueue(t, countWork{To: 1}, job.Options{})
	var refused reply
	for n := 0; refused.status == 0 && n < 100; n++ {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			w.url+"/api/v1/jobs/"+made.ShortID+"/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", w.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		if res.StatusCode != http.StatusOK {
			refused = reply{status: res.StatusCode, header: res.Header}
		}
	}
	if refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") == "" {
		t.Errorf("a hundred streams: %d", refused.status)
	}
	other := &world{App: w.App, url: w.url, key: w.newKey(t,
		auth.CreateKey{Name: "other", Scope: "read_only", ActorType: "user"}).Secret}
	if e, ok := other.events(t.Context(), t, made.ShortID)(); !ok || e.name != "progress" {
		t.Errorf("another caller's stream: %+v", e)
	}
}
