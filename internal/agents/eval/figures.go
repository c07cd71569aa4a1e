package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
)

// Enough is how many labels a verdict needs. With fewer labels, a difference may be chance.
const Enough = 30

// mostConfusions is how many kinds of mistakes are listed.
const mostConfusions = 10

// Figures computes the figures of an eval.
func Figures(m Measured) (Evaluation, error) {
	out := Evaluation{
		Sample: m.Asking.Sample, Windows: m.Windows, Labels: m.Labels, N: len(m.Items), Items: m.Items,
		Score: score(m.Items, m.Primaries, func(i EvaluationItem) *string { return i.Answer }),
		Per100: EvaluationUse{
			InputTokens: per100(m.InputTokens, len(m.Items)), OutputTokens: per100(m.OutputTokens, len(m.Items)),
			Seconds: per100(m.Seconds, len(m.Items)),
		},
		Categories: categories(m.Items), Confusions: confusions(m.Items),
	}
	if m.Cost != nil {
		out.Per100.CostUSD = new(money.Micros(per100(int64(*m.Cost), len(m.Items))))
	}
	for _, name := range []string{ByProvider, ByRules, ByPrecedent} {
		out.Baselines = append(out.Baselines, EvaluationBaseline{
			Name:            name,
			EvaluationScore: score(m.Items, m.Primaries, func(i EvaluationItem) *string { return i.Guess(name) }),
		})
	}
	var err error
	if out.Money, err = byMoney(m.Items); err != nil {
		return out, err
	}
	out.Verdict, out.Message = verdict(out)
	if m.Last != nil {
		out.Previous = against(m.Items, *m.Last)
		out.Previous.RunID, out.Previous.Model = m.LastRun, m.LastModel
	}
	return out, nil
}

// per100 returns the sum for a hundred items if n items have this sum, rounded up.
func per100(sum int64, n int) int64 {
	if n == 0 {
		return 0
	}
	return (sum*100 + int64(n) - 1) / int64(n)
}

// score compares answers with the labels. A nil answer means that the item was left to a person.
func score(items []EvaluationItem, primaries map[string]string,
	answer func(EvaluationItem) *string,
) EvaluationScore {
	var out EvaluationScore
	primary, harm := 0, 0
	for _, i := range items {
		label := answer(i)
		if label == nil {
			continue
		}
		out.Answered++
		if *label == i.Label {
			out.Right++
		} else {
			out.Wrong++
			if i.Before != nil && *i.Before == i.Label {
				harm++
			}
		}
		if cmp.Or(primaries[*label], *label) == cmp.Or(primaries[i.Label], i.Label) {
			primary++
		}
	}
	n := len(items)
	out.Coverage, out.WrongPer100, out.HarmPer100 = percent(out.Answered, n), percent(out.Wrong, n), percent(harm, n)
	out.Accuracy, out.Primary = share(out.Right, out.Answered), share(primary, out.Answered)
	return out
}

// percent returns k of n in tenths of a percent, rounded half up.
func percent(k, n int) Percent {
	if n == 0 {
		return 0
	}
	return Percent((2000*k + n) / (2 * n))
}

// share returns k of n with its interval after Wilson. That interval stays between 0 and 100 and is
// also right for small numbers. If n is 0, share returns nil.
func share(k, n int) *EvaluationShare {
	if n == 0 {
		return nil
	}
	// All values are whole numbers of ten-thousandths: z is 1.96, and its square 3.8415.
	const one, square = int64(10_000), int64(38_415)
	all, spread := int64(n), int64(k)*int64(n-k)
	half := new(big.Int).Sqrt(big.NewInt(square * (square + 4*one*spread/all))).Int64()
	middle, whole := 2*one*int64(k)+square, 2*(one*all+square)
	tenths := func(x int64) Percent {
		return Percent(min(max((2000*x+whole)/(2*whole), 0), 1000))
	}
	return &EvaluationShare{Percent: percent(k, n), Low: tenths(max(middle-half, 0)), High: tenths(middle + half)}
}

// verdict compares the share of correct answers among all items with the best baseline. An item
// that is left to a person does not count as correct. So a model that answers few items is not
// better than one that answers all.
func verdict(e Evaluation) (string, string) {
	if e.N < Enough {
		return TooFew, fmt.Sprintf("Only %d of your decisions are available; a verdict needs %d. Categorize more "+
			"and test again.", e.N, Enough)
	}
	best := slices.MaxFunc(e.Baselines, func(a, b EvaluationBaseline) int { return cmp.Compare(a.Right, b.Right) })
	names := map[string]string{
		ByProvider: "the bank's own categories", ByRules: "your rules",
		ByPrecedent: "past decisions for the payee",
	}
	reached, other := share(e.Score.Right, e.N), percent(best.Right, e.N)
	sentence := fmt.Sprintf("It gets %s of 100 right and %s wrong. The best method without AI (%s) gets %s right "+
		"and %s wrong.", print1(reached.Percent), print1(e.Score.WrongPer100), names[best.Name],
		print1(other), print1(best.WrongPer100))
	switch {
	case reached.Low > other:
		return Better, sentence
	case reached.High < other:
		return Worse, sentence
	}
	return Level, sentence + " The difference may be due to chance."
}

func print1(p Percent) string { return fmt.Sprintf("%d.%d", p/10, p%10) }

// byMoney weights the answers by their amounts.
func byMoney(items []EvaluationItem) ([]EvaluationMoney, error) {
	answered, wrong := map[money.Currency]int64{}, map[money.Currency]int64{}
	for _, i := range items {
		if i.Answer == nil {
			continue
		}
		cents := max(i.Amount.Cents(), -i.Amount.Cents())
		answered[i.Currency] += cents
		if *i.Answer != i.Label {
			wrong[i.Currency] += cents
		}
	}
	out := []EvaluationMoney{}
	for _, c := range slices.Sorted(maps.Keys(answered)) {
		m := EvaluationMoney{Currency: c}
		var err error
		if m.Answered, err = total(answered[c]); err != nil {
			return nil, err
		}
		if m.Wrong, err = total(wrong[c]); err != nil {
			return nil, err
		}
		if answered[c] > 0 {
			m.Percent = new(Percent((wrong[c]*1000 + answered[c]/2) / answered[c]))
		}
		out = append(out, m)
	}
	return out, nil
}

func total(cents int64) (out money.Total, err error) {
	err = json.Unmarshal(fmt.Appendf(nil, "%d.%02d", cents/100, cents%100), &out)
	return out, err
}

// categories counts the items by label, largest first.
func categories(items []EvaluationItem) []EvaluationCategory {
	found := map[string]*EvaluationCategory{}
	for _, i := range items {
		c := found[i.Label]
		if c == nil {
			c = &EvaluationCategory{Slug: i.Label}
			found[i.Label] = c
		}
		c.N++
		switch {
		case i.Answer == nil:
			continue
		case *i.Answer == i.Label:
			c.Right++
		default:
			c.Wrong++
		}
		c.Answered++
	}
	out := []EvaluationCategory{}
	for _, c := range found {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b EvaluationCategory) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Slug, b.Slug))
	})
	return out
}

// confusions returns the most frequent mistakes.
func confusions(items []EvaluationItem) []EvaluationConfusion {
	times := map[EvaluationConfusion]int{}
	for _, i := range items {
		if i.Answer != nil && *i.Answer != i.Label {
			times[EvaluationConfusion{Right: i.Label, Wrong: *i.Answer}]++
		}
	}
	out := []EvaluationConfusion{}
	for c, n := range times {
		c.Times = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b EvaluationConfusion) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Right, b.Right), cmp.Compare(a.Wrong, b.Wrong))
	})
	return out[:min(len(out), mostConfusions)]
}

// against compares answers with those of the previous eval, on the items of both.
func against(items []EvaluationItem, last Evaluation) *EvaluationPrevious {
	right := func(i EvaluationItem) bool { return i.Answer != nil && *i.Answer == i.Label }
	was := map[id.ID]bool{}
	for _, i := range last.Items {
		was[i.TransactionID] = right(i)
	}
	var out EvaluationPrevious
	for _, i := range items {
		before, both := was[i.TransactionID]
		if !both {
			continue
		}
		out.N++
		switch {
		case right(i) && !before:
			out.Gained++
		case !right(i) && before:
			out.Lost++
		}
	}
	return &out
}
