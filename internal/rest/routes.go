package rest

import (
	"net/http"
	"regexp"
)

// routes are muxes that are asked one after another. Nearly every pattern stands in the first. One that http.ServeMux refuses to hold beside another, because
// some path fits both and neither is narrower (/connections/{id}/status and /connections/link-session/{token}), stands in the next; at that path the earlier one answers.
type routes struct {
	muxes []*http.ServeMux
	taken map[string]bool
}

func newRoutes() *routes { return &routes{taken: map[string]bool{}} }

var variable = regexp.MustCompile(`\{\w+`)

// Handle adds a route. The same one twice is a mistake in the menu, and panics.
func (r *routes) Handle(pattern string, h http.Handler) {
	shape := variable.ReplaceAllString(pattern, "{")
	if r.taken[shape] {
		panic("rest: two routes are " + pattern)
	}
	r.taken[shape] = true
	for _, mux := range r.muxes {
		if fits(mux, pattern, h) {
			return
		}
	}
	mux := http.NewServeMux()
	mux.Handle(pattern, h)
	r.muxes = append(r.muxes, mux)
}

// fits adds the pattern to the mux, unless that holds one it conflicts with.
func fits(mux *http.ServeMux, pattern string, h http.Handler) (ok bool) {
	defer func() { ok = recover() == nil }() // the mux has no other way to say so
	mux.Handle(pattern, h)
	return true
}

// find is the handler of a request. Where no route fits, it is what the mux says to that: a wrong method rather than nothing at all.
func (r *routes) find(req *http.Request) (http.Handler, bool) {
	var refusal http.Handler
	for _, mux := range r.muxes {
		handler, pattern := mux.Handler(req)
		if pattern != "" {
			return mux, true // from the start again, because only ServeHTTP fills the path variables in
		}
		verdict := &verdict{header: http.Header{}}
		handler.ServeHTTP(verdict, req)
		if refusal == nil || verdict.status == http.StatusMethodNotAllowed {
			refusal = handler
		}
	}
	return refusal, false
}
