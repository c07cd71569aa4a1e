package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

const (
	killHouses = 15 // at the same time: a round mostly waits until a dead worker's lease has expired
	// Of half of the syncs on a machine that does nothing else; a busy one may take twice as long, and
	// six times as long for one of them.
	resumeGoal = 10 * time.Second
)

func killRounds() int {
	if long() {
		return 67
	}
	return 7
}

// A cut is a sync that a kill has cut off.
type cut struct {
	ID      id.ID `db:"id"`
	Attempt int   `db:"attempt"`
}

// strike starts the connections' syncs, kills the server at that moment of theirs, starts it again,
// and returns how long each took until a worker continued it.
func (h *house) strike(ctx context.Context, moment func() error) ([]time.Duration, error) {
	for _, d := range h.doors {
		status, answer, err := h.send(ctx, http.MethodPost, "/connections/"+d.id+"/sync", "")
		if err != nil || status != http.StatusAccepted && status != http.StatusOK {
			return nil, fmt.Errorf("sync: %d %s %w", status, answer, err)
		}
	}
	const running = `select id, attempt from job where kind = 'feed.sync' and state = 'running'`
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(3 * time.Millisecond) {
		now, err := pg.All[cut](ctx, h.db, running)
		if err != nil {
			return nil, err
		}
		if len(now) > 0 {
			break
		}
		if time.Now().After(deadline) {
			return nil, errors.New("no sync was seen running")
		}
	}
	if err := moment(); err != nil {
		return nil, err
	}
	if err := h.server.Kill(); err != nil {
		return nil, err
	}
	cuts, err := pg.All[cut](ctx, h.db, running)
	if err != nil {
		return nil, err
	}
	restarted := time.Now()
	if err := h.server.Again(ctx); err != nil {
		return nil, err
	}
	var resumed []time.Duration
	for _, c := range cuts {
		for {
			// The first batch that a new worker commits takes the count of losses back.
			on, err := pg.Value[bool](ctx, h.db, `select attempt > $2 and losses = 0
				or state not in ('queued', 'running') from job where id = $1`, c.ID, c.Attempt)
			if err != nil {
				return nil, err
			}
			if on {
				break
			}
			if time.Since(restarted) > 2*time.Minute {
				return nil, fmt.Errorf("nobody goes on with job %s", c.ID.Short())
			}
			time.Sleep(5 * time.Millisecond)
		}
		resumed = append(resumed, time.Since(restarted))
	}
	return resumed, nil
}

// Servers are killed with -9 at random moments of syncs, while their banks go on. In the end every
// household's books are what its banks know, and nothing hangs.
func TestKilledServersLoseNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newTown(t, 2500, 20*time.Millisecond)
	program := apptest.Program(t)
	var mu sync.Mutex
	var resumes []time.Duration
	kills, hits, rows := 0, 0, 0
	var all sync.WaitGroup
	for n := range killHouses {
		h := w.newHouse(t, program, pgtest.URL(t))
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), uint64(began.UnixNano())))
			stop := h.liveOn(rand.New(rand.NewPCG(uint64(n), 3)))
			for range killRounds() {
				got, err := h.strike(t.Context(), func() error {
					// any will do: no synchronization, but chance
					time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
					break
				}
				mu.Lock()
				kills++
				if len(got) > 0 {
					hits++
				}
				resumes = append(resumes, got...)
				mu.Unlock()
			}
			stop()
			if t.Failed() {
				return
			}
			h.settle(t)
			n, wrong := h.check(t)
			for _, text := range wrong {
				t.Error(text)
			}
			mu.Lock()
			rows += n
			mu.Unlock()
		})
	}
	all.Wait()
	if kills < killHouses*killRounds() || hits < kills/2 {
		t.Fatalf("%d kills, of which %d hit a sync", kills, hits)
	}
	slices.Sort(resumes)
	if median, most := resumes[len(resumes)/2], resumes[len(resumes)-1]; median > 2*resumeGoal || most > 6*resumeGoal {
		t.Errorf("syncs resumed after %v at the median and %v at most", median, most)
	}
	t.Logf("%d kills in %.0f s, %d in the middle of a sync, which cut off %d; resumed after %v at the median, %v at "+
		"most; %d rows as the banks know them",
		kills, time.Since(began).Seconds(), hits, len(resumes), resumes[len(resumes)/2].Round(time.Millisecond),
		resumes[len(resumes)-1].Round(time.Millisecond), rows)
}

// cursorFirst commits the cursor before the rows of the last page.
var cursorFirst = apptest.Mutant{
	File: "internal/connections/connection/store.go",
	Old: `	r.note(page, bad)
`,
	New: `	r.note(page, bad)
	if page.Last {
		if err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *syncState) (int64, error) {
			return 0, r.whole(ctx, tx, page)
		}); err != nil {
			return err
		}
	}
`,
}

// A server that commits the cursor before the rows of its page loses them to a kill in between, and
// the comparison sees it. This one is aimed at that moment, so that it does not take a hundred.
func TestKillControl(t *testing.T) {
	t.Parallel()
	w := newTown(t, 1000, 20*time.Millisecond)
	program := apptest.Program(t, cursorFirst)
	for tries := 1; ; tries++ {
		h := w.newHouse(t, program, pgtest.URL(t))
		_, err := h.strike(t.Context(), func() error {
			for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				moved, err := pg.Value[bool](t.Context(), h.db, `select exists (select from connection
					where cursor <> '')`)
				if err != nil || moved {
					return err
				}
			}
			return errors.New("no cursor moved")
		})
		if err != nil {
			t.Fatal(err)
		}
		h.settle(t)
		if _, wrong := h.check(t); len(wrong) > 0 {
			t.Logf("found at try %d: %.200s", tries, wrong[0])
			return
		}
		if tries == 5 {
			t.Fatal("rows were lost on purpose, and nothing was found wrong")
		}
	}
}
