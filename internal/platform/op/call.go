package op

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Surface is the interface that a call came through.
type Surface string

// The surfaces.
const (
	REST    Surface = "rest"
	Tool    Surface = "tool"
	Command Surface = "command"
)

// A Note is a remark about a result that its rows cannot express.
type Note struct {
	Code    string `json:"code" enum:"links_proposed,data_ends,stale,gap,no_balance,no_rate,uncategorized,excluded,truncated,recurring_only"`
	Message string `json:"message" doc:"What it means and what to do"`
	Count   *int64 `json:"count,omitempty" doc:"Number of records affected"`
	See     string `json:"see,omitempty" doc:"What shows them: a route, tool or command"`
}

// Truncated returns the note for a result that has no further pages and was cut to keep a tool's
// result small.
func Truncated() []Note {
	return []Note{{Code: "truncated", Message: "more rows match than fit into one result, and this order has " +
		"no more pages; set a limit, request fewer fields or narrow the filters"}}
}

// A Call is one request to run an op.
type Call struct {
	Actor          Actor
	Surface        Surface
	Args           map[string]any // one flat set of names, as ParseObject and FromText return it
	RequestID      string
	IdempotencyKey string
	IfMatch        string
	// Out receives a long answer row by row; nil if the caller wants it whole.
	Out io.Writer
	// Words is the surface whose words errors use; "" for Surface's own.
	Words Surface
	words Words
	op    *Op
	// changed is shared by the copies of a call that Acting makes.
	changed *changed
}

// ChangeHeader is the response header with the id of the change that a call recorded.
const ChangeHeader = "Coffer-Change"

// A changed remembers the change that a call recorded in the journal.
type changed struct {
	by id.ID // the caller; changes of others that follow from the call do not count
	id *id.ID
}

// Changed records which change the call in ctx wrote. The journal calls it, so that every use case
// reports its change and none can forget to.
func Changed(ctx context.Context, change id.ID) {
	if c, ok := ctx.Value(callKey{}).(*Call); ok && c.changed != nil && c.changed.by == c.Actor.ID {
		c.changed.id = &change
	}
}

// An Answer is an op's result, encoded for the surface.
type Answer struct {
	Status   int    // 400 and above only for an error that an idempotency key stored
	Body     []byte // JSON, or text for an op with TextOut; empty for a status without a body
	ETag     string // of a single record
	Change   *id.ID // the change that the call recorded; nil if it recorded none
	Sent     bool   // the body went to Call.Out
	Replayed bool   // the stored answer of an earlier call with the same idempotency key
	// Aside is a tool's remark about a Body that is a list, which has no room for it.
	Aside Tree
	out   any // the value that Body encodes; nil for a stored answer
}

// Text returns a tool's answer as a model reads it: the body, and the remarks about it.
func (a Answer) Text() string {
	if len(a.Aside) == 0 {
		return string(a.Body)
	}
	return string(a.Body) + "\n" + a.Remarks()
}

// Remarks returns the remarks about a body that is a list.
func (a Answer) Remarks() string { return string(printed(a.Aside)) }

// A Runner runs ops on one database.
type Runner struct {
	DB      *pg.DB
	Log     *slog.Logger
	Observe func(op string, surface Surface, code string, took time.Duration) // metrics; may be nil
	Timeout time.Duration                                                     // of one call; 0 means 30 s
	Words   Words                                                             // the ops that errors name

	Candidates map[string]Candidates // records that a misspelled name may mean, by kind of record
	Heavy      *Share                // of the calls of heavy ops; nil means HeavyShare
	Answers    *Share                // of long answers; nil means AnswerShare

	once    sync.Once
	heavy   *Share
	answers *Share
}

// Call is the only way to run a use case: scope, deadline, validation, transaction, idempotency,
// the call, the public form of the error, the log line, the metrics. The error it returns is always
// an *errs.Error that may be shown.
func (r *Runner) Call(ctx context.Context, o *Op, c Call) (Answer, error) {
	start := time.Now()
	c.op = o
	c.words = r.Words
	c.changed = &changed{by: c.Actor.ID}
	ctx = context.WithValue(ctx, callKey{}, &c)
	answer, patience, err := r.guarded(ctx, r.timeout(), o, &c)
	err = Passing(r.suggestSoon(ctx, o, c.Args, err))
	face := errs.Public(r.Words.On(c.reader(), err), c.RequestID)
	r.report(ctx, o, &c, answer, err, face, time.Since(start))
	if face != nil {
		return Answer{}, face
	}
	return o.Await(ctx, answer, c.Surface, patience), nil
}

// suggestSoon is suggest outside a transaction, where it can be canceled.
func (r *Runner) suggestSoon(ctx context.Context, o *Op, args map[string]any, err error) error {
	if ActorOf(ctx).OnlyAdds { // it must not learn names by guessing
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return r.suggest(ctx, r.DB, o, args, err)
}

// timeout returns the maximum duration of a call.
func (r *Runner) timeout() time.Duration {
	if r.Timeout == 0 {
		return 30 * time.Second
	}
	return r.Timeout
}

func (r *Runner) guarded(ctx context.Context, timeout time.Duration, o *Op, c *Call) (answer Answer,
	patience time.Duration, err error,
) {
	stretch := timeout
	timeout += o.Outside
	if o.streams(c) {
		timeout = longestStream
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = errs.Panicked(o.ID(), p)
		}
		err = ended(ctx, err)
	}()
	if err := o.Allows(c.Actor); err != nil {
		return Answer{}, 0, err
	}
	if err := errors.Join(o.forPeopleGiven(c.Actor, c.Args), o.addsGiven(c.Actor, c.Args)); err != nil {
		return Answer{}, 0, err
	}
	args, patience, err := o.accept(c)
	if err != nil {
		return Answer{}, 0, err
	}
	release, err := r.turn(ctx, o, c)
	if err != nil {
		return Answer{}, 0, err
	}
	defer release()
	if o.streams(c) {
		answer, err = r.flow(ctx, o, c, args, stretch)
		return answer, patience, err
	}
	if ctx, err = r.asked(ctx, o, c, args); err != nil {
		return Answer{}, 0, err
	}
	if !o.Writes {
		leave, err := r.DB.Enter(ctx, pg.Reading, c.Actor.ID.String())
		if err != nil {
			return Answer{}, 0, err
		}
		defer leave()
		v, err := o.run(ctx, r.DB, args)
		if err != nil {
			return Answer{}, 0, err
		}
		answer, err = o.answerTo(c, v)
		return answer, patience, err
	}
	leave, err := r.DB.Enter(ctx, pg.Writing, c.Actor.ID.String())
	if err != nil {
		return Answer{}, 0, err
	}
	defer leave()
	err = r.DB.InTx(ctx, func(tx pg.Tx) error {
		c.changed.id = nil // from an attempt that was rolled back
		if c.IdempotencyKey != "" {
			answer, err = once(ctx, tx, o, c, args)
			return err
		}
		v, err := o.run(ctx, tx, args)
		if err != nil {
			return err
		}
		answer, err = o.answerTo(c, v)
		answer.Change = c.changed.id
		return err
	})
	return answer, patience, err
}

// Allows returns nil if the actor may run the op, else an error with the reason.
func (o *Op) Allows(a Actor) error {
	if a.OnlyAdds && o.Adds != nil {
		a.OnlyAdds = false // the op is one of those that the key may call
	}
	if err := Allowed(o.Scope, a); err != nil {
		return err
	}
	if o.Own && a.Session == nil {
		return errs.New(errs.NotFound, "this route is for signed-in members; sign in first")
	}
	if o.AdminsOnly() && a.Plain {
		return Confidential(a)
	}
	if o.AdminsOnly() && a.Role != "" && a.Role != RoleAdmin {
		return errs.New(errs.Forbidden, "only admins can do this")
	}
	if err := o.forPeople(a); err != nil {
		return err
	}
	if o.Proof {
		return Proven(a)
	}
	return nil
}

// Allowed returns nil if the actor has that scope, else an error with the reason.
func Allowed(need Scope, a Actor) error {
	switch {
	case need == Open:
		return nil
	case a.Scope == 0:
		return errs.New(errs.MissingAPIKey,
			"send an API key in the X-API-Key header; create one: coffer key create --name me --scope full_access")
	case need > a.Scope && a.Session != nil:
		return errs.New(errs.InsufficientScope,
			"your role is view-only; ask an admin to change it")
	case need > a.Scope && a.Run != nil:
		return errs.New(errs.InsufficientScope,
			"this workflow is read_only and this call requires full_access")
	case need > a.Scope:
		return errs.New(errs.InsufficientScope, "this call requires a key with scope full_access; this key "+
			"is %s", a.Scope)
	case a.OnlyAdds:
		return errs.New(errs.Forbidden, "this key may only add transactions, and read the names of accounts and "+
			"payees; use another key")
	}
	return nil
}

// accept fills in defaults, validates the arguments and prints them as canonical JSON, which the
// use case's struct is read from. The canonical JSON does not include how long the caller will
// wait.
func (o *Op) accept(c *Call) (input, time.Duration, error) {
	given, in := c.Args, o.input(c.Surface)
	args := in.filled(given)
	changes := 0
	for name := range given {
		if p := in.Prop(name); p != nil && p.In != InPath {
			changes++
		}
	}
	var faults []errs.Detail
	in.validate(args, "", &faults)
	if len(faults) == 0 && o.Method == http.MethodPatch && changes == 0 {
		if c.reader() == Command {
			return input{}, 0, errs.New(errs.ValidationError, "nothing to change; pass at least one of: --%s",
				strings.ReplaceAll(strings.Join(o.changeable(), ", --"), "_", "-"))
		}
		return input{}, 0, errs.New(errs.ValidationError, "the body is empty; provide at least one of: %s",
			strings.Join(o.changeable(), ", "))
	}
	if err := errs.Faults(faults); err != nil {
		return input{}, 0, err
	}
	patience := o.patience(args)
	c.keyed(o, args)
	body := o.lift(args)
	b, err := json.Marshal(args)
	if err != nil {
		return input{}, 0, fmt.Errorf("print arguments: %w", err)
	}
	return input{b, body}, patience, nil
}

func (o *Op) changeable() []string {
	var names []string
	for _, p := range o.In.Props {
		if p.In != InPath {
			names = append(names, p.Name)
		}
	}
	return names
}

func (o *Op) answer(v any, s Surface) (Answer, error) {
	a := Answer{Status: o.Status, out: v}
	if text, ok := v.(string); ok && o.TextOut != "" {
		a.Body = []byte(text)
		return a, nil
	}
	if o.Status == http.StatusNoContent && s == REST {
		return a, nil
	}
	if s == Tool && o.shape != nil {
		v = o.shape(v)
	}
	var err error
	if a.Body, err = encode(v, s == Tool); err != nil {
		return Answer{}, err
	}
	if s == Tool {
		o.finish(&a)
	} else if o.record {
		a.ETag = etag(a.Body)
	}
	return a, nil
}

type callKey struct{}

type actorKey struct{}

// WithActor passes a request's actor to a handler that will make calls for it.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

type originKey struct{}

// An Origin is where a request came from.
type Origin struct {
	Address string // of the caller, as far as the server knows it
	Agent   string // the program that the caller uses, in its own words
}

// From passes on where a request came from.
func From(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns where the request of ctx came from; it is empty for a call that was not made
// over the network.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// ActorOf returns the actor of the call that ctx belongs to, or the service itself if there is no
// call.
func ActorOf(ctx context.Context) Actor {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c.Actor
	}
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Type: System, Name: "coffer"}
}

// Acting returns ctx with another actor in the caller's place, such as the service itself for
// effects that follow from a call.
func Acting(ctx context.Context, a Actor) context.Context {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		call := *c
		call.Actor = a
		return context.WithValue(ctx, callKey{}, &call)
	}
	return WithActor(ctx, a)
}

// Given reports whether the caller gave that argument, even if it equals the default.
func Given(ctx context.Context, name string) bool {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		return false
	}
	_, given := c.Args[name]
	return given
}

// SurfaceOf returns the surface of the call that ctx belongs to, or "" if the service itself acts.
func SurfaceOf(ctx context.Context) Surface {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c.Surface
	}
	return ""
}

// Match compares the call's If-Match with the current record, which the use case has locked. A use
// case behind PATCH or PUT calls it before it writes.
func Match(ctx context.Context, record any) error {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok || c.IfMatch == "" || c.IfMatch == "*" {
		return nil
	}
	b, err := encode(record, false)
	if err != nil {
		return err
	}
	if Matches(c.IfMatch, etag(b), true) {
		return nil
	}
	return errs.New(errs.PreconditionFailed,
		"the record has changed since you read it; read it again and repeat the change with its new ETag")
}

// Matches reports whether a header that lists entity tags contains this one. If-Match compares
// strongly, so a weak tag (W/) never matches; If-None-Match compares weakly.
func Matches(header, tag string, strong bool) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if !strong {
			part = strings.TrimPrefix(part, "W/")
		}
		if part == tag {
			return true
		}
	}
	return header == "*"
}

// report writes the one log line of a call. It contains nothing that callers sent or banks wrote.
func (r *Runner) report(ctx context.Context, o *Op, c *Call, a Answer, err error, face *errs.Error,
	took time.Duration,
) {
	code, level := "OK", slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("op", o.ID()), slog.String("surface", string(c.Surface)), slog.String("request", c.RequestID),
		slog.String("actor", c.Actor.Type), slog.String("actor_id", c.Actor.ID.Short()), slog.Duration("took", took),
	}
	if face != nil {
		code = string(face.Code)
		if face.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
			level = slog.LevelError
			if face.Code == errs.Unavailable && face.After > 0 {
				level = slog.LevelWarn // only contention: nobody needs to act
			}
			attrs = append(attrs, slog.String("error", errs.LogText(err)))
		}
	}
	if a.Status >= http.StatusBadRequest {
		code = "REFUSED"
	}
	attrs = append(attrs, slog.String("code", code), slog.Bool("replayed", a.Replayed))
	if r.Log != nil {
		r.Log.LogAttrs(ctx, level, "call", attrs...)
	}
	if r.Observe != nil {
		r.Observe(o.ID(), c.Surface, code, took)
	}
}
