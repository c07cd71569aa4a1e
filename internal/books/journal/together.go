package journal

import (
	"context"
	"slices"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// tied reports whether the entries belong to a change that removed an account from the books
// (alone, with its transactions, or by merging it into another), or to a change of its family. Such
// a change is reverted as a whole or not at all: an account without its transactions would get them
// a second time from the next file.
func tied(ctx context.Context, q pg.Querier, f changeFamily, entries []Entry) (bool, error) {
	if !slices.ContainsFunc(entries, func(e Entry) bool { return e.Subject == Account }) {
		return false, nil
	}
	return pg.Value[bool](ctx, q, `select exists (select from entry where change_id = $1 and subject = 'account'
		and field = 'record' and after is null)`, f.Root)
}

// core reports whether the entry is part of the core. The entries of the core are restored together
// or not at all. Other entries, such as categories that transactions of the other account took
// over, may be skipped, but they are never restored without the core.
func (e Entry) core() bool {
	return e.Subject == Account || e.Subject == Transaction && (e.Field == FieldAccount || e.Field == FieldDeleted)
}

// heldWhole reports whether a person removed or restored the account, so that the actor may not
// undo it.
func heldWhole(entries []Entry, actor op.Actor) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return e.core() && (Held(e.BeforeSource, actor, false) || Held(e.AfterSource, actor, false))
	})
}

// leaveAll skips all entries for the same reason.
func leaveAll(entries []Entry, reason string) []Skipped {
	out := make([]Skipped, len(entries))
	for i, e := range entries {
		out[i] = Skip(e, reason)
	}
	return out
}

// together returns all entries as skipped if an entry of the core was skipped. The reason is the
// same for all, and the entries that caused it also have their own. If the core is complete, it
// returns nil.
func together(entries []Entry, skipped []Skipped) []Skipped {
	why := make(map[int64]string, len(skipped))
	for _, s := range skipped {
		why[s.entry] = s.Reason
	}
	if !slices.ContainsFunc(entries, func(e Entry) bool { return e.core() && why[e.ID] != "" }) {
		return nil
	}
	out := leaveAll(entries, "together")
	for i, e := range entries {
		if reason := why[e.ID]; reason != "" && e.core() {
			out[i].Because = &reason
		}
	}
	return out
}
