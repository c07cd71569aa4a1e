package journal

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// UndoKind is the job that undoes more than one call can.
const UndoKind = "undo"

const (
	// undoEntries is up to how many entries changes are undone together in the call.
	undoEntries = 20_000
	// undoChanges is up to how many changes are undone in the call: each takes some milliseconds.
	undoChanges = 2_000
	// undoMost is how many changes a job undoes.
	undoMost = 20_000
	// undoListed is how many changes the answer lists; all are counted.
	undoListed = 200
)

// Undo undoes many changes: those that are named, or all that somebody made in a time.
type Undo struct {
	*Journal
	jobs *job.Jobs
}

// NewUndo returns the undo of the journal's changes.
func NewUndo(j *Journal, jobs *job.Jobs) *Undo { return &Undo{j, jobs} }

// UndoChanges is the input of Undo.Call.
type UndoChanges struct {
	ChangeID  *string    `json:"change_id,omitempty" minLength:"1" doc:"One change: its UUID or short id" agent:"-"`
	ChangeIDs []string   `json:"change_ids,omitempty" maxItems:"100" doc:"Several changes, in any order" agent:"-"`
	Mine      bool       `json:"mine,omitempty" doc:"All changes that you made since the given time" agent:"All that you changed since then"`
	ActorID   *string    `json:"actor_id,omitempty" minLength:"1" doc:"All changes that the member, key or assistant with this UUID made since the given time"`
	Workflow  *string    `json:"workflow_slug,omitempty" minLength:"1" maxLength:"64" doc:"All changes that runs of this workflow made since the given time" example:"review-queue"`
	Since     *pg.Moment `json:"since,omitempty" doc:"With mine, actor_id or workflow_slug: the date or time from which on changes are undone" agent:"With mine: date or time"`
	Until     *pg.Moment `json:"until,omitempty" doc:"With mine, actor_id or workflow_slug: only changes before this date or time"`
	Cause     *string    `json:"cause,omitempty" enum:"api,tool,rule,sync,import,workflow_run,revert" doc:"With mine, actor_id or workflow_slug: only changes of this cause"`
	DryRun    bool       `json:"dry_run,omitempty" doc:"Report what would happen and write nothing" agent:"-"`
}

// An Undone says what undoing several changes did.
type Undone struct {
	Changes  int            `json:"changes" doc:"Number of changes that are undone"`
	Results  []UndoneChange `json:"results" doc:"Each change, newest first: the first 200"`
	Reverted int            `json:"reverted" doc:"Number of fields restored"`
	Skipped  []Skipped      `json:"skipped" doc:"Fields that were not restored, with the reason: the first 200"`
	ByReason map[string]int `json:"skipped_by_reason" doc:"Number of fields not restored, by reason"`
	JobID    *id.ID         `json:"job_id" doc:"The job that undoes them, if they are too many for one call"`
	DryRun   bool           `json:"dry_run"`
}

// An UndoneChange is the fate of one of the changes.
type UndoneChange struct {
	ChangeID id.ID          `json:"change_id"`
	Summary  text.Untrusted `json:"summary" doc:"Untrusted: it may name a payee as the bank wrote it"`
	RevertID *id.ID         `json:"revert_id" doc:"The change made by the revert; null if there was nothing left to undo, and on a dry run"`
	Reverted int            `json:"reverted" doc:"Number of fields restored"`
	Skipped  int            `json:"skipped" doc:"Number of fields not restored"`
}

// check says what is wrong with the choice of changes.
func (in UndoChanges) check(ctx context.Context) error {
	ways := 0
	for _, given := range []bool{
		in.ChangeID != nil, len(in.ChangeIDs) > 0, in.Mine, in.ActorID != nil, in.Workflow != nil,
	} {
		if given {
			ways++
		}
	}
	byTime := in.Mine || in.ActorID != nil || in.Workflow != nil
	switch {
	case ways != 1:
		return errs.New(errs.ValidationError,
			"give exactly one of change_id, change_ids, mine, actor_id and workflow_slug")
	case byTime && in.Since == nil:
		return errs.Field("since", "required",
			"must be given with mine, actor_id and workflow_slug: a date or a time")
	case !byTime && (in.Since != nil || in.Until != nil || in.Cause != nil):
		return errs.New(errs.ValidationError, "since, until and cause go with mine, actor_id or workflow_slug only")
	case (in.ActorID != nil || in.Workflow != nil) && op.ActorOf(ctx).Type == op.Agent:
		return errs.New(errs.Forbidden, "an agent can undo a time of its own only: use mine, or name the changes")
	}
	return nil
}

// Call undoes the changes, newest first: in the call, or by a job if they are very many. A change
// that is named by change_id is always undone in the call.
func (u *Undo) Call(ctx context.Context, tx pg.Tx, in UndoChanges) (Undone, error) {
	if err := in.check(ctx); err != nil {
		return Undone{}, err
	}
	if in.ChangeID != nil {
		return u.one(ctx, tx, *in.ChangeID, in.DryRun)
	}
	list, err := u.chosen(ctx, tx, in)
	if err != nil {
		return Undone{}, err
	}
	return u.undoAll(ctx, tx, list, in.DryRun)
}

// UndoActor undoes everything that an actor did, such as a workflow run with the jobs that it
// started: newest first, in the call, or by a job if it is very much.
func (u *Undo) UndoActor(ctx context.Context, tx pg.Tx, actor id.ID, dry bool) (Undone, error) {
	list, err := u.chosen(ctx, tx, UndoChanges{ActorID: new(actor.String())})
	if err != nil {
		return Undone{}, err
	}
	return u.undoAll(ctx, tx, list, dry)
}

// undoAll undoes these changes, which are newest first.
func (u *Undo) undoAll(ctx context.Context, tx pg.Tx, list []Change, dry bool) (Undone, error) {
	entries := 0
	for _, c := range list {
		entries += c.Entries
	}
	// A call has 30 seconds, which the import of a long statement takes too.
	if (entries > undoEntries || len(list) > undoChanges) && (len(list) > 1 || !dry) {
		if dry {
			return Undone{}, errs.New(errs.ValidationError,
				"these are %d changes of %d fields, too many for a dry run; choose a shorter time", len(list), entries)
		}
		return u.enqueue(ctx, tx, list)
	}
	var out Undone
	undo := func(tx pg.Tx) error {
		out = newUndone(dry)
		if err := u.lockAll(ctx, tx, list); err != nil {
			return err
		}
		for _, c := range list {
			if err := u.add(ctx, tx, c.ID, &out); err != nil {
				return err
			}
		}
		if dry {
			return errDry
		}
		return nil
	}
	if err := pg.Savepoint(ctx, tx, undo); err != nil && !errors.Is(err, errDry) {
		return Undone{}, err
	}
	return out, nil
}

func newUndone(dry bool) Undone {
	return Undone{Results: []UndoneChange{}, Skipped: []Skipped{}, ByReason: map[string]int{}, DryRun: dry}
}

// one is Revert with the answer of Call.
func (u *Undo) one(ctx context.Context, tx pg.Tx, ref string, dry bool) (Undone, error) {
	c, err := u.Get(ctx, tx, ChangeRef{ref})
	if err != nil {
		return Undone{}, err
	}
	c, f, err := u.joined(ctx, tx, c.ID)
	if err != nil {
		return Undone{}, err
	}
	done, err := u.restore(ctx, tx, c, f, dry)
	out := newUndone(dry)
	out.take(c, done)
	return out, err
}

// add undoes one change of several. What was reverted in the meantime stays as it is.
func (u *Undo) add(ctx context.Context, tx pg.Tx, change id.ID, out *Undone) error {
	c, f, err := u.joined(ctx, tx, change)
	if err != nil || c.RevertedBy != nil {
		return err
	}
	done, err := u.restore(ctx, tx, c, f, false)
	out.take(c, done)
	return err
}

// take adds what the revert of a change did.
func (u *Undone) take(c Change, done Reverted) {
	result := UndoneChange{ChangeID: c.ID, Summary: c.Summary, Reverted: done.Reverted}
	if done.Change != nil && !u.DryRun {
		result.RevertID = &done.Change.ID
	}
	for reason, n := range done.ByReason {
		result.Skipped += n
		u.ByReason[reason] += n
	}
	u.Changes++
	u.Reverted += done.Reverted
	u.Skipped = append(u.Skipped, done.Skipped[:min(len(done.Skipped), mostSkipped-len(u.Skipped))]...)
	if len(u.Results) < undoListed {
		u.Results = append(u.Results, result)
	}
}

// chosen returns the changes to undo, newest first.
func (u *Undo) chosen(ctx context.Context, tx pg.Tx, in UndoChanges) ([]Change, error) {
	if len(in.ChangeIDs) > 0 {
		return u.named(ctx, tx, in.ChangeIDs)
	}
	where, err := u.matching(ctx, tx, ListChanges{
		Mine: in.Mine, ActorID: in.ActorID, Since: in.Since, Until: in.Until, Cause: in.Cause,
	})
	if err != nil {
		return nil, err
	}
	if in.Workflow != nil {
		ran, err := pg.Value[bool](ctx, tx, `select exists (select from workflow_run where workflow_slug = $1)`,
			*in.Workflow)
		if err != nil {
			return nil, err
		}
		if !ran {
			return nil, errs.Field("workflow_slug", "unknown",
				"no workflow with this slug has run; {workflow.list} lists the workflows")
		}
		where.And("c.actor_id in (select id from workflow_run where workflow_slug = $?)", *in.Workflow)
	}
	list, err := newest(ctx, tx, where, undoMost+1)
	if err != nil {
		return nil, err
	}
	if len(list) > undoMost {
		return nil, errs.New(errs.ValidationError, "these are more than %d changes; choose a shorter time", undoMost)
	}
	return withoutPairs(list), nil
}

// named returns the changes that a caller named, newest first, each once.
func (u *Undo) named(ctx context.Context, tx pg.Tx, refs []string) ([]Change, error) {
	texts, uuids := pg.Split(refs)
	list, err := pg.All[Change](ctx, tx, changeRows+` where c.id = any($1::uuid[]) or c.short_id = any($2)`, uuids,
		texts)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, 2*len(list))
	for _, c := range list {
		known[c.ID.String()], known[c.ShortID] = true, true
	}
	for _, ref := range refs {
		if !known[ref] && !known[strings.ToLower(ref)] {
			return nil, noChange(pg.ErrNoRow)
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(b.Seq, a.Seq) })
	return list, nil
}

// withoutPairs leaves out changes that were made and wholly taken back within the list. Undoing
// both would write them once more to end where they are.
func withoutPairs(list []Change) []Change {
	at, out := make(map[id.ID]int, len(list)), make([]bool, len(list))
	for i, c := range list {
		at[c.ID] = i
	}
	for i, c := range list {
		if out[i] || c.Reverts == nil {
			continue
		}
		if j, ok := at[*c.Reverts]; ok && !out[j] && list[j].Entries == c.Entries {
			out[i], out[j] = true, true
		}
	}
	kept := make([]Change, 0, len(list))
	for i, c := range list {
		if !out[i] {
			kept = append(kept, c)
		}
	}
	return kept
}

// lockAll locks what the reverts will lock, in one order for all of them, so that two callers who
// undo overlapping changes do not wait for each other in a circle.
func (u *Undo) lockAll(ctx context.Context, tx pg.Tx, list []Change) error {
	ids := make([]id.ID, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	_, err := pg.Exec(ctx, tx, `select from change where id in (select coalesce(c.root, c.id) from change c
		where c.id = any($1)) order by id for no key update`, ids)
	if err != nil {
		return err
	}
	return u.lock(ctx, tx, ids...)
}

type undoArgs struct {
	Changes []id.ID `json:"changes"` // newest first
}

type undoPosition struct {
	Next int    `json:"next"`
	Done Undone `json:"done"`
}

func (u *Undo) enqueue(ctx context.Context, tx pg.Tx, list []Change) (Undone, error) {
	args := undoArgs{Changes: make([]id.ID, len(list))}
	for i, c := range list {
		args.Changes[i] = c.ID
	}
	taken, err := u.jobs.Enqueue(ctx, tx, UndoKind, args, job.Options{})
	out := newUndone(false)
	out.JobID = &taken.ID
	return out, err
}

// Kinds are the jobs of undoing.
func (u *Undo) Kinds() []job.Kind {
	return []job.Kind{{
		Name: UndoKind, Unit: "changes", Work: u.work, Retries: 5,
		Results: []*op.Schema{op.SchemaOf[Undone]()},
	}}
}

// work undoes one change after the other, each in a transaction of its own.
func (u *Undo) work(ctx context.Context, run *job.Run) (any, error) {
	var args undoArgs
	if err := run.Args(&args); err != nil {
		return nil, err
	}
	at := undoPosition{Done: newUndone(false)}
	if _, err := run.Position(&at); err != nil {
		return nil, err
	}
	for at.Next < len(args.Changes) {
		var next undoPosition
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
			next = undoPosition{at.Next + 1, at.Done.clone()}
			err := u.add(ctx, tx, args.Changes[at.Next], &next.Done)
			return job.Step{Position: next, Done: 1, Total: int64(len(args.Changes))}, err
		})
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at.Done, nil
}

// clone returns a copy that can be added to, because a batch may be tried again.
func (u *Undone) clone() Undone {
	out := *u
	out.Results, out.Skipped, out.ByReason = slices.Clone(u.Results), slices.Clone(u.Skipped), maps.Clone(u.ByReason)
	return out
}

// Ops is the menu of undoing.
func (u *Undo) Ops() []*op.Op {
	return []*op.Op{
		op.Quiet(op.Writing(op.Spec{ // agents revert only what they did themselves
			Name: "change.undo", Route: "POST /changes/revert", Tool: "revert_change", Overwrites: true,
			Summary: "Undoes several changes, newest first: those named, or all that somebody made since a time.",
			Agent: "Undoes a change (change_id), several (change_ids), or all you did since a date or time " +
				"(mine, since). A field that somebody has changed since is left: skipped says why. A " +
				"revert can itself be reverted. Call it with dry_run first. Very many changes become a " +
				"job: get_job.",
		}, u.Call), "actor_id", "workflow_slug", "until", "cause"),
	}
}
