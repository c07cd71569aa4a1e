package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// What a person can hold of an account.
const (
	heldName   = "display_name"
	heldOwner  = "owner"
	heldHidden = "hidden"
)

// definition is what the journal records of an account: what the household said of it. What the
// bank says is not undone.
var definition = journal.Definition{
	Subject: journal.Account, Table: "account",
	Columns: []string{"display_name", "owner_id", "hidden", "held"},
}

// Subjects returns the subjects that reverts restore.
func (r *Register) Subjects() []journal.Subject {
	d := definition
	d.Fits = fits
	return []journal.Subject{d}
}

// Made returns the entries of accounts that were just added, for the change that adds them. A
// revert makes each a tombstone, unless it has live transactions by then or someone has changed it.
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

// Revive lifts the tombstones of accounts that receive transactions again, and returns the entries
// for the change that brings them. Accounts without a tombstone are unchanged and have no entries.
func (r *Register) Revive(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	revived, err := pg.Values[id.ID](ctx, tx, `update account set deleted_at = null, updated_at = clock_timestamp()
		where id = any($1) and deleted_at is not null returning id`, ids)
	if err != nil || len(revived) == 0 {
		return nil, err
	}
	return r.Made(ctx, tx, revived)
}

// A record is what the journal has of an account.
type record struct {
	DisplayName *string  `json:"display_name"`
	OwnerID     *id.ID   `json:"owner_id"`
	Hidden      bool     `json:"hidden"`
	Held        []string `json:"held"`
}

// differs are the fields that can be held and are not the same in both.
func (r record) differs(o record) []string {
	var out []string
	if !same(r.DisplayName, o.DisplayName) {
		out = append(out, heldName)
	}
	if !same(r.OwnerID, o.OwnerID) {
		out = append(out, heldOwner)
	}
	if r.Hidden != o.Hidden {
		out = append(out, heldHidden)
	}
	return out
}

// fits says which accounts cannot become so: those that would go while transactions are in them,
// that a person holds against an agent, whose owner left, or that went themselves since.
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
	var left []journal.Skipped
	for _, e := range entries {
		var was, to record
		// a deleted account is restored only by reverting its deletion
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
		case gone || e.After == nil && slices.Contains(filled, e.SubjectID):
			left = append(left, journal.Skip(e, "conflict"))
		}
	}
	return left, nil
}

// holds says whether the actor would change what a person holds.
func holds(was, to record, leaving bool, actor op.Actor) bool {
	changed := was.differs(to)
	if leaving {
		changed = was.Held
	}
	return journal.Held(new(op.User), actor, false) && slices.ContainsFunc(changed,
		func(f string) bool { return slices.Contains(was.Held, f) })
}

// ownerGone reports whether the member has left, and keeps a member who has not from leaving until
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
