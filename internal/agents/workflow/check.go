package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/cron"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// neverTools are the tools that no run may use. A sync uses up the limited requests to the
// household's banks. A revert could undo changes of people. A plan cannot store the parts of a
// split. A run must not be able to invent payments, and it has no statement file to import.
var neverTools = []string{
	"trigger_sync", "revert_change", "split_transaction", "add_transaction", "preview_statement", "import_statement",
}

// Tools returns the ops that a run of that scope may have as tools, in the order of the menu.
func (w *Workflows) Tools(scope string) []*op.Op {
	var out []*op.Op
	for _, o := range w.menu() {
		if o.Tool != "" && !slices.Contains(neverTools, o.Tool) && !forPeople(o) &&
			(scope == op.Full.String() || !o.Writes) {
			out = append(out, o)
		}
	}
	return out
}

// forPeople reports whether agents may not call the op at all.
func forPeople(o *op.Op) bool { return o.People.String() == op.PeopleAlways.String() }

func names(ops []*op.Op) []string {
	out := make([]string, len(ops))
	for i, o := range ops {
		out[i] = o.Tool
	}
	return out
}

// check returns the errors of a definition. The schema has checked each field; check compares the
// fields with each other and with the records that they refer to.
func (w *Workflows) check(ctx context.Context, tx pg.Tx, d *Workflow) error {
	if (d.Provider == nil) != (d.Model == nil) {
		return errs.New(errs.ValidationError,
			"pass provider and model together; null for both means the household default")
	}
	if err := d.checkTrigger(ctx, tx); err != nil {
		return err
	}
	if err := w.checkTools(d); err != nil {
		return err
	}
	if err := w.checkWorklist(ctx, tx, d); err != nil {
		return err
	}
	if d.MaxCost != nil && d.MaxCost.IsNeg() {
		return errs.Field("max_cost_usd", "range", "must not be negative; null means no limit")
	}
	if d.MakesRules && d.Scope != op.Full.String() {
		return errs.Field("makes_rules", "conflict", "requires scope full_access")
	}
	seen := map[string]bool{}
	for i, s := range d.PromptBlocks {
		if d.PromptBlocks[i] = strings.ToLower(s); seen[d.PromptBlocks[i]] {
			return errs.Field(fmt.Sprintf("prompt_blocks[%d]", i), "conflict", "is listed twice")
		}
		seen[d.PromptBlocks[i]] = true
	}
	system, err := blockText(ctx, tx, d.PromptBlocks)
	if err == nil && len(system) > maxSystem {
		err = errs.Field("prompt_blocks", "range", "have %d bytes in total; the limit is %d", len(system), maxSystem)
	}
	return err
}

func (d *Workflow) checkTrigger(ctx context.Context, q pg.Querier) error {
	switch {
	case d.Trigger == Schedule && d.Schedule == nil:
		return errs.Field("schedule", "required", "is required with trigger schedule, such as 0 7 * * 1")
	case d.Trigger != Schedule && d.Schedule != nil:
		return errs.Field("schedule", "conflict", "can only be used with trigger schedule")
	case d.Schedule != nil:
		_, err := parseSchedule(ctx, q, *d.Schedule)
		return err
	}
	return nil
}

func (w *Workflows) checkTools(d *Workflow) error {
	if d.Worklist != nil && len(d.Tools) > 0 {
		return errs.Field("tools", "conflict",
			"must be empty with a worklist: such a workflow only has the tool to decide its rows")
	}
	all, allowed := w.menu(), names(w.Tools(d.Scope))
	for i, name := range d.Tools {
		field := fmt.Sprintf("tools[%d]", i)
		at := slices.IndexFunc(all, func(o *op.Op) bool { return o.Tool == name })
		switch {
		case slices.Contains(allowed, name) && slices.Index(d.Tools, name) < i:
			return errs.Field(field, "conflict", "is listed twice")
		case slices.Contains(allowed, name):
		case at < 0:
			return errs.Field(field, "reference", "unknown tool; the tools of this scope are %s",
				strings.Join(allowed, ", "))
		case slices.Contains(neverTools, name) || forPeople(all[at]):
			return errs.Field(field, "conflict", "is reserved for people; workflows can't use it")
		default:
			return errs.Field(field, "conflict", "requires scope full_access, because it writes")
		}
	}
	return nil
}

func (w *Workflows) checkWorklist(ctx context.Context, tx pg.Tx, d *Workflow) error {
	switch {
	case d.Worklist == nil && d.Report == ReportServer:
		return errs.Field("report", "conflict", "server can only be used with a worklist; use message or none")
	case d.Worklist == nil:
		return nil
	case d.Report == ReportMessage:
		return errs.Field("report", "conflict", "message can't be used with a worklist; use server or none")
	case d.Scope != op.Full.String():
		return errs.Field("scope", "conflict", "must be full_access with a worklist, because its decisions are written")
	}
	if d.Worklist.Size == 0 {
		d.Worklist.Size = 25
	}
	for i, s := range d.Worklist.Sets {
		if slices.Index(d.Worklist.Sets, s) < i {
			return errs.Field(fmt.Sprintf("worklist.sets[%d]", i), "conflict", "is listed twice")
		}
	}
	if _, _, err := w.books.Where(ctx, tx, d.Worklist.Filter); err != nil {
		return err
	}
	d.Worklist.Filter = d.Worklist.Filter.Cleaned()
	return nil
}

// firstDue returns when a workflow that was just changed starts by itself. It returns nil if the
// workflow has no schedule, because only a schedule has a known next start.
func firstDue(ctx context.Context, q pg.Querier, d *Workflow) (*pg.Time, error) {
	if !d.Enabled || d.Schedule == nil {
		return nil, nil //nolint:nilnil // the comment says so
	}
	s, err := parseSchedule(ctx, q, *d.Schedule)
	if err != nil {
		return nil, err
	}
	return new(pg.At(s.Next(time.Now()))), nil
}

// parseSchedule reads a schedule. It uses the household's time zone unless the schedule names one.
func parseSchedule(ctx context.Context, q pg.Querier, given string) (cron.Schedule, error) {
	name, err := pg.Value[string](ctx, q, `select time_zone from setting`)
	if err != nil {
		return cron.Schedule{}, err
	}
	zone, err := cron.Zone(name)
	if err != nil {
		return cron.Schedule{}, err
	}
	s, err := cron.Parse(given, zone)
	if err != nil {
		return cron.Schedule{}, errs.Field("schedule", "format", "%s", err)
	}
	return s, nil
}
