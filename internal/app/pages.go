package app

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"

	"coffer/internal/connections/linksession"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
	"coffer/internal/surface/linkpage"
	"coffer/internal/surface/rest"
	"coffer/internal/surface/web"
)

// pages returns the routes of the HTML pages and the files that they load. The API document does
// not list them.
func (a *App) pages() []rest.Raw {
	link := &linkpage.Pages{
		Sessions: a.LinkSessions, Log: a.Log,
		Request: func(r *http.Request) string { return rest.RequestID(r.Context()) },
	}
	return append(a.screens(),
		file(htmlpage.Stylesheet), file(htmlpage.Icon), file(linkpage.Script),
		rest.Raw{Route: "GET " + linksession.ReturnPath, Scope: op.Open, Handler: http.HandlerFunc(link.Return)},
		rest.Raw{Route: "GET /link/{token}", Scope: op.Open, Handler: http.HandlerFunc(link.Show)},
		rest.Raw{
			Route: "POST /link/{token}", Scope: op.Open, MaxBody: linkpage.MaxBody,
			Handler: http.HandlerFunc(link.Act),
		},
	)
}

// screens returns the routes of the web app: its page at the path of every screen, and the files
// that it loads. There is no catch-all route, so unknown addresses stay unknown and the app hides
// no route of the API.
func (a *App) screens() []rest.Raw {
	ui, err := web.Load()
	if err != nil {
		panic(err) // the files are embedded in the program
	}
	serve := ui.ServePage
	if !ui.Built() {
		serve = withoutApp
	}
	var raw []rest.Raw
	// The app itself handles the old paths of moved screens. A redirect would repeat the query.
	for _, p := range append(web.Screens(), slices.Sorted(maps.Keys(web.Moved()))...) {
		raw = append(raw, rest.Raw{Route: "GET " + p, Scope: op.Open, Handler: a.members(serve)})
	}
	adds := ui.ServeAdd
	if !ui.Built() {
		adds = withoutApp
	}
	raw = append(raw, rest.Raw{Route: "GET /add", Scope: op.Open, Handler: a.members(adds)},
		// The service worker receives files that other apps share. Without a service worker, this
		// redirect leads to the import, where people choose the file themselves.
		rest.Raw{
			Route: "POST /share", Scope: op.Open, MaxBody: maxShared,
			Handler: http.RedirectHandler("/import", http.StatusSeeOther),
		})
	for _, p := range ui.Files() {
		raw = append(raw, rest.Raw{Route: "GET " + p, Scope: op.Open, Handler: http.HandlerFunc(ui.ServeFile)})
	}
	return raw
}

// maxShared is the largest size of a statement. The server does not read the shared file.
const maxShared = 32 << 20

var withoutAppBody = htmlpage.Parse(`
<p class="lead">Run <code>make build</code> (requires npm) to include it, or use a release.</p>
<p>Everything else works: <a href="/account">your account</a>, <a href="/docs">the API</a>, the tools and the command line.</p>`)

// withoutApp shows a notice in place of every screen if the program was built without the web app.
func withoutApp(w http.ResponseWriter, _ *http.Request) {
	// Write cannot fail: the page needs no data.
	_ = htmlpage.Page{Title: "This build doesn't include the web app", Body: withoutAppBody}.Write(w)
}

// members serves a page to signed-in members. It sends everyone else to sign in first, and then
// back. The page holds no data; the check only spares people an empty screen.
func (a *App) members(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := auth.SessionIn(r)
		if ok {
			_, err := a.Auth.Session(r.Context(), session)
			ok = err == nil
		}
		if !ok {
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		serve(w, r)
	})
}

// file returns the route of a file that pages load.
func file(f *htmlpage.File) rest.Raw {
	return rest.Raw{Route: "GET " + f.Path, Scope: op.Open, Handler: f}
}

// pagesAt returns the base address of the pages: the address of links to this server, or otherwise
// this machine.
func (c Config) pagesAt() string {
	if at := c.address(); at != "" {
		return at
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		port = "8080"
	}
	return "http://" + net.JoinHostPort("127.0.0.1", port)
}
