package op

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The argument names for how long to wait: a duration over REST and on the command line, seconds
// for a tool.
const (
	waitName     = "wait"
	waitToolName = "wait_seconds"
	maxWait      = 30
)

// Long declares that the op starts work that continues after the call, and lets callers wait for it
// to end. A writing op then returns 202, or 200 if the work has ended.
//
// The wait begins after the commit, even for an answer that an idempotency key had stored, and
// holds neither a connection nor a transaction. How long a caller waits is not part of the call's
// arguments.
//
// toolWait is how long a tool waits by default. wait returns the state of the work when the time is
// over, and whether it has ended.
func Long[Out any](o *Op, toolWait time.Duration, wait func(context.Context, Out, time.Duration) (Out, bool)) *Op {
	limit := maxWait
	o.toolIn = new(*o.In)
	o.toolIn.Props = append(slices.Clone(o.In.Props), Prop{Name: waitToolName, Schema: &Schema{
		Type: "integer", Min: new(0), Max: &limit, Default: json.Number(strconv.Itoa(int(toolWait.Seconds()))),
		Description: "Wait up to this many seconds for the job to end", Agent: "-",
	}})
	o.In.Props = append(o.In.Props, Prop{Name: waitName, In: InQuery, Schema: &Schema{
		Type: "string", Pattern: regexp.MustCompile(`^([0-9]|[12][0-9]|30)s$`),
		Hint: "be a number of seconds up to 30, such as 10s", Example: "10s",
		Description: "Wait up to this long for the job to end; at most 30s",
	}})
	if o.Writes {
		o.Status = http.StatusAccepted
	}
	o.wait = func(ctx context.Context, a Answer, d time.Duration) (any, bool) {
		out, ok := a.out.(Out)
		if !ok && json.Unmarshal(a.Body, &out) != nil { // a stored answer, which only REST has: its body is complete
			return nil, false
		}
		return wait(ctx, out, d)
	}
	return o
}

// IsLong reports whether callers can wait for the work that the op starts.
func (o *Op) IsLong() bool { return o.wait != nil }

// input returns the op's input on that surface.
func (o *Op) input(s Surface) *Schema {
	if s == Tool && o.toolIn != nil {
		return o.toolIn
	}
	return o.In
}

// patience removes from valid arguments how long the caller will wait, and returns it.
func (o *Op) patience(args map[string]any) time.Duration {
	if o.wait == nil {
		return 0
	}
	text, _ := args[waitName].(string)
	if n, ok := args[waitToolName].(json.Number); ok {
		text = n.String()
	}
	delete(args, waitName)
	delete(args, waitToolName)
	n, err := strconv.Atoi(strings.TrimSuffix(text, "s"))
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// Await returns the latest answer after waiting for the work, which the caller has committed. A
// failed wait does not undo the accepted work, so there is no error.
func (o *Op) Await(ctx context.Context, a Answer, s Surface, d time.Duration) Answer {
	if d == 0 || a.Status >= http.StatusBadRequest {
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, d+5*time.Second)
	defer cancel()
	out, ended := o.wait(ctx, a, d)
	if out == nil {
		return a
	}
	now, err := o.answer(out, s)
	if err != nil {
		return a
	}
	now.Replayed, now.Change = a.Replayed, a.Change
	if ended {
		now.Status = http.StatusOK
	}
	return now
}

// ToolLimit gives the op's tool its own default and maximum for limit, because a model reads less
// at once than a program.
func ToolLimit(o *Op, usual, highest int) *Op {
	o.toolIn = new(*o.input(Tool))
	o.toolIn.Props = slices.Clone(o.toolIn.Props)
	limit := o.toolIn.Prop("limit")
	limit.Schema = new(*limit.Schema)
	limit.Max, limit.Default, limit.Nullable = &highest, json.Number(strconv.Itoa(usual)), false
	return o
}
