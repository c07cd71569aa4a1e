package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// The limits of every run, in addition to those of its workflow.
const (
	maxRequest   = 200_000    // bytes of a request
	maxLines     = 16_000_000 // bytes of a transcript
	mostEmpty    = 5          // unusable answers in a row
	mostFailures = 5          // failed model calls in a row
	mostLost     = 10         // model calls in a row whose worker died
	sameAnswer   = 3          // equal calls in a row from which on they are not executed
	sameEnds     = 6          // equal calls in a row that end the run
)

// loop works until the run ends.
func (r *run) loop(ctx context.Context) error {
	err := r.converse(ctx)
	if l := isLimit(err); l != nil {
		return r.end(ctx, l)
	}
	if err != nil {
		return err
	}
	return r.end(ctx, nil)
}

// converse asks the model and runs its calls until the mode is done.
func (r *run) converse(ctx context.Context) error {
	for {
		for len(r.state.open) > 0 { // from a dead worker, or from the answer that was just stored
			if err := r.answer(ctx, r.state.open[0]); err != nil {
				return err
			}
		}
		if r.state.empty >= mostEmpty {
			return failed(errs.ProviderError, "%d model responses in a row were empty, cut off or "+
				"unreadable; choose a model that can call tools, or give it smaller tasks", mostEmpty)
		}
		say, done, err := r.mode.next(ctx, r)
		if err != nil || done {
			return err
		}
		if len(say) > 0 {
			err := r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) { return say, nil })
			if err != nil {
				return err
			}
			at("said")
		}
		if err := r.ask(ctx); err != nil {
			return err
		}
	}
}

// end writes the run's last batch.
func (r *run) end(ctx context.Context, l *limitError) error {
	name := ""
	if l != nil {
		name = l.name
	}
	err := r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		var say []workflow.Say
		if l != nil {
			say = append(say, workflow.Say{Kind: workflow.LineLimit, Body: limitLine{l.name, l.limit, l.used, "ended"}})
		}
		more, err := r.mode.finish(ctx, tx, r, name)
		if err != nil {
			return nil, err
		}
		if _, err := r.Store.Append(ctx, tx, r.live.ID, append(say, more...)...); err != nil {
			return nil, err
		}
		_, err = r.Store.End(ctx, tx, r.live.ID, workflow.Ending{Limit: name})
		at("ending")
		return nil, err
	})
	if err == nil {
		at("ended")
	}
	return err
}

// within returns the limit because of which the model must not be asked again, or nil.
func (r *run) within(request llm.Request) error {
	switch size := request.Bytes(); {
	case r.live.Left(r.def) <= 0:
		return &limitError{workflow.LimitMinutes, r.def.MaxMinutes, r.live.ElapsedMS / 60_000}
	case r.live.Turns >= r.def.MaxTurns:
		return &limitError{workflow.LimitTurns, r.def.MaxTurns, r.live.Turns}
	case size > maxRequest:
		return &limitError{workflow.LimitContext, maxRequest, size}
	}
	return r.room()
}

// room returns an error if the transcript is full. It is also checked between the tool calls of one
// answer, because there may be hundreds.
func (r *run) room() error {
	if r.live.Bytes > maxLines {
		return &limitError{workflow.LimitLines, maxLines, r.live.Bytes}
	}
	return nil
}

// An asked is a model call that is being made.
type asked struct {
	workflow.Reservation
	price   *llm.Price
	request llm.Request
	prompt  int64 // the maximum number of tokens of the request
	began   time.Time
}

// reserve sets money aside for the next model call. If a limit does not allow the call, the error
// is that limit.
func (r *run) reserve(ctx context.Context) (out asked, err error) {
	if r.live.LostInARow >= mostLost {
		return out, failed(errs.InternalError, "%d model calls in a row were lost because their server stopped; see "+
			"its log", r.live.LostInARow)
	}
	out.request = llm.Request{
		Model: r.def.Model, System: r.state.system, Tools: r.mode.tools(r), Turns: r.state.request(),
	}
	err = r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		now, err := r.Store.Load(ctx, tx, r.live.ID)
		if err != nil {
			return nil, err
		}
		r.live = now
		if err := r.within(out.request); err != nil {
			return nil, err
		}
		price, known, err := r.Models.Price(ctx, tx, r.def.Provider, r.def.Model)
		if err != nil {
			return nil, err
		}
		if out.price = nil; known {
			out.price = &price
		}
		out.prompt = llm.PromptBound(out.request.Bytes(), r.state.prompt)
		out.Reservation, err = r.Store.Reserve(ctx, tx, workflow.Ask{
			Run: now, Cap: capOf(r.def), Provider: r.def.Provider, Model: r.def.Model,
			Prompt: out.prompt, Price: out.price,
		})
		return nil, err
	})
	if errs.Is(err, errs.ProviderNotConfig) {
		return out, job.Final(err)
	}
	if err != nil {
		return out, err
	}
	if out.Limit != "" {
		l := &limitError{name: out.Limit}
		if out.Most != nil {
			l.limit = *out.Most
		}
		if r.live.CostMicros != nil {
			l.used = *r.live.CostMicros
		}
		return out, l
	}
	out.request.MaxTokens = out.MaxTokens
	at("reserved")
	return out, nil
}

var errMinutes = errors.New("the run's time limit was reached")

// ask asks the model once and stores its answer. It holds no database connection while it waits.
func (r *run) ask(ctx context.Context) error {
	q, err := r.reserve(ctx)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeoutCause(ctx, r.live.Left(r.def), errMinutes)
	defer cancel()
	q.began = time.Now()
	reply, err := r.client.Ask(asking, q.request)
	at("answered")
	if ctx.Err() != nil { // canceled, or the server stops: the call is lost
		return context.Cause(ctx)
	}
	if err != nil {
		return r.unanswered(ctx, q, err, errors.Is(context.Cause(asking), errMinutes))
	}
	return r.store(ctx, q, reply)
}

// unanswered records a failed model call, and returns an error that says whether to try again. A
// call that the provider may bill counts at its maximum cost.
func (r *run) unanswered(ctx context.Context, q asked, err error, late bool) error {
	e, known := errors.AsType[*llm.Error](err)
	settled := workflow.Settlement{Call: q.Call, State: workflow.CallFailed, Micros: q.Micros}
	if known {
		settled.RequestID = e.RequestID
		if !e.Billed && !late {
			settled.Micros = new(money.Micros(0))
		}
	}
	face := errs.Public(err, "")
	wrong := r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		if err := r.Store.Settle(ctx, tx, r.live.ID, settled); err != nil {
			return nil, err
		}
		return []workflow.Say{note("The model server did not answer: %s.", face.Message)}, nil
	})
	switch {
	case wrong != nil:
		return wrong
	case late:
		return &limitError{workflow.LimitMinutes, r.def.MaxMinutes, r.def.MaxMinutes}
	case known && (e.Class == llm.Later || e.Class == llm.Broken):
		return later(err, r.live.FailedInARow, e.RetryAfter)
	}
	return job.Final(err)
}

// cost returns the cost of an answer. If the server reports no usage, or too little, the call
// counts at its maximum cost. If it reports more than the call can have cost, the call also counts
// at its maximum cost, because one wrong number must not use up the month's money. The reported
// cost is then recorded as the claim, and the run ends.
func (q asked) cost(reply llm.Reply) (micros, claim *money.Micros, doubt string) {
	if q.price == nil {
		return nil, nil, ""
	}
	u := reply.Usage
	answered := reply.Text != "" || len(reply.Calls) > 0
	switch {
	case !u.Known:
		return q.Micros, nil, "The model server did not report its usage; the call is counted at its highest " +
			"possible cost."
	case u.Prompt() == 0 || u.Output == 0 && answered:
		return q.Micros, nil, "The model server reported no usage for an answer; the call is counted at its highest " +
			"possible cost."
	}
	if reported := q.price.Cost(u); reported > *q.Micros {
		return q.Micros, &reported, fmt.Sprintf("The model server reported $%s, more than the call can have cost; it "+
			"is counted as $%s, the highest possible cost.", reported, *q.Micros)
	}
	return new(q.price.Cost(u)), nil, ""
}

// counted returns the usage that the server reported. Each kind of token is limited to the maximum
// that is possible.
func (q asked) counted(u llm.Usage) llm.Usage {
	prompt, output := q.prompt, int64(q.MaxTokens)
	return llm.Usage{
		Input: min(u.Input, prompt), CacheRead: min(u.CacheRead, prompt), CacheWrite: min(u.CacheWrite, prompt),
		Output: min(u.Output, output), Known: u.Known,
	}
}

// store writes an answer and its cost, before any of its calls is executed.
func (r *run) store(ctx context.Context, q asked, reply llm.Reply) error {
	micros, claim, doubt := q.cost(reply)
	line := received(r.live.Turns+1, r.def.Model, reply)
	usage := usageLine{
		Turn: line.Turn, Input: reply.Usage.Input, CacheRead: reply.Usage.CacheRead,
		CacheWrite: reply.Usage.CacheWrite, Output: reply.Usage.Output, Bytes: q.request.Bytes(),
		MaxTokens: q.MaxTokens, RequestID: reply.RequestID, Retries: reply.Retries,
		TookMS: time.Since(q.began).Milliseconds(), ReservedUSD: q.Micros, CostUSD: micros,
	}
	first := r.state.unasked
	err := r.batch(ctx, job.Step{Done: 1}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		err := r.Store.Settle(ctx, tx, r.live.ID, workflow.Settlement{
			Call: q.Call, State: workflow.CallAnswered, Micros: micros, Usage: q.counted(reply.Usage),
			RequestID: reply.RequestID, Stop: string(reply.Stop),
		})
		say := []workflow.Say{{Kind: workflow.LineAssistant, Body: line}, {Kind: workflow.LineUsage, Body: usage}}
		for _, n := range reply.Notes {
			say = append(say, note("%s", n))
		}
		if doubt != "" {
			say = append(say, note("%s", doubt))
		}
		return say, err
	})
	if err != nil {
		return err
	}
	at("settled")
	switch {
	case claim != nil:
		return failed(errs.ProviderError, "the model server reported $%s for a call that can have cost at most $%s, "+
			"and the run was ended; check what runs at its address, and its price", *claim,
			*q.Micros)
	case reply.Stop == llm.Refused:
		return failed(errs.ProviderError, "the model declined to answer; change the prompt of the workflow, or choose "+
			"another model")
	case first && llm.WasCut(r.state.prompt):
		return failed(errs.ProviderError, "the model server read only a part of the prompt: it counted %d tokens of "+
			"%d bytes; give it a larger context (for Ollama, OLLAMA_CONTEXT_LENGTH) and test it with {model.test}",
			r.state.prompt.Tokens, r.state.prompt.Bytes)
	}
	return nil
}

// capOf returns the maximum cost of a run, or nil.
func capOf(d workflow.Definition) *money.Micros {
	if d.MaxCostMicros == nil {
		return nil
	}
	return new(money.Micros(*d.MaxCostMicros))
}
