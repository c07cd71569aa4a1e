package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// A Change is one act: what was done, by whom, and whether it was undone.
type Change struct {
	ID           id.ID   `json:"id" db:"id"`
	ShortID      string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Cause        string  `json:"cause" db:"cause" enum:"api,tool,rule,sync,import,workflow_run,revert"`
	Summary      string  `json:"summary" db:"summary"`
	ActorType    string  `json:"actor_type" db:"actor_type" enum:"user,agent,system"`
	ActorID      *id.ID  `json:"actor_id" db:"actor_id"`
	ActorName    string  `json:"actor_name" db:"actor_name"`
	Transactions int     `json:"transactions" db:"transactions" doc:"How many transactions it touched"`
	Entries      int     `json:"entries" db:"entries" doc:"How many fields it touched"`
	Reverts      *id.ID  `json:"reverts" db:"reverts" doc:"The change that this one undid"`
	RevertedBy   *id.ID  `json:"reverted_by" db:"reverted_by" doc:"The change that undid this one; null again once that was undone itself"`
	CreatedAt    pg.Time `json:"created_at" db:"created_at"`
}

// A change and its reverts are a family, in which each takes the first back or brings it back: the last one says how it stands.
const changeRows = `
	select c.id, c.short_id, c.cause, c.summary, c.actor_type, c.actor_id, c.actor_name, c.transactions, c.entries, c.reverts, r.id as reverted_by, c.created_at
	from change c left join lateral (
		select f.id, f.undoes, f.round from change f where f.root = coalesce(c.root, c.id) order by f.round desc limit 1) r on r.round > c.round and r.undoes <> c.undoes`

// ListChanges asks for a page of changes.
type ListChanges struct {
	Cause     *string  `json:"cause,omitempty" enum:"api,tool,rule,sync,import,workflow_run,revert"`
	ActorType *string  `json:"actor_type,omitempty" enum:"user,agent,system"`
	Since     *pg.Time `json:"since,omitempty" doc:"Only changes from then on"`
	Cursor    string   `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// Changes is a page of changes, newest first.
type Changes struct {
	Changes    []Change `json:"changes"`
	NextCursor string   `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool     `json:"has_more"`
}

// toolChanges is where a tool's page ends early: at some 60 kB.
const toolChanges = 150

// List is a page of changes.
func (j *Journal) List(ctx context.Context, q pg.Querier, in ListChanges) (Changes, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := j.db.Pager(ctx, "changes", filters)
	if err != nil {
		return Changes{}, err
	}
	if op.SurfaceOf(ctx) == op.Tool {
		in.Limit = min(in.Limit, toolChanges)
	}
	var where pg.Where
	where.If(in.Cause != nil, "c.cause = $?", in.Cause)
	where.If(in.ActorType != nil, "c.actor_type = $?", in.ActorType)
	where.If(in.Since != nil, "c.created_at >= $?", in.Since)
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]Change, error) {
		where.If(before != nil, "c.id < $?::uuid", before)
		return pg.All[Change](ctx, q, fmt.Sprintf(`%s %s order by c.id desc limit %d`, changeRows, where.SQL(), limit), where.Args()...)
	}, func(c Change) id.ID { return c.ID })
	return Changes{rows, next, next != ""}, err
}

// A ChangeRef names a change.
type ChangeRef struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
}

// Get is one change.
func (j *Journal) Get(ctx context.Context, q pg.Querier, in ChangeRef) (Change, error) {
	c, err := pg.One[Change](ctx, q, changeRows+` where c.id = $1 or c.short_id = $2`, pg.RefTo(in.ChangeID).IDArgs()...)
	return c, pg.Found(err, "change", "GET /api/v1/changes lists them")
}

// RevertChange is the input of Revert.
type RevertChange struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Say what would happen and write nothing"`
}

// A Reverted says what a revert did.
type Reverted struct {
	Change   *Change   `json:"change" doc:"The change that the revert itself is; null when nothing was left to undo, and on a dry run"`
	Reverted int       `json:"reverted" doc:"How many fields went back"`
	Skipped  []Skipped `json:"skipped" doc:"The fields that were left, and why"`
	DryRun   bool      `json:"dry_run"`
}

// Revert undoes a change: every field that nobody has touched since goes back to what it was, with whose it was. What an earlier revert had to leave goes back as soon as it can.
func (j *Journal) Revert(ctx context.Context, tx pg.Tx, in RevertChange) (Reverted, error) {
	c, err := j.Get(ctx, tx, ChangeRef{in.ChangeID})
	if err != nil {
		return Reverted{}, err
	}
	f, err := join(ctx, tx, c.ID)
	if err != nil {
		return Reverted{}, err
	}
	if c, err = j.Get(ctx, tx, ChangeRef{c.ID.String()}); err != nil {
		return Reverted{}, err
	}
	if err := j.lock(ctx, tx, c.ID); err != nil {
		return Reverted{}, err
	}
	entries, later, err := j.undoing(ctx, tx, c.ID, f)
	if err != nil {
		return Reverted{}, err
	}
	if c.RevertedBy != nil && len(entries) == len(later) {
		return Reverted{}, errs.New(errs.Conflict, "this change was reverted already; reverted_by names the change that did, and reverting that one brings it back")
	}
	out := Reverted{Skipped: []Skipped{}, DryRun: in.DryRun}
	var done []Entry
	undo := func(tx pg.Tx) error {
		done, out.Skipped = nil, out.Skipped[:0]
		// What comes back into use first, so that others can lead to it again; what goes out of use last, when all that led to it is gone.
		for _, leaving := range []bool{false, true} {
			for _, s := range j.all() {
				mine := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !takes(s, e) || leaves(s, e) != leaving })
				if err := undo(ctx, tx, s, mine, later, &done, &out.Skipped); err != nil {
					return err
				}
			}
		}
		out.Reverted = len(done)
		if in.DryRun {
			return errDry
		}
		return nil
	}
	if err := pg.Savepoint(ctx, tx, undo); err != nil && !errors.Is(err, errDry) {
		return Reverted{}, err
	}
	slices.SortFunc(out.Skipped, func(a, b Skipped) int { return int(a.entry - b.entry) })
	if in.DryRun {
		return out, nil
	}
	made, err := Record(ctx, tx, Note{Cause: Revert, Summary: "Reverted: " + c.Summary, Reverts: &c.ID}, done)
	if pg.Violates(err, "change_family") {
		return Reverted{}, errs.New(errs.Conflict, "someone else is reverting this change")
	}
	if err != nil || made == nil {
		return out, err
	}
	change, err := j.Get(ctx, tx, ChangeRef{made.String()})
	out.Change = &change
	return out, err
}

var errDry = errors.New("dry run")

// all are the owners in one order, with the journal's own comments last: what a comment stands on must be back before it.
func (j *Journal) all() []Subject {
	list := slices.SortedFunc(maps.Values(j.subjects), func(a, b Subject) int { return strings.Compare(a.Kind(), b.Kind()) })
	return append(list, comments{})
}

// takes says whether the entry is the owner's to apply. Comments are entries of their transaction, and the journal's own.
func takes(s Subject, e Entry) bool {
	_, own := s.(comments)
	return s.Kind() == e.Subject && own == (e.Field == FieldComment)
}

// leaves says whether undoing the entry takes a definition out of use.
func leaves(s Subject, e Entry) bool {
	d, ok := s.(interface{ Leaves(record *string) bool })
	return ok && d.Leaves(e.Before)
}

// lock keeps others from touching the change's subjects until the transaction ends, so that what undoing finds stays true.
func (j *Journal) lock(ctx context.Context, tx pg.Tx, change id.ID) error {
	type row struct {
		Subject string  `db:"subject"`
		IDs     []id.ID `db:"ids"`
	}
	rows, err := pg.All[row](ctx, tx, `select subject, array_agg(distinct subject_id) as ids from entry where change_id = $1 group by subject order by subject`, change)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if s := j.subjects[r.Subject]; s != nil {
			if err := s.Lock(ctx, tx, r.IDs); err != nil {
				return err
			}
		}
	}
	return nil
}

// undo has an owner set its fields back, and sorts them into done and skipped.
func undo(ctx context.Context, tx pg.Tx, s Subject, entries []Entry, later map[int64]bool, done *[]Entry, skipped *[]Skipped) error {
	var mine []Entry
	for _, e := range entries {
		if later[e.ID] {
			*skipped = append(*skipped, Skip(e, "changed_since"))
			continue
		}
		e.Before, e.After, e.BeforeSource, e.AfterSource = e.After, e.Before, e.AfterSource, e.BeforeSource
		e.Note, e.RuleID = nil, nil
		mine = append(mine, e)
	}
	if len(mine) == 0 {
		return nil
	}
	left, err := s.Apply(ctx, tx, mine)
	if err != nil {
		return err
	}
	gone := map[int64]bool{}
	for _, l := range left {
		gone[l.entry] = true
	}
	*skipped = append(*skipped, left...)
	for _, e := range mine {
		if !gone[e.ID] {
			*done = append(*done, e)
		}
	}
	return nil
}
