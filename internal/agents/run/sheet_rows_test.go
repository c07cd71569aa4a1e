package run

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// A past is a transaction of a test household, with its category and counterparty and who set each.
type past struct{ name, merchant, amount, category, source, counterparty, by string }

func newPast(t *testing.T, rows []past) (*pg.DB, *category.Categories) {
	t.Helper()
	db := pgtest.New(t)
	f := category.New(ledger.CategoryUser{})
	books := ledger.New(db, f)
	account := id.New()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, account, account.Short())
	var incoming iter.Seq[ledger.Incoming] = func(yield func(ledger.Incoming) bool) {
		for i, r := range rows {
			day, err := pg.ParseDate(fmt.Sprintf("2026-03-%02d", i+1))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(ledger.Incoming{
				AccountID: account, ProviderID: fmt.Sprint(i), Date: day, Amount: money.MustParse(r.amount),
				Currency: "EUR", Name: text.Name(r.name), MerchantName: text.Name(r.merchant),
			}) {
				return
			}
		}
	}
	if err := db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := books.Load(t.Context(), tx, incoming)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		exec(`with made as (insert into counterparty (id, short_id, name) select gen_random_uuid(), left(md5($4), 8), $4
				where $4 <> '' on conflict (lower(name)) where deleted_at is null do update set name = $4 returning id)
			update transaction set category_id = (select id from category where slug = $2), category_source = nullif($3, ''),
				counterparty_id = (select id from made), counterparty_source = nullif($5, '') where provider_id = $1`,
			fmt.Sprint(i), r.category, r.source, r.counterparty, r.by)
	}
	return db, f
}

const (
	groceries = "food_and_drink_groceries"
	cafes     = "food_and_drink_cafes"
	rent      = "home_rent"
)

// sheetOf prints a sheet of the first rows of a household.
func sheetOf(t *testing.T, db *pg.DB, w workflow.Worklist, n int) (sheet, string) {
	t.Helper()
	ids, err := pg.Values[id.ID](t.Context(), db, `select id from transaction order by provider_id::int limit $1`, n)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]id.ID
	for _, u := range ids {
		rows = append(rows, []id.ID{u})
	}
	s, err := buildSheet(t.Context(), db, w, rows)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range s.rows {
		before, _ := json.Marshal(r.Before)
		out = append(out, fmt.Sprintf("%d %s|%s|%s|%s %s %s", r.Row, r.Name, r.Merchant, r.Counterparty, r.Category, r.Source,
			before))
	}
	return s, strings.Join(out, "\n")
}

// Each row has people's decisions for the same counterparty or payee in the same direction, then
// those of rules. Decisions and names of agents never appear.
func TestPrecedents(t *testing.T) {
	t.Parallel()
	db, _ := newPast(t, []past{
		{name: "REWE MARKT 4711", amount: "10", category: cafes, source: "provider"},
		{name: "REWE 1", merchant: "rewe 1", amount: "-5", category: groceries, source: "agent"}, // a refund
		{name: "DAUERAUFTRAG 7", amount: "900", counterparty: "Landlord", by: "user", category: rent, source: "rule"},
		{name: "DAUERAUFTRAG 8", amount: "900", counterparty: "Evil", by: "agent"},
		{name: "Kiosk", merchant: "Kiosk Eck", amount: "3"},
		// Rows that are not on the sheet:
		{name: "REWE MARKT 1", amount: "10", category: groceries, source: "user"},
		{name: "REWE MARKT 2", amount: "10", category: groceries, source: "user"},
		{name: "Rewe Markt 3", amount: "10", category: rent, source: "user"},
		{name: "REWE MARKT 4", amount: "10", category: cafes, source: "rule"},
		{name: "REWE MARKT 4", amount: "10", category: cafes, source: "rule"},
		{name: "REWE MARKT 4", amount: "10", category: cafes, source: "rule"},
		{name: "REWE MARKT 5", amount: "10", category: rent, source: "agent"},
		{name: "REWE MARKT 5", amount: "-10", category: rent, source: "user"}, // the other direction
		{name: "MIETE", amount: "900", counterparty: "Landlord", by: "rule", category: rent, source: "user"},
		{name: "DAUERAUFTRAG 1", amount: "900", category: cafes, source: "user"},
		{name: "Kiosk", merchant: "Kiosk Eck", amount: "3", category: cafes, source: "agent"},
	})
	_, got := sheetOf(t, db, worklist(workflow.SetsCategory), 5)
	want := strings.Join([]string{
		`1 REWE MARKT 4711|||food_and_drink_cafes bank ` +
			`[["food_and_drink_groceries",2,"user"],["home_rent",1,"user"],["food_and_drink_cafes",3,"rule"]]`,
		`2 REWE 1|||  null`,
		`3 DAUERAUFTRAG 7||Landlord|home_rent rule [["home_rent",1,"user"]]`,
		`4 DAUERAUFTRAG 8|||  [["food_and_drink_cafes",1,"user"]]`,
		`5 Kiosk|Kiosk Eck||  null`,
	}, "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	// If the worklist sets counterparties, the precedents are the names that people gave the payee.
	w := worklist(workflow.SetsCounterparty)
	db, _ = newPast(t, []past{
		{name: "DAUERAUFTRAG 7", amount: "900"},
		{name: "DAUERAUFTRAG 1", amount: "900", counterparty: "Landlord", by: "user"},
		{name: "DAUERAUFTRAG 2", amount: "900", counterparty: "Evil", by: "agent"},
		{name: "DAUERAUFTRAG 3", amount: "900", counterparty: "Rule", by: "rule"},
	})
	s, got := sheetOf(t, db, w, 1)
	if got != `1 DAUERAUFTRAG 7|||  [["Landlord",1,"user"]]` || len(s.categories)+len(s.tags) > 0 {
		t.Errorf("%s %v", got, s)
	}
}

// Categories and tags that an agent named are not offered, until a person has edited them.
func TestChoices(t *testing.T) {
	t.Parallel()
	db, f := newPast(t, []past{{name: "a", amount: "1"}})
	person, agent := op.Actor{Type: op.User, ID: id.New(), Scope: op.Full}, op.Actor{Type: op.Agent, ID: id.New(), Scope: op.Full}
	call := func(do func(tx pg.Tx) error) {
		t.Helper()
		if err := db.InTx(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	register := func(who op.Actor, slug string) {
		t.Helper()
		ctx := op.WithActor(t.Context(), who)
		call(func(tx pg.Tx) error {
			entries, err := f.Register(ctx, tx, []string{slug})
			if err != nil {
				return err
			}
			_, err = journal.Record(ctx, tx, journal.Note{Summary: "made"}, entries)
			return err
		})
	}
	register(person, "trip")
	register(agent, "obey-me")
	w := worklist(workflow.SetsCategory, workflow.SetsTags)
	s, _ := sheetOf(t, db, w, 1)
	if fmt.Sprint(s.tags) != "[trip]" && !strings.Contains(fmt.Sprint(s.tags), "trip") || strings.Contains(fmt.Sprint(s.tags), "obey") ||
		strings.Contains(fmt.Sprint(s.tags), ledger.NeedsReview) {
		t.Errorf("tags %v", s.tags)
	}
	for _, c := range s.categories {
		if c == "home" || c == "income" { // they have subcategories
			t.Errorf("%s is offered", c)
		}
	}
	if size := len(strings.Join(s.categories, " ")); len(s.categories) < 80 || size > listBytes {
		t.Errorf("%d categories, %d bytes", len(s.categories), size)
	}
	ctx := op.WithActor(t.Context(), person)
	call(func(tx pg.Tx) error {
		_, err := f.PatchTag(ctx, tx, category.PatchTag{Slug: "obey-me", DisplayName: new("Odd")})
		return err
	})
	if s, _ = sheetOf(t, db, w, 1); !strings.Contains(fmt.Sprint(s.tags), "obey-me") {
		t.Errorf("tags %v", s.tags)
	}
}

// A deleted transaction leaves no gap in the row numbers. A decision finds its transaction by the
// row's number, so that must be the row's position in the list.
func TestSheetRowsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	db, _ := newPast(t, []past{
		{name: "ONE", amount: "1.00"}, {name: "TWO", amount: "2.00"}, {name: "THREE", amount: "3.00"},
	})
	ids, err := pg.Values[id.ID](t.Context(), db, `select id from transaction order by date`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), db, `update transaction set deleted_at = now() where id = $1`, ids[1]); err != nil {
		t.Fatal(err)
	}
	s, err := buildSheet(t.Context(), db, workflow.Worklist{Sets: []string{workflow.SetsCategory}},
		[][]id.ID{{ids[0]}, {ids[1]}, {ids[2]}})
	if err != nil || len(s.rows) != 2 {
		t.Fatalf("%+v %v", s.rows, err)
	}
	for place, r := range s.rows {
		if r.Row != place+1 {
			t.Errorf("row %d (%s) stands at place %d", r.Row, r.Name, place+1)
		}
	}
}
