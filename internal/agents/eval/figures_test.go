package eval

import (
	"encoding/json"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
)

// The interval is Wilson's. The expected figures are from textbooks.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n               int
		percent, low, high Percent
	}{
		{0, 10, 0, 0, 278},
		{8, 10, 800, 490, 943},
		{10, 10, 1000, 722, 1000},
		{81, 263, 308, 255, 366},
		{1, 1, 1000, 207, 1000},
		{500, 1000, 500, 469, 531},
	} {
		if got := *share(c.k, c.n); got != (EvaluationShare{c.percent, c.low, c.high}) {
			t.Errorf("%d of %d: %+v", c.k, c.n, got)
		}
	}
	if share(0, 0) != nil {
		t.Error("a share of nothing")
	}
}

// Every figure of four answers: one right; one wrong but in the right primary category; one wrong,
// where the value before was right; and one left to a person.
func TestFigures(t *testing.T) {
	t.Parallel()
	items := []EvaluationItem{
		{Label: "food_cafes", Answer: new("food_cafes"), Precedent: new("food_cafes"), Kind: LabelHeld},
		{Label: "food_cafes", Answer: new("food_bars"), Provider: new("food_cafes"), Kind: LabelHeld},
		{Label: "home_rent", Answer: new("food_bars"), Before: new("home_rent"), Rules: new("home_rent")},
		{Label: "home_rent"},
	}
	for i, amount := range []string{"-10.00", "30.00", "0.50", "99.00"} {
		items[i].TransactionID, items[i].Currency = id.New(), "EUR"
		items[i].Amount = money.MustParse(amount)
	}
	before := make([]EvaluationItem, len(items))
	copy(before, items)
	before[0].Answer, before[1].Answer = nil, new("food_cafes")
	out, err := Figures(Measured{
		Asking: Asking{Sample: 4, Windows: 1}, Windows: 1, Items: items, Cost: new(money.Micros(1000)), InputTokens: 10,
		Primaries: map[string]string{"food_cafes": "food", "food_bars": "food", "home_rent": "home"},
		Last:      &Evaluation{Items: before[:3]}, LastModel: "small",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := out.Score
	if s.Answered != 3 || s.Right != 1 || s.Wrong != 2 || s.Coverage != 750 || s.Accuracy.Percent != 333 ||
		s.Primary.Percent != 667 || s.WrongPer100 != 500 || s.HarmPer100 != 250 {
		t.Errorf("%+v", s)
	}
	printed, err := json.Marshal(out.Money)
	if err != nil || string(printed) != `[{"currency":"EUR","answered":40.50,"wrong":30.50,"percent":75.3}]` {
		t.Errorf("%s %v", printed, err)
	}
	if p := out.Previous; p.N != 3 || p.Gained != 1 || p.Lost != 1 || p.Model != "small" {
		t.Errorf("%+v", p)
	}
	if c := out.Confusions; len(c) != 2 || c[0] != (EvaluationConfusion{"food_cafes", "food_bars", 1}) {
		t.Errorf("%+v", c)
	}
	if *out.Per100.CostUSD != 25_000 || out.Per100.InputTokens != 250 || out.Verdict != TooFew {
		t.Errorf("%+v %s", out.Per100, out.Verdict)
	}
	for i, right := range []int{1, 1, 1} {
		if b := out.Baselines[i]; b.Right != right || b.Wrong != 0 {
			t.Errorf("%+v", b)
		}
	}
	var again Evaluation
	whole, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(whole, &again); err != nil || again.Score.Coverage != 750 {
		t.Errorf("read again: %+v %v", again.Score, err)
	}
}
