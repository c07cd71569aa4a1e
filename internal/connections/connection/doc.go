// Package connection owns the connections to banks and syncs their transactions page by page. It
// must not know what a transaction means: that is the task of the ledger and the rules. It must not
// distinguish providers: that is the task of package bank.
//
// # Terms
//
//   - A connection is one link to a provider for one member, with its credentials and its cursor.
//   - A sync reads a connection as a job. Its record is the sync log.
//   - A page is what a provider returns at once. A loop reads pages until the provider has no more.
//   - The quarantine keeps unreadable rows that a provider sent.
//
// # The life of a connection
//
// A link session (package linksession) or the API creates a connection with its accounts. It then
// syncs when it is due, when a webhook event arrives, or on request. If the bank rejects the
// credentials, the connection waits for its member to sign in again, in a new link session.
// Disconnecting removes the credentials; accounts and transactions stay.
//
// # Invariants
//
//   - Providers are called outside any transaction. Rows, the effects of rules, journal entries,
//     the log and the job's position commit together.
//   - The cursor moves only when a loop is complete. A loop that breaks starts again from the
//     stored cursor, and pages that are already stored write nothing.
//   - A pending transaction keeps its record when the bank posts it under another id.
//   - The bank may restore what the bank removed; what a person deleted stays deleted.
//   - After a failure the connection, not the job, decides when to try again.
//
// The reasons are in docs/decisions: 0013-feed.md, 0014-providers.md, 0015-linking.md and
// 0016-webhooks.md.
package connection
