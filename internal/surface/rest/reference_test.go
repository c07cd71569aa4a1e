package rest

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// The reference shows the address at which its reader reached the server, in text that is safe to
// copy. Every link to an anchor in it has a target.
func TestReferenceNamesItsAddress(t *testing.T) {
	t.Parallel()
	mux := newRoutes()
	server := &Server{Runner: &op.Runner{}, Base: "https://coffer.example"}
	server.documents(mux)
	for _, c := range []struct {
		host string
		tls  bool
		want string
	}{
		{"coffer.example", false, "https://coffer.example"}, // its proxy ends TLS
		{"192.168.1.20:8080", false, "http://192.168.1.20:8080"},
		{"[fd00::1]:8080", false, "http://[fd00::1]:8080"},
		{"nas.local", true, "https://nas.local"},
		{"x;rm", false, "https://coffer.example"},
		{"<b>", false, "https://coffer.example"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/docs", nil)
		r.Host, r.TLS = c.host, nil
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		handler, _ := mux.find(r)
		handler.ServeHTTP(w, r)
		page := w.Body.String()
		if !strings.Contains(page, "COFFER_SERVER="+c.want+" COFFER_API_KEY") {
			t.Errorf("at %s the page does not name %s", c.host, c.want)
		}
		for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, `id="`+m[1]+`"`) {
				t.Errorf("#%s leads nowhere", m[1])
			}
		}
	}
}
