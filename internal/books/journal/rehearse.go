package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Planned is an entry that a rehearsal wrote before it was rolled back. Its ID is its number in
// the plan.
type Planned struct {
	Entry
	Step int             `db:"step" json:"step"` // the call that wrote it; entries of one call belong together
	Seen *int64          `db:"seen" json:"seen"` // the newest entry about the field when the rehearsal ran
	Row  json.RawMessage `db:"row" json:"row"`   // the whole row, if the entry creates its record
}

// A Rehearsal describes the books that a rehearsal runs on.
type Rehearsal struct {
	AsOf *pg.Time  // the state at this time; nil for the current state
	Plan []Planned // the entries planned so far, applied on top of that
}

// A maker is a Subject whose records a call can create. A plan has the whole row of each, so that
// it can be created later with the same id.
type maker interface {
	// Rows returns the current rows.
	Rows(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]json.RawMessage, error)
	// Make inserts the missing rows, as if they had been created and deleted. Apply then brings
	// them into use.
	Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error
}

// A scribe collects the changes of a transaction that will be rolled back.
type scribe struct{ changes []id.ID }

type scribeKey struct{}

// rehearsing returns the scribe of the rehearsal that ctx belongs to, or nil.
func rehearsing(ctx context.Context) *scribe {
	s, _ := ctx.Value(scribeKey{}).(*scribe)
	return s
}

// Rehearsing reports whether writes in ctx will be rolled back and at most become a plan.
func Rehearsing(ctx context.Context) bool { return rehearsing(ctx) != nil }

// Rehearse is RehearseIn in a transaction of its own.
func (j *Journal) Rehearse(ctx context.Context, r Rehearsal, f func(context.Context, pg.Tx) error) (made []Planned,
	err error,
) {
	leave, err := j.db.Enter(ctx, pg.Working, "")
	if err != nil {
		return nil, err
	}
	defer leave()
	err = j.db.InTx(ctx, func(tx pg.Tx) (err error) {
		if _, err := pg.Exec(ctx, tx, `select set_config('lock_timeout', $1, true)`,
			strconv.FormatInt(pg.JobLocks.Milliseconds(), 10)); err != nil {
			return err
		}
		made, err = j.RehearseIn(ctx, tx, r, f)
		return err
	})
	return made, err
}

// RehearseIn applies a plan to the books, runs f on them, and rolls everything back. It returns the
// entries that f's changes wrote, to be appended to the plan. None of them count against a budget.
// RehearseIn returns f's error, so f itself must handle the errors of calls that are refused.
func (j *Journal) RehearseIn(ctx context.Context, tx pg.Tx, r Rehearsal,
	f func(context.Context, pg.Tx) error,
) (made []Planned, err error) {
	err = pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		var before, during scribe
		ctx := context.WithValue(ctx, scribeKey{}, &before)
		if r.AsOf != nil {
			if _, err := j.AsOf(ctx, tx, *r.AsOf); err != nil {
				return err
			}
		}
		if _, err := j.Carry(ctx, tx, Note{Summary: "Planned"}, r.Plan); err != nil {
			return err
		}
		ctx = context.WithValue(ctx, scribeKey{}, &during)
		err := f(ctx, tx)
		if err != nil {
			return err
		}
		if made, err = j.rehearsed(ctx, tx, during.changes, before.changes); err != nil {
			return err
		}
		return errDry
	})
	if err != errDry { //nolint:errorlint // our own, straight from above
		return nil, err
	}
	var last Planned
	for _, p := range r.Plan {
		last.ID, last.Step = max(last.ID, p.ID), max(last.Step, p.Step)
	}
	for i := range made {
		made[i].ID, made[i].Step = last.ID+int64(i)+1, last.Step+1
	}
	return made, nil
}

// rehearsed returns the entries of changes in their order. Seen of each is the newest entry about
// its field that existed before: entries of these changes and of others do not count.
func (j *Journal) rehearsed(ctx context.Context, tx pg.Tx, changes, others []id.ID) ([]Planned, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	list, err := pg.All[Planned](ctx, tx, `
		select id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note,
			0 as step, null::bigint as seen, null::jsonb as row
		from entry where change_id = any($1) order by id`, changes)
	if err != nil {
		return nil, err
	}
	seen, err := newestOf(ctx, tx, list, slices.Concat(changes, others))
	if err != nil {
		return nil, err
	}
	for i, p := range list {
		list[i].Seen = seen[p.spot()]
	}
	for _, s := range j.all() {
		m, ok := s.(maker)
		if !ok {
			continue
		}
		var ids []id.ID
		for _, p := range list {
			if j.takes(s, p.Entry) && p.creates() {
				ids = append(ids, p.record())
			}
		}
		if len(ids) == 0 {
			continue
		}
		rows, err := m.Rows(ctx, tx, ids)
		if err != nil {
			return nil, err
		}
		for i, p := range list {
			if j.takes(s, p.Entry) && p.creates() {
				list[i].Row = rows[p.record()]
			}
		}
	}
	return list, nil
}

// makes reports whether the entry's record existed only in the rehearsal.
func (p Planned) makes() bool { return len(p.Row) > 0 && string(p.Row) != "null" }

func (e Entry) spot() spot { return at(e.SubjectID, e.Field, e.Ref) }

// creates reports whether the entry creates its record.
func (e Entry) creates() bool {
	return e.Before == nil && e.After != nil && (e.Field == FieldRecord || e.Field == FieldComment)
}

// record returns the id of the record that the entry is about: a comment is a separate record.
func (e Entry) record() id.ID {
	if e.Field == FieldComment && e.Ref != nil {
		return *e.Ref
	}
	return e.SubjectID
}

// newestOf returns the newest entry about each field, without those of the given changes.
//
// It reads whole histories instead of each field's history separately, for the reason given at
// undoing.
func newestOf(ctx context.Context, q pg.Querier, plan []Planned, without []id.ID) (map[spot]*int64, error) {
	ids := make([]id.ID, len(plan))
	for i, p := range plan {
		ids[i] = p.SubjectID
	}
	type newest struct {
		ID      int64  `db:"id"`
		Subject id.ID  `db:"subject_id"`
		Field   string `db:"field"`
		Ref     *id.ID `db:"ref"`
	}
	rows, err := pg.All[newest](ctx, q, `
		select max(y.id) as id, y.subject_id, y.field, y.ref
		from unnest($1::uuid[]) v (id) join entry y on y.subject_id = v.id
		where y.change_id <> all ($2) group by y.subject_id, y.field, y.ref`, distinct(ids), without)
	out := make(map[spot]*int64, len(rows))
	for _, r := range rows {
		out[at(r.Subject, r.Field, r.Ref)] = &r.ID
	}
	return out, err
}

// Net returns a plan with one entry for each field, from its first value to its last. Fields that
// end as they began are left out.
func Net(plan []Planned) []Planned {
	first := make(map[spot]int, len(plan))
	out := make([]Planned, 0, len(plan))
	for _, p := range plan {
		if i, twice := first[p.spot()]; twice {
			out[i].After, out[i].AfterSource, out[i].Note, out[i].RuleID = p.After, p.AfterSource, p.Note, p.RuleID
			continue
		}
		first[p.spot()], out = len(out), append(out, p)
	}
	return slices.DeleteFunc(out, func(p Planned) bool {
		return !p.makes() && same(p.Before, p.After) && same(p.BeforeSource, p.AfterSource)
	})
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// A Carried is the result of carrying out a plan.
type Carried struct {
	// Changes usually has one change. If a name moves from one record to another within the plan,
	// each call becomes a separate change. Undone as one change, two records would have the same
	// name at the same time.
	Changes []id.ID
	Done    int // fields that were set
	Skipped []Skipped
	// Left maps the numbers of the plan's entries about a skipped field to the reason.
	Left map[int64]string
	// Bound maps records that were not created to the records of the same names that are in use by
	// now.
	Bound map[id.ID]id.ID
}

// Carry carries out a plan as a change by the caller. It skips fields that someone has changed
// since they were rehearsed, and fields that would contradict the current data. A record whose name
// is in use by now is not created; references to it become references to the one in use. Carry does
// not check whether a person holds a field: that was checked when the plan was made, and a person
// has approved the plan since.
func (j *Journal) Carry(ctx context.Context, tx pg.Tx, n Note, plan []Planned) (Carried, error) {
	out := Carried{Left: map[int64]string{}}
	if len(plan) == 0 {
		return out, nil
	}
	plan, bound, err := j.bind(ctx, tx, plan)
	if err != nil {
		return out, err
	}
	out.Bound = bound
	if err := j.lockPlan(ctx, tx, plan); err != nil {
		return out, err
	}
	now, err := newestOf(ctx, tx, plan, []id.ID{})
	if err != nil {
		return out, err
	}
	moved, reasons := map[spot]bool{}, map[spot]string{}
	var open []Planned
	for _, p := range plan {
		newest, known := now[p.spot()], moved[p.spot()]
		if !known && (newest == nil) == (p.Seen == nil) && (newest == nil || *newest == *p.Seen) {
			open = append(open, p)
			continue
		}
		if !known {
			out.Skipped = append(out.Skipped, Skip(p.Entry, "changed_since"))
		}
		moved[p.spot()], reasons[p.spot()] = true, "changed_since"
	}
	if err := j.makeRows(ctx, tx, open); err != nil {
		return out, err
	}
	done, left, err := j.settle(ctx, tx, open)
	if err != nil {
		return out, err
	}
	out.Skipped = append(out.Skipped, left...)
	byID := make(map[int64]spot, len(plan))
	for _, p := range plan {
		byID[p.ID] = p.spot()
	}
	for _, s := range left {
		reasons[byID[s.entry]] = s.Reason
	}
	for _, p := range plan {
		if reason := reasons[p.spot()]; reason != "" {
			out.Left[p.ID] = reason
		}
	}
	for _, part := range done {
		change, err := Record(ctx, tx, n, part)
		if err != nil {
			return out, err
		}
		if change != nil {
			out.Changes, out.Done = append(out.Changes, *change), out.Done+len(part)
		}
	}
	return out, nil
}

// lockPlan locks the subjects of a plan, in the order that reverts use.
func (j *Journal) lockPlan(ctx context.Context, tx pg.Tx, plan []Planned) error {
	ids := map[string][]id.ID{}
	for _, p := range plan {
		ids[p.Subject] = append(ids[p.Subject], p.SubjectID)
	}
	for _, s := range j.all() {
		mine := ids[s.Kind()]
		if len(mine) == 0 {
			continue
		}
		if err := s.Lock(ctx, tx, distinct(mine)); err != nil {
			return err
		}
	}
	return nil
}

// makeRows creates the records that existed only in the rehearsal. Owners are ordered by how their
// rows refer to each other.
func (j *Journal) makeRows(ctx context.Context, tx pg.Tx, plan []Planned) error {
	for _, s := range j.all() {
		var rows []json.RawMessage
		for _, p := range plan {
			if p.makes() && j.takes(s, p.Entry) {
				rows = append(rows, p.Row)
			}
		}
		if m, ok := s.(maker); ok && len(rows) > 0 {
			if err := m.Make(ctx, tx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle sets the fields of a plan. It returns the entries that it set, in parts that can each be
// undone at once, and the entries that it skipped. It acts as a person: see Carry.
//
// It first sets all fields to their last values at once. If some entry cannot be set, it repeats
// the calls one after another, because one of them may have freed a name that a later one took.
func (j *Journal) settle(ctx context.Context, tx pg.Tx, plan []Planned) (done [][]Entry, skipped []Skipped, err error) {
	actor := op.ActorOf(ctx)
	actor.Type = op.User
	ctx = op.Acting(ctx, actor)
	err = pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		set, left, err := j.apply(ctx, tx, entriesOf(Net(plan)), true)
		if err == nil && len(left) > 0 {
			return errDry
		}
		done = [][]Entry{set}
		return err
	})
	if err != errDry { //nolint:errorlint // our own, straight from above
		return done, nil, err
	}
	left := map[spot]Skipped{}
	for len(plan) > 0 {
		n := 1
		for n < len(plan) && plan[n].Step == plan[0].Step {
			n++
		}
		step := Net(plan[:n])
		plan = plan[n:]
		set, leaving, err := j.apply(ctx, tx, entriesOf(step), true)
		if err != nil {
			return nil, nil, err
		}
		done = append(done, set)
		for _, e := range set {
			delete(left, e.spot())
		}
		for _, s := range leaving {
			i := slices.IndexFunc(step, func(p Planned) bool { return p.ID == s.entry })
			left[step[i].spot()] = s
		}
	}
	skipped = slices.SortedFunc(maps.Values(left), func(a, b Skipped) int { return cmp.Compare(a.entry, b.entry) })
	return done, skipped, nil
}

func entriesOf(plan []Planned) []Entry {
	out := make([]Entry, len(plan))
	for i, p := range plan {
		out[i] = p.Entry
	}
	return out
}

// asOfMost is the maximum number of entries that AsOf undoes: about ten seconds.
const asOfMost = 200_000

// AsOf sets the books to their state at a moment and returns the fields that it skipped. The
// transaction must be rolled back. Each field gets the value from before the first entry after that
// moment. The bank's own data stays as it is now.
func (j *Journal) AsOf(ctx context.Context, tx pg.Tx, moment pg.Time) ([]Skipped, error) {
	// A long change is written in batches, all with the time of the first batch. So every entry
	// after the first entry of a later change counts as later too.
	first, err := pg.Value[*int64](ctx, tx, `select min(e.id) from change c join entry e on e.change_id = c.id
		where c.created_at > $1`, moment)
	if err != nil || first == nil {
		return nil, err
	}
	type row struct {
		Entry
		Change id.ID `db:"change_id"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note, change_id
		from entry where id >= $1 order by id desc limit $2`, first, asOfMost+1)
	if err != nil {
		return nil, err
	}
	if len(rows) > asOfMost {
		return nil, errs.New(errs.ValidationError,
			"more than %d fields have changed since then; choose a later time", asOfMost)
	}
	plan := make([]Planned, len(rows))
	step := 0
	for i, r := range rows {
		if i > 0 && r.Change != rows[i-1].Change {
			step++
		}
		plan[i] = Planned{Entry: r.reversed(), Step: step}
	}
	if err := j.lockPlan(ctx, tx, plan); err != nil {
		return nil, err
	}
	_, skipped, err := j.settle(ctx, tx, plan)
	return skipped, err
}
