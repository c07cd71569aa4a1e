package op

// A Reach states how many records the calls of a writing tool can affect. When a run of a workflow
// calls the tool, the Reach decides whether the call is made, planned for a person, or refused.
type Reach int

const (
	// ReachBeyond means that a call may affect more than the records that it names, so it is
	// planned. It is the zero value, and so applies to any tool without a declared Reach.
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
	// Plans are arguments that make a call affect more than the transactions that it names.
	Plans []string
	// Instead describes what a run can do instead of calling a tool with ReachNever.
	Instead string
}
