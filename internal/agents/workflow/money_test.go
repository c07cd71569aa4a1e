package workflow_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/report"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

var moneyRuns = flag.Int("money.runs", 500, "how many runs the law of money is tried with")

// A purse is a household's money for models, and the amount that a server really charged.
type purse struct {
	db    *pg.DB
	store *workflow.Store
	// blind switches to the comparison: nothing is reserved, and a call is refused only if a limit
	// has already been reached.
	blind bool

	mu      sync.Mutex
	charged money.Micros   // this month, as the server counts it
	liars   int            // answers that reported more than is possible
	faults  map[string]int // how often each fault happened
}

// law starts runs with random prices, caps, limits, faults and deaths, several at once, and returns
// the violations of the limits.
func (p *purse) law(t *testing.T, runs int, seed uint64) (broken []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for group := 0; runs > 0; group++ {
		var ceiling *money.Micros
		if r.IntN(5) > 0 {
			ceiling = new(money.Micros(r.IntN(200)) * 10_000) // whole cents
		}
		p.month(t, ceiling)
		var wg sync.WaitGroup
		var mu sync.Mutex
		n := min(runs, 1+r.IntN(12))
		runs -= n
		for i := range n {
			from := rand.New(rand.NewPCG(seed+uint64(group), uint64(i)+2))
			wg.Go(func() {
				for _, b := range p.spend(t, from) {
					mu.Lock()
					broken = append(broken, fmt.Sprintf("group %d run %d: %s", group, i, b))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		broken = append(broken, p.audit(t, ceiling)...)
	}
	return broken
}

// month begins a new month with that limit.
func (p *purse) month(t *testing.T, ceiling *money.Micros) {
	t.Helper()
	_, err := p.db.Exec(t.Context(), `delete from workflow_run; delete from model_month; delete from report`)
	if err == nil {
		_, err = p.db.Exec(t.Context(), `update setting set monthly_ceiling_usd = $1::numeric / 1000000`, ceiling)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.charged, p.liars = 0, 0
}

// audit compares the stored costs with the amount that the server charged.
func (p *purse) audit(t *testing.T, ceiling *money.Micros) (broken []string) {
	t.Helper()
	type sums struct {
		Spent    money.Micros `db:"spent"`
		Reserved money.Micros `db:"reserved"`
		Calls    money.Micros `db:"calls"`
		Unknown  int64        `db:"unknown"`
	}
	s, err := pg.One[sums](t.Context(), p.db, `
		select coalesce((select sum(spent_micros) from model_month), 0)::bigint as spent,
			coalesce((select sum(reserved_micros) from model_month), 0)::bigint as reserved,
			coalesce((select sum(cost_micros) from model_call), 0)::bigint as calls,
			(select count(*) from workflow_run r where cost_micros is not null and exists (
				select from model_call c where c.run_id = r.id and c.cost_micros is null and state <> 'failed')) as unknown`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Reserved != 0 || s.Spent != s.Calls {
		broken = append(broken, fmt.Sprintf("books do not add up: %+v", s))
	}
	if s.Unknown != 0 {
		broken = append(broken, "an unknown price counts as zero")
	}
	if p.liars == 0 && ceiling != nil && p.charged > *ceiling {
		broken = append(broken, fmt.Sprintf("a month cost %d of %d", p.charged, *ceiling))
	}
	if p.liars == 0 && s.Spent < p.charged {
		broken = append(broken, fmt.Sprintf("the server charged %d, the books say %d", p.charged, s.Spent))
	}
	return broken
}

// random returns a price that is sometimes zero, and sometimes unknown.
func random(r *rand.Rand) *llm.Price {
	switch r.IntN(10) {
	case 0:
		return nil
	case 1:
		return &llm.Price{}
	}
	in := money.Micros(r.Int64N(20_000_000) + 1)
	return &llm.Price{
		Input: in, Output: money.Micros(r.Int64N(60_000_000) + 1), CacheRead: in / 10,
		CacheWrite: in + in*money.Micros(r.Int64N(2))/4,
	}
}

// spend simulates a run: it asks until a limit, an end or an error, and sometimes dies.
func (p *purse) spend(t *testing.T, r *rand.Rand) (broken []string) {
	t.Helper()
	ctx := context.Background()
	price := random(r)
	var most *money.Micros
	if r.IntN(3) > 0 {
		most = new(money.Micros(r.IntN(500)) * 1000)
	}
	run := id.New()
	_, err := p.db.Exec(ctx, `insert into workflow_run (id, short_id, workflow_slug, trigger, definition,
		definition_hash, asked_type, asked_name) values ($1, $2, 'x', 'manual', '{}', '', 'user', 'Ada')`, run,
		run.Short())
	if err == nil {
		err = p.tx(ctx, func(tx pg.Tx) error {
			_, _, err := p.store.Start(ctx, tx, run, price != nil)
			return err
		})
	}
	if err != nil {
		return []string{err.Error()}
	}
	charged := money.Micros(0)
	prompt := r.Int64N(60_000) + 500
	for range 1 + r.IntN(10) {
		held, stop, err := p.reserve(ctx, run, most, price, prompt)
		if err != nil {
			return append(broken, err.Error())
		}
		if stop {
			break
		}
		fault := []string{"well", "well", "well", "well", "silent", "free", "billed", "unbilled", "killed", "liar"}[r.IntN(10)]
		if fault == "liar" && r.IntN(8) > 0 {
			fault = "well"
		}
		cost, liar, err := p.answer(ctx, r, run, held, price, prompt, fault)
		if err != nil {
			return append(broken, err.Error())
		}
		p.mu.Lock()
		p.charged += cost
		p.faults[fault]++
		p.mu.Unlock()
		charged += cost
		if liar { // the loop ends such a run
			break
		}
		prompt += r.Int64N(20_000)
	}
	live, err := p.store.Load(ctx, p.db, run)
	switch {
	case err != nil:
		return append(broken, err.Error())
	case price == nil && live.CostMicros != nil && live.Turns > 0:
		broken = append(broken, "a cost is known although the price is not")
	case price != nil && live.CostMicros == nil:
		broken = append(broken, "a cost is not known although the price is")
	case price != nil && *live.CostMicros < charged:
		broken = append(broken, fmt.Sprintf("a run cost %d, and its record says %d", charged, *live.CostMicros))
	case most != nil && price != nil && charged > *most:
		broken = append(broken, fmt.Sprintf("a run cost %d of %d", charged, *most))
	}
	return broken
}

func (p *purse) tx(ctx context.Context, f func(pg.Tx) error) error { return p.db.InTx(ctx, f) }

// reserve sets money aside, or reports that the run must stop.
func (p *purse) reserve(ctx context.Context, run id.ID, most *money.Micros, price *llm.Price, prompt int64) (
	held workflow.Reservation, stop bool, err error,
) {
	err = p.tx(ctx, func(tx pg.Tx) error {
		live, err := p.store.Load(ctx, tx, run)
		if err != nil {
			return err
		}
		ask := workflow.Ask{Run: live, Cap: most, Provider: "p", Model: "m", Prompt: prompt, Price: price}
		if p.blind && price != nil {
			ask.Prompt, ask.Price = 0, &llm.Price{}
			if live.CostMicros != nil && most != nil && *live.CostMicros >= *most {
				stop = true
				return nil
			}
		}
		held, err = p.store.Reserve(ctx, tx, ask)
		return err
	})
	if errs.Is(err, errs.ProviderNotConfig) {
		return held, true, nil
	}
	return held, stop || held.Limit != "", err
}

// answer simulates the server and the cost that the loop stores. It returns what the server really
// charged.
func (p *purse) answer(ctx context.Context, r *rand.Rand, run id.ID, held workflow.Reservation, price *llm.Price,
	prompt int64, fault string,
) (charged money.Micros, liar bool, err error) {
	part := r.Int64N(prompt + 1)
	usage := llm.NewUsage(part, r.Int64N(prompt-part+1), 0, 1+r.Int64N(int64(held.MaxTokens)))
	if usage.CacheWrite = prompt - usage.Input - usage.CacheRead; r.IntN(2) == 0 {
		usage.CacheWrite = 0
	}
	if fault == "liar" {
		usage.Output += int64(held.MaxTokens) * 100
		usage.Input += prompt * 100
	}
	if price != nil {
		charged = price.Cost(usage)
	}
	e := workflow.Settlement{Call: held.Call, State: workflow.CallAnswered, Usage: usage, Micros: held.Micros}
	switch fault {
	case "well", "liar":
		if price != nil {
			e.Micros = &charged
		}
	case "silent", "free": // the server reports nothing, or zero: the loop stores the reserved amount
		e.Usage = llm.Usage{}
	case "billed":
		e.State, e.Usage = workflow.CallFailed, llm.Usage{}
	case "unbilled":
		e.State, e.Usage, charged = workflow.CallFailed, llm.Usage{}, 0
		if price != nil {
			e.Micros = new(money.Micros(0))
		}
	case "killed":
		return charged, false, p.tx(ctx, func(tx pg.Tx) error {
			_, _, err := p.store.Start(ctx, tx, run, price != nil)
			return err
		})
	}
	if liar = fault == "liar" && price != nil && *price != (llm.Price{}); liar {
		p.mu.Lock()
		p.liars++
		p.mu.Unlock()
	}
	err = p.tx(ctx, func(tx pg.Tx) error { return p.store.Settle(ctx, tx, run, e) })
	if liar {
		charged = 0 // the stored cost is limited; the server's excess demand does not count here
	}
	return charged, liar, err
}

// No run costs more than its cap, and no month more than its limit, even if calls fail, workers die
// and several runs ask at once. In the comparison the cost is stored only after the call.
func TestMoney(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blind bool
		runs  int
	}{"reserved before": {false, *moneyRuns}, "control: settled after": {true, 60}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			p := &purse{db: db, store: &workflow.Store{Reports: report.New()}, blind: c.blind, faults: map[string]int{}}
			broken := p.law(t, c.runs, 20261116)
			t.Logf("%d runs, %d violations, calls: %v", c.runs, len(broken), p.faults)
			if c.blind {
				if len(broken) == 0 {
					t.Error("the control broke nothing, so the law proves nothing")
				}
				return
			}
			for _, b := range broken[:min(len(broken), 20)] {
				t.Error(b)
			}
		})
	}
}

// At 80 % and at 100 % of the limit a report is written, each once a month.
func TestCeilingWarns(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	p := &purse{db: db, store: &workflow.Store{Reports: report.New()}, faults: map[string]int{}}
	p.month(t, new(money.Micros(1_000_000)))
	price := &llm.Price{Input: 1_000_000, Output: 10_000_000, CacheRead: 1, CacheWrite: 1}
	ctx := t.Context()
	run := id.New()
	_, err := db.Exec(ctx, `insert into workflow_run (id, short_id, workflow_slug, trigger, definition,
		definition_hash, asked_type, asked_name) values ($1, $2, 'x', 'manual', '{}', '', 'user', 'Ada')`, run,
		run.Short())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.tx(ctx, func(tx pg.Tx) error {
		_, _, err := p.store.Start(ctx, tx, run, true)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	titles := func() string {
		all, err := pg.Values[string](ctx, db, `select title || ' (' || kind || ')' from report order by id`)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all)
	}
	stopped := false
	for spent := money.Micros(0); !stopped && spent < 3_000_000; {
		held, stop, err := p.reserve(ctx, run, nil, price, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if stopped = stop; stop {
			if held.Limit != workflow.LimitCeiling {
				t.Errorf("stopped by %q", held.Limit)
			}
			break
		}
		usage := llm.NewUsage(1000, 0, 0, 1000)
		cost := price.Cost(usage)
		spent += cost
		err = p.tx(ctx, func(tx pg.Tx) error {
			return p.store.Settle(ctx, tx, run, workflow.Settlement{
				Call: held.Call, State: workflow.CallAnswered, Usage: usage, Micros: &cost,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		want := "[]"
		if spent >= 800_000 {
			want = "[AI spending is at 80% of this month's limit (alert)]"
		}
		if got := titles(); got != want {
			t.Fatalf("after %d: %s, want %s", spent, got, want)
		}
	}
	want := "[AI spending is at 80% of this month's limit (alert) AI spending limit reached (alert)]"
	if _, stop, err := p.reserve(ctx, run, nil, price, 1000); err != nil || !stop || titles() != want {
		t.Errorf("%v %v: %s", stop, err, titles())
	}
}
