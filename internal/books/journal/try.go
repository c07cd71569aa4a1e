package journal

import (
	"context"
	"errors"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Writes is the part of a dry run's result about the limit of writes.
type Writes struct {
	Needed int64 `json:"needed" doc:"Writes the call needs without dry_run"`
	Left   int64 `json:"left" doc:"Writes left today or in this run; if fewer than needed, the call fails"`
}

// A trial counts writes that will be rolled back.
type trial struct{ writes int64 }

type trialKey struct{}

// trying returns the trial that ctx belongs to, or nil.
func trying(ctx context.Context) *trial {
	t, _ := ctx.Value(trialKey{}).(*trial)
	return t
}

// Try runs f in a savepoint. A dry run is rolled back: its changes cost nothing, and Try returns
// their cost in the form of Needs.
func Try(ctx context.Context, tx pg.Tx, dry bool, f func(context.Context, pg.Tx) error) (*Writes, error) {
	if !dry {
		return nil, pg.Savepoint(ctx, tx, func(tx pg.Tx) error { return f(ctx, tx) })
	}
	var t trial
	err := pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		t = trial{}
		if err := f(context.WithValue(ctx, trialKey{}, &t), tx); err != nil {
			return err
		}
		return errDry
	})
	if err != errDry { //nolint:errorlint // our own, straight from above
		return nil, err
	}
	return Needs(ctx, tx, t.writes)
}

// Needs returns the Writes of a dry run that makes this many writes, or nil if the caller has no
// limit.
func Needs(ctx context.Context, q pg.Querier, writes int64) (*Writes, error) {
	actor := op.ActorOf(ctx)
	if actor.ID.IsZero() {
		return nil, nil //nolint:nilnil // the comment says so
	}
	budget, err := trackrecord.BudgetOf(ctx, q, actor.ID, actor.Type == op.Agent)
	if err != nil || budget == nil {
		return nil, err
	}
	return &Writes{Needed: writes, Left: budget.Left}, nil
}

// errDry rolls back a dry run.
var errDry = errors.New("dry run")
