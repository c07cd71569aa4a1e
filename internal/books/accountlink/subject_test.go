package accountlink_test

import (
	"strings"
	"testing"

	"coffer/internal/books/accountlink"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// as returns the same world with another kind of caller.
func (w *world) as(t *testing.T, kind string) *world {
	t.Helper()
	other := *w
	other.ctx = op.WithActor(t.Context(), op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
	return &other
}

func (w *world) journal() *journal.Journal {
	j := journal.New(journal.Config{DB: w.db, Subjects: append(w.books.Subjects(), w.links.Subjects()...)})
	return j
}

// newest returns the latest change.
func (w *world) newest(t *testing.T) journal.Change {
	t.Helper()
	list, err := w.journal().List(w.ctx, w.db, journal.ListChanges{Limit: 1})
	if err != nil || len(list.Changes) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list.Changes[0]
}

func (w *world) revert(t *testing.T, change id.ID) journal.Reverted {
	t.Helper()
	return do(t, w, w.journal().Revert, journal.RevertChange{ChangeID: change.String()})
}

func (w *world) shown(t *testing.T) int {
	t.Helper()
	list, err := w.links.List(w.ctx, w.db, accountlink.ListLinks{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.AccountLinks)
}

// A decision about a link is a change. Its revert makes a confirmed link a proposal again, restores
// a deleted link, and removes a created one. Totals follow each time.
func TestLinksAreJournaled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.seed(t)
	w.sweep(t)
	const all, shop = "EUR 303.00 343.00 7; ", "EUR 0.00 40.00 1; "
	l := w.only(t, accountlink.Transfer)
	w.put(t, l, accountlink.Confirmed)
	if c := w.newest(t); !strings.HasPrefix(w.said(t, c), "Confirmed account link ") || c.Entries != 1 ||
		w.totals(t) != shop {
		t.Fatalf("%+v, %s", c, w.totals(t))
	}
	w.revert(t, w.newest(t).ID)
	if now := w.only(t, accountlink.Transfer); now.Confidence != accountlink.Auto || now.Source != nil ||
		w.totals(t) != all {
		t.Errorf("not a proposal again: %+v, %s", now, w.totals(t))
	}
	w.revert(t, w.newest(t).ID)
	if now := w.only(t, accountlink.Transfer); now.Confidence != accountlink.Confirmed || w.totals(t) != shop {
		t.Errorf("not confirmed again: %+v, %s", now, w.totals(t))
	}
	do(t, w, w.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
	w.revert(t, w.newest(t).ID)
	if w.shown(t) != 1 || w.totals(t) != shop {
		t.Errorf("not back: %d links, %s", w.shown(t), w.totals(t))
	}
	// Reject a single pair.
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	do(t, w, w.links.PutMatch, accountlink.PutMatch{
		ID: l.ShortID, MatchID: page.Matches[0].ShortID,
		Confidence: accountlink.Rejected,
	})
	if w.totals(t) == shop {
		t.Fatal("the pair still counts")
	}
	// Another kind of link has other pairs, and the decision about this pair is kept for its own
	// kind.
	verdict := w.newest(t)
	do(t, w, w.links.Put, accountlink.PutLink{
		ID: l.ShortID, Kind: new(accountlink.Mirror),
		Confidence: accountlink.Confirmed,
	})
	w.revert(t, w.newest(t).ID)
	w.sweep(t)
	if w.totals(t) == shop {
		t.Error("what was said of the pair is lost with the kind")
	}
	if r := w.revert(t, verdict.ID); r.Reverted != 1 || w.totals(t) != shop {
		t.Errorf("%+v, %s", r, w.totals(t))
	}
	// A link of two other accounts, which the revert removes completely.
	do(t, w, w.links.Create, accountlink.CreateLink{
		PrimaryAccountID: a[0].String(), MirrorAccountID: a[2].String(),
		Kind: accountlink.Mirror, Confidence: accountlink.Confirmed,
	})
	w.revert(t, w.newest(t).ID)
	if w.shown(t) != 1 {
		t.Errorf("%d links", w.shown(t))
	}
	w.revert(t, w.newest(t).ID)
	if w.shown(t) != 2 {
		t.Errorf("%d links after the revert of the revert", w.shown(t))
	}
}

// A decision about a pair that was withdrawn can be restored, even if the matcher has dropped the
// pair since.
func TestWithdrawnDecisionReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed(t)
	w.sweep(t)
	const shop = "EUR 0.00 40.00 1; "
	l := w.put(t, w.only(t, accountlink.Transfer), accountlink.Confirmed)
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	do(t, w, w.links.PutMatch, accountlink.PutMatch{
		ID: l.ShortID, MatchID: page.Matches[0].ShortID, Confidence: accountlink.Rejected,
	})
	rejected := w.totals(t)
	w.revert(t, w.newest(t).ID)
	withdrawn := w.newest(t)
	if rejected == shop || w.totals(t) != shop {
		t.Fatalf("%s with the rejection, %s without", rejected, w.totals(t))
	}
	do(t, w, w.links.Put, accountlink.PutLink{
		ID: l.ShortID, Kind: new(accountlink.Mirror), Confidence: accountlink.Confirmed,
	})
	w.sweep(t)
	w.revert(t, w.newest(t).ID)
	if r := w.revert(t, withdrawn.ID); r.Reverted != 1 || len(r.Skipped) != 0 {
		t.Errorf("%+v", r)
	}
	if w.sweep(t); w.totals(t) != rejected {
		t.Errorf("%s, want %s", w.totals(t), rejected)
	}
}

// If the creation of a link was reverted, coffer can propose a link of the two accounts again. The
// control is a link that a person deleted.
func TestRevertedLinkIsProposed(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		w := newWorld(t)
		a := w.seed(t)
		// The link has another kind and the accounts in another order than the proposal will have.
		made := do(t, w, w.links.Create, accountlink.CreateLink{
			PrimaryAccountID: a[1].String(),
			MirrorAccountID:  a[0].String(), Kind: accountlink.Mirror, Confidence: accountlink.Confirmed,
		})
		if deleted {
			do(t, w, w.links.Delete, accountlink.DeleteLink{ID: made.ShortID})
		} else {
			w.revert(t, w.newest(t).ID)
		}
		got := w.sweep(t)
		if want := map[bool]int{false: 1, true: 0}[deleted]; got.Proposed != want || w.shown(t) != want {
			t.Errorf("deleted %v: %+v, %d links", deleted, got, w.shown(t))
		}
		if !deleted {
			if l := w.only(t, accountlink.Transfer); l.Confidence != accountlink.Auto || l.Matches != 3 {
				t.Errorf("%+v", l)
			}
		}
	}
}

// An agent cannot change a person's decisions about links, pairs and deletions, nor revert them,
// unless it forces it.
func TestLinksAreHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed(t)
	w.sweep(t)
	agent, l := w.as(t, op.Agent), w.only(t, accountlink.Transfer)
	w.put(t, l, accountlink.Confirmed)
	confirmed := w.newest(t)
	held := func(what string, err error) {
		t.Helper()
		if !errs.Is(err, errs.Conflict) || !strings.Contains(err.Error(), "so it is locked") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := try(agent, agent.links.Put, accountlink.PutLink{ID: l.ShortID, Confidence: accountlink.Rejected})
	held("a link", err)
	_, err = try(agent, agent.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
	held("a deletion", err)
	if r := agent.revert(t, confirmed.ID); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "held" ||
		r.Skipped[0].Subject != journal.AccountLink {
		t.Errorf("a revert: %+v", r)
	}
	if again := do(t, agent, agent.links.Put, accountlink.PutLink{
		ID:         l.ShortID,
		Confidence: accountlink.Confirmed,
	}); again.Source == nil || *again.Source != op.User {
		t.Errorf("an agent repeats what a person said: %+v", again)
	}
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	pair := accountlink.PutMatch{ID: l.ShortID, MatchID: page.Matches[0].ShortID, Confidence: accountlink.Rejected}
	do(t, w, w.links.PutMatch, pair)
	rejected := w.newest(t)
	pair.Confidence = accountlink.Confirmed
	_, err = try(agent, agent.links.PutMatch, pair)
	held("a pair", err)
	if r := agent.revert(t, rejected.ID); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "held" {
		t.Errorf("a pair's revert: %+v", r)
	}
	pair.Force = true
	if m := do(t, agent, agent.links.PutMatch, pair); m.Source == nil || *m.Source != op.Agent {
		t.Errorf("forced: %+v", m)
	}
	do(t, w, w.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
	in := accountlink.CreateLink{
		PrimaryAccountID: l.PrimaryAccountID.String(),
		MirrorAccountID:  l.MirrorAccountID.String(), Kind: accountlink.Transfer, Confidence: accountlink.Confirmed,
	}
	_, err = try(agent, agent.links.Create, in)
	held("what a person deleted", err)
	in.Force = true
	do(t, agent, agent.links.Create, in)
	// If a person repeats an agent's decision, the person holds it.
	if now := w.put(t, l, accountlink.Confirmed); *now.Source != op.User {
		t.Errorf("%+v", now)
	}
}

// A decision costs an agent's budget one write, however many pairs it affects. A revert by another
// agent costs the same.
func TestVerdictsCostOneWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed(t)
	w.sweep(t)
	agent, l := w.as(t, op.Agent), w.only(t, accountlink.Transfer)
	key := op.ActorOf(agent.ctx).ID
	_, err := pg.Exec(t.Context(), w.db, `
		insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, actor_name, max_writes_per_day)
			values ($1, $2, 'api_key', '\x01', 'coffer_x', 'a', 'full_access', 'agent', 'a', 2)`, key, key.Short())
	if err != nil {
		t.Fatal(err)
	}
	used := func() int {
		t.Helper()
		n, err := pg.Values[int](t.Context(), w.db, `select used::int from write_budget where key_id = $1`, key)
		if err != nil {
			t.Fatal(err)
		}
		return append(n, 0)[0]
	}
	agent.put(t, l, accountlink.Confirmed)
	if used() != 1 {
		t.Errorf("a link of three pairs cost %d writes", used())
	}
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l.ShortID, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	do(t, agent, agent.links.PutMatch, accountlink.PutMatch{
		ID: l.ShortID, MatchID: page.Matches[0].ShortID,
		Confidence: accountlink.Rejected,
	})
	if used() != 2 {
		t.Errorf("one pair more: %d writes", used())
	}
	if _, err := try(agent, agent.links.Put, accountlink.PutLink{
		ID:         l.ShortID,
		Confidence: accountlink.Rejected,
	}); !errs.Is(err, errs.RateLimited) {
		t.Errorf("past the budget: %v", err)
	}
	if now := w.only(t, accountlink.Transfer); now.Confidence != accountlink.Confirmed {
		t.Errorf("what was refused was done: %+v", now)
	}
	// Undoing one's own decisions is free, even if the budget is used up. Another agent pays for
	// the undo as for a decision.
	verdict := w.newest(t)
	agent.revert(t, verdict.ID)
	if used() != 2 {
		t.Errorf("an agent's revert of its own verdict: %d writes", used())
	}
	other := w.as(t, op.Agent)
	ofAll := func() int {
		t.Helper()
		n, err := pg.Value[int](t.Context(), w.db, `select used::int from write_budget
			where key_id = '00000000-0000-0000-0000-000000000000'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := ofAll()
	list, err := w.journal().List(w.ctx, w.db, journal.ListChanges{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if r := other.revert(t, list.Changes[len(list.Changes)-1].ID); r.Reverted != 1 || ofAll()-was != 1 {
		t.Errorf("another agent's revert of a link of three pairs: %+v, %d writes", r, ofAll()-was)
	}
}
