package hijack_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A tally counts what happened to the calls.
type tally struct {
	mu     sync.Mutex
	times  map[string]time.Duration // by tool and route
	done   int
	failed map[string]int // number of failed calls, by error code
	broken []string       // results that no caller may get
}

// attack lets attackers call every tool and the given routes with a key.
func (h *house) attack(t *testing.T, key string, calls, attackers int, baits []string, routes []route) *tally {
	t.Helper()
	score := &tally{times: map[string]time.Duration{}, failed: map[string]int{}}
	h.rounds++ // each round draws other numbers
	me, err := h.Auth.Key(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	spoils := newLoot(me)
	var left atomic.Int64
	left.Store(int64(calls))
	var all sync.WaitGroup
	offered := 0
	for n := range attackers {
		s := h.session(t, key)
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		offered = len(list.Tools) + len(routes)
		a := &attacker{
			Rand: rand.New(rand.NewPCG(uint64(n), uint64(6+h.rounds))), tools: list.Tools, loot: spoils, baits: baits, session: s,
			routes: routes, url: h.url, key: key, client: http.DefaultClient,
		}
		all.Go(func() {
			for left.Add(-1) >= 0 {
				h.judge(t, score, a)
			}
		})
	}
	all.Wait()
	if len(score.times) < offered && calls >= 100*offered {
		t.Errorf("%d tools and routes are offered, %d were called", offered, len(score.times))
	}
	return score
}

// judge makes one call and checks the result.
func (h *house) judge(t *testing.T, score *tally, a *attacker) {
	t.Helper()
	start := time.Now()
	b := a.strike(t.Context())
	took := time.Since(start)
	given, _ := json.Marshal(b.args)
	score.mu.Lock()
	defer score.mu.Unlock()
	for _, s := range h.secrets {
		if strings.Contains(b.said, s) {
			score.broken = append(score.broken, fmt.Sprintf("%s %s told a secret: %.300s", b.name, given, b.said))
		}
	}
	if b.broken || strings.Contains(b.said, "INTERNAL_ERROR") || strings.Contains(b.said, "panic") {
		score.broken = append(score.broken, fmt.Sprintf("%s %s broke: %.300s", b.name, given, b.said))
	}
	score.times[b.name] += took
	if b.code != "" {
		score.failed[b.code]++
	} else {
		score.done++
	}
}

// undo reverts all changes since then, as a person would: newest first in the order of the list,
// each change once. It returns the number of reverts.
func (h *house) undo(t *testing.T, since int64) int {
	t.Helper()
	ops := map[string]*op.Op{}
	for _, o := range h.Ops() {
		ops[o.ID()] = o
	}
	person, err := h.Auth.Key(t.Context(), h.person)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, change string, into any) {
		answer, err := h.Runner.Call(t.Context(), ops[name],
			op.Call{Actor: person, Surface: op.REST, Args: map[string]any{"change_id": change}, RequestID: "undo"})
		if err == nil {
			err = json.Unmarshal(answer.Body, into)
		}
		if err != nil {
			t.Fatalf("%s %s: %v", name, change, err)
		}
	}
	list, err := pg.Values[string](t.Context(), h.DB, `select id::text from change where seq > $1
		order by seq desc`, since)
	if err != nil {
		t.Fatal(err)
	}
	reverted := 0
	for _, c := range list {
		var now struct {
			Summary    string  `json:"summary"`
			RevertedBy *string `json:"reverted_by"`
		}
		if call("change.get", c, &now); now.RevertedBy != nil {
			continue
		}
		var done struct {
			Skipped []json.RawMessage `json:"skipped"`
		}
		if call("change.revert", c, &done); len(done.Skipped) > 0 {
			t.Errorf("the revert of %s (%s) left %s", c, now.Summary, done.Skipped)
		}
		reverted++
	}
	return reverted
}
