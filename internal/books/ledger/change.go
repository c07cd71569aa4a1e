package ledger

import (
	"context"
	"fmt"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// PatchTransaction is the input of PatchTransaction.
type PatchTransaction struct {
	TransactionID  string          `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID; null clears it and lets rules set it again"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1" doc:"null removes it"`
	ExcludedReason op.Null[string] `json:"excluded_reason,omitzero" enum:"reimbursed,duplicate,other" doc:"Leaves it out of totals; null counts it again"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000" doc:"A comment to add"`
	Date           *pg.Date        `json:"date,omitempty" doc:"This and the following: only for a manually entered transaction"`
	Amount         *money.Amount   `json:"amount,omitempty" doc:"Positive is money out"`
	Name           *string         `json:"name,omitempty" minLength:"1" maxLength:"256" format:"line"`
	MerchantName   op.Null[string] `json:"merchant_name,omitzero" maxLength:"256" format:"line" doc:"null removes it"`
	Detail         op.Null[string] `json:"detail,omitzero" maxLength:"512" format:"line" doc:"Memo; null removes it"`
	Force          bool            `json:"force,omitempty" doc:"Override values set by a person"`
}

// PatchTransaction sets a transaction's category and counterparty and adds a comment, in one
// change. If the transaction was entered by hand, it can also change the amount, the date and the
// texts.
func (b *Books) PatchTransaction(ctx context.Context, tx pg.Tx, in PatchTransaction) (TransactionDetail, error) {
	t, err := b.lockTransaction(ctx, tx, in.TransactionID)
	if err != nil {
		return TransactionDetail{}, err
	}
	if err := op.Match(ctx, t); err != nil {
		return TransactionDetail{}, err
	}
	operation := Operation{
		TransactionID: in.TransactionID, Category: in.Category, CounterpartyID: in.CounterpartyID,
		ExcludedReason: in.ExcludedReason, Comment: in.Comment,
	}
	if operation.facts, err = in.facts(t); err != nil {
		return TransactionDetail{}, err
	}
	results, _, err := b.operate(ctx, tx, []Operation{operation}, in.Force)
	if err != nil {
		return TransactionDetail{}, err
	}
	switch r := results[0]; r.Status {
	case "error":
		return TransactionDetail{}, r.Error.cause
	case "held":
		return TransactionDetail{}, errs.New(errs.Conflict,
			"a person set %s, so it is locked (held); pass force: true to change it anyway", r.Held[0])
	}
	return b.Transaction(ctx, tx, TransactionRef{t.ID.String()})
}

// lockTransaction is Transaction with a lock: nobody else can change the transaction until the
// database transaction ends.
func (b *Books) lockTransaction(ctx context.Context, tx pg.Tx, ref string) (TransactionDetail, error) {
	_, err := pg.Value[id.ID](ctx, tx, `select id from transaction
		where id = $1 or short_id = $2 for update`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return TransactionDetail{}, pg.Found(err, "transaction", "{transaction.list} lists them")
	}
	return b.Transaction(ctx, tx, TransactionRef{ref})
}

// DeleteTransaction leaves a tombstone: the transaction disappears from lists and totals, and a
// restore or a revert brings it back.
func (b *Books) DeleteTransaction(ctx context.Context, tx pg.Tx, in TransactionRef) (op.Deleted, error) {
	t, err := b.setDeleted(ctx, tx, in.TransactionID, new(time.Now().UTC().Format("2006-01-02 15:04:05.999999+00")))
	return op.Deleted{Deleted: true, ID: t}, err
}

// RestoreTransaction restores a deleted transaction.
func (b *Books) RestoreTransaction(ctx context.Context, tx pg.Tx, in TransactionRef) (TransactionDetail, error) {
	t, err := b.setDeleted(ctx, tx, in.TransactionID, nil)
	if err != nil {
		return TransactionDetail{}, err
	}
	return b.Transaction(ctx, tx, TransactionRef{t.String()})
}

func (b *Books) setDeleted(ctx context.Context, tx pg.Tx, ref string, at *string) (id.ID, error) {
	t, err := b.lockTransaction(ctx, tx, ref)
	if err != nil || (t.DeletedAt != nil) == (at != nil) {
		return t.ID, err
	}
	if t.Origin == partOrigin {
		return t.ID, errs.New(errs.Conflict,
			"parts of a split can't be deleted or restored alone; edit the split with {transaction.split}")
	}
	if closed, err := inClosed(ctx, tx, []journal.Entry{{
		SubjectID: t.ID, Field: journal.FieldDeleted,
		After: at,
	}}); err != nil {
		return t.ID, err
	} else if closed[t.ID] {
		return t.ID, errs.New(errs.Conflict,
			"the account of this transaction was removed when its import was undone; undo that revert, or "+
				"import the file again")
	}
	outcomes, entries, err := b.Apply(ctx, tx, []Edit{{Transaction: t.ID, Field: journal.FieldDeleted, Value: at}},
		false)
	if err != nil {
		return t.ID, err
	}
	if outcomes[0] == Held {
		return t.ID, errs.New(errs.Conflict, "a person deleted this transaction; only a person can restore it")
	}
	more, err := b.match(ctx, tx, []Touched{{t.AccountID, t.Date, t.Date}})
	if err != nil {
		return t.ID, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, append(entries, more...))
	return t.ID, err
}

// BatchCategorize is the input of BatchCategorize.
type BatchCategorize struct {
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"500" minLength:"1" doc:"Short ids or UUIDs"`
	CategoryID     string   `json:"category_id" minLength:"1" doc:"Slug, short id or UUID"`
	Force          bool     `json:"force,omitempty" doc:"Override values set by a person"`
}

// A Filed reports how many transactions a batch changed.
type Filed struct {
	Updated  int    `json:"updated" doc:"Transactions that have the category now and had another or none before"`
	Held     int    `json:"held" doc:"Transactions skipped, because a person set their category (held)"`
	ChangeID *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
}

// BatchCategorize gives many transactions one category.
func (b *Books) BatchCategorize(ctx context.Context, tx pg.Tx, in BatchCategorize) (Filed, error) {
	c, err := b.categories.Keep(ctx, tx, "category_id", in.CategoryID)
	if err != nil {
		return Filed{}, err
	}
	ids, err := ResolveTransactions(ctx, tx, in.TransactionIDs)
	if err != nil {
		return Filed{}, err
	}
	edits := make([]Edit, len(ids))
	value := c.ID.String()
	for i, u := range ids {
		if u.IsZero() {
			return Filed{}, noTransaction(fmt.Sprintf("transaction_ids[%d]", i))
		}
		edits[i] = Edit{Transaction: u, Field: journal.FieldCategory, Value: &value}
	}
	split, err := splitAmong(ctx, tx, ids)
	if err != nil {
		return Filed{}, err
	}
	if len(split) > 0 {
		return Filed{}, isSplit()
	}
	outcomes, entries, err := b.Apply(ctx, tx, edits, in.Force)
	if err != nil {
		return Filed{}, err
	}
	var out Filed
	for _, o := range outcomes {
		switch o {
		case Changed:
			out.Updated++
		case Held:
			out.Held++
		}
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return out, err
}

// TagTransaction is the input of AddTag.
type TagTransaction struct {
	TransactionID string  `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	TagSlug       string  `json:"tag_slug" minLength:"1" maxLength:"64" doc:"An unknown slug is created" agent:"-"`
	Note          *string `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline" agent:"The reason"`
	Force         bool    `json:"force,omitempty" doc:"Add it even if a person removed it" agent:"-"`
}

// AddTag adds a tag to a transaction.
func (b *Books) AddTag(ctx context.Context, tx pg.Tx, in TagTransaction) (TransactionDetail, error) {
	return b.tag(ctx, tx, Operation{TransactionID: in.TransactionID, TagsToAdd: []string{in.TagSlug}, Note: in.Note},
		in.Force)
}

// UntagTransaction is the input of RemoveTag.
type UntagTransaction struct {
	TransactionID string  `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	TagSlug       string  `json:"tag_slug" minLength:"1" maxLength:"64" doc:"The tag's slug"`
	Note          *string `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline" agent:"The reason"`
	Force         bool    `json:"force,omitempty" doc:"Remove it even if a person added it" agent:"-"`
}

// RemoveTag removes a tag from a transaction. If the transaction does not have the tag, nothing
// changes.
func (b *Books) RemoveTag(ctx context.Context, tx pg.Tx, in UntagTransaction) (op.Deleted, error) {
	t, err := b.tag(ctx, tx, Operation{
		TransactionID: in.TransactionID, TagsToRemove: []string{in.TagSlug},
		Note: in.Note,
	}, in.Force)
	return op.Deleted{Deleted: true, ID: t.ID}, err
}

func (b *Books) tag(ctx context.Context, tx pg.Tx, o Operation, force bool) (TransactionDetail, error) {
	t, err := b.lockTransaction(ctx, tx, o.TransactionID)
	if err != nil {
		return TransactionDetail{}, err
	}
	results, _, err := b.operate(ctx, tx, []Operation{o}, force)
	if err != nil {
		return TransactionDetail{}, err
	}
	switch r := results[0]; r.Status {
	case "error":
		return TransactionDetail{}, errs.Renamed(r.Error.cause, func(string) string { return "tag_slug" })
	case "held":
		return TransactionDetail{}, errs.New(errs.Conflict,
			"a person added or removed this tag, so it is locked (held); pass force: true to change it anyway")
	}
	return b.Transaction(ctx, tx, TransactionRef{t.ID.String()})
}
