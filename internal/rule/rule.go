package rule

import (
	"cmp"
	"time"

	"coffer/internal/id"
)

// A Rule is a condition with what to do where it holds.
type Rule struct {
	ID         id.ID
	Priority   int
	CreatedAt  time.Time
	Trigger    Trigger
	Conditions Tree
	Actions    []Action
	// Recent rules do not match what was history when its account was made.
	Recent bool
}

// before is the order of the pipeline.
func before(a, b Rule) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.CreatedAt.Compare(b.CreatedAt), a.ID.Compare(b.ID))
}

// A Pass says why and how rules run on a transaction.
type Pass struct {
	Event           Event
	OverwriteManual bool // what a person holds gives way
	Trace           bool // fill Outcome.Attempts
}

// An Effect is one thing that rules do to a transaction.
type Effect struct {
	Rule             int    // index, in pipeline order, of the rule whose action prevailed
	Value            string // slug of a category, content of a comment
	Tag              string // slug
	Removed          bool   // the tag is taken off, not put on
	CounterpartyID   string // one of these two
	CounterpartyName string
}

// An Outcome is what a pass makes of a transaction: the difference between the draft at its end and
// at its start.
type Outcome struct {
	Hits         []int     // rules that matched, in order
	Category     *Effect   // nil where it is as it was
	Tags         []Effect  // net additions and removals, by slug
	Counterparty *Effect   // nil where none is to be bound
	Comments     []Effect  // in the order of their rules
	Attempts     []Attempt // with Pass.Trace: what each matching rule meant to do, in order
}

// What an Attempt is about.
const (
	AboutCategory     = "category"
	AboutTag          = "tag"
	AboutCounterparty = "counterparty"
	AboutComment      = "comment"
)

// A Fate is what became of an action.
type Fate string

// The fates. The last action on a field prevails.
const (
	Applied    Fate = "applied"    // it prevailed, and the field is another than before
	AlreadySo  Fate = "already_so" // the field was so before, and still is; or a counterparty was bound before
	Held       Fate = "held"       // a person holds the field
	Overridden Fate = "overridden" // a later rule prevailed
)

// An Attempt is an action of a rule that matched, and its fate.
type Attempt struct {
	Effect
	Field string // what it is about
	Fate  Fate
	By    int // if it was overridden, the index of the rule that prevailed
}
