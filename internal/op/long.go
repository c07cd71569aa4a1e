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

// The names by which a caller says how long to wait: a duration over REST and on the command line, seconds for a tool.
const (
	waitName     = "wait"
	waitToolName = "wait_seconds"
	maxWait      = 30
)

// Long says that the op's answer tells of work which goes on after the call, and gives callers a way to wait for its end. A writing op then answers 202, or 200 when the work has ended.
// The wait begins after the commit, also of an answer that an idempotency key had stored, and holds nothing; how long somebody waits is no part of what he asks for.
// toolWait is what a tool waits when it does not say. wait answers the work as it is when the time is over, and whether it has ended.
func Long[Out any](o *Op, toolWait time.Duration, wait func(context.Context, Out, time.Duration) (Out, bool)) *Op {
	most := maxWait
	o.toolIn = new(*o.In)
	o.toolIn.Props = append(slices.Clone(o.In.Props), Prop{Name: waitToolName, Schema: &Schema{
		Type: "integer", Min: new(0), Max: &most, Default: json.Number(strconv.Itoa(int(toolWait.Seconds()))),
		Description: "Wait up to so many seconds for the end",
	}})
	o.In.Props = append(o.In.Props, Prop{Name: waitName, In: InQuery, Schema: &Schema{
		Type: "string", Pattern: regexp.MustCompile(`^([0-9]|[12][0-9]|30)s$`), Hint: "be a number of seconds up to 30, such as 10s", Example: "10s",
		Description: "Wait up to so long for the end; at most 30s",
	}})
	if o.Writes {
		o.Status = http.StatusAccepted
	}
	o.wait = func(ctx context.Context, a Answer, d time.Duration) (any, bool) {
		out, ok := a.out.(Out)
		if !ok && json.Unmarshal(a.Body, &out) != nil { // a stored answer, which only REST has: its body is the whole of it
			return nil, false
		}
		return wait(ctx, out, d)
	}
	return o
}

// IsLong reports whether callers can wait for the end of what the op begins.
func (o *Op) IsLong() bool { return o.wait != nil }

// input is what the op takes on that surface.
func (o *Op) input(s Surface) *Schema {
	if s == Tool && o.toolIn != nil {
		return o.toolIn
	}
	return o.In
}

// patience takes out of valid arguments how long the caller will wait.
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

// await gives the answer anew when the work has moved on. Failing to wait does not undo what was accepted, so there is no error.
func (o *Op) await(ctx context.Context, a Answer, s Surface, d time.Duration) Answer {
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
	now.Replayed = a.Replayed
	if ended {
		now.Status = http.StatusOK
	}
	return now
}
