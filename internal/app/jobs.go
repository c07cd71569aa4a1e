package app

import (
	"slices"

	"coffer/internal/job"
	"coffer/internal/op"
	"coffer/internal/rest"
)

// kinds is every sort of long work; each entry names what does it.
func (a *App) kinds() []job.Kind {
	return slices.Concat(a.Rules.Kinds(), a.Links.Kinds(), a.Feed.Kinds(), a.Statements.Kinds(),
		a.Hooks.Kinds(), a.Archive.Kinds(), a.Undo.Kinds())
}

// jobEvents is the stream of a job. It is no op, because it answers as long as the job runs.
func (a *App) jobEvents() rest.Raw {
	return rest.Raw{
		Route: "GET " + rest.Prefix + "/jobs/{job_id}/events", Scope: op.Read, NoQuery: true,
		Name: "job.events", Type: "text/event-stream", Serve: a.Jobs.Events,
		Summary: "Streams a job as server-sent events: progress whenever it advances, done when it has finished; " +
			"each event contains the job.",
	}
}
