package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/spf13/cobra"
)

// A Worker reports whether a server that runs jobs is alive. A caller that uses the database
// directly implements it; a caller that uses a server does not need it.
type Worker interface {
	Working(ctx context.Context) (bool, error)
}

// A task holds the fields of a job that the command line uses.
type task struct {
	ID       string
	ShortID  string `json:"short_id"`
	Kind     string
	State    string
	Status   string
	Progress struct {
		Done  int64
		Total *int64
		Unit  string
	}
	Result     json.RawMessage
	Error      *struct{ Code, Message string }
	FinishedAt *string `json:"finished_at"`
	raw        json.RawMessage
}

func (t *task) ended() bool { return t.FinishedAt != nil }

func readTask(raw []byte) (*task, error) {
	t := &task{raw: raw}
	if err := json.Unmarshal(raw, t); err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	t.State = cmp.Or(t.State, t.Status) // a record with its job's id has a status instead of a state
	return t, nil
}

// starts reports whether the op starts work that continues after the call, so that its command
// waits for the end.
func starts(o *op.Op) bool { return o.IsLong() && o.Writes }

// waitFlags declares the flags for how long a command waits for the work that it starts.
func waitFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("no-wait", false, "return immediately; the job keeps running")
	cmd.Flags().Duration("wait", 0, "wait at most this long, for example 30s; the job keeps running")
}

// patience returns how long a command waits; 0 means until the end.
func patience(cmd *cobra.Command) (limit time.Duration, wait bool) {
	if now, _ := cmd.Flags().GetBool("no-wait"); now {
		return 0, false
	}
	limit, _ = cmd.Flags().GetDuration("wait")
	return limit, limit != 0 || !cmd.Flags().Changed("wait")
}

// A following shows the progress of jobs until they end.
type following struct {
	cli    *CLI
	caller Caller
	began  time.Time
	bar    bool // progress is drawn
	drawn  bool
}

// follow waits for the jobs in a response, and returns the response with their final state. The
// error is the first job's failure.
func (c *CLI) follow(ctx context.Context, cmd *cobra.Command, caller Caller, answer []byte) ([]byte, []*task, error) {
	var orders struct{ Jobs []json.RawMessage }
	if err := json.Unmarshal(answer, &orders); err != nil {
		return nil, nil, fmt.Errorf("read response: %w", err)
	}
	list, several := orders.Jobs, orders.Jobs != nil
	if !several {
		list = []json.RawMessage{answer}
	}
	var tasks []*task
	for _, raw := range list {
		t, err := readTask(raw)
		if err != nil {
			return nil, nil, err
		}
		tasks = append(tasks, t)
	}
	limit, wait := patience(cmd)
	if wait {
		f := &following{cli: c, caller: caller, began: time.Now(), bar: IsTerminal(c.Err)}
		err := f.all(ctx, tasks, limit)
		f.clear()
		if err != nil {
			return nil, nil, err
		}
	}
	if !several {
		return tasks[0].raw, tasks, nil
	}
	now := make([]json.RawMessage, len(tasks))
	for i, t := range tasks {
		now[i] = t.raw
	}
	answer, err := json.Marshal(map[string]any{"jobs": now})
	return answer, tasks, err
}

// all waits until every job has ended, the time limit has passed, or no server is running to work
// on them.
func (f *following) all(ctx context.Context, tasks []*task, limit time.Duration) error {
	show := f.cli.op(f.cli.JobOp)
	for i := range tasks {
		for !tasks[i].ended() && (limit == 0 || time.Since(f.began) < limit) {
			if idle, err := f.idle(ctx, tasks[i]); idle || err != nil {
				return err
			}
			f.draw(tasks)
			answer, err := f.caller.Call(ctx, show, map[string]any{"job_id": tasks[i].ID, "wait": "1s"})
			if ctx.Err() != nil {
				f.clear()
				fmt.Fprintf(f.cli.Err, "Still running. Follow it: coffer job get %s --follow\n",
					tasks[i].ShortID)
				return ctx.Err()
			}
			if err != nil {
				return err
			}
			if tasks[i], err = readTask(answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// idle reports whether a job waits while no server is running, and prints a note if so.
func (f *following) idle(ctx context.Context, t *task) (bool, error) {
	w, ok := f.caller.(Worker)
	if !ok || t.State != "queued" {
		return false, nil
	}
	working, err := w.Working(ctx)
	if err != nil || working {
		return false, err
	}
	fmt.Fprintln(f.cli.Err, "No server is running. The job starts when you run coffer serve.")
	return true, nil
}

// draw shows the progress of the jobs on a line that is overwritten.
func (f *following) draw(tasks []*task) {
	if !f.bar {
		return
	}
	var done, total int64
	known, unit, open := true, "", 0
	for _, t := range tasks {
		done, unit = done+t.Progress.Done, cmp.Or(t.Progress.Unit, unit)
		if t.Progress.Total == nil {
			known = known && t.ended()
		} else {
			total += *t.Progress.Total
		}
		if !t.ended() {
			open++
		}
	}
	const cells = 20
	line := fmt.Sprintf("%d %s", done, unit)
	if known && total > 0 {
		full := int(min(done, total) * cells / total)
		line = fmt.Sprintf("[%s%s] %3d %%  %d of %d %s", strings.Repeat("#", full), strings.Repeat("-", cells-full),
			min(done, total)*100/total, done, total, unit)
	}
	if len(tasks) > 1 {
		line += fmt.Sprintf(", %d of %d jobs", len(tasks)-open, len(tasks))
	}
	fmt.Fprintf(f.cli.Err, "\r\x1b[K%s  %s", line, time.Since(f.began).Round(time.Second))
	f.drawn = true
}

func (f *following) clear() {
	if f.drawn {
		fmt.Fprint(f.cli.Err, "\r\x1b[K")
	}
	f.drawn = false
}

// failure returns the error of the first job that did not succeed, or nil.
func failure(tasks []*task) error {
	for _, t := range tasks {
		switch {
		case t.State == "cancelled":
			return errs.New(errs.Conflict, "job %s was canceled", t.ShortID)
		case t.Error != nil:
			return errs.New(errs.Code(t.Error.Code), "job %s failed: %s", t.ShortID, t.Error.Message)
		}
	}
	return nil
}

// tell prints how jobs ended in one sentence, then the rest of their results.
func (c *CLI) tell(ctx context.Context, caller Caller, tasks []*task) error {
	if len(tasks) == 0 {
		_, err := fmt.Fprintln(c.Out, "No jobs to run.")
		return err
	}
	sums := map[string]int64{}
	var order []string
	open := 0
	for _, t := range tasks {
		if !t.ended() {
			open++
		}
		for _, m := range members(t.Result) {
			if n, ok := m.value.(json.Number); ok {
				if i, err := n.Int64(); err == nil {
					if _, seen := sums[m.name]; !seen {
						order = append(order, m.name)
					}
					sums[m.name] += i
				}
			}
		}
	}
	if open > 0 {
		t := tasks[0]
		if len(tasks) > 1 {
			_, err := fmt.Fprintf(c.Out, "%d of %d jobs still running. List them: coffer job list\n", open,
				len(tasks))
			return err
		}
		_, err := fmt.Fprintf(c.Out, "Job %s (%s) is %s. Follow it: coffer job get %s --follow\n", t.ShortID,
			t.Kind, t.State, t.ShortID)
		return err
	}
	var parts []string
	for i, name := range order {
		if i > 0 && sums[name] == 0 { // only counts above zero, so that the line stays short
			continue
		}
		parts = append(parts, fmt.Sprintf("%d %s", sums[name], strings.ReplaceAll(name, "_", " ")))
	}
	line := "Done"
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	fmt.Fprintln(c.Out, line+".")
	for _, t := range tasks {
		if err := c.tellRest(ctx, caller, t); err != nil {
			return err
		}
	}
	return nil
}

// tellRest prints the fields of a result that are not numbers, and how to undo its change.
func (c *CLI) tellRest(ctx context.Context, caller Caller, t *task) error {
	rest := map[string]any{}
	var undo string
	for _, m := range members(t.Result) {
		if _, number := m.value.(json.Number); number || m.value == nil {
			continue
		}
		if m.name == "change_id" {
			undo = shortID(m.value)
			continue
		}
		if list, ok := m.value.([]any); ok && len(list) == 0 || m.name == "dry_run" {
			continue
		}
		rest[m.name] = m.value
	}
	if len(rest) > 0 {
		c.screen(ctx, caller, t.Result).record(c.Results[t.Kind], rest, "")
	}
	if undo != "" {
		_, err := fmt.Fprintf(c.Out, "Undo: coffer change revert %s\n", undo)
		return err
	}
	return nil
}

// A member is a named value of a result, in the order of the result.
type member struct {
	name  string
	value any
}

func members(raw json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return out
		}
		var v any
		if d.Decode(&v) != nil {
			return out
		}
		out = append(out, member{fmt.Sprint(name), v})
	}
	return out
}

// op returns the op of that name.
func (c *CLI) op(name string) *op.Op {
	for _, o := range c.Ops {
		if o.Name == name {
			return o
		}
	}
	panic("cli: unknown op " + name)
}
