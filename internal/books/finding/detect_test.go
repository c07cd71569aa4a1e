package finding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
	"coffer/internal/sim/household"
)

// A seen holds the charges of a household and the true findings among them.
type seen struct {
	rows     []charge
	refunds  map[id.ID]id.ID // the purchase of each refund
	doubled  map[id.ID]id.ID // the original of each added double charge
	contract map[id.ID]bool
	begins   int
}

// look reads a household as the search would, and adds n double charges. Half of them are of
// payments of contracts.
func look(h *household.Household, dice *rand.Rand, n int) seen {
	s := seen{refunds: map[id.ID]id.ID{}, doubled: map[id.ID]id.ID{}, contract: map[id.ID]bool{}, begins: dayOf(h.Start)}
	names := map[string]id.ID{}
	var bought, contracts []charge
	var count uint32
	unique := func() (u id.ID) {
		count++
		u[0], u[1], u[2], u[3] = byte(count>>24), byte(count>>16), byte(count>>8), byte(count)
		return u
	}
	for t := range h.Transactions() {
		u := unique()
		if t.Kind.Paired() || h.Accounts[t.AccountIndex].MirrorOf != household.None || t.Pending {
			continue
		}
		party := t.Name.Plain()
		if t.MerchantName != "" {
			party = t.MerchantName.Plain()
		}
		c := charge{
			ID: u, Account: id.ID{byte(t.AccountIndex + 1)}, Currency: string(t.Currency), Day: dayOf(t.Date),
			Cents: t.Amount.Cents(), Party: id.KeyOf(text.Form(party)),
		}
		s.rows = append(s.rows, c)
		names[fmt.Sprint(t.AccountIndex, t.ProviderID)] = u
		if t.RefundOf != "" {
			if p, ok := names[fmt.Sprint(t.AccountIndex, t.RefundOf)]; ok {
				s.refunds[u] = p
			}
		}
		if c.Cents >= duplicateLeast {
			if s.contract[u] = t.Series > 0; t.Series > 0 {
				contracts = append(contracts, c)
			} else {
				bought = append(bought, c)
			}
		}
	}
	last := map[id.Key][]int{} // two double charges of a payee within a year would look like a habit
	for i := 0; i < n; {
		from := bought
		if i%2 == 0 {
			from = contracts
		}
		c := from[dice.IntN(len(from))]
		if slices.ContainsFunc(last[c.Party], func(day int) bool { return max(day-c.Day, c.Day-day) <= 2*yearDays }) {
			continue
		}
		i++
		last[c.Party] = append(last[c.Party], c.Day)
		again := c
		again.ID, again.Day = unique(), c.Day+dice.IntN(duplicateDays+1)
		s.doubled[again.ID] = c.ID
		s.rows = append(s.rows, again)
	}
	return s
}

// series runs the detection of recurring payments over the charges.
func (s seen) series() func(id.ID) (id.ID, bool, bool) {
	groups := map[recurring.Group][]recurring.Payment{}
	for _, c := range s.rows {
		g := recurring.Group{Account: c.Account, Currency: c.Currency, Out: c.Cents > 0}
		groups[g] = append(groups[g], recurring.Payment{
			ID: c.ID, Day: c.Day, Cents: max(c.Cents, -c.Cents), Form: c.Party, Party: c.Party,
		})
	}
	type of struct {
		series  id.ID
		monthly bool
	}
	all := map[id.ID]of{}
	for g, rows := range groups {
		for _, f := range g.Find(rows, nil) {
			for _, r := range f.Rows {
				all[r.ID] = of{f.Rows[0].ID, f.Cadence != "weekly" && f.Cadence != "fortnightly"}
			}
		}
	}
	return func(u id.ID) (id.ID, bool, bool) { x, known := all[u]; return x.series, x.monthly, known }
}

// A tally counts what was found in households with known findings.
type tally struct {
	rows, refunds, found, right, purchase                int
	doubled, twice, contracts, twiceOfContract, invented int
	unusual                                              int
}

func (n *tally) String() string {
	return fmt.Sprintf("%d rows; refunds: precision %.4f of %d, recall %.4f of %d, right purchase %.4f; doubled: %.4f of %d, "+
		"in contracts %.4f of %d, false per 1,000 rows %.3f; unusual per 1,000 rows %.2f", n.rows,
		share(n.right, n.found), n.found, share(n.right, n.refunds), n.refunds, share(n.purchase, n.right),
		share(n.twice, n.doubled), n.doubled, share(n.twiceOfContract, n.contracts), n.contracts,
		1000*share(n.invented, n.rows), 1000*share(n.unusual, n.rows))
}

func share(a, b int) float64 { return float64(a) / float64(b) }

func (n *tally) judge(s seen, turn func(*search)) {
	look := search{from: 0, begins: s.begins, series: s.series()}
	if turn != nil {
		turn(&look)
	}
	n.rows += len(s.rows)
	n.refunds += len(s.refunds)
	n.doubled += len(s.doubled)
	for _, of := range s.doubled {
		if s.contract[of] {
			n.contracts++
		}
	}
	for _, f := range look.find(s.rows, duplicate, refund, unusual) {
		switch f.kind {
		case refund:
			n.found++
			if p, ok := s.refunds[f.rows[0].ID]; ok {
				n.right++
				if p == f.rows[1].ID {
					n.purchase++
				}
			}
		case duplicate:
			of, ok := s.doubled[f.rows[0].ID]
			if !ok {
				of, ok = s.doubled[f.rows[1].ID]
			}
			if !ok {
				n.invented++
				continue
			}
			n.twice++
			if s.contract[of] {
				n.twiceOfContract++
			}
		case unusual:
			n.unusual++
		}
	}
}

// judged runs a search over 20 households with 25 double charges each.
func judged(turn func(*search)) *tally {
	n := &tally{}
	for seed := range uint64(20) {
		dice := rand.New(rand.NewPCG(seed, 1))
		n.judge(look(household.New(household.Options{Seed: seed, Transactions: 17_000}), dice, 25), turn)
	}
	return n
}

// In ordinary households, the search finds nearly all refunds with their purchases, nearly all of
// 500 double charges, and little else.
func TestFindingsOfHouseholds(t *testing.T) {
	t.Parallel()
	n := judged(nil)
	t.Log(n)
	if share(n.right, n.found) < 0.95 || share(n.right, n.refunds) < 0.98 || share(n.purchase, n.right) < 0.95 {
		t.Error("refunds:", n)
	}
	if n.doubled != 500 || share(n.twice, n.doubled) < 0.95 || 1000*share(n.invented, n.rows) > 0.1 {
		t.Error("double charges:", n)
	}
	if 1000*share(n.unusual, n.rows) > 3 || n.unusual == 0 {
		t.Error("unusual charges:", n)
	}
}

// Without the condition that there is no other equal charge in the year, every habit would be a
// double charge.
func TestDuplicatesOfHabits(t *testing.T) {
	t.Parallel()
	if n := judged(func(s *search) { s.anyYear = true }); 1000*share(n.invented, n.rows) <= 0.1 {
		t.Error(n)
	}
}

// Without knowledge of series, the search misses many double charges of contracts.
func TestDuplicatesWithoutSeries(t *testing.T) {
	t.Parallel()
	n := judged(func(s *search) {
		s.series = func(id.ID) (id.ID, bool, bool) { return id.ID{}, false, false }
		s.alone = true
	})
	if share(n.twiceOfContract, n.contracts) > 0.8 {
		t.Error(n)
	}
}

// Without the rule that a purchase of the same amount comes first, refunds get the wrong purchases.
func TestRefundsOfTheNearest(t *testing.T) {
	t.Parallel()
	if n := judged(func(s *search) { s.unequal = true }); share(n.purchase, n.right) > 0.93 {
		t.Error(n)
	}
}
