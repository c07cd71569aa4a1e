// Package engine is the rule engine: conditions, actions, and the pipeline that applies rules to a
// transaction's draft. It uses no database, no clock and no network. Rules, drafts and results are
// plain values.
//
// A condition is parsed once ([ParseTree]), and all its faults are found at once. [Tree.Eval] alone
// defines what a condition means. [Set] returns the same results for thousands of rules at once,
// and [Tree.Needs] returns what a store can search for beforehand.
package engine
