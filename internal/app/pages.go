package app

import (
	"net"
	"net/http"

	"coffer/internal/linkpage"
	"coffer/internal/op"
	"coffer/internal/page"
	"coffer/internal/rest"
)

// pages are the HTML pages, and the files that they load. They are no part of the API's document.
func (a *App) pages() []rest.Raw {
	link := &linkpage.Pages{
		Sessions: a.LinkSessions, Log: a.Log,
		Request: func(r *http.Request) string { return rest.RequestID(r.Context()) },
	}
	return []rest.Raw{
		// what a person types into a browser
		{Route: "GET /{$}", Scope: op.Open, Handler: http.RedirectHandler("/account", http.StatusSeeOther)},
		file(page.Stylesheet), file(page.Icon), file(linkpage.Script),
		{Route: "GET /link/{token}", Scope: op.Open, Handler: http.HandlerFunc(link.Show)},
		{Route: "POST /link/{token}", Scope: op.Open, MaxBody: linkpage.MaxBody, Handler: http.HandlerFunc(link.Act)},
	}
}

// file serves something that pages load.
func file(f *page.File) rest.Raw {
	return rest.Raw{Route: "GET " + f.Path, Scope: op.Open, Handler: f}
}

// pagesAt is where pages begin: where links to this server do, or else this machine.
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
