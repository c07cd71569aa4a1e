package run

import (
	"context"
	"slices"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/ledger"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// answersPerSheet is how often the model may answer for a sheet: once, and twice more for rows that
// it did not answer in a usable way.
const answersPerSheet = 3

// barrenSheets is how many sheets in a row without any usable answer end the run.
const barrenSheets = 2

// wrongCodes is how many wrong codes in a row end the run.
const wrongCodes = 2

// The bodies of lines that only runs with sheets have.
type (
	// sheetLine opens a sheet. Rows are the transactions of each row.
	sheetLine struct {
		Text       string    `json:"text"`
		Untrusted  bool      `json:"untrusted"`
		Sheet      int       `json:"sheet"`
		Rows       [][]id.ID `json:"rows"`
		Categories []string  `json:"categories,omitempty"`
		Tags       []string  `json:"tags,omitempty"`
		Precedents []string  `json:"precedents,omitempty"` // in an eval: people's earlier decisions, by row
	}
	// decidedLine holds the results of rows of a sheet.
	decidedLine struct {
		Sheet     int         `json:"sheet"`
		Rows      []placement `json:"rows,omitempty"`
		WrongCode bool        `json:"wrong_code,omitempty"`
	}
)

// A placement is the result of a row.
type placement struct {
	Row          int      `json:"row"`
	Transactions []id.ID  `json:"transactions"`
	Outcome      string   `json:"outcome"`
	Category     string   `json:"category,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Counterparty string   `json:"counterparty,omitempty"`
	Note         string   `json:"note,omitempty"`
	Held         []string `json:"held,omitempty"`
	Noted        bool     `json:"noted,omitempty"` // left to a person, with a planned comment
}

// The outcomes of a row.
const (
	filed      = "filed"
	asPlanned  = "planned"
	unsure     = "unsure"     // left to a person, with a note
	unanswered = "unanswered" // left to a person: the model gave no usable answer
	moved      = "moved"      // somebody else decided it first
	rejected   = "rejected"   // the change was rejected; the note has the reason
	asMeasured = "measured"   // decided in an eval, which changes nothing
)

// sheets is the mode of a workflow with a worklist. For each sheet of rows it begins a new
// conversation. The model has one tool, which can only refer to those rows.
type sheets struct {
	books *ledger.Books
	tool  []llm.Tool

	// The following fields are the state after the lines up to seen.
	seen    int
	work    *workflow.Work
	current sheetLine
	sheet   sheet // the current sheet as the model sees it, with its categories and tags
	filings []placement
	open    map[int]bool // unanswered rows of the current sheet
	asked   int          // number of answers in this conversation
	wrong   int          // wrong codes in a row
	barren  int          // sheets in a row with no answered row
}

func (s *sheets) tools(r *run) []llm.Tool {
	if s.tool == nil {
		s.tool = []llm.Tool{decideFor(*r.def.Worklist)}
	}
	return s.tool
}

// read updates the state with the lines that were added since the last call.
func (s *sheets) read(r *run) error {
	for ; s.seen < len(r.state.lines); s.seen++ {
		l := r.state.lines[s.seen]
		switch l.Kind {
		case workflow.LineWork:
			work, err := body[workflow.Work](l)
			if err != nil {
				return err
			}
			s.work = &work
		case workflow.LineSystem:
			s.asked = 0
		case workflow.LineAssistant:
			s.asked++
		case workflow.LineUser:
			b, err := body[sheetLine](l)
			if err != nil {
				return err
			}
			if b.Sheet > 0 {
				s.begin(b)
			}
		case workflow.LineDecided:
			b, err := body[decidedLine](l)
			if err != nil {
				return err
			}
			s.take(b)
		}
	}
	return nil
}

func (s *sheets) begin(b sheetLine) {
	s.current, s.open = b, map[int]bool{}
	s.sheet = sheet{categories: b.Categories, tags: b.Tags, rows: make([]sheetRow, len(b.Rows))}
	for i := range b.Rows {
		s.open[i+1] = true
	}
}

func (s *sheets) take(b decidedLine) {
	if s.wrong++; !b.WrongCode {
		s.wrong = 0
	}
	usable := 0
	for _, f := range b.Rows {
		delete(s.open, f.Row)
		if f.Outcome != unanswered {
			usable++
		}
	}
	switch {
	case usable > 0:
		s.barren = 0
	case len(b.Rows) == len(s.current.Rows):
		s.barren++
	}
	s.filings = append(s.filings, b.Rows...)
}

// openRows returns the numbers of the unanswered rows, in order.
func (s *sheets) openRows() []int {
	var out []int
	for n := range s.open {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// next continues with the sheet, or opens the next one. It does not ask the model again if every
// row has an answer.
func (s *sheets) next(ctx context.Context, r *run) ([]workflow.Say, bool, error) {
	if err := s.read(r); err != nil {
		return nil, false, err
	}
	if s.work == nil {
		return s.openWork(ctx, r)
	}
	if say, more, err := s.goOn(ctx, r, s, answersPerSheet); more || err != nil {
		return say, false, err
	}
	return s.openNext(ctx, r, *s.work)
}

// A sheeted mode can read its lines and give up the unanswered rows of a sheet.
type sheeted interface {
	read(r *run) error
	giveUp(ctx context.Context, r *run) error
}

// goOn asks about the same sheet again, or gives up its unanswered rows. It ends the run if the
// model gives no usable answers.
func (s *sheets) goOn(ctx context.Context, r *run, mode sheeted, limit int) (say []workflow.Say, more bool, err error) {
	if len(s.open) > 0 {
		if s.asked < limit {
			return s.again(r), true, nil
		}
		if err := mode.giveUp(ctx, r); err != nil {
			return nil, false, err
		}
		if err := mode.read(r); err != nil {
			return nil, false, err
		}
	}
	if s.barren >= barrenSheets {
		return nil, false, failed(errs.ProviderError, "the model gave no usable answer for %d sheets in a row; choose "+
			"a model that can call tools, and test it with {model.test}", barrenSheets)
	}
	return nil, false, nil
}

// again returns the message that asks the model about the same sheet again. It returns none after a
// tool call, because the model then gets the result of the call.
func (s *sheets) again(r *run) []workflow.Say {
	last := r.state.last
	if last == nil || len(last.Calls) > 0 {
		return nil
	}
	return []workflow.Say{user("Nothing was decided. Call the tool decide with the code and all rows.")}
}

// openWork selects the transactions that the run works on.
func (s *sheets) openWork(ctx context.Context, r *run) ([]workflow.Say, bool, error) {
	work, err := r.def.Take(ctx, r.DB, s.books, r.live.WorkflowID)
	if err != nil {
		return nil, false, err
	}
	say := []workflow.Say{
		{Kind: workflow.LineDefinition, Body: definitionLine{r.live.Definition, r.live.Hash}},
		{Kind: workflow.LineWork, Body: work},
	}
	more, done, err := s.openNext(ctx, r, work)
	if err != nil || !done {
		return append(say, more...), false, err
	}
	err = r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) { return say, nil })
	return nil, true, err
}

// openNext opens the next sheet that has rows. Rows whose transactions were deleted are left out.
func (s *sheets) openNext(ctx context.Context, r *run, work workflow.Work) ([]workflow.Say, bool, error) {
	size := min(max(r.def.Worklist.Size, 1), workflow.MaxSheet)
	for n := s.current.Sheet; n*size < len(work.Rows); n++ {
		rows := work.Rows[n*size : min((n+1)*size, len(work.Rows))]
		made, err := buildSheet(ctx, r.DB, *r.def.Worklist, rows)
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
		line := sheetLine{Text: asked, Untrusted: true, Sheet: n + 1, Categories: made.categories, Tags: made.tags}
		for _, row := range made.rows {
			line.Rows = append(line.Rows, row.ids)
		}
		return []workflow.Say{
			{Kind: workflow.LineSystem, Body: textLine{Text: sheetSystem(r.live.ID, r.def)}},
			{Kind: workflow.LineUser, Body: line},
		}, false, nil
	}
	return nil, true, nil
}

// giveUp leaves rows to people if the model gave no usable answer for them.
func (s *sheets) giveUp(ctx context.Context, r *run) error {
	return r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		line := decidedLine{Sheet: s.current.Sheet}
		var ids []id.ID
		for _, n := range s.openRows() {
			mine := s.current.Rows[n-1]
			line.Rows = append(line.Rows, placement{Row: n, Transactions: mine, Outcome: unanswered})
			ids = append(ids, mine...)
		}
		if err := r.def.Remember(ctx, tx, r.live.WorkflowID, ids); err != nil {
			return nil, err
		}
		if err := r.Store.LeaveOpen(ctx, tx, r.live.ID, len(ids)); err != nil {
			return nil, err
		}
		return []workflow.Say{{Kind: workflow.LineDecided, Body: line}}, nil
	})
}

// call carries out a call of decide.
func (s *sheets) call(ctx context.Context, r *run, c call) error {
	if err := s.read(r); err != nil {
		return err
	}
	if c.Tool != decideTool {
		return r.refuse(ctx, c, errs.New(errs.Forbidden,
			"there is one tool, decide; call it with the code and all rows"))
	}
	args, err := op.ParseObject(c.Arguments)
	if err != nil {
		return r.refuse(ctx, c, errs.Public(err, r.live.ID.Short()))
	}
	if !codeRight(args, codeOf(r.live.ID)) {
		return s.wrongCode(ctx, r, c)
	}
	decisions, faults := readDecisions(args, *r.def.Worklist, s.sheet, s.open)
	p := &portion{sheets: s, run: r, decisions: decisions}
	left := s.openRows()
	left = slices.DeleteFunc(left, func(n int) bool {
		return slices.ContainsFunc(decisions, func(d decision) bool { return d.row == n })
	})
	return r.performIn(ctx, c, p.opCalls, func(ctx context.Context, tx pg.Tx, out []outcome) (string, bool,
		[]workflow.Say, error,
	) {
		line, err := p.settle(ctx, tx, out)
		if err != nil {
			return "", false, nil, err
		}
		return returned(len(decisions), faults, left), len(decisions) == 0, []workflow.Say{
			{Kind: workflow.LineDecided, Body: line},
		}, nil
	})
}

// wrongCode rejects an answer whose model has not read its instructions. The message does not
// contain the right code, because then the model could repeat it without having read the
// instructions.
func (s *sheets) wrongCode(ctx context.Context, r *run, c call) error {
	const why = "the code is not the one in the first line of your instructions, so nothing was done; read that line " +
		"and call decide again"
	err := r.batch(ctx, job.Step{}, func(context.Context, pg.Tx) ([]workflow.Say, error) {
		e := errs.New(errs.ValidationError, why)
		return []workflow.Say{
			c.line(refused, why),
			{Kind: workflow.LineResult, Body: resultLine{Call: c.ID, N: c.N, IsError: true, Content: face(e)}},
			{Kind: workflow.LineDecided, Body: decidedLine{Sheet: s.current.Sheet, WrongCode: true}},
		}, nil
	})
	if err != nil {
		return err
	}
	if err := s.read(r); err != nil {
		return err
	}
	if s.wrong < wrongCodes {
		return nil
	}
	return failed(errs.ProviderError, "the model does not know the first line of its instructions, so its "+
		"answers were not used: the model server cuts prompts that are too long for its context; give it 16,000 "+
		"tokens or more (for Ollama, OLLAMA_CONTEXT_LENGTH=16384 or num_ctx in the Modelfile), or make the sheets of "+
		"the workflow smaller, and test it with {model.test}")
}

// finish writes the report about the run.
func (s *sheets) finish(ctx context.Context, tx pg.Tx, r *run, limit string) ([]workflow.Say, error) {
	if err := s.read(r); err != nil {
		return nil, err
	}
	if r.def.Report != "server" || s.work == nil || len(s.filings) == 0 {
		return nil, nil
	}
	made, err := s.report(ctx, tx, r, limit)
	if err != nil {
		return nil, err
	}
	stored, err := r.Reports.Create(op.Acting(ctx, r.actor), tx, made)
	if err != nil {
		return nil, err
	}
	return nil, r.Store.Reported(ctx, tx, r.live.ID, stored.ID)
}
