package app_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

const (
	revertBatchSize    = 25  // number of sequences on one database, each with its own transactions and definitions
	revertTransactions = 6   // of one sequence
	revertNone         = "-" // a missing value or source
)

// A revertCell is a field's value and its source.
type revertCell struct{ value, source string }

// A revertState is every field of a sequence's world under subject/id/field/ref. It leaves out
// fields that were never set.
type revertState map[string]revertCell

func (s revertState) at(key string) revertCell {
	if c, ok := s[key]; ok {
		return c
	}
	return revertCell{revertNone, revertNone}
}

// A revertTouch is the effect of a change on a field: it took the field from one point of its
// history to another. A new change creates a new point. A revert returns to the point from which
// its change came.
type revertTouch struct {
	key           string
	before, after revertCell
	from, to      int
}

// A revertChange is a change in the test's model.
type revertChange struct {
	id      string
	touches []revertTouch
	// The change that this one reverts or restores, through all reverts between them. For a change
	// that is not a revert, the change itself.
	root   *revertChange
	odd    bool // whether it undoes the root instead of restoring it
	undone bool // for a root: whether the last of its reverts undid it
}

// fate says whether a field that the change wrote can go back, or else whether it already has.
func (r *revertRun) fate(c *revertChange, t revertTouch) (free, undone bool) {
	now, mark := r.points[t.key], t.to
	if now == t.to {
		return true, false
	}
	if c.odd {
		mark = t.from
	}
	for now != mark && now != 0 {
		now = r.parents[now]
	}
	return false, (now == mark) == c.odd
}

// TestRevert makes random sequences of changes by people, agents and the system, each twice. After
// a revert newest first, the canonical hash is as before. After a revert in random order, every
// field is what a model of the rule predicts. At all times, only a person or a forced call can
// change a value that a person set.
func TestRevert(t *testing.T) { //nolint:tparallel // the group waits for its parallel parts, so that their counts can be compared
	t.Parallel()
	batches := 4
	if os.Getenv("COFFER_TEST_LONG") != "" {
		batches = 40
	}
	tally, start := &revertTally{counts: map[string]int{}}, time.Now()
	t.Run("batch", func(t *testing.T) {
		for b := range batches {
			t.Run(fmt.Sprint(b), func(t *testing.T) {
				t.Parallel()
				w := newRevertWorld(t, tally)
				for n := range revertBatchSize {
					if err := w.sequence(t.Context(), uint64(b), n); err != nil {
						t.Errorf("sequence %d/%d: %v", b, n, err)
					}
				}
			})
		}
	})
	t.Logf("%.1f s%s", time.Since(start).Seconds(), tally)
	c := tally.counts
	switch {
	case t.Failed():
	case c["hash returned, newest first"] != batches*revertBatchSize ||
		c["random order as the model says"] != batches*revertBatchSize:
		t.Error("not every sequence was checked both ways")
	case c["control: hash differed with one revert left out"]*10 < c["control: sequences with one revert left out"]*9:
		t.Error("the control that leaves one revert out came back to the same hash: the hash sees too little")
	case c["control: reverts that a model without changed_since gets wrong"] == 0 ||
		c["writes with force to what a person holds"] == 0 || c["left: held"] == 0:
		t.Error("the sequences do not reach what they are meant to check")
	}
}

// A revertWorld is one service with many small worlds in its database.
type revertWorld struct {
	*world
	ops    map[string]*op.Op
	actors []op.Actor
	tally  *revertTally
	parsed map[string]revertDefinition
}

func newRevertWorld(t *testing.T, tally *revertTally) *revertWorld {
	t.Helper()
	w := &revertWorld{tally: tally, ops: map[string]*op.Op{}, parsed: map[string]revertDefinition{}}
	w.world = newWorldOn(t, pgtest.URL(t)+"&synchronous_commit=off", app.Config{})
	for _, o := range w.Ops() {
		w.ops[o.ID()] = o
	}
	for _, kind := range []string{op.User, op.User, op.Agent, op.Agent, op.System} {
		w.actors = append(w.actors, op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
	}
	revertSeed(t, w.world, revertBatchSize)
	return w
}

// A revertRun is one sequence while it runs.
type revertRun struct {
	*revertWorld
	dice    *rand.Rand
	prefix  string
	txs     []string
	state   revertState
	parents map[int]int    // for each point of a field's history, the point before it
	points  map[string]int // each field's current point in its history; 0 is the beginning
	newest  int
	seen    int64 // the id of the last entry that look has read
	changes []*revertChange
	story   []string
	calls   int        // also makes each new text unique
	from    pg.Querier // where a step looks up records
}

// sequence runs one sequence: reverted newest first, then in random order. Some run a third time as
// a control with one revert left out.
func (w *revertWorld) sequence(ctx context.Context, batch uint64, n int) (err error) {
	r := &revertRun{revertWorld: w, prefix: fmt.Sprintf("s%03d-", n), from: w.DB}
	if r.txs, err = pg.Values[string](ctx, w.DB, `select id::text from transaction where provider_id like $1 || '%'
		order by provider_id`, r.prefix); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n\t%s", err, strings.Join(r.story, "\n\t"))
		}
	}()
	r.begin(batch, n)
	calls := 14 + r.dice.IntN(16)
	if err := r.newestFirst(ctx, calls, false); err != nil {
		return err
	}
	r.begin(batch, n)
	calls = 14 + r.dice.IntN(16)
	if err := r.randomOrder(ctx, calls); err != nil {
		return err
	}
	w.tally.add("sequences", 1)
	if n%10 == 0 {
		return r.newestFirst(ctx, calls, true)
	}
	return nil
}

func (r *revertRun) begin(batch uint64, n int) {
	r.dice, r.changes, r.points, r.parents, r.story, r.calls = rand.New(rand.NewPCG(batch,
		uint64(n))), nil, map[string]int{}, map[int]int{}, nil, 0
}

// newestFirst makes a sequence of changes and undoes it newest first. The hash must be as before.
// The control does not undo the newest change.
func (r *revertRun) newestFirst(ctx context.Context, calls int, control bool) error {
	before, err := r.hash(ctx)
	if err != nil {
		return err
	}
	last, err := pg.Value[int64](ctx, r.DB, `select coalesce(max(seq), 0) from change`)
	if err != nil {
		return err
	}
	for range calls {
		if _, err := r.call(ctx, r.actor(), r.step(ctx)); err != nil {
			return err
		}
	}
	changes, err := pg.Values[string](ctx, r.DB, `select id::text from change where seq > $1 order by seq desc`, last)
	if err != nil {
		return err
	}
	if control && len(changes) > 0 {
		changes = changes[1:]
	}
	for _, c := range changes {
		out, err := r.revert(ctx, r.actors[0], c)
		if err != nil {
			return err
		}
		if !control && (len(out.Skipped) > 0 || out.Change == nil) {
			return fmt.Errorf("newest first, the revert of %s left fields: %+v", c, out)
		}
	}
	after, err := r.hash(ctx)
	switch {
	case err != nil:
		return err
	case control:
		r.tally.add("control: sequences with one revert left out", 1)
		if before != after {
			r.tally.add("control: hash differed with one revert left out", 1)
		}
		return nil
	case before != after:
		return fmt.Errorf("newest first: the canonical hash did not return\n%s", firstDifference(before, after))
	}
	r.tally.add("hash returned, newest first", 1)
	r.tally.add("changes reverted newest first", len(changes))
	return nil
}

// randomOrder plays the sequence again and checks every field after every call. Then random actors
// revert the changes in random order, some back and forth.
func (r *revertRun) randomOrder(ctx context.Context, calls int) error {
	if err := r.look(ctx, nil); err != nil {
		return err
	}
	for range calls {
		actor, s := r.actor(), r.step(ctx)
		if _, err := r.call(ctx, actor, s); err != nil {
			return err
		}
		if err := r.observe(ctx, actor, s); err != nil {
			return fmt.Errorf("after %s by %s: %w", s.op, actor.Type, err)
		}
	}
	r.tally.add("changes", len(r.changes))
	open := slices.Clone(r.changes)
	for range len(open) + len(open)/3 {
		i := r.dice.IntN(len(r.changes))
		if len(open) > 0 && r.dice.IntN(4) > 0 {
			last := len(open) - 1
			j := r.dice.IntN(len(open))
			open[j], open[last] = open[last], open[j]
			i = slices.Index(r.changes, open[last])
			open = open[:last]
		}
		if err := r.undo(ctx, r.actor(), i); err != nil {
			return err
		}
	}
	r.tally.add("random order as the model says", 1)
	return nil
}

// undo reverts a change and checks the result. Fields that nobody changed since go back. A field
// stays and is reported if somebody changed it, or if a person set it and the caller may not change
// that. It also stays if its old value would contradict the rest, such as a name that is taken or a
// record that is deleted or in use. For such a field the test restores the value and checks that
// this causes a contradiction.
func (r *revertRun) undo(ctx context.Context, actor op.Actor, i int) error {
	c, before := r.changes[i], r.state
	free, undone := map[string]bool{}, map[string]bool{}
	for _, t := range c.touches {
		f, u := r.fate(c, t)
		if f {
			free[t.key] = true
		}
		undone[t.key] = u
	}
	out, err := r.revert(ctx, actor, c.id)
	if c.root.undone != c.odd && len(free) == 0 {
		if !errs.Is(err, errs.Conflict) {
			return fmt.Errorf("change %d was reverted a second time: %w", i, err)
		}
		r.tally.add("second reverts refused", 1)
		return nil
	}
	if err != nil {
		return err
	}
	if c.root.undone != c.odd {
		r.tally.add("reverts of what an earlier one had left", 1)
	}
	if err := r.observe(ctx, actor, revertStep{undoes: c}); err != nil {
		return fmt.Errorf("after the revert of change %d by %s: %w", i, actor.Type, err)
	}
	left, went, wrong := map[string]int{}, 0, false
	for _, t := range c.touches {
		now := r.state.at(t.key)
		var reason string
		switch {
		case undone[t.key]:
			if now != before.at(t.key) {
				return fmt.Errorf("the revert of change %d by %s: %s was undone already and went from %v to %v", i,
					actor.Type, t.key, before.at(t.key), now)
			}
			continue
		case !free[t.key]:
			reason = "changed_since"
			wrong = wrong || now != t.before
		case revertHeld(t.key, before.at(t.key), actor):
			reason = "held"
		case now == t.before:
			went++
			continue
		default:
			trial := maps.Clone(r.state)
			trial[t.key] = t.before
			if len(r.contradictions(trial)) == 0 {
				return fmt.Errorf("the revert of change %d by %s: %s is %v, want %v again", i, actor.Type, t.key, now,
					t.before)
			}
			reason = "conflict"
		}
		if now != before.at(t.key) {
			return fmt.Errorf("the revert of change %d by %s: %s (%s) went from %v to %v", i, actor.Type, t.key, reason,
				before.at(t.key), now)
		}
		left[strings.Join(strings.Split(t.key, "/")[:3], "/")+" "+reason]++
		r.tally.add("left: "+reason, 1)
	}
	if wrong {
		r.tally.add("control: reverts that a model without changed_since gets wrong", 1)
	}
	for _, s := range out.Skipped {
		left[fmt.Sprintf("%s/%s/%s %s", s.Subject, s.SubjectID, s.Field,
			strings.Replace(s.Reason, "missing", "conflict", 1))]--
	}
	for k, n := range left {
		if n != 0 {
			return fmt.Errorf("the revert of change %d by %s: %s was left %+d times more than reported: %+v", i,
				actor.Type, k, n, out)
		}
	}
	if out.Reverted != went || (out.Change != nil) != (went > 0) {
		return fmt.Errorf("the revert of change %d by %s says that %d fields went back, it was %d: %+v", i, actor.Type,
			out.Reverted, went, out)
	}
	r.tally.add("reverts in random order", 1)
	r.tally.add("fields that went back in random order", went)
	return nil
}

// revertHeld reports whether a person set the field and the actor may not change it. Definitions
// are never protected in this way.
func revertHeld(key string, c revertCell, a op.Actor) bool {
	return strings.HasPrefix(key, "transaction/") && c.source == op.User && a.Type != op.User
}

// observe reads every field after a call. It compares the differences with the journal, and checks
// that values set by people are protected.
func (r *revertRun) observe(ctx context.Context, actor op.Actor, s revertStep) error {
	before := r.state
	made := &revertChange{}
	made.root = made
	if s.undoes != nil {
		made.root, made.odd = s.undoes.root, !s.undoes.odd
	}
	if err := r.look(ctx, made); err != nil {
		return err
	}
	told := map[string]bool{}
	for i, t := range made.touches {
		told[t.key] = true
		r.move(&made.touches[i], s.undoes)
		if before.at(t.key) != t.before || r.state.at(t.key) != t.after {
			return fmt.Errorf("the journal says that %s went from %v to %v, it was from %v to %v", t.key, t.before,
				t.after, before.at(t.key), r.state.at(t.key))
		}
	}
	for k := range revertKeys(before, r.state) {
		was, is := before.at(k), r.state.at(k)
		if was == is {
			continue
		}
		if !told[k] {
			return fmt.Errorf("%s went from %v to %v, and the journal does not say so", k, was, is)
		}
		if revertHeld(k, was, actor) && (!s.moves || was.source != is.source) {
			if !s.force {
				return fmt.Errorf("%s held %v, and %s made it %v without force", k, was, actor.Type, is)
			}
			r.tally.add("writes with force to what a person holds", 1)
		}
	}
	if broken := r.contradictions(r.state); len(broken) > 0 {
		return fmt.Errorf("contradictions: %s", strings.Join(broken, "; "))
	}
	if len(made.touches) > 0 {
		r.changes = append(r.changes, made)
		made.root.undone = made.odd
	}
	return nil
}

// move follows a field through its history.
func (r *revertRun) move(t *revertTouch, undoes *revertChange) {
	r.newest++
	t.from, t.to = r.points[t.key], r.newest
	r.parents[t.to] = t.from
	if undoes != nil {
		for _, u := range undoes.touches {
			if u.key == t.key {
				t.to = u.from
			}
		}
	}
	r.points[t.key] = t.to
}

func revertKeys(a, b revertState) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}
