package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// merges is a household in which the tests merge accounts.
type merges struct {
	testing.TB
	*world
}

func (m merges) ask(want int, method, path string, body, into any) {
	m.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		m.Fatal(err)
	}
	e := exchange{method: method, path: "/api/v1" + path, key: m.key}
	if body != nil {
		e.body = string(sent)
	}
	r := m.send(m, e)
	if r.status != want || into != nil && json.Unmarshal([]byte(r.body), into) != nil {
		m.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
	}
}

func (m merges) hash() string {
	m.Helper()
	h, err := ledgertest.Canonical(m.Context(), m.DB, nil, "")
	if err != nil {
		m.Fatal(err)
	}
	return h
}

// file imports rows into the account with that name. It returns the account's id and the number of
// added rows.
func (m merges) file(connection, name string, lines ...string) (account string, added int) {
	m.Helper()
	var done struct {
		State  string `json:"state"`
		Result struct {
			Account string `json:"account_id"`
			Added   int    `json:"added"`
		} `json:"result"`
	}
	m.ask(http.StatusOK, http.MethodPost, "/connections/"+connection+"/csv/import?wait=30s", map[string]any{
		"csv":     "Date,Description,Amount\n" + strings.Join(lines, "\n") + "\n",
		"account": map[string]any{"name": name},
	}, &done)
	if done.State != "succeeded" {
		m.Fatalf("%+v", done)
	}
	return done.Result.Account, done.Result.Added
}

func (m merges) connection() string {
	m.Helper()
	var c struct {
		ID string `json:"id"`
	}
	m.ask(http.StatusCreated, http.MethodPost, "/connections", map[string]any{"provider": "csv"}, &c)
	return c.ID
}

// A merged is the result of a merge job.
type merged struct {
	State  string `json:"state"`
	Result struct {
		Moved      int     `json:"moved"`
		Duplicates int     `json:"duplicates"`
		Decisions  int     `json:"decisions_moved"`
		Change     *string `json:"change_id"`
	} `json:"result"`
}

func (m merges) merge(from, into string, dry bool) merged {
	m.Helper()
	var out merged
	m.ask(http.StatusOK, http.MethodPost, "/accounts/"+from+"/merge?wait=30s",
		map[string]any{"into": into, "dry_run": dry}, &out)
	if out.State != "succeeded" {
		m.Fatalf("%+v", out)
	}
	return out
}

func (m merges) revert(change string) {
	m.Helper()
	var out struct {
		Skipped []any `json:"skipped"`
	}
	m.ask(http.StatusOK, http.MethodPost, "/changes/"+change+"/revert", map[string]any{}, &out)
	if len(out.Skipped) > 0 {
		m.Errorf("skipped %v", out.Skipped)
	}
}

// row returns the id of the one live transaction of an account with that name.
func (m merges) row(account, name string) string {
	m.Helper()
	one, err := pg.Value[string](m.Context(), m.DB, `select t.id::text from transaction t
		join descriptor d on d.id = t.descriptor_id where t.account_id = $1::text::uuid and d.name = $2
			and t.deleted_at is null and t.origin <> 'part'`, account, name)
	if err != nil {
		m.Fatalf("%s: %v", name, err)
	}
	return one
}

func newMerges(t testing.TB) merges {
	t.Helper()
	w := newWorld(t)
	w.work(t)
	return merges{t, w}
}

// TestMergeAccounts merges two accounts that share some payments. A shared payment stays once, with
// people's decisions about either copy. Splits and manual rows move too, and a revert restores
// everything. A second merge writes nothing, and a merge after a revert leads to the same books.
func TestMergeAccounts(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	old, _ := m.file(m.connection(), "Old",
		"2026-03-01,RENT MARCH,-900.00", "2026-03-02,BAKER ONE,-4.50", "2026-03-03,BAKER TWO,-4.50",
		"2026-03-10,SHOP,-60.00", "2026-03-12,ONLY OLD,-33.00", "2026-03-13,DELETED OLD,-44.00", "2026-03-20,TOYS,-80.00")
	into, _ := m.file(m.connection(), "New",
		"2026-03-02,Rent,-900.00", "2026-03-03,Baker,-4.50", "2026-03-11,Shop,-60.00", "2026-03-15,ONLY NEW,-12.00",
		"2026-03-20,Toys,-80.00", "2026-03-28,Cash point,-50.00")
	patch := func(row string, body map[string]any) {
		m.ask(http.StatusOK, http.MethodPatch, "/transactions/"+row, body, nil)
	}
	patch(m.row(old, "RENT MARCH"), map[string]any{"category": "home", "comment": "the flat"})
	patch(m.row(old, "SHOP"), map[string]any{"category": "travel"})
	patch(m.row(into, "Shop"), map[string]any{"category": "food_and_drink"}) // stays after the merge
	m.ask(http.StatusNoContent, http.MethodDelete, "/transactions/"+m.row(old, "RENT MARCH")+"/tags/needs-review", nil, nil)
	m.ask(http.StatusNoContent, http.MethodDelete, "/transactions/"+m.row(old, "DELETED OLD"), nil, nil)
	for _, name := range []string{"TOYS", "ONLY OLD"} {
		m.ask(http.StatusOK, http.MethodPut, "/transactions/"+m.row(old, name)+"/split", map[string]any{
			"parts": []any{map[string]any{"amount": 30, "category": "health"}, map[string]any{"category": "home"}},
		}, nil)
	}
	m.ask(http.StatusCreated, http.MethodPost, "/transactions", map[string]any{
		"account_id": old, "date": "2026-03-27", "amount": 50, "name": "Cash", "category": "travel",
	}, nil)
	m.ask(http.StatusOK, http.MethodPut, "/accounts/"+old+"/balances/2026-03-31", map[string]any{"current": 12}, nil)

	before := m.hash()
	dry := m.merge(old, into, true)
	if m.hash() != before || dry.Result.Change != nil {
		t.Fatal("a dry run wrote")
	}
	done := m.merge(old, into, false)
	after := m.hash()
	dry.Result.Change = done.Result.Change
	if dry != done || done.Result.Change == nil {
		t.Errorf("dry run %+v, merge %+v", dry.Result, done.Result)
	}
	// RENT, one baker, SHOP and TOYS already exist there. The other baker, ONLY OLD and the cash
	// move.
	if done.Result.Moved != 3 || done.Result.Duplicates != 4 {
		t.Errorf("%+v", done.Result)
	}
	m.holds(old, into)
	var page struct {
		Entries []struct{ Field, Before, After string } `json:"entries"`
	}
	m.ask(http.StatusOK, http.MethodGet, "/changes/"+*done.Result.Change+"/entries", nil, &page)
	named := 0
	for _, e := range page.Entries {
		if e.Field != "account" {
			continue
		}
		if named++; e.Before != "Old" || e.After != "New" {
			t.Errorf("a move is said to be from %q to %q", e.Before, e.After)
		}
	}
	if named < 7 {
		t.Errorf("control: %d moves are listed", named)
	}
	again := m.merge(old, into, false)
	if again.Result.Change != nil || again.Result.Moved+again.Result.Duplicates > 0 || m.hash() != after {
		t.Errorf("a second merge: %+v, the same books: %t", again.Result, m.hash() == after)
	}
	m.revert(*done.Result.Change)
	m.same(before, "reverted")
	second := m.merge(old, into, false)
	m.same(after, "merged again")
	second.Result.Change = done.Result.Change
	if second != done {
		t.Errorf("first %+v, second %+v", done.Result, second.Result)
	}
}

// same compares the books with the expected hash.
func (m merges) same(want, when string) {
	m.Helper()
	got := m.hash()
	if got == want {
		return
	}
	was, is := strings.Split(want, "\n"), strings.Split(got, "\n")
	var diff []string
	for _, l := range was {
		if !slices.Contains(is, l) {
			diff = append(diff, "- "+l)
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			diff = append(diff, "+ "+l)
		}
	}
	m.Errorf("%s, the books differ:\n%s", when, strings.Join(diff, "\n"))
}

// holds checks the books after the merge of TestMergeAccounts.
func (m merges) holds(old, into string) {
	m.Helper()
	type shown struct {
		Name     string   `json:"name"`
		Category *string  `json:"category"`
		Tags     []string `json:"tags"`
		Account  string   `json:"account_id"`
		IsSplit  bool     `json:"is_split"`
		Excluded bool     `json:"excluded"`
		Comments int      `json:"comment_count"`
		Parts    []struct {
			ID string `json:"id"`
		} `json:"parts"`
	}
	get := func(name string) (t shown) {
		m.ask(http.StatusOK, http.MethodGet, "/transactions/"+m.row(into, name), nil, &t)
		return t
	}
	category := func(t shown) string {
		if t.Category == nil {
			return ""
		}
		return *t.Category
	}
	if r := get("Rent"); category(r) != "home" || r.Comments != 1 || len(r.Tags) > 0 {
		m.Errorf("the decisions about the rent did not move: %+v", r)
	}
	if r := get("Shop"); category(r) != "food_and_drink" {
		m.Errorf("a held category was overwritten: %+v", r)
	}
	for _, name := range []string{"Toys", "ONLY OLD"} {
		r := get(name)
		if !r.IsSplit || len(r.Parts) != 2 {
			m.Errorf("%s is not split: %+v", name, r)
		}
		for _, p := range r.Parts {
			var part shown
			m.ask(http.StatusOK, http.MethodGet, "/transactions/"+p.ID, nil, &part)
			if part.Account != into {
				m.Errorf("a part of %s is in another account: %+v", name, part)
			}
		}
	}
	if r := get("Cash"); !r.Excluded {
		m.Errorf("what was entered by hand is not matched with the bank's: %+v", r)
	}
	if r := get("Cash point"); category(r) != "travel" {
		m.Errorf("the category of what was entered by hand did not move: %+v", r)
	}
	m.ask(http.StatusNotFound, http.MethodGet, "/accounts/"+old, nil, nil)
	left, err := pg.Value[int](m.Context(), m.DB, `select count(*) from transaction
		where account_id = $1::text::uuid and (origin <> 'part' or parent_id is not null)`, old)
	if err != nil || left > 0 {
		m.Errorf("%d rows are left behind, %v", left, err)
	}
	var sum struct {
		Totals []struct {
			Out float64 `json:"money_out"`
		} `json:"totals"`
	}
	m.ask(http.StatusOK, http.MethodGet, "/transactions/summary?group_by=category", nil, &sum)
	if len(sum.Totals) != 1 || sum.Totals[0].Out != 900+2*4.5+60+33+12+80+50 {
		m.Errorf("totals: %+v", sum)
	}
}

// TestMergedAccountLeads: references to a merged account lead to the account it was merged into.
// Importing a file again adds nothing, a deleted row stays deleted, and a new row is added there. A
// row of the other account with the same id does not interfere.
func TestMergedAccountLeads(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	lines := []string{"2026-03-01,RENT,-900.00", "2026-03-02,BAKER,-4.50", "2026-03-09,SHOP,-60.00"}
	first, second := m.connection(), m.connection()
	one, _ := m.file(first, "Giro", lines...)
	two, _ := m.file(second, "Giro", lines[:2]...)
	done := m.merge(one, two, false)
	if done.Result.Moved != 1 || done.Result.Duplicates != 2 {
		t.Errorf("%+v", done.Result)
	}
	after := m.hash()
	for _, c := range []string{first, second} {
		if account, added := m.file(c, "Giro", lines...); account != two || added > 0 {
			t.Errorf("the same file again went to %s, not %s, and added %d", account, two, added)
		}
	}
	m.same(after, "the same file again")
	if account, added := m.file(first, "Giro", "2026-04-01,NEXT RENT,-900.00"); account != two || added != 1 {
		t.Errorf("a new row went to %s, not %s: %d", account, two, added)
	}
	m.ask(http.StatusNoContent, http.MethodDelete, "/transactions/"+m.row(two, "NEXT RENT"), nil, nil)
	m.revert(*done.Result.Change)
	if _, added := m.file(first, "Giro", lines...); added > 0 {
		t.Errorf("after the revert the file added %d rows", added)
	}
}

// TestMergedLinksDoNotWait: a proposed link between two accounts no longer waits for a decision
// once they are merged. After a revert it waits again. The change names both accounts.
func TestMergedLinksDoNotWait(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	one, _ := m.file(m.connection(), "Giro", "2026-03-01,RENT,-900.00")
	two, _ := m.file(m.connection(), "Bank", "2026-03-01,RENT,-900.00")
	m.ask(http.StatusOK, http.MethodPatch, "/accounts/"+one, map[string]any{"display_name": "Old giro"}, nil)
	link := id.New()
	if _, err := m.DB.Exec(t.Context(), `insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence)
		values ($1, $2, $3::text::uuid, $4::text::uuid, 'mirror', 'auto')`, link, link.Short(), two, one); err != nil {
		t.Fatal(err)
	}
	waiting := func() (n int) {
		t.Helper()
		for _, path := range []string{"/overview", "/transactions/summary?group_by=category", "/net-worth", "/findings"} {
			var said struct {
				Notes []struct {
					Code string `json:"code"`
				} `json:"notes"`
				Links struct {
					Proposed int `json:"proposed"`
				} `json:"links"`
			}
			m.ask(http.StatusOK, http.MethodGet, path, nil, &said)
			for _, note := range said.Notes {
				if note.Code == "links_proposed" {
					n++
				}
			}
			n += said.Links.Proposed
		}
		return n
	}
	before := waiting()
	done := m.merge(one, two, false)
	merged := waiting()
	var change struct {
		Summary string `json:"summary"`
	}
	m.ask(http.StatusOK, http.MethodGet, "/changes/"+*done.Result.Change, nil, &change)
	short, err := pg.Value[string](t.Context(), m.DB, `select short_id from account where id = $1::text::uuid`, two)
	if want := "Merged account Old giro into " + short; err != nil || change.Summary != want {
		t.Errorf("the change is called %q, not %q: %v", change.Summary, want, err)
	}
	m.revert(*done.Result.Change)
	if after := waiting(); before < 3 || merged != 0 || after != before {
		t.Errorf("listed %d times before, %d times once merged and %d times after the revert", before, merged, after)
	}
}

// An impossible merge is rejected with the reason.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	open := func(name, currency string) string {
		var a struct {
			ID string `json:"id"`
		}
		m.ask(http.StatusCreated, http.MethodPost, "/accounts",
			map[string]any{"name": name, "kind": "cash", "iso_currency_code": currency}, &a)
		return a.ID
	}
	a, b, usd := open("A", "EUR"), open("B", "EUR"), open("C", "USD")
	file, _ := m.file(m.connection(), "Feed", "2026-03-01,RENT,-900.00")
	refused := func(want int, from, into string) {
		t.Helper()
		m.ask(want, http.MethodPost, "/accounts/"+from+"/merge", map[string]any{"into": into}, nil)
	}
	refused(http.StatusBadRequest, a, a)
	refused(http.StatusConflict, a, usd)
	refused(http.StatusNotFound, "nothing0", a)
	refused(http.StatusBadRequest, a, "nothing0")
	if _, err := m.DB.Exec(t.Context(), `update connection set provider = 'plaid'`); err != nil {
		t.Fatal(err)
	}
	refused(http.StatusConflict, file, a) // the next sync would add it again
	if m.merge(a, file, false).Result.Change == nil {
		t.Error("an account kept by hand was not merged into one that syncs")
	}
	refused(http.StatusNotFound, a, b) // it is already merged into another account
}
