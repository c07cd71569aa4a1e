package browser_test

import (
	"regexp"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// figure is an amount as the screens write it.
var figure = regexp.MustCompile(`[€$£]\s?\d|\d\s?(EUR|SEK|USD)\b`)

// TestHiddenStory hides all amounts, and then gives payments names that strangers could choose.
func TestHiddenStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	work := []struct{ path, text string }{
		{"/review", "to review"}, {"/transactions", "out ••••"}, {"/activity", "Today"}, {"/", "Spending vs."},
	}
	t.Run("amounts", func(t *testing.T) { //nolint:paralleltest // as above
		b := newBrowser(t, "desktop")
		b.enterAt(t, h, "/transactions", listed)
		b.do(t, step{Do: "idle"})
		if v := b.do(t, step{Do: "look", Look: true}); !figure.MatchString(v.Text) {
			t.Error("no amount is found where all are shown, so that hiding them proves nothing")
		}
		b.do(t, step{Do: "key", Name: "."})
		for _, s := range work {
			b.screen(t, s.path, s.text)
			b.do(t, step{Do: "idle"})
			if found := figure.FindString(b.do(t, step{Do: "look", Look: true}).Text); found != "" {
				t.Errorf("%s shows %q although amounts are hidden", s.path, found)
			}
		}
	})
	t.Run("names", func(t *testing.T) { //nolint:paralleltest // as above
		ids := h.newest(t, 6)
		for i, name := range []string{
			`<script>alert(1)</script><b onclick="x">`, "مخبز الشام \u202e drawkcab", strings.Repeat("Endlos", 30),
			"👩‍👩‍👧‍👦💸 Family & Söhne", "{{7*7}} ${7*7} %s %n", `'; drop table transaction; --`,
		} {
			if _, err := pg.Exec(t.Context(), h.DB, `update descriptor set name = $2, merchant_name = '', payee = id
				where id = (select descriptor_id from transaction where id = $1)`, ids[i], name); err != nil {
				t.Fatal(err)
			}
		}
		for _, size := range []string{"phone", "desktop dark"} {
			b := newBrowser(t, size)
			b.enterAt(t, h, "/transactions", "Endlos")
			b.whole(t, axe)
			b.screen(t, "/transactions?open="+ids[0], "<script>alert(1)</script>")
			b.whole(t, axe)
			b.screen(t, "/review", "payees")
			b.do(t, step{Do: "see", Text: "<script>alert(1)</script>"})
			b.whole(t, axe)
		}
	})
}
