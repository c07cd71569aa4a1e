package web

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/racetest"
)

// Budgets are the compressed sizes in bytes, because that is what phones download.
const (
	firstScript = 200_000 // the page's scripts, and the largest screen with its imports
	allScript   = 455_000 // with the texts of the longest language
	allStyle    = 16_500
	largest     = 80_000 // of one script
	allFonts    = 120 << 10
)

// unhashed are the files with fixed names, because browsers and phones know these names.
var unhashed = []string{
	"/icon.svg", "/icon-180.png", "/icon-192.png", "/icon-512.png", "/icon-maskable-512.png", "/manifest.webmanifest",
	"/sw.js",
}

// texts matches the files with the app's texts in a language: those of every screen, or those of
// one folder.
var texts = regexp.MustCompile(`^/assets/texts-([A-Za-z-]+)-([a-z]+)-[\w-]{8}\.js$`)

var loads = regexp.MustCompile(`(?:from|import)\s*\(?["']\./([^"']+\.js)["']`)

// TestBudgets compares the size of the embedded app with the budget for a phone.
func TestBudgets(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	a, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if !a.Built() {
		t.Skip("the app is not built; run make web")
	}
	script, style, fonts, sizes := 0, 0, 0, map[string]int{}
	words := map[string]int{} // a reader loads only one language
	for p, f := range a.files {
		size := len(f.plain)
		if packed := f.packed(); packed != nil {
			size = len(packed)
		}
		sizes[p] = size
		if strings.HasPrefix(p, "/assets/add-") { // TestAddIsLight checks them
			continue
		}
		switch path.Ext(p) {
		case ".js":
			if m := texts.FindStringSubmatch(p); m != nil {
				words[m[1]] += size
			} else {
				script += size
			}
			if size > largest {
				t.Errorf("%s: %d bytes, more than %d", p, size, largest)
			}
		case ".css":
			style += size
		case ".woff2":
			fonts += size
		}
		if !strings.HasPrefix(p, "/assets/") && !slices.Contains(unhashed, p) {
			t.Errorf("%s has no hash in its name", p)
		}
	}
	longest := 0
	for _, n := range words {
		longest = max(longest, n)
	}
	script += longest
	first, worst := 0, ""
	for p := range a.files {
		if !strings.HasSuffix(p, ".js") || !strings.Contains(p, "Page-") {
			continue
		}
		if size := a.closure(t, p, sizes); size > first {
			first, worst = size, p
		}
	}
	t.Logf("script %d, of which %s needs %d; texts %v; style %d; fonts %d", script, worst, first, words, style, fonts)
	if first == 0 || first > firstScript {
		t.Errorf("the first screen %s loads %d bytes of script, more than %d", worst, first, firstScript)
	}
	if script > allScript {
		t.Errorf("all script is %d bytes, more than %d", script, allScript)
	}
	if style > allStyle {
		t.Errorf("all style is %d bytes, more than %d", style, allStyle)
	}
	if fonts == 0 || fonts > allFonts {
		t.Errorf("the fonts are %d bytes; they must be there, and at most %d", fonts, allFonts)
	}
}

var tags = regexp.MustCompile(`(?:src|href)="(/assets/[^"]+\.js)"`)

var opens = regexp.MustCompile("[(]`([a-z]+)`,[^`]*import[(]`[.]/([^`]+)`")

// closure returns the size of the page's scripts, a screen's script, and their static imports, with
// the texts of both in the longest language.
func (a *App) closure(t *testing.T, screen string, sizes map[string]int) int {
	t.Helper()
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
			if !strings.Contains(string(m[0]), "(") { // a screen that is loaded later is not included
				want = append(want, "/assets/"+string(m[1]))
			}
		}
	}
	folder := ""
	for p, f := range a.files {
		if strings.HasSuffix(p, ".js") {
			for _, m := range opens.FindAllSubmatch(f.plain, -1) {
				if "/assets/"+string(m[2]) == screen {
					folder = string(m[1])
				}
			}
		}
	}
	if folder == "" {
		t.Errorf("no script opens %s", screen)
	}
	words := map[string]int{}
	for p := range a.files {
		if m := texts.FindStringSubmatch(p); len(m) > 2 && (m[2] == "base" || m[2] == folder) {
			words[m[1]] += sizes[p]
		}
	}
	longest := 0
	for _, n := range words {
		longest = max(longest, n)
	}
	return sum + longest
}

var linked = regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`)

// TestAddIsLight adds up the files that the page /add loads: the page, its scripts with their
// static imports, its style, and the texts of the longest language.
func TestAddIsLight(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	a, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if !a.Built() {
		t.Skip("the app is not built; run make web")
	}
	const most = 60_000
	size := func(f *file) int {
		if packed := f.packed(); packed != nil {
			return len(packed)
		}
		return len(f.plain)
	}
	sum, want := size(a.add), []string{}
	for _, m := range linked.FindAllSubmatch(a.add.plain, -1) {
		want = append(want, string(m[1]))
	}
	for i := 0; i < len(want); i++ {
		f := a.files[want[i]]
		if f == nil || slices.Contains(want[:i], want[i]) {
			continue
		}
		sum += size(f)
		for _, m := range loads.FindAllSubmatch(f.plain, -1) {
			if !strings.Contains(string(m[0]), "(") {
				want = append(want, "/assets/"+string(m[1]))
			}
		}
		if strings.Contains(string(f.plain), "@font-face") || strings.Contains(string(f.plain), "react-dom") {
			t.Errorf("%s has a typeface or a framework in it", want[i])
		}
	}
	longest := 0
	for p, f := range a.files {
		if m := texts.FindStringSubmatch(p); len(m) > 2 && m[2] == "add" {
			longest = max(longest, size(f))
		}
	}
	t.Logf("/add loads %d bytes, %d of them texts", sum+longest, longest)
	if longest == 0 || len(want) < 2 || sum+longest > most {
		t.Errorf("/add loads %d bytes, more than %d, or not all of it was found: %v", sum+longest, most, want)
	}
}
