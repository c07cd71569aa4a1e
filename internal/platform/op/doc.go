// Package op turns a use case into a value, an Op, with its name, route, tool, scope, schemas and
// code, so that REST, MCP and the command line are three loops over one list. It does not know any
// use case or transport, and it must never grow into a framework.
//
// # Terms
//
//   - A Spec describes a use case: everything about it except its code.
//   - An Op is a Spec with its code and the schemas of its input and output. Reading and Writing
//     return one; Calling, Streaming, Long and Shaped return or extend special ones.
//   - A surface is the interface of a call: REST, Tool (MCP) or Command (the command line).
//   - A Call is one use of an Op: the actor, the surface, the arguments, the preconditions.
//   - An Answer is the Op's result, already printed.
//   - An Actor is the caller: a user, an agent or the system, with its scope and role.
//
// # The life of a call
//
// Runner.Call is the only way to run an Op. It
//
//  1. checks scope and role, and the restrictions on agents (People);
//  2. fills in defaults and validates the arguments against the schema;
//  3. waits if the caller or the server is busy, so that no caller can use up the server;
//  4. for a writing Op opens the transaction; with an Idempotency-Key it first looks for the
//     response that an earlier call stored;
//  5. runs the use case and prints the answer, in the surface's own shape;
//  6. commits; for a Long op it then waits for the job;
//  7. turns an error into its public form, in the words of the surface, and logs the call.
//
// # Invariants
//
//   - The input is one flat struct. Its tags are the only source of the schema, the OpenAPI
//     document, the tool's arguments and the command's flags.
//   - A response and its effect commit together, or neither does.
//   - Call returns only errors of type *errs.Error that may be shown to the caller.
//   - Numbers keep their notation; no amount passes through a float.
//
// The reasons are in docs/decisions: 0001-own-schemas.md, 0003-etags.md, 0004-idempotency.md,
// 0022-connections.md and 0023-agents-rights.md.
package op
