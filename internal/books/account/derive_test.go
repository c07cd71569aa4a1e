package account

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// TestDerivedDays compares every derived day of 20 households with balances computed forward from
// the opening balance, for every account whose value its transactions explain.
func TestDerivedDays(t *testing.T) {
	t.Parallel()
	kinds, checked := map[string]int{}, 0
	for seed := range 20 {
		h := household.New(household.Options{Seed: uint64(seed), Transactions: 1500, Years: 1})
		moves := make([][]movement, len(h.Accounts))
		for r := range h.Transactions() {
			if !r.Pending {
				day := dayOf(pg.Day(r.Date))
				moves[r.AccountIndex] = append(moves[r.AccountIndex],
					movement{day, day, r.Amount.Total().In(r.Currency), 1})
			}
		}
		end := dayOf(pg.Day(h.Options.End))
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		for i, a := range h.Accounts {
			b := books{Type: a.Type, Currency: a.Currency, Method: methodOf(a.Type), moves: moves[i]}
			if b.Method == byValuations || len(b.moves) == 0 {
				continue
			}
			opening := int64(0)
			if a.Current != nil {
				opening = rng.Int64N(1_000_000)
			}
			truth := map[dayNumber]int64{}
			first, at := b.moves[0].posted, opening
			for _, m := range b.moves {
				first = min(first, m.posted)
			}
			for day := first; day <= end; day++ {
				for _, m := range b.moves {
					if out, ours := m.out.Of(a.Currency); ours && m.posted == day {
						amount, _ := out.Amount()
						at -= amount.Cents()
					}
				}
				truth[day] = at
				if rng.IntN(40) == 0 || day == end-3 {
					b.stated = append(b.stated, stated{day, total(at).In(a.Currency), true})
				}
			}
			d, err := b.days()
			if err != nil {
				t.Fatal(err)
			}
			for day := first; day <= end; day++ {
				got, ok, err := d.on(day)
				if err != nil || !ok || got != total(truth[day]) {
					t.Fatalf("seed %d, %s account %d, %s: got %s, %t, %v, want %s", seed, a.Type, i, day.date(), got, ok, err,
						total(truth[day]))
				}
				checked++
			}
			if _, ok, _ := d.on(first - 1); ok {
				t.Errorf("seed %d, account %d: a balance before the first row", seed, i)
			}
			v, err := b.prove()
			if err != nil || v.status != proved || *v.opening != total(opening) {
				t.Errorf("seed %d, account %d: %+v, %v", seed, i, v, err)
			}
			kinds[a.Type]++
		}
	}
	t.Logf("%d days of %v", checked, kinds)
	if kinds["depository"] == 0 || kinds["credit"] == 0 || checked < 10_000 {
		t.Errorf("only %v were checked, %d days", kinds, checked)
	}
}

// With any stated balances, the balance changes from one day to the next by the rows of the second
// day, unless a stated balance between them is not explained by the rows.
func TestDerivedDaysMoveByTheirRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := books{Type: rapid.SampledFrom([]string{"depository", "credit", "loan", "other"}).Draw(t, "type"), Currency: euro, Method: byTransactions}
		sums := map[dayNumber]int64{}
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			day, cents := dayNumber(rapid.IntRange(10, 40).Draw(t, "day")), rapid.Int64Range(-5000, 5000).Draw(t, "cents")
			b.moves = append(b.moves, movement{day, day, total(cents).In(euro), 1})
			sums[day] += cents
		}
		// Rows in another currency change nothing.
		b.moves = append(b.moves, movement{12, 12, total(77).In("USD"), 1})
		b.stated = []stated{{dayNumber(rapid.IntRange(5, 45).Draw(t, "stated")), total(1000).In(euro), true}}
		d, err := b.days()
		if err != nil {
			t.Fatal(err)
		}
		for day := dayNumber(11); day <= 45; day++ {
			was, known, _ := d.on(day - 1)
			is, ok, _ := d.on(day)
			moved, _ := is.Add(was.Neg())
			if known && ok && moved != total(-sums[day]) {
				t.Fatalf("day %d moved by %s, want %s", day, moved, total(-sums[day]))
			}
		}
	})
}

// Rows do not explain the value of an investment: the last value is valid until the next one,
// without interpolation.
func TestValuations(t *testing.T) {
	t.Parallel()
	d, err := newDays(deriving{
		currency: euro, method: byValuations,
		moves:      []movement{{12, 12, total(100).In(euro), 1}},
		statements: []stated{{10, total(5000).In(euro), false}, {20, total(7000).In(euro), false}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[dayNumber]string{9: "", 10: "50.00", 19: "50.00", 20: "70.00", 31: "70.00"} {
		got, ok, err := d.on(day)
		if err != nil || ok != (want != "") || ok && got.String() != want {
			t.Errorf("day %d: %s, %t, %v, want %s", day, got, ok, err, want)
		}
	}
	if v, err := (&books{Type: "investment", Currency: euro, Method: byValuations, stated: d.statements}).prove(); err != nil || v.status != none {
		t.Errorf("%+v, %v", v, err)
	}
}

// The proof's result for small books that were checked by hand.
func TestProofByHand(t *testing.T) {
	t.Parallel()
	spend := func(day dayNumber, cents int64) movement { return movement{day, day, total(cents).In(euro), 1} }
	exact := func(day dayNumber, cents int64) stated { return stated{day, total(cents).In(euro), true} }
	moment := func(day dayNumber, cents int64) stated { return stated{day, total(cents).In(euro), false} }
	for name, c := range map[string]struct {
		moves      []movement
		statements []stated
		status     string
		gaps       []string
	}{
		"nothing":         {nil, nil, none, nil},
		"one statement":   {[]movement{spend(2, 100)}, []stated{exact(3, 900)}, open, nil},
		"two that agree":  {[]movement{spend(2, 100)}, []stated{exact(1, 1000), exact(3, 900)}, proved, nil},
		"a lost row":      {nil, []stated{exact(1, 1000), exact(3, 900)}, gap, []string{"1-3 -1.00"}},
		"a doubled row":   {[]movement{spend(2, 100), spend(2, 100)}, []stated{exact(1, 1000), exact(3, 900)}, gap, []string{"1-3 1.00"}},
		"booked late":     {[]movement{spend(2, 100)}, []stated{exact(1, 1000), exact(2, 1000), exact(4, 900)}, proved, nil},
		"two moments":     {nil, []stated{moment(1, 1000), moment(2, 1000)}, open, nil},
		"three moments":   {nil, []stated{moment(1, 1000), moment(2, 1000), moment(3, 1000)}, proved, nil},
		"a moment within": {[]movement{spend(3, 100), spend(3, 50)}, []stated{moment(1, 1000), moment(2, 1000), moment(3, 900), moment(4, 850), moment(5, 850)}, proved, nil},
		"other currencies": {
			[]movement{spend(2, 100), {2, 2, total(500).In("USD"), 3}},
			[]stated{exact(1, 1000), exact(3, 900)},
			proved, nil,
		},
		"a balance in another currency": {nil, []stated{exact(1, 1000), {2, total(1000).In("USD"), true}}, open, nil},
	} {
		v, err := prove(euro, c.moves, c.statements)
		if err != nil || v.status != c.status {
			t.Errorf("%s: %s, %v, want %s", name, v.status, err, c.status)
		}
		var gaps []string
		for _, s := range v.spans {
			if s.status == gap {
				gaps = append(gaps, fmt.Sprintf("%d-%d %s", c.statements[s.from].day, c.statements[s.to].day, s.difference))
			}
		}
		if !slices.Equal(gaps, c.gaps) {
			t.Errorf("%s: gaps %q, want %q", name, gaps, c.gaps)
		}
		if name == "other currencies" && v.foreignRows != 3 {
			t.Errorf("%d foreign rows", v.foreignRows)
		}
	}
}
