package banks_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// The simulated bank adds rows of today, posts rows and removes rows. Pending rows do not
// accumulate.
func TestLive(t *testing.T) {
	t.Parallel()
	o := household.Options{Seed: 3, Transactions: 400, Years: 1, End: time.Now()}
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: o, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	dice := rand.New(rand.NewPCG(1, 1))
	if _, moved := p.Live(dice); moved {
		t.Error("something happens at a bank that nobody linked")
	}
	_, item := p.NewItem("")
	for _, bank := range []struct {
		book *banks.Book
		live func(*rand.Rand) (banks.Turn, bool)
		keep bool // a row that is posted keeps its id
	}{{item, p.Live, false}, {tl.Enroll().Book, tl.Live, true}} {
		seen := map[string]int{}
		for range 300 {
			turn, moved := bank.live(dice)
			if !moved || turn.Book != bank.book {
				t.Fatalf("%+v", turn)
			}
			seen[turn.What]++
			if turn.What == "posted" && (turn.Row.Pending || (turn.Row.PendingID == "") != bank.keep) {
				t.Errorf("%+v", turn.Row)
			}
			if turn.What == "added" && (!turn.Row.Pending || time.Since(turn.Row.Date) > 25*time.Hour) {
				t.Errorf("%+v", turn.Row)
			}
		}
		if seen["added"] < 50 || seen["posted"] < 50 || seen["removed"] < 5 || len(bank.book.Pending()) > 20 {
			t.Errorf("%v, %d pending", seen, len(bank.book.Pending()))
		}
	}
}
