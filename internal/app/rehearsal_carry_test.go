package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// carry applies the plan. The books must then equal those of the direct calls.
func (l *rehearsalLaw) carry(n int) {
	l.Helper()
	r := l.rehearsed
	plan := stored(l.T, r.plan)
	start := time.Now()
	done := r.apply(l.T, plan)
	l.took["apply"] += time.Since(start)
	l.tally["entries applied"] += done.Done
	if len(done.Changes) > 1 {
		l.tally["plans in which a name changed hands"]++
	}
	if len(done.Skipped) > 0 {
		l.Errorf("script %d: the plan was applied but for %+v\n\t%s", n, done.Skipped,
			strings.Join(l.direct.story, "\n\t"))
	}
	if want, got := l.hash(l.direct, l.direct.DB), l.hash(r, r.DB); want != got {
		l.Errorf("script %d: the applied plan is not what the calls did\n%s\n\t%s", n, firstDifference(want, got),
			strings.Join(l.direct.story, "\n\t"))
	}
}

// stored returns the plan after writing and reading it as JSON.
func stored(t *testing.T, plan []journal.Planned) (out []journal.Planned) {
	t.Helper()
	b, err := json.Marshal(plan)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *rehearsalRun) apply(t *testing.T, plan []journal.Planned) (out journal.Carried) {
	t.Helper()
	ctx := op.WithActor(t.Context(), r.run)
	err := r.DB.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = r.Journal.Carry(ctx, tx, journal.Note{Summary: "Applied a plan", Approved: true}, plan)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// moved lets a person change some of the planned fields before the plan is applied. Applying the
// plan must not change these fields, and must report them. The control uses a plan that claims to
// have seen the person's changes.
func (l *rehearsalLaw) moved(n int) {
	l.Helper()
	r := l.rehearsed
	me := op.Actor{Type: op.User, ID: id.New(), Name: "me", Scope: op.Full}
	touched := map[string]bool{}
	for _, p := range r.plan {
		if p.Subject != journal.Transaction || p.Field != journal.FieldCategory || len(touched) == 2 {
			continue
		}
		category := "s000-" + []string{"aa", "ab"}[n/4%2]
		answer, err := r.Runner.Call(l.Context(), r.ops["transaction.change"], op.Call{
			Actor: me, Surface: op.REST, Args: map[string]any{"operations": []any{map[string]any{
				"transaction_id": p.SubjectID.String(), "category": category,
			}}},
		})
		if err != nil {
			l.Fatal(err)
		}
		if answer.Change != nil {
			touched[p.SubjectID.String()] = true
		}
	}
	if len(touched) == 0 {
		return
	}
	look := func(q pg.Querier) string {
		rows, err := pg.Values[string](l.Context(), q, `select concat_ws(' ', id, category_id, category_source)
			from transaction where id::text = any($1) order by 1`, slices.Sorted(maps.Keys(touched)))
		if err != nil {
			l.Fatal(err)
		}
		return strings.Join(rows, " ")
	}
	before := look(r.DB)
	blind := slices.Clone(r.plan)
	newest, err := pg.Values[string](l.Context(), r.DB, `select subject_id || ' ' || max(id) from entry
		where field = 'category' group by subject_id`)
	if err != nil {
		l.Fatal(err)
	}
	for i, p := range blind {
		for _, row := range newest {
			var seen int64
			if _, err := fmt.Sscanf(row, p.SubjectID.String()+" %d", &seen); err == nil && p.Field == "category" {
				blind[i].Seen = &seen
			}
		}
	}
	ctx := op.WithActor(l.Context(), r.run)
	undone := errors.New("undone")
	err = r.DB.InTx(ctx, func(tx pg.Tx) error {
		if _, err := r.Journal.Carry(ctx, tx, journal.Note{Summary: "Blind", Approved: true}, blind); err != nil {
			return err
		}
		l.tally["control: plans applied without a look at what moved"]++
		if look(tx) != before {
			l.tally["control: they overwrote what a person did"]++
		}
		return undone
	})
	if !errors.Is(err, undone) {
		l.Fatal(err)
	}
	out := r.apply(l.T, r.plan)
	for _, s := range out.Skipped {
		if s.Field == journal.FieldCategory && s.Reason == "changed_since" && touched[s.SubjectID.String()] {
			l.tally["fields that others touched, left and named"]++
			touched[s.SubjectID.String()] = false
		}
	}
	for u, unnamed := range touched {
		if unnamed && len(out.Left) == 0 {
			l.Errorf("script %d: %s was touched and is not named: %+v", n, u, out.Skipped)
		}
	}
	if after := look(r.DB); after != before {
		l.Errorf("script %d: what a person did was overwritten: %s, %s", n, before, after)
	}
	l.undo(r, r.run.ID) // newest first, because the person's value may refer to a record that the plan deleted
	l.undo(r, me.ID)
}
