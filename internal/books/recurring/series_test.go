package recurring

import (
	"testing"

	"coffer/internal/sim/household"
)

func generated(seed uint64) *household.Household {
	return household.New(household.Options{Seed: seed, Transactions: 17_000, Decoys: true})
}

func hard(seed uint64) *household.Household {
	return household.New(household.Options{Seed: seed, Transactions: 7_000, Contracts: true})
}

// In ordinary households, the detector finds nearly all contracts and hardly anything else, and
// every price change with its day and both amounts. It also takes a quarterly rent with a different
// amount each time for a contract, but the generator does not.
func TestSeriesOfHouseholds(t *testing.T) {
	t.Parallel()
	var s score
	for seed := range uint64(16) {
		s.judge(generated(seed), nil)
	}
	t.Log(&s, s.wrong, s.lost)
	if s.precision() < 0.97 || s.recall() < 0.95 || s.missed > 0 || s.invited > 0 || s.changes == 0 {
		t.Error(&s)
	}
}

// scoreHard measures how many of the contracts that are hard to recognize are found. The households
// also have easy contracts and purchases.
func scoreHard(n uint64, turn func(*detector)) *score {
	s := &score{from: 1000}
	for seed := range n {
		s.judge(hard(1000+seed), turn)
	}
	return s
}

func TestSeriesOfHardHouseholds(t *testing.T) {
	t.Parallel()
	n := uint64(24)
	if long() {
		n = 200
	}
	s := scoreHard(n, nil)
	t.Log(s, s.wrong, s.lost)
	if s.precision() < 0.995 || s.recall() < 0.985 || s.missed > 0 || s.invited > 0 || s.changes == 0 {
		t.Error(s)
	}
}

// Chains of equal amounts find contracts with the same wording. Without them, the detector misses
// many contracts.
func TestSeriesWithoutChains(t *testing.T) {
	t.Parallel()
	if s := scoreHard(6, func(d *detector) { d.chains = false }); s.recall() > 0.75 {
		t.Error(s, s.lost)
	}
}

// Two payments are not enough. If they were, nearly every third series of ordinary households would
// be false.
func TestSeriesOfTwo(t *testing.T) {
	t.Parallel()
	var s score
	for seed := range uint64(8) {
		s.judge(generated(seed), func(d *detector) { d.fewest, d.alike = 2, 200 })
	}
	if s.precision() > 0.7 {
		t.Error(&s)
	}
}
