package accountlink

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The kinds of jobs: one looks for pairs, the other updates very many transactions of a link.
const (
	ReconcileKind = "link.reconcile"
	SettleKind    = "link.settle"
)

// Kinds returns the job kinds of links.
func (l *Links) Kinds() []job.Kind {
	return []job.Kind{
		{
			Name: ReconcileKind, Unit: "transactions", Work: l.work, Retries: 5,
			Results: []*op.Schema{op.SchemaOf[Reconciled]()},
		},
		{Name: SettleKind, Unit: "transactions", Work: l.settleAll, Retries: 5},
	}
}

type reconcileArgs struct {
	Link id.ID `json:"account_link_id"`
}

// Reconcile starts the job that checks both accounts of a link for pairs.
func (l *Links) Reconcile(ctx context.Context, tx pg.Tx, in Ref) (job.Job, error) {
	k, err := l.Get(ctx, tx, in)
	if err != nil {
		return job.Job{}, err
	}
	if k.Confidence == Rejected {
		return job.Job{}, errs.New(errs.Conflict, "this link is rejected and has no pairs; confirm it first")
	}
	return l.jobs.Enqueue(ctx, tx, ReconcileKind, reconcileArgs{k.ID}, job.Options{Unique: k.ID.String()})
}

// enqueue starts the same job after a change to a link. It never joins a running job, which may
// have read the link before the change. If several jobs are waiting, the first sweep does the work
// of all.
func (l *Links) enqueue(ctx context.Context, tx pg.Tx, link id.ID) error {
	if err := l.touch(ctx, tx, link); err != nil {
		return err
	}
	_, err := l.jobs.Enqueue(ctx, tx, ReconcileKind, reconcileArgs{link}, job.Options{})
	return err
}

// Reconciled is the result of the job.
type Reconciled struct {
	Scanned  int64 `json:"scanned" doc:"Transactions checked"`
	Added    int   `json:"added" doc:"New pairs, of any link"`
	Removed  int   `json:"removed" doc:"Pairs that no longer match"`
	Proposed int   `json:"proposed" doc:"New suggested links"`
	Decided  int   `json:"decided" doc:"Suggested transfer links that coffer confirmed by itself"`
	Matches  int   `json:"matches" doc:"Pairs of the link now"`
}

func (l *Links) work(ctx context.Context, run *job.Run) (any, error) {
	var o reconcileArgs
	if err := run.Args(&o); err != nil {
		return nil, err
	}
	var out Reconciled
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		out = Reconciled{}
		err := l.touch(ctx, tx, o.Link)
		if err != nil {
			return job.Step{}, err
		}
		if out, err = l.Sweep(ctx, tx); err != nil {
			return job.Step{}, err
		}
		out.Matches, err = pg.Value[int](ctx, tx, `select count(*) from link_match m
			join account_link l on l.id = m.account_link_id where l.id = $1 and not m.broken
			and m.verdict is distinct from 'rejected' and l.confidence <> 'rejected'`, o.Link)
		return job.Step{Done: out.Scanned, Total: out.Scanned}, err
	})
	return out, err
}

// settleAll updates every transaction of a link's two accounts, one batch at a time. This includes
// transactions whose match no longer exists.
func (l *Links) settleAll(ctx context.Context, run *job.Run) (any, error) {
	var o reconcileArgs
	if err := run.Args(&o); err != nil {
		return nil, err
	}
	type place struct {
		After id.ID `json:"after"`
	}
	var at place
	begun, err := run.Position(&at)
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
			var step job.Step
			accounts, err := l.accounts(ctx, tx, o.Link)
			if err != nil {
				return step, err
			}
			if !begun {
				if step.Total, err = pg.Value[int64](ctx, tx, `select count(*) from transaction t
					where account_id = any($1) and `+journal.BankRow, accounts); err != nil {
					return step, err
				}
			}
			ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction t where account_id = any($1) and id > $2
				and `+journal.BankRow+`
				order by id limit $3`, accounts, at.After, settleSize)
			if more = len(ids) > 0; err != nil || !more {
				return step, err
			}
			step.Position, step.Done = place{ids[len(ids)-1]}, int64(len(ids))
			return step, l.recomputeExclusions(ctx, tx, ids)
		})
		if err != nil {
			return nil, err
		}
		if begun, err = run.Position(&at); err != nil {
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // there is nothing to say but that it is done
}

// accounts returns the two accounts of a link.
func (l *Links) accounts(ctx context.Context, tx pg.Tx, link id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, tx, `select unnest(array[primary_id, mirror_id]) from account_link
		where id = $1`, link)
}

// touch makes the next sweep check both accounts of a link.
func (l *Links) touch(ctx context.Context, tx pg.Tx, link id.ID) error {
	ids, err := l.accounts(ctx, tx, link)
	if err != nil {
		return err
	}
	return l.books.TouchAll(ctx, tx, ids)
}

// AfterSync looks for pairs among new transactions, as the last step of a sync or an import.
func (l *Links) AfterSync(ctx context.Context, run *job.Run, _ bool) error {
	return run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		_, err := l.Sweep(ctx, tx)
		return job.Step{}, err
	})
}

// A sweep reads more days than those that changed. It reads far enough back to see habits, such as
// money that moves once a quarter. On both sides it reads more than the margin, so that every
// decision inside the margin has all the data it depends on.
const (
	reachBack = 400
	reachOn   = 60
	margin    = 30
)

// sweepLock is the key of the advisory lock that lets only one sweep run at a time, on any server.
const sweepLock = 0x6c696e6b

// Sweep checks everything that changed since the last sweep. It proposes links, finds new pairs,
// removes pairs that no longer match, and confirms transfers that all evidence supports. If nothing
// changed, it reads nothing.
func (l *Links) Sweep(ctx context.Context, tx pg.Tx) (Reconciled, error) {
	var out Reconciled
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return out, err
	}
	touched, err := l.books.TakeTouched(ctx, tx)
	if err != nil || len(touched) == 0 {
		return out, err
	}
	// One statement reads up to a million rows while the matcher works on them. On a busy machine
	// that takes longer than the normal limit of a statement.
	if _, err := pg.Exec(ctx, tx, `select set_config('statement_timeout', '15min', true)`); err != nil {
		return out, err
	}
	for _, w := range windows(touched) {
		if err := l.sweep(ctx, tx, w, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// A window is the days that a sweep reads, including both ends.
type window struct{ from, to int }

// inside reports whether the day is far enough from both ends that the window has all its possible
// pairs.
func (w window) inside(day int) bool { return w.from+margin <= day && day <= w.to-margin }

// windows returns the days to read around the changes. Windows that overlap become one.
func windows(touched []ledger.Touched) []window {
	all := make([]window, len(touched))
	for i, t := range touched {
		all[i] = window{dayOf(t.First) - reachBack, dayOf(t.Last) + reachOn}
	}
	slices.SortFunc(all, func(a, b window) int { return a.from - b.from })
	out := all[:1]
	for _, w := range all[1:] {
		if last := &out[len(out)-1]; w.from <= last.to {
			last.to = max(last.to, w.to)
		} else {
			out = append(out, w)
		}
	}
	return out
}

func dayOf(d pg.Date) int { return int(d.Time().Unix() / 86400) }
