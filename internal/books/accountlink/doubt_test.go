package accountlink_test

import (
	"testing"

	"coffer/internal/books/accountlink"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// linked creates two accounts with a confirmed transfer link, and a third account without a link.
func linked(t *testing.T) (*world, []id.ID) {
	t.Helper()
	w := newWorld(t)
	a := w.accounts(t, "card", "current", "fund")
	w.monthly(t, a[1], a[0], 0, 10)
	if r := w.sweep(t); r.Decided != 1 {
		t.Fatalf("%+v", r)
	}
	return w, a
}

func (w *world) file(t *testing.T, provider, slug string) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), w.db, `update transaction set category_id = (select id from category
		where slug = $2) where provider_id = $1`, provider, slug); err != nil {
		t.Fatal(err)
	}
}

func (w *world) hidden(t *testing.T, provider string) bool {
	t.Helper()
	return w.count(t, `select count(*)::int from transaction where provider_id = $1 and transfer`, provider) == 1
}

// A holiday is paid by card, and the money comes from a fund. The purchase must count, whether the
// fund's account is known or not. A person must decide about the pair that the card's link would
// form.
func TestPurchasesStayInTotals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fund  bool // the fund's account is known
		filed bool // the purchase has a category
	}{
		"another side that is as good": {fund: true},
		"a category":                   {filed: true},
		"both":                         {fund: true, filed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, a := linked(t)
			rows := []ledger.Incoming{incoming(a[0], "house", 350, "1240.00"), incoming(a[1], "back", 351, "-1240.00")}
			if test.fund {
				rows = append(rows, incoming(a[2], "saved", 351, "1240.00"))
			}
			w.merge(t, rows...)
			if test.filed {
				w.file(t, "house", "travel_accommodation")
			}
			w.sweep(t)
			if w.hidden(t, "house") || w.hidden(t, "back") {
				t.Error("the purchase vanished")
			}
			l := w.only(t, accountlink.Transfer)
			if l.Confidence != accountlink.Confirmed || l.Unsure != 1 {
				t.Fatalf("%+v", l)
			}
			page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{
				ID: l.ShortID, Limit: 5, Confidence: new(accountlink.Auto),
			})
			if err != nil || len(page.Matches) != 1 {
				t.Fatalf("%+v %v", page, err)
			}
			do(t, w, w.links.PutMatch, accountlink.PutMatch{
				ID: l.ShortID, MatchID: page.Matches[0].ShortID, Confidence: accountlink.Confirmed,
			})
			if !w.hidden(t, "house") || w.only(t, accountlink.Transfer).Unsure != 0 {
				t.Error("confirmed, and it still counts")
			}
			w.revert(t, w.newest(t).ID)
			if w.sweep(t); w.hidden(t, "house") || w.only(t, accountlink.Transfer).Unsure != 1 {
				t.Error("undone, and it is hidden")
			}
		})
	}
}

// If the fund has a link too, the payment is paired with the fund and not with the purchase.
func TestPurchasesAreNoRivals(t *testing.T) {
	t.Parallel()
	w, a := linked(t)
	do(t, w, w.links.Create, accountlink.CreateLink{
		PrimaryAccountID: a[2].String(), MirrorAccountID: a[1].String(), Kind: accountlink.Transfer,
		Confidence: accountlink.Confirmed,
	})
	w.merge(t, incoming(a[0], "house", 350, "1240.00"), incoming(a[1], "back", 351, "-1240.00"),
		incoming(a[2], "saved", 351, "1240.00"))
	w.file(t, "house", "travel_accommodation")
	w.sweep(t)
	if w.hidden(t, "house") || !w.hidden(t, "back") || !w.hidden(t, "saved") {
		t.Error("the wrong two are a pair")
	}
}

// If someone later sets a category on one side, a person must decide about the pair again.
func TestPairsBecomeDoubtful(t *testing.T) {
	t.Parallel()
	w, a := linked(t)
	w.merge(t, incoming(a[0], "house", 350, "1240.00"), incoming(a[1], "back", 351, "-1240.00"))
	if w.sweep(t); !w.hidden(t, "house") {
		t.Fatal("no pair")
	}
	w.file(t, "house", "travel_accommodation")
	do(t, w, w.links.Reconcile, accountlink.Ref{ID: w.only(t, accountlink.Transfer).ShortID})
	w.working(t)()
	if w.hidden(t, "house") || w.only(t, accountlink.Transfer).Unsure != 1 {
		t.Error("it is still hidden")
	}
}
