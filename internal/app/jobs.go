package app

import (
	"slices"

	"coffer/internal/job"
	"coffer/internal/op"
	"coffer/internal/rest"
	"coffer/internal/workflow"
)

// kinds is every sort of long work; each entry names what does it.
func (a *App) kinds() []job.Kind {
	return slices.Concat(a.Rules.Kinds(), a.Links.Kinds(), a.Feed.Kinds(), a.Statements.Kinds(), a.Removals.Kinds(),
		a.Hooks.Kinds(), a.Archive.Kinds(), a.Undo.Kinds(), []job.Kind{a.Workflows.Kind(a.Agent.Work)})
}

// JobResults returns what the jobs of each kind come to, for documents.
func JobResults() map[string][]*op.Schema {
	out := map[string][]*op.Schema{}
	for _, k := range idle().kinds() {
		out[k.Name] = k.Results
	}
	return out
}

// jobEvents is the stream of a job. It is not an op, because its response lasts as long as the job.
func (a *App) jobEvents() rest.Raw {
	return rest.Raw{
		Route: "GET " + rest.Prefix + "/jobs/{job_id}/events", Scope: op.Read, NoQuery: true,
		Name: "job.events", Type: "text/event-stream", Serve: a.Jobs.Events,
		Summary: "Streams a job as server-sent events: progress whenever it advances, done when it has finished; " +
			"each event contains the job.",
	}
}

// transcript streams the messages, calls and results of a run. It is not an op, because it lasts as
// long as the run.
func (a *App) transcript() rest.Raw {
	return rest.Raw{
		Route: "GET " + rest.Prefix + "/workflow-runs/{id}/transcript", Scope: op.Read,
		Name: "workflow-run.transcript", Type: "application/x-ndjson", Serve: a.Workflows.Transcript,
		Query: op.SchemaOf[workflow.TranscriptQuery](),
		Summary: "Streams a run's transcript, one JSON object per line: messages, tool calls, results, costs " +
			"and limits.",
	}
}
