package ledger

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/phrase"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	// bulkMost is the most transactions that one call changes. The database transaction then takes
	// about two seconds.
	bulkMost = 10_000
	// bulkSample is the number of transactions that a dry run shows.
	bulkSample = 5
)

// NeedsReview is the tag whose removal closes a review.
const NeedsReview = "needs-review"

// BulkTransactions is the input of BulkTransactions.
type BulkTransactions struct {
	Filter         *Filter  `json:"filter,omitempty" doc:"Transactions: the filters of the list"`
	TransactionIDs []string `json:"transaction_ids,omitempty" maxItems:"500" minLength:"1" doc:"Transactions, instead of filter: short ids or UUIDs"`
	Set            BulkSet  `json:"set" doc:"Changes for each of them"`
	Expect         *int     `json:"expect,omitempty" minimum:"0" doc:"With filter: matched count of the dry run. If the number differs now, nothing is written"`
	DryRun         bool     `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
	Force          bool     `json:"force,omitempty" doc:"Override values set by a person"`
}

// A BulkSet holds the values that each transaction gets.
type BulkSet struct {
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID; null clears it and lets rules set it again"`
	TagsToAdd      []string        `json:"tags_to_add,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are created" agent:"Slugs"`
	TagsToRemove   []string        `json:"tags_to_remove,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; removing needs-review leaves pending transactions out"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1" doc:"null removes it"`
	ExcludedReason op.Null[string] `json:"excluded_reason,omitzero" enum:"reimbursed,duplicate,other" doc:"Leaves them out of totals; null counts them again"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000" doc:"Comment added to each transaction"`
	Note           *string         `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline" agent:"The reason"`
}

// A Bulk reports what a call for many transactions did, or would do in a dry run.
type Bulk struct {
	Counts
	ofMany
	ChangeID *id.ID          `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing was written"`
	DryRun   bool            `json:"dry_run"`
	Writes   *journal.Writes `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
}

// A BulkCategory is a category that matched transactions had before.
type BulkCategory struct {
	Before *string `json:"before" db:"before" doc:"Slug; null: no category"`
	Count  int     `json:"count" db:"count"`
}

// A BulkTransaction is the part of a transaction that identifies it to a person, and its category.
type BulkTransaction struct {
	ID      id.ID  `json:"id" db:"id"`
	ShortID string `json:"short_id,omitempty" db:"short_id" required:"true"`
	journal.Face
	Category *string `json:"category" db:"category" doc:"Slug"`
}

// check returns an error if the choice of transactions is invalid.
func (in BulkTransactions) check() error {
	s := in.Set
	if !s.Category.Set && !s.CounterpartyID.Set && !s.ExcludedReason.Set &&
		len(s.TagsToAdd)+len(s.TagsToRemove) == 0 && s.Comment == nil {
		return errs.Field("set", "empty", "must name at least one field to change")
	}
	switch {
	case (in.Filter == nil) == (len(in.TransactionIDs) == 0):
		return errs.New(errs.ValidationError, "provide exactly one of filter and transaction_ids")
	case in.Filter == nil && in.Expect != nil:
		return errs.Field("expect", "conflict", "can only be used with filter")
	case in.Filter != nil && in.Expect == nil && !in.DryRun:
		return errs.Field("expect", "required",
			"is required with filter: run with dry_run first and pass its matched count")
	}
	return nil
}

// BulkTransactions changes many transactions in the same way, as one change.
func (b *Books) BulkTransactions(ctx context.Context, tx pg.Tx, in BulkTransactions) (Bulk, error) {
	if err := in.check(); err != nil {
		return Bulk{}, err
	}
	ids, pending, err := b.meant(ctx, tx, in)
	if err != nil {
		return Bulk{}, err
	}
	out := Bulk{
		ofMany: ofMany{PendingLeft: pending, ByCategory: []BulkCategory{}, Sample: []BulkTransaction{}},
		DryRun: in.DryRun,
	}
	if len(ids) == 0 {
		out.Writes, err = needsNone(ctx, tx, in.DryRun)
		return out, err
	}
	if out.ByCategory, err = pg.All[BulkCategory](ctx, tx, `
		select c.slug as before, count(*)::int as count from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id
			left join category c on c.id = t.category_id
		group by c.slug order by count(*) desc, c.slug`, ids); err != nil {
		return Bulk{}, err
	}
	if in.DryRun {
		if out.Sample, err = pg.All[BulkTransaction](ctx, tx, `
			select t.id, t.short_id, t.date, t.amount, t.currency, d.name, c.slug as category
			from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id
				join descriptor d on d.id = t.descriptor_id left join category c on c.id = t.category_id
			order by t.date desc, t.id desc limit $2`, ids, bulkSample); err != nil {
			return Bulk{}, err
		}
	}
	operations := make([]Operation, len(ids))
	for i, u := range ids {
		operations[i] = Operation{
			TransactionID: u.String(), Category: in.Set.Category, TagsToAdd: in.Set.TagsToAdd,
			TagsToRemove: in.Set.TagsToRemove, CounterpartyID: in.Set.CounterpartyID, Comment: in.Set.Comment,
			ExcludedReason: in.Set.ExcludedReason, Note: in.Set.Note,
		}
	}
	var results []Result
	out.Writes, err = journal.Try(ctx, tx, in.DryRun, func(ctx context.Context, sp pg.Tx) (err error) {
		results, out.ChangeID, err = b.operate(ctx, sp, operations, in.Force)
		return err
	})
	if err != nil {
		return Bulk{}, err
	}
	if in.DryRun {
		out.ChangeID = nil
	}
	for _, r := range results {
		if r.Status == "error" { // the same for all of them
			return Bulk{}, errs.New(r.Error.Code, "%s", r.Error.Message)
		}
		out.count(r.Status)
	}
	return out, nil
}

// needsNone returns the confirmation of a dry run that would write nothing.
func needsNone(ctx context.Context, q pg.Querier, dry bool) (*journal.Writes, error) {
	if !dry {
		return nil, nil //nolint:nilnil // nothing to confirm without a dry run
	}
	return journal.Needs(ctx, q, 0)
}

// meant returns the locked transactions of the call, and how many pending ones it leaves out. A
// filter is evaluated again under the locks, because the transactions that matched before must
// still match when they are written.
func (b *Books) meant(ctx context.Context, tx pg.Tx, in BulkTransactions) (ids []id.ID, pending int, err error) {
	closing := slices.Contains(in.Set.TagsToRemove, NeedsReview)
	if in.Filter == nil {
		if ids, err = ResolveTransactions(ctx, tx, in.TransactionIDs); err != nil {
			return nil, 0, err
		}
		for i, u := range ids {
			if u.IsZero() {
				return nil, 0, noTransaction(fmt.Sprintf("transaction_ids[%d]", i))
			}
		}
		slices.SortFunc(ids, id.ID.Compare)
		ids = slices.Compact(ids)
		if err := b.Lock(ctx, tx, ids); err != nil || !closing {
			return ids, 0, err
		}
		settled, err := pg.Values[id.ID](ctx, tx, `select id from transaction where id = any($1) and not pending
			order by id`, ids)
		return settled, len(ids) - len(settled), err
	}
	first, _, err := b.matching(ctx, tx, *in.Filter, closing)
	if err != nil {
		return nil, 0, err
	}
	if err := b.Lock(ctx, tx, first); err != nil {
		return nil, 0, err
	}
	ids, pending, err = b.matching(ctx, tx, *in.Filter, closing)
	if err != nil || in.DryRun {
		return ids, pending, err
	}
	if len(ids) != *in.Expect || !slices.Equal(first, ids) {
		return nil, 0, errs.New(errs.Conflict,
			"the filter now matches %s, not %d; run dry_run again", phrase.Several(len(ids)),
			*in.Expect)
	}
	return ids, pending, nil
}

// matching returns the transactions of a filter by id, and how many pending ones are left out.
func (b *Books) matching(ctx context.Context, q pg.Querier, f Filter, settled bool) ([]id.ID, int, error) {
	where, none, err := b.Where(ctx, q, f)
	if err != nil || none {
		return nil, 0, errs.Within("filter", err)
	}
	type row struct {
		ID      id.ID `db:"id"`
		Pending bool  `db:"pending"`
	}
	rows, err := pg.All[row](ctx, q, fmt.Sprintf(`select t.id, t.pending from transaction t %s limit %d`, where.SQL(),
		bulkMost+1), where.Args()...)
	if err != nil {
		return nil, 0, err
	}
	if len(rows) > bulkMost {
		return nil, 0, errs.Field("filter", "range",
			"matches more than %d transactions; narrow it by date, or use a rule", bulkMost)
	}
	ids := make([]id.ID, 0, len(rows))
	for _, r := range rows {
		if !settled || !r.Pending {
			ids = append(ids, r.ID)
		}
	}
	slices.SortFunc(ids, id.ID.Compare)
	return ids, len(rows) - len(ids), nil
}
