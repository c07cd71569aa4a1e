package machine_test

import (
	"fmt"

	"coffer/internal/platform/money"
)

// A payment is money that moved once, however many sources report it. No two have the same amount,
// so a row of the books can be recognized by it.
type payment struct {
	name, date string
	cents      int64 // positive is money out
	later      int64 // what the bank corrects the amount to, 0 if it never does; cents if it only takes it back
}

// inFiles reports whether files of a bank's account list the payment too. Those that the bank
// corrects are left out: with another amount nothing shows that the file means the same one.
func (p *payment) inFiles() bool { return p.later == 0 || p.later == p.cents }

// A source reports payments, some of which others report too.
type source struct {
	name       string
	connection string // of files
	bank       string // the account at the bank; empty if files come from there
	refs       bool   // its files have the bank's number of each row, so that a text can be corrected
	rows       []*payment
	own        int // the first of those that no other source reports
}

// atFirst is how many of its payments each source of files has reported when a sequence begins.
const atFirst = 3

// newSources are three accounts of files and two of a bank. All but the last know the same three
// payments; between the first and each other one money moves once.
func newSources() []*source {
	shared := make([]*payment, 3)
	for i := range shared {
		shared[i] = &payment{
			name: fmt.Sprintf("SHARED S%d", i), date: fmt.Sprintf("2026-03-%02d", 1+5*i), cents: int64(1111 + 101*i),
		}
	}
	out := []*source{{name: "A", refs: true}, {name: "B"}, {name: "C"}, {name: "P", bank: "?"}, {name: "Q", bank: "?"}}
	for n, s := range out {
		// the payments with which every household begins
		s.rows = append(s.rows, &payment{name: "FIRST " + s.name, date: "2026-02-01", cents: int64(10_000 * (n + 1))})
		if s.name != "Q" {
			s.rows = append(s.rows, shared...)
		}
		s.own = len(s.rows)
		for i := range 4 {
			base := int64(10_000*(n+1) + 1001 + 211*i)
			later := base + 7
			if s.bank != "" && i >= 2 {
				later = base
			}
			s.rows = append(s.rows, &payment{
				name: fmt.Sprintf("OWN %s%d", s.name, i), date: fmt.Sprintf("2026-04-%02d", 1+6*i), cents: base, later: later,
			})
		}
	}
	for n, s := range out[1:] {
		moved := int64(7007 + 13*n)
		out[0].rows = append(out[0].rows, &payment{name: "MOVE TO " + s.name, date: "2026-05-10", cents: moved})
		s.rows = append(s.rows, &payment{name: "MOVE FROM A", date: "2026-05-11", cents: -moved})
	}
	return out
}

func cents(n int64) string {
	a, err := money.FromCents(n)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return a.String()
}

// A model holds the reported payments, as far as they limit what totals may count. It does not know
// the effects of undo: a row that a revert or a person touched only has an upper bound until its
// source reports it again.
type model struct {
	told  map[*payment]map[string]bool // the accounts that reported it, each time that an account began again
	sure  map[*payment]bool            // reported, and nobody has touched it since: it counts at least once
	hands map[*payment]bool            // a person deleted one of its rows: nobody knows any more
	began map[*source]int              // how often its account was removed
}

func newModel() *model {
	return &model{
		told: map[*payment]map[string]bool{}, sure: map[*payment]bool{}, hands: map[*payment]bool{},
		began: map[*source]int{},
	}
}

// tell records that a source reported a payment when it had so many accounts: if its account was
// removed, and removed again by the undo of an undo, the next file makes another one. An agent's
// import leaves stored rows alone, so it only sets an upper bound.
func (m *model) tell(s *source, accounts int, p *payment, sure bool) {
	if m.told[p] == nil {
		m.told[p] = map[string]bool{}
	}
	m.told[p][fmt.Sprint(s.name, m.began[s], accounts)] = true
	if sure && !m.hands[p] {
		m.sure[p] = true
	}
}
