package web

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Budgets are bytes of gzip, because that is what travels.
const (
	firstScript = 200_000 // what the page asks for, and the largest screen with what it needs
	allScript   = 400_000
	allStyle    = 14_000
	largest     = 80_000 // of one file
)

var loads = regexp.MustCompile(`(?:from|import)\s*\(?["']\./([^"']+\.js)["']`)

// TestBudgets holds the app that is embedded now against what a phone is asked to load.
//
//test:sequential
func TestBudgets(t *testing.T) {
	t.Parallel()
	a, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if !a.built {
		t.Skip("the app is not built; run make web")
	}
	script, style, sizes := 0, 0, map[string]int{}
	for p, f := range a.files {
		size := len(f.plain)
		if packed := f.packed(); packed != nil {
			size = len(packed)
		}
		sizes[p] = size
		switch path.Ext(p) {
		case ".js":
			script += size
			if size > largest {
				t.Errorf("%s: %d bytes, more than %d", p, size, largest)
			}
		case ".css":
			style += size
		}
		if !strings.HasPrefix(p, "/assets/") && p != "/icon.svg" {
			t.Errorf("%s has no hash in its name", p)
		}
	}
	first, worst := 0, ""
	for p := range a.files {
		if !strings.HasSuffix(p, ".js") || !strings.Contains(p, "Page-") {
			continue
		}
		if size := a.closure(p, sizes); size > first {
			first, worst = size, p
		}
	}
	t.Logf("script %d, of which %s needs %d; style %d", script, worst, first, style)
	if first == 0 || first > firstScript {
		t.Errorf("the first screen %s loads %d bytes of script, more than %d", worst, first, firstScript)
	}
	if script > allScript {
		t.Errorf("all script is %d bytes, more than %d", script, allScript)
	}
	if style > allStyle {
		t.Errorf("all style is %d bytes, more than %d", style, allStyle)
	}
}

var tags = regexp.MustCompile(`(?:src|href)="(/assets/[^"]+\.js)"`)

// closure returns the bytes of the page's scripts, a screen's script, and what they import at once.
func (a *App) closure(screen string, sizes map[string]int) int {
	want := []string{screen}
	for _, m := range tags.FindAllSubmatch(a.page.plain, -1) {
		want = append(want, string(m[1]))
	}
	sum := 0
	for i := 0; i < len(want); i++ {
		if slices.Contains(want[:i], want[i]) || a.files[want[i]] == nil {
			continue
		}
		sum += sizes[want[i]]
		for _, m := range loads.FindAllSubmatch(a.files[want[i]].plain, -1) {
			if !strings.Contains(string(m[0]), "(") { // a screen that is loaded later is not of the first
				want = append(want, "/assets/"+string(m[1]))
			}
		}
	}
	return sum
}
