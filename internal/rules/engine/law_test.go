package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coffer/internal/platform/racetest"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
)

// TestEveryFieldAndOperator compares every possible leaf with the model.
func TestEveryFieldAndOperator(t *testing.T) {
	t.Parallel()
	r := seeded(1)
	seen := map[bool]int{}
	for _, field := range engine.AllFields.Names() {
		for range 400 {
			leaf, d := genLeaf(r, field), genDraft(r)
			want := modelEval(leaf, &d, engine.AllFields.Names())
			got := parsed(t, leaf).Eval(&d, engine.AllFields)
			seen[*want]++
			if (got == engine.True) != *want || got == engine.Unknown {
				t.Fatalf("%s on %s: %v, want %v", show(t, leaf), show(t, d), got, *want)
			}
		}
	}
	if seen[true] < 500 || seen[false] < 500 {
		t.Errorf("results are one-sided: %v", seen)
	}
}

// TestPipeline runs generated rules over generated drafts, 120,000 pairs, and compares all results
// with the model.
func TestPipeline(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	pairs, tally := 0, map[string]int{}
	for seed := range uint64(120) {
		r := seeded(seed)
		written := genSet(t, r, 10+r.IntN(81))
		set := shuffled(r, written)
		for range 20 {
			d := genDraft(r)
			p := engine.Pass{Event: engine.Event(r.IntN(3)), OverwriteManual: r.IntN(4) == 0, Trace: true}
			comparePass(t, written, set, d, p, tally)
			pairs += len(written)
		}
	}
	for _, want := range []string{
		"hits", "category", "tags", "counterparty", "comments", string(engine.Applied),
		string(engine.AlreadySo), string(engine.Held), string(engine.Overridden),
	} {
		if tally[want] < 200 {
			t.Errorf("%s happened only %d times", want, tally[want])
		}
	}
	if pairs < 100_000 {
		t.Errorf("only %d pairs", pairs)
	}
}

func comparePass(t *testing.T, written []written, set *engine.Set, d engine.Draft, p engine.Pass, tally map[string]int) {
	t.Helper()
	end, want := modelRun(written, cloned(d), p)
	before := cloned(d)
	given := d.Tags
	got := set.Run(&d, p)
	if !sameOutcome(want, got) {
		t.Fatalf("%s\n%s", show(t, before), cmp.Diff(want, got))
	}
	if d.Facts != end.Facts || d.Category != end.Category || !slices.Equal(d.Tags, end.Tags) ||
		d.Counterparty != end.Counterparty {
		t.Fatalf("draft at the end: %s", cmp.Diff(end, d))
	}
	if !slices.Equal(given, before.Tags) {
		t.Fatal("the caller's slice of tags was written to")
	}
	if !p.OverwriteManual {
		checkHeld(t, before, d, got)
	}
	tally["hits"] += len(got.Hits)
	tally["tags"] += len(got.Tags)
	tally["comments"] += len(got.Comments)
	if got.Category != nil {
		tally["category"]++
	}
	if got.Counterparty != nil {
		tally["counterparty"]++
	}
	for _, a := range got.Attempts {
		tally[string(a.Fate)]++
	}
	p.Trace = false
	d = before
	untraced := set.Run(&d, p)
	if got.Attempts = nil; !sameOutcome(got, untraced) {
		t.Fatal("the trace changes the outcome")
	}
}

func sameOutcome(a, b engine.Outcome) bool {
	same := func(x, y *engine.Effect) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return slices.Equal(a.Hits, b.Hits) && same(a.Category, b.Category) && slices.Equal(a.Tags, b.Tags) &&
		same(a.Counterparty, b.Counterparty) &&
		slices.Equal(a.Comments, b.Comments) && slices.Equal(a.Attempts, b.Attempts)
}

// checkHeld checks that no rule has changed a field that a person holds.
func checkHeld(t *testing.T, before, after engine.Draft, out engine.Outcome) {
	t.Helper()
	if before.HeldCategory && (out.Category != nil || after.Category != before.Category) {
		t.Fatal("a held category was changed")
	}
	if (before.HeldCounterparty || before.Counterparty) && out.Counterparty != nil {
		t.Fatal("a held or bound counterparty was changed")
	}
	for _, tag := range before.HeldTags {
		if slices.Contains(before.Tags, tag) != slices.Contains(after.Tags, tag) {
			t.Fatal("a held tag was changed")
		}
	}
}

// TestMatchIsEvalInTurn compares the index with the evaluation of each rule alone and with the
// model, also with unknown fields.
func TestMatchIsEvalInTurn(t *testing.T) {
	t.Parallel()
	matched := 0
	for seed := range uint64(60) {
		r := seeded(seed)
		written := genSet(t, r, 1+r.IntN(150))
		set := shuffled(r, written)
		for range 15 {
			d := genDraft(r)
			known := engine.AllFields
			if r.IntN(2) == 0 {
				known = pick(r, []engine.Fields{
					engine.NameFields, 0, engine.AllFields &^ engine.FieldTags,
					engine.Fields(r.IntN(int(engine.AllFields) + 1)),
				})
			}
			var want, turn []int
			for i, w := range written {
				if v := modelEval(w.condition, &d, known.Names()); v != nil && *v {
					want = append(want, i)
				}
				if w.Conditions.Eval(&d, known) == engine.True {
					turn = append(turn, i)
				}
			}
			got := set.Match(&d, known, nil)
			if !slices.Equal(got, want) || !slices.Equal(turn, want) {
				t.Fatalf("%s\nindex %v\nin turn %v\nmodel %v", show(t, d), got, turn, want)
			}
			matched += len(got)
		}
	}
	if matched < 5000 {
		t.Errorf("only %d matches", matched)
	}
}

// TestNeedsNeverLoseAMatch checks that a need holds for every draft that matches.
func TestNeedsNeverLoseAMatch(t *testing.T) {
	t.Parallel()
	narrow, ruledOut := 0, 0
	for seed := range uint64(4000) {
		r := seeded(seed)
		tree := parsed(t, genTree(r, 3))
		need := tree.Needs()
		if need.Kind != engine.NeedAny {
			narrow++
		}
		for range 15 {
			d := genDraft(r)
			matches, found := tree.Eval(&d, engine.AllFields) == engine.True, holds(t, need, &d)
			if matches && !found {
				t.Fatalf("%s matches %s, but not its need %s", tree, show(t, d), show(t, need))
			}
			if !found {
				ruledOut++
			}
		}
	}
	if narrow < 1000 || ruledOut < 5000 {
		t.Errorf("%d trees have a need, which rules out %d drafts: too few for a test", narrow, ruledOut)
	}
}

func TestNeedsOfASetNeverLoseAMatch(t *testing.T) {
	t.Parallel()
	ruledOut := 0
	for seed := range uint64(1500) {
		r := seeded(seed)
		set := shuffled(r, genSet(t, r, 1+r.IntN(3)))
		need := set.NeedsOf(func(int) bool { return true })
		for range 10 {
			d := genDraft(r)
			found := holds(t, need, &d)
			if hits := set.Run(&d, engine.Pass{Event: engine.Retroactive}).Hits; len(hits) > 0 && !found {
				t.Fatal("a rule matched a draft that the need of its set rules out")
			}
			if !found {
				ruledOut++
			}
		}
	}
	if ruledOut < 500 {
		t.Errorf("only %d drafts ruled out", ruledOut)
	}
}

// holds evaluates a need in the way that a store does.
func holds(t *testing.T, n engine.Need, d *engine.Draft) bool {
	t.Helper()
	one := func(m engine.Need) bool { return holds(t, m, d) }
	switch n.Kind {
	case engine.NeedAny:
		return true
	case engine.NeedNone:
		return false
	case engine.NeedAnd:
		return !slices.ContainsFunc(n.Of, func(m engine.Need) bool { return !one(m) })
	case engine.NeedOr:
		return slices.ContainsFunc(n.Of, one)
	case engine.NeedText:
		if len(n.Literal) < engine.MinLiteral || n.Literal != text.Fold(n.Literal) {
			t.Fatalf("literal %q", n.Literal)
		}
		of := map[string]string{"name": d.Name, "merchant_name": d.MerchantName, "detail": d.Detail}[n.Field]
		return strings.Contains(text.Fold(of), n.Literal)
	case engine.NeedAmount:
		return n.Low <= d.Cents && d.Cents <= n.High && (n.Low != math.MinInt64 || n.High != math.MaxInt64)
	case engine.NeedOneOf:
		s := map[string]string{
			"account_id": d.AccountID, "user_id": d.UserID, "provider": d.Provider,
			"category": d.Category, "iso_currency_code": d.Currency,
		}[n.Field]
		return slices.Contains(n.Values, text.Fold(s))
	case engine.NeedFlag:
		return d.Pending == n.Flag
	}
	t.Fatalf("kind %d", n.Kind)
	return false
}

// TestParsePrint checks that parsing a printed tree returns the same tree.
func TestParsePrint(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := seeded(seed)
		tree := parsed(t, genTree(r, 4))
		printed, err := tree.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again engine.Tree
		if err := again.UnmarshalJSON(printed); err != nil {
			t.Fatal(err)
		}
		if !tree.Equal(again) || tree.String() != again.String() {
			t.Fatalf("%s became %s", tree, again)
		}
		checkSame(t, r, tree, again)
	}
}

func checkSame(t *testing.T, r *rand.Rand, a, b engine.Tree) {
	t.Helper()
	for range 3 {
		d := genDraft(r)
		if a.Eval(&d, engine.AllFields) != b.Eval(&d, engine.AllFields) {
			t.Fatalf("%s means something else when read again", a)
		}
	}
}
