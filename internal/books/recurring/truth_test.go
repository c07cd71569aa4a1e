package recurring

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
	"coffer/internal/sim/household"
)

// A score counts what a detector found in households with known contracts.
type score struct {
	found, right     int // series found, and those with nine tenths of their payments from one contract
	contracts, hit   int // contracts, and those with four fifths of their payments in one series
	changes, invited int // real price changes, and found ones that are not real
	missed           int // real price changes of found contracts that were not found
	provisional      int
	from             int // contracts with lower numbers are not counted
	wrong            map[string]int
	lost             map[string]int
}

func (s *score) precision() float64 { return float64(s.right) / float64(s.found) }
func (s *score) recall() float64    { return float64(s.hit) / float64(s.contracts) }

func (s *score) String() string {
	return fmt.Sprintf("precision %.4f of %d, recall %.4f of %d, price changes %d, missed %d, invented %d, provisional %d",
		s.precision(), s.found, s.recall(), s.contracts, s.changes, s.missed, s.invited, s.provisional)
}

// A known is a payment whose contract is known.
type known struct {
	Payment
	series int
	name   string
}

// payments returns a household's payments by group, in the form in which a sweep reads them.
func payments(h *household.Household) map[Group][]known {
	accounts := make([]id.ID, len(h.Accounts))
	for i := range accounts {
		accounts[i][0] = byte(i + 1)
	}
	out := map[Group][]known{}
	forms := map[string]string{}
	form := func(s string) string {
		f, ok := forms[s]
		if !ok {
			f = text.Form(s)
			forms[s] = f
		}
		return f
	}
	var n uint32
	for t := range h.Transactions() {
		n++
		if t.Kind.Paired() || h.Accounts[t.AccountIndex].MirrorOf != household.None || t.Pending {
			continue
		}
		var u id.ID
		u[0], u[1], u[2], u[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
		name := t.Name.Plain()
		party := name
		if t.MerchantName != "" {
			party = t.MerchantName.Plain()
		}
		g := Group{Account: accounts[t.AccountIndex], Currency: string(t.Currency), Out: t.Amount.Cents() > 0}
		out[g] = append(out[g], known{
			Payment{
				ID: u, Day: dayOf(t.Date), Cents: max(t.Amount.Cents(), -t.Amount.Cents()),
				Form: id.KeyOf(form(name)), Party: id.KeyOf(form(party)),
			},
			t.Series, form(name),
		})
	}
	return out
}

// judge compares the detector's series of a household with the true contracts.
func (s *score) judge(h *household.Household, turn func(*detector)) {
	if s.wrong == nil {
		s.wrong, s.lost = map[string]int{}, map[string]int{}
	}
	truth := map[int][]known{}
	most := map[int]int{} // the most payments of each contract in one series
	best := map[int]*Series{}
	groups := payments(h)
	for g, rows := range groups {
		of := map[id.ID]known{}
		plain := make([]Payment, len(rows))
		for i, r := range rows {
			of[r.ID], plain[i] = r, r.Payment
			if r.series > 0 {
				truth[r.series] = append(truth[r.series], r)
			}
		}
		d := g.detector()
		if turn != nil {
			turn(&d)
		}
		for _, f := range d.find(plain, nil) {
			counts := map[int]int{}
			for _, r := range f.Rows {
				counts[of[r.ID].series]++
			}
			series := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b int) int { return cmp.Compare(counts[a], counts[b]) })
			s.found++
			if series > 0 && counts[series]*10 >= 9*len(f.Rows) {
				s.right++
				if counts[series] > most[series] {
					most[series], best[series] = counts[series], &f
				}
			} else {
				s.wrong[f.Cadence+" "+of[f.Rows[0].ID].name]++
			}
		}
	}
	for series, rows := range truth {
		if len(rows) < 3 || series < s.from {
			continue
		}
		s.contracts++
		if most[series]*5 < 4*len(rows) {
			s.lost[rows[0].name]++
			continue
		}
		s.hit++
		s.prices(rows, best[series])
	}
}

// prices compares the price changes of a found series with those of its contract.
func (s *score) prices(rows []known, found *Series) {
	in := newSet(found.Rows...)
	rows = slices.DeleteFunc(rows, func(r known) bool { return !in[r.ID] })
	slices.SortFunc(rows, func(a, b known) int { return byDay(a.Payment, b.Payment) })
	amounts := map[int64]bool{}
	for _, r := range rows {
		amounts[r.Cents] = true
	}
	want := map[price]bool{}
	if len(amounts)*3 <= len(rows) { // otherwise it is paid by usage
		type run struct {
			day, length int
			cents       int64
		}
		var runs []run
		for i, r := range rows {
			if i == 0 || r.Cents != rows[i-1].Cents {
				runs = append(runs, run{day: r.Day, cents: r.Cents})
			}
			runs[len(runs)-1].length++
		}
		now := runs[0]
		for _, r := range runs[1:] {
			if r.length > 1 && r.cents != now.cents {
				want[price{r.day, now.cents, r.cents, false}] = true
				now = r
			}
		}
	}
	s.changes += len(want)
	for _, p := range found.prices() {
		switch {
		case p.provisional:
			s.provisional++
			if last := rows[len(rows)-1]; p.day != last.Day || p.after != last.Cents {
				s.invited++
			}
		case want[p]:
			delete(want, p)
		default:
			s.invited++
		}
	}
	s.missed += len(want)
}

// long reports whether a test may take minutes.
func long() bool { return os.Getenv("COFFER_TEST_LONG") != "" }
