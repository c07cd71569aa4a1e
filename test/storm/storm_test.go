package storm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// These limit how slow other callers may become. On a slow machine, the limit is a multiple of the
// time that a request takes without a storm.
const (
	slowest    = 300 * time.Millisecond
	timesQuiet = 15
)

// A storm is callers who merge, apply, import, revert, cancel and sync at the same time, with six
// keys. In the middle of it, somebody locks all transactions, as a change of many transactions
// does.
type storm struct {
	*house
	length, hold time.Duration
	keys         []string
	bucket       string // a connection for files

	mu    sync.Mutex
	codes map[string]int
	wrong []error
}

// TestStorm: callers who change everything at once do not affect others. No call fails with an
// internal error, another key's reads are quick, the probe never fails, and no job loses its
// worker.
func TestStorm(t *testing.T) { //nolint:paralleltest // it measures
	s := newStorm(t, guarded, 4000)
	s.length, s.hold = 20*time.Second, 6*time.Second
	if d, err := time.ParseDuration(os.Getenv("COFFER_TEST_STORM")); err == nil {
		s.length = d
	}
	for _, err := range s.blow(t) {
		t.Error(err)
	}
	s.happened(t)
}

// TestStormWouldBeNoticed is the control: with one shared pool and no lock timeout, others notice a
// much smaller storm.
func TestStormWouldBeNoticed(t *testing.T) { //nolint:paralleltest // it measures
	onlyUnshared(t)
	s := newStorm(t, unguarded, 300)
	s.length, s.hold = 6*time.Second, 4*time.Second
	wrong := s.blow(t)
	if len(wrong) == 0 {
		t.Fatal("nothing is kept for others and nobody notices, so the test proves nothing")
	}
	t.Log(wrong[len(wrong)-1])
}

func newStorm(t *testing.T, o pg.Options, rows int) *storm {
	t.Helper()
	s := &storm{house: newHouse(t, o, rows), codes: map[string]int{}}
	for n := range 6 {
		s.keys = append(s.keys, s.key(t, fmt.Sprint("storm ", n)))
	}
	made := s.call(t.Context(), http.MethodPost, "/connections", s.keys[0],
		`{"provider":"csv","institution_name":"Storm"}`)
	if s.bucket = field(made.body, "id"); s.bucket == "" {
		t.Fatalf("no connection for files: %d %s", made.status, made.body)
	}
	return s
}

// blow runs the storm and returns all faults. The last one is what other callers noticed.
func (s *storm) blow(t *testing.T) []error {
	t.Helper()
	reader := s.key(t, "reader")
	quiet := s.bystander(t, reader, 3*time.Second)
	loud := make(chan observed, 1)
	go func() { loud <- s.bystander(t, reader, s.length) }()
	s.rage(t)
	o := <-loud
	t.Logf("quiet: %s; in the storm: %s", quiet, o)
	t.Log(s.codes)
	wrong := s.wrong
	for _, line := range slices.Concat(s.log.lines("leases not renewed"), s.log.lines("has disappeared"),
		s.log.lines("INTERNAL_ERROR")) {
		wrong = append(wrong, errors.New(line))
	}
	wrong = append(wrong, o.wrong...)
	if bound := max(slowest, timesQuiet*quiet.p99()); o.p99() > bound {
		wrong = append(wrong, fmt.Errorf("another caller's reads take %s (p99), %s in quiet; the bound is %s", o.p99(),
			quiet.p99(), bound))
	}
	return wrong
}

// kinds are the fourteen kinds of callers.
var kinds = []func(*storm, context.Context, *rand.Rand){
	(*storm).category, (*storm).category, (*storm).rules, (*storm).rules, (*storm).revert, (*storm).revert,
	(*storm).edit, (*storm).edit,
	(*storm).file, (*storm).file, (*storm).tag, (*storm).sync, (*storm).counterparty, (*storm).counterparty,
}

// rage runs all callers for the storm's time, and waits until each has finished its last call.
func (s *storm) rage(t *testing.T) {
	t.Helper()
	end := time.Now().Add(s.length)
	var all sync.WaitGroup
	for n, act := range kinds {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), 11))
			for time.Now().Before(end) {
				act(s, t.Context(), dice)
			}
		})
	}
	time.Sleep((s.length - s.hold) / 2)
	release := s.lock(t, `lock table transaction in share row exclusive mode`)
	time.Sleep(s.hold)
	release()
	all.Wait()
}

// happened checks that the storm did enough.
func (s *storm) happened(t *testing.T) {
	t.Helper()
	for _, of := range []string{
		"POST /categories/*/merge 200", "POST /changes/*/revert 200",
		"POST /counterparties/*/merge 200", "POST /rules 201", "POST /tags 201",
		"POST /transactions/batch-categorize 200",
	} {
		if s.codes[of] == 0 {
			t.Errorf("never: %s; this is not a storm", of)
		}
	}
	ended, err := pg.Values[string](t.Context(), s.other, `select distinct kind from job where state = 'succeeded'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"feed.sync", "feed.import", "rule.apply"} {
		if !slices.Contains(ended, kind) {
			t.Errorf("no %s has succeeded (%v)", kind, ended)
		}
	}
}

// do makes a call with a random key, and records the result.
func (s *storm) do(ctx context.Context, dice *rand.Rand, method, path, body string) answer {
	r := s.call(ctx, method, path, s.keys[dice.IntN(len(s.keys))], body)
	name, _, _ := strings.Cut(path, "?")
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.ContainsAny(part, "0123456789") {
			parts[i] = "*"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[fmt.Sprintf("%s %s %d", method, strings.Join(parts, "/"), r.status)]++
	switch {
	case r.status == 0 && ctx.Err() != nil:
	case r.status == 0 || r.status >= http.StatusInternalServerError && r.status != http.StatusServiceUnavailable:
		s.wrong = append(s.wrong, fmt.Errorf("%s %s: %d %s", method, path, r.status, r.body))
	case (r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests) && r.again == "":
		s.wrong = append(s.wrong, fmt.Errorf("%s %s: %d without Retry-After: %s", method, path, r.status, r.body))
	}
	return r
}

// field returns a text field of a response, or "".
func field(body, name string) string {
	var all map[string]any
	_ = json.Unmarshal([]byte(body), &all) // an error has no such field
	text, _ := all[name].(string)
	return text
}

// ids returns the ids of the records that a response lists under that name, or of the whole
// response.
func ids(body, name, which string) []string {
	var list []map[string]any
	if name == "" {
		_ = json.Unmarshal([]byte(body), &list) // an error has no list
	} else {
		var all map[string]json.RawMessage
		_ = json.Unmarshal([]byte(body), &all)
		_ = json.Unmarshal(all[name], &list)
	}
	var out []string
	for _, r := range list {
		if text, ok := r[which].(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func one(dice *rand.Rand, of []string) string {
	if len(of) == 0 {
		return "none"
	}
	return of[dice.IntN(len(of))]
}

func (s *storm) transactions(ctx context.Context, dice *rand.Rand, n int) []string {
	r := s.do(ctx, dice, http.MethodGet,
		fmt.Sprintf("/transactions?limit=%d&fields=minimal&start_date=20%d-0%d-01&sort_order=asc", n, 24+dice.IntN(3),
			1+dice.IntN(9)), "")
	return ids(r.body, "transactions", "id")
}

func printed(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return string(b)
}

type object = map[string]any

func (s *storm) category(ctx context.Context, dice *rand.Rand) {
	slug := fmt.Sprint("storm-", dice.IntN(1_000_000))
	if r := s.do(ctx, dice, http.MethodPost, "/categories",
		printed(object{"slug": slug, "name": slug})); r.status != http.StatusCreated {
		return
	}
	s.do(ctx, dice, http.MethodPost, "/transactions/batch-categorize",
		printed(object{"transaction_ids": s.transactions(ctx, dice, 100), "category_id": slug}))
	s.do(ctx, dice, http.MethodPost, "/rules", printed(object{"rules": []object{{
		"name": slug, "conditions": object{"field": "name", "op": "contains", "value": string("aeiou"[dice.IntN(5)])},
		"category_slug": slug,
	}}}))
	into := one(dice, ids(s.do(ctx, dice, http.MethodGet, "/categories", "").body, "", "slug"))
	if dice.IntN(2) == 0 {
		s.do(ctx, dice, http.MethodPost, "/categories/"+slug+"/merge", printed(object{"into": into}))
	} else {
		s.do(ctx, dice, http.MethodDelete, "/categories/"+slug+"?move_to="+url.QueryEscape(into), "")
	}
}

func (s *storm) rules(ctx context.Context, dice *rand.Rand) {
	r := s.do(ctx, dice, http.MethodPost, "/rules/apply?wait=5s",
		printed(object{"overwrite_manual": dice.IntN(2) == 0}))
	if job := field(r.body, "id"); job != "" && dice.IntN(5) < 2 {
		s.do(ctx, dice, http.MethodPost, "/jobs/"+job+"/cancel", "")
	}
}

func (s *storm) revert(ctx context.Context, dice *rand.Rand) {
	changes := ids(s.do(ctx, dice, http.MethodGet, "/changes?limit=20", "").body, "changes", "id")
	for range 3 {
		s.do(ctx, dice, http.MethodPost, "/changes/"+one(dice, changes)+"/revert", "{}")
	}
}

func (s *storm) edit(ctx context.Context, dice *rand.Rand) {
	rows := s.transactions(ctx, dice, 50)
	for range 5 {
		at, tag := "/transactions/"+one(dice, rows), fmt.Sprint("storm", dice.IntN(8))
		switch dice.IntN(6) {
		case 0, 1:
			s.do(ctx, dice, http.MethodPost, at+"/tags", printed(object{"tag_slug": tag}))
		case 2:
			s.do(ctx, dice, http.MethodDelete, at+"/tags/"+tag, "")
		case 3:
			s.do(ctx, dice, http.MethodDelete, at, "")
		case 4:
			s.do(ctx, dice, http.MethodPost, at+"/restore", "{}")
		default:
			s.do(ctx, dice, http.MethodPatch, at, printed(object{"comment": "c"}))
		}
	}
}

func (s *storm) file(ctx context.Context, dice *rand.Rand) {
	var csv strings.Builder
	csv.WriteString("Date;Text;Amount\n")
	for range 400 {
		fmt.Fprintf(&csv, "2026-0%d-%02d;STORM %d;-%d,50\n", 1+dice.IntN(9), 1+dice.IntN(28), dice.IntN(300),
			dice.IntN(90))
	}
	s.do(ctx, dice, http.MethodPost, "/connections/"+s.bucket+"/csv/import?wait=10s", csv.String())
}

func (s *storm) tag(ctx context.Context, dice *rand.Rand) {
	slug := fmt.Sprint("storm", dice.IntN(8))
	s.do(ctx, dice, http.MethodPost, "/tags", printed(object{"slug": slug, "name": slug}))
	s.do(ctx, dice, http.MethodDelete, "/tags/"+slug, "")
}

func (s *storm) sync(ctx context.Context, dice *rand.Rand) {
	s.do(ctx, dice, http.MethodPost, "/sync?wait=5s", "{}")
	time.Sleep(time.Second) // a person who repeats the request every second
}

func (s *storm) counterparty(ctx context.Context, dice *rand.Rand) {
	s.do(ctx, dice, http.MethodPost, "/counterparties", printed(object{"name": fmt.Sprint("CP ", dice.IntN(30))}))
	all := ids(s.do(ctx, dice, http.MethodGet, "/counterparties", "").body, "counterparties", "id")
	s.do(ctx, dice, http.MethodPost, "/counterparties/"+one(dice, all)+"/transactions",
		printed(object{"transaction_ids": s.transactions(ctx, dice, 30)}))
	s.do(ctx, dice, http.MethodPost, "/counterparties/"+one(dice, all)+"/merge",
		printed(object{"into": one(dice, all)}))
}

// observed holds what a caller that only reads has measured.
type observed struct {
	reads []time.Duration
	wrong []error
}

// p99 returns the 99th percentile of the read times.
func (o observed) p99() time.Duration {
	if len(o.reads) == 0 {
		return time.Hour
	}
	slices.Sort(o.reads)
	return o.reads[len(o.reads)*99/100]
}

// String implements fmt.Stringer.
func (o observed) String() string {
	p99 := o.p99()
	return fmt.Sprintf("%d reads, median %s, p99 %s, slowest %s", len(o.reads), o.reads[len(o.reads)/2], p99,
		o.reads[len(o.reads)-1])
}

// bystander reads with its own key and calls the probe, forty times a second whether or not the
// last responses have arrived. A caller that waits for each response would hardly notice a server
// that stops.
func (h *house) bystander(t *testing.T, key string, length time.Duration) (o observed) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(length); time.Now().Before(end); <-tick.C {
		all.Go(func() {
			read := h.call(t.Context(), http.MethodGet, "/tags", key, "")
			probe := h.call(t.Context(), http.MethodGet, "/health/ready", "", "")
			mu.Lock()
			defer mu.Unlock()
			o.reads = append(o.reads, read.took)
			if read.status != http.StatusOK {
				o.wrong = append(o.wrong, fmt.Errorf("GET /tags of another caller: %d after %s: %s", read.status,
					read.took, read.body))
			}
			if probe.status != http.StatusOK {
				o.wrong = append(o.wrong, fmt.Errorf("the probe: %d after %s: %s", probe.status, probe.took,
					probe.body))
			}
		})
	}
	all.Wait()
	if len(o.reads) < 20 {
		o.wrong = append(o.wrong, errors.New("the bystander came to nothing"))
	}
	return o
}
