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

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// A Change is what one call or job did, by whom, and whether it was undone.
type Change struct {
	ID           id.ID          `json:"id" db:"id"`
	ShortID      string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Cause        string         `json:"cause" db:"cause" enum:"api,tool,rule,sync,import,workflow_run,revert"`
	Summary      text.Untrusted `json:"summary" db:"summary" doc:"Untrusted: it may name a payee as the bank wrote it"`
	ActorType    string         `json:"actor_type" db:"actor_type" enum:"user,agent,system"`
	ActorID      *id.ID         `json:"actor_id" db:"actor_id"`
	ActorName    string         `json:"actor_name" db:"actor_name"`
	Transactions int            `json:"transactions" db:"transactions" doc:"Number of transactions it changed"`
	Entries      int            `json:"entries" db:"entries" doc:"Number of fields it changed"`
	Reverts      *id.ID         `json:"reverts" db:"reverts" doc:"The change that this one undid"`
	RevertedBy   *id.ID         `json:"reverted_by" db:"reverted_by" doc:"The change that undid this one; null again once that one is undone"`
	CreatedAt    pg.Time        `json:"created_at" db:"created_at"`
	// the order in which changes happened; drawn under the locks of their subjects
	Seq int64 `json:"-" db:"seq"`
	// the summary as it is stored, with PayeeMark in place of the payee, and the payee's wording
	Stored  string `json:"-" db:"stored"`
	Wording *int32 `json:"-" db:"wording"`
}

// PayeeMark stands for the payee in a stored summary.
const PayeeMark = "{payee}"

// A change and its reverts are a family: each one undoes or restores the root, or the part of it
// that could be written at the time. So a member is reverted if the last later one that wrote a
// field of its own goes the other way. Every member writes fields of the root, and a revert of a
// member writes fields of that member; only for the others are the entries compared.
const changeRows = `
	select c.id, c.short_id, c.cause, c.summary as stored, c.wording,
		replace(c.summary, '` + PayeeMark + `', coalesce((select ' of ' || coalesce(nullif(w.merchant_name, ''), w.name)
			from descriptor w where w.id = c.wording and w.name <> ''), '')) as summary, c.actor_type, c.actor_id, c.actor_name, c.transactions, c.entries,
		c.reverts, r.id as reverted_by, c.created_at, c.seq
	from change c left join lateral (
		select f.id, f.undoes from change f where f.root = coalesce(c.root, c.id) and f.round > c.round
			and case when c.root is null or f.reverts = c.id then true
				else exists (select from entry y join entry x on x.subject_id = y.subject_id and x.field = y.field
					and x.ref is not distinct from y.ref where y.change_id = f.id and x.change_id = c.id) end
			order by f.round desc limit 1) r on r.undoes <> c.undoes`

// ListChanges asks for a page of changes.
type ListChanges struct {
	Cause         *string    `json:"cause,omitempty" enum:"api,tool,rule,sync,import,workflow_run,revert" agent:"-"`
	ActorType     *string    `json:"actor_type,omitempty" enum:"user,agent,system"`
	ActorID       *string    `json:"actor_id,omitempty" minLength:"1" doc:"Only changes by the member, key or assistant with this UUID" agent:"-"`
	Mine          bool       `json:"mine,omitempty" doc:"Only your own changes" agent:"Only your own"`
	Since         *pg.Moment `json:"since,omitempty" doc:"Only changes from this date or time on" agent:"Date or time"`
	Until         *pg.Moment `json:"until,omitempty" doc:"Only changes before this date or time" agent:"Date or time"`
	TransactionID *string    `json:"transaction_id,omitempty" minLength:"1" doc:"Only changes to this transaction" agent:"-"`
	RuleID        *string    `json:"rule_id,omitempty" minLength:"1" doc:"Only changes that this rule made or that were made to it" agent:"-"`
	HideReverts   bool       `json:"hide_reverts,omitempty" doc:"Leave out reverts and what they undid"`
	Cursor        string     `json:"cursor,omitempty" doc:"next_cursor of the previous page" agent:"-"`
	Limit         int        `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size" agent:"-"`
}

// Changes is a page of changes, newest first.
type Changes struct {
	Changes    []Change `json:"changes"`
	NextCursor string   `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool     `json:"has_more"`
}

// toolChanges is the size at which a tool's page ends early, about 20 kB.
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
	if err != nil || len(rows) <= in.Limit {
		return Changes{Changes: rows}, err
	}
	rows = rows[:in.Limit]
	next, err := pager.Encode(strconv.FormatInt(rows[in.Limit-1].Seq, 10))
	return Changes{rows, next, true}, err
}

// newest returns the last changes that match.
func newest(ctx context.Context, q pg.Querier, where pg.Where, most int) ([]Change, error) {
	return pg.All[Change](ctx, q, fmt.Sprintf(`%s %s order by c.seq desc limit %d`, changeRows, where.SQL(), most),
		where.Args()...)
}

// matching returns the condition that the list's filters stand for. The changes about a transaction
// or by a rule are looked up first, so that PostgreSQL cannot choose to go through all changes.
func (j *Journal) matching(ctx context.Context, q pg.Querier, in ListChanges) (pg.Where, error) {
	var where pg.Where
	where.If(in.Cause != nil, "c.cause = $?", in.Cause)
	where.If(in.ActorType != nil, "c.actor_type = $?", in.ActorType)
	if in.ActorID != nil {
		if actor, err := id.Parse(*in.ActorID); err == nil {
			where.And("c.actor_id = $?", actor)
		} else {
			where.And("false")
		}
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

// byRule finds the changes of a rule one at a time along the index: a rule that wrote a million
// entries did so in few changes.
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
	return c, noChange(err)
}

func noChange(err error) error { return pg.Found(err, "change", "{change.list} lists them") }

// RevertChange is the input of Revert.
type RevertChange struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Report what would happen and write nothing" agent:"-"`
}

// A Reverted says what a revert did.
type Reverted struct {
	Change   *Change   `json:"change" doc:"The change made by the revert; null if there was nothing left to undo, and on a dry run"`
	Reverted int       `json:"reverted" doc:"Number of fields restored"`
	Skipped  []Skipped `json:"skipped" doc:"Fields that were not restored, with the reason: the first 200"`
	// ByReason is a map so that a caller need not know the reasons.
	ByReason map[string]int `json:"skipped_by_reason" doc:"Number of fields not restored, by reason"`
	DryRun   bool           `json:"dry_run"`
}

// mostSkipped is how many skipped fields are listed; all are counted.
const mostSkipped = 200

// Revert undoes a change: every field that nobody has changed since gets its old value and source
// back. Fields that an earlier revert had to leave are restored as soon as that is possible.
func (j *Journal) Revert(ctx context.Context, tx pg.Tx, in RevertChange) (Reverted, error) {
	c, err := j.Get(ctx, tx, ChangeRef{in.ChangeID})
	if err != nil {
		return Reverted{}, err
	}
	c, f, err := j.joined(ctx, tx, c.ID)
	if err != nil {
		return Reverted{}, err
	}
	return j.restore(ctx, tx, c, f, in.DryRun)
}

// joined returns a change as it is once no other revert of its family is under way.
func (j *Journal) joined(ctx context.Context, tx pg.Tx, change id.ID) (Change, changeFamily, error) {
	f, err := join(ctx, tx, change)
	if err != nil {
		return Change{}, f, err
	}
	c, err := j.Get(ctx, tx, ChangeRef{change.String()})
	return c, f, err
}

// restore is Revert of a change that was joined.
func (j *Journal) restore(ctx context.Context, tx pg.Tx, c Change, f changeFamily, dry bool) (Reverted, error) {
	if err := j.lock(ctx, tx, c.ID); err != nil {
		return Reverted{}, err
	}
	entries, later, err := j.undoing(ctx, tx, c.ID, f)
	if err != nil {
		return Reverted{}, err
	}
	if c.RevertedBy != nil && len(entries) == len(later) {
		return Reverted{}, errs.New(errs.Conflict,
			"this change was already reverted; reverted_by names the change that did it, and reverting that one "+
				"restores this change")
	}
	out := Reverted{Skipped: []Skipped{}, DryRun: dry}
	var done []Entry
	undo := func(tx pg.Tx) error {
		done, out.Skipped = nil, out.Skipped[:0]
		back := make([]Entry, 0, len(entries))
		for _, e := range entries {
			if later[e.ID] {
				out.Skipped = append(out.Skipped, Skip(e, "changed_since"))
			} else {
				back = append(back, e.reversed())
			}
		}
		set, left, err := j.apply(ctx, tx, back, false)
		if err != nil {
			return err
		}
		done, out.Skipped = set, append(out.Skipped, left...)
		out.Reverted = len(done)
		if dry {
			return errDry
		}
		return nil
	}
	if err := pg.Savepoint(ctx, tx, undo); err != nil && !errors.Is(err, errDry) {
		return Reverted{}, err
	}
	out.count()
	if dry {
		return out, nil
	}
	writes, err := j.writes(ctx, tx, done)
	if err != nil {
		return Reverted{}, err
	}
	made, err := Record(ctx, tx, Note{
		Cause: Revert, Summary: "Reverted: " + c.Stored, Wording: c.Wording, Reverts: &c.ID, Writes: writes,
	}, done)
	if pg.Violates(err, "change_family") {
		return Reverted{}, errs.New(errs.Conflict, "another call is reverting this change")
	}
	if err != nil || made == nil {
		return out, err
	}
	change, err := j.Get(ctx, tx, ChangeRef{made.String()})
	out.Change = &change
	return out, err
}

// count counts the fields that were left and lists the first of them.
func (r *Reverted) count() {
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return cmp.Compare(a.entry, b.entry) })
	r.ByReason = map[string]int{}
	for _, s := range r.Skipped {
		r.ByReason[s.Reason]++
	}
	r.Skipped = slices.Clip(r.Skipped[:min(len(r.Skipped), mostSkipped)])
}

// writes returns what entries cost an agent's budget besides the transactions they are about,
// according to their owners.
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

var errDry = errors.New("dry run")

// all returns the owners in a fixed order, those of single fields last.
func (j *Journal) all() []Subject {
	list := slices.SortedFunc(maps.Values(j.subjects), func(a,
		b Subject,
	) int {
		return strings.Compare(a.Kind(), b.Kind())
	})
	for _, o := range j.owners {
		list = append(list, o)
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
	d, ok := s.(interface{ Leaves(record *string) bool })
	return ok && d.Leaves(e.After)
}

// lock keeps others from changing the subjects of these changes until the transaction ends, so that
// what undoing finds stays true.
func (j *Journal) lock(ctx context.Context, tx pg.Tx, changes ...id.ID) error {
	type row struct {
		Subject string  `db:"subject"`
		IDs     []id.ID `db:"ids"`
	}
	rows, err := pg.All[row](ctx, tx, `select subject, array_agg(distinct subject_id) as ids from entry
		where change_id = any($1) group by subject order by subject`, changes)
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

// reversed returns the entry that undoes this one.
func (e Entry) reversed() Entry {
	e.Before, e.After, e.BeforeSource, e.AfterSource = e.After, e.Before, e.AfterSource, e.BeforeSource
	e.Note, e.RuleID = nil, nil
	return e
}

// apply asks the owners to set fields, and returns those that were set and those that were left.
//
// What comes into use goes first, so that others can lead to it; what goes out of use goes last,
// when all that led to it is gone. Owners stand in the order in which they lead to each other, so
// that turns round as well.
//
// If whole, what refers to a record that could not come into being is left too. A revert need not
// ask: the record of what it restores was there.
func (j *Journal) apply(ctx context.Context, tx pg.Tx, entries []Entry, whole bool) (done []Entry, skipped []Skipped,
	err error,
) {
	absent := map[id.ID]bool{}
	for _, leaving := range []bool{false, true} {
		owners := j.all()
		if leaving {
			slices.Reverse(owners)
		}
		for _, s := range owners {
			var mine []Entry
			for _, e := range entries {
				switch {
				case !j.takes(s, e) || leaves(s, e) != leaving:
				case whole && e.Ref != nil && absent[*e.Ref]:
					skipped = append(skipped, Skip(e, "missing"))
				default:
					mine = append(mine, e)
				}
			}
			if len(mine) == 0 {
				continue
			}
			left, err := s.Apply(ctx, tx, mine)
			if err != nil {
				return nil, nil, err
			}
			gone := make(map[int64]bool, len(left))
			for _, l := range left {
				gone[l.entry] = true
			}
			skipped = append(skipped, left...)
			for _, e := range mine {
				switch {
				case !gone[e.ID]:
					done = append(done, e)
				case e.creates():
					absent[e.record()] = true
				}
			}
		}
	}
	return done, skipped, nil
}
