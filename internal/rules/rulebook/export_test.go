package rulebook

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// Batches sets the batch size of applications.
func (b *Rulebook) Batches(size int) { b.size = size }

// ApplyWithin is Apply without a job: it runs in tx, so that a test can roll it back.
func (b *Rulebook) ApplyWithin(ctx context.Context, tx pg.Tx, in ApplyRules) (Applied, error) {
	rules, err := b.toApply(ctx, tx, in.RuleIDs)
	if err != nil {
		return Applied{}, err
	}
	a := application{Rules: rules, Filter: in.Filter, Overwrite: in.OverwriteManual}
	p, err := a.pipeline()
	if err != nil {
		return Applied{}, err
	}
	var at position
	for !at.Ended && err == nil {
		_, err = b.batch(ctx, tx, p, a, &at)
	}
	return at.Applied, err
}

// Kept compiles the enabled rules as q sees them, and returns the cached pipeline.
func (b *Rulebook) Kept(ctx context.Context, q pg.Querier) (any, error) {
	_, err := b.active(ctx, q)
	return b.kept.Load(), err
}

// Reach returns the transactions that an application of stored rules would find, and how many it
// reads. It writes nothing.
func (b *Rulebook) Reach(ctx context.Context, q pg.Querier, refs ...string) (hits []id.ID, looked int, err error) {
	rules, err := b.toApply(ctx, q, refs)
	if err != nil {
		return nil, 0, err
	}
	a := application{Rules: rules}
	p, err := a.pipeline()
	if err != nil {
		return nil, 0, err
	}
	s, err := b.scope(ctx, q, p, a)
	if err != nil {
		return nil, 0, err
	}
	hits, _, looked, err = s.next(ctx, q, p, id.ID{})
	return hits, looked, err
}

// ForgetfulKind is a broken application: a batch commits without its position, so a worker that
// resumes it starts again from the beginning. The crash tests must detect that.
func (b *Rulebook) ForgetfulKind() job.Kind {
	k := b.Kinds()[0]
	k.Work = func(ctx context.Context, run *job.Run) (any, error) {
		var a application
		if err := run.Args(&a); err != nil {
			return nil, err
		}
		p, err := a.pipeline()
		if err != nil {
			return nil, err
		}
		var at position
		for !at.Ended {
			err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step,
				error,
			) {
				return b.batch(ctx, tx, p, a, &at)
			})
			if err != nil {
				return nil, err
			}
		}
		return at.Applied, nil
	}
	return k
}
