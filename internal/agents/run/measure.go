package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"coffer/internal/agents/eval"
	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Evals find the decisions that an eval compares a model with.
type Evals interface {
	// Labels returns the newest decisions of people, oldest first.
	Labels(ctx context.Context, q pg.Querier, sample int) ([]eval.Label, error)
	// Windows cuts the labels into parts, each with the moment as of which the model decides.
	Windows(labels []eval.Label, windows int) []eval.Window
	// Items returns the items for a window's labels in the books that q reads.
	Items(ctx context.Context, q pg.Querier, labels []eval.Label, offered []string) ([]eval.EvaluationItem,
		error)
	// Primaries returns the primary category of each category, by slug, in the books that q reads.
	Primaries(ctx context.Context, q pg.Querier) (map[string]string, error)
}

// unrebuilt are the tools that read the journal, or texts about it. In the books as of a moment
// this data is not rolled back, so a model in an eval does not have these tools.
var unrebuilt = []string{
	"list_changes", "list_annotations", "explain_transaction", "list_reports", "list_workflows", "get_job",
}

// measuring is the mode of an eval: sheets of transactions that people have decided, in the books
// as they were before. The model's decisions are not written into the books.
type measuring struct {
	sheets
	part  *evalWork
	place []evalSheet
}

// The bodies of lines that only evals have.
type (
	// evalWork holds the items of an eval by window. Rows is only for code that counts rows.
	evalWork struct {
		Rows      [][]id.ID             `json:"rows"`
		Windows   []evalWindow          `json:"windows"`
		Labels    eval.EvaluationLabels `json:"labels"`
		Primaries map[string]string     `json:"primaries"`
	}
	evalWindow struct {
		AsOf  pg.Time               `json:"as_of"`
		Items []eval.EvaluationItem `json:"items"`
	}
)

// An evalSheet is the items of a sheet, and the moment of the books from which the model decides.
type evalSheet struct {
	asOf  pg.Time
	items []eval.EvaluationItem
}

func (m *measuring) tools(r *run) []llm.Tool {
	if m.tool == nil {
		m.tool = []llm.Tool{decideFor(*r.def.Worklist)}
		for _, name := range m.lookWith(r) {
			m.tool = append(m.tool, described(r.tools[name]))
		}
	}
	return m.tool
}

// lookWith returns the reading tools of a workflow without a worklist.
func (m *measuring) lookWith(r *run) []string {
	if len(r.def.Tools) == 0 {
		return nil
	}
	return slices.DeleteFunc(r.allowed(), func(name string) bool {
		return r.tools[name].Writes || slices.Contains(unrebuilt, name)
	})
}

// read updates the state with the lines that were added since the last call.
func (m *measuring) read(r *run) error {
	if m.part == nil {
		for _, l := range r.state.lines {
			if l.Kind != workflow.LineWork {
				continue
			}
			part, err := body[evalWork](l)
			if err != nil {
				return err
			}
			m.part = &part
			size := min(max(r.def.Worklist.Size, 1), workflow.MaxSheet)
			for _, w := range part.Windows {
				for items := range slices.Chunk(w.Items, size) {
					m.place = append(m.place, evalSheet{w.AsOf, items})
				}
			}
		}
	}
	return m.sheets.read(r)
}

// then runs f in the books as of a moment, and rolls everything back. It returns the fields that
// could not be reverted.
func (r *run) then(ctx context.Context, tx pg.Tx, moment pg.Time, f func(context.Context, pg.Tx) error) (
	left []journal.Skipped, err error,
) {
	_, err = r.Journal.RehearseIn(ctx, tx, journal.Rehearsal{}, func(ctx context.Context, tx pg.Tx) (err error) {
		if left, err = r.Journal.AsOf(ctx, tx, moment); err != nil {
			return err
		}
		return f(ctx, tx)
	})
	if errs.Is(err, errs.ValidationError) {
		err = failed(errs.ValidationError, "too much has changed since those decisions to rebuild the data of that "+
			"time; choose a smaller sample")
	}
	return left, err
}

func (m *measuring) next(ctx context.Context, r *run) ([]workflow.Say, bool, error) {
	if err := m.read(r); err != nil {
		return nil, false, err
	}
	if m.part == nil {
		if err := m.openWork(ctx, r); err != nil {
			return nil, false, err
		}
		if err := m.read(r); err != nil {
			return nil, false, err
		}
	}
	if say, more, err := m.goOn(ctx, r, m, r.def.PerSheet); more || err != nil {
		return say, false, err
	}
	return m.openNext(ctx, r)
}

// openWork finds the items and stores them. Decisions that people make later are left to the next
// eval.
func (m *measuring) openWork(ctx context.Context, r *run) error {
	return r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		labels, err := r.Evals.Labels(ctx, tx, r.def.Eval.Sample)
		if err != nil {
			return nil, err
		}
		work := evalWork{Rows: [][]id.ID{}, Windows: []evalWindow{}, Primaries: map[string]string{}}
		for i, w := range r.Evals.Windows(labels, r.def.Eval.Windows) {
			asked, err := m.window(ctx, tx, r, w, &work)
			if err != nil {
				return nil, err
			}
			for n, item := range asked {
				asked[n].Window = i + 1
				work.Rows = append(work.Rows, []id.ID{item.TransactionID})
				if item.Kind == eval.LabelHeld {
					work.Labels.Held++
				} else {
					work.Labels.Confirmed++
				}
			}
			work.Labels.Unanswerable += len(w.Labels) - len(asked)
			work.Windows = append(work.Windows, evalWindow{w.AsOf, asked})
		}
		return []workflow.Say{
			{Kind: workflow.LineDefinition, Body: definitionLine{r.live.Definition, r.live.Hash}},
			{Kind: workflow.LineWork, Body: work},
		}, nil
	})
}

// window returns the items of a window. It leaves out a transaction with a field that could not be
// reverted, because the model might see the right answer.
func (m *measuring) window(ctx context.Context, tx pg.Tx, r *run, w eval.Window, work *evalWork) (
	items []eval.EvaluationItem, err error,
) {
	left, err := r.then(ctx, tx, w.AsOf, func(ctx context.Context, tx pg.Tx) error {
		all, err := choices(ctx, tx)
		if err != nil {
			return err
		}
		var offered []string
		for _, c := range all {
			if c.Kind == "category" {
				offered = append(offered, c.Slug)
			}
		}
		primaries, err := r.Evals.Primaries(ctx, tx)
		if err != nil {
			return err
		}
		maps.Copy(work.Primaries, primaries)
		items, err = r.Evals.Items(ctx, tx, w.Labels, offered)
		return err
	})
	if items == nil {
		items = []eval.EvaluationItem{}
	}
	return slices.DeleteFunc(items, func(i eval.EvaluationItem) bool {
		return slices.ContainsFunc(left, func(s journal.Skipped) bool { return s.SubjectID == i.TransactionID })
	}), err
}

// openNext opens the next sheet.
func (m *measuring) openNext(ctx context.Context, r *run) ([]workflow.Say, bool, error) {
	for n := m.current.Sheet; n < len(m.place); n++ {
		var rows [][]id.ID
		for _, i := range m.place[n].items {
			rows = append(rows, []id.ID{i.TransactionID})
		}
		var made sheet
		err := r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
			_, err := r.then(ctx, tx, m.place[n].asOf, func(ctx context.Context, tx pg.Tx) (err error) {
				made, err = buildSheet(ctx, tx, *r.def.Worklist, rows)
				return err
			})
			return nil, err
		})
		if err != nil {
			return nil, false, err
		}
		if len(made.rows) == 0 {
			continue
		}
		asked, err := made.text()
		if err != nil {
			return nil, false, err
		}
		line := sheetLine{Text: asked, Untrusted: true, Sheet: n + 1, Categories: made.categories}
		for _, row := range made.rows {
			line.Rows, line.Precedents = append(line.Rows, row.ids), append(line.Precedents, row.decidedBefore())
		}
		return []workflow.Say{
			{Kind: workflow.LineSystem, Body: textLine{Text: sheetSystem(r.live.ID, r.def)}},
			{Kind: workflow.LineUser, Body: line},
		}, false, nil
	}
	return nil, true, nil
}

// decidedBefore returns the category that people chose most often for the row's payee, or "".
func (r sheetRow) decidedBefore() string {
	for _, p := range r.Before {
		if p.who == "user" {
			return p.what
		}
	}
	return ""
}

// giveUp records the rows for which the model gave no usable answer.
func (m *measuring) giveUp(ctx context.Context, r *run) error {
	return r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) {
		line := decidedLine{Sheet: m.current.Sheet}
		for _, n := range m.openRows() {
			line.Rows = append(line.Rows, placement{Row: n, Transactions: m.current.Rows[n-1], Outcome: unanswered})
		}
		return []workflow.Say{{Kind: workflow.LineDecided, Body: line}}, nil
	})
}

// call records a decision, or calls a reading tool in the books of the sheet.
func (m *measuring) call(ctx context.Context, r *run, c call) error {
	if err := m.read(r); err != nil {
		return err
	}
	args, err := op.ParseObject(c.Arguments)
	if err != nil {
		return r.refuse(ctx, c, errs.Public(err, r.live.ID.Short()))
	}
	if c.Tool != decideTool {
		return m.look(ctx, r, c, args)
	}
	if !codeRight(args, codeOf(r.live.ID)) {
		return m.wrongCode(ctx, r, c)
	}
	decisions, faults := readDecisions(args, *r.def.Worklist, m.sheet, m.open)
	line := decidedLine{Sheet: m.current.Sheet}
	for _, d := range decisions {
		p := placement{Row: d.row, Transactions: m.current.Rows[d.row-1], Outcome: unsure, Note: d.note}
		if d.sure {
			p.Outcome, p.Category = asMeasured, d.category
		}
		line.Rows = append(line.Rows, p)
	}
	left := slices.DeleteFunc(m.openRows(), func(n int) bool {
		return slices.ContainsFunc(decisions, func(d decision) bool { return d.row == n })
	})
	return r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) {
		return []workflow.Say{
			c.line(done, ""),
			{Kind: workflow.LineResult, Body: resultLine{
				Call: c.ID, N: c.N, IsError: len(decisions) == 0, Content: returned(len(decisions), faults, left),
			}},
			{Kind: workflow.LineDecided, Body: line},
		}, nil
	})
}

// look calls a reading tool in the books as of the sheet's moment.
func (m *measuring) look(ctx context.Context, r *run, c call, args map[string]any) error {
	allowed := m.lookWith(r)
	if !slices.Contains(allowed, c.Tool) {
		return r.refuse(ctx, c, errs.New(errs.Forbidden, "this run has no tool of that name; its tools are: %s",
			strings.Join(append([]string{decideTool}, allowed...), ", ")))
	}
	return r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		var out outcome
		_, err := r.then(ctx, tx, m.place[m.current.Sheet-1].asOf, func(ctx context.Context, tx pg.Tx) (err error) {
			out, err = r.callIn(ctx, tx, opCall{tool: c.Tool, args: args}, verdict{route: done})
			return err
		})
		if err != nil {
			return nil, err
		}
		return []workflow.Say{c.line(done, ""), {Kind: workflow.LineResult, Body: resultLine{
			Call: c.ID, N: c.N, IsError: out.err != nil, Untrusted: true, Content: out.body,
		}}}, nil
	})
}

// finish computes the figures from the answers, and stores them with the run.
func (m *measuring) finish(ctx context.Context, tx pg.Tx, r *run, _ string) ([]workflow.Say, error) {
	if err := m.read(r); err != nil || m.part == nil {
		return nil, err
	}
	items, err := m.answers(r)
	if err != nil {
		return nil, err
	}
	figures, err := r.Store.Evaluated(ctx, tx, r.live, eval.Measured{
		Asking: *r.def.Eval, Windows: len(m.part.Windows), Labels: m.part.Labels, Items: items,
		Primaries: m.part.Primaries,
	})
	return []workflow.Say{note("%s", figures.Message)}, err
}

// answers returns the model's items, each with its answer.
func (m *measuring) answers(r *run) ([]eval.EvaluationItem, error) {
	byID := map[id.ID]eval.EvaluationItem{}
	for _, w := range m.part.Windows {
		for _, i := range w.Items {
			byID[i.TransactionID] = i
		}
	}
	for _, l := range r.state.lines {
		if l.Kind != workflow.LineUser {
			continue
		}
		b, err := body[sheetLine](l)
		if err != nil {
			return nil, err
		}
		for n, earlier := range b.Precedents {
			if i := byID[b.Rows[n][0]]; earlier != "" {
				i.Precedent = &earlier
				byID[i.TransactionID] = i
			}
		}
	}
	out := []eval.EvaluationItem{}
	for _, f := range m.filings {
		i, ok := byID[f.Transactions[0]]
		if !ok {
			continue
		}
		if f.Outcome == asMeasured {
			i.Answer = &f.Category
		}
		out = append(out, i)
	}
	return out, nil
}
