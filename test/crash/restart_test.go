package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
)

func restarts() int {
	if long() {
		return 200
	}
	return 10
}

// The server is restarted again and again under load, in turns as an operator and as a crash do it.
// Nothing that it acknowledged is lost or there twice, and the banks' rows are whole.
func TestRestartedServerLosesNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newTown(t, 2500, 20*time.Millisecond)
	h := w.newHouse(t, apptest.Program(t), pgtest.URL(t))
	dice := rand.New(rand.NewPCG(6, uint64(began.UnixNano())))
	still := h.liveOn(rand.New(rand.NewPCG(6, 6)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := diligent{cut: true}
	busy := h.load(ctx, &d)
	var back []time.Duration
	hits := 0
	for n := range restarts() {
		hits += h.untilSync(t)
		time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
		if n%2 == 0 {
			h.server.Stop(t)
		} else if err := h.server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := h.server.Again(t.Context()); err != nil {
			t.Fatal(err)
		}
		back = append(back, d.again(time.Now()))
	}
	cancel()
	busy.Wait()
	still()
	if s := d.strange.Load(); s != nil {
		t.Errorf("between two restarts a caller got: %s", *s)
	}
	h.settle(t)
	rows, wrong := h.check(t)
	for _, text := range wrong {
		t.Error(text)
	}
	lost, err := d.lost(t.Context(), h)
	if err != nil || len(lost) > 0 {
		t.Errorf("%d acknowledged writes are lost: %.200v %v", len(lost), lost, err)
	}
	slices.Sort(back)
	starting := slices.Sorted(slices.Values(h.server.Starting))
	if most := back[len(back)-1]; most > backPatient {
		t.Errorf("no write for %v after the server was ready", most)
	}
	t.Logf("%d restarts in %.0f s, half of them kills, %d in the middle of a sync; %d writes acknowledged, %d lost; ready "+
		"%v after a start at the median, %v at most; first success %v and %v after that; %d rows as the banks know them",
		len(back), time.Since(began).Seconds(), hits, len(d.acked), len(lost), round(starting[len(starting)/2]),
		round(starting[len(starting)-1]), round(back[len(back)/2]), round(back[len(back)-1]), rows)
}

// load writes and syncs until ctx ends.
func (h *house) load(ctx context.Context, d *diligent) *sync.WaitGroup {
	var busy sync.WaitGroup
	for n := range 4 {
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				d.write(ctx, h, fmt.Sprintf("crash-%d-%d", n, i))
			}
		})
	}
	for _, door := range h.doors {
		busy.Go(func() {
			for ctx.Err() == nil {
				// whether it can is not asked here
				_, _, _ = h.send(ctx, http.MethodPost, "/connections/"+door.id+"/sync?wait=5s", "")
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	return &busy
}

// again waits until a write is acknowledged, and returns how long after the moment that was.
func (d *diligent) again(from time.Time) time.Duration {
	for d.last.Load() < from.UnixNano() && time.Since(from) < backPatient {
		time.Sleep(time.Millisecond)
	}
	if last := d.last.Load(); last >= from.UnixNano() {
		return time.Duration(last - from.UnixNano())
	}
	return 2 * backPatient
}
