package manual

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// SetMatch is the input of SetMatch.
type SetMatch struct {
	ID            string          `json:"id" minLength:"1" doc:"The manually entered transaction: UUID or short id"`
	TransactionID op.Null[string] `json:"transaction_id,omitzero" minLength:"1" doc:"The bank's transaction in the same account; null unmatches the two, and they are never matched again"`
	Force         bool            `json:"force,omitempty" doc:"Override a person's decision"`
}

// A side holds what a match must know about a transaction.
type side struct {
	ID       id.ID          `db:"id"`
	Account  id.ID          `db:"account_id"`
	Origin   string         `db:"origin"`
	Currency money.Currency `db:"currency"`
	Date     pg.Date        `db:"date"`
	Deleted  bool           `db:"deleted"`
}

const sideRows = `select id, account_id, origin, currency, date, deleted_at is not null as deleted from transaction
	where id = $1 or short_id = $2`

// SetMatch records that a transaction entered by hand is the same payment as one of the bank's, or
// that it is not.
func (h *Manual) SetMatch(ctx context.Context, tx pg.Tx, in SetMatch) (ledger.TransactionDetail, error) {
	m, err := pg.One[side](ctx, tx, sideRows+` for update`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return ledger.TransactionDetail{}, pg.Found(err, "transaction", "{transaction.list} lists them")
	}
	ref := ledger.TransactionRef{TransactionID: m.ID.String()}
	t, err := h.books.Transaction(ctx, tx, ref)
	if err != nil {
		return t, err
	}
	if err := op.Match(ctx, t); err != nil {
		return t, err
	}
	switch {
	case !in.TransactionID.Set:
		return t, errs.Field("transaction_id", "required", "is required: a transaction, or null to unmatch "+
			"the two")
	case m.Origin != ledger.Manual:
		return t, errs.New(errs.Conflict, "this is the bank's transaction; use the manually entered one")
	}
	var to *side
	if in.TransactionID.Value != nil {
		if to, err = bankSide(ctx, tx, m, *in.TransactionID.Value); err != nil {
			return t, err
		}
	}
	if _, err := pg.Exec(ctx, tx, `select from account where id = $1 for no key update`, m.Account); err != nil {
		return t, err
	}
	entries, err := h.verdict(ctx, tx, m, to, in.Force)
	if err != nil || len(entries) == 0 {
		return t, err
	}
	more, err := h.Match(ctx, tx, []ledger.Touched{{AccountID: m.Account, First: m.Date, Last: m.Date}})
	if err != nil {
		return t, err
	}
	if _, err := journal.Record(ctx, tx, journal.Note{}, append(entries, more...)); err != nil {
		return t, err
	}
	return h.books.Transaction(ctx, tx, ref)
}

// bankSide returns the bank's transaction that a caller names.
func bankSide(ctx context.Context, tx pg.Tx, m side, ref string) (*side, error) {
	b, err := pg.One[side](ctx, tx, sideRows, pg.RefTo(ref).IDArgs()...)
	switch {
	case err != nil:
		return nil, pg.Named(err, "transaction_id", "transaction", "{transaction.list} lists them")
	case b.Origin != "bank" || b.Deleted || m.Deleted:
		return nil, errs.New(errs.Conflict, "a match needs a manually entered transaction and a bank "+
			"transaction, neither of them deleted")
	case b.Account != m.Account || b.Currency != m.Currency:
		return nil, errs.New(errs.Conflict, "both transactions must have the same account and currency")
	}
	return &b, nil
}

// verdict matches the two transactions, or dissolves the current match if to is nil. It returns the
// entries, or none if nothing changes.
func (h *Manual) verdict(ctx context.Context, tx pg.Tx, m side, to *side, force bool) ([]journal.Entry, error) {
	type row struct {
		pair
		State  string  `db:"state"`
		Source *string `db:"source"`
	}
	known, err := pg.All[row](ctx, tx, `select manual_id, bank_id, state, source from manual_match
		where manual_id = $1 or state = 'matched' and bank_id = $2`, m.ID, bankOf(to))
	if err != nil {
		return nil, err
	}
	source := journal.Source(op.ActorOf(ctx))
	var entries []journal.Entry
	var before, beforeSource *string // of the new pair
	for _, k := range known {
		state, same := entryState(k.State), to != nil && k.Bank == to.ID
		switch {
		case same && k.Manual == m.ID && k.State == journal.Matched && k.Source != nil && *k.Source == source:
			return nil, nil
		case same && k.Manual == m.ID:
			before, beforeSource = state, k.Source
		case k.State != journal.Matched:
			continue
		case k.Manual != m.ID:
			return nil, errs.New(errs.Conflict,
				"the bank's transaction already has a match; unmatch it first")
		}
		if journal.Held(k.Source, op.ActorOf(ctx), force) {
			return nil, errs.New(errs.Conflict,
				"a person decided this match, so it is locked (held); pass force: true to override")
		}
		if !same && to == nil {
			entries = append(entries, k.entry(state, new(journal.Parted), k.Source, &source))
		} else if !same {
			entries = append(entries, k.entry(state, nil, k.Source, nil))
		}
	}
	var made []pair
	if to != nil {
		p := pair{m.ID, to.ID}
		made = append(made, p)
		entries = append(entries, p.entry(before, new(journal.Matched), beforeSource, &source))
	}
	if err := h.put(ctx, tx, entries); err != nil {
		return nil, err
	}
	copied, err := h.copyDecisions(ctx, tx, made, false)
	return append(entries, copied...), err
}

func bankOf(s *side) *id.ID {
	if s == nil {
		return nil
	}
	return &s.ID
}

// entryState returns a stored state as entries represent it. A match that was reverted has none.
func entryState(state string) *string {
	if state == undone {
		return nil
	}
	return &state
}

// undone is the state of a pair whose match was reverted. Such a pair is not matched automatically
// again.
const undone = "undone"

// A subject lets reverts restore matches.
type subject struct{ hand *Manual }

// Kind implements journal.Subject.
func (subject) Kind() string { return journal.Transaction }

// Fields implements journal.FieldOwner.
func (subject) Fields() []string { return []string{journal.FieldMatch} }

// Lock does nothing, because the owner of transactions locks them.
func (subject) Lock(context.Context, pg.Tx, []id.ID) error { return nil }

// Apply implements journal.Subject. A pair whose match is reverted is not matched automatically
// again. Otherwise a person would have to revert it after every sync. If the pair is in two
// accounts again, because their merge was reverted, its row is deleted instead.
func (s subject) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var ids, refs []id.ID
	for _, e := range entries {
		ids, refs = append(ids, e.SubjectID), append(refs, *e.Ref)
	}
	type row struct {
		There  bool    `db:"there"`
		Apart  bool    `db:"apart"` // the two transactions are in different accounts
		Source *string `db:"source"`
	}
	now, err := pg.All[row](ctx, tx, `
		select m.id is not null and b.id is not null as there,
			coalesce(m.account_id <> b.account_id, false) as apart, x.source
		from unnest($1::uuid[], $2::uuid[]) with ordinality v (manual_id, bank_id, n)
		left join transaction m on m.id = v.manual_id left join transaction b on b.id = v.bank_id
		left join manual_match x on x.manual_id = v.manual_id and x.bank_id = v.bank_id
		order by v.n`, ids, refs)
	if err != nil {
		return nil, err
	}
	matches, err := pg.All[pair](ctx, tx, `select manual_id, bank_id from manual_match
		where state = 'matched' and (manual_id = any($1) or bank_id = any($2))`, ids, refs)
	if err != nil {
		return nil, err
	}
	var left []journal.Skipped
	var done []journal.Entry
	leaving := map[pair]bool{}
	for _, e := range entries {
		if e.After == nil || *e.After != journal.Matched {
			leaving[pair{e.SubjectID, *e.Ref}] = true
		}
	}
	for i, e := range entries {
		taken := slices.ContainsFunc(matches, func(p pair) bool {
			return p != pair{e.SubjectID, *e.Ref} && (p.Manual == e.SubjectID || p.Bank == *e.Ref) && !leaving[p]
		})
		switch {
		case !now[i].There:
			left = append(left, journal.Skip(e, "missing"))
		case journal.Held(now[i].Source, op.ActorOf(ctx), false):
			left = append(left, journal.Skip(e, "held"))
		case e.After != nil && *e.After == journal.Matched && taken:
			left = append(left, journal.Skip(e, "conflict"))
		default:
			if e.After == nil && !now[i].Apart {
				e.After = new(undone)
			}
			done = append(done, e)
		}
	}
	return left, s.hand.put(ctx, tx, done)
}
