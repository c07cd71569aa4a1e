package counterparty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// LinkTransactions is the input of Link.
type LinkTransactions struct {
	ID             string   `json:"id" minLength:"1" doc:"The counterparty's UUID or short id"`
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"50" minLength:"1" doc:"Short ids or UUIDs"`
	Force          bool     `json:"force,omitempty" doc:"Also link transactions that a person unlinked; those with a counterparty keep it" agent:"-"`
}

// A LinkedCounterparty is a Counterparty with the result of linking.
type LinkedCounterparty struct {
	Counterparty
	Linked       int    `json:"linked" doc:"Transactions linked by this call"`
	AlreadyBound int    `json:"already_bound" doc:"Transactions that already had a counterparty, this or another, and keep it"`
	Held         int    `json:"held" doc:"Transactions skipped, because a person unlinked them"`
	ChangeID     *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
}

// Link links transactions without a counterparty to this one.
func (c *Counterparties) Link(ctx context.Context, tx pg.Tx, in LinkTransactions) (LinkedCounterparty, error) {
	ids, err := transactions(ctx, tx, in.TransactionIDs)
	if err != nil {
		return LinkedCounterparty{}, err
	}
	p, err := keep(ctx, tx, in.ID)
	if err != nil {
		return LinkedCounterparty{}, err
	}
	return c.link(ctx, tx, p, nil, ids, in.Force)
}

// keep is Get, but it also locks the counterparty: nobody can change or delete it until the
// transaction ends. Others may link to it meanwhile. A merged counterparty is an error.
func keep(ctx context.Context, tx pg.Tx, ref string) (Counterparty, error) {
	p, err := pg.One[Counterparty](ctx, tx, `select `+columns+` from counterparty where deleted_at is null
		and (id = $1 or short_id = $2) for share`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return Counterparty{}, missing(err)
	}
	if p.CanonicalID != nil {
		return Counterparty{}, errs.New(errs.Conflict, "this counterparty was merged into %s; link to that one",
			p.CanonicalID.Short())
	}
	return p, nil
}

// transactions resolves references, each transaction once. An unknown reference is an error, and
// nothing is changed.
func transactions(ctx context.Context, q pg.Querier, refs []string) ([]id.ID, error) {
	found, err := ledger.ResolveTransactions(ctx, q, refs)
	if err != nil {
		return nil, err
	}
	var ids []id.ID
	for i, u := range found {
		if u.IsZero() {
			e := errs.New(errs.NotFound,
				"transaction_ids[%d]: transaction not found; nothing was changed. {transaction.list} lists "+
					"them",
				i)
			e.Details = []errs.Detail{{
				Field: fmt.Sprintf("transaction_ids[%d]", i), Code: "reference",
				Message: "transaction not found",
			}}
			return nil, e
		}
		if !slices.Contains(ids, u) {
			ids = append(ids, u)
		}
	}
	return ids, nil
}

// link links transactions and records that as one change, together with the entries of a
// counterparty created for it.
func (c *Counterparties) link(ctx context.Context, tx pg.Tx, p Counterparty, made []journal.Entry, ids []id.ID,
	force bool,
) (LinkedCounterparty, error) {
	value := p.ID.String()
	edits := make([]ledger.Edit, len(ids))
	for i, u := range ids {
		edits[i] = ledger.Edit{Transaction: u, Field: journal.FieldCounterparty, Value: &value, Fill: true}
	}
	outcomes, entries, err := c.books.Apply(ctx, tx, edits, force)
	if err != nil {
		return LinkedCounterparty{}, err
	}
	out := LinkedCounterparty{Counterparty: p}
	for _, o := range outcomes {
		switch o {
		case ledger.Changed:
			out.Linked++
		case ledger.Held:
			out.Held++
		default:
			out.AlreadyBound++
		}
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{}, append(made, entries...))
	return out, err
}

// AssignCounterparty is the input of assign_counterparty.
type AssignCounterparty struct {
	ID             *string  `json:"id,omitempty" minLength:"1" doc:"The counterparty's short id or UUID; provide exactly one of id and name" agent:"Pass id or name"`
	Name           *string  `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The counterparty's name, ignoring case; an unknown name creates a counterparty" agent:"-"`
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"50" minLength:"1" doc:"Short ids or UUIDs"`
	Force          bool     `json:"force,omitempty" doc:"Also link transactions that a person unlinked; those with a counterparty keep it" agent:"-"`
}

// An AssignedCounterparty is a LinkedCounterparty that may have been created by the call.
type AssignedCounterparty struct {
	LinkedCounterparty
	Created bool `json:"created" doc:"Created by this call"`
}

// Assign is Link for a counterparty that may have to be created first.
func (c *Counterparties) Assign(ctx context.Context, tx pg.Tx, in AssignCounterparty) (AssignedCounterparty, error) {
	if (in.ID == nil) == (in.Name == nil) {
		return AssignedCounterparty{}, errs.Field("id", "conflict", "provide exactly one of id and name")
	}
	ids, err := transactions(ctx, tx, in.TransactionIDs)
	if err != nil {
		return AssignedCounterparty{}, err
	}
	var p Counterparty
	var made []journal.Entry
	if in.ID != nil {
		p, err = keep(ctx, tx, *in.ID)
	} else {
		p, made, err = named(ctx, tx, *in.Name)
	}
	if err != nil {
		return AssignedCounterparty{}, err
	}
	out, err := c.link(ctx, tx, p, made, ids, in.Force)
	return AssignedCounterparty{out, len(made) > 0}, err
}

// named returns the counterparty of that name, or the one that it was merged into. For an unknown
// name it creates a counterparty and returns its entry. If several callers use the same new name at
// the same time, one creates the counterparty and the others wait.
func named(ctx context.Context, tx pg.Tx, name string) (Counterparty, []journal.Entry, error) {
	p, err := insert(ctx, tx, pg.Args{"name": name, "website": nil, "logo": nil, "category": nil, "mcc": nil})
	if err == nil {
		made, err := madeEntry(ctx, tx, p.ID)
		return p, []journal.Entry{made}, err
	}
	if !errors.Is(err, pg.ErrNoRow) {
		return Counterparty{}, nil, err
	}
	ref, err := pg.Value[id.ID](ctx, tx, `select coalesce(canonical_id, id) from counterparty
		where lower(name) = lower($1) and deleted_at is null for share`, name)
	if err != nil {
		return Counterparty{}, nil, missing(err)
	}
	p, err = keep(ctx, tx, ref.String())
	return p, nil, err
}

// UnlinkTransaction is the input of Unlink.
type UnlinkTransaction struct {
	ID            string `json:"id" minLength:"1" doc:"The counterparty's UUID or short id"`
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Force         bool   `json:"force,omitempty" doc:"Also unlink transactions that a person linked" agent:"-"`
}

// Unlink removes the counterparty from a transaction that is linked to it.
func (c *Counterparties) Unlink(ctx context.Context, tx pg.Tx, in UnlinkTransaction) (op.Deleted, error) {
	p, err := c.Get(ctx, tx, Ref{in.ID})
	if err != nil {
		return op.Deleted{}, err
	}
	ids, err := ledger.ResolveTransactions(ctx, tx, []string{in.TransactionID})
	if err != nil {
		return op.Deleted{}, err
	}
	out, err := c.unlink(ctx, tx, p, ids, in.Force)
	switch {
	case err != nil:
		return op.Deleted{}, err
	case out.NotBound > 0:
		return op.Deleted{}, errs.New(errs.NotFound,
			"this transaction is not linked to the counterparty; {transaction.list} with counterparty_id "+
				"lists those that are")
	case out.Held > 0:
		return op.Deleted{}, errs.New(errs.Conflict,
			"a person linked this transaction, so it is locked (held); pass force: true to unlink it anyway")
	}
	return op.Deleted{Deleted: true, ID: ids[0]}, nil
}

// UnlinkTransactions is the input of unlink_counterparty_transactions.
type UnlinkTransactions struct {
	ID             string   `json:"id" minLength:"1" doc:"The counterparty's short id or UUID"`
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"50" minLength:"1" doc:"Short ids or UUIDs"`
	Force          bool     `json:"force,omitempty" doc:"Also unlink transactions that a person linked" agent:"-"`
}

// Unlinked is the result of UnlinkMany.
type Unlinked struct {
	ID       id.ID  `json:"id" doc:"The counterparty"`
	Unlinked int    `json:"unlinked" doc:"Transactions unlinked by this call"`
	NotBound int    `json:"not_bound" doc:"Transactions that were not linked to this counterparty and are unchanged"`
	Held     int    `json:"held" doc:"Transactions kept, because a person linked them"`
	ChangeID *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
}

// UnlinkMany is Unlink for many transactions, with counts instead of errors.
func (c *Counterparties) UnlinkMany(ctx context.Context, tx pg.Tx, in UnlinkTransactions) (Unlinked, error) {
	p, err := c.Get(ctx, tx, Ref{in.ID})
	if err != nil {
		return Unlinked{}, err
	}
	ids, err := transactions(ctx, tx, in.TransactionIDs)
	if err != nil {
		return Unlinked{}, err
	}
	return c.unlink(ctx, tx, p, ids, in.Force)
}

func (c *Counterparties) unlink(ctx context.Context, tx pg.Tx, p Counterparty, ids []id.ID, force bool) (Unlinked,
	error,
) {
	bound, err := pg.Values[id.ID](ctx, tx, `select id from transaction where id = any($1) and counterparty_id = $2
		order by id for update`, ids, p.ID)
	if err != nil {
		return Unlinked{}, err
	}
	edits := make([]ledger.Edit, len(bound))
	for i, u := range bound {
		edits[i] = ledger.Edit{Transaction: u, Field: journal.FieldCounterparty}
	}
	outcomes, entries, err := c.books.Apply(ctx, tx, edits, force)
	if err != nil {
		return Unlinked{}, err
	}
	out := Unlinked{ID: p.ID, Unlinked: len(entries), NotBound: len(ids) - len(bound)}
	for _, o := range outcomes {
		if o == ledger.Held {
			out.Held++
		}
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return out, err
}
