package op_test

import (
	"context"
	"errors"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A use case that calls Owned must be declared with PeopleOthers. Otherwise the declarations would
// not show who may do what.
func TestOwnedWithoutADeclaration(t *testing.T) {
	t.Parallel()
	r := &op.Runner{DB: pgtest.New(t)}
	me := id.New()
	run := func(p op.People, a op.Actor, owner *id.ID) error {
		o := op.Writing(op.Spec{Name: "thing.end", Route: "DELETE /things", People: p, Summary: "Ends a thing."},
			func(ctx context.Context, _ pg.Tx, _ op.None) (op.Deleted, error) {
				return op.Deleted{Deleted: true}, op.Owned(ctx, owner, "an agent may end its own things only")
			})
		a.Scope, a.ID = op.Full, me
		_, err := r.Call(t.Context(), o, op.Call{Actor: a, Surface: op.REST, Args: map[string]any{}, RequestID: "test"})
		return err
	}
	other := id.New()
	for name, c := range map[string]struct {
		people op.People
		actor  op.Actor
		owner  *id.ID
		want   errs.Code
	}{
		"not declared":         {op.People{}, op.Actor{Type: op.User}, &me, errs.InternalError},
		"another's":            {op.PeopleOthers, op.Actor{Type: op.Agent}, &other, errs.Forbidden},
		"nobody's":             {op.PeopleOthers, op.Actor{Type: op.Agent}, nil, errs.Forbidden},
		"its own":              {op.PeopleOthers, op.Actor{Type: op.Agent}, &me, ""},
		"may administer":       {op.PeopleOthers, op.Actor{Type: op.Agent, Administers: true}, &other, ""},
		"a person":             {op.PeopleOthers, op.Actor{Type: op.User}, &other, ""},
		"a program of its own": {op.PeopleOthers, op.Actor{Type: op.System}, &other, ""},
	} {
		err := run(c.people, c.actor, c.owner)
		var face *errs.Error
		if errors.As(err, &face); err == nil && c.want != "" || err != nil && (face == nil || face.Code != c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
