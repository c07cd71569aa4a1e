package run

import (
	"context"
	"encoding/json"
	"slices"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A portion holds the decisions of one call of decide while they are written into the books.
type portion struct {
	*sheets
	run       *run
	decisions []decision

	filings map[int]*placement // by row
	still   []id.ID            // transactions that are still to be decided
	update  []int              // rows of the first opCall
	assign  []string           // counterparty names of the other opCalls
}

func (p *portion) ids(d decision) []id.ID { return p.current.Rows[d.row-1] }

// opCalls turns decisions into calls of ops. It leaves out rows that somebody else has decided
// meanwhile.
func (p *portion) opCalls(ctx context.Context, tx pg.Tx) ([]opCall, error) {
	p.filings, p.update, p.assign = map[int]*placement{}, nil, nil
	var all []id.ID
	for _, d := range p.decisions {
		all = append(all, p.ids(d)...)
	}
	if err := p.books.Lock(ctx, tx, all); err != nil {
		return nil, err
	}
	var err error
	if p.still, err = p.run.def.Open(ctx, tx, p.books, all); err != nil {
		return nil, err
	}
	// Remember the transactions in their state before the decision. After a revert of the run they
	// have that state again, and the workflow must not be asked about them again.
	if err := p.run.def.Remember(ctx, tx, p.run.live.WorkflowID, all); err != nil {
		return nil, err
	}
	noted, err := workflow.Commented(ctx, tx, p.run.live.WorkflowID, all)
	if err != nil {
		return nil, err
	}
	var operations []any
	bound := map[string][]any{}
	for _, d := range p.decisions {
		f := &placement{Row: d.row, Note: d.note, Outcome: moved}
		p.filings[d.row] = f
		for _, u := range p.ids(d) {
			if slices.Contains(p.still, u) {
				f.Transactions = append(f.Transactions, u)
			}
		}
		if len(f.Transactions) == 0 {
			f.Transactions = p.ids(d)
			continue
		}
		if f.Outcome = unsure; d.sure {
			f.Outcome, f.Category, f.Tags, f.Counterparty = filed, d.category, d.tags, d.counterparty
		}
		for _, u := range f.Transactions {
			if o := p.operation(d, u, slices.Contains(noted, u)); o != nil {
				operations = append(operations, o)
				if !slices.Contains(p.update, d.row) {
					p.update = append(p.update, d.row)
				}
			}
			if d.sure && d.counterparty != "" {
				if bound[d.counterparty] == nil {
					p.assign = append(p.assign, d.counterparty)
				}
				bound[d.counterparty] = append(bound[d.counterparty], u.String())
			}
		}
	}
	return p.calls(operations, bound), nil
}

// operation returns the operation of update_transactions for a transaction, or nil if there is
// no work.
func (p *portion) operation(d decision, u id.ID, noted bool) map[string]any {
	w := p.run.def.Worklist
	o := map[string]any{}
	if d.sure {
		if d.category != "" {
			o["category"] = d.category
		}
		if len(d.tags) > 0 {
			o["tags_to_add"] = anys(d.tags)
		}
		if w.Reviews() {
			o["tags_to_remove"] = []any{ledger.NeedsReview}
		}
		if len(o) > 0 && d.note != "" {
			o["note"] = d.note
		}
	}
	// A comment explains to a person why a transaction was left. If the transaction is categorized,
	// the note explains that, unless the workflow only writes comments.
	if w.Decides(workflow.SetsComment) && (!d.sure || len(w.Sets) == 1) && d.note != "" && !noted {
		o["comment"] = d.note
		if !d.sure && d.category != "" {
			o["comment"] = d.note + " (perhaps " + d.category + ")"
		}
	}
	if len(o) == 0 {
		return nil
	}
	o["transaction_id"] = u.String()
	return o
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// perCall is how many transactions one call of these tools accepts.
const perCall = 50

// calls returns calls for the operations and for each counterparty, as large as the tools allow.
func (p *portion) calls(operations []any, bound map[string][]any) []opCall {
	var out []opCall
	for part := range slices.Chunk(operations, perCall) {
		// These operations refer only to rows of this sheet, and to nothing that could be planned.
		out = append(out, opCall{tool: "update_transactions", args: map[string]any{"operations": part}, alone: true})
	}
	var names []string
	for _, name := range p.assign {
		for part := range slices.Chunk(bound[name], perCall) {
			out = append(out, opCall{tool: "assign_counterparty", args: map[string]any{
				"name": name, "transaction_ids": part,
			}})
			names = append(names, name)
		}
	}
	p.assign = names
	return out
}

// settle records the result of each row. It also remembers the rows that still match in their new
// state: if a workflow's filter still matches its decided transactions, it must not decide them
// again.
func (p *portion) settle(ctx context.Context, tx pg.Tx, outs []outcome) (decidedLine, error) {
	line := decidedLine{Sheet: p.current.Sheet}
	updates := len(outs) - len(p.assign)
	for i, out := range outs {
		if i < updates {
			p.updated(out)
		} else {
			p.assigned(p.assign[i-updates], out)
		}
	}
	still, err := p.run.def.Open(ctx, tx, p.books, p.still)
	if err != nil {
		return line, err
	}
	if err := p.run.def.Remember(ctx, tx, p.run.live.WorkflowID, still); err != nil {
		return line, err
	}
	open := 0
	for _, d := range p.decisions {
		f := p.filings[d.row]
		if line.Rows = append(line.Rows, *f); f.Outcome == unsure || f.Outcome == rejected {
			open += len(f.Transactions)
		}
	}
	return line, p.run.Store.LeaveOpen(ctx, tx, p.run.live.ID, open)
}

// updated reads the result of update_transactions, which lists what it did not change as requested.
func (p *portion) updated(out outcome) {
	var result struct { // ledger.ToolUpdated, whose ids are short
		Results []ledger.ToolResult `json:"results"`
	}
	if out.err == nil {
		if err := json.Unmarshal([]byte(out.body), &result); err != nil {
			out.err = errs.New(errs.InternalError, "the result is unreadable")
		}
	}
	for _, n := range p.update {
		f := p.filings[n]
		switch {
		case f.Outcome != filed:
			f.Noted = f.Noted || f.Outcome == unsure && out.err == nil && out.route == planned
		case out.err != nil:
			f.Outcome, f.Note = rejected, out.err.Message
		case out.route == planned:
			f.Outcome = asPlanned
		}
		for _, x := range result.Results {
			if !slices.ContainsFunc(f.Transactions, func(u id.ID) bool { return u.Short() == x.TransactionID }) {
				continue
			}
			f.Held = append(f.Held, x.Held...)
			if x.Error != nil && f.Outcome != unsure {
				f.Outcome, f.Note = rejected, x.Error.Message
			}
		}
	}
}

// assigned reads the result of assign_counterparty.
func (p *portion) assigned(name string, out outcome) {
	for _, f := range p.filings {
		if f.Counterparty != name || f.Outcome == rejected {
			continue
		}
		switch {
		case out.err != nil:
			f.Outcome, f.Note = rejected, out.err.Message
		case out.route == planned:
			f.Outcome = asPlanned
		}
	}
}
