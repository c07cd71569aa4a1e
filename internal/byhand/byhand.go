// Package byhand handles transactions that the household enters itself, because no bank reported
// them, and matches them with the bank's rows of the same payment. It must not know where the
// bank's transactions come from; the ledger keeps both kinds.
package byhand

import (
	"context"
	"errors"
	"slices"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// Rules store transactions and run the rules over them.
type Rules interface {
	Merge(ctx context.Context, tx pg.Tx, run id.ID, rows []ledger.Incoming) (ledger.Merged, int64, error)
}

// Marks say which transactions totals skip.
type Marks interface {
	RecomputeExclusions(ctx context.Context, tx pg.Tx, transactions []id.ID) error
}

// A Hand enters transactions and matches them with the bank's.
type Hand struct {
	books *ledger.Books
	rules Rules
	marks Marks
	// decide pairs candidates; only a test has another
	decide func([]candidate) (matched map[id.ID]id.ID, unclear []id.ID)
}

// New returns a Hand.
func New(b *ledger.Books, r Rules, m Marks) *Hand { return &Hand{b, r, m, decide} }

// Subjects returns the subjects that reverts restore.
func (h *Hand) Subjects() []journal.Subject { return []journal.Subject{subject{h}} }

// Ops is the menu of what is entered by hand.
func (h *Hand) Ops() []*op.Op {
	return []*op.Op{
		op.Once(op.Writing(op.Spec{
			Name: "transaction.create", Route: "POST /transactions", Tool: "add_transaction",
			Summary: "Adds a transaction manually, such as a cash payment.",
			Agent: "Adds a transaction manually, such as cash. Use only when a person asks. If the bank " +
				"reports the same payment later, the two are matched and totals count one. It goes to the " +
				"review queue.",
		}, h.Add)),
		op.Writing(op.Spec{
			Name: "transaction.match", Route: "PUT /transactions/{id}/match",
			Summary: "Matches a manually entered transaction with the bank's, so totals count one, or " +
				"unmatches the two.",
		}, h.SetMatch),
	}
}

// AddTransaction is the input of Add.
type AddTransaction struct {
	AccountID      string          `json:"account_id" minLength:"1" doc:"UUID or short id"`
	Date           pg.Date         `json:"date"`
	Amount         money.Amount    `json:"amount" doc:"Positive is money out"`
	Name           string          `json:"name" minLength:"1" maxLength:"256" format:"line" doc:"Payee or description" example:"Farmers market"`
	Currency       *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Defaults to the account's"`
	MerchantName   *string         `json:"merchant_name,omitempty" maxLength:"256" format:"line"`
	Detail         *string         `json:"detail,omitempty" maxLength:"512" format:"line" doc:"Memo"`
	Category       *string         `json:"category,omitempty" minLength:"1" doc:"Slug, short id or UUID; without one, rules may set it" agent:"-"`
	CounterpartyID *string         `json:"counterparty_id,omitempty" minLength:"1"`
	Tags           []string        `json:"tags,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are created" agent:"Slugs"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000"`
}

// Add enters a transaction. Rules run over it as over one of the bank's, and leave what the caller
// gave. It is recorded as having been away before, so that a revert takes it away again.
func (h *Hand) Add(ctx context.Context, tx pg.Tx, in AddTransaction) (ledger.TransactionDetail, error) {
	row, err := in.incoming(ctx, tx)
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	edits, made, err := h.books.Wanted(ctx, tx, in.wishes(op.ActorOf(ctx)))
	if err != nil {
		return ledger.TransactionDetail{}, asTags(err)
	}
	row.Written = &ledger.Written{Edits: edits, Reviewed: true}
	m, _, err := h.rules.Merge(ctx, tx, id.New(), []ledger.Incoming{row})
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	source := journal.Source(op.ActorOf(ctx))
	entries := []journal.Entry{{
		Subject: journal.Transaction, SubjectID: m.Inserted[0], Field: journal.FieldDeleted,
		Before: new(pg.At(time.Now()).String()), BeforeSource: &source,
	}}
	var drafts []journal.Draft
	if in.Comment != nil {
		drafts = append(drafts, journal.Draft{Transaction: m.Inserted[0], Content: *in.Comment})
	}
	said, err := journal.Write(ctx, tx, drafts)
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	wording, err := pg.Value[int32](ctx, tx, `select descriptor_id from transaction where id = $1`, m.Inserted[0])
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	if _, err := journal.Record(ctx, tx, journal.Note{
		Summary: "Added a transaction" + journal.PayeeMark + " manually", Wording: &wording,
	}, slices.Concat(made, entries, m.Entries, said)); err != nil {
		return ledger.TransactionDetail{}, err
	}
	return h.books.Transaction(ctx, tx, ledger.TransactionRef{TransactionID: m.Inserted[0].String()})
}

// incoming is the transaction as the ledger takes it.
func (in AddTransaction) incoming(ctx context.Context, tx pg.Tx) (ledger.Incoming, error) {
	type account struct {
		ID       id.ID          `db:"id"`
		Currency money.Currency `db:"currency"`
	}
	// Nobody removes the account until the transaction ends.
	a, err := pg.One[account](ctx, tx, `select id, currency from account
		where deleted_at is null and (id = $1 or short_id = $2) for no key update`, pg.RefTo(in.AccountID).IDArgs()...)
	if err != nil {
		return ledger.Incoming{}, pg.Named(err, "account_id", "account", "{account.list} lists them")
	}
	row := ledger.Incoming{
		AccountID: a.ID, Date: in.Date, Amount: in.Amount, Currency: a.Currency, Name: text.Name(in.Name),
	}
	if row.Name == "" {
		return row, errs.Field("name", "empty", "must contain a letter or digit")
	}
	if in.Currency != nil {
		row.Currency = *in.Currency
	}
	if in.MerchantName != nil {
		row.MerchantName = text.Name(*in.MerchantName)
	}
	if in.Detail != nil {
		row.Detail = text.Detail(*in.Detail, row.Name)
	}
	return row, nil
}

// wishes returns the caller's values beside the facts. A person has seen what they enter;
// transactions of an agent wait for review.
func (in AddTransaction) wishes(actor op.Actor) ledger.Operation {
	o := ledger.Operation{TagsToAdd: slices.Clone(in.Tags)}
	if in.Category != nil {
		o.Category = op.Null[string]{Set: true, Value: in.Category}
	}
	if in.CounterpartyID != nil {
		o.CounterpartyID = op.Null[string]{Set: true, Value: in.CounterpartyID}
	}
	if actor.Type == op.Agent && !slices.Contains(o.TagsToAdd, ledger.NeedsReview) {
		o.TagsToAdd = append(o.TagsToAdd, ledger.NeedsReview)
	}
	return o
}

// asTags names the field that the caller knows.
func asTags(err error) error {
	e, ok := errors.AsType[*errs.Error](err)
	if ok && len(e.Details) == 1 && e.Details[0].Field == "tags_to_add" {
		return errs.Field("tags", e.Details[0].Code, "%s", e.Details[0].Message)
	}
	return err
}
