package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Overlapping routes are all served, a wrong method is reported as such, and adding the same route
// twice is a mistake.
func TestRoutesThatOverlap(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"GET /c/{id}", "GET /c/{id}/status", "POST /c/{id}/sync", "GET /c/link/{token}",
		"DELETE /c/link/{token}",
	}
	r := newRoutes()
	for _, p := range patterns {
		r.Handle(p, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Route", p+" "+req.PathValue("id")+req.PathValue("token"))
		}))
	}
	if len(r.muxes) != 2 {
		t.Errorf("there are %d muxes, so the patterns do not conflict or too many do", len(r.muxes))
	}
	for _, c := range []struct {
		method, path, route string
		status              int
	}{
		{"GET", "/c/7", "GET /c/{id} 7", 200},
		{"GET", "/c/7/status", "GET /c/{id}/status 7", 200},
		{"GET", "/c/link/abc", "GET /c/link/{token} abc", 200},
		{"DELETE", "/c/link/abc", "DELETE /c/link/{token} abc", 200},
		{"GET", "/c/link/status", "GET /c/{id}/status link", 200},
		{"POST", "/c/link/abc", "", 405},
		{"GET", "/c/7/sync", "", 405},
		{"POST", "/c/7/status", "", 405},
		{"GET", "/c/7/nothing", "", 404},
		{"GET", "/d", "", 404},
	} {
		w := httptest.NewRecorder()
		req := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		handler, found := r.find(req)
		handler.ServeHTTP(w, req)
		if found != (c.status == 200) || w.Code != c.status || w.Header().Get("Route") != c.route {
			t.Errorf("%s %s: %v %d %q", c.method, c.path, found, w.Code, w.Header().Get("Route"))
		}
	}
	for _, again := range []string{"GET /c/{id}/status", "GET /c/{other}/status"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was added twice without a panic", again)
				}
			}()
			r.Handle(again, http.NotFoundHandler())
		}()
	}
}
