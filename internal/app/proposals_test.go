package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
)

// onlyPropose sets that agents can only propose rules.
func (w *world) onlyPropose(t testing.TB) {
	t.Helper()
	if _, err := w.call(t.Context(), opNamed(t, w.Ops(), "agent.update"), op.REST,
		map[string]any{"propose_rules": true}); err != nil {
		t.Fatal(err)
	}
}

// TestProposedRules: only a person can decide about rules that agents propose. The test tries every
// way in which an agent could decide.
func TestProposedRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	person := credential{key: w.key}
	agent := credential{key: w.newKey(t, auth.CreateKey{Name: "assistant", Scope: "full_access", ActorType: op.Agent}).Secret}
	said := func(c credential, method, path, body string, want int, into any) {
		t.Helper()
		r := c.send(t, w, method, "/api/v1"+path, body)
		if r.status != want {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
		if into != nil {
			if err := json.Unmarshal([]byte(r.body), into); err != nil {
				t.Fatal(err)
			}
		}
	}
	type made struct {
		ChangeID string `json:"change_id"`
		Rules    []struct{ ID string }
	}
	create := func(c credential, name string) (rule, change string) {
		t.Helper()
		var m made
		said(c, "POST", "/rules", fmt.Sprintf(`{"rules":[{"name":%q,"conditions":{"field":"name","op":"contains","value":%q},
			"category_slug":"travel"}]}`, name, name), 201, &m)
		return m.Rules[0].ID, m.ChangeID
	}
	state := func(rule string) string {
		t.Helper()
		var r struct{ Enabled, Proposed bool }
		said(person, "GET", "/rules/"+rule, "", 200, &r)
		return fmt.Sprint(r.Enabled, " ", r.Proposed)
	}
	is := func(rule, want, when string) {
		t.Helper()
		if got := state(rule); got != want {
			t.Errorf("%s: enabled, proposed are %s, want %s", when, got, want)
		}
	}
	revert := func(c credential, change string) (reverts string) {
		t.Helper()
		var out struct {
			Results []struct {
				RevertID string `json:"revert_id"`
			}
		}
		said(c, "POST", "/changes/revert", fmt.Sprintf(`{"change_id":%q}`, change), 200, &out)
		return out.Results[0].RevertID
	}
	newest := func() string {
		t.Helper()
		var list struct {
			Changes []struct{ ID string }
		}
		said(person, "GET", "/changes?limit=1", "", 200, &list)
		return list.Changes[0].ID
	}

	before, _ := create(agent, "before")
	is(before, "true false", "an agent's rule while agents may make rules")
	w.onlyPropose(t)
	is(before, "true false", "that rule once agents only propose")
	own, _ := create(person, "own")
	is(own, "true false", "a person's rule")
	rule, _ := create(agent, "proposed")
	is(rule, "false true", "an agent's rule")

	said(agent, "PATCH", "/rules/"+rule, `{"enabled":true}`, 403, nil)
	is(rule, "false true", "an agent's attempt")
	session := w.agent(t, w.key) // at the tools, even a person's key counts as an agent's
	if res := callTool(t, session, "update_transaction_rule", map[string]any{"id": rule, "enabled": true}); !res.IsError {
		t.Errorf("a tool accepted the rule: %s", blockOf(t, res))
	}
	is(rule, "false true", "a tool's attempt")
	said(person, "PATCH", "/rules/"+rule, `{"enabled":false}`, 200, nil)
	is(rule, "false true", "a person who does not decide")

	said(person, "PATCH", "/rules/"+rule, `{"enabled":true}`, 200, nil)
	is(rule, "true false", "a person's yes")
	undone := revert(person, newest())
	is(rule, "false true", "the approval was undone")
	revert(agent, undone)
	is(rule, "false true", "an agent that reverts the revert")
	revert(person, undone)
	is(rule, "true false", "a person who reverts the revert")

	said(agent, "PATCH", "/rules/"+rule, `{"enabled":false}`, 200, nil)
	is(rule, "false false", "an agent disables what was accepted")
	said(agent, "PATCH", "/rules/"+rule, `{"enabled":true}`, 200, nil)
	is(rule, "true false", "and enables it again")

	withdrawn, change := create(agent, "withdrawn")
	revert(agent, change)
	said(person, "GET", "/rules/"+withdrawn, "", 404, nil)
	revert(agent, newest())
	is(withdrawn, "false true", "a proposal withdrawn and proposed again")
}
