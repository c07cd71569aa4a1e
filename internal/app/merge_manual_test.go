package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// byHand enters a payment by hand and returns its id.
func (m merges) byHand(account, date string, amount float64) string {
	m.Helper()
	var made struct {
		ID string `json:"id"`
	}
	m.ask(http.StatusCreated, http.MethodPost, "/transactions", map[string]any{
		"account_id": account, "date": date, "amount": amount, "name": "BY HAND",
	}, &made)
	return made.ID
}

// counted returns whether totals count a transaction.
func (m merges) counted(transaction string) bool {
	m.Helper()
	excluded, err := pg.Value[bool](m.Context(), m.DB, `select excluded from transaction where id = $1::text::uuid`,
		transaction)
	if err != nil {
		m.Fatal(err)
	}
	return !excluded
}

// A payment by hand was matched with the bank's while their accounts were merged. Once the merge is
// undone they are in two accounts: both count again, and another payment by hand takes the match.
func TestUndoneMergePartsMatches(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from, into := m.connection(), m.connection()
	a, _ := m.file(from, "A", "2026-03-01,X,-10.00")
	b, _ := m.file(into, "B", "2026-03-02,Y,-11.00")
	hand := m.byHand(a, "2026-05-05", 50)
	merge := *m.merge(a, b, false).Result.Change
	m.file(into, "B", "2026-05-05,SHOP,-50.00")
	if m.counted(hand) {
		t.Fatal("the payment by hand was not matched")
	}
	if r := m.back(m.key, merge); len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
	if !m.counted(hand) {
		t.Error("the payment by hand is in another account than the bank's and does not count")
	}
	second := m.byHand(b, "2026-05-05", 50)
	if m.counted(second) {
		t.Error("a payment by hand in the bank's account was not matched")
	}
	m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+hand, map[string]any{"amount": 51}, nil)
	m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+hand, map[string]any{"amount": 50}, nil)
	if !m.counted(hand) || m.counted(second) {
		t.Error("an edit changed which of them counts")
	}
	m.sound()
}

// While a transaction was in the account that its own was merged into, another came under its bank id
// and was deleted. Once the merge is undone the transaction has its id again: the bank's file finds it
// and does not restore the other beside it.
func TestUndoneMergeReturnsBankIDs(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	a, _ := m.file(from, "A", "2026-03-01,X,-10.00")
	b, _ := m.file(m.connection(), "B", "2026-06-02,Y,-11.00")
	m.file(from, "A", "2026-03-01,X,-10.00", "2026-04-01,OTHER,-20.00")
	row, other := m.row(a, "X"), m.row(a, "OTHER")
	newest, err := pg.Value[string](t.Context(), m.DB, `select short_id from change order by id desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	m.revert(newest)
	merge := *m.merge(a, b, false).Result.Change
	if _, err := m.DB.Exec(t.Context(), `update transaction x set account_id = $1::text::uuid, provider_id = t.provider_id
		from transaction t where x.id = $2::text::uuid and t.id = $3::text::uuid`, a, other, row); err != nil {
		t.Fatal(err)
	}
	m.back(m.key, merge)
	if _, added := m.file(from, "A", "2026-03-01,X,-10.00"); added != 0 || m.live(a) != 1 || m.live(b) != 1 {
		t.Errorf("%d added, %d and %d live", added, m.live(a), m.live(b))
	}
	if m.row(a, "X") != row {
		t.Error("another transaction took the payment's place")
	}
}

// identities are the bank's ids of all transactions, with their accounts.
func (m merges) identities() []string {
	m.Helper()
	all, err := pg.Values[string](m.Context(), m.DB, `select concat_ws(' ', t.id, a.name, t.provider_id)
		from transaction t join account a on a.id = t.account_id order by t.id`)
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// Two accounts with the same payment are merged into a third, one of them, undone, and again once the
// other one has brought the bank's id along. When everything is undone each transaction has its bank's
// id again, and the files bring nothing.
func TestUndoneMergesReturnLentIDs(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	into, _ := m.file(m.connection(), "A", "2026-03-01,Payment in other words,-10.00", "2026-01-01,X,-1.00")
	first, second := m.connection(), m.connection()
	same := "2026-03-01,PAYMENT,-10.00"
	b, _ := m.file(first, "B", same, "2026-01-02,Y,-2.00")
	c, _ := m.file(second, "C", same, "2026-01-03,Z,-3.00")
	began, books := m.identities(), m.hash()
	one := *m.merge(c, into, false).Result.Change
	undone := m.back(m.key, one).Change.ID
	two := *m.merge(b, into, false).Result.Change
	again := m.back(m.key, undone).Change.ID
	lent, err := pg.Value[int](t.Context(), m.DB, `select count(*) from transaction where starts_with(provider_id, 'lent:')`)
	if err != nil || lent != 1 {
		t.Errorf("%d transactions lent their bank's ids, want one: %v", lent, err)
	}
	for _, change := range []string{again, two} {
		m.revert(change)
	}
	m.same(books, "everything undone")
	if now := m.identities(); !slices.Equal(now, began) {
		t.Errorf("the bank's ids are\n%s\nand were\n%s", strings.Join(now, "\n"), strings.Join(began, "\n"))
	}
	for name, connection := range map[string]string{"B": first, "C": second} {
		if account, added := m.file(connection, name, same); added != 0 || m.live(account) != 2 {
			t.Errorf("%s again: %d added, %d live", name, added, m.live(account))
		}
	}
	m.sound()
}
