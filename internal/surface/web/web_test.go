package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	faces  = `@font-face{font-family:A;src:url(/assets/d-4.woff2)format("woff2")}@font-face{src:url("/assets/e-5.woff2")}`
	styles = faces + `b{color:red}`
)

func built(t *testing.T) *App {
	t.Helper()
	a, err := load(fstest.MapFS{
		"dist/app/index.html":       {Data: []byte(strings.Repeat("the app ", 100))},
		"dist/app/assets/_a-1.js":   {Data: []byte(strings.Repeat("code ", 100))},
		"dist/app/assets/b-2.css":   {Data: []byte(styles)},
		"dist/app/assets/d-4.woff2": {Data: []byte("letters")},
		"dist/app/icon.svg":         {Data: []byte("<svg/>")},
		"dist/app/assets/deep/c.js": {Data: []byte("c")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(serve http.HandlerFunc, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	serve(w, r)
	return w.Result()
}

func TestFiles(t *testing.T) {
	t.Parallel()
	a := built(t)
	files := a.Files()
	slices.Sort(files)
	if want := []string{"/assets/_a-1.js", "/assets/b-2.css", "/assets/d-4.woff2", "/assets/deep/c.js", "/icon.svg"}; !slices.Equal(files, want) {
		t.Errorf("files %v, not %v", files, want)
	}
	for path, want := range map[string][2]string{
		"/assets/_a-1.js":   {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/b-2.css":   {"text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/d-4.woff2": {"font/woff2", "public, max-age=31536000, immutable"},
		"/icon.svg":         {"image/svg+xml", "no-cache"},
	} {
		h := get(a.ServeFile, path).Header
		if h.Get("Content-Type") != want[0] || h.Get("Cache-Control") != want[1] || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if got := get(a.ServeFile, "/assets/gone-3.js").StatusCode; got != http.StatusNotFound {
		t.Errorf("a file of an older release returns %d", got)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	a := built(t)
	r := get(a.ServePage, "/review", "Accept-Encoding", "gzip, br")
	if r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("not packed: %v", r.Header)
	}
	if got := r.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("policy %s", got)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || !strings.HasPrefix(string(b), "the app") {
		t.Errorf("%q %v", b, err)
	}
	plain := get(a.ServePage, "/")
	if plain.Header.Get("Content-Encoding") != "" || plain.ContentLength != 800 {
		t.Errorf("packed for someone who did not ask: %v", plain.Header)
	}
	again := get(a.ServePage, "/", "If-None-Match", plain.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || again.ContentLength > 0 {
		t.Errorf("%d %d", again.StatusCode, again.ContentLength)
	}
}

func TestTypeface(t *testing.T) {
	t.Parallel()
	rules, file, err := typeface(fstest.MapFS{"dist/app/assets/b-2.css": {Data: []byte(styles)}})
	if err != nil || string(rules) != faces || file != "/assets/d-4.woff2" {
		t.Errorf("%s, %s, %v", rules, file, err)
	}
	if rules, file, err = typeface(fstest.MapFS{}); err != nil || len(rules) > 0 || file != "" {
		t.Errorf("without the app: %s, %s, %v", rules, file, err)
	}
}

func TestWithoutTheApp(t *testing.T) {
	t.Parallel()
	if a, err := load(fstest.MapFS{"dist/README": {}}); err != nil || a.Built() || len(a.Files()) > 0 {
		t.Error(a, err)
	}
}

// TestEmbedded checks the app that is embedded in this build, if there is one.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	a, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	rules, file, err := Typeface()
	if err != nil {
		t.Fatal(err)
	}
	if !a.Built() {
		t.Skip("the app is not built; run make web")
	}
	if r := get(a.ServePage, "/"); r.StatusCode != http.StatusOK {
		t.Error(r.StatusCode)
	}
	if got := strings.Count(string(rules), "@font-face"); got != 2 || a.files[file] == nil ||
		!strings.Contains(string(a.page.plain), `href="`+file+`"`) {
		t.Errorf("%d rules, and the page does not load %q ahead", got, file)
	}
	if !slices.ContainsFunc(a.Files(), func(p string) bool { return strings.HasPrefix(p, "/assets/inter-license-") }) {
		t.Error("the license of the typeface is missing")
	}
}

// reserved are the first parts of paths that belong to the server.
var reserved = strings.Fields(`join api auth login logout account setup device link static assets docs
	oauth mcp webhooks exports health`)

func TestScreensShadowNothing(t *testing.T) {
	t.Parallel()
	screens := Screens()
	for was, is := range Moved() {
		if slices.Contains(screens, was) || !slices.Contains(screens, is) {
			t.Errorf("%s moved to %s", was, is)
		}
		screens = append(screens, was)
	}
	for _, s := range screens {
		first, _, _ := strings.Cut(strings.TrimPrefix(s, "/"), "/")
		if slices.Contains(reserved, first) || !strings.HasPrefix(s, "/") || strings.Contains(s, "...") {
			t.Errorf("a screen at %s", s)
		}
	}
}
