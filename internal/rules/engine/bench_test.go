package engine_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/rules/engine"
	"coffer/internal/sim/household"
)

// drafts are transactions of a generated household, as rules see them.
var drafts = sync.OnceValue(func() []engine.Draft {
	h := household.New(household.Options{Seed: 7, Transactions: 40_000, Years: 5})
	out := make([]engine.Draft, 0, 40_000)
	for x := range h.Transactions() {
		out = append(out, engine.Draft{
			Facts: engine.Facts{
				Name: x.Name.Plain(), MerchantName: x.MerchantName.Plain(), CategoryPrimary: x.RawPrimary.Plain(),
				CategoryDetailed: x.RawDetailed.Plain(),
				Provider:         h.Provider(x.AccountIndex), AccountName: h.Accounts[x.AccountIndex].Name.Plain(),
				UserName:  "Kim",
				AccountID: fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a8%03d", x.AccountIndex),
				Cents:     x.Amount.Cents(), Pending: x.Pending,
			},
			Tags: []string{"needs-review"},
		})
	}
	seeded(3).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
})

// literals returns n different texts to search for: one to three consecutive words, most of which
// occur in the household, and made-up shops.
func literals(r *rand.Rand, n int) []string {
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		words := strings.Fields(pick(r, drafts()).Name)
		from := r.IntN(len(words))
		s := strings.Join(words[from:min(len(words), from+1+r.IntN(3))], " ")
		if r.IntN(3) == 0 {
			s = fmt.Sprintf("%s %d", words[0], r.IntN(100_000))
		}
		if len(s) >= 4 && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// mixed returns rules in the mix that the performance goals assume: 70% contains, 15% regular
// expressions, and 15% amounts, tags and nested conditions.
func mixed(t testing.TB, n int) []engine.Rule {
	t.Helper()
	r := seeded(9)
	words := literals(r, n)
	rules := make([]engine.Rule, n)
	for i, word := range words {
		var c map[string]any
		contains := map[string]any{"field": "name", "op": "contains", "value": word}
		switch share := i % 20; {
		case share < 14:
			c = contains
			if share > 10 {
				c["field"] = "merchant_name"
			}
		case share < 17:
			c = map[string]any{"field": "name", "op": "matches", "value": []string{
				"(?i)" + regexp.QuoteMeta(word), "^" + regexp.QuoteMeta(word) + `\b`,
				"(?i)^" + regexp.QuoteMeta(word) + ".*(BERLIN|HAMBURG)",
			}[share-14]}
		case share == 17:
			c = map[string]any{"and": []any{
				map[string]any{"field": "amount", "op": "gte", "value": r.IntN(500)},
				map[string]any{"field": "amount", "op": "lt", "value": 500 + r.IntN(20)},
			}}
		case share == 18:
			c = map[string]any{"and": []any{
				map[string]any{"field": "tags", "op": "contains", "value": fmt.Sprintf("tag-%d", r.IntN(200))},
				map[string]any{"field": "category", "op": "neq", "value": ""},
			}}
		default:
			c = map[string]any{"and": []any{
				map[string]any{"or": []any{contains, map[string]any{
					"field": "merchant_name", "op": "eq",
					"value": word,
				}}},
				map[string]any{"not": map[string]any{"field": "amount", "op": "gt", "value": 100}},
				map[string]any{"field": "pending", "op": "eq", "value": false},
			}}
		}
		action := engine.Action{Type: "set_category", CategorySlug: fmt.Sprintf("category-%d", r.IntN(100))}
		if i%5 == 0 {
			action = engine.Action{Type: "add_tag", TagSlug: fmt.Sprintf("tag-%d", r.IntN(200))}
		}
		rules[i] = engine.Rule{
			ID: id.Numbered(time.UnixMilli(1690000000000), int64(i)), Priority: 10, CreatedAt: time.Unix(int64(i), 0),
			Trigger: engine.Always, Conditions: parsed(t, c), Actions: []engine.Action{action},
		}
	}
	return rules
}

var sizes = []int{200, 5_000, 10_000}

// timed reports processor time besides wall-clock time. On a busy machine, wall-clock time says
// little.
func timed(b *testing.B, once func(i int)) {
	b.Helper()
	b.ReportAllocs()
	i, before := 0, processor(b)
	for b.Loop() {
		once(i)
		i++
	}
	b.ReportMetric(float64(processor(b)-before)/float64(i), "cpu-ns/op")
}

func processor(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRun runs the whole pipeline, with chaining and effects, for one transaction.
func BenchmarkRun(b *testing.B) {
	for _, n := range sizes {
		set, all := engine.Compile(mixed(b, n)), drafts()
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			hits := 0
			var d engine.Draft
			timed(b, func(i int) {
				d = all[i%len(all)]
				hits += len(set.Run(&d, engine.Pass{}).Hits)
			})
			b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
		})
	}
}

// BenchmarkMatch finds the rules that match one transaction. Each rule is evaluated alone.
func BenchmarkMatch(b *testing.B) {
	for _, n := range sizes {
		set, all := engine.Compile(mixed(b, n)), drafts()
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var into []int
			timed(b, func(i int) { into = set.Match(&all[i%len(all)], engine.AllFields, into[:0]) })
		})
	}
}

// BenchmarkInTurn gets the same result by evaluating each rule in turn, with every text folded only
// once. Match does that if a field is unknown.
func BenchmarkInTurn(b *testing.B) {
	for _, n := range sizes {
		set, all := engine.Compile(mixed(b, n)), drafts()
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var into []int
			timed(b, func(i int) { into = set.Match(&all[i%len(all)], engine.AllFields&^engine.FieldUserID, into[:0]) })
		})
	}
}

// BenchmarkPreview evaluates one condition over many transactions, by itself and as a set of one.
func BenchmarkPreview(b *testing.B) {
	for name, c := range map[string]map[string]any{
		"contains": {"field": "name", "op": "contains", "value": "edeka"},
		"matches":  {"field": "name", "op": "matches", "value": "(?i)^edeka|rewe"},
		"spread":   {"field": "name", "op": "matches", "value": `(?i)\bb.*k\d`},
	} {
		tree, all := parsed(b, c), drafts()
		set := engine.Compile([]engine.Rule{{Conditions: tree}})
		b.Run(name+"/tree", func(b *testing.B) {
			timed(b, func(i int) { tree.Eval(&all[i%len(all)], engine.AllFields) })
		})
		b.Run(name+"/set", func(b *testing.B) {
			var into []int
			timed(b, func(i int) { into = set.Match(&all[i%len(all)], engine.AllFields, into[:0]) })
		})
	}
}

// BenchmarkCompile builds a set and reports how much memory it keeps.
func BenchmarkCompile(b *testing.B) {
	for _, n := range sizes {
		rules := mixed(b, n)
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			timed(b, func(int) { engine.Compile(rules) })
			before := heap()
			set := engine.Compile(rules)
			b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-kept")
			runtime.KeepAlive(set)
		})
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkParse reads a stored condition.
func BenchmarkParse(b *testing.B) {
	rules := mixed(b, 1000)
	printed := make([][]byte, len(rules))
	for i := range rules {
		printed[i], _ = rules[i].Conditions.MarshalJSON()
	}
	timed(b, func(i int) {
		var tree engine.Tree
		if err := tree.UnmarshalJSON(printed[i%len(printed)]); err != nil {
			b.Fatal(err)
		}
	})
}
