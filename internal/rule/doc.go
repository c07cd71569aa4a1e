// Package rule is the rule engine: conditions, actions, and the pipeline that turns a transaction's
// draft into what rules make of it. It knows no database, no clock and no network: rules and drafts
// come in as values, and what would change goes out as one.
//
// A condition is parsed once ([ParseTree]), with everything that is wrong with it found at once.
// [Tree.Eval] alone decides what a condition means; [Set] gives the same answers for thousands of
// rules at once, and [Tree.Needs] says what a store may look for beforehand.
package rule
