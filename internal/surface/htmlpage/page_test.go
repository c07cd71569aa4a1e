package htmlpage_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/surface/htmlpage"
)

const strict = "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; require-trusted-types-for " +
	"'script'; frame-ancestors 'none'; base-uri 'none'"

func written(t *testing.T, write func(http.ResponseWriter)) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	write(w)
	r := w.Result()
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

func TestPage(t *testing.T) {
	t.Parallel()
	body := htmlpage.Parse(`<p>Hello {{.Name}}</p>`)
	r, html := written(t, func(w http.ResponseWriter) {
		if err := (htmlpage.Page{
			Status: http.StatusAccepted, Title: "A <title>", Body: body,
			Data: map[string]string{"Name": "<script>x</script>"}, Refresh: 3 * time.Second,
		}).Write(w); err != nil {
			t.Error(err)
		}
	})
	for name, want := range map[string]string{
		"Content-Security-Policy": strict, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store",
		"Content-Type":  "text/html; charset=utf-8", "Cross-Origin-Opener-Policy": "same-origin", "Refresh": "3",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if r.StatusCode != http.StatusAccepted || !strings.Contains(html, "Hello &lt;script&gt;") ||
		!strings.Contains(html, "<title>A &lt;title&gt; · coffer</title>") ||
		!strings.Contains(html, htmlpage.Stylesheet.Path) {
		t.Errorf("%d\n%s", r.StatusCode, html)
	}
	for _, inline := range []string{"<style", "style=", "<script", "onclick"} {
		if strings.Contains(html, inline) {
			t.Errorf("the page has %s in it, which its policy forbids", inline)
		}
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	p := htmlpage.Page{
		Title: "t", Body: htmlpage.Parse(``), Script: htmlpage.NewFile("x.js", "text/javascript", []byte("1")),
		Allow: htmlpage.Sources{
			Script: []string{"https://cdn.example/a.js"}, Frame: []string{"https://cdn.example"},
			Connect: []string{"https://api.example"}, Form: []string{"https://app.example"}, Popups: true,
		},
	}
	r, html := written(t, func(w http.ResponseWriter) { _ = p.Write(w) })
	want := "default-src 'none'; script-src 'self' https://cdn.example/a.js; style-src 'self'; img-src 'self'; font-src 'self'; " +
		"connect-src https://api.example; frame-src https://cdn.example; form-action 'self' https://app.example; " +
		"frame-ancestors 'none'; base-uri 'none'"
	if got := r.Header.Get("Content-Security-Policy"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Header.Get("Cross-Origin-Opener-Policy") != "same-origin-allow-popups" ||
		!strings.Contains(html, `<script src="/static/x.`) {
		t.Errorf("%v\n%s", r.Header, html)
	}
	p.Refresh, p.Next = time.Minute, "https://app.example/"
	if r, _ := written(t, func(w http.ResponseWriter) { _ = p.Write(w) }); r.Header.Get(
		"Refresh") != "60; url=https://app.example/" {
		t.Errorf("%v", r.Header)
	}
	if len(p.Allow.Script) != 1 {
		t.Error("writing a page changed it")
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	r, html := written(t, func(w http.ResponseWriter) {
		htmlpage.Fail(w, errs.New(errs.NotFound, "this link is used up"),
			"r1")
	})
	if r.StatusCode != http.StatusNotFound || !strings.Contains(html, "This link is used up") ||
		strings.Contains(html, "r1") || r.Header.Get("Content-Security-Policy") != strict {
		t.Errorf("%d %s", r.StatusCode, html)
	}
	r, html = written(t, func(w http.ResponseWriter) { htmlpage.Fail(w, errors.New("password of the database"), "r2") })
	if r.StatusCode != http.StatusInternalServerError || strings.Contains(html, "password") ||
		!strings.Contains(html, "r2") {
		t.Errorf("%d %s", r.StatusCode, html)
	}
	r, html = written(t, func(w http.ResponseWriter) {
		if (htmlpage.Page{
			Title: "t", Body: htmlpage.Parse(`<p>half {{.Missing.Field}}</p>`),
			Data: struct{}{},
		}).Write(w) == nil {
			t.Error("a template that does not fit its data is not an error")
		}
	})
	if r.StatusCode != http.StatusInternalServerError || strings.Contains(html, "half") {
		t.Errorf("%d %s", r.StatusCode, html)
	}
}

// TestIcon compares the icon with the web app's icon, which has another address.
func TestIcon(t *testing.T) {
	t.Parallel()
	app, err := os.ReadFile("../../../web/public/icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	if _, icon := written(t, func(w http.ResponseWriter) { htmlpage.Icon.ServeHTTP(w, nil) }); icon != string(app) {
		t.Error("pages and the web app have different icons")
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	r, css := written(t, func(w http.ResponseWriter) { htmlpage.Stylesheet.ServeHTTP(w, nil) })
	if r.Header.Get("Content-Type") != "text/css; charset=utf-8" ||
		!strings.Contains(r.Header.Get("Cache-Control"), "immutable") ||
		!strings.Contains(css, "color-scheme: light dark") {
		t.Errorf("%v %s", r.Header, css)
	}
	if a, b := htmlpage.NewFile("a.js", "text/javascript", []byte("1")), htmlpage.NewFile("a.js", "text/javascript",
		[]byte("2")); a.Path == b.Path || !strings.HasSuffix(a.Path, ".js") {
		t.Errorf("%s and %s", a.Path, b.Path)
	}
}
