// Package journal records every change to the books together with the values before it, so that a
// change can be explained and undone. It must not know what a subject is: the packages that own the
// data apply what a revert asks for, and register as a Subject.
//
// # Terms
//
//   - A change is what one call or job did: who did it, when, why, and its entries.
//   - An entry is one field of one subject: the value before and after, and the source of each.
//   - A subject is a record that entries are about, such as a transaction, a tag or a rule.
//   - A source says who set a value: a user, an agent, a rule or the provider. A value that a user
//     set is held: rules and agents leave it.
//   - A definition is a subject that is recorded whole, as the JSON of its row.
//   - A family is a change, its revert, the revert of that, and so on.
//   - A plan is the entries of changes that were rehearsed: made, read and rolled back.
//
// # The life of a change
//
// A use case locks the records it is about, writes them, and calls Record last. Record takes the
// change's number from a sequence and writes the entries in the same transaction. A job writes its
// first batch with Record and later batches with Extend. A revert locks the subjects, finds the
// fields that no later entry touches, asks their owners to restore them, and is recorded as a
// change itself. Fields that it has to leave are reported with the reason.
//
// # Invariants
//
//   - Record comes after all locks. Whoever comes second waits for the first commit and gets the
//     higher number, so the order of numbers is the order in which things happened.
//   - A change never takes in what a later change has touched: Extend records such entries as a
//     change of their own.
//   - Reverting everything, newest first and each change once, leaves nothing out and restores the
//     original state.
//   - An agent cannot revert what a person holds.
//   - A plan that is carried out leaves every field that someone has touched since it was made.
//
// The reasons are in docs/decisions: 0008-journal.md and 0025-rehearsal.md.
package journal
