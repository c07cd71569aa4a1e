package ledger

import (
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

func (b *testBooks) found(t *testing.T, f Filter) int {
	t.Helper()
	page, err := b.Transactions(t.Context(), b.db, ListTransactions{Filter: f, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.Count(t.Context(), b.db, f)
	if err != nil || int(n.Count) != len(page.Transactions) {
		t.Errorf("%d listed, %d counted, %v", len(page.Transactions), n.Count, err)
	}
	return len(page.Transactions)
}

func purposed(in Incoming, detail string) Incoming {
	in.Detail = text.Detail(detail, in.Name)
	return in
}

// A payment's purpose is stored and searched, and the timeline shows when it changes. If the bank
// omits it later, it is kept, even if the name changes.
func TestPurposes(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	first := told(b.account, "p1", "2026-05-01", "900.00", "Hausverwaltung Krüger")
	second := told(b.account, "p2", "2026-06-01", "900.00", "Hausverwaltung Krüger")
	b.merge(t, first, second)
	if got := b.one(t, "p1").Detail; got != nil {
		t.Errorf("a row without a purpose has %q", got.Plain())
	}
	m := b.merge(t, purposed(first, "Miete Mai Whg 3 OG"), purposed(second, "Miete Juni GA NR00012345"))
	if m.Detailed != 2 || len(m.Changed) != 2 || len(m.Inserted) != 0 || len(m.Events) != 2 {
		t.Errorf("purposes of stored rows: %+v", m)
	}
	if m.Events[0].After == nil || *m.Events[0].Before == *m.Events[0].After {
		t.Errorf("the timeline does not show the new purpose: %+v", m.Events[0])
	}
	if m := b.merge(t, first, second); m.Unchanged != 2 || len(m.Changed)+int(m.Touched) != 0 {
		t.Errorf("the same rows without purposes: %+v", m)
	}
	second.Name = text.Name("HV Krüger")
	if m := b.merge(t, first, second); m.Unchanged != 1 || len(m.Changed) != 1 || m.Detailed != 0 {
		t.Errorf("another name without a purpose: %+v", m)
	}
	now := b.one(t, "p2")
	if now.Name != second.Name || now.Detail == nil || now.Detail.Plain() != "Miete Juni GA NR00012345" {
		t.Errorf("the purpose was not kept: %+v", now)
	}
	if m := b.merge(t, purposed(first, "Miete Mai")); m.Detailed != 0 || len(m.Changed) != 1 {
		t.Errorf("another purpose: %+v", m)
	}
	for search, want := range map[string]int{
		"ga nr0001": 1, "MIETE": 2, "krüger": 2, "whg": 0, "miete krüger": 2, "\"hausverwaltung krüger\nmiete\"": 0,
	} {
		if n := b.found(t, Filter{Search: new(search)}); n != want {
			t.Errorf("%q finds %d, want %d", search, n, want)
		}
	}
	if n := b.found(t, Filter{Search: new("juni krüger"), SearchMode: "words"}); n != 1 {
		t.Errorf("words of the name and the purpose find %d", n)
	}
	if n := b.found(t, Filter{ExcludeSearch: new("juni")}); n != 1 {
		t.Errorf("excluding the words of a purpose leaves %d", n)
	}
	page, err := b.Transactions(t.Context(), b.db, ListTransactions{Fields: "review", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if detail := page.Transactions[0].Detail; detail == nil {
		t.Error("the review's fields have no purpose")
	}
}

// Payments that differ only in the purpose belong to the same payee.
func TestPurposesLeavePayees(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	one := told(b.account, "p1", "2026-05-01", "9.00", "PayPal Europe")
	two, three := told(b.account, "p2", "2026-05-02", "9.00", "PayPal Europe"), told(b.account, "p3", "2026-05-03", "9.00",
		"PayPal Europe")
	b.merge(t, purposed(one, "1012 SPOTIFY"), purposed(two, "1013 EBAY"), purposed(three, "PayPal Europe"))
	if b.one(t, "p3").Detail != nil {
		t.Error("a purpose that repeats the name was stored")
	}
	if n := b.found(t, Filter{SimilarTo: new(b.one(t, "p1").ShortID)}); n != 3 {
		t.Errorf("%d are similar to the first, want 3", n)
	}
	if n, err := pg.Value[int](t.Context(), b.db, `select count(distinct payee) from descriptor`); err != nil || n != 1 {
		t.Errorf("%d payees, %v", n, err)
	}
}
