package counterparty

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Assigned resolves the counterparties that rules refer to. References to a counterparty that is
// not in use are left out.
type Assigned struct {
	ByID   map[id.ID]id.ID  // a merged counterparty maps to the one that it was merged into
	ByName map[string]id.ID // by the name as it was given
	Made   []journal.Entry  // of counterparties that were created now
}

// Assign resolves all references of rules at once, and creates counterparties for unknown names.
// None of the counterparties can be deleted until the transaction ends.
func Assign(ctx context.Context, tx pg.Tx, ids []id.ID, names []string) (Assigned, error) {
	out := Assigned{ByID: map[id.ID]id.ID{}, ByName: map[string]id.ID{}}
	heads, err := ledger.Heads(ctx, tx, ids)
	if err != nil {
		return out, err
	}
	out.ByID = heads
	for range 2 {
		if len(out.ByName) == len(names) {
			break
		}
		// If another call is deleting or renaming a counterparty, byName waits for that call and
		// then creates the counterparty again.
		if err := out.byName(ctx, tx, names); err != nil {
			return out, err
		}
	}
	return out, nil
}

// byName finds the counterparties of these names and creates the missing ones.
func (a *Assigned) byName(ctx context.Context, tx pg.Tx, names []string) error {
	if err := a.make(ctx, tx, names); err != nil {
		return err
	}
	type named struct {
		Name string `db:"name"`
		ID   id.ID  `db:"id"`
	}
	found, err := pg.All[named](ctx, tx, `
		select v.name, c.id from unnest($1::text[]) v (name) join counterparty c on lower(c.name) = lower(v.name)
			and c.deleted_at is null order by c.id for share of c`, names)
	if err != nil {
		return err
	}
	ids := make([]id.ID, len(found))
	for i, n := range found {
		ids[i] = n.ID
	}
	heads, err := ledger.Heads(ctx, tx, ids)
	for _, n := range found {
		if head, ok := heads[n.ID]; ok {
			a.ByName[n.Name] = head
		}
	}
	return err
}

// make creates counterparties for unknown names. If several callers use the same name at the same
// time, one creates the counterparty and the others wait.
func (a *Assigned) make(ctx context.Context, tx pg.Tx, names []string) error {
	var made []id.ID
	err := pg.Redraw(ctx, tx, "counterparty_short_id", func(tx pg.Tx) (err error) {
		newIDs, shorts := make([]id.ID, len(names)), make([]string, len(names))
		for i := range names {
			newIDs[i] = id.New()
			shorts[i] = newIDs[i].Short()
		}
		made, err = pg.Values[id.ID](ctx, tx, `
			insert into counterparty (id, short_id, name)
			select distinct on (lower(v.name)) v.id, v.short_id, v.name
				from unnest($1::uuid[], $2::text[], $3::text[]) v (id, short_id, name) order by lower(v.name)
			on conflict (lower(name)) where deleted_at is null do nothing returning id`, newIDs, shorts, names)
		return err
	})
	if err != nil {
		return err
	}
	now, err := definition.Read(ctx, tx, made)
	source := journal.Source(op.ActorOf(ctx))
	for _, u := range made {
		a.Made = append(a.Made, journal.Entry{
			Subject: journal.Counterparty, SubjectID: u, Field: journal.FieldRecord,
			After: now[u], AfterSource: &source,
		})
	}
	return err
}
