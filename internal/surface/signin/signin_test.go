package signin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/errs"
)

func request(method, target, body string) *http.Request {
	return httptest.NewRequest(method, target, strings.NewReader(body))
}

func TestBodyIsOneJSONObject(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, body string
		want       errs.Code // "" if it is read
	}{
		"JSON":                {"application/json", `{"email":"a@b.c","password":"x"}`, ""},
		"JSON with a charset": {"application/json; charset=utf-8", `{"email":"a@b.c"}`, ""},
		"a form":              {"application/x-www-form-urlencoded", `email=a`, errs.UnsupportedMediaType},
		"no type":             {"", `{}`, errs.UnsupportedMediaType},
		"an unknown field":    {"application/json", `{"name":"x"}`, errs.InvalidBody},
		"not JSON":            {"application/json", `email`, errs.InvalidBody},
	} {
		r := request(http.MethodPost, "/auth/login", c.body)
		r.Header.Set("Content-Type", c.kind)
		var in SignIn
		if err := body(r, &in); err == nil && c.want != "" || err != nil && !errs.Is(err, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestFormsAreText(t *testing.T) {
	t.Parallel()
	for target, fine := range map[string]bool{
		"/login?next=%2Faccount": true, "/login?next=%00": false, "/login?next=%ff": false,
	} {
		if err := form(request(http.MethodGet, target, "")); fine != (err == nil) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// Requests that a page of another site makes a browser send are rejected before anything is read.
func TestOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	d, err := New(nil, "https://coffer.example", "https://coffer.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		site, origin string
		fine         bool
	}{
		"a program":             {"", "", true},
		"coffer's own page":     {"same-origin", "https://coffer.example", true},
		"the public address":    {"cross-site", "https://coffer.example", true},
		"another site":          {"cross-site", "https://evil.example", false},
		"another site, unnamed": {"cross-site", "", false},
		"a neighbor's web site": {"same-site", "https://other.coffer.example", false},
	} {
		r := request(http.MethodPost, "https://coffer.example/auth/login", "{}")
		for header, value := range map[string]string{"Sec-Fetch-Site": c.site, "Origin": c.origin} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		if err := d.login(httptest.NewRecorder(), r); c.fine == errs.Is(err, errs.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyIsSignedInWithoutACookie(t *testing.T) {
	t.Parallel()
	d, err := New(nil, "https://coffer.example", "")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := d.session(w, request(http.MethodGet, "/auth/session", "")); err != nil ||
		w.Body.String() != `{"signed_in":false,"user":null,"session":null,"can":{"write":false,"admin":false}}` {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestCookie(t *testing.T) {
	t.Parallel()
	d := &Desk{}
	r := request(http.MethodPost, "/auth/login", "")
	c := d.cookie(r, "secret", time.Hour)
	if c.Value != "secret" || c.MaxAge != 3600 || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode ||
		c.Path != "/" {
		t.Errorf("%+v", c)
	}
	if gone := d.cookie(r, "", -1); gone.MaxAge >= 0 {
		t.Errorf("the browser keeps it: %+v", gone)
	}
}

func TestBrowser(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0":                           "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/128.0 Safari/537.36 Edg/128.0":            "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605 Version/17.5 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/128.0 Mobile Safari/537.36":             "Chrome on Android",
		"curl/8.5.0": "curl/8.5.0",
		"":           "unknown",
	} {
		r := request(http.MethodGet, "/", "")
		r.Header.Set("User-Agent", agent)
		if got := browser(r); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}

// A passkey belongs to an address with a host name. If the server's address is numeric, that name
// is localhost.
func TestPasskeyOrigin(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://coffer.example":   "https://coffer.example",
		"https://desk.local:8443":  "https://desk.local:8443",
		"http://localhost:8080":    "http://localhost:8080",
		"http://127.0.0.1:8080":    "http://localhost:8080",
		"https://192.168.1.7:8443": "https://localhost:8443",
	} {
		d, err := New(nil, base, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.passkeyOrigin(); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.1:4711": "192.0.2.1", "[2001:db8::1]:80": "2001:db8::1", "pipe": "pipe",
	} {
		r := request(http.MethodGet, "/", "")
		r.RemoteAddr = remote
		if got := Address(r); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := Refuse(w, http.StatusBadRequest, "invalid_grant", ""); err != nil || w.Code != http.StatusBadRequest ||
		w.Body.String() != `{"error":"invalid_grant"}` || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
}
