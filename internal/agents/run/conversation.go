package run

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/report"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// modeOf returns the mode of a workflow.
func (a *Agent) modeOf(d workflow.Definition) mode {
	if d.Eval != nil {
		return &measuring{sheets: sheets{books: a.Books}}
	}
	if d.Worklist != nil {
		return &sheets{books: a.Books}
	}
	return &conversation{}
}

// A conversation gives the model the workflow's tools, and lets it work until it makes no more
// calls.
type conversation struct {
	made []llm.Tool // created once: the same bytes in every request
}

// next opens the conversation, and ends it with the first complete answer without a call. If an
// answer is cut off or empty, it asks again.
func (t *conversation) next(_ context.Context, r *run) ([]workflow.Say, bool, error) {
	last := r.state.last
	switch {
	case !r.state.begun:
		return opening(r), false, nil
	case last == nil || len(last.Calls) > 0:
		return nil, false, nil
	case last.Stop == string(llm.End) && last.Text != "":
		return nil, true, nil
	case last.Text != "":
		return []workflow.Say{user("Your answer was cut off. Say it again, shorter.")}, false, nil
	}
	return []workflow.Say{user("Your answer was empty. Call a tool, or end with your answer.")}, false, nil
}

func user(s string) workflow.Say {
	return workflow.Say{Kind: workflow.LineUser, Body: textLine{Text: s}}
}

// opening returns the first messages of a run. The date is in the user's message. In the system
// prompt it would change every day, and no server could cache the prompt.
func opening(r *run) []workflow.Say {
	began := "A person started this run."
	switch r.live.Trigger {
	case workflow.Schedule:
		began = "This run was started on schedule."
	case workflow.AfterSync:
		began = "This run was started after a sync."
	}
	return []workflow.Say{
		{Kind: workflow.LineDefinition, Body: definitionLine{r.live.Definition, r.live.Hash}},
		{Kind: workflow.LineSystem, Body: textLine{Text: system(r.def)}},
		user("Today is " + r.live.Today + " (" + r.live.Zone + "). " + began + " Do your task now."),
	}
}

// system returns the system prompt: the shared blocks, then the prompt of the workflow.
func system(d workflow.Definition) string {
	return strings.TrimSpace(strings.TrimSpace(d.System) + "\n\n" + strings.TrimSpace(d.Prompt))
}

// allowed returns the workflow's tools that exist and that a run may use.
func (r *run) allowed() []string {
	scope := r.actor.Scope
	return slices.DeleteFunc(slices.Clone(r.names), func(name string) bool {
		o := r.tools[name]
		return len(r.def.Tools) > 0 && !slices.Contains(r.def.Tools, name) || o.Scope > scope ||
			o.Runs.Reach == op.ReachNever
	})
}

func (t *conversation) tools(r *run) []llm.Tool {
	if t.made == nil {
		for _, name := range r.allowed() {
			t.made = append(t.made, described(r.tools[name]))
		}
	}
	return t.made
}

// described returns a tool as the model sees it.
func described(o *op.Op) llm.Tool {
	schema, err := json.Marshal(o.ToolInput())
	if err != nil {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return llm.Tool{Name: o.Tool, Description: o.Agent, Schema: schema}
}

// call carries out a call of one of the workflow's tools.
func (t *conversation) call(ctx context.Context, r *run, c call) error {
	allowed := r.allowed()
	if !slices.Contains(allowed, c.Tool) {
		why := errs.New(errs.Forbidden, "this run has no tool of that name; its tools are: %s", listed(allowed))
		if o := r.tools[c.Tool]; o != nil && o.Runs.Instead != "" {
			why = errs.New(errs.Forbidden, "%s", o.Runs.Instead)
		}
		return r.refuse(ctx, c, why)
	}
	args, err := op.ParseObject(c.Arguments)
	if err != nil {
		return r.refuse(ctx, c, errs.Public(err, r.live.ID.Short()))
	}
	o := opCall{tool: c.Tool, args: args}
	if gate(r.tools[c.Tool], args, r.posture()).route == planned && r.tools[c.Tool].IsLong() {
		if o.found, err = r.count(ctx, o); err != nil {
			return err
		}
	}
	return r.perform(ctx, c, []opCall{o}, nil)
}

// counting is the maximum duration of a dry run that counts transactions for a planned call.
const counting = 20 * time.Second

// count makes a dry run of a tool and returns how many transactions it would change, or nil if that
// is unknown. It stores nothing, so if the worker dies, the count is repeated.
func (r *run) count(ctx context.Context, o opCall) (*int64, error) {
	target := r.tools[o.tool]
	if target.In.Prop("dry_run") == nil {
		return nil, nil //nolint:nilnil // the comment says so
	}
	o.args = maps.Clone(o.args)
	o.args["dry_run"] = true
	var out outcome
	err := r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) (say []workflow.Say, err error) {
		out, err = r.callIn(ctx, tx, o, verdict{route: done})
		return nil, err
	})
	if err != nil || out.err != nil {
		return nil, err
	}
	now := target.Await(ctx, out.answer, op.Tool, counting)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var ended struct {
		Result struct {
			Changed *int64 `json:"changed"`
		} `json:"result"`
	}
	_ = json.Unmarshal(now.Body, &ended) // a job that still runs has no result
	return ended.Result.Changed, nil
}

// maxTitle is the maximum length of a report's title.
const maxTitle = 200

// finish stores the model's last message as a report, if the workflow wants one and the model has
// not stored one itself.
func (t *conversation) finish(ctx context.Context, tx pg.Tx, r *run, limit string) ([]workflow.Say, error) {
	if r.def.Report != "message" || limit != "" || r.live.ReportID != nil || r.state.last == nil {
		return nil, nil
	}
	stored, err := r.Reports.Create(op.Acting(ctx, r.actor), tx, report.CreateReport{
		Title: text.Line(r.def.Name+", "+strings.TrimSpace(r.live.Today[strings.LastIndex(r.live.Today, " ")+1:]),
			maxTitle).Plain(),
		Body: Traced(r.state.last.Text, r.state.given), Kind: r.def.Slug,
	})
	if err != nil {
		return nil, err
	}
	return nil, r.Store.Reported(ctx, tx, r.live.ID, stored.ID)
}

func reportRef(ref string) report.Ref { return report.Ref{ID: ref} }
