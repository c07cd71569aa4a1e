package op

import (
	"context"
	"errors"
	"strconv"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// CallIn is Call within tx: the op's writes commit with tx, and an error undoes only the op's own
// writes. It also returns how long the caller asked to wait; after the commit Op.Await waits that
// long.
//
// An error that is not an *errs.Error means that tx cannot continue, or must be run again. It is
// returned unchanged, so that the opener of tx can run it again.
//
// Each statement may take as long as a call. A statement that takes longer fails, and tx stays
// usable. A call of many statements that takes twice that time is canceled together with tx.
func (r *Runner) CallIn(ctx context.Context, tx pg.Tx, o *Op, c Call) (Answer, time.Duration, error) {
	start := time.Now()
	c.op, c.words, c.changed = o, r.Words, &changed{by: c.Actor.ID}
	c.Out, c.IdempotencyKey = nil, "" // no rows are sent before tx commits, and tx may run again
	ctx = context.WithValue(ctx, callKey{}, &c)
	answer, patience, err := r.within(ctx, tx, o, &c)
	if lost(err) {
		return Answer{}, 0, err
	}
	if err != nil {
		looked := pg.Savepoint(ctx, tx, func(sp pg.Tx) error {
			err = r.suggest(ctx, sp, o, c.Args, err)
			return errLooked // rolled back, because a failed lookup must not break tx
		})
		if lost(looked) {
			return Answer{}, 0, looked
		}
	}
	err = Passing(err)
	face := errs.Public(r.Words.On(c.reader(), err), c.RequestID)
	r.report(ctx, o, &c, answer, err, face, time.Since(start))
	if face != nil {
		return Answer{}, 0, face
	}
	return answer, patience, nil
}

var errLooked = errors.New("only looked")

// lost reports whether the transaction in which err occurred cannot continue.
func lost(err error) bool {
	return err != nil && (pg.Retryable(err) || pg.Away(err) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded))
}

func (r *Runner) within(ctx context.Context, tx pg.Tx, o *Op, c *Call) (answer Answer, patience time.Duration,
	err error,
) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.Panicked(o.ID(), p)
		}
	}()
	if o.ask != nil {
		return Answer{}, 0, errs.New(errs.Forbidden,
			"this call contacts an outside service, which isn't possible here; ask a member of the household "+
				"to do it")
	}
	if err := o.Allows(c.Actor); err != nil {
		return Answer{}, 0, err
	}
	if err := o.forPeopleGiven(c.Actor, c.Args); err != nil {
		return Answer{}, 0, err
	}
	args, patience, err := o.accept(c)
	if err != nil {
		return Answer{}, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*r.timeout())
	defer cancel()
	release, err := r.turn(ctx, o, c)
	if err != nil {
		return Answer{}, 0, err
	}
	defer release()
	err = pg.Savepoint(ctx, tx, func(sp pg.Tx) error {
		before, err := statementTime(ctx, sp, strconv.FormatInt(r.timeout().Milliseconds(), 10))
		if err != nil {
			return err
		}
		v, err := o.run(ctx, sp, args)
		if err != nil {
			return err
		}
		if answer, err = o.answerTo(c, v); err != nil {
			return err
		}
		answer.Change = c.changed.id
		_, err = statementTime(ctx, sp, before) // a rollback restores it by itself
		return err
	})
	return answer, patience, err
}

// statementTime sets how long a statement may take until the transaction ends, and returns the
// previous value.
func statementTime(ctx context.Context, tx pg.Tx, limit string) (string, error) {
	return pg.Value[string](ctx, tx, `
		with previous as materialized (select current_setting('statement_timeout') as value)
		select value from previous where set_config('statement_timeout', $1, true) is not null`, limit)
}
