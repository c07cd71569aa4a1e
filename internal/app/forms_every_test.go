package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// TestFormsOfEveryReference: wherever an op names a record, by route and by tool, it accepts every
// form of the name and refuses a name that nothing has. All calls share one household, and the
// response to a read may contain a sum over all of it. So the reads come first, while nothing
// changes. Each form must then get the same response.
func TestFormsOfEveryReference(t *testing.T) { //nolint:tparallel // a group waits for its parallel parts, so that the writes begin after the last read
	t.Parallel()
	b := newFormBook(t, 800)
	var c formCounts
	for _, writes := range []bool{false, true} { //nolint:paralleltest // one after the other
		t.Run(map[bool]string{false: "reads", true: "writes"}[writes], func(t *testing.T) {
			for _, o := range b.ops {
				if o.Writes == writes {
					b.formsOf(t, o, &c)
				}
			}
		})
	}
	t.Logf("%d places, %d calls, %d of them with names of nothing", c.places.Load(), c.calls.Load(), c.refused.Load())
	if c.places.Load() < 100 || c.calls.Load() < 700 {
		t.Error("control: that is too few; is the menu empty?")
	}
}

// formCounts counts what TestFormsOfEveryReference tried.
type formCounts struct{ places, calls, refused atomic.Int64 }

// formsOf tries every form at every place of an op that names a record, each place in parallel.
func (b *formBook) formsOf(t *testing.T, o *op.Op, c *formCounts) {
	t.Helper()
	for _, p := range formPlaces(o) {
		r, _, _ := p.ref()
		if r.kind == "" {
			continue
		}
		for road, call := range b.formSurfaces(o) {
			c.places.Add(1)
			t.Run(p.String()+" by "+road, func(t *testing.T) {
				t.Parallel()
				same := map[string]bool{}
				for form := range (formEntity{}).forms(r.slug) {
					c.calls.Add(2)
					c.refused.Add(1)
					same[b.known(t, p, form, road, call)] = true
					b.unknown(t, p, form, call)
				}
				if !o.Writes && len(same) != 1 {
					t.Errorf("one %s, %d answers", r.kind, len(same))
				}
			})
		}
	}
}

// known names an existing record, and returns the response without its cursor.
func (b *formBook) known(t *testing.T, p formPlace, form, road string, call formRoad) string {
	t.Helper()
	r, _, _ := p.ref()
	b.postpone(t)
	cast := b.cast(p.op)
	a := call(t, p.op, p.args(cast.get(t, r).forms(r.slug)[form], cast.valid(t)))
	if code := a.outcome(); a.status >= 300 && a.status != http.StatusConflict || code != "" &&
		code.Status() != http.StatusConflict {
		t.Errorf("%s as %s: %d %s", r.kind, form, a.status, a.body)
	}
	a.checkForms(t, road == "tool")
	return formCursor.ReplaceAllString(a.body, "")
}

// unknown names a record that does not exist. The call must refuse it, unless it creates a missing
// tag.
func (b *formBook) unknown(t *testing.T, p formPlace, form string, call formRoad) {
	t.Helper()
	r, _, _ := p.ref()
	nothing := formEntity{id.New(), fmt.Sprintf("no-such-%d", formCount.Add(1))}
	a := call(t, p.op, p.args(nothing.forms(r.slug)[form], b.cast(p.op).valid(t)))
	made := r.registers && !strings.HasPrefix(form, "UUID")
	code := a.outcome()
	if r.registers && !made && code == errs.ValidationError {
		code = errs.NotFound // a UUID is not a valid slug
	}
	if !made && code != errs.NotFound && code != errs.InvalidReference || made && code != "" ||
		!made && strings.Contains(a.body, `"change_id":"`) {
		t.Errorf("no %s as %s: %d %q %.300s", r.kind, form, a.status, code, a.body)
	}
}
