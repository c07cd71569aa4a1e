// Package review closes the reviews of several payees at once, as one change. It does not decide
// which transactions may change; the ledger does.
package review

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/phrase"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// maxClosed is the largest number of transactions for which one call closes reviews. The database
// transaction then takes about two seconds.
const maxClosed = 10_000

// Desk closes reviews.
type Desk struct{ books *ledger.Books }

// New returns a Desk that uses those books.
func New(books *ledger.Books) *Desk { return &Desk{books} }

// Ops returns the operations that close reviews.
func (d *Desk) Ops() []*op.Op {
	return []*op.Op{
		op.Writing(op.Spec{
			Name: "review.close", Route: "POST /review/close",
			Summary: "Closes the reviews of several payees as one change: all of them or none.",
		}, d.Close),
	}
}

// CloseReviews is the input of Close.
type CloseReviews struct {
	Groups []CloseGroup `json:"groups" minItems:"1" maxItems:"500" doc:"Groups to close, as listed by {review.groups}"`
}

// A CloseGroup is a payee whose reviews are closed.
type CloseGroup struct {
	Payee          *string `json:"payee,omitempty" minLength:"1" doc:"payee of a group without a counterparty"`
	CounterpartyID *string `json:"counterparty_id,omitempty" minLength:"1" doc:"Instead of payee: counterparty_id of a group that has one"`
	Category       *string `json:"category,omitempty" minLength:"1" doc:"Category for them: slug, short id or UUID; without it each keeps its own"`
	Expect         int     `json:"expect" minimum:"1" doc:"Posted transactions to review: count minus pending of the group. If the number differs now, nothing is written"`
}

// A Closed is the result of closing reviews.
type Closed struct {
	Matched  int    `json:"matched" doc:"Reviews closed"`
	Held     int    `json:"held" doc:"Those whose category stays because a person set it and the caller is an agent"`
	ChangeID *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing was written"`
}

// A payee identifies a group: by a counterparty, or else by the form of a wording.
type payee struct {
	counterparty id.ID
	key          id.Key
}

// Close closes the reviews of payees. It sets the given categories, and removes the tag that asks
// for a review. Pending transactions keep waiting.
func (d *Desk) Close(ctx context.Context, tx pg.Tx, in CloseReviews) (Closed, error) {
	places, counterparties, keys, err := read(ctx, tx, in.Groups)
	if err != nil {
		return Closed{}, err
	}
	categories, err := categoriesOf(ctx, tx, in.Groups)
	if err != nil {
		return Closed{}, err
	}
	// The transactions are read again under locks, to check that they still wait for review when
	// they are written.
	first, err := d.waiting(ctx, tx, places, counterparties, keys)
	if err != nil {
		return Closed{}, err
	}
	if err := d.books.Lock(ctx, tx, idsOf(first)); err != nil {
		return Closed{}, err
	}
	rows, err := d.waiting(ctx, tx, places, counterparties, keys)
	if err != nil {
		return Closed{}, err
	}
	if !slices.Equal(first, rows) {
		return Closed{}, errs.New(errs.Conflict, "the same reviews are being closed by another call; list "+
			"them again")
	}
	if err := expected(in.Groups, rows); err != nil {
		return Closed{}, err
	}
	tag, err := pg.Value[id.ID](ctx, tx, `select id from tag where slug = $1 and deleted_at is null for key share`,
		ledger.NeedsReview)
	if err != nil {
		return Closed{}, err
	}
	edits := make([]ledger.Edit, 0, 2*len(rows))
	for _, r := range rows {
		if c := in.Groups[r.place].Category; c != nil {
			edits = append(edits, ledger.Edit{
				Transaction: r.id, Field: journal.FieldCategory, Value: new(categories[*c].String()),
			})
		}
		edits = append(edits, ledger.Edit{Transaction: r.id, Field: journal.FieldTag, Tag: &tag})
	}
	outcomes, entries, err := d.books.Apply(ctx, tx, edits, false)
	if err != nil {
		return Closed{}, err
	}
	out := Closed{Matched: len(rows)}
	for i, o := range outcomes {
		if o == ledger.Held && edits[i].Field == journal.FieldCategory {
			out.Held++
		}
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{
		Did:     journal.Facts{Action: journal.ActionReviewed},
		Summary: "Reviewed " + phrase.Several(len(rows)) + " of " + phrase.Count(len(in.Groups), "payee"),
	}, entries)
	return out, err
}

// read returns the index of each payee's group, and the payees by counterparty and by key.
func read(ctx context.Context, tx pg.Tx, groups []CloseGroup) (places map[payee]int, counterparties []id.ID,
	keys []int64, err error,
) {
	var refs []string
	for _, g := range groups {
		if g.CounterpartyID != nil {
			refs = append(refs, *g.CounterpartyID)
		}
	}
	slices.Sort(refs)
	known, err := pg.Names(ctx, tx, slices.Compact(refs), `select id, id::text as name, short_id from counterparty
		where deleted_at is null and (id = any($1::uuid[]) or short_id = any($2))`)
	if err != nil {
		return nil, nil, nil, err
	}
	places = map[payee]int{}
	for i, g := range groups {
		field, p := fmt.Sprintf("groups[%d]", i), payee{}
		switch {
		case (g.Payee == nil) == (g.CounterpartyID == nil):
			return nil, nil, nil, errs.Field(field, "conflict", "must have exactly one of payee and counterparty_id")
		case g.Payee != nil:
			if p.key, err = id.ParseKey(*g.Payee); err != nil {
				return nil, nil, nil, errs.Field(field+".payee", "pattern",
					"must be the payee of a review group: 11 letters and digits")
			}
			keys = append(keys, int64(p.key))
		default:
			if p.counterparty = known[*g.CounterpartyID]; p.counterparty.IsZero() {
				return nil, nil, nil, pg.Named(pg.ErrNoRow, field+".counterparty_id", "counterparty",
					"{counterparty.list} lists them")
			}
			counterparties = append(counterparties, p.counterparty)
		}
		if _, twice := places[p]; twice {
			return nil, nil, nil, errs.Field(field, "conflict", "must not repeat a payee of another group")
		}
		places[p] = i
	}
	return places, counterparties, keys, nil
}

// categoriesOf returns the categories of the groups, and locks them until the transaction ends.
func categoriesOf(ctx context.Context, tx pg.Tx, groups []CloseGroup) (map[string]id.ID, error) {
	var refs []string
	for _, g := range groups {
		if g.Category != nil {
			refs = append(refs, *g.Category)
		}
	}
	slices.Sort(refs)
	known, err := pg.Names(ctx, tx, slices.Compact(refs), `select id, slug as name, short_id from category
		where deleted_at is null and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))
		order by id for share`)
	if err != nil {
		return nil, err
	}
	for i, g := range groups {
		if g.Category == nil {
			continue
		}
		if _, ok := known[*g.Category]; !ok {
			return nil, pg.Named(pg.ErrNoRow, fmt.Sprintf("groups[%d].category", i), "category",
				"{category.list} lists them")
		}
	}
	return known, nil
}

// A row is a transaction that waits for review, and the index of its group.
type row struct {
	id    id.ID
	place int
}

func idsOf(rows []row) []id.ID {
	out := make([]id.ID, len(rows))
	for i, r := range rows {
		out[i] = r.id
	}
	return out
}

// waiting returns the transactions of these payees that wait for review, without pending ones,
// ordered by id. It uses one statement for all payees.
func (d *Desk) waiting(ctx context.Context, q pg.Querier, places map[payee]int, counterparties []id.ID,
	keys []int64,
) ([]row, error) {
	where, none, err := d.books.WhereTagged(ctx, q, ledger.Filter{
		Tags: []string{ledger.NeedsReview}, Excluded: new(false), Pending: new(false),
	})
	if err != nil || none {
		return nil, err
	}
	where.And("(t.counterparty_id = any($?) or t.counterparty_id is null and d.payee = any($?))", counterparties, keys)
	type waits struct {
		ID           id.ID  `db:"id"`
		Counterparty *id.ID `db:"counterparty_id"`
		Payee        id.Key `db:"payee"`
	}
	found, err := pg.All[waits](ctx, q, fmt.Sprintf(`
		select t.id, t.counterparty_id, d.payee from transaction t join descriptor d on d.id = t.descriptor_id %s
		order by t.id limit %d`, where.SQL(), maxClosed+1), where.Args()...)
	if err != nil {
		return nil, err
	}
	if len(found) > maxClosed {
		return nil, errs.Field("groups", "range", "have more than %d transactions in total; close some "+
			"groups first", maxClosed)
	}
	rows := make([]row, len(found))
	for i, w := range found {
		p := payee{key: w.Payee}
		if w.Counterparty != nil {
			p = payee{counterparty: *w.Counterparty}
		}
		rows[i] = row{w.ID, places[p]}
	}
	return rows, nil
}

// expected returns an error if the number of transactions of a group is not the one that the caller
// saw.
func expected(groups []CloseGroup, rows []row) error {
	counts := make([]int, len(groups))
	for _, r := range rows {
		counts[r.place]++
	}
	for i, g := range groups {
		if counts[i] == g.Expect {
			continue
		}
		message := fmt.Sprintf("now has %d transactions to review, not %d; list the groups again", counts[i], g.Expect)
		return &errs.Error{
			Code: errs.Conflict, Message: fmt.Sprintf("groups[%d]: %s", i, message),
			Details: []errs.Detail{{Field: fmt.Sprintf("groups[%d]", i), Code: "conflict", Message: message}},
		}
	}
	return nil
}
