package rulebook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
)

// fourBuckets holds the attempts of rules by bucket. It uses the names of rules, so that two
// results can be compared.
type fourBuckets map[string][]string

func (f fourBuckets) add(bucket string, parts ...any) {
	f[bucket] = append(f[bucket], fmt.Sprintln(parts...))
	slices.Sort(f[bucket])
}

func said(t *text.Untrusted) string {
	if t == nil {
		return "none"
	}
	return t.Plain()
}

func winner(p *rulebook.RulePrevailing) string {
	if p == nil {
		return ""
	}
	return p.Name
}

// TestRehearsalOfDrafts compares the rehearsal of unsaved rules with the dry run of all rules after
// they were saved, also if a draft replaces a saved rule. It checks that the rehearsal wrote
// nothing.
func TestRehearsalOfDrafts(t *testing.T) {
	t.Parallel()
	w := lawWorld(t, 41, 40)
	w.work()
	sum := map[string]int{}
	for n := range uint64(16) {
		r := seeded(900 + n)
		w.exec(`update rule set deleted_at = now() where not is_system and deleted_at is null`)
		w.exec(newVersion)
		specs := w.genSpecs(r, 2+r.IntN(5), false)
		for i := range specs {
			specs[i].Name = fmt.Sprintf("saved %d", i)
		}
		ids := w.create(specs...)
		drafts := w.genSpecs(r, 1+r.IntN(2), false)
		for i := range drafts {
			drafts[i].Name = fmt.Sprintf("draft %d", i)
		}
		in := rulebook.RehearseRules{}
		if n%2 == 0 {
			drafts = drafts[:1]
			in.Replace = new(ids[r.IntN(len(ids))].String())
			drafts[0].Priority = nil
		}
		in.Rules = w.specs(drafts...).Rules
		start, changes := w.canonical(w.db), value[int](w, `select count(*)::int from change`)
		got, err := w.rules.Rehearse(w.ctx, w.db, in)
		if err != nil {
			t.Fatal(err)
		}
		if w.canonical(w.db) != start || value[int](w, `select count(*)::int from change`) != changes ||
			value[int](w, `select count(*)::int from rule where name like 'draft%' and deleted_at is null`) != 0 {
			t.Fatal("a rehearsal wrote something")
		}
		if in.Replace != nil {
			w.in(func(tx pg.Tx) error {
				spec, err := in.Rules[0].Read()
				if err == nil {
					_, err = w.rules.Patch(w.ctx, tx, rulebook.PatchRule{
						ID: *in.Replace, Name: &spec.Name, Conditions: spec.Conditions, Actions: spec.Actions,
					})
				}
				return err
			})
		} else {
			ids = w.create(drafts...)
		}
		var dry rulebook.Rehearsal
		w.result(w.applying(rulebook.ApplyRules{DryRun: true}), &dry)
		want, have := w.compared(dry, got)
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%d: dry run (-), rehearsal (+): %s", n, d)
		}
		if got.Scanned != dry.Scanned {
			t.Errorf("%d scanned, want %d", got.Scanned, dry.Scanned)
		}
		for k, rows := range have {
			sum[k] += len(rows)
		}
		applied := rulebook.ApplyRules{WithOthers: true}
		if in.Replace != nil {
			applied.RuleIDs = []string{*in.Replace}
		} else {
			for _, u := range ids {
				applied.RuleIDs = append(applied.RuleIDs, u.String())
			}
		}
		w.holdToRehearsal(applied, got)
	}
	if err := w.db.InTx(w.ctx, func(tx pg.Tx) error {
		_, err := w.rules.Apply(w.ctx, tx, rulebook.ApplyRules{WithOthers: true})
		return err
	}); !errs.Is(err, errs.ValidationError) {
		t.Errorf("with others, but without naming rules: %v", err)
	}
	t.Log(sum)
	if len(sum) != 4 {
		t.Error("too few effects for a test")
	}
}

// holdToRehearsal applies rules together with the others, and checks each written field against the
// rehearsal.
func (w *world) holdToRehearsal(in rulebook.ApplyRules, rehearsed rulebook.RuleRehearsal) {
	w.Helper()
	var done rulebook.Applied
	w.result(w.applying(in), &done)
	if done.Changed != rehearsed.Changed {
		w.Errorf("%d transactions changed, and %d were rehearsed", done.Changed, rehearsed.Changed)
	}
	if done.ChangeID == nil {
		return
	}
	written := value[int64](w, `select count(*) from entry where change_id = '`+done.ChangeID.String()+`'
		and subject = 'transaction' and rule_id = any('{`+strings.Join(in.RuleIDs, ",")+`}')`)
	if all := value[int64](w, `select count(*) from entry where change_id = '`+done.ChangeID.String()+`'
		and subject = 'transaction'`); written != rehearsed.Counts.Changes || all != written {
		w.Errorf("%d fields were written, %d of them by the rules, and %d were rehearsed", all, written,
			rehearsed.Counts.Changes)
	}
}

// compared returns the rows of drafts in a dry run and in a rehearsal, and checks the rehearsal's
// counts against its rows.
func (w *world) compared(dry rulebook.Rehearsal, got rulebook.RuleRehearsal) (want, have fourBuckets) {
	w.Helper()
	want, have = fourBuckets{}, fourBuckets{}
	counted, effects := map[string]int64{}, map[string]int64{}
	for bucket, rows := range map[string][]rulebook.Rehearsed{
		"changes": dry.Changes, "already_so": dry.AlreadySo, "held": dry.Held, "overridden": dry.Overridden,
	} {
		if len(rows) == 200 {
			w.Fatal("the dry run does not show all rows")
		}
		for _, r := range rows {
			if r.RuleName[0] == 'd' {
				want.add(bucket, r.TransactionID, r.Date, r.Name.Plain(), r.Amount, r.Currency, r.Field, said(r.Before),
					said(r.After), r.RuleName, winner(r.OverriddenBy))
			}
		}
	}
	for bucket, rows := range map[string][]rulebook.RuleRehearsalRow{
		"changes": got.Changes, "already_so": got.AlreadySo, "held": got.Held, "overridden": got.Overridden,
	} {
		if !slices.IsSortedFunc(rows, func(a, b rulebook.RuleRehearsalRow) int {
			return b.Date.Time().Compare(a.Date.Time())
		}) {
			w.Errorf("%s are not newest first", bucket)
		}
		for _, r := range rows {
			rule := got.ByRule[r.Index].Name
			have.add(bucket, r.TransactionID, r.Date, r.Name.Plain(), r.Amount, r.Currency, r.Field, said(r.Before),
				said(r.After), rule, winner(r.OverriddenBy))
			counted[fmt.Sprintln(bucket, rule, r.Field, said(r.Before), said(r.After), winner(r.OverriddenBy))]++
		}
	}
	for _, r := range got.ByRule {
		for _, e := range r.Effects {
			effects[fmt.Sprintln(e.Outcome, r.Name, e.Field, said(e.Before), said(e.After), winner(e.OverriddenBy))] += e.Count
		}
	}
	if d := cmp.Diff(counted, effects); d != "" {
		w.Errorf("rows (-), counts by rule (+): %s", d)
	}
	return want, have
}

// TestRehearsalShowsTheNewest rehearses a rule that matches every transaction. All are counted and
// the newest are shown. The rehearsal ends if its caller cancels it.
func TestRehearsalShowsTheNewest(t *testing.T) {
	t.Parallel()
	n := 2_000
	if long() {
		n = 100_000
	}
	w := small(t, n)
	w.create(ruleSpec{Name: "saved", Conditions: all, Actions: tagging("saved")})
	in := rulebook.RehearseRules{Rules: w.specs(ruleSpec{Name: "draft", Conditions: all, Actions: tagging("seen")}).Rules}
	began := time.Now()
	got, err := w.rules.Rehearse(w.ctx, w.db, in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d transactions in %v", n, time.Since(began).Round(time.Millisecond))
	newest, err := pg.Values[id.ID](w.ctx, w.db, `select id from transaction order by date desc, id desc limit 100`)
	if err != nil {
		t.Fatal(err)
	}
	shown := make([]id.ID, len(got.Changes))
	for i, r := range got.Changes {
		shown[i] = r.TransactionID
	}
	if d := cmp.Diff(newest, shown); d != "" || got.Counts.Changes != int64(n) || got.Changed != int64(n) {
		t.Errorf("%+v, %d changed: %s", got.Counts, got.Changed, d)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	if _, err := w.rules.Rehearse(ctx, w.db, in); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller left: %v", err)
	}
}
