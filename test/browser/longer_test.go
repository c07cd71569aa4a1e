package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// windows are the sizes at which every language is looked at: a desk, a small laptop or tablet, a phone.
var windows = []string{"1440x900", "1000x700", "390x844"}

// TestLanguages opens every screen in German, the longest of our languages, and in a pseudo-language
// that is 40 % longer than English, at three sizes. No word is cut off, written over another or outside
// the window, and the navigation has no word that is in no catalog. COFFER_TEST_SHEETS names a folder
// for pictures of all of them, light and dark, and of the other languages.
func TestLanguages(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	built(t)
	h := newHouse(t)
	h.furnish(t)
	languages := map[string]string{"de": "Übersicht", "en-XA": "⟦Övérvîéw~~~~⟧"}
	if os.Getenv("COFFER_TEST_SHEETS") != "" {
		languages["en"], languages["fr"] = "Overview", "Synthèse"
	}
	for language, overview := range languages { //nolint:paralleltest // as above
		t.Run(language, func(t *testing.T) { h.speaks(t, language, overview) })
	}
}

func (h *house) speaks(t *testing.T, language, overview string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/activity", "Today")
	if language == "en-XA" {
		b.do(t, step{Do: "longer"})
	} else {
		b.do(t, step{Do: "language", Name: language})
	}
	only := os.Getenv("COFFER_TEST_SCREEN")
	for _, s := range screens {
		if only != "" && only != s.path {
			continue
		}
		b.screen(t, s.path, overview)
		for _, size := range windows {
			b.do(t, step{Do: "window", Value: size, Name: "light"})
			b.do(t, step{Do: "quiet"})
			b.do(t, step{Do: "room"})
			v := b.do(t, step{Do: "look", Look: true})
			for _, f := range v.Faults {
				t.Errorf("%s at %s: %s", s.path, size, f)
			}
			if size == windows[0] && !strings.Contains(v.Text, overview) {
				t.Errorf("%s: the navigation does not say %s", s.path, overview)
			}
			b.sheet(t, language, s.path, size)
		}
		b.do(t, step{Do: "window", Value: windows[0]})
	}
	if language == "en-XA" {
		b.crowds(t)
	}
}

// sheet takes pictures of a screen, if they are asked for.
func (b *browser) sheet(t *testing.T, language, path, size string) {
	t.Helper()
	dir := os.Getenv("COFFER_TEST_SHEETS")
	if dir == "" {
		return
	}
	name := strings.Trim(strings.NewReplacer("/", "_", "{", "", "}", "").Replace(path), "_")
	for _, scheme := range []string{"light", "dark"} {
		b.do(t, step{Do: "window", Value: size, Name: scheme})
		b.do(t, step{Do: "picture", File: filepath.Join(dir, fmt.Sprintf("%s-%s-%s-%s.png", language, size, scheme, name))})
	}
}

// crowds plants a word that is cut off and one that is written over another, and sees that both are found.
func (b *browser) crowds(t *testing.T) {
	t.Helper()
	for kind, finds := range map[string]string{"cut off": "cut off: <div> planted", "over": "over each other"} {
		b.do(t, step{Do: "plant", Name: kind})
		b.do(t, step{Do: "room"})
		v := b.do(t, step{Do: "look", Look: true})
		if !slices.ContainsFunc(v.Faults, func(f string) bool { return strings.HasPrefix(f, finds) }) {
			t.Errorf("%s was planted, and found was %q", kind, v.Faults)
		}
	}
}
