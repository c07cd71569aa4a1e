// Package workflow stores the household's own agents: their definitions, runs, transcripts, plans
// and costs. It owns all their tables and ops. It does not talk to a model: package run does that
// in a job, and stores the results through this package.
//
// # Terms
//
//   - A workflow is a definition: a prompt, the tools it may use, when it starts, its limits.
//   - A prompt block is a text that several workflows share.
//   - A run is one execution. Its id is also the id of its job and of the actor of its changes.
//   - A line is a part of a run's transcript. The lines are the run's whole state, so another
//     server can continue it.
//   - A plan is the list of changes that a run proposes. A person applies it or drops it.
//   - A sheet is up to fifty numbered transactions that a model decides in one answer.
//
// # The life of a run
//
// A call, a schedule or a sync queues a run. One transaction freezes the definition and writes the
// run and its job. A worker then sets the run to running. Every effect of the run commits together
// with the line that records it. The run ends by itself, or through a limit, an error or a
// cancellation; its status says which. People can then revert its changes, and apply or drop its
// plan.
//
// # Invariants
//
//   - A workflow has at most one live run, on any number of servers.
//   - A run has no key. It acts as an agent under its own id.
//   - Before a model is asked, the maximum cost of its answer is reserved.
//   - Only people start, change or approve an agent.
package workflow
