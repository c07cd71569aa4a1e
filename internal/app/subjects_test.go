package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/books/report"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A said is a household in which people and agents change accounts, links, pairs and reports.
type said struct {
	*world
	*testing.T
	dice     *rand.Rand
	actors   []op.Actor
	accounts []id.ID
	tally    map[string]int
}

// do runs a use case as the actor, in its own transaction. It counts refusals that the contract
// allows; they change nothing.
func (s *said) do(what string, actor op.Actor, f func(context.Context, pg.Tx) error) {
	s.Helper()
	ctx := op.WithActor(s.Context(), actor)
	err := s.DB.InTx(ctx, func(tx pg.Tx) error { return f(ctx, tx) })
	switch {
	case err == nil:
		s.tally[what]++
	case errs.Is(err, errs.Conflict), errs.Is(err, errs.NotFound), errs.Is(err, errs.Forbidden):
		s.tally[what+" refused"]++
	default:
		s.Fatalf("%s: %v", what, err)
	}
}

func (s *said) pick(list ...string) string { return list[s.dice.IntN(len(list))] }

func (s *said) links() []accountlink.Link {
	s.Helper()
	list, err := s.Links.List(s.Context(), s.DB, accountlink.ListLinks{Limit: 50})
	if err != nil {
		s.Fatal(err)
	}
	return list.AccountLinks
}

// step makes one random change.
func (s *said) step() {
	s.Helper()
	actor, force := s.actors[s.dice.IntN(len(s.actors))], s.dice.IntN(3) == 0
	links := s.links()
	switch n := s.dice.IntN(12); {
	case n == 0:
		a := s.dice.Perm(len(s.accounts))
		in := accountlink.CreateLink{
			PrimaryAccountID: s.accounts[a[0]].String(), MirrorAccountID: s.accounts[a[1]].String(),
			Kind: s.pick("mirror", "transfer"), Confidence: s.pick(accountlink.Auto, accountlink.Confirmed,
				accountlink.Rejected), Force: force,
		}
		s.do("link made", actor, func(ctx context.Context, tx pg.Tx) error {
			_,
				err := s.Links.Create(ctx, tx, in)
			return err
		})
	case n <= 3 && len(links) > 0:
		in := accountlink.PutLink{
			ID:         links[s.dice.IntN(len(links))].ShortID,
			Confidence: s.pick(accountlink.Confirmed, accountlink.Confirmed, accountlink.Rejected), Force: force,
		}
		if s.dice.IntN(4) == 0 {
			in.Kind = new(s.pick("mirror", "transfer"))
		}
		s.do("link decided", actor, func(ctx context.Context, tx pg.Tx) error {
			_,
				err := s.Links.Put(ctx, tx, in)
			return err
		})
	case n == 4 && len(links) > 0:
		in := accountlink.DeleteLink{ID: links[s.dice.IntN(len(links))].ShortID, Force: force}
		s.do("link deleted", actor, func(ctx context.Context, tx pg.Tx) error {
			_,
				err := s.Links.Delete(ctx, tx, in)
			return err
		})
	case n <= 6 && len(links) > 0:
		k := links[s.dice.IntN(len(links))]
		page, err := s.Links.Matches(s.Context(), s.DB, accountlink.ListMatches{ID: k.ShortID, Limit: 50})
		if err != nil {
			s.Fatal(err)
		}
		if len(page.Matches) > 0 {
			in := accountlink.PutMatch{
				ID: k.ShortID, MatchID: page.Matches[s.dice.IntN(len(page.Matches))].ShortID,
				Confidence: s.pick(accountlink.Confirmed, accountlink.Rejected), Force: force,
			}
			s.do("pair decided", actor, func(ctx context.Context, tx pg.Tx) error {
				_,
					err := s.Links.PutMatch(ctx, tx, in)
				return err
			})
		}
	case n <= 8:
		s.patch(actor, force)
	case n == 9:
		s.do("report submitted", actor, func(ctx context.Context, tx pg.Tx) error {
			_, err := s.Reports.Create(ctx, tx, report.CreateReport{
				Title: fmt.Sprint("Report ", s.dice.IntN(1000)),
				Body:  "x", Kind: "summary",
			})
			return err
		})
	case n == 10:
		var list []report.Report
		err := s.Reports.Each(s.Context(), s.DB, report.ListReports{}, func(r report.Report) error {
			list = append(list, r)
			return nil
		})
		if err != nil {
			s.Fatal(err)
		}
		if len(list) > 0 {
			in := report.Ref{ID: list[s.dice.IntN(len(list))].ShortID}
			s.do("report deleted", actor, func(ctx context.Context, tx pg.Tx) error {
				_,
					err := s.Reports.Delete(ctx, tx, in)
				return err
			})
		}
	default:
		changes := s.changes()
		if len(changes) > 0 {
			s.do("reverted meanwhile", actor, func(ctx context.Context, tx pg.Tx) error {
				_, err := s.Journal.Revert(ctx, tx,
					journal.RevertChange{ChangeID: changes[s.dice.IntN(min(len(changes), 6))].ID.String()})
				return err
			})
		}
	}
	if s.dice.IntN(4) == 0 {
		s.sweep()
	}
}

func (s *said) patch(actor op.Actor, force bool) {
	s.Helper()
	in := account.PatchAccount{ID: s.accounts[s.dice.IntN(2)].String(), Force: force}
	switch s.dice.IntN(3) {
	case 0:
		in.Hidden = new(s.dice.IntN(2) == 0)
	case 1:
		in.DisplayName = op.Null[string]{Set: true, Value: new(s.pick("Joint", "Daily", "Old"))}
	default:
		in.DisplayName = op.Null[string]{Set: true}
	}
	s.do("account changed", actor, func(ctx context.Context, tx pg.Tx) error {
		_,
			err := s.Accounts.PatchAccount(ctx, tx, in)
		return err
	})
}

func (s *said) sweep() {
	s.Helper()
	s.do("swept", op.Actor{Type: op.System, Name: "test"},
		func(ctx context.Context, tx pg.Tx) error { _, err := s.Links.Sweep(ctx, tx); return err })
}

// changes returns all changes, newest first.
func (s *said) changes() []journal.Change {
	s.Helper()
	list, err := s.Journal.List(s.Context(), s.DB, journal.ListChanges{Limit: 500})
	if err != nil || list.HasMore {
		s.Fatalf("%v, %v", list.HasMore, err)
	}
	return list.Changes
}

// state returns the canonical hash, together with what totals depend on: the transactions that
// confirmed pairs exclude, and the rules.
func (s *said) state() string {
	s.Helper()
	c, err := ledgertest.Canonical(s.Context(), s.DB, nil, "")
	if err != nil {
		s.Fatal(err)
	}
	marks, err := pg.Values[string](s.Context(), s.DB, `
		select concat_ws(' ', t.provider_id, o.provider_id, t.excluded, t.transfer) from transaction t left
			join transaction o on o.id = t.linked_id
			where t.deleted_at is null and (t.linked_id is not null or t.excluded or t.transfer)
			order by 1`)
	if err != nil {
		s.Fatal(err)
	}
	rules, err := pg.Values[string](s.Context(), s.DB, `
		select concat_ws(' ', name, conditions, actions, priority, enabled, proposed) from rule where deleted_at is null order by 1`)
	if err != nil {
		s.Fatal(err)
	}
	return c + fmt.Sprint(marks, rules)
}

// undo reverts the changes after the first until ones, newest first, except those for which leave
// returns true. It returns the fields that could not be reverted.
func (s *said) undo(until int, leave func(i int) bool) (left []journal.Skipped) {
	s.Helper()
	all := s.changes()
	for i, c := range all[:len(all)-until] {
		if leave(i) {
			continue
		}
		err := s.DB.InTx(s.Context(), func(tx pg.Tx) error {
			r, err := s.Journal.Revert(op.WithActor(s.Context(), s.actors[0]), tx,
				journal.RevertChange{ChangeID: c.ID.String()})
			left = append(left, r.Skipped...)
			return err
		})
		if err != nil && !errs.Is(err, errs.Conflict) {
			s.Fatalf("%s: %v", c.Summary, err)
		}
	}
	return left
}

// TestSaidThingsAreReverted: people and agents change accounts, links, pairs and reports, and
// revert some of it in between. After all of it is reverted newest first, the books and their
// totals are as before. The control leaves one revert out.
func TestSaidThingsAreReverted(t *testing.T) {
	t.Parallel()
	rounds := 25
	if os.Getenv("COFFER_TEST_LONG") != "" {
		rounds = 400
	}
	w := newWorld(t)
	w.fillLinks(t)
	s := &said{world: w, T: t, tally: map[string]int{}}
	for _, kind := range []string{op.User, op.User, op.Agent, op.Agent} {
		s.actors = append(s.actors, op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
	}
	var err error
	if s.accounts, err = pg.Values[id.ID](t.Context(), w.DB, `select id from account
		order by id`); err != nil || len(s.accounts) < 3 {
		t.Fatal(s.accounts, err)
	}
	for round := range rounds {
		s.dice = rand.New(rand.NewPCG(7, uint64(round)))
		// The limit on reports is per agent and day, so each round uses new agents.
		for i := range s.actors {
			s.actors[i].ID = id.New()
		}
		for range s.dice.IntN(6) { // changes from before, which the undo leaves in place
			s.step()
		}
		s.sweep()
		s.sweep()
		before, began := s.state(), len(s.changes())
		for range 12 {
			s.step()
		}
		if made := len(s.changes()) - began; round%3 == 0 && made > 0 {
			skip := s.dice.IntN(made)
			s.undo(began, func(i int) bool { return i == skip })
			if s.sweep(); s.state() != before {
				s.tally["control: noticed"]++
			} else {
				s.tally["control: unnoticed"]++
			}
		}
		if left := s.undo(began, func(int) bool { return false }); len(left) > 0 && round%3 != 0 {
			t.Errorf("round %d: left %+v", round, left)
		}
		s.sweep()
		if after := s.state(); after != before && round%3 != 0 {
			t.Fatalf("round %d: before\n%s\nafter\n%s", round, before, after)
		}
		s.tally["rounds"]++
		s.clear()
	}
	t.Log(s.tally)
	for _, what := range []string{
		"link made", "link decided", "link decided refused", "link deleted", "pair decided",
		"account changed", "account changed refused", "report submitted", "report deleted", "reverted meanwhile",
		"control: noticed",
	} {
		if s.tally[what] == 0 {
			t.Errorf("the sequences never reach %q", what)
		}
	}
	if s.tally["control: unnoticed"] > s.tally["control: noticed"] {
		t.Error("the control that leaves one revert out came back to the same state: the hash sees too little")
	}
}

// clear removes everything that a round changed, before the next round.
func (s *said) clear() {
	s.Helper()
	s.undo(0, func(int) bool { return false })
	if _, err := s.DB.Exec(s.Context(), `delete from entry; delete from change; delete
		from report; update account set hidden = false, display_name = null, held = '{}'; delete
		from account_link`); err != nil {
		s.Fatal(err)
	}
	err := s.DB.InTx(s.Context(), func(tx pg.Tx) error { return s.Books.TouchAll(s.Context(), tx, s.accounts) })
	if err != nil {
		s.Fatal(err)
	}
	s.sweep()
}
