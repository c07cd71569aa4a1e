package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/banks"
)

const (
	webhookHouses  = 4 // run in parallel, because a round mostly waits for a server to start
	webhooksAtOnce = 4 // deliveries under way when the server is killed
)

func webhookRounds() int {
	if long() {
		return 250
	}
	return 25
}

// A notice is a delivery and what its sender knows about it.
type notice struct {
	provider string
	banks.Delivery
	accepted bool // was answered 200
	sent     int
}

// notices makes deliveries about both connections. No two deliveries are the same.
func (h *house) notices(round int) ([]*notice, error) {
	var out []*notice
	for i := range webhooksAtOnce {
		n := round*webhooksAtOnce + i
		d, err := h.town.plaid.Webhook(h.doors[0].book.ID(), "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE",
			map[string]any{"n": n})
		provider := "plaid"
		if i%2 == 1 {
			provider = "teller"
			d, err = h.town.teller.Webhook(fmt.Sprintf("wh_%d", n), "transactions.processed",
				map[string]any{"enrollment_id": h.doors[1].book.ID()})
		}
		if err != nil {
			return nil, err
		}
		out = append(out, &notice{provider: provider, Delivery: d})
	}
	return out, nil
}

// tell sends a notice once and reports whether it was accepted.
func (h *house) tell(ctx context.Context, n *notice) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.server.Address+"/webhooks/"+n.provider,
		bytes.NewReader(n.Body))
	if err != nil {
		return false
	}
	req.GetBody = nil
	req.Header = n.Header.Clone()
	n.sent++
	res, err := h.client.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// killAfter sends a round of notices, kills the server when the first is accepted, starts it again,
// and sends the unaccepted ones again, as providers do. It returns how many were accepted before
// the kill.
func (h *house) killAfter(ctx context.Context, notices []*notice) (int, error) {
	first := make(chan struct{}, len(notices))
	var group sync.WaitGroup
	for _, n := range notices {
		group.Go(func() {
			if n.accepted = h.tell(ctx, n); n.accepted {
				first <- struct{}{}
			}
		})
	}
	select {
	case <-first:
	case <-time.After(5 * time.Minute):
		return 0, fmt.Errorf("no delivery is accepted")
	}
	if err := h.server.Kill(); err != nil {
		return 0, err
	}
	group.Wait()
	accepted := 0
	for _, n := range notices {
		if n.accepted {
			accepted++
		}
	}
	if err := h.server.Again(ctx); err != nil {
		return 0, err
	}
	for _, n := range notices {
		for tries := 0; !n.accepted; tries++ {
			if n.accepted = h.tell(ctx, n); !n.accepted && tries == 100 {
				return 0, fmt.Errorf("a delivery is not accepted after %d tries", tries)
			}
		}
	}
	return accepted, nil
}

// TestKillAfterTheAnswer kills servers at the moment when they have confirmed that a webhook event
// is stored. No event is lost or processed twice, and in the end the books match the banks' data.
func TestKillAfterTheAnswer(t *testing.T) {
	t.Parallel()
	program := apptest.Program(t)
	w := newTown(t, 60, 0)
	w.settings = append(w.settings, "COFFER_TELLER_WEBHOOK_SECRETS=teller-webhook-secret")
	var mu sync.Mutex
	kills, accepted, resent := 0, 0, 0
	var starts []time.Duration
	began := time.Now()
	t.Cleanup(func() { // when all houses are done
		if t.Failed() || len(starts) == 0 {
			return
		}
		slices.Sort(starts)
		t.Logf("%d kills right after an answer in %.0f s; %d deliveries had been accepted by then, %d were sent "+
			"again; starts median %v, longest %v",
			kills, time.Since(began).Seconds(), accepted, resent, starts[len(starts)/2].Round(time.Millisecond),
			starts[len(starts)-1].Round(time.Millisecond))
		if resent == 0 {
			t.Error("no delivery was cut off: the kills came too late to interrupt a delivery, so the test proves nothing about that")
		}
	})
	for house := range webhookHouses {
		t.Run(fmt.Sprint(house), func(t *testing.T) {
			t.Parallel()
			h := w.newHouse(t, program, pgtest.URL(t))
			h.settle(t)
			dice := rand.New(rand.NewPCG(uint64(house), 5))
			var told []*notice
			for round := range webhookRounds() {
				for i := range h.doors {
					h.doors[i].move(dice, 1+dice.IntN(3))
				}
				notices, err := h.notices(round)
				if err != nil {
					t.Fatal(err)
				}
				n, err := h.killAfter(t.Context(), notices)
				if err != nil {
					t.Fatal(err)
				}
				told = append(told, notices...)
				mu.Lock()
				kills, accepted = kills+1, accepted+n
				mu.Unlock()
			}
			h.heard(t, told)
			h.settle(t)
			if _, wrong := h.check(t); len(wrong) > 0 {
				t.Errorf("%s", wrong)
			}
			mu.Lock()
			starts = append(starts, h.server.Starting...)
			for _, n := range told {
				if n.sent > 1 {
					resent++
				}
			}
			mu.Unlock()
		})
	}
}

// heard waits until all notices have been processed, and checks that each event is stored once.
func (h *house) heard(t *testing.T, told []*notice) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		waiting, err := pg.Value[int](t.Context(), h.db, `
			select (select count(*) from webhook_event where status = 'received') + (select count(*) from job
				where kind = 'webhook.process' and finished_at is null)`)
		if err != nil {
			t.Fatal(err)
		}
		if waiting == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d events are not done", waiting)
		}
	}
	type count struct {
		Events int `db:"events"`
		Done   int `db:"done"`
		Jobs   int `db:"jobs"`
	}
	n, err := pg.One[count](t.Context(), h.db, `
		select count(*) as events, count(*) filter (where status = 'processed') as done,
			(select count(*) from job where kind = 'webhook.process' and state = 'succeeded') as jobs
			from webhook_event`)
	if err != nil || n.Events != len(told) || n.Done != len(told) || n.Jobs != len(told) {
		t.Errorf("%d were sent: %+v (%v)", len(told), n, err)
	}
}
