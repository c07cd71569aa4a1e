package accountlink_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/analytics"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/sim/household"
)

// TestTotalsFollow takes a link through all its states.
func TestTotalsFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed(t)
	const all, shop = "EUR 303.00 343.00 7; ", "EUR 0.00 40.00 1; "
	got := w.sweep(t)
	if got.Proposed != 1 || got.Added != 3 || w.totals(t) != all {
		t.Fatalf("a proposal: %+v, %s", got, w.totals(t))
	}
	l := w.only(t, accountlink.Transfer)
	for _, step := range []struct{ confidence, want string }{
		{accountlink.Confirmed, shop},
		{accountlink.Rejected, all},
		{accountlink.Confirmed, shop},
	} {
		if w.put(t, l, step.confidence); w.totals(t) != step.want {
			t.Fatalf("%s: %s", step.confidence, w.totals(t))
		}
	}
	if w.totals(t, "transfers") != all {
		t.Errorf("with transfers: %s", w.totals(t, "transfers"))
	}
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 50})
	if err != nil || len(page.Matches) != 3 || page.Matches[0].Confidence != accountlink.Confirmed ||
		page.Matches[0].DayDifference != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
	one := page.Matches[0]
	p, r := one.PrimaryTransaction, one.MirrorTransaction
	if p.ID != one.PrimaryTransactionID || r.ID != one.MirrorTransactionID ||
		p.AccountID != l.PrimaryAccountID || r.AccountID != l.MirrorAccountID ||
		p.Amount.Neg() != r.Amount || p.Currency != "EUR" || p.Date == r.Date || p.Name.Plain() == "" ||
		p.AccountName != l.PrimaryName || r.AccountName != l.MirrorName {
		t.Errorf("the two of a match: %+v, %+v", p, r)
	}
	put := func(confidence string) {
		do(t, w, w.links.PutMatch, accountlink.PutMatch{ID: l.ShortID, MatchID: one.ShortID, Confidence: confidence})
	}
	put(accountlink.Rejected)
	if w.totals(t) != "EUR 102.00 142.00 3; " {
		t.Errorf("a rejected pair: %s", w.totals(t))
	}
	if r := do(t, w, func(ctx context.Context, tx pg.Tx, _ op.None) (accountlink.Reconciled, error) {
		if err := w.books.TouchAll(ctx, tx, []id.ID{l.PrimaryAccountID, l.MirrorAccountID}); err != nil {
			return accountlink.Reconciled{}, err
		}
		return w.links.Sweep(ctx, tx)
	}, op.None{}); r.Added != 0 {
		t.Errorf("a rejected pair was proposed again: %+v", r)
	}
	put(accountlink.Confirmed)
	// A pair keeps its own decision, whatever happens to the link.
	w.put(t, l, accountlink.Rejected)
	if _, err := try(w, w.links.PutMatch, accountlink.PutMatch{
		ID: l.ShortID, MatchID: one.ShortID,
		Confidence: accountlink.Confirmed,
	}); !errs.Is(err, errs.Conflict) {
		t.Errorf("a match of a rejected link: %v", err)
	}
	w.put(t, l, accountlink.Confirmed)
	do(t, w, w.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
	if w.totals(t) != all {
		t.Errorf("deleted: %s", w.totals(t))
	}
	if got := w.sweep(t); got.Proposed != 0 {
		t.Errorf("what was deleted is proposed again: %+v", got)
	}
	do(t, w, w.links.Create, accountlink.CreateLink{
		PrimaryAccountID: l.MirrorAccountID.String(),
		MirrorAccountID:  l.PrimaryAccountID.String(), Kind: accountlink.Transfer, Confidence: accountlink.Confirmed,
	})
	if w.totals(t) != shop {
		t.Errorf("brought back the other way round: %s", w.totals(t))
	}
}

// TestRowsComeAndGo tests deletions, restores, changes and late rows.
func TestRowsComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.seed(t)
	w.sweep(t)
	w.put(t, w.only(t, accountlink.Transfer), accountlink.Confirmed)
	before := w.state(t)
	first, err := pg.Value[string](w.ctx, w.db, `select short_id from transaction where provider_id = 'out0'`)
	if err != nil {
		t.Fatal(err)
	}
	do(t, w, w.books.DeleteTransaction, ledger.TransactionRef{TransactionID: first})
	if w.totals(t) != "EUR 100.00 40.00 2; " {
		t.Errorf("one side deleted: %s", w.totals(t))
	}
	w.sweep(t)
	do(t, w, w.books.RestoreTransaction, ledger.TransactionRef{TransactionID: first})
	if got := w.state(t); !slices.Equal(got, before) {
		t.Errorf("restored:\n%q\n%q", got, before)
	}
	// The bank changes an amount. The next sweep removes the pair, and it comes back when the other
	// bank has changed it too.
	w.merge(t, incoming(a[0], "out1", 30, "111.00"))
	w.sweep(t)
	if w.totals(t) != "EUR 101.00 151.00 3; " {
		t.Errorf("one side changed: %s", w.totals(t))
	}
	w.merge(t, incoming(a[1], "in1", 32, "-111.00"))
	w.sweep(t)
	if w.totals(t) != "EUR 0.00 40.00 1; " {
		t.Errorf("both sides changed: %s", w.totals(t))
	}
	// A late row, and another row that makes it doubtful.
	w.merge(t, incoming(a[0], "late", 90, "55.00"))
	w.sweep(t)
	w.merge(t, incoming(a[1], "later", 93, "-55.00"))
	if got := w.sweep(t); got.Added != 1 || w.totals(t) != "EUR 0.00 40.00 1; " {
		t.Errorf("late: %+v, %s", got, w.totals(t))
	}
	w.merge(t, incoming(a[1], "twin", 94, "-55.00"))
	if got := w.sweep(t); got.Removed != 1 || w.totals(t) != "EUR 110.00 95.00 4; " {
		t.Errorf("doubtful: %+v, %s", got, w.totals(t))
	}
	if got := w.sweep(t); got.Scanned != 0 {
		t.Errorf("nothing was touched, and %d rows were read", got.Scanned)
	}
}

// TestOrderChangesNothing compares the pairs for rows that arrive in any order, with any number of
// sweeps in between, with the pairs that one sweep over all rows finds.
func TestOrderChangesNothing(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	for seed := range uint64(8) {
		dice := rand.New(rand.NewPCG(seed, 3))
		var rows []ledger.Incoming
		var worlds [2]*world
		var accounts [2][]id.ID
		for i := range worlds {
			worlds[i] = newWorld(t)
			accounts[i] = worlds[i].accounts(t, "a", "b", "c", "d")
			for _, l := range []struct {
				a, b             int
				kind, confidence string
			}{
				{0, 1, accountlink.Transfer, accountlink.Confirmed},
				{1, 2, accountlink.Mirror, accountlink.Confirmed},
				{2, 3, accountlink.Transfer, accountlink.Auto},
				{0, 2, accountlink.Transfer, accountlink.Rejected},
				{0, 3, accountlink.Transfer, accountlink.Rejected},
				{1, 3, accountlink.Transfer, accountlink.Rejected},
			} {
				do(t, worlds[i], worlds[i].links.Create,
					accountlink.CreateLink{
						PrimaryAccountID: accounts[i][l.a].String(),
						MirrorAccountID:  accounts[i][l.b].String(), Kind: l.kind, Confidence: l.confidence,
					})
			}
		}
		for n := range 120 {
			amount := fmt.Sprintf("%d.00", 1+dice.IntN(4))
			if dice.IntN(2) == 0 {
				amount = "-" + amount
			}
			rows = append(rows, incoming(accounts[0][dice.IntN(4)], fmt.Sprint(n), dice.IntN(200), amount))
		}
		worlds[0].merge(t, rows...)
		worlds[0].sweep(t)
		dice.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for i := range rows {
			rows[i].AccountID = accounts[1][slices.Index(accounts[0], rows[i].AccountID)]
		}
		for part := range slices.Chunk(rows, 15) {
			worlds[1].merge(t, part...)
			if dice.IntN(3) > 0 {
				worlds[1].sweep(t)
			}
		}
		worlds[1].sweep(t)
		want, got := worlds[0].state(t), worlds[1].state(t)
		if !slices.Equal(want, got) || len(want) == 0 {
			t.Fatalf("seed %d: %d and %d pairs\n%q\n%q", seed, len(want), len(got), want, got)
		}
	}
}

// TestTotalsAreTrue confirms every proposed link of a household. Totals must leave out exactly the
// pairs that were found, and these must be the true pairs of the household.
func TestTotalsAreTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := household.New(household.Options{Seed: 5, Transactions: 6000, Years: 2, Decoys: true})
	names := make([]account.Incoming, len(h.Accounts))
	for i, a := range h.Accounts {
		names[i] = account.Incoming{
			Provider: h.Provider(i), ProviderID: a.ProviderID, Name: a.Name, Type: a.Type,
			Currency: a.Currency,
		}
	}
	accounts := do(t, w, account.New(w.db).AddAccounts, names)
	type side struct{ account, row string }
	paired, pairs := map[side]int64{}, map[int64]int{}
	do(t, w, w.books.Load, iter.Seq[ledger.Incoming](func(yield func(ledger.Incoming) bool) {
		for r := range h.Transactions() {
			if r.PairID != 0 {
				paired[side{accounts[r.AccountIndex].String(), r.ProviderID}] = r.PairID
				pairs[r.PairID]++
			}
			if !yield(ledger.Incoming{
				AccountID: accounts[r.AccountIndex], ProviderID: r.ProviderID,
				Date: pg.Day(r.Date), Amount: r.Amount, Currency: r.Currency, Name: r.Name,
			}) {
				return
			}
		}
	}))
	w.sweep(t)
	list, err := w.links.List(w.ctx, w.db, accountlink.ListLinks{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list.AccountLinks {
		w.put(t, l, accountlink.Confirmed)
	}
	rows, err := pg.All[struct {
		PrimaryAccount string       `db:"pa"`
		MirrorAccount  string       `db:"ra"`
		Primary        string       `db:"p"`
		Mirror         string       `db:"r"`
		Kind           string       `db:"kind"`
		Amount         money.Amount `db:"amount"`
		Currency       string       `db:"currency"`
		Doubtful       bool         `db:"doubtful"`
	}](w.ctx, w.db, `
		select p.account_id::text as pa, r.account_id::text as ra, p.provider_id as p, r.provider_id as r, l.kind,
			r.amount, r.currency, m.doubtful
		from link_match m join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id
			join transaction r on r.id = m.mirror_id`)
	if err != nil {
		t.Fatal(err)
	}
	// The expected totals: all rows, in cents, without the amounts that the found pairs exclude.
	in, out := map[string]int64{}, map[string]int64{}
	add := func(currency string, cents, sign int64) {
		if cents < 0 {
			in[currency] -= sign * cents
		} else {
			out[currency] += sign * cents
		}
	}
	for r := range h.Transactions() {
		add(string(r.Currency), r.Amount.Cents(), 1)
	}
	right := 0
	for _, f := range rows {
		if k := paired[side{f.PrimaryAccount, f.Primary}]; k != 0 && k == paired[side{f.MirrorAccount, f.Mirror}] {
			right++
		}
		if f.Doubtful {
			continue
		}
		add(f.Currency, f.Amount.Cents(), -1)
		if f.Kind == accountlink.Transfer {
			add(f.Currency, -f.Amount.Cents(), -1)
		}
	}
	if share := float64(right) / float64(len(rows)); share < 0.99 {
		t.Errorf("precision %.4f of %d", share, len(rows))
	}
	s, err := analytics.New(w.books, account.New(w.db)).Summary(w.ctx, w.db, analytics.SummaryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Groups {
		wantIn, wantOut := fmt.Sprintf("%d.%02d", in[string(g.Currency)]/100,
			in[string(g.Currency)]%100), fmt.Sprintf("%d.%02d", out[string(g.Currency)]/100,
			out[string(g.Currency)]%100)
		if g.MoneyIn.String() != wantIn || g.MoneyOut.String() != wantOut {
			t.Errorf("%s: in %s out %s, want %s and %s", g.Currency, g.MoneyIn, g.MoneyOut, wantIn, wantOut)
		}
	}
}

// TestManyAtOnce runs sweeps, decisions and deletions at the same time. Afterwards every
// transaction must be marked according to its matches.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "a", "b")
	l := do(t, w, w.links.Create, accountlink.CreateLink{
		PrimaryAccountID: a[0].String(),
		MirrorAccountID:  a[1].String(), Kind: accountlink.Transfer, Confidence: accountlink.Confirmed,
	})
	var rows []ledger.Incoming
	for i := range 40 {
		rows = append(rows, incoming(a[0], fmt.Sprint("out", i), i, fmt.Sprintf("%d.00", 100+i)),
			incoming(a[1], fmt.Sprint("in", i), i+1, fmt.Sprintf("-%d.00", 100+i)))
	}
	var wg sync.WaitGroup
	fail := make(chan error, 100)
	for n := range 6 {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), 9))
			for i := range 12 {
				var err error
				switch n % 3 {
				case 0:
					if n == 0 && i < 8 {
						_, err = try(w, w.books.Merge, slices.Values(rows[i*10:(i+1)*10]))
					}
					if err == nil {
						_, err = try(w, func(ctx context.Context, tx pg.Tx, _ op.None) (accountlink.Reconciled,
							error,
						) {
							return w.links.Sweep(ctx, tx)
						}, op.None{})
					}
				case 1:
					_, err = try(w, w.links.Put, accountlink.PutLink{
						ID:         l.ShortID,
						Confidence: []string{accountlink.Confirmed, accountlink.Rejected}[i%2],
					})
				case 2:
					var u string
					if u, err = pg.Value[string](w.ctx, w.db, `select coalesce((select short_id
						from transaction offset $1 limit 1), '')`, dice.IntN(40)); err == nil && u != "" {
						if i%2 == 0 {
							_, err = try(w, w.books.DeleteTransaction, ledger.TransactionRef{TransactionID: u})
						} else {
							_, err = try(w, w.books.RestoreTransaction, ledger.TransactionRef{TransactionID: u})
						}
					}
				}
				if err != nil {
					fail <- err
				}
			}
		})
	}
	wg.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
	w.put(t, l, accountlink.Confirmed)
	w.sweep(t)
	wrong, err := pg.Value[int](w.ctx, w.db, `
		select count(*) from transaction t where t.transfer <> (t.linked_id is not null) or t.transfer <> exists (
			select from link_match m join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
			where t.id in (p.id, r.id) and not m.broken and p.deleted_at is null and r.deleted_at is null)`)
	if err != nil || wrong != 0 {
		t.Errorf("%d transactions are not what their matches say, %v", wrong, err)
	}
	live, err := pg.Value[int](w.ctx, w.db, `select count(*) from transaction p
		join transaction r on r.amount = -p.amount where p.amount > 0 and p.deleted_at is null
		and r.deleted_at is null`)
	if got := len(w.state(t)); err != nil || got != live {
		t.Errorf("%d pairs, %d were to be found, %v", got, live, err)
	}
}
