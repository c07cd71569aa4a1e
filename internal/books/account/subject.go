package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The fields of an account that can be held.
const (
	heldDisplay     = "display_name"
	heldOwner       = "owner"
	heldHidden      = "hidden"
	heldName        = "name"
	heldCurrency    = "iso_currency_code"
	heldInstitution = "institution_name"
	heldType        = "type"
	heldSubtype     = "subtype"
	heldMethod      = "balance_method"
	heldClosed      = "closed_on"
)

// definition lists the fields of an account that the journal records. These are the fields that the
// household sets; the bank's fields are not reverted.
var definition = journal.Definition{
	Subject: journal.Account, Table: "account",
	Columns: []string{
		"display_name", "owner_id", "hidden", "held", "review_from", "currency", "type", "subtype", "institution_name",
		"balance_method", "closed_on", "low_balance",
	},
}

// fieldName is the name of a manual account. It is not part of the record, because the names of
// other accounts come from the bank and are not reverted.
const fieldName = "name"

// Subjects returns the subjects that reverts restore.
func (r *Register) Subjects() []journal.Subject {
	d := definition
	d.Fits = fits
	return []journal.Subject{subject{d, r}}
}

// Made returns the entries of accounts that were just added, for the change that adds them. A
// revert makes each of them a tombstone, unless it has live transactions or has been changed since.
func (r *Register) Made(ctx context.Context, q pg.Querier, ids []id.ID) ([]journal.Entry, error) {
	now, err := definition.Read(ctx, q, ids)
	var entries []journal.Entry
	for _, u := range ids {
		if now[u] != nil {
			entries = append(entries, journal.Entry{
				Subject: journal.Account, SubjectID: u, Field: journal.FieldRecord,
				After: now[u], AfterSource: new(journal.Source(op.ActorOf(ctx))),
			})
		}
	}
	return entries, err
}

// Revive removes the tombstones of accounts that receive transactions again, and returns the
// entries of that change. Accounts without a tombstone are unchanged and have no entries.
func (r *Register) Revive(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	revived, err := pg.Values[id.ID](ctx, tx, `update account set deleted_at = null, updated_at = clock_timestamp()
		where id = any($1) and deleted_at is not null and merged_into is null returning id`, ids)
	if err != nil || len(revived) == 0 {
		return nil, err
	}
	return r.Made(ctx, tx, revived)
}

// A record is an account as the journal stores it.
type record struct {
	DisplayName *string  `json:"display_name"`
	OwnerID     *id.ID   `json:"owner_id"`
	Hidden      bool     `json:"hidden"`
	Held        []string `json:"held"`
	Currency    string   `json:"currency"`
	Institution *string  `json:"institution_name"`
	Type        string   `json:"type"`
	Subtype     *string  `json:"subtype"`
	Method      string   `json:"balance_method"`
	ClosedOn    *pg.Date `json:"closed_on"`
}

// differs returns the fields that can be held and differ between the two.
func (r record) differs(o record) []string {
	var out []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{heldDisplay, same(r.DisplayName, o.DisplayName)},
		{heldOwner, same(r.OwnerID, o.OwnerID)},
		{heldHidden, r.Hidden == o.Hidden},
		{heldCurrency, r.Currency == o.Currency},
		{heldInstitution, same(r.Institution, o.Institution)},
		{heldType, r.Type == o.Type},
		{heldSubtype, same(r.Subtype, o.Subtype)},
		{heldMethod, r.Method == o.Method},
		{heldClosed, same(r.ClosedOn, o.ClosedOn)},
		// The name is a separate field; the record only shows whether it is held.
		{heldName, slices.Contains(r.Held, heldName) == slices.Contains(o.Held, heldName)},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}

// fits returns the accounts that cannot be set to the recorded state. An account with transactions
// cannot be deleted or get another currency. An agent cannot change a field that a person holds. An
// account is also skipped if its owner has left, if it was deleted since, or if its file was
// imported again into another account of the same name.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	ids := make([]id.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.SubjectID
	}
	there, err := definition.Read(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	filled, err := pg.Values[id.ID](ctx, tx, `
		select a.id from account a where a.id = any($1)
			and exists (select from transaction t where t.account_id = a.id and t.deleted_at is null)`, ids)
	if err != nil {
		return nil, err
	}
	again, err := pg.Values[id.ID](ctx, tx, `
		select a.id from account a join account o on o.connection_id = a.connection_id and o.deleted_at is null
			and lower(o.name) = lower(a.name) and o.type = a.type and o.currency = a.currency
		where a.id = any($1) and a.deleted_at is not null and a.provider = 'csv'`, ids)
	if err != nil {
		return nil, err
	}
	var left []journal.Skipped
	for _, e := range entries {
		var was, to record
		// A deleted account is restored only by reverting its deletion.
		if e.Before != nil && there[e.SubjectID] == nil {
			left = append(left, journal.Skip(e, "missing"))
			continue
		}
		if err := read(there[e.SubjectID], &was); err != nil {
			return nil, err
		}
		if err := read(e.After, &to); err != nil {
			return nil, err
		}
		gone, err := ownerGone(ctx, tx, to.OwnerID)
		if err != nil {
			return nil, err
		}
		switch {
		case there[e.SubjectID] != nil && holds(was, to, e.After == nil, op.ActorOf(ctx)):
			left = append(left, journal.Skip(e, "held"))
		case gone || e.After != nil && slices.Contains(again, e.SubjectID) || slices.Contains(filled, e.SubjectID) &&
			(e.After == nil || e.Before != nil && was.Currency != to.Currency):
			left = append(left, journal.Skip(e, "conflict"))
		}
	}
	return left, nil
}

// holds reports whether the actor would change a field that a person holds.
func holds(was, to record, leaving bool, actor op.Actor) bool {
	changed := was.differs(to)
	if leaving {
		changed = was.Held
	}
	return journal.Held(new(op.User), actor, false) && slices.ContainsFunc(changed,
		func(f string) bool { return slices.Contains(was.Held, f) })
}

// ownerGone reports whether the member has left the household. If not, the member is locked until
// the transaction ends.
func ownerGone(ctx context.Context, tx pg.Tx, owner *id.ID) (bool, error) {
	if owner == nil {
		return false, nil
	}
	found, err := pg.Values[id.ID](ctx, tx, `select id from member
		where id = $1 and deleted_at is null for share`, owner)
	return len(found) == 0, err
}

func read(stored *string, into *record) error {
	if stored == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(*stored), into); err != nil {
		return fmt.Errorf("read a recorded account: %w", err)
	}
	return nil
}
