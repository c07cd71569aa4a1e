package accountmerge

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// MergeKind is the job that merges an account into another.
const MergeKind = "account.merge"

// An AccountMerge is the input of Merge.
type AccountMerge struct {
	ID     string `json:"id" minLength:"1" doc:"The account to merge and remove: UUID or short id"`
	Into   string `json:"into" minLength:"1" doc:"The account to keep, which gets the transactions: UUID or short id"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
}

// An AccountMerged is the result of a merge.
type AccountMerged struct {
	AccountID      id.ID           `json:"account_id" doc:"The removed account"`
	Into           id.ID           `json:"into" doc:"The account that now has its transactions"`
	Moved          int64           `json:"moved" doc:"Transactions moved, or to be moved"`
	Duplicates     int64           `json:"duplicates" doc:"Transactions that the other account already had; they are deleted"`
	DecisionsMoved int64           `json:"decisions_moved" doc:"Categories, counterparties, tags, comments and splits copied from duplicates to the other account's transactions"`
	ChangeID       *id.ID          `json:"change_id" doc:"Id of the change; pass it to revert. null on a dry run, and if the account was already merged"`
	DryRun         bool            `json:"dry_run"`
	Writes         *journal.Writes `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
}

// merging is the argument of the job.
type merging struct {
	Account id.ID `json:"account_id"`
	Into    id.ID `json:"into"`
	DryRun  bool  `json:"dry_run,omitempty"`
}

// Merge starts a job that merges an account into another.
func (r *Merges) Merge(ctx context.Context, tx pg.Tx, in AccountMerge) (job.Job, error) {
	m, err := r.Accounts.Mergeable(ctx, tx, in.ID, in.Into)
	if err != nil {
		return job.Job{}, err
	}
	return r.Jobs.Enqueue(ctx, tx, MergeKind, merging{m.Leaving, m.Into, in.DryRun}, job.Options{})
}

// A mergePosition is the progress of a merge. It does not list the remaining transactions: they are
// those that are still in the account.
type mergePosition struct {
	AccountMerged
	Begun bool `json:"begun"`
	Ended bool `json:"ended"` // everything has moved
}

// mergeAll is the job.
func (r *Merges) mergeAll(ctx context.Context, run *job.Run) (any, error) {
	var in merging
	if err := run.Args(&in); err != nil {
		return nil, err
	}
	at := mergePosition{AccountMerged: AccountMerged{AccountID: in.Account, Into: in.Into, DryRun: in.DryRun}}
	if _, err := run.Position(&at); err != nil {
		return nil, err
	}
	batch := func(f func(context.Context, pg.Tx, *mergePosition) (job.Step, error)) error {
		var next mergePosition
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (step job.Step, err error) {
			next = at
			step, err = f(ctx, tx, &next)
			step.Position = next
			return step, err
		})
		if err == nil {
			at = next
		}
		return err
	}
	if !at.Begun {
		if err := batch(r.beginMerge); err != nil {
			return nil, err
		}
	}
	for !at.Ended {
		var w *mergeWork
		if err := batch(func(ctx context.Context, tx pg.Tx, at *mergePosition) (step job.Step, err error) {
			if w, err = r.readMerge(ctx, tx, at); err != nil {
				return step, err
			}
			at.Ended = len(w.groups) == 0
			if at.Moved+at.Duplicates == 0 {
				step.Total = w.rows
			}
			return step, nil
		}); err != nil {
			return nil, err
		}
		for _, group := range w.groups {
			if err := batch(func(ctx context.Context, tx pg.Tx, at *mergePosition) (job.Step, error) {
				return r.mergeBatch(ctx, tx, at, w.repeats, group)
			}); err != nil {
				return nil, err
			}
			if at.Ended {
				break
			}
		}
		at.Ended = at.Ended || at.DryRun // a dry run moves nothing, so there would always be more
	}
	if at.ChangeID != nil {
		for _, then := range r.Then {
			if err := then(ctx, run, true); err != nil {
				return nil, err
			}
		}
	}
	return at.AccountMerged, nil
}

// beginMerge marks the account as merged into the other, so that nobody adds transactions to it any
// more. Later batches only concern transactions.
func (r *Merges) beginMerge(ctx context.Context, tx pg.Tx, at *mergePosition) (step job.Step, err error) {
	at.Begun = true
	if at.DryRun {
		at.Writes, err = journal.Needs(ctx, tx, 1) // one for the account
		return step, err
	}
	entries, err := r.Accounts.Merge(ctx, tx, at.AccountID, at.Into)
	switch {
	case errs.Is(err, errs.NotFound) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.ValidationError):
		return step, job.Final(err)
	case err != nil:
		return step, err
	case len(entries) == 0: // it was already merged
		at.Ended = true
		return step, nil
	}
	links, err := r.Links.Inherit(ctx, tx, at.AccountID, at.Into)
	if err != nil {
		return step, err
	}
	at.ChangeID, err = journal.Record(ctx, tx, at.note(), append(entries, links...))
	return step, err
}

// note describes the change as the merge of the account, whatever happens to transactions.
func (at *mergePosition) note() journal.Note {
	return journal.Note{Did: journal.Facts{
		Action: journal.ActionMerged, Kind: journal.Account, Subject: &at.AccountID,
		With: map[string]id.ID{journal.WithInto: at.Into},
	}}
}

// mergeWork is the remaining work of a merge.
type mergeWork struct {
	rows    int64
	repeats map[id.ID]id.ID    // maps each transaction to be removed to the one that stays
	groups  [][]ledger.Movable // one group for each batch
}

// readMerge reads which transactions must still be moved, and which of them the other account
// already has. Transactions of one amount are always in the same batch, because the decision which
// of them repeat each other needs all of them. So a run that resumes finds either all or none of
// them.
func (r *Merges) readMerge(ctx context.Context, tx pg.Tx, at *mergePosition) (*mergeWork, error) {
	into, err := r.Accounts.SurvivingOne(ctx, tx, at.AccountID)
	if at.DryRun {
		into = at.Into
	}
	if err != nil {
		return nil, err
	}
	rows, err := r.Books.Movables(ctx, tx, at.AccountID)
	if err != nil {
		return nil, err
	}
	w := &mergeWork{rows: int64(len(rows))}
	for len(rows) > 0 {
		n := min(r.size, len(rows))
		for n < len(rows) && rows[n].Sum == rows[n-1].Sum {
			n++
		}
		w.groups, rows = append(w.groups, rows[:n]), rows[n:]
	}
	w.repeats, err = r.Links.Repeats(ctx, tx, at.AccountID, into)
	return w, err
}

// mergeBatch moves some transactions. If somebody reverts the merge before the job ends, the job
// stops.
func (r *Merges) mergeBatch(ctx context.Context, tx pg.Tx, at *mergePosition, repeats map[id.ID]id.ID,
	group []ledger.Movable,
) (step job.Step, err error) {
	step.Done = int64(len(group))
	if at.DryRun {
		return step, r.tryBatch(ctx, tx, at, repeats, group)
	}
	into, err := r.Accounts.SurvivingOne(ctx, tx, at.AccountID)
	if err != nil {
		return step, err
	}
	if err := r.Accounts.LockForMoves(ctx, tx, at.AccountID, into); err != nil {
		return step, err
	}
	going, err := journal.Continue(ctx, tx, at.ChangeID)
	if err != nil || going == nil || into == at.AccountID {
		at.Ended = true
		return step, err
	}
	entries, err := r.takeOver(ctx, tx, at, into, repeats, group)
	if err != nil {
		return step, err
	}
	ids := make([]id.ID, len(group))
	for i, m := range group {
		ids[i] = m.ID
	}
	moved, err := r.Books.Move(ctx, tx, ids, into)
	if err != nil {
		return step, err
	}
	_, _, err = journal.Extend(ctx, tx, at.ChangeID, at.note(), append(entries, moved...))
	return step, err
}

// tryBatch counts what mergeBatch would write.
func (r *Merges) tryBatch(ctx context.Context, tx pg.Tx, at *mergePosition, repeats map[id.ID]id.ID,
	group []ledger.Movable,
) error {
	subjects := make(map[id.ID]bool, len(group))
	for _, m := range group {
		subjects[m.ID] = true
	}
	_, err := journal.Try(ctx, tx, true, func(ctx context.Context, tx pg.Tx) error {
		entries, err := r.takeOver(ctx, tx, at, at.Into, repeats, group)
		for _, e := range entries {
			subjects[e.SubjectID] = true
		}
		return err
	})
	if err == nil && at.Writes != nil {
		at.Writes, err = journal.Needs(ctx, tx, at.Writes.Needed+int64(len(subjects)))
	}
	return err
}

// takeOver copies people's decisions from the transactions that repeat others to those that stay,
// and deletes the repeating ones. It also updates the counts in at.
func (r *Merges) takeOver(ctx context.Context, tx pg.Tx, at *mergePosition, into id.ID, repeats map[id.ID]id.ID,
	group []ledger.Movable,
) ([]journal.Entry, error) {
	var from, to []id.ID
	for _, m := range group {
		if stays, ok := repeats[m.ID]; ok {
			from, to = append(from, m.ID), append(to, stays)
		}
		if m.Live {
			at.Moved++
		}
	}
	from, to, err := r.Books.StillEqual(ctx, tx, at.AccountID, into, from, to)
	if err != nil || len(from) == 0 {
		return nil, err
	}
	at.Moved, at.Duplicates = at.Moved-int64(len(from)), at.Duplicates+int64(len(from))
	decisions, err := r.Hand.CopyDecisions(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	splits, err := r.Books.MoveSplits(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	at.DecisionsMoved += int64(len(decisions) + len(splits)/2)
	gone, err := r.Books.Bury(ctx, tx, from)
	entries := append(append(decisions, splits...), gone...)
	return entries, err
}
