package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
)

// A taken is how a revert ended.
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

// left checks that a revert wrote nothing, and left everything for one reason.
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

// sound checks invariants of accounts: a live account is not merged into another, and live rows are
// in live accounts.
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

// rows are some lines of a file.
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

// Of two merges, the second of what the first brought, the first is not undone alone: some of its
// transactions have moved on. Newest first both are, in one call, and again in the other direction.
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

// The account that another was merged into is removed: the merge goes back with all its rows, and
// cannot be made again while that account is gone.
func TestMergeGoesBackWithoutItsTarget(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	from := m.connection()
	lines := rows("AX", 5)
	a, _ := m.file(from, "A", lines...)
	b, _ := m.file(m.connection(), "B", rows("BX", 5)...) // the same payments
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

// A merge that was undone is not made again over transactions that came since.
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

// People's decisions about a transaction since it moved go back with it, and do not keep it from
// moving.
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

// An account that is there without its transactions, because half of a merge was once undone, finds
// them where they are: its file adds nothing.
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

// A file that names a merged account brings its rows into the account that stays. Once the merge is
// undone, the same file finds them there: also by way of two merges.
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

// Transactions that were removed with the account that theirs was merged into come back with their
// file, once the merge is undone.
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

// lastImport is the change that the last file made.
func (m merges) lastImport() string {
	m.Helper()
	change, err := pg.Value[string](m.Context(), m.DB, `select id::text from change where cause = 'import'
		order by created_at desc, id desc limit 1`)
	if err != nil {
		m.Fatal(err)
	}
	return change
}

// A transaction that a merge deleted, because the other account had it too, comes back with its file
// once the other account's is gone, and not before.
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

// If an account's file was imported again after the account was removed, a revert does not restore
// the account beside its copy.
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
