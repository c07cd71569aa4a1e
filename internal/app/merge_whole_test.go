package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
)

// A taken is the result of a revert.
type taken struct {
	Change *struct {
		ID string `json:"id"`
	} `json:"change"`
	Reverted int            `json:"reverted"`
	ByReason map[string]int `json:"skipped_by_reason"`
	Skipped  []struct {
		Reason  string  `json:"reason"`
		Because *string `json:"because"`
		Field   string  `json:"field"`
	} `json:"skipped"`
}

// back reverts a change with a key.
func (m merges) back(key, change string) taken {
	m.Helper()
	r := m.send(m, exchange{
		method: http.MethodPost, path: "/api/v1/changes/" + change + "/revert", key: key, body: "{}",
	})
	var out taken
	if r.status != http.StatusOK || json.Unmarshal([]byte(r.body), &out) != nil {
		m.Fatalf("revert: %d %s", r.status, r.body)
	}
	return out
}

// left checks that a revert wrote nothing, and skipped everything for one reason.
func (m merges) left(r taken, reason string) {
	m.Helper()
	if r.Reverted != 0 || r.Change != nil || len(r.ByReason) != 1 || r.ByReason[reason] == 0 {
		m.Errorf("reverted %d, left %v, want all left as %s", r.Reverted, r.ByReason, reason)
	}
}

func (m merges) remove(account string) (change string) {
	m.Helper()
	var done struct {
		State  string `json:"state"`
		Result struct {
			Change string `json:"change_id"`
		} `json:"result"`
	}
	m.ask(http.StatusOK, http.MethodPost, "/accounts/"+account+"/remove?wait=30s", map[string]any{}, &done)
	if done.State != "succeeded" {
		m.Fatalf("%+v", done)
	}
	return done.Result.Change
}

// sound checks invariants: a live account is not merged into another, and live transactions are in
// live accounts.
func (m merges) sound() {
	m.Helper()
	bad, err := pg.Values[string](m.Context(), m.DB, `
		select 'leads on: ' || name from account where deleted_at is null and merged_into is not null
		union all select 'live in ' || a.name from transaction t join account a on a.id = t.account_id
			where t.deleted_at is null and a.deleted_at is not null`)
	if err != nil || len(bad) > 0 {
		m.Error(bad, err)
	}
}

// rows returns lines of a file.
func rows(name string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("2026-03-%02d,%s %d,-%d.00", i+1, name, i, 10+i))
	}
	return out
}

func (m merges) live(account string) int {
	m.Helper()
	n, err := pg.Value[int](m.Context(), m.DB, `select count(*) from transaction where account_id = $1::text::uuid
		and deleted_at is null`, account)
	if err != nil {
		m.Fatal(err)
	}
	return n
}

// An agent can neither revert nor redo a person's merge or removal.
func TestAgentsLeaveMergesWhole(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	agent := m.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: "agent"}).Secret
	from := m.connection()
	old, _ := m.file(from, "Old", rows("SHOP", 6)...)
	into, _ := m.file(m.connection(), "New", "2026-06-01,X,-1000.00")
	before := m.hash()
	merge := *m.merge(old, into, false).Result.Change
	after := m.hash()
	m.left(m.back(agent, merge), "held")
	m.same(after, "reverted by an agent")
	if _, added := m.file(from, "Old", rows("SHOP", 6)...); added != 0 {
		t.Errorf("the same file again added %d", added)
	}
	undone := m.back(m.key, merge)
	if len(undone.Skipped) > 0 {
		t.Errorf("%+v", undone)
	}
	m.same(before, "reverted by a person")
	m.left(m.back(agent, undone.Change.ID), "held")
	m.same(before, "merged again by an agent")

	removal := m.remove(old)
	gone := m.hash()
	m.left(m.back(agent, removal), "held")
	m.same(gone, "removed, and reverted by an agent")
	if r := m.back(m.key, removal); len(r.Skipped) > 0 {
		t.Errorf("%+v", r)
	}
	m.same(before, "removed and reverted by a person")
	m.sound()
}

// TestMergesInAChainGoBackWhole: a second merge moves what a first merge moved. The first one
// cannot be undone alone, because some of its transactions have moved on. Both can be undone newest
// first in one call, and redone.
func TestMergesInAChainGoBackWhole(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	lines := rows("Q", 5)
	a, _ := m.file(from, "A", lines...)
	b, _ := m.file(m.connection(), "B", "2026-06-02,E,-1.00", lines[0])
	c, _ := m.file(m.connection(), "C", "2026-07-02,F,-2.00")
	before := m.hash()
	first := *m.merge(a, b, false).Result.Change
	second := *m.merge(b, c, false).Result.Change
	both := m.hash()
	r := m.back(m.key, first)
	m.left(r, "together")
	for i, s := range r.Skipped {
		if blamed := s.Because != nil && *s.Because == "changed_since"; blamed != (s.Field == "account") || i == 0 && !blamed {
			t.Errorf("%d: %+v", i, s)
		}
	}
	m.same(both, "the first of two reverted")
	if account, added := m.file(from, "A", lines...); account != c || added != 0 {
		t.Errorf("the same file again added %d", added)
	}
	var undone struct {
		Reverted int   `json:"reverted"`
		Skipped  []any `json:"skipped"`
		Results  []struct {
			Revert string `json:"revert_id"`
		} `json:"results"`
	}
	m.ask(http.StatusOK, http.MethodPost, "/changes/revert", map[string]any{
		"change_ids": []string{first, second}, "dry_run": true,
	}, &undone)
	m.same(both, "a dry run")
	m.ask(http.StatusOK, http.MethodPost, "/changes/revert", map[string]any{"change_ids": []string{first, second}}, &undone)
	if len(undone.Skipped) > 0 || len(undone.Results) != 2 {
		t.Fatalf("%+v", undone)
	}
	m.same(before, "both reverted")
	m.sound()
	m.ask(http.StatusOK, http.MethodPost, "/changes/revert", map[string]any{
		"change_ids": []string{undone.Results[0].Revert, undone.Results[1].Revert},
	}, &undone)
	m.same(both, "both made again")
	m.sound()
}

// TestMergeGoesBackWithoutItsTarget: after the target account of a merge was removed, the merge can
// be undone with all its rows. It cannot be redone while that account is removed.
func TestMergeGoesBackWithoutItsTarget(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	lines := rows("AX", 5)
	a, _ := m.file(from, "A", lines...)
	b, _ := m.file(m.connection(), "B", rows("BX", 5)...) // the same payments as in A
	merge := *m.merge(a, b, false).Result.Change
	m.remove(b)
	r := m.back(m.key, merge)
	if len(r.Skipped) > 0 || m.live(a) != 5 || m.live(b) != 0 {
		t.Errorf("%+v: %d and %d rows", r, m.live(a), m.live(b))
	}
	m.sound()
	if account, added := m.file(from, "A", lines...); account != a || added != 0 {
		t.Errorf("the same file again added %d", added)
	}
	apart := m.hash()
	m.left(m.back(m.key, r.Change.ID), "together")
	m.same(apart, "a merge into what is gone")
}

// TestMergeIsNotRedoneOverNewRows: an undone merge is not redone if transactions have been added
// since.
func TestMergeIsNotRedoneOverNewRows(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	a, _ := m.file(from, "A", rows("AX", 3)...)
	b, _ := m.file(m.connection(), "B", "2026-06-02,E,-1.00")
	undone := m.back(m.key, *m.merge(a, b, false).Result.Change)
	m.file(from, "A", "2026-08-01,NEW,-7.00")
	before := m.hash()
	r := m.back(m.key, undone.Change.ID)
	m.left(r, "together")
	m.same(before, "made again over a new row")
	if len(r.Skipped) == 0 || r.Skipped[0].Because == nil || *r.Skipped[0].Because != "conflict" {
		t.Errorf("%+v", r.Skipped)
	}
	if done := m.merge(a, b, false); done.Result.Moved != 4 {
		t.Errorf("%+v", done.Result)
	}
	m.sound()
}

// TestMergeGoesBackAroundLaterDecisions: if people decided about a transaction after it moved,
// undoing the merge still moves it back, together with the decisions.
func TestMergeGoesBackAroundLaterDecisions(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	a, _ := m.file(m.connection(), "A", rows("AX", 4)...)
	b, _ := m.file(m.connection(), "B", "2026-03-01,SAME,-10.00")
	m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+m.row(a, "AX 0"), map[string]any{"category": "home"}, nil)
	merge := *m.merge(a, b, false).Result.Change
	moved, stays := m.row(b, "AX 2"), m.row(b, "SAME")
	m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+moved, map[string]any{"category": "travel"}, nil)
	m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+stays, map[string]any{"category": "health"}, nil)
	m.ask(http.StatusNoContent, http.MethodDelete, "/transactions/"+m.row(b, "AX 3"), nil, nil)
	r := m.back(m.key, merge)
	if len(r.ByReason) != 1 || r.ByReason["changed_since"] != 1 || r.Skipped[0].Field != "category" {
		t.Errorf("%+v", r)
	}
	if m.live(a) != 3 || m.live(b) != 1 || m.row(a, "AX 2") != moved {
		t.Errorf("%d and %d rows", m.live(a), m.live(b))
	}
	m.sound()
}

// TestFileFindsRowsThatMoved: half of a merge was once undone, so an account exists without its
// transactions. An import of its file finds them in the other account and adds nothing.
func TestFileFindsRowsThatMoved(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	lines := rows("AX", 4)
	a, _ := m.file(from, "A", lines...)
	b, _ := m.file(m.connection(), "B", "2026-06-02,E,-1.00")
	m.merge(a, b, false)
	if _, err := m.DB.Exec(t.Context(), `update account set deleted_at = null, merged_into = null
		where id = $1::text::uuid`, a); err != nil {
		t.Fatal(err)
	}
	before := m.hash()
	if account, added := m.file(from, "A", lines...); account != a || added != 0 {
		t.Errorf("the file added %d", added)
	}
	m.same(before, "the file again")
	if _, added := m.file(from, "A", append(lines, "2026-08-01,NEW,-7.00")...); added != 1 || m.live(a) != 1 {
		t.Errorf("a new row: %d added, %d there", added, m.live(a))
	}
}

// TestFileFindsRowsThatCameWhileMerged: a file that names a merged account adds its rows to the
// account that stays. After the merge is undone, the same file finds the rows there. This also
// works through two merges.
func TestFileFindsRowsThatCameWhileMerged(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from, between := m.connection(), m.connection()
	lines := rows("AX", 4)
	a, _ := m.file(from, "A", lines[:2]...)
	b, _ := m.file(between, "B", "2026-06-03,F,-2.00")
	c, _ := m.file(m.connection(), "C", "2026-06-02,E,-1.00")
	m.merge(a, b, false)
	second := m.merge(b, c, false)
	if account, added := m.file(from, "A", lines...); account != c || added != 2 {
		t.Fatalf("%d rows came into %s", added, account)
	}
	if r := m.back(m.key, *second.Result.Change); len(r.Skipped) > 0 || m.live(c) != 3 || m.live(b) != 3 {
		t.Fatalf("%+v: %d and %d rows", r, m.live(b), m.live(c))
	}
	before := m.hash()
	if account, added := m.file(from, "A", lines...); account != b || added != 0 {
		t.Errorf("the file added %d", added)
	}
	m.same(before, "the file again")
}

// TestFileBringsBackWhatWentWithAnotherAccount: an account was merged into another, which was then
// removed. After the merge is undone, importing the first account's file again restores the
// transactions that were removed.
func TestFileBringsBackWhatWentWithAnotherAccount(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	lines := rows("AX", 4)
	a, _ := m.file(from, "A", lines...)
	b, _ := m.file(m.connection(), "B", "2026-06-02,E,-1.00")
	merge := m.merge(a, b, false)
	m.ask(http.StatusNoContent, http.MethodDelete, "/transactions/"+m.row(b, "AX 1"), nil, nil)
	m.remove(b)
	m.back(m.key, *merge.Result.Change)
	m.sound()
	if account, _ := m.file(from, "A", lines...); account != a || m.live(a) != 3 {
		t.Errorf("%d rows are back in %s", m.live(a), account)
	}
}

// lastImport returns the change of the newest import.
func (m merges) lastImport() string {
	m.Helper()
	change, err := pg.Value[string](m.Context(), m.DB, `select id::text from change where cause = 'import'
		order by created_at desc, id desc limit 1`)
	if err != nil {
		m.Fatal(err)
	}
	return change
}

// TestFileBringsBackWhatOnlyItHas: a merge deletes a transaction that the other account has too.
// Importing its file restores it only after the other account's copy is removed.
func TestFileBringsBackWhatOnlyItHas(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from, other := m.connection(), m.connection()
	a, _ := m.file(from, "A", "2026-03-01,RENT MARCH,-800.00", "2026-03-02,SHOP,-10.00")
	b, _ := m.file(other, "B", "2026-02-01,E,-1.00")
	if _, added := m.file(other, "B", "2026-03-01,RENT,-800.00"); added != 1 {
		t.Fatalf("%d added", added)
	}
	rent := m.lastImport()
	if r := m.merge(a, b, false); r.Result.Duplicates != 1 || m.live(b) != 3 {
		t.Fatalf("%+v: %d rows", r, m.live(b))
	}
	again := func() { m.file(from, "A", "2026-03-01,RENT MARCH,-800.00", "2026-03-02,SHOP,-10.00") }
	again()
	if m.live(b) != 3 {
		t.Errorf("the file beside the other account's rent: %d rows", m.live(b))
	}
	if r := m.back(m.key, rent); len(r.Skipped) > 0 || m.live(b) != 2 {
		t.Fatalf("%+v: %d rows", r, m.live(b))
	}
	before := m.hash()
	again()
	if m.live(b) != 3 {
		t.Errorf("the file without the other account's rent: %d rows", m.live(b))
	}
	m.back(m.key, m.lastImport())
	m.same(before, "the file undone")
	again()
	if m.live(b) != 3 {
		t.Errorf("the file once more: %d rows", m.live(b))
	}
}

// TestRemovedAccountAndItsCopy: after an account was removed, its file was imported again. A revert
// of the removal does not restore the account beside the new one.
func TestRemovedAccountAndItsCopy(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	a, _ := m.file(from, "A", rows("AX", 4)...)
	removal := m.remove(a)
	b, added := m.file(from, "A", rows("AX", 4)...)
	if b == a || added != 4 {
		t.Fatalf("%d added to %s", added, b)
	}
	m.left(m.back(m.key, removal), "together")
	if m.live(a) != 0 || m.live(b) != 4 {
		t.Errorf("%d and %d rows", m.live(a), m.live(b))
	}
	m.remove(b)
	if r := m.back(m.key, removal); len(r.Skipped) > 0 || m.live(a) != 4 {
		t.Errorf("%+v", r)
	}
}

// A file named an account that was merged into another, so its new transaction came there. Once the
// merge is undone and the other account is removed, the file brings the transaction into its own
// account. Undoing the removal would then count the payment twice, so the removal stays as it is.
func TestRemovedAccountAndTheFileOfAnother(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	b, _ := m.file(from, "B", rows("BX", 3)...)
	c, _ := m.file(m.connection(), "C", "2026-06-01,Y,-1000.00")
	merge := *m.merge(b, c, false).Result.Change
	m.file(from, "B", append(rows("BX", 3), "2026-05-05,NEW,-55.00")...)
	m.revert(merge)
	if m.live(b) != 3 || m.live(c) != 2 {
		t.Fatalf("%d and %d rows", m.live(b), m.live(c))
	}
	removal := m.remove(c)
	if _, added := m.file(from, "B", append(rows("BX", 3), "2026-05-05,NEW,-55.00")...); added != 1 {
		t.Fatalf("%d added", added)
	}
	again := m.lastImport()
	m.left(m.back(m.key, removal), "together")
	if m.live(b) != 4 || m.live(c) != 0 {
		t.Errorf("%d and %d rows", m.live(b), m.live(c))
	}
	m.revert(again)
	if r := m.back(m.key, removal); len(r.Skipped) > 0 || m.live(b) != 3 || m.live(c) != 2 {
		t.Errorf("%+v, %d and %d rows", r, m.live(b), m.live(c))
	}
	m.sound()
}

// A merge was undone, and the other account's own file has brought a payment since that the merged
// account has too. Undoing the undo would count it twice, so it is left. A new merge finds the
// repeated payment.
func TestMergeIsNotRedoneOverPaymentsThatCameSince(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	into := m.connection()
	a, _ := m.file(m.connection(), "A", rows("AX", 3)...)
	b, _ := m.file(into, "B", "2026-03-01,AGAIN,-10.00", "2026-06-02,E,-1.00")
	merge := *m.merge(a, b, false).Result.Change
	if m.live(b) != 4 {
		t.Fatalf("%d rows", m.live(b))
	}
	undone := m.back(m.key, merge)
	if r := m.back(m.key, undone.Change.ID); len(r.Skipped) > 0 || m.live(b) != 4 {
		t.Fatalf("%+v, %d rows", r, m.live(b))
	} else {
		undone = m.back(m.key, r.Change.ID)
	}
	if _, added := m.file(into, "B", "2026-03-02,BANK,-11.00"); added != 1 {
		t.Fatalf("%d added", added)
	}
	again := m.lastImport()
	// Another merge of the account, and its undo, hide nothing of that.
	c, _ := m.file(m.connection(), "C", "2026-05-03,ELSEWHERE,-7.00")
	m.revert(*m.merge(a, c, false).Result.Change)
	before := m.hash()
	m.left(m.back(m.key, undone.Change.ID), "together")
	m.same(before, "made again over a payment that came since")
	if r := m.merge(a, b, false); r.Result.Duplicates != 2 || m.live(b) != 4 {
		t.Errorf("%+v, %d rows", r, m.live(b))
	} else {
		m.revert(*r.Result.Change)
	}
	m.revert(again)
	if r := m.back(m.key, undone.Change.ID); len(r.Skipped) > 0 || m.live(b) != 4 {
		t.Errorf("%+v, %d rows", r, m.live(b))
	}
	m.sound()
}
