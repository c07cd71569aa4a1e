// Package workflow keeps the household's own agents: their definitions, runs, transcripts, plans
// and costs. It owns every table of them and has every op. It does not talk to a model: package
// agent below it does, in a job, and stores what happens through this package.
//
// # Terms
//
//   - A workflow is a definition: a prompt, the tools it may use, when it starts, its limits.
//   - A prompt block is a text that several workflows share.
//   - A run is one execution. Its id is also the id of its job and of the actor of its changes.
//   - A line is a part of a run's transcript. The lines are the run's whole state, so another
//     server can continue it.
//   - A plan is what a run would have done, stored to be applied by a person.
//   - A sheet is up to fifty numbered transactions that a model decides in one answer.
//
// # The life of a run
//
// A call, a schedule or a sync queues it: the definition is frozen, and the run and its job are
// written in one transaction. A worker sets it to running. Every effect of the run commits together
// with the line that records it. A limit, an error, a cancellation or the model itself ends it, and
// the status says which. Its changes can be reverted, and its plan applied or dropped.
//
// # Invariants
//
//   - A workflow has at most one live run, on any number of servers.
//   - A run has no key. It acts as an agent under its own id.
//   - Money is reserved before a model is asked, at a bound that cannot be exceeded.
//   - Only people start, change or approve an agent.
package workflow
