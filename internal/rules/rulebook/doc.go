// Package rulebook stores the household's rules and runs them on stored transactions: at sync, in
// previews and matches, when rules are applied to the past, and in explanations. It must not decide
// what a rule means: that is package engine's task, and everything here uses the same evaluator.
//
// # Terms
//
//   - A rule is a condition and a list of actions, with a priority and a trigger.
//   - A pipeline is a set of rules that run together, compiled, in execution order: by priority,
//     then the older rule first.
//   - A pass runs a pipeline over a page of transactions, each transaction once.
//   - A hit is one match of one rule at sync. Hits are rows of their own, one for each rule and
//     sync run.
//   - An application runs rules on stored transactions, as a job. A rehearsal is its dry run.
//   - A wording is a distinct bank text. Conditions about text alone are decided for wordings, so
//     they read no transactions.
//
// # The life of a rule
//
// A rule is validated and saved; tags that it adds are registered with it. Every write of rules
// gives the rulebook a new random version, and a compiled pipeline is valid for one version only.
// From then on the rule runs at every sync that fits its trigger, until it is disabled, expires or
// is deleted. What it did to transactions stays and can be reverted.
//
// # Invariants
//
//   - A field that a person set is held: a rule may match, but it does not change the field unless
//     an application overwrites it on request.
//   - An application carries the rules as they were when it was requested, so no transaction meets
//     half of an edit.
//   - A batch reads, locks what would change, and decides again on what it then reads. A concurrent
//     edit is never overwritten by a decision that did not see it.
//   - Applications leave out the built-in rule, which would reopen every closed review.
//
// The reasons are in docs/decisions: 0011-rules.md and 0007-descriptors.md.
package rulebook
