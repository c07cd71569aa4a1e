package engine

import (
	"cmp"
	"time"

	"coffer/internal/platform/id"
)

// A Rule is a condition with the actions for transactions that match it.
type Rule struct {
	ID         id.ID
	Priority   int
	CreatedAt  time.Time
	Trigger    Trigger
	Conditions Tree
	Actions    []Action
	// Recent rules do not match transactions that were history when their account was created.
	Recent bool
}

// before compares rules in the order of the pipeline.
func before(a, b Rule) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.CreatedAt.Compare(b.CreatedAt), a.ID.Compare(b.ID))
}

// A Pass says why rules run on a transaction, and how.
type Pass struct {
	Event           Event
	OverwriteManual bool // override fields that a person holds
	Trace           bool // fill Outcome.Attempts
}

// An Effect is one change that rules make to a transaction.
type Effect struct {
	Rule             int    // index, in pipeline order, of the rule whose action prevailed
	Value            string // slug of a category, content of a comment
	Tag              string // slug
	Removed          bool   // the tag is removed, not added
	CounterpartyID   string // the new counterparty: either its id or its name
	CounterpartyName string
}

// An Outcome is the result of a pass for a transaction: the differences between the draft before
// and after the pass.
type Outcome struct {
	Hits         []int     // rules that matched, in order
	Category     *Effect   // nil if it did not change
	Tags         []Effect  // net additions and removals, by slug
	Counterparty *Effect   // nil if none is set
	Comments     []Effect  // in the order of their rules
	Attempts     []Attempt // with Pass.Trace: the actions of each matching rule, in order
}

// The fields of an Attempt.
const (
	AboutCategory     = "category"
	AboutTag          = "tag"
	AboutCounterparty = "counterparty"
	AboutComment      = "comment"
)

// A Fate is the result of an action.
type Fate string

// The fates. The last action on a field prevails.
const (
	Applied    Fate = "applied"    // it prevailed, and the field changed
	AlreadySo  Fate = "already_so" // the field had and has the value, or a counterparty was already set
	Held       Fate = "held"       // a person holds the field
	Overridden Fate = "overridden" // a later rule prevailed
)

// An Attempt is an action of a rule that matched, and its fate.
type Attempt struct {
	Effect
	Field string // the field that the action is about
	Fate  Fate
	By    int // if it was overridden, the index of the rule that prevailed
}
