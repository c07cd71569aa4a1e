package run

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// answer carries out a call of the model and stores its result.
func (r *run) answer(ctx context.Context, c call) error {
	if r.live.Left(r.def) <= 0 {
		return &limitError{workflow.LimitMinutes, r.def.MaxMinutes, r.live.ElapsedMS / 60_000}
	}
	if err := r.room(); err != nil && len(r.state.results) > 0 { // the first call is always made: it was paid for
		return err
	}
	if c.Broken != "" {
		return r.refuse(ctx, c, errs.New(errs.InvalidBody, "%s", c.Broken))
	}
	switch n := r.state.repeated(c.N); {
	case n >= sameEnds:
		return &limitError{workflow.LimitRepeated, sameEnds, n}
	case n >= sameAnswer:
		return r.refuse(ctx, c, errs.New(errs.Conflict, "this call was just made with the same arguments, and its "+
			"result has not changed; do something else, or stop"))
	}
	return r.mode.call(ctx, r, c)
}

// refuse stores an error as the result of a call without making the call.
func (r *run) refuse(ctx context.Context, c call, why *errs.Error) error {
	return r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) {
		return []workflow.Say{
			c.line(refused, why.Message),
			{Kind: workflow.LineResult, Body: resultLine{Call: c.ID, N: c.N, IsError: true, Content: face(why)}},
		}, nil
	})
}

func (c call) line(to route, why string) workflow.Say {
	return workflow.Say{Kind: workflow.LineCall, Body: callLine{c.ID, c.N, c.Tool, c.Arguments, to, why}}
}

// face returns an error in the form that tools return.
func face(e *errs.Error) string {
	b, err := json.Marshal(e.Face())
	if err != nil {
		return e.Message
	}
	return string(b)
}

// An opCall is a call of an op. One tool call of the model can become several.
type opCall struct {
	tool  string
	args  map[string]any
	found *int64 // how many transactions its dry run found, if it becomes a planned call
	// alone is set if no planned item concerns the call, so it is rehearsed without the plan.
	alone bool
}

// An outcome is the result of an opCall.
type outcome struct {
	verdict
	body     string // what the op returned, or its error
	err      *errs.Error
	change   *id.ID
	answer   op.Answer
	patience time.Duration
	op       *op.Op
}

// A then makes the result of a model's call from the outcomes of its opCalls, in the same batch. It
// may write more through the Store.
type then func(ctx context.Context, tx pg.Tx, out []outcome) (content string, isError bool, more []workflow.Say,
	err error)

// perform carries out a call of the model as opCalls, through the gate. Their effects, their
// planned items and the lines commit together. If next is nil, the result is that of the last
// opCall.
func (r *run) perform(ctx context.Context, c call, opCalls []opCall, next then) error {
	return r.performIn(ctx, c, func(context.Context, pg.Tx) ([]opCall, error) { return opCalls, nil }, next)
}

// performIn is perform with opCalls that draw creates inside the batch, from the books at that
// moment. draw may return none if there is a next.
//
// If the run reaches its limit on writes, performIn undoes all of the opCalls. It rehearses them
// instead, and the run only plans from then on.
func (r *run) performIn(ctx context.Context, c call, draw func(context.Context, pg.Tx) ([]opCall, error),
	next then,
) error {
	began := time.Now()
	var outs []outcome
	err := r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		stance := r.posture()
		var say []workflow.Say
		opCalls, err := draw(ctx, tx)
		if err != nil {
			return nil, err
		}
		err = pg.Savepoint(ctx, tx, func(tx pg.Tx) (err error) {
			outs, err = r.carryOut(ctx, tx, opCalls, stance)
			return err
		})
		if over := isLimit(err); over != nil {
			if err := r.Store.StartPlanning(ctx, tx, r.live.ID, over.name); err != nil {
				return nil, err
			}
			say = append(say, workflow.Say{
				Kind: workflow.LineLimit, Body: limitLine{over.name, over.limit, over.used, "planning"},
			})
			stance.planning = true
			outs, err = r.carryOut(ctx, tx, opCalls, stance)
		}
		if err != nil {
			return nil, err
		}
		return r.lines(ctx, tx, c, outs, say, next, began)
	})
	if err != nil {
		return err
	}
	at("committed")
	return r.await(ctx, c, outs, next, began)
}

// lines returns the lines of a call that was carried out.
func (r *run) lines(ctx context.Context, tx pg.Tx, c call, outs []outcome, say []workflow.Say, next then,
	began time.Time,
) ([]workflow.Say, error) {
	last := outcome{verdict: verdict{route: done}}
	if len(outs) > 0 {
		last = outs[len(outs)-1]
	}
	result := resultLine{
		Call: c.ID, N: c.N, IsError: last.err != nil, Untrusted: true, Content: last.body, ChangeID: last.change,
	}
	var more []workflow.Say
	if next != nil {
		var err error
		if result.Content, result.IsError, more, err = next(ctx, tx, outs); err != nil {
			return nil, err
		}
	}
	to, why := last.route, last.why
	for _, o := range outs {
		if o.route == planned {
			to, why = o.route, o.why
		}
	}
	result.TookMS = time.Since(began).Milliseconds()
	say = append(say, c.line(to, why), workflow.Say{Kind: workflow.LineResult, Body: result})
	return append(say, more...), nil
}

// await waits for the job that the last opCall started, which is already committed. Then it stores
// the result.
func (r *run) await(ctx context.Context, c call, outs []outcome, next then, began time.Time) error {
	if len(outs) == 0 {
		return nil
	}
	last := outs[len(outs)-1]
	if last.patience == 0 || last.err != nil || next != nil || last.route != done {
		return nil //nolint:nilerr // what was refused is in the lines already
	}
	now := last.op.Await(ctx, last.answer, op.Tool, last.patience)
	at("awaited")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) {
		return []workflow.Say{{Kind: workflow.LineResult, Body: resultLine{
			Call: c.ID, N: c.N, Untrusted: true, Content: now.Text(), TookMS: time.Since(began).Milliseconds(),
		}}}, nil
	})
}

// carryOut passes each opCall through the gate, in order.
func (r *run) carryOut(ctx context.Context, tx pg.Tx, opCalls []opCall, p posture) ([]outcome, error) {
	live, err := r.Store.Load(ctx, tx, r.live.ID)
	if err != nil {
		return nil, err
	}
	var outs []outcome
	for _, o := range opCalls {
		v := gate(r.tools[o.tool], o.args, p)
		out, err := r.route(ctx, tx, o, v, &live)
		if err != nil {
			return nil, err
		}
		out.op = r.tools[o.tool]
		outs = append(outs, out)
	}
	return outs, nil
}

// route carries out one opCall as its verdict says. If there is a plan, reads see the books with
// the plan applied, so that the run sees its own planned changes.
func (r *run) route(ctx context.Context, tx pg.Tx, o opCall, v verdict, live *workflow.Live) (outcome, error) {
	if v.route == refused {
		e := errs.New(errs.Forbidden, "%s", v.why)
		return outcome{verdict: v, err: e, body: face(e)}, nil
	}
	target := r.tools[o.tool]
	plan, err := r.Store.Plan(ctx, tx, r.live.ID)
	if err != nil {
		return outcome{}, err
	}
	if v.route == done && (target.Writes || len(plan.Entries) == 0) {
		out, err := r.do(ctx, tx, o, v, live)
		over, refusal := errors.AsType[*beyondError](err)
		lost := err == nil && out.err != nil && len(plan.Entries) > 0 &&
			(out.err.Code == errs.NotFound || out.err.Code == errs.InvalidReference)
		switch {
		case refusal:
			v.route, v.why = planned, over.why
		case lost: // it may refer to a record that is only planned
			v.route, v.why = planned, "it names something that is planned"
		default:
			return out, err
		}
	}
	return r.rehearse(ctx, tx, o, v, plan)
}

// A beyondError undoes a call that wrote more than a run may write without a person.
type beyondError struct{ why string }

func (e *beyondError) Error() string { return "the call is to be planned: " + e.why }

// do runs an op as a part of the batch. If a limit on writes is reached, do returns an error, and
// the whole call is undone.
func (r *run) do(ctx context.Context, tx pg.Tx, o opCall, v verdict, live *workflow.Live) (out outcome, err error) {
	if v.reach == op.ReachReport {
		r.trace(&o)
	}
	err = pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		if out, err = r.callIn(ctx, tx, o, v); err != nil {
			return err
		}
		if out.err != nil {
			if n := out.err.Limit.Name; n == journal.LimitOfRun || n == journal.LimitOfDay {
				return &limitError{n, out.err.Limit.Quota, nil}
			}
			return nil
		}
		at("called")
		made, err := r.Store.MadeBy(ctx, tx, out.change)
		if err != nil {
			return err
		}
		if why := fits(v, made, *live); why != "" {
			return &beyondError{why}
		}
		live.Made, live.MadeRules = live.Made+made.Tags+made.Counterparties, live.MadeRules+made.Rules
		return r.Store.Count(ctx, tx, r.live.ID, made)
	})
	if err == nil && out.err == nil && v.reach == op.ReachReport {
		err = r.reported(ctx, tx, out.answer.Body)
	}
	return out, err
}

// callIn runs an op in tx. An error of the op becomes an outcome; an error that breaks tx is
// returned.
func (r *run) callIn(ctx context.Context, tx pg.Tx, o opCall, v verdict) (outcome, error) {
	out := outcome{verdict: v}
	answer, patience, err := r.runner.CallIn(ctx, tx, r.tools[o.tool], op.Call{
		Actor: r.actor, Surface: op.Tool, Args: o.args, RequestID: r.live.ID.Short(),
	})
	if err != nil {
		e, ok := errors.AsType[*errs.Error](err)
		if !ok {
			return out, err
		}
		out.err, out.body = e, face(e)
		return out, nil
	}
	out.body, out.change, out.answer, out.patience = answer.Text(), answer.Change, answer, patience
	return out, nil
}

// rehearse runs an op on top of the plan so far, rolls it back, and adds the entries that it would
// have written to the plan. An op that needs a job is stored as a call, which is made when the plan
// is applied.
func (r *run) rehearse(ctx context.Context, tx pg.Tx, o opCall, v verdict, plan workflow.Plan) (outcome, error) {
	var out outcome
	overlay := journal.Rehearsal{Plan: plan.Entries}
	if o.alone {
		overlay.Plan = plan.Entries[max(len(plan.Entries)-1, 0):] // only the last entry, to continue its numbering
	}
	made, err := r.Journal.RehearseIn(ctx, tx, overlay,
		func(ctx context.Context, tx pg.Tx) (err error) {
			out, err = r.callIn(ctx, tx, o, v)
			return err
		})
	at("rehearsed")
	out.change, out.patience = nil, 0
	if err != nil || out.err != nil {
		if v.route == planned {
			out.verdict = verdict{route: refused, reach: v.reach}
		}
		return out, err
	}
	if v.route != planned {
		return out, nil
	}
	made, calls := asCalls(r.tools[o.tool], o, out, made)
	if len(plan.Entries)+len(plan.Calls)+len(made)+len(calls) > workflow.MaxPlan {
		out.err = errs.New(errs.RunLimit, "the plan of a run has at most %d entries, and this call would add %d; stop "+
			"here and list the remaining work", workflow.MaxPlan, len(made)+len(calls))
		out.body, out.route = face(out.err), refused
		return out, nil
	}
	return out, r.Store.AddPlan(ctx, tx, r.live.ID, o.tool, made, calls)
}

// asCalls divides the effect of a rehearsed call into entries and planned calls. Applying rules is
// always a planned call, because it needs a job: a person decides about it as a whole, not about
// each transaction.
func asCalls(o *op.Op, called opCall, out outcome, made []journal.Planned) ([]journal.Planned, []workflow.PlannedCall) {
	if o.IsLong() && len(made) == 0 {
		return nil, []workflow.PlannedCall{{Tool: o.Tool, Arguments: called.args, Found: called.found}}
	}
	if planning(called.args, []string{"apply_retroactively"}) == "" {
		return made, nil
	}
	var answer struct {
		Rules []struct {
			ID      string `json:"id"`
			Matches *int64 `json:"retroactive_matches"`
		} `json:"rules"`
	}
	if json.Unmarshal(out.answer.Body, &answer) != nil {
		return made, nil
	}
	var calls []workflow.PlannedCall
	for _, m := range answer.Rules {
		if m.Matches != nil {
			calls = append(calls, workflow.PlannedCall{
				Tool: "apply_rules", Arguments: map[string]any{"rule_ids": []any{m.ID}}, Found: m.Matches,
			})
		}
	}
	return slices.DeleteFunc(made, func(p journal.Planned) bool { return p.Subject == journal.Transaction }), calls
}

// reported records the id of the report that an op stored.
func (r *run) reported(ctx context.Context, tx pg.Tx, body []byte) error {
	var stored struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return err
	}
	which, err := r.Reports.Get(ctx, tx, reportRef(stored.ID))
	if err != nil {
		return err
	}
	return r.Store.Reported(ctx, tx, r.live.ID, which.ID)
}

// trace adds to a report the figures that no tool returned.
func (r *run) trace(o *opCall) {
	body, ok := o.args["body"].(string)
	if !ok {
		return
	}
	o.args = maps.Clone(o.args)
	o.args["body"] = Traced(body, r.state.given)
}

// listed lists the names of tools for an error.
func listed(names []string) string { return strings.Join(names, ", ") }
