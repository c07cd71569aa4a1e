package journal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// UndoKind is the kind of job that undoes more changes than one call can.
const UndoKind = "undo"

const (
	// undoEntries is the maximum number of entries that the call itself undoes.
	undoEntries = 20_000
	// undoChanges is the maximum number of changes that the call itself undoes: each takes some
	// milliseconds.
	undoChanges = 2_000
	// undoMost is the maximum number of changes that a job undoes.
	undoMost = 20_000
	// undoListed is the maximum number of changes that the result lists; all are counted.
	undoListed = 200
)

// Undo undoes many changes: named ones, or all that an actor made in a period.
type Undo struct {
	*Journal
	jobs *job.Jobs
}

// NewUndo returns an Undo for the journal's changes.
func NewUndo(j *Journal, jobs *job.Jobs) *Undo { return &Undo{j, jobs} }

// UndoChanges is the input of Undo.Call.
type UndoChanges struct {
	ChangeID  *string    `json:"change_id,omitempty" minLength:"1" doc:"One change: its UUID or short id" agent:"-"`
	ChangeIDs []string   `json:"change_ids,omitempty" maxItems:"100" doc:"Several changes, in any order" agent:"-"`
	Mine      bool       `json:"mine,omitempty" doc:"All your changes since the given time" agent:"All your changes since then"`
	ActorID   *string    `json:"actor_id,omitempty" minLength:"1" doc:"All changes by this member, key, assistant or run since the given time: UUID, short id, or a unique name"`
	Workflow  *string    `json:"workflow_slug,omitempty" minLength:"1" maxLength:"64" doc:"All changes by runs of this workflow since the given time" example:"review-queue"`
	Since     *pg.Moment `json:"since,omitempty" doc:"With mine, actor_id or workflow_slug: start date or time (inclusive)" agent:"With mine: date or time"`
	Until     *pg.Moment `json:"until,omitempty" doc:"With mine, actor_id or workflow_slug: end date or time (exclusive)"`
	Cause     *string    `json:"cause,omitempty" enum:"api,tool,rule,sync,import,workflow_run,revert" doc:"With mine, actor_id or workflow_slug: filter by cause"`
	Keep      *string    `json:"keep,omitempty" enum:"reviewed,none" doc:"reviewed: transactions whose review a person closed since stay as they are, skipped with reviewed_since; none: they go back too. Default: reviewed if a person undoes changes by agents or workflows without change_id, else none" agent:"reviewed: leave what a person has reviewed since"`
	DryRun    bool       `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
}

// Values of keep. The default depends on who made the changes.
const (
	keepReviewed = "reviewed"
	keepNone     = "none"
	keepOfAgents = ""
)

// keeps reports whether transactions that a person reviewed since are skipped when this change is
// undone.
func keeps(ctx context.Context, keep string, c Change) bool {
	return keep == keepReviewed ||
		keep == keepOfAgents && op.ActorOf(ctx).Type == op.User && c.ActorType == op.Agent
}

// An Undone is the result of undoing several changes.
type Undone struct {
	Changes      int            `json:"changes" doc:"Number of changes undone"`
	Results      []UndoneChange `json:"results" doc:"Each change, newest first: the first 200"`
	Reverted     int            `json:"reverted" doc:"Number of fields restored"`
	Transactions int            `json:"transactions" doc:"Number of transactions with restored fields, each counted once"`
	Skipped      []Skipped      `json:"skipped" doc:"Fields that were not restored, with the reason: the first 200"`
	ByReason     map[string]int `json:"skipped_by_reason" doc:"Number of fields not restored, by reason"`
	JobID        *id.ID         `json:"job_id" doc:"The job that undoes them, if they are too many for one call"`
	DryRun       bool           `json:"dry_run"`
	Writes       *Writes        `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
}

// An UndoneChange is the result for one of the changes.
type UndoneChange struct {
	ChangeID id.ID          `json:"change_id"`
	Summary  text.Untrusted `json:"summary" doc:"Untrusted: it may name a payee"`
	RevertID *id.ID         `json:"revert_id" doc:"The change made by the revert; null if there was nothing left to undo, and on a dry run"`
	Reverted int            `json:"reverted" doc:"Number of fields restored"`
	Skipped  int            `json:"skipped" doc:"Number of fields not restored"`
}

// check returns an error if the choice of changes is invalid.
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
			"provide exactly one of change_id, change_ids, mine, actor_id and workflow_slug")
	case byTime && in.Since == nil:
		return errs.Field("since", "required",
			"is required with mine, actor_id and workflow_slug: a date or a time")
	case !byTime && (in.Since != nil || in.Until != nil || in.Cause != nil):
		return errs.New(errs.ValidationError, "since, until and cause can only be used with mine, actor_id "+
			"or workflow_slug")
	case (in.ActorID != nil || in.Workflow != nil) && op.ActorOf(ctx).Type == op.Agent:
		return errs.New(errs.Forbidden, "agents can only undo their own period: use mine, or list change_ids")
	}
	return nil
}

// Call undoes the changes, newest first: in the call, or by a job if there are too many. A change
// that change_id names is always undone in the call.
func (u *Undo) Call(ctx context.Context, tx pg.Tx, in UndoChanges) (Undone, error) {
	if err := in.check(ctx); err != nil {
		return Undone{}, err
	}
	keep := keepOfAgents
	if in.Keep != nil {
		keep = *in.Keep
	}
	if in.ChangeID != nil {
		return u.one(ctx, tx, *in.ChangeID, restoring{reviewed: keep == keepReviewed}, in.DryRun)
	}
	list, err := u.chosen(ctx, tx, in)
	if err != nil {
		return Undone{}, err
	}
	return u.undoAll(ctx, tx, list, keep, in.DryRun)
}

// UndoActor undoes all changes by an actor, such as a workflow run with the jobs that it started.
// It works newest first, in the call, or by a job if there are too many.
func (u *Undo) UndoActor(ctx context.Context, tx pg.Tx, actor id.ID, dry bool) (Undone, error) {
	var where pg.Where
	where.And("c.actor_id = $?", actor)
	list, err := undoable(ctx, tx, where)
	if err != nil {
		return Undone{}, err
	}
	return u.undoAll(ctx, tx, list, keepOfAgents, dry)
}

// undoAll undoes these changes, which are ordered newest first.
func (u *Undo) undoAll(ctx context.Context, tx pg.Tx, list []Change, keep string, dry bool) (Undone, error) {
	entries := 0
	for _, c := range list {
		entries += c.Entries
	}
	// A call may take 30 seconds. Undoing one import of a long statement can take that long too, so
	// a single change may also need a job.
	if (entries > undoEntries || len(list) > undoChanges) && (len(list) > 1 || !dry) {
		if dry {
			return Undone{}, errs.New(errs.ValidationError,
				"%d changes (%d fields) are too many for a dry run; choose a shorter period", len(list), entries)
		}
		return u.enqueue(ctx, tx, list, keep)
	}
	var out Undone
	writes, err := Try(ctx, tx, dry, func(ctx context.Context, tx pg.Tx) error {
		out = newUndone(dry)
		if err := u.lockAll(ctx, tx, list); err != nil {
			return err
		}
		since, err := last(ctx, tx)
		if err != nil {
			return err
		}
		ids := make([]id.ID, len(list))
		for i, c := range list {
			ids[i] = c.ID
			if err := u.add(ctx, tx, c.ID, keep, &out); err != nil {
				return err
			}
		}
		out.Transactions, err = transactionsOf(ctx, tx, ids, since)
		return err
	})
	out.Writes = writes
	return out, err
}

func newUndone(dry bool) Undone {
	return Undone{Results: []UndoneChange{}, Skipped: []Skipped{}, ByReason: map[string]int{}, DryRun: dry}
}

// last returns the number of the newest change.
func last(ctx context.Context, q pg.Querier) (int64, error) {
	return pg.Value[int64](ctx, q, `select coalesce(max(seq), 0) from change`)
}

// transactionsOf counts the transactions that reverts of these changes restored, if the reverts are
// newer than since. It asks the journal, because several changes can be about one transaction.
func transactionsOf(ctx context.Context, q pg.Querier, changes []id.ID, since int64) (int, error) {
	return pg.Value[int](ctx, q, `select count(distinct e.subject_id)::int from change r
		join entry e on e.change_id = r.id and e.subject = 'transaction'
		where r.reverts = any($1) and r.seq > $2`, changes, since)
}

// one is Revert with an Undone as its result, for Call.
func (u *Undo) one(ctx context.Context, tx pg.Tx, ref string, how restoring, dry bool) (Undone, error) {
	c, done, err := u.revert(ctx, tx, ref, how, dry)
	if err != nil {
		return Undone{}, err
	}
	out := newUndone(dry)
	out.take(c, done)
	out.Transactions, out.Writes = done.Transactions, done.Writes
	return out, nil
}

// add undoes one of several changes. A change that was reverted in the meantime is skipped.
func (u *Undo) add(ctx context.Context, tx pg.Tx, change id.ID, keep string, out *Undone) error {
	c, f, err := u.joined(ctx, tx, change)
	if err != nil || c.RevertedBy != nil && keep != keepNone {
		return err
	}
	if c.RevertedBy != nil { // an earlier undo may have skipped reviewed transactions
		if stands, err := u.undoing(ctx, tx, c.ID, f); err != nil || len(stands.entries) == len(stands.later) {
			return err
		}
	}
	done, err := u.restore(ctx, tx, c, f, restoring{reviewed: keeps(ctx, keep, c)})
	out.take(c, done)
	return err
}

// take adds the result of reverting a change.
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
	return undoable(ctx, tx, where)
}

// undoable returns the changes that match, newest first, or an error if there are too many.
func undoable(ctx context.Context, tx pg.Tx, where pg.Where) ([]Change, error) {
	list, err := newest(ctx, tx, where, undoMost+1)
	if err != nil {
		return nil, err
	}
	if len(list) > undoMost {
		return nil, errs.New(errs.ValidationError, "more than %d changes; choose a shorter period", undoMost)
	}
	return withoutPairs(list), nil
}

// named returns the changes that a caller named, newest first, each once.
func (u *Undo) named(ctx context.Context, tx pg.Tx, refs []string) ([]Change, error) {
	texts, uuids := pg.Split(refs)
	list, err := worded(pg.All[Change](ctx, tx, changeRows+` where c.id = any($1::uuid[]) or c.short_id = any($2)`,
		uuids, texts))
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

// withoutPairs leaves out changes that were made and wholly reverted within the list. Undoing both
// would write them again, to the same result.
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

// lockAll locks everything that the reverts will lock, in one order, so that two callers that undo
// overlapping changes do not deadlock.
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
	Keep    string  `json:"keep"`
}

type undoPosition struct {
	Next  int    `json:"next"`
	Since int64  `json:"since"` // the newest change before the first was undone
	Done  Undone `json:"done"`
}

func (u *Undo) enqueue(ctx context.Context, tx pg.Tx, list []Change, keep string) (Undone, error) {
	args := undoArgs{Changes: make([]id.ID, len(list)), Keep: keep}
	for i, c := range list {
		args.Changes[i] = c.ID
	}
	taken, err := u.jobs.Enqueue(ctx, tx, UndoKind, args, job.Options{})
	out := newUndone(false)
	out.JobID = &taken.ID
	return out, err
}

// Kinds returns the job kinds of undoing.
func (u *Undo) Kinds() []job.Kind {
	return []job.Kind{{
		Name: UndoKind, Unit: "changes", Work: u.work, Retries: 5,
		Results: []*op.Schema{op.SchemaOf[Undone]()},
	}}
}

// work undoes one change after another, each in its own transaction.
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
			next = undoPosition{at.Next + 1, at.Since, at.Done.clone()}
			var err error
			if at.Next == 0 {
				next.Since, err = last(ctx, tx)
			}
			if err == nil {
				err = u.add(ctx, tx, args.Changes[at.Next], args.Keep, &next.Done)
			}
			if err == nil && next.Next == len(args.Changes) {
				next.Done.Transactions, err = transactionsOf(ctx, tx, args.Changes, next.Since)
			}
			return job.Step{Position: next, Done: 1, Total: int64(len(args.Changes))}, err
		})
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at.Done, nil
}

// clone returns a copy that can be modified, because a batch may be retried.
func (u *Undone) clone() Undone {
	out := *u
	out.Results, out.Skipped, out.ByReason = slices.Clone(u.Results), slices.Clone(u.Skipped), maps.Clone(u.ByReason)
	return out
}

// Ops returns the operation that undoes changes.
func (u *Undo) Ops() []*op.Op {
	return []*op.Op{
		op.Quiet(op.Writing(op.Spec{ // agents revert only their own changes
			Name: "change.undo", Route: "POST /changes/revert", Tool: "revert_change", Core: true, Overwrites: true,
			Runs: op.Runs{
				Reach: op.ReachNever, Instead: "runs can't undo changes; a person can revert the whole run, so stop " +
					"here and say what went wrong",
			},
			Summary: "Undoes several changes, newest first: by id, or everything one actor did since a time.",
			Agent: "Undoes a change (change_id), several (change_ids), or all you did since a date or time " +
				"(mine, since). Fields changed since then are skipped, with the reason. A revert can itself " +
				"be reverted. Call it with dry_run first. Large undos return a job; poll get_job.",
		}, u.Call), "actor_id", "workflow_slug", "until", "cause"),
	}
}
