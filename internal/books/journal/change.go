package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Change is the record of one call or job: what it did, who did it, and whether it was undone.
type Change struct {
	ID           id.ID           `json:"id" db:"id"`
	ShortID      string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	Cause        string          `json:"cause" db:"cause" enum:"api,tool,rule,sync,import,workflow_run,revert"`
	Action       string          `json:"action" db:"-" screen:"none" enum:"categorized,uncategorized,tagged,untagged,reviewed,queued,payee_set,payee_cleared,commented,split,joined,excluded,included,created,edited,deleted,restored,merged,imported,synced,moved_in,rules_applied,linked,link_rejected,pair_confirmed,pair_rejected,link_decided,balance_set,dismissed,reverted,redone,mixed" doc:"What it did; mixed: several things"`
	Of           *string         `json:"of_action" db:"-" screen:"none" enum:"categorized,uncategorized,tagged,untagged,reviewed,queued,payee_set,payee_cleared,commented,split,joined,excluded,included,created,edited,deleted,restored,merged,imported,synced,moved_in,rules_applied,linked,link_rejected,pair_confirmed,pair_rejected,link_decided,balance_set,dismissed,mixed" doc:"For reverted and redone: the action that was undone or done again"`
	Subject      *ChangeSubject  `json:"subject" db:"-" screen:"none" doc:"The record it is about; for several of one kind only the kind; null if mixed"`
	Count        int             `json:"count" db:"-" screen:"none" doc:"Number of records of that kind; if mixed, of transactions"`
	With         ChangeWith      `json:"with" db:"-" screen:"none" doc:"What it was done with, as far as there is just one"`
	Payee        *text.Untrusted `json:"payee" db:"-" screen:"none" doc:"Untrusted: the name in the bank's text, if its transactions share a payee"`
	Summary      text.Untrusted  `json:"summary" db:"-" doc:"Untrusted: the same as an English sentence, to read and not to parse; it may name a payee"`
	ActorType    string          `json:"actor_type" db:"actor_type" enum:"user,agent,system"`
	ActorID      *id.ID          `json:"actor_id" db:"actor_id"`
	ActorName    string          `json:"actor_name" db:"actor_name"`
	Transactions int             `json:"transactions" db:"transactions" doc:"Number of transactions it changed"`
	Entries      int             `json:"entries" db:"entries" doc:"Number of fields it changed"`
	Reverts      *id.ID          `json:"reverts" db:"reverts" doc:"The change that this one undid"`
	RevertedBy   *id.ID          `json:"reverted_by" db:"reverted_by" doc:"The change that undid this one; null again once that one is undone"`
	CreatedAt    pg.Time         `json:"created_at" db:"created_at"`
	// the order in which changes happened; taken from a sequence while their subjects are locked
	Seq int64 `json:"-" db:"seq"`
	// the summary as it is stored, with PayeeMark in place of the payee, and the payee's wording
	Stored  string          `json:"-" db:"stored"`
	Wording *int32          `json:"-" db:"wording"`
	Worded  *text.Untrusted `json:"-" db:"worded"`
	// what it did, as it is stored; nil if it came with an archive of a development version
	StoredAction *string          `json:"-" db:"action"`
	OfAction     *string          `json:"-" db:"of_action"`
	SubjectKind  *string          `json:"-" db:"subject_kind"`
	SubjectID    *id.ID           `json:"-" db:"subject_id"`
	SubjectCount *int             `json:"-" db:"subject_count"`
	Refs         map[string]id.ID `json:"-" db:"refs"`
	did          Facts
	of           string
}

// PayeeMark stands for the payee in a stored summary.
const PayeeMark = "{payee}"

// A change and its reverts are a family: each member undoes or restores the root, or as much of it
// as could be written at the time. A member counts as reverted if the last later member that wrote
// one of its fields did the opposite. Every member writes fields of the root, and a revert of a
// member writes fields of that member. So the query compares entries only with the other members.
const changeRows = `
	select c.id, c.short_id, c.cause, c.summary as stored, c.wording, p.worded, c.actor_type, c.actor_id, c.actor_name,
		c.transactions, c.entries, c.reverts, r.id as reverted_by, c.created_at, c.seq,
		c.action, c.of_action, c.subject_kind, c.subject_id, c.subject_count, c.refs
	from change c left join lateral (
		select coalesce(nullif(w.merchant_name, ''), w.name) as worded from descriptor w
			where w.id = c.wording and w.name <> '') p on true
	left join lateral (
		select f.id, f.undoes from change f where f.root = coalesce(c.root, c.id) and f.round > c.round
			and case when c.root is null or f.reverts = c.id then true
				else exists (select from entry y join entry x on x.subject_id = y.subject_id and x.field = y.field
					and x.ref is not distinct from y.ref where y.change_id = f.id and x.change_id = c.id) end
			order by f.round desc limit 1) r on r.undoes <> c.undoes`

// ListChanges asks for a page of changes.
type ListChanges struct {
	Action        *string    `json:"action,omitempty" enum:"categorized,uncategorized,tagged,untagged,reviewed,queued,payee_set,payee_cleared,commented,split,joined,excluded,included,created,edited,deleted,restored,merged,imported,synced,moved_in,rules_applied,linked,link_rejected,pair_confirmed,pair_rejected,link_decided,balance_set,dismissed,reverted,redone,mixed" doc:"Filter by what it did" agent:"-"`
	Cause         *string    `json:"cause,omitempty" enum:"api,tool,rule,sync,import,workflow_run,revert" agent:"-"`
	ActorType     *string    `json:"actor_type,omitempty" enum:"user,agent,system"`
	ActorID       *string    `json:"actor_id,omitempty" minLength:"1" doc:"Filter by member, key, assistant or run: UUID, short id, or a unique name" agent:"Id or name"`
	Mine          bool       `json:"mine,omitempty" doc:"Only your own changes" agent:"Your own"`
	Since         *pg.Moment `json:"since,omitempty" doc:"Start date or time (inclusive)" agent:"Date or time"`
	Until         *pg.Moment `json:"until,omitempty" doc:"End date or time (exclusive)" agent:"Date or time"`
	TransactionID *string    `json:"transaction_id,omitempty" minLength:"1" doc:"Changes to this transaction" agent:"-"`
	RuleID        *string    `json:"rule_id,omitempty" minLength:"1" doc:"Changes by or to this rule" agent:"-"`
	HideReverts   bool       `json:"hide_reverts,omitempty" doc:"Hide reverts and reverted changes"`
	Cursor        string     `json:"cursor,omitempty" doc:"next_cursor of the previous page" agent:"-"`
	Limit         int        `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size" agent:"-"`
}

// Changes is a page of changes, newest first.
type Changes struct {
	Changes    []Change `json:"changes"`
	NextCursor string   `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool     `json:"has_more"`
}

// toolChanges is the number of changes after which a tool's page ends early, about 20 kB.
const toolChanges = 50

// List returns a page of changes.
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
	where, err := j.matching(ctx, q, in)
	if err != nil {
		return Changes{}, err
	}
	if in.Cursor != "" {
		before, err := pager.Decode(in.Cursor, 1)
		if err != nil {
			return Changes{}, err
		}
		where.And("c.seq < $?::text::bigint", before[0])
	}
	rows, err := newest(ctx, q, where, in.Limit+1)
	if err != nil {
		return Changes{}, err
	}
	if err := describe(ctx, q, rows[:min(len(rows), in.Limit)]); err != nil || len(rows) <= in.Limit {
		return Changes{Changes: rows}, err
	}
	rows = rows[:in.Limit]
	next, err := pager.Encode(strconv.FormatInt(rows[in.Limit-1].Seq, 10))
	return Changes{rows, next, true}, err
}

// newest returns the latest changes that match.
func newest(ctx context.Context, q pg.Querier, where pg.Where, limit int) ([]Change, error) {
	return worded(pg.All[Change](ctx, q, fmt.Sprintf(`%s %s order by c.seq desc limit %d`, changeRows, where.SQL(),
		limit), where.Args()...))
}

// worded returns the changes that a statement read, with their summaries completed.
func worded(list []Change, err error) ([]Change, error) {
	for i := range list {
		list[i].word()
	}
	return list, err
}

// word puts the payee's name where the summary has its mark.
func (c *Change) word() {
	of := ""
	if c.Worded != nil {
		c.Payee = new(payeename.Shown(nil, nil, *c.Worded))
		of = " of " + c.Payee.Plain()
	}
	c.Summary = text.Line(strings.ReplaceAll(c.Stored, PayeeMark, of), mostSummary)
}

// mostSummary is longer than any summary. The longest part of a summary is a payee's name.
const mostSummary = 2000

// matching returns the condition for the list's filters. The changes to a transaction or by a rule
// are looked up first, so that PostgreSQL cannot choose to scan all changes.
func (j *Journal) matching(ctx context.Context, q pg.Querier, in ListChanges) (pg.Where, error) {
	var where pg.Where
	where.If(in.Action != nil, "c.action = $?", in.Action)
	where.If(in.Cause != nil, "c.cause = $?", in.Cause)
	where.If(in.ActorType != nil, "c.actor_type = $?", in.ActorType)
	if in.ActorID != nil {
		actor, err := actorNamed(ctx, q, "actor_id", *in.ActorID)
		if err != nil {
			return where, err
		}
		where.And("c.actor_id = $?", actor)
	}
	where.If(in.Mine, "c.actor_id = $?", op.ActorOf(ctx).ID)
	if in.Since != nil {
		where.And("c.created_at >= "+pg.MomentSQL, in.Since.String())
	}
	if in.Until != nil {
		where.And("c.created_at < "+pg.MomentSQL, in.Until.String())
	}
	if in.TransactionID != nil {
		t, err := j.transaction(ctx, q, *in.TransactionID)
		if err != nil {
			return where, err
		}
		where.And("c.id = any (array(select distinct e.change_id from entry e where e.subject_id = $?))", t)
	}
	if in.RuleID != nil {
		r, err := pg.Value[id.ID](ctx, q, `select id from rule where id = $1 or short_id = $2`,
			pg.RefTo(*in.RuleID).IDArgs()...)
		if err != nil {
			return where, pg.Found(err, "rule", "{rule.list} lists them")
		}
		where.And(byRule, r)
	}
	where.If(in.HideReverts, "c.root is null and r.id is null")
	return where, nil
}

// byRule finds the changes of a rule one by one along the index, because a rule that wrote a
// million entries did so in few changes.
const byRule = `c.id = any (array(
	with recursive rule as (select $?::uuid as id),
	hop as (
		(select e.change_id from entry e, rule where e.rule_id = rule.id order by e.change_id limit 1)
		union all
		select n.change_id from hop, rule, lateral (select e.change_id from entry e
			where e.rule_id = rule.id and e.change_id > hop.change_id order by e.change_id limit 1) n)
	select change_id from hop
	union select e.change_id from entry e, rule where e.subject_id = rule.id))`

// A ChangeRef names a change.
type ChangeRef struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
}

// Get returns one change.
func (j *Journal) Get(ctx context.Context, q pg.Querier, in ChangeRef) (Change, error) {
	c, err := pg.One[Change](ctx, q, changeRows+` where c.id = $1 or c.short_id = $2`,
		pg.RefTo(in.ChangeID).IDArgs()...)
	if err != nil {
		return c, noChange(err)
	}
	c.word()
	one := []Change{c}
	err = describe(ctx, q, one)
	return one[0], err
}

func noChange(err error) error { return pg.Found(err, "change", "{change.list} lists them") }

// RevertChange is the input of Revert.
type RevertChange struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
}

// A Reverted is the result of a revert.
type Reverted struct {
	Change       *Change   `json:"change" doc:"The change made by the revert; null if there was nothing left to undo, and on a dry run"`
	Reverted     int       `json:"reverted" doc:"Number of fields restored"`
	Transactions int       `json:"transactions" doc:"Number of transactions with restored fields"`
	Skipped      []Skipped `json:"skipped" doc:"Fields that were not restored, with the reason: the first 200"`
	// ByReason is a map so that a caller need not know the reasons.
	ByReason map[string]int `json:"skipped_by_reason" doc:"Number of fields not restored, by reason"`
	DryRun   bool           `json:"dry_run"`
	Writes   *Writes        `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
}

// mostSkipped is the maximum number of skipped fields that are listed; all are counted.
const mostSkipped = 200

// Revert undoes a change: every field that nobody has changed since gets its old value and source
// back. Fields that an earlier revert had to skip are restored as soon as that is possible.
func (j *Journal) Revert(ctx context.Context, tx pg.Tx, in RevertChange) (Reverted, error) {
	_, out, err := j.revert(ctx, tx, in.ChangeID, restoring{}, in.DryRun)
	return out, err
}

// revert undoes the change that a caller named, and also returns the change.
func (j *Journal) revert(ctx context.Context, tx pg.Tx, ref string, how restoring, dry bool) (Change, Reverted, error) {
	c, err := j.Get(ctx, tx, ChangeRef{ref})
	if err != nil {
		return Change{}, Reverted{}, err
	}
	c, f, err := j.joined(ctx, tx, c.ID)
	if err != nil {
		return Change{}, Reverted{}, err
	}
	var out Reverted
	writes, err := Try(ctx, tx, dry, func(ctx context.Context, tx pg.Tx) (err error) {
		out, err = j.restore(ctx, tx, c, f, how)
		return err
	})
	if dry {
		out.Change = nil
	}
	out.DryRun, out.Writes = dry, writes
	return c, out, err
}

// joined locks the change's family and returns the change after any concurrent revert has finished.
func (j *Journal) joined(ctx context.Context, tx pg.Tx, change id.ID) (Change, changeFamily, error) {
	f, err := join(ctx, tx, change)
	if err != nil {
		return Change{}, f, err
	}
	c, err := j.Get(ctx, tx, ChangeRef{change.String()})
	return c, f, err
}

// restoring holds the options of a revert.
type restoring struct {
	reviewed bool // skip transactions that a person has reviewed since
}

// restore reverts a change whose family is locked.
func (j *Journal) restore(ctx context.Context, tx pg.Tx, c Change, f changeFamily, how restoring) (Reverted, error) {
	if err := j.lock(ctx, tx, c.ID); err != nil {
		return Reverted{}, err
	}
	stands, err := j.undoing(ctx, tx, c.ID, f)
	if err != nil {
		return Reverted{}, err
	}
	if c.RevertedBy != nil && len(stands.entries) == len(stands.later) {
		return Reverted{}, errs.New(errs.Conflict,
			"this change was already reverted (see reverted_by); to restore it, revert that change")
	}
	whole, err := tied(ctx, tx, f, stands.entries)
	if err != nil {
		return Reverted{}, err
	}
	how.reviewed = how.reviewed && !whole // an account and its transactions are restored together
	out := Reverted{Skipped: []Skipped{}}
	var done []Entry
	undo := func(tx pg.Tx) error {
		if whole && heldWhole(stands.entries, op.ActorOf(ctx)) {
			out.Skipped = leaveAll(stands.entries, "held")
			return nil
		}
		done, out.Skipped = nil, out.Skipped[:0]
		back, kept := stands.back(how)
		out.Skipped = append(out.Skipped, kept...)
		set, left, err := j.apply(ctx, tx, back, false)
		if err != nil {
			return err
		}
		done, out.Skipped = set, append(out.Skipped, left...)
		if left := together(stands.entries, out.Skipped); whole && left != nil {
			done, out.Skipped = nil, left
			return errDry
		}
		out.Reverted = len(done)
		return nil
	}
	if err := pg.Savepoint(ctx, tx, undo); err != nil && !errors.Is(err, errDry) {
		return Reverted{}, err
	}
	out.count()
	out.Transactions = Touched(done)
	writes, err := j.writes(ctx, tx, done)
	if err != nil {
		return Reverted{}, err
	}
	made, err := Record(ctx, tx, Note{
		Cause: Revert, Summary: "Reverted: " + c.Stored, Wording: c.Wording, Writes: writes,
		reverts: &c, undoes: !f.Undoes,
	}, done)
	if pg.Violates(err, "change_family") {
		return Reverted{}, errs.New(errs.Conflict, "this change is being reverted by another call; try again")
	}
	if err != nil || made == nil {
		return out, err
	}
	change, err := j.Get(ctx, tx, ChangeRef{made.String()})
	out.Change = &change
	return out, err
}

// back returns the entries that undo the entries still in effect, and the skipped ones.
func (s standing) back(how restoring) (back []Entry, left []Skipped) {
	for _, e := range s.entries {
		switch {
		case s.later[e.ID]:
			left = append(left, Skip(e, "changed_since"))
		case how.reviewed && s.reviewed[e.ID]:
			left = append(left, Skip(e, "reviewed_since"))
		default:
			back = append(back, e.reversed())
		}
	}
	return back, left
}

// count counts the skipped fields and keeps the first of them in the list.
func (r *Reverted) count() {
	slices.SortFunc(r.Skipped, func(a, b Skipped) int {
		switch blamed, other := a.Because != nil, b.Because != nil; {
		case blamed == other:
			return cmp.Compare(a.entry, b.entry)
		case blamed: // entries with a reason of their own come first
			return -1
		}
		return 1
	})
	r.ByReason = map[string]int{}
	for _, s := range r.Skipped {
		r.ByReason[s.Reason]++
	}
	r.Skipped = slices.Clip(r.Skipped[:min(len(r.Skipped), mostSkipped)])
}

// writes asks the owners of the entries' records for the additional cost of the entries, beyond one
// write for each transaction and record.
func (j *Journal) writes(ctx context.Context, q pg.Querier, entries []Entry) (int, error) {
	of := map[string][]Entry{}
	for _, e := range entries {
		if e.Subject != Transaction {
			of[e.Subject] = append(of[e.Subject], e)
		}
	}
	sum := 0
	for kind, mine := range of {
		owner, ok := j.subjects[kind].(interface {
			Writes(ctx context.Context, q pg.Querier, entries []Entry) (int, error)
		})
		if !ok {
			continue
		}
		n, err := owner.Writes(ctx, q, mine)
		if sum += n; err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// all returns the owners in a fixed order, with the owners of single fields last. An owner with a
// method Places comes before the other owner of its kind, because other fields may depend on where
// the record is.
func (j *Journal) all() []Subject {
	list := slices.SortedFunc(maps.Values(j.subjects), func(a,
		b Subject,
	) int {
		return strings.Compare(a.Kind(), b.Kind())
	})
	for _, o := range j.owners {
		at := len(list)
		if _, places := o.(interface{ Places() }); places {
			at = slices.IndexFunc(list, func(s Subject) bool { return s.Kind() == o.Kind() })
		}
		list = slices.Insert(list, at, Subject(o))
	}
	return list
}

// takes reports whether the subject applies the entry.
func (j *Journal) takes(s Subject, e Entry) bool {
	if s.Kind() != e.Subject {
		return false
	}
	if o, ok := s.(FieldOwner); ok {
		return slices.Contains(o.Fields(), e.Field)
	}
	return !slices.ContainsFunc(j.owners, func(o FieldOwner) bool {
		return o.Kind() == e.Subject && slices.Contains(o.Fields(), e.Field)
	})
}

// leaves reports whether setting the entry takes a definition out of use.
func leaves(s Subject, e Entry) bool {
	d, ok := s.(interface {
		Leaves(field string, after *string) bool
	})
	return ok && d.Leaves(e.Field, e.After)
}
