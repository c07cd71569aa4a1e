package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/internal/platform/text"
)

// TestAutomatonIsContains compares the automaton with strings.Contains. It uses few letters, so
// that literals overlap and are suffixes of each other.
func TestAutomatonIsContains(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abABäÄ \u212ak")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		var literals []string
		for _, s := range rapid.SliceOfN(letters, 0, 40).Draw(t, "literals") {
			if s = text.Fold(s); s != "" && !slices.Contains(literals, s) {
				literals = append(literals, s)
			}
		}
		checkAutomaton(t, literals, rapid.StringOfN(rapid.RuneFrom([]rune("abABäÄ \u212akz€")), 0, 30, -1).Draw(t,
			"text"))
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

func checkAutomaton(t failer, literals []string, s string) {
	posts := make([][]posting, len(literals))
	for i := range posts {
		posts[i] = []posting{{FieldName, int32(i), i%2 == 0}, {FieldMerchantName, int32(i + len(literals)), false}}
	}
	words := len(literals)*2/64 + 1
	sc := &scratch{maybe: make([]uint64, words), sure: make([]uint64, words)}
	sc.look(&Draft{Facts: Facts{Name: s}})
	newAutomaton(literals, posts).scan(sc, 0)
	for i, literal := range literals {
		want := strings.Contains(text.Fold(s), literal)
		if got := sc.maybe[i>>6]>>(i&63)&1 == 1; got != want {
			t.Fatalf("%q in %q: %v", literal, s, got)
		}
		if sure := sc.sure[i>>6]>>(i&63)&1 == 1; sure != (want && i%2 == 0) {
			t.Fatalf("%q in %q is sure: %v", literal, s, sure)
		}
		if other := i + len(literals); sc.maybe[other>>6]>>(other&63)&1 == 1 {
			t.Fatalf("%q was found in a field that has none", literal)
		}
	}
}

// TestAutomatonOfManyLiterals tests deep states, many classes, and an automaton without literals.
func TestAutomatonOfManyLiterals(t *testing.T) {
	t.Parallel()
	var literals []string
	for i := range 3000 {
		literals = append(literals, fmt.Sprintf("shop %d %c%c", i*7919%10_007, 'a'+i%26, 0x430+i%32))
	}
	for _, s := range []string{
		"", "SHOP 7919 bБ", "shop 1", "shopshop 5831 cв shop",
		"Shop " + strings.Repeat("7919 ", 50), strings.Repeat("ш", 100),
	} {
		checkAutomaton(t, literals, s)
	}
	checkAutomaton(t, literals, strings.Join(literals[:500], "|"))
	checkAutomaton(t, nil, "anything")
}

// TestRequiredLiterals generates texts from the pieces of an expression. Each text that matches
// must contain one of the required literals.
func TestRequiredLiterals(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"ab", "(?i:Ab)", "[aB]", "(b|ca)", "a?", "b*", "(ab)+", ".", `\b`, "^", "$",
		"(?i:k)", "x{2,3}", "(a|bb|)", "[^a]", "(?:ab|c){1,2}", "ä", `\d`, "[a-z]",
	})
	scraps := rapid.SampledFrom([]string{
		"a", "b", "ab", "AB", "c", "ca", "k", "K", "\u212a", "xx", "x", "ä", "Ä", "1",
		" ", "",
	})
	matched, narrowed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pattern"),
			rapid.SampledFrom([]string{"", "", "|"}).Draw(t, "between"))
		tree, faults := ParseTree("", []byte(fmt.Sprintf(`{"field":"name","op":"matches","value":%q}`, pattern)))
		if len(faults) > 0 {
			t.Fatalf("%s: %v", pattern, faults)
		}
		literals := requiredLiterals(pattern)
		if literals != nil {
			narrowed++
		}
		for range 20 {
			d := Draft{Facts: Facts{Name: strings.Join(rapid.SliceOfN(scraps, 0, 8).Draw(t, "text"), "")}}
			if tree.Eval(&d, AllFields) != True {
				continue
			}
			matched++
			if literals != nil && !slices.ContainsFunc(literals,
				func(s string) bool { return strings.Contains(text.Fold(d.Name), s) }) {
				t.Fatalf("%s matches %q without any of %q", pattern, d.Name, literals)
			}
		}
	})
	if matched < 100 || narrowed < 10 {
		t.Errorf("%d matches, %d expressions with literals: too few for a test", matched, narrowed)
	}
}

// TestTables checks the assumptions that the code makes about the tables.
func TestTables(t *testing.T) {
	t.Parallel()
	for i, f := range fields {
		if f.bit != 1<<i || f.doc == "" {
			t.Errorf("%s: bit %b does not fit its index, or doc is empty", f.name, f.bit)
		}
		if compared := f.kind == kindText || f.kind == kindCategory ||
			f.kind == kindIdentity; compared != (f.text != nil) {
			t.Errorf("%s: has a text to compare: %v", f.name, f.text != nil)
		}
		if kindWords[f.kind] == "" || len(operatorsFor(f.kind)) == 0 {
			t.Errorf("%s: a kind without words or operators", f.name)
		}
	}
	for i, o := range operators {
		if (o.span != nil) != (o.test == testRange) || formWords[o.form] == "" || o.doc == "" {
			t.Errorf("operator %s at %d is incomplete", o.name, i)
		}
		for _, k := range o.kinds {
			if operatorOf(o.name, k) != &operators[i] {
				t.Errorf("%s is listed twice for one kind", o.name)
			}
		}
	}
	for _, e := range effects {
		if len(e.payload) == 0 || e.check == nil || e.do == nil || e.doc == "" {
			t.Errorf("action %s is incomplete", e.name)
		}
	}
}
