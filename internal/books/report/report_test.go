package report

import (
	"context"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// An agent can delete only its own reports; people can delete all.
func TestWhoDeletesReports(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := New()
	as := func(kind string) context.Context {
		return op.WithActor(t.Context(), op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
	}
	agent, other, person := as(op.Agent), as(op.Agent), as(op.User)
	for _, c := range []struct {
		name            string
		author, deletes context.Context //nolint:containedctx // who acts
		refused         bool
	}{
		{"its own", agent, agent, false},
		{"another agent's", other, agent, true},
		{"a person's", person, agent, true},
		{"an agent's, by a person", agent, person, false},
	} {
		err := db.InTx(t.Context(), func(tx pg.Tx) error {
			made, err := r.Create(c.author, tx, CreateReport{Title: "x", Body: "x", Kind: "summary"})
			if err != nil {
				return err
			}
			_, err = r.Delete(c.deletes, tx, Ref{made.ShortID})
			return err
		})
		if errs.Is(err, errs.Forbidden) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
