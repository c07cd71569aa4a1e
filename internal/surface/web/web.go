// Package web serves the web app: files that are built from web/ and embedded in the program. It
// must not know what a screen shows, who is calling, or what is in the database.
//
// The app is built into dist/app, which version control ignores. With Go alone, coffer is built
// without the app.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

//go:embed routes.txt
var routes string

//go:embed moved.txt
var moved string

// policy lets the app load what coffer itself serves, and nothing else. Text cannot become code:
// the only policy for trusted types creates the address of the service worker.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'self'; require-trusted-types-for 'script'; " +
	"trusted-types coffer; frame-ancestors 'none'; base-uri 'none'"

// A file is one embedded file. It is compressed when it is first sent.
type file struct {
	kind, etag string
	plain      []byte
	packed     func() []byte // nil if compression gains nothing
}

// An App holds the embedded files by their paths.
type App struct {
	files map[string]*file // all files except the pages
	page  *file            // nil if the program was built without the app
	add   *file            // the page that adds a transaction
}

// Load returns the embedded app, if there is one. The files are read only once.
var Load = sync.OnceValues(func() (*App, error) { return load(dist) })

func load(from fs.FS) (*App, error) {
	a := &App{files: map[string]*file{}}
	app, err := fs.Sub(from, "dist/app")
	if err != nil {
		return nil, err
	}
	index, err := fs.ReadFile(app, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.page, a.add = newFile("index.html", index), newFile("index.html", index)
	return a, fs.WalkDir(app, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "index.html" {
			return err
		}
		content, err := fs.ReadFile(app, name)
		if name == "add.html" {
			a.add = newFile(name, content)
			return err
		}
		a.files["/"+name] = newFile(name, content)
		return err
	})
}

// Built reports whether the program contains the app. Without the app there is no page to serve.
func (a *App) Built() bool { return a.page != nil }

var (
	faceRule = regexp.MustCompile(`@font-face\s*\{[^}]*\}`)
	faceFile = regexp.MustCompile(`url\(["']?([^"')]+)`)
)

// Typeface returns the @font-face rules of the app's stylesheet, for pages outside the app, and the
// path of the font file that most text needs. Both are empty if there is no app.
func Typeface() (rules []byte, file string, err error) { return typeface(dist) }

func typeface(from fs.FS) (rules []byte, file string, err error) {
	names, err := fs.Glob(from, "dist/app/assets/*.css")
	for _, name := range names {
		css, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, "", err
		}
		rules = append(rules, bytes.Join(faceRule.FindAll(css, -1), nil)...)
	}
	if first := faceFile.FindSubmatch(rules); first != nil { // the first file in the stylesheet
		file = string(first[1])
	}
	return rules, file, err
}

// kinds are the media types by file extension. They do not depend on the machine's own list.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".webmanifest": "application/manifest+json", ".png": "image/png",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
}

func newFile(name string, content []byte) *file {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	sum := sha256.Sum256(content)
	return &file{
		kind: kind, plain: content, etag: `"` + hex.EncodeToString(sum[:8]) + `"`,
		packed: sync.OnceValue(func() []byte { return pack(content) }),
	}
}

// pack returns the content in gzip form, or nil if that is hardly shorter.
func pack(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	_, err = w.Write(content)
	if errors.Join(err, w.Close()) != nil || b.Len() > len(content)*9/10 {
		return nil
	}
	return b.Bytes()
}

// Screens returns the paths at which the page is served, as patterns of http.ServeMux. The app's
// own tests compare the list with its router.
func Screens() []string { return strings.Fields(routes) }

// Moved returns the former paths of screens, each with the current path. People keep old paths in
// bookmarks and messages.
func Moved() map[string]string {
	to := map[string]string{}
	for line := range strings.Lines(moved) {
		was, is, _ := strings.Cut(strings.TrimSpace(line), " ")
		to[was] = is
	}
	return to
}

// Files returns the paths of the files that the page loads.
func (a *App) Files() []string {
	paths := make([]string, 0, len(a.files))
	for p := range a.files {
		paths = append(paths, p)
	}
	return paths
}

// ServeFile sends one of the Files. Browsers may cache a file with a hash in its name forever.
func (a *App) ServeFile(w http.ResponseWriter, r *http.Request) {
	f, ok := a.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	keep := "no-cache"
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		keep = "public, max-age=31536000, immutable"
	}
	if r.URL.Path == "/sw.js" { // a worker has its own policy; give it that of its pages
		w.Header().Set("Content-Security-Policy", policy)
	}
	f.serve(w, r, keep)
}

// ServePage sends the page of the app. The app itself reads the path.
func (a *App) ServePage(w http.ResponseWriter, r *http.Request) { a.serve(w, r, a.page) }

// ServeAdd sends the page that adds a transaction. The page shares no file with the app, so that it
// loads quickly on a phone.
func (a *App) ServeAdd(w http.ResponseWriter, r *http.Request) { a.serve(w, r, a.add) }

func (a *App) serve(w http.ResponseWriter, r *http.Request, page *file) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
	page.serve(w, r, "no-cache")
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, keep string) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", keep)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if packed := f.packed(); packed != nil {
			h.Set("Content-Encoding", "gzip")
			content = packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // a client that has disconnected needs no answer
	}
}
