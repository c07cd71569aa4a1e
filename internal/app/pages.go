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

// pages are the HTML pages, and the files that they load. They are no part of the API's document.
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

// screens are the web app: its page at every path that is a screen, and the files that it loads.
// There is no catch-all, so that an unknown address stays unknown and nothing of the API is
// shadowed.
func (a *App) screens() []rest.Raw {
	ui, err := web.Load()
	if err != nil {
		panic(err) // it is part of the program
	}
	serve := ui.ServePage
	if !ui.Built() {
		serve = withoutApp
	}
	var raw []rest.Raw
	// The app itself leads on from the old path of a screen. A redirect would repeat the query.
	for _, p := range append(web.Screens(), slices.Sorted(maps.Keys(web.Moved()))...) {
		raw = append(raw, rest.Raw{Route: "GET " + p, Scope: op.Open, Handler: a.members(serve)})
	}
	adds := ui.ServeAdd
	if !ui.Built() {
		adds = withoutApp
	}
	raw = append(raw, rest.Raw{Route: "GET /add", Scope: op.Open, Handler: a.members(adds)},
		// The service worker takes what other apps share; without it, people choose the file.
		rest.Raw{
			Route: "POST /share", Scope: op.Open, MaxBody: maxShared,
			Handler: http.RedirectHandler("/import", http.StatusSeeOther),
		})
	for _, p := range ui.Files() {
		raw = append(raw, rest.Raw{Route: "GET " + p, Scope: op.Open, Handler: http.HandlerFunc(ui.ServeFile)})
	}
	return raw
}

// maxShared is as large as a statement may be. Nothing of it is read here.
const maxShared = 32 << 20

var withoutAppBody = htmlpage.Parse(`
<p class="lead">Run <code>make build</code> (requires npm) to include it, or use a release.</p>
<p>Everything else works: <a href="/account">your account</a>, <a href="/docs">the API</a>, the tools and the command line.</p>`)

// withoutApp is shown at every screen of a program that was built without the web app.
func withoutApp(w http.ResponseWriter, _ *http.Request) {
	// Write cannot fail: the page needs no data.
	_ = htmlpage.Page{Title: "This build doesn't include the web app", Body: withoutAppBody}.Write(w)
}

// members serves a page to those who are signed in, and leads everyone else to the sign-in and
// back. The page holds no data; this only spares people an empty screen.
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

// file serves something that pages load.
func file(f *htmlpage.File) rest.Raw {
	return rest.Raw{Route: "GET " + f.Path, Scope: op.Open, Handler: f}
}

// pagesAt returns the base address of pages: that of links to this server, or else this machine.
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
