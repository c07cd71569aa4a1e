// Package manual handles transactions that the household enters itself, because no bank reported
// them, and matches them with the bank's rows of the same payment. It must not know where the
// bank's transactions come from; the ledger keeps both kinds.
package manual

import (
	"context"
	"errors"
	"slices"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Rules store transactions and run the rules over them.
type Rules interface {
	Merge(ctx context.Context, tx pg.Tx, run id.ID, rows []ledger.Incoming) (ledger.Merged, int64, error)
}

// Marks updates which transactions totals leave out.
type Marks interface {
	RecomputeExclusions(ctx context.Context, tx pg.Tx, transactions []id.ID) error
}

// Manual enters transactions and matches them with the bank's.
type Manual struct {
	books *ledger.Books
	rules Rules
	marks Marks
	// decide pairs candidates; only tests replace it.
	decide func([]candidate) (matched map[id.ID]id.ID, unclear []id.ID)
}

// New returns a Manual that uses those books, rules and marks.
func New(b *ledger.Books, r Rules, m Marks) *Manual { return &Manual{b, r, m, decide} }

// Subjects returns the subjects that reverts restore.
func (h *Manual) Subjects() []journal.Subject { return []journal.Subject{subject{h}} }

// Ops returns the operations on transactions that are entered by hand.
func (h *Manual) Ops() []*op.Op {
	return []*op.Op{
		op.Exact(op.Once(op.Writing(op.Spec{
			Name: "transaction.create", Route: "POST /transactions", Tool: "add_transaction",
			Runs: op.Runs{
				Reach: op.ReachNever, Instead: "runs can't add transactions; list missing ones in the report",
			},
			Summary: "Adds a transaction manually, such as a cash payment.",
			Agent: "Adds a transaction manually, such as cash. Use only when a person asks. If the bank " +
				"reports the same payment later, the two are matched and totals count one. It goes to the " +
				"review queue.",
			Adds: &op.Adding{Fields: []string{
				"id", "short_id", "date", "amount", "iso_currency_code", "name", "payee_name", "account_id",
				"account_name", "category", "category_display_name",
			}},
		}, h.Add)), []string{"amount_text", "payee", "card", "reference"},
			[]string{"account_id", "date", "amount", "name"}),
		op.Writing(op.Spec{
			Name: "transaction.match", Route: "PUT /transactions/{id}/match",
			Summary: "Matches a manually entered transaction with the bank's, so totals count one, or " +
				"unmatches the two.",
		}, h.SetMatch),
	}
}

// AddTransaction is the input of Add.
type AddTransaction struct {
	AccountID      *string         `json:"account_id,omitempty" minLength:"1" doc:"UUID or short id; this or card"`
	Card           *string         `json:"card,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Instead of account_id: the last digits of the account's or card's number, or the account's name" example:"•••• 1234"`
	Date           *pg.Date        `json:"date,omitempty" doc:"Today by default"`
	Amount         *money.Amount   `json:"amount,omitempty" doc:"Positive is money out; this or amount_text"`
	AmountText     *string         `json:"amount_text,omitempty" minLength:"1" maxLength:"64" format:"line" doc:"Instead of amount: as people and phones write it. + is money in, otherwise it is money out" example:"€12,50"`
	Name           *string         `json:"name,omitempty" minLength:"1" maxLength:"256" format:"line" doc:"Payee or description; this or payee" example:"Farmers market"`
	Payee          *string         `json:"payee,omitempty" minLength:"1" maxLength:"256" format:"line" doc:"Instead of name: whom it was paid to. A counterparty of this name is set too" example:"Farmers market"`
	Currency       *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Defaults to the account's"`
	MerchantName   *string         `json:"merchant_name,omitempty" maxLength:"256" format:"line"`
	Detail         *string         `json:"detail,omitempty" maxLength:"512" format:"line" doc:"Memo"`
	Category       *string         `json:"category,omitempty" minLength:"1" doc:"Slug, short id or UUID; without one, rules may set it" agent:"-"`
	CounterpartyID *string         `json:"counterparty_id,omitempty" minLength:"1"`
	Tags           []string        `json:"tags,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are created" agent:"Slugs"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000"`
	Reference      *string         `json:"reference,omitempty" pattern:"^[0-9A-Za-z-]{8,64}$" hint:"be 8 to 64 letters, digits and hyphens" doc:"Your own id for it: a second transaction of the account with the same one is not added, and the first is returned"`
}

// Add enters a transaction. Rules run over it as over a bank's transaction, but keep the values
// that the caller gave. The journal records it as deleted before, so that a revert deletes it.
func (h *Manual) Add(ctx context.Context, tx pg.Tx, in AddTransaction) (ledger.TransactionDetail, error) {
	row, err := in.incoming(ctx, tx)
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	if in.Reference != nil {
		// The account is locked, so no other call can be adding a transaction with the same
		// reference.
		had, err := pg.Value[id.ID](ctx, tx, `select id from transaction
			where account_id = $1 and provider_id = $2`, row.AccountID, ledger.ReferredTo(*in.Reference))
		if err == nil {
			return h.books.Transaction(ctx, tx, ledger.TransactionRef{TransactionID: had.String()})
		} else if !errors.Is(err, pg.ErrNoRow) {
			return ledger.TransactionDetail{}, err
		}
	}
	if err := in.known(ctx, tx); err != nil {
		return ledger.TransactionDetail{}, err
	}
	edits, made, err := h.books.Wanted(ctx, tx, in.wishes(op.ActorOf(ctx)))
	if err != nil {
		return ledger.TransactionDetail{}, asTags(err)
	}
	row.Written = &ledger.Written{Edits: edits, Reviewed: true}
	if in.Reference != nil {
		row.Written.Reference = *in.Reference
	}
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
	comments, err := journal.Write(ctx, tx, drafts)
	if err != nil {
		return ledger.TransactionDetail{}, err
	}
	entries = slices.Concat(made, entries, m.Entries, comments)
	if _, err := journal.Record(ctx, tx, journal.Note{}, entries); err != nil {
		return ledger.TransactionDetail{}, err
	}
	return h.books.Transaction(ctx, tx, ledger.TransactionRef{TransactionID: m.Inserted[0].String()})
}

// wishes returns the caller's values besides the facts. Transactions that an agent enters wait for
// review. Those of a person do not, because the person has seen them.
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

// asTags renames the field in an error to the name that the caller used.
func asTags(err error) error {
	e, ok := errors.AsType[*errs.Error](err)
	if ok && len(e.Details) == 1 && e.Details[0].Field == "tags_to_add" {
		return errs.Field("tags", e.Details[0].Code, "%s", e.Details[0].Message)
	}
	return err
}
