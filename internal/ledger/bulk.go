package ledger

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

const (
	// bulkMost is how many transactions one call changes, in a transaction of some two seconds.
	bulkMost = 10_000
	// bulkSample is how many transactions a dry run shows.
	bulkSample = 5
)

// NeedsReview is the tag whose removal closes a review.
const NeedsReview = "needs-review"

// BulkTransactions is the input of BulkTransactions.
type BulkTransactions struct {
	Filter         *Filter  `json:"filter,omitempty" doc:"Which transactions: the filters of the list"`
	TransactionIDs []string `json:"transaction_ids,omitempty" maxItems:"500" minLength:"1" doc:"Which transactions, in place of filter: short ids or UUIDs"`
	Set            BulkSet  `json:"set" doc:"What each of them gets"`
	Expect         *int     `json:"expect,omitempty" minimum:"0" doc:"With filter: matched of the dry run. If another number matches now, nothing is written"`
	DryRun         bool     `json:"dry_run,omitempty" doc:"Report what would happen and write nothing" agent:"-"`
	Force          bool     `json:"force,omitempty" doc:"Also change fields that a person holds"`
}

// A BulkSet is what each transaction gets.
type BulkSet struct {
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID; null clears it and lets rules set it again"`
	TagsToAdd      []string        `json:"tags_to_add,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are registered" agent:"Slugs"`
	TagsToRemove   []string        `json:"tags_to_remove,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; removing needs-review leaves pending transactions out"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1" doc:"null removes it"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000" doc:"Added to each of them"`
	Note           *string         `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline" agent:"The reason"`
}

// A Bulk says what a call for many transactions did, or would do.
type Bulk struct {
	Counts
	ofMany
	ChangeID *id.ID `json:"change_id" doc:"The change to revert to undo this; null if nothing was written"`
	DryRun   bool   `json:"dry_run"`
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
	journal.EntryTransaction
	Category *string `json:"category" db:"category" doc:"Slug"`
}

// check says what is wrong with the choice of transactions.
func (in BulkTransactions) check() error {
	s := in.Set
	if !s.Category.Set && !s.CounterpartyID.Set && len(s.TagsToAdd)+len(s.TagsToRemove) == 0 && s.Comment == nil {
		return errs.Field("set", "empty", "must name at least one field to change")
	}
	switch {
	case (in.Filter == nil) == (len(in.TransactionIDs) == 0):
		return errs.New(errs.ValidationError, "give exactly one of filter and transaction_ids")
	case in.Filter == nil && in.Expect != nil:
		return errs.Field("expect", "conflict", "goes with filter only")
	case in.Filter != nil && in.Expect == nil && !in.DryRun:
		return errs.Field("expect", "required",
			"must be given with filter: call with dry_run first, and give its matched here")
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
		return out, nil
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
			Note: in.Set.Note,
		}
	}
	var results []Result
	err = pg.Savepoint(ctx, tx, func(sp pg.Tx) (err error) {
		if results, out.ChangeID, err = b.operate(ctx, sp, operations, in.Force); err == nil && in.DryRun {
			err = errRollBack
		}
		return err
	})
	if err == errRollBack { //nolint:errorlint // our own, straight from above
		out.ChangeID, err = nil, nil
	}
	if err != nil {
		return Bulk{}, err
	}
	for _, r := range results {
		if r.Status == "error" { // the same for all of them
			return Bulk{}, errs.New(r.Error.Code, "%s", r.Error.Message)
		}
		out.count(r.Status)
	}
	return out, nil
}

// meant returns the transactions that the call is about, locked, and how many pending ones it
// leaves out. A filter is asked again under the locks: what matched when the caller looked must
// match when it is written.
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
			"the filter matches %s now, and you expect %d; look at them again with dry_run", Several(len(ids)),
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
