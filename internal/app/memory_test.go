package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// mostMemory is the most memory in MiB that a server may use, whatever its callers send and
// request.
const mostMemory = 256

// A heavyHouse is a separate server process with two callers. The tests measure its memory.
type heavyHouse struct {
	server     *apptest.Server
	direct     hammerServer // reads and writes the database directly
	key, quiet string
}

// unshared is a server without limits on how much work one caller, or all callers together, may
// have running.
var unshared = apptest.Mutant{
	File: "internal/platform/op/share.go",
	Old: `	n = min(n, s.PerOwner, s.Total)
`,
	New: `	if s != nil {
		return func() {}, nil
	}
`,
}

// wholeAnswers is a server that builds a whole response before it sends any of it.
var wholeAnswers = apptest.Mutant{
	File: "internal/platform/op/stream.go",
	Old:  `return o.stream != nil && c.Out != nil }`,
	New:  `return false }`,
}

func newHeavyHouse(t *testing.T, mutants ...apptest.Mutant) *heavyHouse {
	t.Helper()
	database := pgtest.URL(t)
	h := &heavyHouse{server: apptest.Start(t, apptest.Program(t, mutants...), database)}
	h.direct = newHammerServer(t, database)
	h.key, _ = hammerKey(t, h.direct.App, "loud")
	h.quiet, _ = hammerKey(t, h.direct.App, "quiet")
	return h
}

// send makes one request, reads the whole response, and reports its status, the seconds of
// Retry-After and the size.
func (h *heavyHouse) send(ctx context.Context, key, method, path, kind string, body []byte) (status int,
	after time.Duration, read int64, err error,
) {
	req, err := http.NewRequestWithContext(ctx, method, h.server.URL()+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, 0, err
	}
	req.Header.Set("X-API-Key", key)
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, 0, err
	}
	defer res.Body.Close() //nolint:errcheck // it has been read
	read, err = io.Copy(io.Discard, res.Body)
	if seconds, no := strconv.Atoi(res.Header.Get("Retry-After")); no == nil {
		after = time.Duration(seconds) * time.Second
	}
	return res.StatusCode, after, read, err
}

// statementOf returns a bank's file of that size.
func statementOf(size int) []byte {
	b := []byte("Date;Text;Amount\n")
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "2026-01-%02d;REWE SAGT DANKE %d BERLIN;-%d,%02d\n", i%28+1, i, i%500, i%100)
	}
	return b
}

// beside lets the quiet caller make small requests while work runs. It returns the 99th percentile
// of how long they took.
func (h *heavyHouse) beside(t *testing.T, work func()) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var took []time.Duration
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			status, _, _, err := h.send(t.Context(), h.quiet, http.MethodGet, "/tags", "", nil) //nolint:contextcheck // the call under way when the work ends is finished
			if err != nil || status != http.StatusOK {
				t.Errorf("the quiet caller: %d, %v", status, err)
				return
			}
			took = append(took, time.Since(began))
			time.Sleep(10 * time.Millisecond) // a caller without pauses would take a processor from the work
		}
	})
	work()
	cancel()
	all.Wait()
	slices.Sort(took)
	return took[len(took)*99/100]
}

// TestLargeFilesAtOnce: if many large files arrive at once, the server reads a few at a time and
// refuses others. Refused files succeed when they are sent again. The server's memory stays
// bounded, and other callers do not notice.
func TestLargeFilesAtOnce(t *testing.T) {
	t.Parallel()
	previews := 4
	if os.Getenv("COFFER_TEST_LONG") != "" {
		previews = 20
	}
	h := newHeavyHouse(t)
	file := statementOf(24_000_000)
	refused := 0
	var mu sync.Mutex
	p99 := h.beside(t, func() {
		var all sync.WaitGroup
		for range previews {
			all.Go(func() {
				for {
					status, after, _, err := h.send(t.Context(), h.key, http.MethodPost, "/connections/csv/preview",
						"text/csv", file)
					switch {
					case err != nil:
						t.Error(err)
						return
					case status == http.StatusOK:
						return
					case after == 0 || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable:
						t.Errorf("a preview: %d, to be tried again after %v", status, after)
						return
					}
					mu.Lock()
					refused++
					mu.Unlock()
					time.Sleep(after) // retrying without a pause would leave a busy machine no time to respond
				}
			})
		}
		all.Wait()
	})
	peak := h.server.Peak(t)
	t.Logf("%d previews of 24 MB, %d refusals: %d MiB at most, the quiet caller's 99th percentile is %v", previews,
		refused, peak, p99)
	if peak > mostMemory {
		t.Errorf("the server held %d MiB", peak)
	}
}

// TestLargeFilesWithoutBound is the control: a server without those limits reads all files at once,
// and its memory exceeds the bound. The long run shows how far it grows.
func TestLargeFilesWithoutBound(t *testing.T) {
	t.Parallel()
	previews, most := 16, mostMemory
	if os.Getenv("COFFER_TEST_LONG") != "" {
		previews, most = 40, 1024
	}
	h := newHeavyHouse(t, unshared, wholeAnswers)
	file := statementOf(24_000_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for range previews {
		all.Go(func() {
			// The test cancels the requests once memory exceeds the bound.
			_, _, _, _ = h.send(ctx, h.key, http.MethodPost, "/connections/csv/preview", "text/csv", file)
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	peak := 0
	for peak <= most {
		select {
		case <-ended:
			t.Fatalf("all previews ended and the server held %d MiB at most", h.server.Peak(t))
		case <-time.After(20 * time.Millisecond):
			peak = h.server.Peak(t)
		}
	}
	t.Logf("%d MiB with %d previews of 24 MB at once", peak, previews)
}

const (
	manyReports = 600
	reportSize  = 199_990
)

// readReports stores many large reports, and four readers list them at the same time. It returns
// how long the quiet caller's requests took.
func (h *heavyHouse) readReports(t *testing.T) time.Duration {
	t.Helper()
	err := h.direct.App.DB.InTx(t.Context(), func(tx pg.Tx) error {
		for range manyReports {
			fresh := id.New()
			if _, err := pg.Exec(t.Context(), tx, `
				insert into report (id, short_id, title, body, kind, author_type)
					values ($1, $2, 'Large', repeat('x', $3), 'summary', 'user')`,
				fresh, fresh.Short(), reportSize); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h.beside(t, func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				status, _, read, err := h.send(t.Context(), h.key, http.MethodGet, "/reports", "", nil)
				if err != nil || status != http.StatusOK || read < manyReports*reportSize {
					t.Errorf("a reader: %d, %d bytes, %v", status, read, err)
				}
			})
		}
		all.Wait()
	})
}

// TestManyLargeReports: the server sends a list row by row, so its memory does not grow with the
// size of the list.
func TestManyLargeReports(t *testing.T) {
	t.Parallel()
	h := newHeavyHouse(t)
	p99 := h.readReports(t)
	peak := h.server.Peak(t)
	t.Logf("%d reports of %d bytes, four readers: %d MiB at most, the quiet caller's 99th percentile is %v",
		manyReports, reportSize, peak, p99)
	if peak > mostMemory {
		t.Errorf("the server held %d MiB", peak)
	}
}

// TestManyLargeReportsPutTogether is the control: a server that builds whole responses exceeds the
// bound.
func TestManyLargeReportsPutTogether(t *testing.T) {
	t.Parallel()
	if os.Getenv("COFFER_TEST_LONG") == "" {
		t.Skip("takes a gigabyte of memory")
	}
	h := newHeavyHouse(t, unshared, wholeAnswers)
	h.readReports(t)
	if peak := h.server.Peak(t); peak <= 1024 {
		t.Errorf("the server held %d MiB only", peak)
	} else {
		t.Logf("%d MiB", peak)
	}
}
