package engine

import "slices"

// A Trigger is the set of sync events at which a rule runs.
type Trigger string

// The triggers.
const (
	OnCreate Trigger = "on_create"
	OnChange Trigger = "on_change"
	Always   Trigger = "always"
)

// triggers is the table of triggers by name, including one old name.
var triggers = []struct {
	name    string
	trigger Trigger
	doc     string
}{
	{"on_create", OnCreate, "when a transaction is first synced (the default)"},
	{"on_change", OnChange, "when the bank changes a stored transaction, for example posts a pending one"},
	{"always", Always, "in both cases"},
	{"on_update", OnChange, "old name of on_change"},
}

// ParseTrigger reads a trigger by its name or its old name.
func ParseTrigger(name string) (Trigger, bool) {
	for _, t := range triggers {
		if t.name == name {
			return t.trigger, true
		}
	}
	return "", false
}

// An Event is the reason why rules run on a transaction.
type Event uint8

// The events. A retroactive application ignores triggers and adds no comments.
const (
	Created Event = iota
	Changed
	Retroactive
	events
)

// fires reports whether a rule with that trigger takes part. A rule without one has the default
// trigger.
func (t Trigger) fires(e Event) bool {
	switch e {
	case Created:
		return t != OnChange
	case Changed:
		return t == OnChange || t == Always
	}
	return true
}

// A Stage is a name for a priority.
type Stage struct {
	Name     string
	Priority int
	Doc      string
}

// MaxPriority is the highest number of a priority, which runs last. The lowest is 0.
const MaxPriority = 1000

// DefaultStage is the stage of rules that do not name one.
const DefaultStage = "standard"

// stages are the stages in the order in which their rules run.
var stages = []Stage{
	{"baseline", 0, "broad defaults"},
	{DefaultStage, 10, "most categorization (the default)"},
	{"refinement", 50, "rules that react to tags or categories set by earlier rules"},
	{"override", 100, "rules whose set_category wins over earlier stages"},
}

// StageNamed finds a stage.
func StageNamed(name string) (Stage, bool) {
	i := slices.IndexFunc(stages, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		return Stage{}, false
	}
	return stages[i], true
}
