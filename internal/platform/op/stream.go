package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"coffer/internal/platform/pg"
)

const (
	// streamBuffer is the number of bytes up to which an answer is collected before any of it is
	// sent. Smaller answers are sent whole.
	streamBuffer = 256 << 10

	// longestStream limits the time of an answer that is sent row by row, however fast its reader
	// is. The call's timeout limits the time between two writes.
	longestStream = 10 * time.Minute
)

// errEnough ends a list when a tool has enough rows.
var errEnough = errors.New("enough")

// Streaming returns an Op for a use case that lists all rows, one by one. The use case passes each
// row to the given function and stops if that fails. While it passes rows on, it must not hold a
// database connection: it reads some rows, then passes them on. Over REST a long list is sent while
// it is read. A tool's answer is cut to ToolBytes unless the Spec sets Whole.
func Streaming[In, Row any](s Spec, f func(context.Context, pg.Querier, In, func(Row) error) error) *Op {
	o := Reading(s, func(ctx context.Context, q pg.Querier, in In) ([]Row, error) {
		return gather(ctx, s.Whole, func(each func(Row) error) error { return f(ctx, q, in, each) })
	})
	o.stream = streamOf(o, "[", "]", f)
	return o
}

// StreamingIn is Streaming for a list that the answer wraps under a key.
func StreamingIn[In, Row, Out any](s Spec, key string, wrap func([]Row) Out,
	f func(context.Context, pg.Querier, In, func(Row) error) error,
) *Op {
	o := Reading(s, func(ctx context.Context, q pg.Querier, in In) (Out, error) {
		rows, err := gather(ctx, s.Whole, func(each func(Row) error) error { return f(ctx, q, in, each) })
		return wrap(rows), err
	})
	o.stream = streamOf(o, `{"`+key+`":[`, "]}", f)
	return o
}

// StreamingText is Streaming for a text that is written in parts; the Spec's TextOut is its media
// type.
func StreamingText[In any](s Spec, f func(context.Context, pg.Querier, In, func(string) error) error) *Op {
	o := Reading(s, func(ctx context.Context, q pg.Querier, in In) (string, error) {
		var b strings.Builder
		err := f(ctx, q, in, func(part string) error {
			b.WriteString(part)
			return nil
		})
		return b.String(), err
	})
	o.stream = streamOf(o, "", "", f)
	return o
}

// gather returns the whole list, or as much of it as a tool shows.
func gather[Row any](ctx context.Context, whole bool, list func(func(Row) error) error) ([]Row, error) {
	rows, size := []Row{}, 0
	bounded := SurfaceOf(ctx) == Tool && !whole
	err := list(func(r Row) error {
		if bounded {
			b, err := encode(r, false)
			if err != nil {
				return err
			}
			if size += len(b); size > 40*ToolBytes {
				return errEnough
			}
		}
		rows = append(rows, r)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return rows, err
}

// A stream sends a list.
type stream struct {
	before, after string
	rows          func(ctx context.Context, q pg.Querier, args input, each func(any) error) error
}

func streamOf[In, Row any](o *Op, before, after string,
	f func(context.Context, pg.Querier, In, func(Row) error) error,
) *stream {
	return &stream{before, after, func(ctx context.Context, q pg.Querier, args input, each func(any) error) error {
		var in In
		if err := o.read(args, &in); err != nil {
			return fmt.Errorf("op %s: the schema accepted arguments that the struct cannot hold: %w", o.ID(), err)
		}
		return f(ctx, q, in, func(r Row) error { return each(r) })
	}}
}

// AnswerShare returns the limit on how many long lists a process sends at a time.
func AnswerShare() *Share {
	return &Share{
		Total: 8, PerOwner: 4, Patience: 10 * time.Second,
		Own: "other long lists are still being sent to this key; read them one at a time or try again in a few " +
			"seconds",
		Others: "the server is busy sending long lists to other callers; try again in a few seconds",
	}
}

// An outflow is a long answer being sent to its reader.
type outflow struct {
	runner  *Runner
	call    *Call
	buffer  bytes.Buffer
	text    bool // its parts are sent unchanged
	rows    int
	sent    bool
	leave   func() // releases the reader's slot in the database
	release func() // ends its share of the long answers
	stall   *time.Timer
	timeout time.Duration
}

// flow runs a listing op and sends its rows as they come. The answer has a body if all rows fit
// into the buffer; otherwise they have already been sent.
func (r *Runner) flow(ctx context.Context, o *Op, c *Call, args input, timeout time.Duration) (answer Answer,
	err error,
) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &outflow{
		runner: r, call: c, text: o.TextOut != "", release: func() {}, leave: func() {}, timeout: timeout,
	}
	out.stall = time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) })
	defer func() {
		out.stall.Stop()
		out.leave()
		out.release()
		if why := context.Cause(ctx); err != nil && errors.Is(why, context.DeadlineExceeded) {
			err = why
		}
	}()
	if out.leave, err = r.DB.Enter(ctx, pg.Reading, c.Actor.ID.String()); err != nil {
		out.leave = func() {}
		return Answer{}, err
	}
	out.buffer.WriteString(o.stream.before)
	if err := o.stream.rows(ctx, r.DB, args, func(row any) error { return out.add(ctx, row) }); err != nil {
		return Answer{}, err
	}
	out.buffer.WriteString(o.stream.after)
	if !out.sent {
		answer := Answer{Status: o.Status, Body: out.buffer.Bytes()}
		if o.record {
			answer.ETag = etag(answer.Body)
		}
		return answer, nil
	}
	return Answer{Status: o.Status, Sent: true}, out.flush(ctx)
}

func (f *outflow) add(ctx context.Context, row any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if part, ok := row.(string); ok && f.text {
		f.buffer.WriteString(part)
	} else {
		b, err := encode(row, false)
		if err != nil {
			return err
		}
		if f.rows++; f.rows > 1 {
			f.buffer.WriteByte(',')
		}
		f.buffer.Write(b)
	}
	if f.buffer.Len() < streamBuffer {
		return nil
	}
	return f.flush(ctx)
}

// flush sends the buffer. A slow reader does not hold a database connection meanwhile.
func (f *outflow) flush(ctx context.Context) error {
	f.leave()
	f.leave = func() {}
	if !f.sent {
		release, err := f.runner.longAnswers().Take(ctx, f.call.Actor.ID.String(), 1)
		if err != nil {
			return err
		}
		f.sent, f.release = true, release
	}
	if _, err := f.call.Out.Write(f.buffer.Bytes()); err != nil {
		// the reader has disconnected, or does not read
		return fmt.Errorf("send response: %w", errors.Join(err, context.Canceled))
	}
	f.buffer.Reset()
	f.stall.Reset(f.timeout)
	leave, err := f.runner.DB.Enter(ctx, pg.Reading, f.call.Actor.ID.String())
	if err == nil {
		f.leave = leave
	}
	return err
}

// streams reports whether the op's answer to this call is sent row by row.
func (o *Op) streams(c *Call) bool { return o.stream != nil && c.Out != nil }
