package journal

import (
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// TestFacts checks what a change did, as derived from its cause and entries.
func TestFacts(t *testing.T) {
	t.Parallel()
	a, b, cat, tag, rule, shop := id.New(), id.New(), id.New(), id.New(), id.New(), id.New()
	set := func(on id.ID, field string, before, after *string) Entry {
		return Entry{Subject: Transaction, SubjectID: on, Field: field, Before: before, After: after, AfterSource: new(op.User)}
	}
	record := func(kind string, on id.ID, before, after *string) Entry {
		return Entry{Subject: kind, SubjectID: on, Field: FieldRecord, Before: before, After: after}
	}
	onTag := func(on, tag id.ID, before, after *string) Entry {
		e := set(on, FieldTag, before, after)
		e.Ref = &tag
		return e
	}
	filed := set(a, FieldCategory, nil, new(cat.String()))
	byRule := filed
	byRule.RuleID = &rule
	fresh := Entry{Subject: Transaction, SubjectID: a, Field: FieldDeleted, Before: new("2026-01-01")}
	for name, c := range map[string]struct {
		cause   string
		entries []Entry
		want    Facts
	}{
		"categorized": {API, []Entry{filed, set(b, FieldCategory, nil, new(cat.String()))}, Facts{
			Action: categorized, Kind: Transaction, Count: 2, With: map[string]id.ID{WithCategory: cat},
		}},
		"categorized and reviewed": {API, []Entry{filed, onTag(a, reviewTag, new("1"), nil)}, Facts{
			Action: categorized, Kind: Transaction, Subject: &a, Count: 1, With: map[string]id.ID{WithCategory: cat},
		}},
		"reviewed": {API, []Entry{onTag(a, reviewTag, new("1"), nil), set(a, FieldCategory, new("x"), new("x"))}, Facts{
			Action: ActionReviewed, Kind: Transaction, Subject: &a, Count: 1,
		}},
		"queued": {Tool, []Entry{onTag(a, reviewTag, nil, new("1"))}, Facts{
			Action: queued, Kind: Transaction, Subject: &a, Count: 1,
		}},
		"tagged with a new tag": {API, []Entry{record(Tag, tag, nil, new("{}")), onTag(a, tag, nil, new("1"))}, Facts{
			Action: tagged, Kind: Transaction, Subject: &a, Count: 1, With: map[string]id.ID{WithTag: tag},
		}},
		"mixed": {API, []Entry{filed, onTag(b, tag, nil, new("1"))}, Facts{
			Action: mixed, Count: 2, With: map[string]id.ID{WithCategory: cat, WithTag: tag},
		}},
		"added": {API, []Entry{fresh, filed}, Facts{Action: ActionCreated, Kind: Transaction, Subject: &a, Count: 1}},
		"rules applied": {Rule, []Entry{byRule}, Facts{
			Action: ActionRulesApplied, Kind: Transaction, Subject: &a, Count: 1, With: map[string]id.ID{WithRule: rule},
		}},
		"synced":   {Sync, []Entry{filed}, Facts{Action: ActionSynced, Kind: Transaction, Subject: &a, Count: 1}},
		"imported": {Import, []Entry{fresh, filed}, Facts{Action: ActionImported, Kind: Transaction, Subject: &a, Count: 1}},
		"a rule named like a sentence": {API, []Entry{record(RuleSubject, rule, nil,
			new(`{"name": "Deleted rule Records Ltd"}`))}, Facts{
			Action: ActionCreated, Kind: RuleSubject, Subject: &rule, Count: 1,
		}},
		"merged": {API, []Entry{record(Counterparty, shop, new(`{"canonical_id": null}`),
			new(`{"canonical_id": "`+b.String()+`"}`))}, Facts{
			Action: ActionMerged, Kind: Counterparty, Subject: &shop, Count: 1, With: map[string]id.ID{WithInto: b},
		}},
		"a link confirmed": {API, []Entry{record(AccountLink, a, new(`{"confidence": "auto"}`),
			new(`{"confidence": "confirmed"}`))}, Facts{Action: linked, Kind: AccountLink, Subject: &a, Count: 1}},
		"a link rejected": {API, []Entry{record(AccountLink, a, new(`{"confidence": "confirmed"}`),
			new(`{"confidence": "rejected"}`))}, Facts{Action: linkRejected, Kind: AccountLink, Subject: &a, Count: 1}},
		"a link deleted": {API, []Entry{record(AccountLink, a, new(`{"confidence": "confirmed"}`),
			new(`{"confidence": "confirmed", "deleted": true}`))}, Facts{
			Action: ActionDeleted, Kind: AccountLink, Subject: &a, Count: 1,
		}},
		"a pair rejected": {API, []Entry{{
			Subject: AccountLink, SubjectID: a, Field: FieldMatch, Ref: &b,
			After: new("rejected"),
		}}, Facts{Action: pairRejected, Kind: AccountLink, Subject: &a, Count: 1}},
		"an account with its transactions": {API, []Entry{
			record(Account, b, new("{}"), nil), set(a, FieldDeleted, nil, new("2026-01-01")),
		}, Facts{Action: ActionDeleted, Kind: Account, Subject: &b, Count: 1}},
	} {
		got := factsOf(c.cause, c.entries)
		sameSubject := (got.Subject == nil) == (c.want.Subject == nil) &&
			(got.Subject == nil || *got.Subject == *c.want.Subject)
		if got.Action != c.want.Action || got.Kind != c.want.Kind || got.Count != c.want.Count || !sameSubject ||
			len(got.With) != len(c.want.With) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		for with, u := range c.want.With {
			if got.With[with] != u {
				t.Errorf("%s: with %s %s, want %s", name, with, got.With[with], u)
			}
		}
		undone := make([]Entry, len(c.entries))
		for i, e := range c.entries {
			undone[i] = e.reversed()
			undone[i].RuleID = e.RuleID
		}
		if d, of := backOf(c.cause, true, b, undone); d.Action != reverted || of != c.want.Action ||
			d.Count != c.want.Count || d.With[withChange] != b {
			t.Errorf("%s, undone: %+v of %s", name, d, of)
		}
	}
}
