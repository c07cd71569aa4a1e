package whole_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
)

// A caller makes random changes.
type caller struct {
	*house
	dice  *rand.Rand
	actor op.Actor
	early bool
	next  int
}

func one[T any](c *caller, of ...T) T { return of[c.dice.IntN(len(of))] }

func (c *caller) some(most int) []string {
	var out []string
	for _, i := range c.dice.Perm(len(c.txs))[:1+c.dice.IntN(most)] {
		out = append(out, c.txs[i].String())
	}
	return out
}

func (c *caller) category() string {
	return one(c, "qa", "qb", "qaa", "qab", "qba", "qc", "qca", "qaa", "qab")
}

func (c *caller) tag() string { return one(c, "qx", "qy", "qz", "qx") }

// do makes one call in a transaction. It accepts refusals by the service, and by PostgreSQL if all
// attempts collided with other callers.
func (c *caller) do(ctx context.Context, f func(ctx context.Context, tx pg.Tx) error) error {
	c.calls.Add(1)
	ctx = op.WithActor(ctx, c.actor)
	err := c.db.InTx(ctx, func(tx pg.Tx) error {
		if c.early {
			if _, err := tx.Exec(ctx, `select pg_current_xact_id()`); err != nil {
				return err
			}
		}
		return f(ctx, tx)
	})
	var code string
	switch e, ok := errors.AsType[*errs.Error](err); {
	case ok && e.Code.Status() < 500:
		code = string(e.Code)
	case pg.Retryable(err):
		code = "retryable"
	default:
		return err
	}
	n, _ := c.refused.LoadOrStore(code, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	return nil
}

// found returns a random id from a query's result, or an id that no record has.
func (c *caller) found(ctx context.Context, sql string) string {
	list, err := pg.Values[string](ctx, c.db, sql)
	if err != nil || len(list) == 0 {
		return id.New().String()
	}
	return one(c, list...)
}

const (
	someOther   = `select id::text from counterparty where deleted_at is null`
	someRule    = `select id::text from rule where deleted_at is null and not is_system`
	someComment = `select transaction_id || ' ' || id from comment where deleted_at is null`
	someChange  = `select id::text from change order by seq desc limit 40`
)

func (c *caller) act(ctx context.Context) error {
	c.next++
	fresh := fmt.Sprintf("text %d", c.next%7)
	switch c.dice.IntN(20) {
	case 0, 1, 2:
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.books.BatchCategorize(ctx, tx, ledger.BatchCategorize{
				TransactionIDs: c.some(3),
				CategoryID:     c.category(), Force: true,
			})
			return err
		})
	case 3, 4:
		in := ledger.UpdateTransactions{OnError: "continue", Force: true}
		for _, t := range c.some(2) {
			o := ledger.Operation{
				TransactionID: t, TagsToAdd: []string{c.tag()},
				Category: op.Null[string]{Set: true, Value: new(c.category())},
			}
			if c.dice.IntN(3) == 0 {
				o.Comment = &fresh
			}
			if c.dice.IntN(3) == 0 {
				o.CounterpartyID = op.Null[string]{Set: true, Value: new(c.found(ctx, someOther))}
			}
			in.Operations = append(in.Operations, o)
		}
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.books.UpdateTransactions(ctx, tx, in)
			return err
		})
	case 5, 6:
		t, g := c.some(1)[0], c.tag()
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
			if c.dice.IntN(2) == 0 {
				_, err = c.books.AddTag(ctx, tx, ledger.TagTransaction{TransactionID: t, TagSlug: g, Force: true})
			} else {
				_, err = c.books.RemoveTag(ctx, tx, ledger.UntagTransaction{TransactionID: t, TagSlug: g, Force: true})
			}
			return err
		})
	case 7, 8:
		return c.aboutCategories(ctx, fresh)
	case 9, 10:
		return c.aboutCounterparties(ctx, fresh)
	case 11:
		return c.aboutTags(ctx, fresh)
	case 12, 13:
		return c.aboutRules(ctx, fresh)
	case 14:
		return c.aboutComments(ctx, fresh)
	case 15:
		return c.long(ctx)
	case 16:
		t := c.some(1)[0]
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
			if c.dice.IntN(2) == 0 {
				_, err = c.books.DeleteTransaction(ctx, tx, ledger.TransactionRef{TransactionID: t})
			} else {
				_, err = c.books.RestoreTransaction(ctx, tx, ledger.TransactionRef{TransactionID: t})
			}
			return err
		})
	default:
		change := c.found(ctx, someChange)
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change})
			return err
		})
	}
}

func (c *caller) aboutCategories(ctx context.Context, fresh string) error {
	a, b := c.category(), c.category()
	switch c.dice.IntN(6) {
	case 0:
		in := category.CreateCategory{Slug: a, Name: &fresh}
		if c.dice.IntN(2) == 0 {
			in.ParentID = new(one(c, "qa", "qb", "qc"))
		}
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_,
				err := c.categories.CreateCategory(ctx, tx, in)
			return err
		})
	case 1, 2:
		in := category.PatchCategory{ID: one(c, a, "food_and_drink"), Name: &fresh}
		if c.dice.IntN(3) == 0 {
			in.ParentID = op.Null[string]{Set: true, Value: new(one(c, "qa", "qb", "qc"))}
		}
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_,
				err := c.categories.PatchCategory(ctx, tx, in)
			return err
		})
	case 3:
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.categories.DeleteCategory(ctx, tx, category.DeleteCategory{ID: a, MoveTo: one(c, nil, &b)})
			return err
		})
	case 4:
		tsv := fmt.Sprintf("slug\tdisplay_name\tmerge_into\n%s\t%s\t\n%s\tgone\t%s\n", "qc", fresh,
			one(c, "qba", "qab"), one(c, "qaa", "qb"))
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.categories.ImportCategories(ctx, tx, category.ImportCategories{TSV: tsv})
			return err
		})
	default:
		return c.do(ctx, func(ctx context.Context, tx pg.Tx) error {
			_, err := c.categories.MergeCategory(ctx, tx, category.MergeCategory{ID: a, Into: b})
			return err
		})
	}
}

func (c *caller) aboutTags(ctx context.Context, fresh string) error {
	slug := c.tag()
	n := c.dice.IntN(3)
	return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
		switch n {
		case 0:
			_, err = c.categories.CreateTag(ctx, tx, category.CreateTag{Slug: slug, Name: &fresh})
		case 1:
			_, err = c.categories.PatchTag(ctx, tx, category.PatchTag{Slug: slug, Name: &fresh})
		default:
			_, err = c.categories.DeleteTag(ctx, tx, category.TagRef{Slug: slug})
		}
		return err
	})
}

func (c *caller) aboutCounterparties(ctx context.Context, fresh string) error {
	a, b, n := c.found(ctx, someOther), c.found(ctx, someOther), c.dice.IntN(8)
	name, txs := one(c, "One", "Two", "Three", "Four"), c.some(3)
	return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
		switch n {
		case 0, 1:
			_, err = c.others.Assign(ctx, tx, counterparty.AssignCounterparty{
				Name: &name, TransactionIDs: txs,
				Force: true,
			})
		case 2:
			_, err = c.others.Merge(ctx, tx, counterparty.MergeCounterparty{ID: a, Into: b})
		case 3:
			_, err = c.others.Delete(ctx, tx, counterparty.Ref{ID: a})
		case 4:
			_, err = c.others.UnlinkMany(ctx, tx, counterparty.UnlinkTransactions{
				ID: a, TransactionIDs: txs,
				Force: true,
			})
		case 5:
			_, err = c.others.Patch(ctx, tx, counterparty.PatchCounterparty{ID: a, Name: &name})
		case 6:
			_, err = c.others.Patch(ctx, tx, counterparty.PatchCounterparty{
				ID:         a,
				CategoryID: op.Null[string]{Set: true, Value: new(c.category())},
			})
		default:
			_, err = c.others.Link(ctx, tx, counterparty.LinkTransactions{ID: a, TransactionIDs: txs, Force: true})
		}
		return err
	})
}

func (c *caller) aboutComments(ctx context.Context, fresh string) error {
	at, n, t := c.found(ctx, someComment), c.dice.IntN(3), c.some(1)[0]
	on, comment, _ := strings.Cut(at, " ")
	return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
		switch n {
		case 0:
			_, err = c.journal.AddComment(ctx, tx, journal.AddComment{TransactionID: t, Content: fresh})
		case 1:
			_, err = c.journal.PatchComment(ctx, tx, journal.PatchComment{
				TransactionID: on, CommentID: comment,
				Content: fresh,
			})
		default:
			_, err = c.journal.DeleteComment(ctx, tx, journal.CommentRef{TransactionID: on, CommentID: comment})
		}
		return err
	})
}

func (c *caller) aboutRules(ctx context.Context, fresh string) error {
	ref, n := c.found(ctx, someRule), c.dice.IntN(7)
	shop, slug, tag := fmt.Sprintf("shop %d", c.dice.IntN(3)), c.category(), c.tag()
	spec := fmt.Sprintf(
		`{"name":%q,"conditions":{"field":"name","op":"contains","value":%q},"actions":[{"type":"set_category","category_slug":%q},{"type":"add_tag","tag_slug":%q},{"type":"assign_counterparty","counterparty_name":%q}]}`,
		fresh, shop, slug, tag, one(c, "One", "Five"))
	if n == 0 {
		spec = strings.TrimSuffix(spec, "}") + `,"apply_retroactively":true}`
	}
	var in rulebook.CreateRules
	if err := json.Unmarshal([]byte(`{"rules":[`+spec+`]}`), &in); err != nil {
		return err
	}
	return c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
		switch n {
		case 0, 1, 2:
			_, err = c.rules.Create(ctx, tx, in)
		case 3:
			_, err = c.rules.Patch(ctx, tx, rulebook.PatchRule{ID: ref, Name: &fresh, CategorySlug: &slug})
		case 4:
			_, err = c.rules.Delete(ctx, tx, rulebook.Ref{ID: ref})
		default:
			_, err = c.rules.Apply(ctx, tx, rulebook.ApplyRules{OverwriteManual: true})
		}
		return err
	})
}

// long makes one change in several transactions, as a job does, with other calls in between.
func (c *caller) long(ctx context.Context) error {
	var change *id.ID
	order := c.dice.Perm(len(c.txs))
	for part := range slices.Chunk(order[:2+c.dice.IntN(6)], 2) {
		at, done := change, false
		err := c.do(ctx, func(ctx context.Context, tx pg.Tx) (err error) {
			if at, err = journal.Continue(ctx, tx, change); err != nil {
				return err
			}
			where, err := c.categories.Keep(ctx, tx, "category", c.category())
			if err != nil {
				return err
			}
			var ids []id.ID
			for _, i := range part {
				ids = append(ids, c.txs[i])
			}
			slices.SortFunc(ids, func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) })
			if err := c.books.Lock(ctx, tx, ids); err != nil {
				return err
			}
			others, err := counterparty.Assign(ctx, tx, nil, []string{"Six"})
			if err != nil {
				return err
			}
			six, ok := others.ByName["Six"]
			if !ok {
				return errs.New(errs.Conflict, "there is no six")
			}
			edits := make([]ledger.Edit, 0, 2*len(part))
			for _, t := range ids {
				edits = append(edits, ledger.Edit{
					Transaction: t, Field: journal.FieldCategory,
					Value: new(where.ID.String()),
				},
					ledger.Edit{Transaction: t, Field: journal.FieldCounterparty, Value: new(six.String())})
			}
			_, entries, err := c.books.Apply(ctx, tx, edits, true)
			if err != nil {
				return err
			}
			at, _, err = journal.Extend(ctx, tx, at, journal.Note{Cause: journal.Rule, Summary: "Long work"},
				append(others.Made, entries...))
			done = err == nil
			return err
		})
		if err != nil || !done {
			return err
		}
		change = at
	}
	return nil
}
