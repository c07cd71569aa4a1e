// Package accountmerge takes an account out of the books, together with all its transactions or by
// merging it into another account, as one change that can be reverted. It must not know what a
// transaction means.
package accountmerge

import (
	"context"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/manual"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// RemoveKind is the job that removes an account.
const RemoveKind = "account.remove"

// batchSize is the number of transactions that one database transaction removes, in some tenths of
// a second.
const batchSize = 5000

// Merges removes and merges the accounts of one household.
type Merges struct {
	Config
	size int // of a batch
}

// A Config holds the parts of Merges.
type Config struct {
	Accounts *account.Register
	Books    *ledger.Books
	Links    *accountlink.Links
	Hand     *manual.Manual
	Jobs     *job.Jobs
	// Then are the last steps of a merge. They are the same as those of a sync.
	Then []func(ctx context.Context, run *job.Run, changed bool) error
}

// New returns Merges that use those parts.
func New(c Config) *Merges { return &Merges{c, batchSize} }

// Ops returns the operations that remove and merge accounts.
func (r *Merges) Ops() []*op.Op {
	return []*op.Op{
		op.Long(op.Writing(op.Spec{
			Name: "account.remove", Route: "POST /accounts/{id}/remove", People: op.PeopleUnlessDry, Destructive: true,
			Summary: "Removes an account with all its transactions, as a job; a revert restores both.",
		}, r.Remove), 0, r.Jobs.Await),
		op.Long(op.Writing(op.Spec{
			Name: "account.merge", Route: "POST /accounts/{id}/merge", People: op.PeopleUnlessDry, Destructive: true,
			Summary: "Merges an account into another, as a job: transactions move, and duplicates are " +
				"deleted. A revert restores both accounts.",
		}, r.Merge), 0, r.Jobs.Await),
	}
}

// Kinds returns the jobs that remove and merge accounts. They are never left half done, because
// then transactions would be without their account.
func (r *Merges) Kinds() []job.Kind {
	return []job.Kind{{
		Name: RemoveKind, Unit: "transactions", Work: r.work, Retries: 5, Whole: true,
		Results: []*op.Schema{op.SchemaOf[AccountRemoved]()},
	}, {
		Name: MergeKind, Unit: "transactions", Work: r.mergeAll, Retries: 5, Whole: true,
		Results: []*op.Schema{op.SchemaOf[AccountMerged]()},
	}}
}

// An AccountRemoval is the input of Remove.
type AccountRemoval struct {
	ID     string `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show what would be removed; write nothing"`
}

// An AccountRemoved is the result of a removal.
type AccountRemoved struct {
	AccountID    id.ID           `json:"account_id"`
	Transactions int64           `json:"transactions" doc:"Transactions removed, or to be removed"`
	ChangeID     *id.ID          `json:"change_id" doc:"Id of the change; pass it to revert. null on a dry run"`
	DryRun       bool            `json:"dry_run"`
	Writes       *journal.Writes `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
}

// removing is the argument of the job.
type removing struct {
	Account id.ID `json:"account_id"`
	DryRun  bool  `json:"dry_run,omitempty"`
}

// Remove starts a job that removes an account.
func (r *Merges) Remove(ctx context.Context, tx pg.Tx, in AccountRemoval) (job.Job, error) {
	a, err := r.Accounts.Account(ctx, tx, account.Ref{ID: in.ID})
	if err != nil {
		return job.Job{}, err
	}
	if err := r.Accounts.Removable(ctx, tx, a.ID); err != nil {
		return job.Job{}, err
	}
	return r.Jobs.Enqueue(ctx, tx, RemoveKind, removing{a.ID, in.DryRun}, job.Options{})
}

// A position is the progress of a removal.
type position struct {
	AccountRemoved
	Ended bool `json:"ended"`
}

// work is the job.
func (r *Merges) work(ctx context.Context, run *job.Run) (any, error) {
	var in removing
	if err := run.Args(&in); err != nil {
		return nil, err
	}
	at := position{AccountRemoved: AccountRemoved{AccountID: in.Account, DryRun: in.DryRun}}
	if _, err := run.Position(&at); err != nil {
		return nil, err
	}
	for !at.Ended {
		var next position
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (step job.Step, err error) {
			next = at
			step, err = r.batch(ctx, tx, &next)
			step.Position = next
			return step, err
		})
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at.AccountRemoved, nil
}

// batch removes the account in the first batch, together with the first of its transactions. Later
// batches only concern transactions, so all of them become part of one change, whatever others do
// in the meantime. If somebody reverts the change before the job ends, the job stops.
func (r *Merges) batch(ctx context.Context, tx pg.Tx, at *position) (step job.Step, err error) {
	var entries []journal.Entry
	if at.ChangeID == nil {
		if step.Total, err = r.Accounts.Rows(ctx, tx, at.AccountID); err != nil {
			return step, err
		}
		if at.DryRun {
			at.Transactions, at.Ended = step.Total, true
			at.Writes, err = journal.Needs(ctx, tx, step.Total+1) // plus one for the account
			return step, err
		}
		if entries, err = r.Accounts.Remove(ctx, tx, at.AccountID); err != nil {
			if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Conflict) {
				err = job.Final(err)
			}
			return step, err
		}
	} else {
		going, err := journal.Continue(ctx, tx, at.ChangeID)
		if err != nil || going == nil {
			at.Ended = true
			return step, err
		}
	}
	gone, err := r.Books.RemoveRows(ctx, tx, at.AccountID, r.size)
	if err != nil {
		return step, err
	}
	removed := journal.Touched(gone)
	at.Transactions, at.Ended, step.Done = at.Transactions+int64(removed), removed < r.size, int64(removed)
	at.ChangeID, _, err = journal.Extend(ctx, tx, at.ChangeID,
		journal.Note{
			Did:     journal.Facts{Action: journal.ActionDeleted, Kind: journal.Account, Subject: &at.AccountID},
			Summary: "Removed an account with its transactions",
		}, append(entries, gone...))
	return step, err
}
