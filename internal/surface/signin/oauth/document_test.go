package oauth

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/errs"
)

// site starts an HTTPS server on this machine, and returns Documents that may read from it.
func site(t *testing.T, judge func(netip.Addr) bool, serve http.HandlerFunc) (*Documents, string, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	at := strings.TrimPrefix(s.URL, "https://")
	trust, ok := s.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the test's client has another transport")
	}
	d := newDocuments([]string{at}, judge, func(tr *http.Transport) {
		tr.TLSClientConfig = &tls.Config{RootCAs: trust.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	})
	return d, "https://" + at + "/client", &asked
}

func anyone(netip.Addr) bool { return true }

func said(t *testing.T, at string, change func(map[string]any)) []byte {
	t.Helper()
	m := map[string]any{
		"client_id": at, "client_name": "Abacus",
		"redirect_uris": []string{"http://127.0.0.1/callback"}, "token_endpoint_auth_method": "none", "more": "ignored",
	}
	if change != nil {
		change(m)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDocumentIsRead(t *testing.T) {
	t.Parallel()
	var at string
	d, name, _ := site(t, anyone, func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 || r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("sent more than a question: %v", r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=600")
		_, _ = w.Write(said(t, at, nil))
	})
	at = name
	c, fresh, err := d.Read(t.Context(), name)
	if err != nil || c.Title != "Abacus" || c.Name != name || len(c.RedirectURIs) != 1 || fresh != 10*time.Minute {
		t.Errorf("%+v for %s, %v", c, fresh, err)
	}
}

// A stranger's document is accepted only in the form of the standard, and reading it has limits.
func TestDocumentsThatAreRefused(t *testing.T) {
	t.Parallel()
	plain := func(body func(at string) []byte) func(*string) http.HandlerFunc {
		return func(at *string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(body(*at))
			}
		}
	}
	for name, serve := range map[string]func(*string) http.HandlerFunc{
		"another client's": plain(func(at string) []byte { return said(t, at+"x", nil) }),
		"no addresses": plain(func(at string) []byte {
			return said(t, at,
				func(m map[string]any) { delete(m, "redirect_uris") })
		}),
		"bad address": plain(func(at string) []byte {
			return said(t, at, func(m map[string]any) { m["redirect_uris"] = []string{"javascript:alert(1)"} })
		}),
		"a secret": plain(func(at string) []byte {
			return said(t, at, func(m map[string]any) { m["token_endpoint_auth_method"] = "client_secret_post" })
		}),
		"too large": plain(func(at string) []byte {
			return said(t, at, func(m map[string]any) { m["more"] = strings.Repeat("x", maxDocument) })
		}),
		"no JSON": plain(func(string) []byte { return []byte("<html>") }),
		"an endless one": func(*string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for r.Context().Err() == nil {
					if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
						return
					}
				}
			}
		},
		"a redirect": func(at *string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/there") {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write(said(t, *at, nil))
					return
				}
				http.Redirect(w, r, "/client/there", http.StatusFound)
			}
		},
		"not found": func(at *string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write(said(t, *at, nil))
			}
		},
		"a page": func(at *string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write(said(t, *at, nil))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at string
			d, place, asked := site(t, anyone, func(w http.ResponseWriter, r *http.Request) { serve(&at)(w, r) })
			at = place
			if c, _, err := d.Read(t.Context(), place); !errs.Is(err, errs.ValidationError) {
				t.Errorf("taken: %+v, %v", c, err)
			}
			if asked.Load() != 1 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

// A name may lead into the household's own network, so the address that is really called is
// checked.
func TestPrivateAddressesAreNotAsked(t *testing.T) {
	t.Parallel()
	d, name, asked := site(t, everyones, func(http.ResponseWriter, *http.Request) {})
	if _, _, err := d.Read(t.Context(), name); err == nil || asked.Load() != 0 ||
		!strings.Contains(errors.Unwrap(err).Error(), "everyone can reach") {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	u, err := url.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	d.hosts = append(d.hosts, "localhost:"+u.Port())
	if _, _, err := d.Read(t.Context(), "https://localhost:"+u.Port()+"/client"); err == nil || asked.Load() != 0 {
		t.Errorf("by name, asked %d times: %v", asked.Load(), err)
	}
	for address, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.3.4": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "198.18.0.1": false,
		"::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false, "::ffff:127.0.0.1": false,
	} {
		if got := everyones(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestOnlyAllowedHostsAreAsked(t *testing.T) {
	t.Parallel()
	d := newDocuments([]string{"claude.ai", "none", ""}, func(netip.Addr) bool { return false }, nil)
	for name, want := range map[string]bool{
		"https://claude.ai/oauth/client": true, "https://www.claude.ai/oauth/client": true, "https://CLAUDE.ai/x": true,
		"https://claude.ai:443/x": true,
		"https://claude.ai":       false, "https://claude.ai/": false, "http://claude.ai/x": false,
		"https://claude.ai:8443/x": false, "https://u@claude.ai/x": false, "https://claude.ai/x#y": false,
		"https://claude.ai/a/../x":         false,
		"https://claude.ai.evil.example/x": false, "https://evilclaude.ai/x": false,
		"https://evil.example/claude.ai": false, "https://127.0.0.1/x": false, "claude.ai/x": false, "": false,
	} {
		if _, err := d.address(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if NewDocuments(nil).On() || NewDocuments([]string{"none"}).On() || !d.On() {
		t.Error("the switch")
	}
	if _, err := newDocuments([]string{"*"}, anyone, nil).address("https://anything.example/x"); err != nil {
		t.Errorf("any host: %v", err)
	}
	if _, err := NewDocuments(nil).address("https://claude.ai/x"); !errs.Is(err, errs.Forbidden) {
		t.Errorf("switched off: %v", err)
	}
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]time.Duration{
		"": time.Hour, "max-age=600": 10 * time.Minute,
		"max-age=1": shortestFresh, "max-age=99999999999": longestFresh, "no-store": shortestFresh,
		"private, max-age=7200": 2 * time.Hour, "max-age=x": time.Hour,
	} {
		if got := freshness(http.Header{"Cache-Control": {said}}); got != want {
			t.Errorf("%q: %s", said, got)
		}
	}
}
