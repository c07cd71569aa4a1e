package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// TestMergeResumes: a merge that fails between two batches continues after the last batch that was
// committed. The counts and the books equal those of an uninterrupted merge.
func TestMergeResumes(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	const rows = 11_000 // three batches
	lines := func(n int, text string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("2026-%02d-%02d,%s %d,-%d.50", i%9+1, i%28+1, text, i, i%900+1)
		}
		return out
	}
	old, _ := m.file(m.connection(), "Old", lines(rows, "OLD")...)
	into, _ := m.file(m.connection(), "New", lines(500, "New")...)
	before := m.hash()
	whole := m.merge(old, into, false)
	after := m.hash()
	m.revert(*whole.Result.Change)
	m.same(before, "reverted")
	// A rollback does not reset a sequence, so this fault occurs only once.
	for _, sql := range []string{
		`create sequence fault`,
		`create function fault() returns trigger language plpgsql as $$ begin
			if nextval('fault') = 7000 then raise exception 'a fault between two batches' using errcode = '57P01'; end if;
			return new; end $$`,
		`create trigger fault before update of account_id on transaction for each row execute function fault()`,
	} {
		if _, err := m.DB.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	resumed := m.merge(old, into, false)
	m.same(after, "merged with a fault")
	hit, err := pg.Value[int](t.Context(), m.DB, `select last_value from fault`)
	if err != nil || hit <= rows {
		t.Errorf("no batch was run twice: %d, %v", hit, err)
	}
	if resumed.Result.Change == nil || whole.Result.Change == nil {
		t.Fatalf("%+v, %+v", whole, resumed)
	}
	m.revert(*resumed.Result.Change)
	m.same(before, "reverted again")
	resumed.Result.Change = whole.Result.Change
	if resumed != whole || whole.Result.Moved+whole.Result.Duplicates != rows {
		t.Errorf("whole %+v, resumed %+v", whole.Result, resumed.Result)
	}
}

// TestMergesKeepSplits: people split, join, merge, delete and undo in any order, with imports in
// between. The parts of every transaction always add up to it and are in its account.
func TestMergesKeepSplits(t *testing.T) {
	t.Parallel()
	m := newMerges(t)
	dice := rand.New(rand.NewPCG(15, 1))
	at := []string{m.connection(), m.connection()}
	lines := func() []string {
		out := make([]string, 12)
		for i := range out {
			n := dice.IntN(30)
			out[i] = fmt.Sprintf("2026-05-%02d,SHOP %d,-%d.40", n%28+1, n, n+5)
		}
		return slices.Compact(slices.Sorted(slices.Values(out)))
	}
	names := []string{"Old", "New"}
	for i, name := range names {
		m.file(at[i], name, lines()...)
	}
	some := func(table, condition string) string {
		found, err := pg.Values[string](t.Context(), m.DB, `select id::text from `+table+` t where `+condition+` order by id`)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return id.New().String()
		}
		return found[dice.IntN(len(found))]
	}
	done := map[string]int{}
	for i := range 150 {
		var method, path string
		var body any
		whole := "t.origin = 'bank' and t.deleted_at is null"
		switch n := dice.IntN(12); {
		case n < 2:
			k := dice.IntN(2)
			m.file(at[k], names[k], lines()...)
			continue
		case n < 5:
			method, path = http.MethodPut, "/transactions/"+some("transaction", whole)+"/split"
			body = map[string]any{"parts": []any{
				map[string]any{"amount": float64(1+dice.IntN(900)) / 100, "category": "health"}, map[string]any{"category": "home"},
			}, "force": true}
		case n == 5:
			method, path = http.MethodDelete, "/transactions/"+some("transaction", "t.is_split")+"/split"
		case n == 6:
			method, path = http.MethodDelete, "/transactions/"+some("transaction", whole)
		case n < 9:
			a := some("account", "t.deleted_at is null")
			method, path = http.MethodPost, "/accounts/"+a+"/merge?wait=30s"
			body = map[string]any{"into": some("account", "t.deleted_at is null and t.id <> '"+a+"'")}
		case n == 9:
			method, path = http.MethodPost, "/changes/"+some("change", "t.summary like 'Merged %'")+"/revert"
		default:
			method, path = http.MethodPost, "/changes/"+some("change", "t.seq > (select max(seq) - 20 from change)")+"/revert"
		}
		e := exchange{method: method, path: "/api/v1" + path, key: m.key}
		if body != nil {
			sent, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			e.body = string(sent)
		}
		r := m.send(t, e)
		if r.status >= http.StatusInternalServerError {
			t.Fatalf("step %d, %s %s: %d %s", i, method, path, r.status, r.body)
		}
		if r.status < http.StatusBadRequest {
			done[method+path[strings.LastIndexByte(path, '/'):]]++
		}
		bad, err := pg.Values[*id.ID](t.Context(), m.DB, ledgertest.Unsound)
		if err != nil || len(bad) > 0 {
			t.Fatalf("step %d, %s %s: %v do not add up: %v", i, method, path, bad, err)
		}
	}
	if done["POST/merge?wait=30s"] < 3 || done["PUT/split"] < 20 || done["POST/revert"] < 10 {
		t.Errorf("control: too little happened: %v", done)
	}
}
