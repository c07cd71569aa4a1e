package target

import (
	"context"
	"errors"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A house is a household that sets targets.
type house struct {
	*testing.T
	db         *pg.DB
	categories *category.Categories
	totals     *analytics.Totals
	targets    *Targets
	journal    *journal.Journal
}

// newHouse creates spending in EUR: groceries of 60, 30 and −10 (a refund) in January, February and
// March, and restaurants of 5 in each month. A transfer, an excluded row and a row in USD must not
// count.
func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, db: pgtest.New(t)}
	h.categories = category.New(ledger.CategoryUser{}, CategoryUser{})
	books := ledger.New(h.db, h.categories)
	h.totals = analytics.New(books, account.New(h.db))
	h.targets = New(h.categories, h.totals)
	h.journal = journal.New(journal.Config{DB: h.db, Subjects: append(append(h.categories.Subjects(), books.Subjects()...),
		h.targets.Subjects()...)})
	account := id.New()
	if _, err := pg.Exec(t.Context(), h.db, `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, account, account.Short()); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), h.db, `
		with d as (insert into descriptor (name, merchant_name, folded) values ('Shop', '', e'shop\n') returning id)
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
			category_id, excluded, transfer)
		select gen_random_uuid(), 'target' || n, $1, n, day, amount, currency, d.id,
			(select id from category where slug = 'food_and_drink_' || category), excluded, transfer
		from d, (values
			(1, date '2026-01-05', 60, 'EUR', 'groceries', false, false),
			(2, '2026-02-28', 30, 'EUR', 'groceries', false, false),
			(3, '2026-03-01', -10, 'EUR', 'groceries', false, false),
			(4, '2026-01-31', 5, 'EUR', 'restaurants', false, false), (5, '2026-02-01', 5, 'EUR', 'restaurants', false, false),
			(6, '2026-03-31', 5, 'EUR', 'restaurants', false, false),
			(7, '2026-03-02', 99, 'USD', 'groceries', false, false), (8, '2026-03-02', 99, 'EUR', 'groceries', true, false),
			(9, '2026-03-02', 99, 'EUR', 'groceries', false, true))
			v (n, day, amount, currency, category, excluded, transfer)`, account); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) do(f func(context.Context, pg.Tx) error) error {
	ctx := op.WithActor(h.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	return h.db.InTx(ctx, func(tx pg.Tx) error { return f(ctx, tx) })
}

func (h *house) create(in CreateTarget) (out analytics.Target) {
	h.Helper()
	err := h.do(func(ctx context.Context, tx pg.Tx) (err error) { out, err = h.targets.Create(ctx, tx, in); return err })
	if err != nil {
		h.Fatal(err)
	}
	return out
}

func (h *house) books() string {
	h.Helper()
	c, err := ledgertest.Canonical(h.Context(), h.db, nil, "")
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// revert reverts the newest change.
func (h *house) revert() (out journal.Reverted) {
	h.Helper()
	list, err := h.journal.List(h.Context(), h.db, journal.ListChanges{Limit: 1})
	if err != nil || len(list.Changes) != 1 {
		h.Fatalf("%+v, %v", list, err)
	}
	err = h.do(func(ctx context.Context, tx pg.Tx) (err error) {
		out, err = h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: list.Changes[0].ID.String()})
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return out
}

// A new budget is in the household's currency if one of its accounts has that currency. Otherwise
// it is in the currency of most accounts.
func TestCurrencyFollowsTheAccounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t) // with an account in EUR
	begins := func(category string, want money.Currency) {
		t.Helper()
		got := h.create(CreateTarget{Category: category, Amount: money.MustParse("10")})
		if got.Currency != want {
			t.Errorf("with %s it begins in %s", want, got.Currency)
		}
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := h.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`update setting set default_currency = 'USD'`)
	begins("food_and_drink", "EUR")
	exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		select gen_random_uuid(), 'account' || n, 'csv', n, 'x', 'depository', 'GBP' from generate_series(1, 2) n`)
	begins("shopping", "GBP")
	exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values (gen_random_uuid(), 'account9', 'csv', '9', 'x', 'depository', 'USD')`)
	begins("travel", "USD")
	exec(`update account set deleted_at = now()`)
	begins("entertainment", "USD")
}

// Spending is net and includes subcategories. With rollover, the rest of earlier months counts too.
func TestMeasured(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.create(CreateTarget{Category: "food_and_drink", Amount: money.MustParse("50.00"), StartMonth: new("2026-02")})
	h.create(CreateTarget{
		Category: "food_and_drink_groceries", Amount: money.MustParse("40.00"), Rollover: true, StartMonth: new("2026-01"),
		EndMonth: new("2026-03"),
	})
	h.create(CreateTarget{
		Category: "food_and_drink_groceries", Amount: money.MustParse("100.00"), Currency: new(money.Currency("USD")),
		StartMonth: new("2026-01"),
	})
	type line struct{ category, currency, spent, carried, available, state string }
	for month, want := range map[string][3]line{
		"2026-01": {
			{"food_and_drink", "EUR", "65.00", "-", "-", "not_started"},
			{"food_and_drink_groceries", "EUR", "60.00", "0.00", "-20.00", "over"},
			{"food_and_drink_groceries", "USD", "0.00", "-", "100.00", "within"},
		},
		"2026-02": {
			{"food_and_drink", "EUR", "35.00", "-", "15.00", "within"},
			{"food_and_drink_groceries", "EUR", "30.00", "-20.00", "-10.00", "over"},
			{"food_and_drink_groceries", "USD", "0.00", "-", "100.00", "within"},
		},
		"2026-03": {
			{"food_and_drink", "EUR", "-5.00", "-", "55.00", "within"},
			{"food_and_drink_groceries", "EUR", "-10.00", "-10.00", "40.00", "within"},
			{"food_and_drink_groceries", "USD", "99.00", "-", "1.00", "within"},
		},
		"2026-04": {
			{"food_and_drink", "EUR", "0.00", "-", "50.00", "within"},
			{"food_and_drink_groceries", "EUR", "0.00", "-", "-", "ended"},
			{"food_and_drink_groceries", "USD", "0.00", "-", "100.00", "within"},
		},
	} {
		got, err := h.totals.Targets(t.Context(), h.db, analytics.ListTargets{Month: &month})
		if err != nil || len(got.Targets) != 3 {
			t.Fatalf("%s: %+v, %v", month, got, err)
		}
		for i, m := range got.Targets {
			shown := func(t *money.Total) string {
				if t == nil {
					return "-"
				}
				return t.String()
			}
			is := line{
				m.Category, string(m.Currency), m.Spent.String(), shown(m.Carried), shown(m.Available),
				m.State,
			}
			if is != want[i] {
				t.Errorf("%s: %+v, want %+v", month, is, want[i])
			}
		}
	}
}

// A category has one target in each currency. Every change of targets can be reverted, unless the
// category would then have two targets in a currency.
func TestTargetsAreReverted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	none := h.books()
	home := CreateTarget{Category: "home", Amount: money.MustParse("900.00")}
	first := h.create(home)
	err := h.do(func(ctx context.Context, tx pg.Tx) error { _, err := h.targets.Create(ctx, tx, home); return err })
	if !errs.Is(err, errs.Conflict) {
		t.Errorf("a second target: %v", err)
	}
	one := h.books()
	patch := PatchTarget{ID: first.ShortID, Amount: new(money.MustParse("950.00")), Rollover: new(true)}
	patch.EndMonth.Set, patch.EndMonth.Value = true, new("2099-12")
	if err := h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.targets.Patch(ctx, tx, patch)
		return err
	}); err != nil || h.books() == one {
		t.Fatalf("not changed: %v", err)
	}
	if h.revert(); h.books() != one {
		t.Errorf("not restored:\n%s", h.books())
	}
	if err := h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.targets.Delete(ctx, tx, Ref{first.ShortID})
		return err
	}); err != nil || h.books() != none {
		t.Fatalf("not deleted: %v", err)
	}
	h.revert()
	if h.books() != one {
		t.Errorf("not restored:\n%s", h.books())
	}
	h.revert() // reverts the revert: the target is deleted again
	deleted, err := h.journal.List(t.Context(), h.db, journal.ListChanges{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	h.create(home)
	for _, c := range deleted.Changes {
		if c.Summary != "Deleted the budget for home" {
			continue
		}
		err := h.do(func(ctx context.Context, tx pg.Tx) error {
			r, err := h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: c.ID.String()})
			if err == nil && (r.Reverted != 0 || r.ByReason["conflict"] != 1) {
				return errors.New("a second target came back")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Targets follow their category in a merge. If the other category already has a target, the merged
// one is deleted. A revert restores the targets together with the categories.
func TestTargetsFollowCategories(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, slug := range []string{"pets", "toys", "fun"} {
		if err := h.do(func(ctx context.Context, tx pg.Tx) error {
			_, err := h.categories.CreateCategory(ctx, tx, category.CreateCategory{Slug: slug, Name: new(slug)})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	h.create(CreateTarget{Category: "pets", Amount: money.MustParse("10.00")})
	h.create(CreateTarget{Category: "toys", Amount: money.MustParse("20.00")})
	h.create(CreateTarget{Category: "toys", Amount: money.MustParse("30.00"), Currency: new(money.Currency("USD"))})
	before := h.books()
	merge := func(from, into string) {
		t.Helper()
		if err := h.do(func(ctx context.Context, tx pg.Tx) error {
			_, err := h.categories.MergeCategory(ctx, tx, category.MergeCategory{ID: from, Into: into})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	merge("toys", "pets")
	got, err := h.totals.Targets(t.Context(), h.db, analytics.ListTargets{})
	if err != nil || len(got.Targets) != 2 || got.Targets[0].Category != "pets" || got.Targets[1].Category != "pets" ||
		got.Targets[0].Amount.String() != "10.00" || got.Targets[1].Amount.String() != "30.00" {
		t.Errorf("after the merge: %+v, %v", got.Targets, err)
	}
	if r := h.revert(); len(r.Skipped) > 0 || h.books() != before {
		t.Errorf("%+v, not restored:\n%s", r.Skipped, h.books())
	}
	err = h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.categories.DeleteCategory(ctx, tx, category.DeleteCategory{ID: "toys"})
		return err
	})
	if !errs.Is(err, errs.InUse) {
		t.Errorf("a category with a target is deleted: %v", err)
	}
}
