package accountlink_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/internal/books/accountlink"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// monthly gives two accounts n transfers of different amounts, each on one day.
func (w *world) monthly(t *testing.T, from, to id.ID, first, n int) {
	t.Helper()
	var rows []ledger.Incoming
	for i := range n {
		k := first + i
		rows = append(rows, incoming(from, fmt.Sprint("out", k), 30*k, fmt.Sprintf("%d.00", 100+k)),
			incoming(to, fmt.Sprint("in", k), 30*k, fmt.Sprintf("-%d.00", 100+k)))
	}
	w.merge(t, rows...)
}

func (w *world) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), w.db, sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// said returns the summary of a change, with the names of accounts.
func (w *world) said(t *testing.T, c journal.Change) string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), w.db, `select unnest(array[short_id, name]) from account order by id`)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(rows...).Replace(c.Summary.Plain())
}

const decisions = `select count(*)::int from change where actor_type = 'system' and actor_name = 'coffer'`

// coffer confirms transfers if all evidence supports them, and records that as a change. If a
// person undoes the change, coffer asks and does not confirm the link again.
func TestTransfersDecideThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "a", "b")
	w.monthly(t, a[0], a[1], 0, 9)
	w.merge(t, incoming(a[0], "shop", 3, "40.00"))
	if r := w.sweep(t); r.Proposed != 1 || r.Decided != 0 {
		t.Fatalf("nine pairs: %+v", r)
	}
	l := w.only(t, accountlink.Transfer)
	if l.Confidence != accountlink.Auto || l.ChangeID != nil || l.Evidence == nil || l.Evidence.Candidates != 18 ||
		l.Evidence.Agreeing != 18 || l.Evidence.Share != 100 || len(l.Evidence.Pairs) != 3 {
		t.Fatalf("%+v %+v", l, l.Evidence)
	}
	if p := l.Evidence.Pairs[0]; p.Amount.String() != "108.00" || p.Name.Plain() != "ROW out8" ||
		p.MirrorName.Plain() != "ROW in8" {
		t.Errorf("the newest pair: %+v", p)
	}

	w.monthly(t, a[0], a[1], 9, 1)
	if r := w.sweep(t); r.Decided != 1 {
		t.Fatalf("ten pairs: %+v", r)
	}
	l = w.only(t, accountlink.Transfer)
	if l.Confidence != accountlink.Confirmed || l.Source == nil || *l.Source != "rule" || l.ChangeID == nil ||
		l.Evidence == nil || len(l.Evidence.Pairs) != 0 {
		t.Fatalf("%+v", l)
	}
	if got := w.totals(t); got != "EUR 0.00 40.00 1; " {
		t.Errorf("totals count transfers: %s", got)
	}
	if c := w.newest(t); c.ID != *l.ChangeID || c.ActorName != "coffer" ||
		w.said(t, c) != "Confirmed account link a ↔ b (transfer)" {
		t.Errorf("%+v", c)
	}

	if r := w.revert(t, *l.ChangeID); r.Reverted != 1 {
		t.Fatalf("%+v", r)
	}
	l = w.only(t, accountlink.Transfer)
	if l.Confidence != accountlink.Auto || l.Source != nil || l.Evidence == nil || len(l.Evidence.Pairs) != 3 {
		t.Fatalf("undone: %+v", l)
	}
	w.monthly(t, a[0], a[1], 10, 3)
	if r := w.sweep(t); r.Decided != 0 || w.only(t, accountlink.Transfer).Confidence != accountlink.Auto {
		t.Errorf("decided again, against a person: %+v", r)
	}
	w.revert(t, w.newest(t).ID)
	if l := w.only(t, accountlink.Transfer); l.Confidence != accountlink.Confirmed || *l.Source != "rule" {
		t.Errorf("redone: %+v", l)
	}
	if got := w.totals(t); got != "EUR 0.00 40.00 1; " {
		t.Errorf("redone: %s", got)
	}
}

// coffer does not confirm a transfer if there is evidence against it.
func TestDoubtsAreAsked(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]func(t *testing.T, w *world, a []id.ID){
		"another day": func(t *testing.T, w *world, a []id.ID) {
			t.Helper()
			w.merge(t, incoming(a[0], "late", 400, "77.00"), incoming(a[1], "later", 401, "-77.00"))
		},
		"a second candidate": func(t *testing.T, w *world, a []id.ID) {
			t.Helper()
			w.merge(t, incoming(a[0], "x", 400, "77.00"), incoming(a[1], "y", 400, "-77.00"),
				incoming(a[2], "z", 402, "-77.00"))
		},
		"a category": func(t *testing.T, w *world, a []id.ID) {
			t.Helper()
			w.merge(t, incoming(a[0], "x", 400, "77.00"), incoming(a[1], "y", 400, "-77.00"))
			if _, err := pg.Exec(t.Context(), w.db, `update transaction set category_id = (select id from category
				where slug = 'home_rent') where provider_id = 'x'`); err != nil {
				t.Fatal(err)
			}
		},
		"a rejected pair": func(t *testing.T, w *world, a []id.ID) {
			t.Helper()
			w.monthly(t, a[0], a[1], 20, 3)
			w.sweep(t)
			l := w.only(t, accountlink.Transfer)
			page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			do(t, w, w.links.PutMatch, accountlink.PutMatch{
				ID: l.ShortID, MatchID: page.Matches[0].ShortID, Confidence: accountlink.Rejected,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.accounts(t, "a", "b", "c")
			doubt(t, w, a)
			w.monthly(t, a[0], a[1], 0, 10)
			if r := w.sweep(t); r.Decided != 0 || w.only(t, accountlink.Transfer).Confidence != accountlink.Auto {
				t.Errorf("%+v", r)
			}
		})
	}
}

// coffer confirms neither duplicate accounts nor money in another currency by itself.
func TestDuplicatesAreAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "a", "b", "c")
	var rows []ledger.Incoming
	for i := range 20 {
		amount := fmt.Sprintf("%d.00", 100+i)
		rows = append(rows, incoming(a[0], fmt.Sprint(i), 20*i, amount), incoming(a[1], fmt.Sprint(i), 20*i, amount))
		abroad := incoming(a[2], fmt.Sprint(i), 20*i, "-"+amount)
		abroad.Currency = "USD"
		rows = append(rows, abroad)
	}
	w.merge(t, rows...)
	if r := w.sweep(t); r.Proposed != 1 || r.Decided != 0 {
		t.Errorf("%+v", r)
	}
	if l := w.only(t, accountlink.Mirror); l.Confidence != accountlink.Auto || l.Evidence.Share != 100 ||
		l.Evidence.Candidates != 20 || len(l.Evidence.Pairs) != 3 {
		t.Errorf("%+v %+v", l, l.Evidence)
	}
}

// If the pairs of a decided link stop matching, coffer asks. A person's own decision stays.
func TestContradictedDecisionsAreAsked(t *testing.T) {
	t.Parallel()
	for _, person := range []bool{false, true} {
		w := newWorld(t)
		a := w.accounts(t, "a", "b", "c")
		w.monthly(t, a[0], a[1], 0, 10)
		w.sweep(t)
		l := w.only(t, accountlink.Transfer)
		if person {
			w.put(t, l, accountlink.Confirmed)
		}
		var rows []ledger.Incoming
		for i := 6; i < 10; i++ { // a third account shows that the money went elsewhere
			rows = append(rows, incoming(a[2], fmt.Sprint("in", i), 30*i+1, fmt.Sprintf("-%d.00", 100+i)))
		}
		w.merge(t, rows...)
		before := w.totals(t)
		w.sweep(t)
		got := w.only(t, accountlink.Transfer)
		if person {
			if got.Confidence != accountlink.Confirmed || *got.Source != op.User {
				t.Errorf("a person's decision: %+v", got)
			}
			continue
		}
		if got.Confidence != accountlink.Auto || got.Evidence.Matched != 12 || got.Evidence.Candidates != 20 {
			t.Fatalf("%+v %+v", got, got.Evidence)
		}
		if c := w.newest(t); w.said(t, c) != "Reopened account link a ↔ b (transfer)" || c.ActorName != "coffer" {
			t.Errorf("%+v", c)
		}
		if w.totals(t) == before {
			t.Error("totals did not follow")
		}
		w.revert(t, w.newest(t).ID)
		if got := w.only(t, accountlink.Transfer); got.Confidence != accountlink.Confirmed {
			t.Errorf("the question undone: %+v", got)
		}
	}
}

// Servers that sweep at the same time make only one decision.
func TestServersDecideOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "a", "b")
	w.monthly(t, a[0], a[1], 0, 12)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			err := w.db.InTx(t.Context(), func(tx pg.Tx) error {
				if err := w.books.TouchAll(t.Context(), tx, a); err != nil {
					return err
				}
				_, err := w.links.Sweep(t.Context(), tx)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.count(t, decisions); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

// Several links are decided as one change, and one undo reverts all decisions.
func TestReviewTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "a", "b", "c")
	var rows []ledger.Incoming
	for i := range 4 {
		rows = append(rows, incoming(a[0], fmt.Sprint("b", i), 30*i, fmt.Sprintf("10%d.00", i)),
			incoming(a[1], fmt.Sprint("b", i), 30*i+2, fmt.Sprintf("-10%d.00", i)),
			incoming(a[0], fmt.Sprint("c", i), 30*i, fmt.Sprintf("20%d.00", i)),
			incoming(a[2], fmt.Sprint("c", i), 30*i+2, fmt.Sprintf("-20%d.00", i)))
	}
	w.merge(t, rows...)
	w.sweep(t)
	list, err := w.links.List(w.ctx, w.db, accountlink.ListLinks{Limit: 50})
	if err != nil || len(list.AccountLinks) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	ids := []string{list.AccountLinks[0].ShortID, list.AccountLinks[1].ID.String()}
	if _, err := try(w, w.links.Review, accountlink.ReviewLinks{
		IDs: append(slices.Clone(ids), "nothing0"), Confidence: accountlink.Confirmed,
	}); !errs.Is(err, errs.InvalidReference) || w.count(t, `select count(*)::int from account_link where confidence = 'auto'`) != 2 {
		t.Errorf("one that is not there: %v", err)
	}
	before := w.totals(t)
	out := do(t, w, w.links.Review, accountlink.ReviewLinks{IDs: ids, Confidence: accountlink.Confirmed})
	if out.Decided != 2 || out.ChangeID == nil || len(out.AccountLinks) != 2 ||
		*out.AccountLinks[0].ChangeID != *out.ChangeID || w.totals(t) != "" {
		t.Fatalf("%+v, %s", out, w.totals(t))
	}
	if c := w.newest(t); c.ID != *out.ChangeID || c.Summary != "Confirmed 2 account links" {
		t.Errorf("%+v", c)
	}
	again := do(t, w, w.links.Review, accountlink.ReviewLinks{IDs: ids, Confidence: accountlink.Confirmed})
	if again.Decided != 0 || again.ChangeID != nil {
		t.Errorf("again: %+v", again)
	}
	agent := w.as(t, op.Agent)
	if _, err := try(agent, agent.links.Review, accountlink.ReviewLinks{
		IDs: ids, Confidence: accountlink.Rejected,
	}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent overrules a person: %v", err)
	}
	w.revert(t, *out.ChangeID)
	if w.totals(t) != before || w.count(t, `select count(*)::int from account_link where confidence = 'auto'
		and source is null`) != 2 {
		t.Errorf("undone: %s", w.totals(t))
	}
	one := do(t, w, w.links.Review, accountlink.ReviewLinks{IDs: ids[:1], Confidence: accountlink.Rejected})
	if c := w.newest(t); one.Decided != 1 || !strings.HasPrefix(w.said(t, c), "Rejected account link ") {
		t.Errorf("%+v %+v", one, c)
	}
}
