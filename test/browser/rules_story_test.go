package browser_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// ruleStory creates a rule from a transaction, sees what it will change and what is locked or
// overridden, applies it, finds exactly that changed, and undoes it.
func ruleStory(t *testing.T, h *house, axe, size string) {
	t.Helper()
	payee, from := h.commonPayee(t)
	target := map[string]string{"desktop": "gifts_and_donations", "phone": "health"}[size]
	h.hold(t, from) // a person's decision, which no rule changes
	overrule := h.rule(t, "Large ones "+size, payee, "shopping", `, "priority": 100`, 30)
	post[json.RawMessage](t, h, "/api/v1/rules/"+overrule+"/apply?wait=20s", "application/json", `{}`)
	h.settle(t)
	before := h.filed(t)
	will := h.rehearse(t, payee, target)
	b := newBrowser(t, size)
	b.enterAt(t, h, "/rules/new?from="+from+"&category="+target, "Preview")
	save := fmt.Sprintf("Save and update %d", len(will))
	b.do(t, step{Do: "see", Text: save})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: ".*Locked.*"})
	b.do(t, step{Do: "click", Name: ".*Overridden.*"})
	b.do(t, step{Do: "see", Text: "by “Large ones " + size})
	b.whole(t, axe)

	b.do(t, step{Do: "click", Name: save})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("Updated %d of", len(will))})
	b.whole(t, axe)
	now := h.filed(t)
	for id, was := range before {
		want := was
		if after, ok := will[id]; ok {
			want = after
		}
		if now[id] != want {
			t.Errorf("%s: filed under %s, not %s as shown before", id, now[id], want)
		}
	}
	b.do(t, step{Do: "click", Name: "Undo changes"})
	b.do(t, step{Do: "see", Text: "Changes undone"})
	if now := h.filed(t); !maps.Equal(now, before) {
		t.Errorf("the undo leaves other categories behind")
	}

	// A second rule goes together with what it changed.
	again := h.rehearse(t, payee, target)
	b.screen(t, "/rules/new?from="+from+"&category="+target, "Preview")
	b.do(t, step{Do: "click", Name: fmt.Sprintf("Save and update %d", len(again))})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("Updated %d of", len(again))})
	b.do(t, step{Do: "click", Name: "Undo changes and rule"})
	b.do(t, step{Do: "see", Text: "Rule and changes undone"})
	if now := h.filed(t); !maps.Equal(now, before) {
		t.Errorf("undoing a rule and its application leaves other categories behind")
	}

	b.screen(t, "/rules", "Turn off")
	b.whole(t, axe)
	name := "Large ones " + size
	b.do(t, step{Do: "press", Name: "Delete: " + name})
	b.do(t, step{Do: "see", Text: "“" + name + "” deleted"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "press", Name: "Turn off: " + name})
	b.do(t, step{Do: "see", Text: "turned off"})
	b.do(t, step{Do: "press", Name: "Move up: " + name})
	b.do(t, step{Do: "see", Text: "moved"})
	b.do(t, step{Do: "visit", URL: h.url + "/rules/" + overrule})
	b.do(t, step{Do: "see", Text: "Overlapping rules"})
	b.whole(t, axe)
}

// proposalStory lets agents only suggest rules, sees who proposed which, accepts one and deletes the
// other.
func proposalStory(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/agents/limits", "Can create rules")
	b.do(t, step{Do: "click", Name: "Edit limits"})
	b.do(t, step{Do: "click", Name: "Agents can only suggest rules.*"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Suggest only"})
	key := h.agent(t, "Tidy")
	for _, name := range []string{"Ferries", "Kites"} {
		h.as(t, key, "/api/v1/rules", fmt.Sprintf(`{"rules": [{"name": %q, "category_slug": "travel",
			"conditions": {"field": "name", "op": "contains", "value": %q}}]}`, name, strings.ToLower(name)))
	}
	state := func(name string) string {
		s, err := pg.Value[string](t.Context(), h.DB, `select concat_ws(' ', enabled, proposed, deleted_at is not null) from rule where name = $1`, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	b.screen(t, "/", "2 suggested rules")
	b.do(t, step{Do: "click", Name: "2 suggested rules"})
	b.do(t, step{Do: "see", Text: "Suggested by Tidy"})
	b.whole(t, axe)
	b.do(t, step{Do: "press", Name: "Accept: Ferries"})
	b.do(t, step{Do: "see", Text: "“Ferries” turned on"})
	b.do(t, step{Do: "see", Text: "1 suggested rule"})
	b.do(t, step{Do: "press", Name: "Delete: Kites"})
	b.do(t, step{Do: "see", Text: "“Kites” deleted"})
	for name, want := range map[string]string{"Ferries": "t f f", "Kites": "f t t"} {
		if got := state(name); got != want {
			t.Errorf("%s: enabled, proposed, deleted are %s, want %s", name, got, want)
		}
	}
	b.screen(t, "/rules", "created by Tidy")
	b.whole(t, axe)
}

// viewerLooks opens the screens as someone who may only look: all is there, and nothing can be changed.
func viewerLooks(t *testing.T, h *house, axe string) {
	t.Helper()
	h.member(t, "Vera", "viewer")
	b := newBrowser(t, "desktop dark")
	b.enterAs(t, h, "vera@example.com", "/rules", "You have view-only access")
	for _, path := range []string{"/rules", "/rules/new", "/rules/{id}", "/import", "/review/links", "/review/suggestions"} {
		b.screen(t, path, "You have view-only access")
		b.whole(t, axe)
		v := b.do(t, step{Do: "look", Look: true})
		for _, word := range []string{"Turn off", "Save", "Choose file", "Undo"} {
			if strings.Contains(v.Text, word) {
				t.Errorf("%s offers %q to a viewer", path, word)
			}
		}
	}
}

// filed is the category of every transaction.
func (h *house) filed(t *testing.T) map[string]string {
	t.Helper()
	type row struct{ ID, Slug string }
	rows, err := pg.All[row](t.Context(), h.DB, `select t.id::text as id, coalesce(c.slug, '') as slug
		from transaction t left join category c on c.id = t.category_id where t.deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Slug
	}
	return out
}

// commonPayee is the payee of many payments, and one of them.
func (h *house) commonPayee(t *testing.T) (payee, transaction string) {
	t.Helper()
	payee, err := pg.Value[string](t.Context(), h.DB, `select d.merchant_name from transaction t
		join descriptor d on d.id = t.descriptor_id where d.merchant_name <> '' and t.deleted_at is null
		group by 1 having count(*) between 8 and 80 order by count(*) desc, 1 limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range h.list(t, "limit=1&search="+url.QueryEscape(payee)) {
		transaction = tx.ID
	}
	return payee, transaction
}

// hold files one transaction as a person.
func (h *house) hold(t *testing.T, id string) {
	t.Helper()
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json",
		fmt.Sprintf(`{"operations": [{"transaction_id": %q, "category": "travel"}]}`, id))
}

func conditions(payee string) string {
	return fmt.Sprintf(`{"field": "merchant_name", "op": "contains", "value": %q}`, payee)
}

// rule makes a rule for the payee's payments above an amount, and returns its short id.
func (h *house) rule(t *testing.T, name, payee, category, more string, above int) string {
	t.Helper()
	made := post[struct {
		Rules []struct {
			ShortID string `json:"short_id"`
		} `json:"rules"`
	}](t, h, "/api/v1/rules", "application/json", fmt.Sprintf(
		`{"rules": [{"name": %q, "category_slug": %q, "conditions": {"and": [%s,
			{"field": "amount", "op": "gt", "value": %d}]}%s}]}`, name, category, conditions(payee), above, more))
	return made.Rules[0].ShortID
}

// rehearse returns the changes of a rule: the new category of each transaction.
func (h *house) rehearse(t *testing.T, payee, category string) map[string]string {
	t.Helper()
	r := post[struct {
		Changes []struct {
			ID    string `json:"transaction_id"`
			After string `json:"after"`
		} `json:"changes"`
		Counts struct{ Changes, Held, Overridden int } `json:"counts"`
	}](t, h, "/api/v1/rules/rehearse", "application/json", fmt.Sprintf(
		`{"rules": [{"name": "Tried", "category_slug": %q, "conditions": %s}]}`, category, conditions(payee)))
	if len(r.Changes) != r.Counts.Changes || r.Counts.Changes == 0 || r.Counts.Held == 0 || r.Counts.Overridden == 0 {
		t.Fatalf("%q has no payments of each kind: %+v", payee, r.Counts)
	}
	out := make(map[string]string)
	for _, c := range r.Changes {
		out[c.ID] = c.After
	}
	return out
}
