package op

import (
	"context"
	"errors"
	"fmt"

	"coffer/internal/platform/pg"
)

type askedKey struct{}

// Calling returns an Op for a writing use case that must first ask an outside service, such as a
// bank. The result of ask is passed to then, whose effect and answer commit together. No
// transaction is open during ask. If an idempotency key already has a stored answer, ask is not
// called.
func Calling[In, Asked, Out any](s Spec, ask func(context.Context, pg.Querier, In) (Asked, error),
	then func(context.Context, pg.Tx, In, Asked) (Out, error),
) *Op {
	o := Writing(s, func(ctx context.Context, tx pg.Tx, in In) (Out, error) {
		asked, ok := ctx.Value(askedKey{}).(Asked)
		if !ok {
			var none Out
			return none, errors.New("op " + s.Name + ": nobody was asked")
		}
		return then(ctx, tx, in, asked)
	})
	o.ask = asking(o, ask)
	return o
}

// asking reads the input for ask.
func asking[In, Asked any](o *Op, ask func(context.Context, pg.Querier, In) (Asked, error)) func(context.Context,
	pg.Querier, input) (any, error) {
	return func(ctx context.Context, q pg.Querier, args input) (any, error) {
		var in In
		if err := o.read(args, &in); err != nil {
			return nil, fmt.Errorf("op %s: the schema accepted arguments that the struct cannot hold: %w", o.ID(), err)
		}
		return ask(ctx, q, in)
	}
}

// Asking returns an Op for a reading use case that must first ask an outside service. No connection
// to the database is taken during ask.
func Asking[In, Asked, Out any](s Spec, ask func(context.Context, pg.Querier, In) (Asked, error),
	then func(context.Context, pg.Querier, In, Asked) (Out, error),
) *Op {
	o := Reading(s, func(ctx context.Context, q pg.Querier, in In) (Out, error) {
		asked, ok := ctx.Value(askedKey{}).(Asked)
		if !ok {
			var none Out
			return none, errors.New("op " + s.Name + ": nobody was asked")
		}
		return then(ctx, q, in, asked)
	})
	o.ask = asking(o, ask)
	return o
}

// Asks reports whether the op asks an outside service.
func (o *Op) Asks() bool { return o.ask != nil }

// asked returns ctx with the outside service's result, for an op that asks. A call whose answer is
// stored needs none.
func (r *Runner) asked(ctx context.Context, o *Op, c *Call, args input) (context.Context, error) {
	if o.ask == nil {
		return ctx, nil
	}
	if c.IdempotencyKey != "" {
		stored, err := pg.Value[bool](ctx, r.DB, `select exists (select from idempotency
			where actor_id = $1 and key = $2 and created_at > now() - make_interval(secs => $3))`,
			c.Actor.credential(), c.IdempotencyKey, IdempotencyWindow.Seconds())
		if err != nil || stored {
			return ctx, err
		}
	}
	answer, err := o.ask(ctx, r.DB, args)
	return context.WithValue(ctx, askedKey{}, answer), err
}
