package rest

import (
	"net/http"
	"regexp"
)

// routes are muxes that are tried one after another. Nearly every pattern is in the first.
// http.ServeMux refuses a pattern if some path matches it and another pattern and neither is more
// specific (/connections/{id}/status and /connections/link-session/{token}). Such a pattern goes
// into the next mux, and for such a path the earlier pattern wins.
type routes struct {
	muxes []*http.ServeMux
	taken map[string]bool
}

func newRoutes() *routes { return &routes{taken: map[string]bool{}} }

var variable = regexp.MustCompile(`\{\w+`)

// Handle adds a route. It panics if the route already exists, which is a mistake in the list of
// ops.
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

// fits adds the pattern to the mux unless it conflicts with another one there.
func fits(mux *http.ServeMux, pattern string, h http.Handler) (ok bool) {
	defer func() { ok = recover() == nil }() // the mux reports a conflict only by a panic
	mux.Handle(pattern, h)
	return true
}

// find returns the handler of a request. If no route matches, it returns a mux's own reply, if
// possible the reply for a wrong method.
func (r *routes) find(req *http.Request) (http.Handler, bool) {
	var refusal http.Handler
	for _, mux := range r.muxes {
		handler, pattern := mux.Handler(req)
		if pattern != "" {
			return mux, true // the mux matches again, because only ServeHTTP sets the path variables
		}
		verdict := &verdict{header: http.Header{}}
		handler.ServeHTTP(verdict, req)
		if refusal == nil || verdict.status == http.StatusMethodNotAllowed {
			refusal = handler
		}
	}
	return refusal, false
}
