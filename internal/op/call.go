package op

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/pg"
)

// An Actor is who calls: what every write is attributed to, and what it may do.
type Actor struct {
	Type  string // user, agent or system
	ID    id.ID
	Name  string
	Scope Scope

	Key     *id.ID   // the API key that was used, if one was
	Session *id.ID   // the session that was used, if one was
	Token   *id.ID   // the access token that was used, if one was
	Member  *id.ID   // who of the household acts: the one who signed in, or whose key it is; nil for a key that is nobody's
	Role    string   // of that member
	Proved  bool     // the member of a session has proven who they are within the last minutes
	Bond    [32]byte // follows from the credential's text, which is stored nowhere: what is kept for this caller alone is encrypted with it
}

// The roles of members: what a viewer may is reading, and Op.Admin keeps some writing from those who are no admins.
const (
	RoleAdmin  = "admin"
	RoleMember = "member"
	RoleViewer = "viewer"
)

// credential is what this caller's repeated calls are known by: the next session of the same member has another bond, and is another caller.
func (a Actor) credential() id.ID {
	if a.Session != nil {
		return *a.Session
	}
	if a.Token != nil { // so has the next token of a family
		return *a.Token
	}
	return a.ID
}

// The types of actors.
const (
	User   = "user"
	Agent  = "agent"
	System = "system"
)

// A Surface is the road by which a call came.
type Surface string

// The surfaces.
const (
	REST    Surface = "rest"
	Tool    Surface = "tool"
	Command Surface = "command"
)

// ToolBytes is where a tool's page ends early: what is larger crowds an agent's mind.
const ToolBytes = 60_000

// A Call is one request to run an op.
type Call struct {
	Actor          Actor
	Surface        Surface
	Args           map[string]any // one flat set of names, as ParseObject and FromText make it
	RequestID      string
	IdempotencyKey string
	IfMatch        string
}

// An Answer is what an op gave, encoded for the surface.
type Answer struct {
	Status   int    // 400 and above only for a refusal that an idempotency key stored
	Body     []byte // JSON, or text for an op with TextOut; empty when Status says so
	ETag     string // of a single record
	Replayed bool   // the stored answer of an earlier call with the same idempotency key
	out      any    // what Body prints; nil for a stored answer
}

// A Runner runs ops on one database.
type Runner struct {
	DB      *pg.DB
	Log     *slog.Logger
	Observe func(op string, surface Surface, code string, took time.Duration) // metrics; may be nil
	Timeout time.Duration                                                     // of one call; 0 means 30 s
}

// Call is the one way to run a use case: scope, deadline, validation, transaction, idempotency, the call, the error's public face, the log line, the metrics.
// The error it returns is always an *errs.Error that may be shown.
func (r *Runner) Call(ctx context.Context, o *Op, c Call) (Answer, error) {
	start := time.Now()
	timeout := r.Timeout
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	ctx = context.WithValue(ctx, callKey{}, &c)
	answer, patience, err := r.guarded(ctx, timeout, o, &c)
	err = Passing(err)
	face := errs.Public(err, c.RequestID)
	r.report(ctx, o, &c, answer, err, face, time.Since(start))
	if face != nil {
		return Answer{}, face
	}
	return o.await(ctx, answer, c.Surface, patience), nil
}

// Passing makes of a failure that is nobody's mistake one that says so: a database that is away for a moment, a call that was broken off.
func Passing(err error) error {
	switch {
	case err != nil && pg.Away(err):
		return errs.Wrap(err, errs.Unavailable, "the database cannot be reached at the moment; try again")
	case errors.Is(err, context.Canceled):
		return errs.Wrap(err, errs.Unavailable, "the call was broken off") // by its caller, who will not read this, or by our own stop
	}
	return err
}

func (r *Runner) guarded(ctx context.Context, timeout time.Duration, o *Op, c *Call) (answer Answer, patience time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = errs.Panicked(o.ID(), p)
		}
	}()
	if err := o.Allows(c.Actor); err != nil {
		return Answer{}, 0, err
	}
	args, patience, err := o.accept(c.Args, c.Surface)
	if err != nil {
		return Answer{}, 0, err
	}
	if !o.Writes {
		v, err := o.run(ctx, r.DB, args)
		if err != nil {
			return Answer{}, 0, err
		}
		answer, err = o.answer(v, c.Surface)
		return answer, patience, err
	}
	if ctx, err = r.asked(ctx, o, c, args); err != nil {
		return Answer{}, 0, err
	}
	err = r.DB.InTx(ctx, func(tx pg.Tx) error {
		if c.IdempotencyKey != "" {
			answer, err = once(ctx, tx, o, c, args)
			return err
		}
		v, err := o.run(ctx, tx, args)
		if err != nil {
			return err
		}
		answer, err = o.answer(v, c.Surface)
		return err
	})
	return answer, patience, err
}

// Allows says whether the actor may run the op, and if not, why.
func (o *Op) Allows(a Actor) error {
	if err := Allowed(o.Scope, a); err != nil {
		return err
	}
	if o.Admin && o.Scope == Full && a.Role != "" && a.Role != RoleAdmin {
		return errs.New(errs.Forbidden, "only an admin of the household may do this; ask one")
	}
	if o.Proof {
		return Proven(a)
	}
	return nil
}

// Proven refuses a session that was left open: whoever hands power or data out must have signed in a moment ago. Who comes otherwise has no session to leave open.
func Proven(a Actor) error {
	if a.Session != nil && !a.Proved {
		return errs.New(errs.Forbidden, "for this you must have signed in within the last five minutes; sign in again at /login?again=1, then repeat it")
	}
	return nil
}

// Allowed says whether the actor may do what needs that scope, and if not, why.
func Allowed(need Scope, a Actor) error {
	switch {
	case need == Open:
		return nil
	case a.Scope == 0:
		return errs.New(errs.MissingAPIKey, "send an API key in the X-API-Key header; make one with: coffer key create --name me --scope full_access")
	case need > a.Scope && a.Session != nil:
		return errs.New(errs.InsufficientScope, "you may look at everything and change nothing; ask an admin of the household for another role")
	case need > a.Scope:
		return errs.New(errs.InsufficientScope, "this needs a key with scope full_access; this one has %s", a.Scope)
	}
	return nil
}

// accept fills defaults in, holds the arguments against the schema, and prints them for the struct: the canonical form of the call. How long the caller will wait is no part of that.
func (o *Op) accept(given map[string]any, s Surface) ([]byte, time.Duration, error) {
	in := o.input(s)
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
		return nil, 0, errs.New(errs.ValidationError, "the body is empty; give at least one of: %s", strings.Join(o.changeable(), ", "))
	}
	if err := errs.Faults(faults); err != nil {
		return nil, 0, err
	}
	patience := o.patience(args)
	b, err := json.Marshal(args)
	if err != nil {
		return nil, 0, fmt.Errorf("print arguments: %w", err)
	}
	return b, patience, nil
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
	if o.record && s != Tool {
		a.ETag = etag(a.Body)
	}
	return a, nil
}

type callKey struct{}

type actorKey struct{}

// WithActor hands a request's actor to a handler that will make calls for it.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf is who makes the call that ctx belongs to; without one it is the service itself.
func ActorOf(ctx context.Context) Actor {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c.Actor
	}
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Type: System, Name: "coffer"}
}

// ForPeople refuses agents, for things that only people change; what says which. Whoever steers an agent must not get more by it than a person gave it, nor do what nobody can undo.
func ForPeople(ctx context.Context, what string) error {
	if ActorOf(ctx).Type == Agent {
		return errs.New(errs.Forbidden, "%s; ask one", what)
	}
	return nil
}

// Acting is ctx with another actor in the caller's place: the service itself, say, for what follows from a call.
func Acting(ctx context.Context, a Actor) context.Context {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		call := *c
		call.Actor = a
		return context.WithValue(ctx, callKey{}, &call)
	}
	return WithActor(ctx, a)
}

// SurfaceOf is the road by which the call came that ctx belongs to, or "" when the service itself acts.
func SurfaceOf(ctx context.Context) Surface {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c.Surface
	}
	return ""
}

// Match holds the call's If-Match against the record as it is now, which the use case has locked. A use case behind PATCH or PUT calls it before it writes.
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
	return errs.New(errs.PreconditionFailed, "the record has changed since you read it; read it again and repeat your change with its new ETag")
}

// Matches reports whether a header that lists entity tags names this one. If-Match compares strongly, which a weak tag (W/) never passes; If-None-Match does not.
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

// report writes the call's one log line. What callers sent and what banks wrote is not in it.
func (r *Runner) report(ctx context.Context, o *Op, c *Call, a Answer, err error, face *errs.Error, took time.Duration) {
	code, level := "OK", slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("op", o.ID()), slog.String("surface", string(c.Surface)), slog.String("request", c.RequestID),
		slog.String("actor", c.Actor.Type), slog.String("actor_id", c.Actor.ID.Short()), slog.Duration("took", took),
	}
	if face != nil {
		code = string(face.Code)
		if face.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", errs.Told(err)))
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
