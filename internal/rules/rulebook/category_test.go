package rulebook_test

import (
	"errors"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

// TestNothingPointsAtARetiredCategory retires a category while a record gets this category, in both
// orders. Afterward no live record may have the retired category.
func TestNothingPointsAtARetiredCategory(t *testing.T) {
	t.Parallel()
	sets := []engine.Action{{Type: engine.SetCategory, CategorySlug: "hobby"}}
	uses := map[string]func(w *world, tx pg.Tx) error{
		"a rule is made": func(w *world, tx pg.Tx) error {
			_, err := w.rules.Create(w.ctx, tx, w.specs(ruleSpec{Name: "hobby", Conditions: all, Actions: sets}))
			return err
		},
		"transactions are filed": func(w *world, tx pg.Tx) error {
			_, err := w.books.BatchCategorize(w.ctx, tx,
				ledger.BatchCategorize{TransactionIDs: refs(w.ids(0, 5)), CategoryID: "hobby"})
			return err
		},
		"a transaction is changed": func(w *world, tx pg.Tx) error {
			_, err := w.books.PatchTransaction(w.ctx, tx,
				ledger.PatchTransaction{
					TransactionID: w.rows[0].id.String(),
					Category:      op.Null[string]{Set: true, Value: new("hobby")},
				})
			return err
		},
		"a counterparty is made": func(w *world, tx pg.Tx) error {
			_, err := w.others.Create(w.ctx, tx, counterparty.CreateCounterparty{
				Name:       "Shop",
				CategoryID: new("hobby"),
			})
			return err
		},
		"a page is passed": func(w *world, tx pg.Tx) error {
			_, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(0, 5)})
			return err
		},
		"rules are applied": func(w *world, tx pg.Tx) error {
			_, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{OverwriteManual: true})
			return err
		},
	}
	retirements := map[string]func(w *world, tx pg.Tx) error{
		"deleted": func(w *world, tx pg.Tx) error {
			_, err := w.categories.DeleteCategory(w.ctx, tx, category.DeleteCategory{ID: "hobby"})
			return err
		},
		"merged": func(w *world, tx pg.Tx) error {
			_, err := w.categories.MergeCategory(w.ctx, tx, category.MergeCategory{ID: "hobby", Into: "travel"})
			return err
		},
	}
	w := small(t, 5)
	for use, pointing := range uses {
		for how, retiring := range retirements {
			for _, retiredFirst := range []bool{false, true} {
				fresh := rivals{w, id.New().Short()}
				fresh.prepare(use == "a page is passed" || use == "rules are applied", sets)
				first, second := pointing, retiring
				if retiredFirst {
					first, second = retiring, pointing
				}
				if err := fresh.race(first, second); err != nil {
					t.Errorf("%s, category %s, retired first %v: %v", use, how, retiredFirst, err)
				}
				if n := value[int](w, `select count(*)::int from transaction t
					join category c on c.id = t.category_id
					where c.slug = 'travel'`); use == "a page is passed" && how == "merged" && n != 5 {
					t.Errorf("%d of 5 transactions of a page have the category that took over, retired first %v", n,
						retiredFirst)
				}
			}
		}
	}
}

// rivals run two transactions that commit at the same time.
type rivals struct {
	*world
	name string
}

// prepare creates the category and, if rules is set, a rule that names it.
func (r rivals) prepare(rules bool, sets []engine.Action) {
	r.Helper()
	r.exec(`update rule set deleted_at = now() where deleted_at is null and not is_system`)
	r.exec(newVersion)
	r.exec(`update counterparty set deleted_at = now(), category_id = null where name = 'Shop' and deleted_at is null`)
	r.exec(`update transaction set category_id = null, category_source = null`)
	r.exec(`update category set slug = $1 where slug = 'hobby'`, "was-"+r.name)
	r.in(func(tx pg.Tx) error {
		_, err := r.categories.CreateCategory(r.ctx, tx, category.CreateCategory{Slug: "hobby", Name: new("Hobby")})
		return err
	})
	if rules {
		r.create(ruleSpec{Name: "hobby", Conditions: all, Actions: sets})
	}
}

// race starts the second transaction before the first has committed. Either may be rejected. It
// returns an error if a live record then has the retired category.
func (r rivals) race(first, second func(*world, pg.Tx) error) error {
	r.Helper()
	done := make(chan error, 1)
	err := r.db.InTx(r.ctx, func(tx pg.Tx) error {
		if err := first(r.world, tx); err != nil {
			return err
		}
		go func() { done <- r.db.InTx(r.ctx, func(tx pg.Tx) error { return second(r.world, tx) }) }()
		await(r, "the second waits or ends", func() bool {
			return len(done) > 0 || value[bool](r.world, `select exists (select from pg_stat_activity
				where datname = current_database() and wait_event_type = 'Lock')`)
		})
		return nil
	})
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Code == errs.InUse {
		return nil // a rule already names it
	}
	if err := errors.Join(err, <-done); err != nil {
		if _, refused := errors.AsType[*errs.Error](err); !refused {
			return err
		}
	}
	lost := value[string](r.world, `
		select concat_ws(', ',
			(select 'transactions: ' || count(*) from transaction t join category c on c.id = t.category_id
				where c.deleted_at is not null having count(*) > 0),
			(select 'counterparties: ' || count(*) from counterparty p join category c on c.id = p.category_id
				where c.deleted_at is not null and p.deleted_at is null having count(*) > 0),
			(select 'rules: ' || count(*) from rule r where r.deleted_at is null and r.actions::text like '%hobby%'
				and not exists (select from category where slug = 'hobby'
				and deleted_at is null) having count(*) > 0))`)
	if lost != "" {
		return errors.New("the retired category is still named by " + lost)
	}
	return nil
}
