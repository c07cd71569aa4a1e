package app

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/analytics"
	"coffer/internal/people/auth"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/surface/rest"
)

// kinds lists every kind of job with the function that does the work.
func (a *App) kinds() []job.Kind {
	return slices.Concat(a.Rules.Kinds(), a.Links.Kinds(), a.Connections.Kinds(), a.Statements.Kinds(),
		a.Removals.Kinds(),
		a.Hooks.Kinds(), a.Archive.Kinds(), a.Undo.Kinds(), []job.Kind{a.Workflows.Kind(a.Agent.Work)})
}

// JobResults returns the result schemas of each kind of job, for documents.
func JobResults() map[string][]*op.Schema {
	out := map[string][]*op.Schema{}
	for _, k := range idle().kinds() {
		out[k.Name] = k.Results
	}
	return out
}

// jobEvents returns the route that streams a job's events. It is not an op, because its response
// lasts as long as the job.
func (a *App) jobEvents() rest.Raw {
	return rest.Raw{
		Route: "GET " + rest.Prefix + "/jobs/{job_id}/events", Scope: op.Read, NoQuery: true,
		Name: "job.events", Type: "text/event-stream", Serve: a.Jobs.Events,
		Summary: "Streams a job as server-sent events: progress whenever it advances, done when it has finished; " +
			"each event contains the job.",
	}
}

// calendar returns the route that serves the feed of a calendar link. It is not an op, because the
// token in its address is the only credential: calendar apps send no other.
func (a *App) calendar() rest.Raw {
	return rest.Raw{
		Route: "GET " + auth.CalendarPath + "{file}", Scope: op.Open, Name: "calendar.feed", Type: "text/calendar",
		Summary: "Shows a calendar app what is due in the next half year. The address is that of a calendar link.",
		Serve: func(w http.ResponseWriter, r *http.Request) error {
			token, _ := strings.CutSuffix(r.PathValue("file"), ".ics")
			link, err := a.Auth.Calendar(r.Context(), token)
			if err != nil {
				return err
			}
			ahead, err := a.Totals.Upcoming(r.Context(), a.DB, analytics.UpcomingRequest{Days: calendarDays})
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
			// A client that has disconnected needs no response.
			_, _ = io.WriteString(w, ahead.Calendar(link.Amounts, time.Now()))
			return nil
		},
	}
}

const calendarDays = 183

// transcript returns the route that streams the messages, calls and results of a run. It is not an
// op, because its response lasts as long as the run.
func (a *App) transcript() rest.Raw {
	return rest.Raw{
		Route: "GET " + rest.Prefix + "/workflow-runs/{id}/transcript", Scope: op.Read,
		Name: "workflow-run.transcript", Type: "application/x-ndjson", Serve: a.Workflows.Transcript,
		Query: op.SchemaOf[workflow.TranscriptQuery](),
		Summary: "Streams a run's transcript, one JSON object per line: messages, tool calls, results, costs " +
			"and limits.",
	}
}
