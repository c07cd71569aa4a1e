package op

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"coffer/internal/pg"
)

type askedKey struct{}

// Calling makes an Op of a writing use case that must ask someone outside, such as a bank, before it can write. What ask answers goes into then, and effect and answer commit together;
// no transaction is open while the outside is asked. With an idempotency key that has an answer already nobody is asked again.
func Calling[In, Asked, Out any](s Spec, ask func(context.Context, pg.Querier, In) (Asked, error), then func(context.Context, pg.Tx, In, Asked) (Out, error)) *Op {
	o := Writing(s, func(ctx context.Context, tx pg.Tx, in In) (Out, error) {
		asked, ok := ctx.Value(askedKey{}).(Asked)
		if !ok {
			var none Out
			return none, errors.New("op " + s.Name + ": nobody was asked")
		}
		return then(ctx, tx, in, asked)
	})
	o.ask = func(ctx context.Context, q pg.Querier, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fmt.Errorf("op %s: the schema let through what the struct cannot hold: %w", o.ID(), err)
		}
		return ask(ctx, q, in)
	}
	return o
}

// Asks reports whether the op asks someone outside.
func (o *Op) Asks() bool { return o.ask != nil }

// asked is ctx with what the outside answered, for an op that asks; a call whose answer is stored needs none.
func (r *Runner) asked(ctx context.Context, o *Op, c *Call, args []byte) (context.Context, error) {
	if o.ask == nil {
		return ctx, nil
	}
	if c.IdempotencyKey != "" {
		stored, err := pg.Value[bool](ctx, r.DB, `select exists (select from idempotency where actor_id = $1 and key = $2 and created_at > now() - make_interval(secs => $3))`,
			c.Actor.credential(), c.IdempotencyKey, IdempotencyWindow.Seconds())
		if err != nil || stored {
			return ctx, err
		}
	}
	answer, err := o.ask(ctx, r.DB, args)
	return context.WithValue(ctx, askedKey{}, answer), err
}
