package op

// A Reach says how far the calls of a writing tool reach. When a run of a workflow calls the tool,
// it decides whether the call is done, planned for a person, or refused.
type Reach int

const (
	// ReachBeyond is the zero value: the call may concern more than the records that it names, so
	// it is planned. A tool that nobody thought of belongs here.
	ReachBeyond Reach = iota
	// ReachNever marks tools that no run may call.
	ReachNever
	// ReachNamed is a call that concerns only the transactions that it names.
	ReachNamed
	// ReachTag is a call that creates a tag.
	ReachTag
	// ReachRules is a call that creates or changes rules.
	ReachRules
	// ReachReport is a call that stores the run's report.
	ReachReport
)

// Runs is what a run of a workflow may do with a writing tool.
type Runs struct {
	Reach Reach
	// Plans are arguments that make the call reach beyond the transactions that it names.
	Plans []string
	// Instead is the alternative to a tool with ReachNever.
	Instead string
}
