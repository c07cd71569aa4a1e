package workflow

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// A shop is a household with one workflow. The tests identify transactions by their provider ids.
type shop struct {
	*testing.T
	db       *pg.DB
	books    *ledger.Books
	workflow id.ID
}

func openShop(t *testing.T, names ...string) shop {
	t.Helper()
	db := pgtest.New(t)
	s := shop{t, db, ledger.New(db, category.New(ledger.CategoryUser{})), id.New()}
	account := id.New()
	s.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, account, account.Short())
	s.exec(`insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger)
		values ($1, $2, 'w', 'W', '', 'p', 'full_access', 'manual')`, s.workflow, s.workflow.Short())
	var rows iter.Seq[ledger.Incoming] = func(yield func(ledger.Incoming) bool) {
		for i, name := range names {
			day, err := pg.ParseDate(fmt.Sprintf("2026-03-%02d", i+1))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(ledger.Incoming{
				AccountID: account, ProviderID: fmt.Sprint(i), Date: day, Amount: money.MustParse("12.50"), Currency: "EUR",
				Name: text.Name(name), Tags: []string{ledger.NeedsReview},
			}) {
				return
			}
		}
	}
	if err := db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := s.books.Load(t.Context(), tx, rows)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s shop) exec(sql string, args ...any) {
	s.Helper()
	if _, err := pg.Exec(s.Context(), s.db, sql, args...); err != nil {
		s.Fatal(err)
	}
}

// take returns what a run of the definition would work on, by provider ids.
func (s shop) take(d Definition) (rows [][]string, known int) {
	s.Helper()
	work, err := d.Take(s.Context(), s.db, s.books, &s.workflow)
	if err != nil {
		s.Fatal(err)
	}
	for _, ids := range work.Rows {
		var row []string
		for _, u := range ids {
			name, err := pg.Value[string](s.Context(), s.db, `select provider_id from transaction where id = $1`, u)
			if err != nil {
				s.Fatal(err)
			}
			row = append(row, name)
		}
		rows = append(rows, row)
	}
	return rows, work.Known
}

func (s shop) wants(d Definition, known int, rows string) {
	s.Helper()
	got, n := s.take(d)
	if fmt.Sprint(got) != rows || n != known {
		s.Errorf("takes %v and knows %d, not %s and %d", got, n, rows, known)
	}
}

func (s shop) ids(names ...string) []id.ID {
	s.Helper()
	out, err := pg.Values[id.ID](s.Context(), s.db, `select id from transaction where provider_id = any($1)`, names)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func (s shop) remember(d Definition, names ...string) {
	s.Helper()
	if err := s.db.InTx(s.Context(), func(tx pg.Tx) error {
		return d.Remember(s.Context(), tx, &s.workflow, s.ids(names...))
	}); err != nil {
		s.Fatal(err)
	}
}

func reviewing() Definition {
	return Definition{
		System: "blocks", Prompt: "Decide.", Provider: "anthropic", Model: "m", MaxTurns: 30,
		Worklist: &Worklist{
			Filter: ledger.Filter{Tags: []string{ledger.NeedsReview}}, Size: 25,
			Sets: []string{SetsCategory},
		},
	}
}

// Take returns transactions oldest first and within the limit. It leaves out those that may still
// change and those that do not count for the household.
func TestTake(t *testing.T) {
	t.Parallel()
	s := openShop(t, "REWE 1", "Kiosk", "REWE 2", "Bakery", "Bakery", "Shoes", "Gym")
	d := reviewing()
	s.wants(d, 0, "[[0] [1] [2] [3] [4] [5] [6]]")
	s.exec(`update transaction set pending = true where provider_id = '1'`)
	s.exec(`update transaction set excluded = true where provider_id = '3'`)
	s.exec(`update transaction set deleted_at = now() where provider_id = '5'`)
	s.wants(d, 0, "[[0] [2] [4] [6]]")
	d.MaxWrites = new(2)
	s.wants(d, 0, "[[0] [2]]")
	d.MaxWrites = new(0)
	s.wants(d, 0, "[]")
	d.MaxWrites = nil
	s.exec(`delete from transaction_tag where transaction_id = (select id from transaction where provider_id = '0')`)
	s.wants(d, 0, "[[2] [4] [6]]")
	s.exec(`update account set hidden = true`)
	s.wants(d, 0, "[]")
}

// A row by payee has all transactions of the payee. The payee with the most transactions comes
// first.
func TestTakePayees(t *testing.T) {
	t.Parallel()
	s := openShop(t, "REWE 1", "Kiosk", "REWE 2", "Bakery", "Bakery", "Bakery 17")
	d := reviewing()
	d.Worklist.Size = 2
	d.Worklist.By, d.Worklist.Filter, d.Worklist.Sets = ByPayee, ledger.Filter{CounterpartyID: new("none")},
		[]string{SetsCounterparty}
	s.wants(d, 0, "[[5 4 3] [2 0] [1]]")
	d.MaxWrites = new(100)
	s.wants(d, 0, "[[5 4 3] [2 0] [1]]")
	d.MaxWrites, d.Worklist.Size = new(4), 2
	s.wants(d, 0, "[[5 4] [2 0]]")
	s.remember(d, "5", "4", "3", "2")
	s.wants(d, 4, "[[0] [1]]")
}

// A transaction that a workflow was asked about is not taken again until it or the workflow's
// instructions change. Changed limits and new comments do not count.
func TestSeen(t *testing.T) {
	t.Parallel()
	s := openShop(t, "REWE", "Kiosk", "Bakery", "Shoes", "Gym")
	d := reviewing()
	all := []string{"0", "1", "2", "3", "4"}
	s.remember(d, all...)
	s.wants(d, 5, "[]")
	raised := d
	raised.MaxTurns, raised.DryRun, raised.MaxWrites = 99, true, new(500)
	s.wants(raised, 5, "[]")
	for what, change := range map[string]func(*Definition){
		"prompt": func(d *Definition) { d.Prompt += " Well." }, "blocks": func(d *Definition) { d.System = "" },
		"model": func(d *Definition) { d.Model = "n" },
		"sets": func(d *Definition) {
			d.Worklist = &Worklist{Filter: d.Worklist.Filter, Size: 25, Sets: []string{SetsCategory, SetsTags}}
		},
	} {
		other := d
		change(&other)
		if rows, known := s.take(other); len(rows) != 5 || known != 0 {
			t.Errorf("another %s: takes %d and knows %d", what, len(rows), known)
		}
	}
	s.exec(`insert into comment (id, short_id, transaction_id, content, author_type, author_name)
		select gen_random_uuid(), 'c0000000', id, 'x', 'agent', 'a' from transaction where provider_id = '0'`)
	s.wants(d, 5, "[]")
	s.exec(`update transaction set amount = 13 where provider_id = '0'`)
	s.exec(`update transaction set category_id = (select id from category where slug = 'home_rent') where provider_id = '1'`)
	s.exec(`insert into tag (id, short_id, slug, display_name) values (gen_random_uuid(), 't0000000', 'trip', 'Trip')`)
	s.exec(`insert into transaction_tag select t.id, g.id, true, 'user' from transaction t, tag g
		where t.provider_id = '2' and g.slug = 'trip'`)
	s.exec(`update transaction set descriptor_id = (select descriptor_id from transaction where provider_id = '4')
		where provider_id = '3'`)
	s.wants(d, 1, "[[0] [1] [2] [3]]")
	s.remember(d, all...)
	s.wants(d, 5, "[]")
	// Another workflow has not seen any transaction, and nothing is stored for a deleted one.
	if work, err := d.Take(t.Context(), s.db, s.books, new(id.New())); err != nil || len(work.Rows) != 5 {
		t.Errorf("another workflow takes %d (%v)", len(work.Rows), err)
	}
	if err := s.db.InTx(t.Context(), func(tx pg.Tx) error {
		return d.Remember(t.Context(), tx, nil, s.ids("0"))
	}); err != nil {
		t.Error(err)
	}
}

// A transaction that someone else has decided since is no longer open.
func TestOpen(t *testing.T) {
	t.Parallel()
	s := openShop(t, "REWE", "Kiosk")
	d, ids := reviewing(), s.ids("0", "1")
	s.exec(`update transaction_tag set present = false where transaction_id = $1`, ids[1])
	open, err := d.Open(context.Background(), s.db, s.books, ids)
	if err != nil || !slices.Equal(open, ids[:1]) {
		t.Errorf("open: %v, %v", open, err)
	}
}
