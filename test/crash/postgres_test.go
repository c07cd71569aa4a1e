package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"github.com/jackc/pgx/v5"
)

const (
	backGoal    = 5 * time.Second  // of half of them; one second on a machine that does nothing else
	backPatient = 60 * time.Second // of any single one
)

func crashes() int {
	if long() {
		return 200
	}
	return 10
}

// A diligent caller writes as long as it may, and remembers the writes that succeeded.
type diligent struct {
	last    atomic.Int64 // when the last write was acknowledged
	refused atomic.Int64
	cut     bool                   // the server itself is restarted, so that calls end without an answer
	strange atomic.Pointer[string] // an answer that no caller should get
	mu      sync.Mutex
	acked   []string
}

// write creates a tag, again and again until that is acknowledged: the key makes it once.
func (d *diligent) write(ctx context.Context, h *house, slug string) {
	for ctx.Err() == nil {
		status, answer, err := h.send(ctx, http.MethodPost, "/tags", fmt.Sprintf(`{"slug":%q}`, slug),
			"Idempotency-Key", slug)
		switch {
		case err == nil && status == http.StatusCreated:
			d.last.Store(time.Now().UnixNano())
			d.mu.Lock()
			d.acked = append(d.acked, slug)
			d.mu.Unlock()
			return
		case err != nil && ctx.Err() == nil && !d.cut || err == nil && !again(status, answer):
			d.strange.CompareAndSwap(nil, new(fmt.Sprintf("%d %s %v", status, answer, err)))
		}
		d.refused.Add(1)
		time.Sleep(10 * time.Millisecond)
	}
}

// again reports whether an answer asks the caller to try again: the database is away, the caller has
// too many calls under way, or one with the same key.
func again(status int, answer []byte) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests ||
		strings.Contains(string(answer), "IDEMPOTENCY_IN_PROGRESS")
}

// PostgreSQL is stopped at once, again and again, in the middle of syncs and writes. The server
// lives on, works again as soon as the database does, and nothing that it acknowledged is lost.
func TestCrashedDatabaseLosesNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	cluster := pgtest.NewCluster(t)
	admin, err := pgx.Connect(t.Context(), cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "create database coffer"); err != nil {
		t.Fatal(err)
	}
	_ = admin.Close(t.Context()) // the first crash would close it
	w := newTown(t, 2500, 20*time.Millisecond)
	h := w.newHouse(t, apptest.Program(t), cluster.URL("coffer"))
	dice := rand.New(rand.NewPCG(1, uint64(began.UnixNano())))
	still := h.liveOn(rand.New(rand.NewPCG(2, 2)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var d diligent
	busy := h.load(ctx, &d)
	var back []time.Duration
	hits := 0
	for range crashes() {
		running := h.untilSync(t)
		time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
		if err := cluster.Crash(); err != nil {
			t.Fatal(err)
		}
		hits += running
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		back = append(back, d.again(from))
	}
	cancel()
	busy.Wait()
	still()
	if s := d.strange.Load(); s != nil {
		t.Errorf("while the database was away a caller got: %s", *s)
	}
	if status, _, err := h.send(t.Context(), http.MethodGet, "/health/ready", ""); !h.server.Alive() || err != nil ||
		status != http.StatusOK || len(h.server.Starting) != 1 {
		t.Errorf("the server did not live on: %d %v", status, err)
	}
	// The crash has cut the test's own connections too, which the pool finds out one by one.
	for range 20 {
		if _, err := pg.Value[int](t.Context(), h.db, `select 1`); err == nil {
			break
		}
	}
	h.settle(t)
	rows, wrong := h.check(t)
	for _, text := range wrong {
		t.Error(text)
	}
	lost, err := d.lost(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(back)
	median, most := back[len(back)/2], back[len(back)-1]
	if len(lost) > 0 || median > backGoal || most > backPatient {
		t.Errorf("%d acknowledged writes are lost; first success %v after it was back at the median, %v at most", len(lost),
			median, most)
	}
	t.Logf("%d crashes in %.0f s, %d in the middle of a sync; %d writes acknowledged, %d lost, %d attempts refused; "+
		"first success %v after it was back at the median, %v at most; %d rows as the banks know them",
		len(back), time.Since(began).Seconds(), hits, len(d.acked), len(lost), d.refused.Load(),
		median.Round(time.Millisecond), most.Round(time.Millisecond), rows)
}

// untilSync waits for a sync to run, for a while: after a crash the next one may be some time off.
func (h *house) untilSync(t *testing.T) int {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(3 * time.Millisecond) {
		n, err := pg.Value[int64](t.Context(), h.db, `select count(*) from job
			where kind = 'feed.sync' and state = 'running' and renewed_at > clock_timestamp() - interval '3 seconds'`)
		if err == nil && n > 0 {
			return 1
		}
	}
	return 0
}
