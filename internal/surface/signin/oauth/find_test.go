package oauth

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/surface/signin"
)

// known returns a server with a signed-in member, and a client that is identified by a document.
func known(t *testing.T, judge func(netip.Addr) bool, serve http.HandlerFunc) (s *Server, session, client string,
	asked func() int64,
) {
	t.Helper()
	db := pgtest.New(t)
	desk, err := signin.New(auth.New(db), "http://127.0.0.1:8080", "")
	if err != nil {
		t.Fatal(err)
	}
	var u auth.User
	err = db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		u, err = desk.Auth.CreateUser(t.Context(), tx, auth.CreateUser{Name: "Robin", Role: op.RoleMember})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, session, err = desk.Auth.OpenSession(t.Context(), auth.SignIn{User: u}, "a browser")
	if err != nil {
		t.Fatal(err)
	}
	docs, client, count := site(t, judge, serve)
	return &Server{Desk: desk, Docs: docs}, session, client, count.Load
}

// asking requests the consent page as the browser that a program has redirected.
func (s *Server) asking(t *testing.T, session, client, redirect string) *httptest.ResponseRecorder {
	t.Helper()
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect},
		"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"},
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/oauth/authorize?"+q.Encode(), nil)
	if session != "" {
		r.AddCookie(&http.Cookie{Name: auth.SessionCookie, Value: session})
	}
	w := httptest.NewRecorder()
	if err := s.Desk.Page(s.ask)(w, r); err != nil {
		t.Fatal(err)
	}
	return w
}

// A document is read when a member is about to decide, and not again while it is valid. Without a
// signed-in member the server reads no document.
func TestDocumentsAreReadForMembers(t *testing.T) {
	t.Parallel()
	var at, redirect string
	s, session, client, asked := known(t, anyone, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(said(t, at, func(m map[string]any) { m["redirect_uris"] = []string{redirect} }))
	})
	at, redirect = client, "http://localhost/callback"
	if w := s.asking(t, "", client, redirect); w.Code != http.StatusSeeOther ||
		!strings.HasPrefix(w.Header().Get("Location"), "/login?next=") || asked() != 0 {
		t.Fatalf("a stranger: %d %s, %d questions", w.Code, w.Header().Get("Location"), asked())
	}
	for range 3 {
		w := s.asking(t, session, client, "http://localhost:4711/callback")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Abacus") ||
			!strings.Contains(w.Body.String(), "<dt>Verified by</dt><dd>127.0.0.1:") ||
			strings.Contains(w.Body.String(), "name isn't verified") {
			t.Fatalf("a member: %d %s", w.Code, w.Body)
		}
	}
	if asked() != 1 {
		t.Errorf("asked %d times for one document", asked())
	}
	redirect = "https://abacus.example/back"
	// The document has expired.
	if _, err := s.auth().KeepDocument(t.Context(), auth.Client{
		Name: client, Title: "Abacus",
		RedirectURIs: []string{"http://localhost/callback"},
	}, -1); err != nil {
		t.Fatal(err)
	}
	if w := s.asking(t, session, client, "http://localhost:4711/callback"); w.Code != http.StatusBadRequest ||
		asked() != 2 {
		t.Errorf("an address that the document has no more: %d, %d questions", w.Code, asked())
	}
	if w := s.asking(t, session, client, redirect); w.Code != http.StatusOK || asked() != 2 {
		t.Errorf("an address that it has now: %d, %d questions", w.Code, asked())
	}
}

func TestLookingUpIsBounded(t *testing.T) {
	t.Parallel()
	s, session, client, asked := known(t, anyone, func(w http.ResponseWriter,
		_ *http.Request,
	) {
		w.WriteHeader(http.StatusNotFound)
	})
	last := 0
	for range 15 {
		last = s.asking(t, session, client, "http://localhost/callback").Code
	}
	if asked() != 10 || last != http.StatusTooManyRequests {
		t.Errorf("asked %d times, in the end %d", asked(), last)
	}
	if err := s.auth().MayRead(t.Context(), memberOf(t, s, session)); !errs.Is(err, errs.RateLimited) {
		t.Error(err)
	}
}

func memberOf(t *testing.T, s *Server, session string) id.ID {
	t.Helper()
	actor, err := s.auth().Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return *actor.Member
}

// For every accepted address, the page's policy contains exactly one source.
func FuzzRedirects(f *testing.F) {
	for _, seed := range []string{
		"https://a.example/b?c=d", "http://127.0.0.1:1/x", "http://[::1]/x", "cursor://a/b",
		"com.example:/x", "https://a.example;script-src", "javascript:x", "HTTPS://a", "a:b", "https://[::1%25eth0]/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, ok := redirectable(text)
		if !ok {
			return
		}
		if source := target(u); strings.ContainsAny(source, " ;,'\"\r\n\t") || source == "" {
			t.Errorf("%q leads to the source %q", text, source)
		}
		if u.Scheme == "http" && !loopback(u) || strings.EqualFold(u.Scheme, "javascript") ||
			strings.EqualFold(u.Scheme, "data") {
			t.Errorf("%q is taken", text)
		}
		if !matches([]string{text}, text) {
			t.Errorf("%q does not match itself", text)
		}
	})
}
