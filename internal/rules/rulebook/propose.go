package rulebook

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/notify"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// propose marks new rules of an agent as proposed, if the household's settings ask for it. The
// rules of a run's plan are not marked, because a person decides on them when approving the plan.
func propose(ctx context.Context, q pg.Querier, rules []*newRule) error {
	if !op.ActorOf(ctx).Bound() || journal.Rehearsing(ctx) {
		return nil
	}
	only, err := pg.Value[bool](ctx, q, `select propose_rules from setting`)
	for _, r := range rules {
		if only {
			r.enabled, r.proposed = false, true
		}
	}
	return err
}

// accepted returns the suggested rules that an agent would accept with these entries. Only a person
// can accept a rule, and a revert counts as accepting too.
func accepted(ctx context.Context, tx pg.Tx, entries []journal.Entry) (map[id.ID]bool, error) {
	if !op.ActorOf(ctx).Bound() {
		return nil, nil
	}
	var ids []id.ID
	for _, e := range entries {
		var record struct {
			Proposed bool `json:"proposed"`
		}
		if e.After == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
			return nil, fmt.Errorf("read a recorded rule: %w", err)
		}
		if !record.Proposed {
			ids = append(ids, e.SubjectID)
		}
	}
	waiting, err := pg.Values[id.ID](ctx, tx, `select id from rule where id = any($1) and proposed`, ids)
	out := make(map[id.ID]bool, len(waiting))
	for _, u := range waiting {
		out[u] = true
	}
	return out, err
}

// tellProposed posts an event for each rule that waits for a person.
func tellProposed(ctx context.Context, tx pg.Tx, rules []*newRule) error {
	for _, r := range rules {
		if !r.proposed {
			continue
		}
		err := notify.Post(ctx, tx, notify.Event{
			Type: notify.Proposed, Subject: r.id.String(), Data: map[string]any{"rule_id": r.id},
			Full: map[string]any{"name": r.Name},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
