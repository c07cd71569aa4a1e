package trackrecord_test

import (
	"testing"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// The outcome of a decision is the last edit by a person, or the last revert, of the same field.
func TestRecords(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	agent, rule, person := id.New(), id.New(), id.New()
	change := func(actor id.ID, kind, cause string) id.ID {
		t.Helper()
		c := id.New()
		if _, err := pg.Exec(t.Context(), db, `insert into change (id, short_id, cause, summary, actor_type, actor_id,
			actor_name, transactions, entries) values ($1, $2, $3, '', $4, $5, '', 1, 1)`, c, c.Short(), cause, kind,
			actor); err != nil {
			t.Fatal(err)
		}
		return c
	}
	review, err := pg.Value[id.ID](t.Context(), db, `select id from tag where slug = 'needs-review'`)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(c, subject id.ID, field string, ref *id.ID, after *string, by *id.ID) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, `insert into entry (change_id, subject, subject_id, field, ref, after, rule_id)
			values ($1, 'transaction', $2, $3, $4, $5, $6)`, c, subject, field, ref, after, by); err != nil {
			t.Fatal(err)
		}
	}
	food, home := new("food"), new("home")
	// Each transaction gets a decision. After that somebody does something, or nothing happens.
	for _, after := range []func(subject id.ID){
		func(id.ID) {},
		func(s id.ID) { enter(change(person, "user", "api"), s, "category", nil, food, nil) },
		func(s id.ID) { enter(change(person, "user", "api"), s, "tag", &review, nil, nil) },
		func(s id.ID) { enter(change(person, "user", "api"), s, "category", nil, home, nil) },
		func(s id.ID) { enter(change(person, "user", "revert"), s, "category", nil, nil, nil) },
		func(s id.ID) { // a later decision of an agent does not count
			enter(change(id.New(), "agent", "tool"), s, "category", nil, home, nil)
		},
		func(s id.ID) { // corrected, and then confirmed after all
			enter(change(person, "user", "api"), s, "category", nil, home, nil)
			enter(change(person, "user", "api"), s, "category", nil, food, nil)
		},
	} {
		for _, by := range []*id.ID{nil, &rule} {
			subject := id.New()
			who, kind, cause := agent, "agent", "tool"
			if by != nil {
				who, kind, cause = id.New(), "system", "sync"
			}
			c := change(who, kind, cause)
			enter(c, subject, "category", nil, food, by)
			enter(c, subject, "tag", &review, new("1"), by) // only asks for a review, so it is not a decision
			after(subject)
		}
	}
	want := trackrecord.Record{Decisions: 7, Kept: 3, Corrected: 1, Reverted: 1, Open: 2}
	if got, err := trackrecord.OfAgents(t.Context(), db, []id.ID{agent, id.New()}); err != nil || len(got) != 1 ||
		got[agent] != want {
		t.Errorf("the agent: %+v (%v), want %+v", got, err, want)
	}
	if got, err := trackrecord.OfRules(t.Context(), db, []id.ID{rule, id.New()}); err != nil || len(got) != 1 ||
		got[rule] != want {
		t.Errorf("the rule: %+v (%v), want %+v", got, err, want)
	}
}

// The budget is the tighter one of the key's own limit and the limit of all agents.
func TestBudgetOf(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	key := id.New()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := trackrecord.BudgetOf(t.Context(), db, key, false); err != nil || b != nil {
		t.Errorf("without a limit: %+v (%v)", b, err)
	}
	exec(`update setting set writes_per_day = 100`)
	exec(`insert into write_budget (key_id, day, used) select '00000000-0000-0000-0000-000000000000',
		(now() at time zone time_zone)::date, 130 from setting`)
	if b, err := trackrecord.BudgetOf(t.Context(), db, key, true); err != nil || b == nil || b.Limit != 100 || b.Used != 130 ||
		b.Left != 0 {
		t.Errorf("the household's: %+v (%v)", b, err)
	}
}
