package archive_test

import (
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg/pgtest"
)

// Agents cannot erase a member or a deleted member's data, because that cannot be undone.
func TestAgentsEraseNobody(t *testing.T) {
	t.Parallel()
	a := house(t, pgtest.URL(t))
	_, err := a.DB.Exec(t.Context(), `insert into member (id, short_id, name, role, deleted_at)
		values ('00000000-0000-7000-8000-00000000ca02', 'ca000002', 'Gone', 'member', now()),
		('00000000-0000-7000-8000-00000000ca03', 'ca000003', 'There', 'member', null)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range a.Ops() {
		for _, member := range []string{"ca000002", "ca000003"} {
			if o.Name != "user.erase" {
				continue
			}
			_, err := a.Runner.Call(t.Context(), o, op.Call{
				Actor: op.Actor{Type: op.Agent, ID: id.New(), Name: "agent", Scope: op.Full}, Surface: op.REST,
				Args: map[string]any{"id": member}, RequestID: "test",
			})
			if !errs.Is(err, errs.Forbidden) {
				t.Errorf("%s: %v", member, err)
			}
		}
	}
}
