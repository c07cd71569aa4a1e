package op_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

type put struct {
	How string `json:"how"`
}

// A call in a transaction commits with it. If the call is refused, takes too long or panics, only
// the call is undone. An error that requires the transaction to run again is returned unchanged.
func TestCallIn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Exec(t.Context(), `create table line (body text)`); err != nil {
		t.Fatal(err)
	}
	change := id.New()
	o := op.Writing(op.Spec{Name: "line.put", Route: "POST /lines", Summary: "Puts a line."},
		func(ctx context.Context, tx pg.Tx, in put) (op.None, error) {
			if _, err := pg.Exec(ctx, tx, `insert into line values ($1)`, in.How); err != nil {
				return op.None{}, err
			}
			var err error
			switch in.How {
			case "refused":
				err = errs.New(errs.Conflict, "no")
			case "panics":
				panic("no")
			case "broken":
				_, err = pg.Exec(ctx, tx, `select 1/0`)
			case "slow":
				_, err = pg.Exec(ctx, tx, `select pg_sleep(5)`)
			case "again":
				_, err = pg.Exec(ctx, tx, `do $$ begin raise exception using errcode = '40001'; end $$`)
			case "for ever":
				for err == nil {
					_, err = pg.Exec(ctx, tx, `select pg_sleep(0.05)`)
				}
			}
			op.Changed(ctx, change)
			return op.None{}, err
		})
	run := id.New()
	r := &op.Runner{DB: db, Timeout: 300 * time.Millisecond}
	call := func(tx pg.Tx, how string) (op.Answer, error) {
		answer, _, err := r.CallIn(t.Context(), tx, o, op.Call{
			Actor:   op.Actor{Type: op.Agent, ID: run, Run: &run, Scope: op.Full},
			Surface: op.Tool, Args: map[string]any{"how": how}, RequestID: "test",
		})
		return answer, err
	}
	err := db.InTx(t.Context(), func(tx pg.Tx) error {
		before, err := pg.Value[string](t.Context(), tx, `show statement_timeout`)
		if err != nil {
			return err
		}
		for how, code := range map[string]errs.Code{
			"refused": errs.Conflict, "panics": errs.InternalError, "broken": errs.InternalError,
			"slow": errs.Unavailable,
		} {
			if _, err := call(tx, how); !errs.Is(err, code) {
				t.Errorf("%s: %v, want %s", how, err, code)
			}
		}
		answer, err := call(tx, "done")
		if err != nil || answer.Change == nil || *answer.Change != change {
			t.Errorf("done: %+v, %v", answer, err)
		}
		if now, err := pg.Value[string](t.Context(), tx, `show statement_timeout`); err != nil || now != before {
			t.Errorf("the statement timeout is %s, was %s: %v", now, before, err)
		}
		_, err = pg.Exec(t.Context(), tx, `insert into line values ('beside')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pg.Values[string](t.Context(), db, `select body from line order by 1`)
	if err != nil || len(lines) != 2 || lines[0] != "beside" || lines[1] != "done" {
		t.Errorf("%q, %v", lines, err)
	}
	for how, lost := range map[string]func(error) bool{
		"again": pg.Retryable, "for ever": func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
	} {
		undone := errors.New("undone")
		err := db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := call(tx, how)
			if _, public := errors.AsType[*errs.Error](err); public || !lost(err) {
				t.Errorf("%s: %v", how, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Error(err)
		}
	}
	asks := op.Calling(op.Spec{Name: "line.ask", Route: "POST /asked", Summary: "Asks for a line."},
		func(context.Context, pg.Querier, put) (int, error) { return 1, nil },
		func(context.Context, pg.Tx, put, int) (op.None, error) { return op.None{}, nil })
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		_, _, err := r.CallIn(t.Context(), tx, asks, op.Call{
			Actor: op.Actor{Type: op.User, ID: run, Scope: op.Full}, Surface: op.Tool,
			Args: map[string]any{"how": ""},
		})
		return err
	})
	if !errs.Is(err, errs.Forbidden) {
		t.Errorf("an op that asks outside: %v", err)
	}
}

// A run has no key that could administer, even if its actor has Administers set.
func TestRunsAreBound(t *testing.T) {
	t.Parallel()
	run := id.New()
	a := op.Actor{Type: op.Agent, ID: run, Run: &run, Scope: op.Read, Administers: true}
	if !a.Bound() {
		t.Error("a run may administer")
	}
	if a.Run = nil; a.Bound() {
		t.Error("the control: a key that may administer is bound")
	}
}
