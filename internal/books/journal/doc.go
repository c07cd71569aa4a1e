// Package journal records every change to the books together with the values before it, so that a
// change can be explained and undone. It must not know what a subject is: the packages that own the
// data restore it for a revert, and register as a Subject.
//
// # Terms
//
//   - A change is the record of one call or job: who did it, when, why, and its entries.
//   - An entry is one field of one subject: the value before and after, and the source of each.
//   - A subject is a record that entries are about, such as a transaction, a tag or a rule.
//   - A source is who set a value: a user, an agent, a rule or the provider. A value that a user
//     set is held: rules and agents leave it.
//   - A definition is a subject that is recorded whole, as the JSON of its row.
//   - A family is a change, its revert, the revert of that, and so on.
//   - A plan is the entries of changes that were rehearsed: made, read and rolled back.
//
// # The life of a change
//
// A use case locks the records it changes, writes them, and calls Record last. Record takes the
// change's number from a sequence and writes the entries in the same transaction. A job writes its
// first batch with Record and later batches with Extend. A revert locks the subjects, finds the
// fields that no later entry touches, asks their owners to restore them, and is recorded as a
// change itself. Fields that it skips are reported with the reason.
//
// # Invariants
//
//   - Record comes after all locks. The second of two writers waits for the first one's commit and
//     gets the higher number, so the order of numbers is the order in which changes happened.
//   - A change never includes entries about a subject that a later change has touched: Extend
//     records such entries as a separate change.
//   - Reverting everything, newest first and each change once, skips nothing and restores the
//     original state. A file's transaction whose undo is undone stays away if the bank has reported
//     its payment since, and so does a row of the bank whose payment a file has brought since. An
//     undone merge stays undone if the other account has got payments of the merged one since.
//   - An agent cannot revert a value that a person holds.
//   - Carrying out a plan skips every field that someone has touched since the plan was made.
//
// The reasons are in docs/decisions: 0008-journal.md and 0025-rehearsal.md.
package journal
