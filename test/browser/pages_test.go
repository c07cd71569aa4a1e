package browser_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/surface/htmlpage"
	"coffer/internal/surface/signin/signintest"
)

// TestEveryPage walks through all pages as a person does. On each, the browser reports no error and
// no breach of the page's policy, and asks nobody but the service (on the page that links a bank,
// also the bank's provider); nothing is wider than the window, too small, unlabelled or too faint.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"phone", "desktop"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			b, h := newBrowser(t, size), newHouse(t)
			for _, walk := range []func(*browser, *house){
				documents, setUp, passkey, elsewhere, device, recovery,
				others, hosted, widget, again, assistants, trouble,
			} {
				walk(b, h)
			}
			for route, seen := range h.seen {
				// they lead on, are errors, or belong to the app, which TestScreens and TestAddedOffline look at
				if !seen && !slices.Contains([]string{
					"GET /{$}", "GET /login/oidc", "GET /login/oidc/callback", "GET /add", "GET /sw.js",
					"GET /manifest.webmanifest", "GET /icon-180.png", "GET /icon-192.png", "GET /icon-512.png",
					"GET /icon-maskable-512.png",
				}, route) {
					t.Errorf("nobody looked at %s", route)
				}
			}
		})
	}
}

const (
	email    = "robin@example.com"
	password = "a sentence makes a good password"
)

func documents(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	b.visit(t, "/docs", http.StatusOK, "coffer")
	b.visit(t, "/", http.StatusOK, "Password") // what a person types leads to the sign-in
	b.visit(t, "/no/such/page", http.StatusNotFound, "Page not found")
	b.visit(t, "/link/no-such-token", http.StatusNotFound, "Page not found")
	b.visit(t, "/link/return?state=none", http.StatusNotFound, "start again to connect the bank")
	b.visit(t, "/setup/no-such-token", http.StatusNotFound, "Page not found")
}

// opens returns what the app shows first, or what stands in its place if it is not built.
func opens(text string) string {
	if _, err := os.Stat(filepath.Join("..", "..", "internal", "surface", "web", "dist", "app", "index.html")); err != nil {
		return "doesn't include the web app"
	}
	return text
}

// found fills in the form with which a household begins, and returns the ticket that it used.
func (b *browser) found(t *testing.T, h *house) string {
	t.Helper()
	ticket, err := h.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b.visit(t, "/setup/"+ticket, http.StatusOK, "Create household")
	b.fill(t, "Name", "Robin")
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.click(t, "Create household", opens("Welcome, Robin"))
	return ticket
}

func setUp(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	ticket := b.found(t, h)
	b.visit(t, "/account", http.StatusOK, "Sessions")
	b.click(t, "Change your password", "Current password")
	b.fill(t, "Current password", "not the password")
	b.fill(t, "New password", "another sentence entirely")
	b.click(t, "Change password", "Your account")
	b.click(t, "Sign out", "Email")
	b.visit(t, "/login?next=/account", http.StatusOK, "Email")
	b.fill(t, "Email", email)
	b.fill(t, "Password", "not the password")
	if v := b.click(t, "Sign in", "Wrong email or password"); v.Status != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", v.Status)
	}
	b.signIn(t)
	b.visit(t, "/setup/"+ticket, http.StatusNotFound, "Page not found")
}

// signIn types the password on the page that asks for it.
func (b *browser) signIn(t *testing.T) {
	t.Helper()
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.see(t, "Your account")
}

func passkey(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	b.do(t, step{Do: "authenticator"})
	b.visit(t, "/login?next=/account", http.StatusOK, "Sign in with a passkey")
	b.signIn(t)
	b.click(t, "Add a passkey", "You can now sign in with this passkey")
	b.click(t, "Sign out", "Sign in with a passkey")
	b.visit(t, "/login?next=/account", http.StatusOK, "Sign in with a passkey")
	b.click(t, "Sign in with a passkey", "Sessions")
	b.click(t, "End session", "Session ended")
	number := strings.Replace(h.url, "localhost", "127.0.0.1", 1) // can have no passkey
	b.open(t, h, number)
	if v := b.visit(t, number+"/login", http.StatusOK, "Password"); strings.Contains(v.Text, "passkey") {
		t.Errorf("a passkey is offered at %s:\n%s", number, v.Text)
	}
}

func elsewhere(b *browser, h *house) {
	t := b.t
	b.open(t, h, h.issuer.URL)
	h.issuer.Set(signintest.Behavior{Refuses: true})
	b.visit(t, "/login?next=/account", http.StatusOK, "Example ID")
	b.click(t, "Sign in with Example ID", "refused")
	b.visit(t, "/login?next=/account", http.StatusOK, "Example ID")
	b.signIn(t)
	b.click(t, "Add Example ID", "Sign in with the account")
	b.click(t, "Continue to Example ID", "refused")
	h.issuer.Set(signintest.Behavior{Age: 1})
	b.visit(t, "/account", http.StatusOK, "Example ID")
	b.click(t, "Add Example ID", "Sign in with the account")
	b.click(t, "Continue to Example ID", "You can now sign in with this account")
	b.click(t, "Sign out", "Example ID")
	b.visit(t, "/login?next=/account", http.StatusOK, "Example ID")
	b.click(t, "Sign in with Example ID", "Sessions")
	h.leave(t)
	b.visit(t, "/account", http.StatusOK, "Sessions")
	b.click(t, "Sign in again to make changes", "Confirm it's you")
	b.click(t, "Sign in with Example ID", "Remove")
	h.leave(t)
	h.issuer.Set(signintest.Behavior{Age: 3600})
	b.visit(t, "/login?again=1&next=/account", http.StatusOK, "Confirm it's you")
	b.click(t, "Sign in with Example ID", "does not confirm that you have just signed in there")
}

func device(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	type code struct {
		UserCode string `json:"user_code"`
		Complete string `json:"verification_uri_complete"`
	}
	ask := func() code {
		return post[code](t, h, "/oauth/device_authorization", "application/x-www-form-urlencoded",
			url.Values{"client_id": {"coffer on a laptop"}, "scope": {"full_access"}}.Encode())
	}
	c := ask()
	b.visit(t, "/device", http.StatusOK, "Password")
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.click(t, "Sign in", "Enter the code")
	b.fill(t, "Code", "ZZZZ-ZZZZ")
	if v := b.click(t, "Continue", "Unknown code"); v.Status != http.StatusNotFound {
		t.Errorf("a code that nobody has: %d", v.Status)
	}
	b.fill(t, "Code", c.UserCode)
	b.click(t, "Continue", "coffer on a laptop")
	b.click(t, "View and edit.*", "coffer on a laptop")
	b.do(t, step{Do: "hasty", Name: "Authorize"})
	h.leave(t)
	b.click(t, "Authorize", "Confirm it's you")
	b.fill(t, "Password", password)
	b.click(t, "Sign in", "coffer on a laptop")
	b.click(t, "Authorize", "is connected with view-only access")
	b.visit(t, ask().Complete, http.StatusOK, "coffer on a laptop")
	b.click(t, "Deny", "gets no access")
}

// recovery is for a member who has lost every other sign-in method.
func recovery(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	b.visit(t, "/login?next=/account", http.StatusOK, "Use a recovery code")
	b.signIn(t)
	code := regexp.MustCompile(`\w{4}-\w{4}-\w{4}-\w{4}`).FindString(b.click(t, "Create recovery codes",
		"You won't see them again").Text)
	b.click(t, "I saved them", "10 left")
	b.click(t, "Sign out", "Use a recovery code")
	b.click(t, "Use a recovery code", "Each works once")
	b.fill(t, "Recovery code", "0000-0000-0000-0000")
	if v := b.click(t, "Sign in", "not a valid recovery code"); v.Status != http.StatusUnauthorized {
		t.Errorf("a wrong code: %d", v.Status)
	}
	b.fill(t, "Recovery code", strings.ToLower(code))
	b.click(t, "Sign in", "You used a recovery code")
	b.see(t, "9 left")
	b.click(t, "Create new recovery codes", "You won't see them again")
}

// others are members who are no admins: each looks after their own account, and nothing else is
// offered.
func others(b *browser, h *house) {
	t := b.t
	for _, role := range []string{"member", "viewer"} {
		user := post[struct {
			ID string `json:"id"`
		}](t, h, "/api/v1/users", "application/json",
			`{"name":"A `+role+`","email":"`+role+`@example.com","role":"`+role+`"}`)
		post[map[string]any](t, h, "/api/v1/users/"+user.ID+"/login", "application/json",
			`{"kind":"password","password":"`+password+`"}`)
		b.open(t, h)
		b.do(t, step{Do: "authenticator"})
		b.visit(t, "/login?next=/account", http.StatusOK, "Email")
		b.fill(t, "Email", role+"@example.com")
		b.fill(t, "Password", password)
		b.click(t, "Sign in", "Choose a new password")
		b.fill(t, "Password", password)
		b.click(t, "Set password", "different from the password you were given")
		b.fill(t, "Password", "a sentence of my own")
		b.click(t, "Set password", opens("Welcome, A "+role))
		v := b.visit(t, "/account", http.StatusOK, "Sessions")
		if !strings.Contains(v.Text, role+"@example.com · "+role) || strings.Contains(v.Text, "Enter its code") {
			t.Errorf("a %s's account: %s", role, v.Text)
		}
		b.click(t, "Add a passkey", "You can now sign in with this passkey")
		b.click(t, "Change your password", "Current password")
		b.fill(t, "Current password", "a sentence of my own")
		b.fill(t, "New password", "another sentence entirely")
		b.click(t, "Change password", "Password changed")
		b.click(t, "Remove", "Sign-in method removed")
		b.click(t, "the assistants connected to your account", "No connected assistants")
		b.visit(t, "/device", http.StatusForbidden, "Only admins")
	}
}

// hosted links a bank on the provider's own page, and leaves it another time.
func hosted(b *browser, h *house) {
	t := b.t
	b.open(t, h, h.plaid.URL())
	b.visit(t, h.link(t, `{"provider":"plaid"}`), http.StatusOK, "Continue to")
	b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
	b.click(t, "Share my accounts", "Bank connected")
	b.visit(t, h.link(t, `{"provider":"plaid"}`), http.StatusOK, "Continue to")
	b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
	b.click(t, "Leave", "Bank not connected")
	late := h.link(t, `{"provider":"plaid"}`)
	if _, err := pg.Exec(t.Context(), h.DB, `update link_session set expires_at = now() - interval '1 second'
		where state = 'pending'`); err != nil {
		t.Fatal(err)
	}
	b.visit(t, late, http.StatusOK, "Bank not connected")
}

// widget links a bank in the provider's window inside coffer's page; the second time, it is asked
// whether that is meant.
func widget(b *browser, h *house) {
	t := b.t
	b.open(t, h, h.teller.URL())
	before := h.count(t, `select count(*) from connection`)
	path := h.link(t, `{"provider":"teller"}`)
	share := func(button string) {
		t.Helper()
		b.click(t, "Choose your bank", "coffer never sees your password")
		b.do(t, step{Do: "see", Text: "coffer asks to see your accounts", Frame: true})
		b.look(t)
		b.do(t, step{Do: "click", Name: button, Frame: true})
	}
	b.visit(t, path, http.StatusOK, "Choose your bank")
	share("Leave")
	b.see(t, "You haven't shared any accounts yet")
	share("Share my accounts")
	b.see(t, "Bank connected")
	if n := h.count(t, `select count(*) from connection`); n != before+1 {
		t.Errorf("%d connections, not %d", n, before+1)
	}
	b.visit(t, path, http.StatusOK, "Bank connected")
	h.settle(t)
	for _, last := range []struct{ button, text string }{
		{"Cancel", "Bank not connected"},
		{"Connect anyway", "Bank connected"},
	} {
		b.visit(t, h.link(t, `{"provider":"teller"}`), http.StatusOK, "Choose your bank")
		share("Share my accounts")
		b.see(t, "are already connected")
		b.click(t, last.button, last.text)
	}
}

// again signs in at both banks again.
func again(b *browser, h *house) {
	t := b.t
	b.open(t, h, h.plaid.URL(), h.teller.URL())
	for provider, signIn := range map[string]func(){
		"plaid": func() {
			b.click(t, "Continue to Plaid", "coffer asks to see your accounts")
			b.click(t, "Share my accounts", "Bank reconnected")
		},
		"teller": func() {
			b.click(t, "Sign in", "needs you to sign in again")
			b.do(t, step{Do: "click", Name: "Share my accounts", Frame: true})
			b.see(t, "Bank reconnected")
		},
	} {
		c, err := pg.Value[string](t.Context(), h.DB, `update connection set status = 'pending_reauth'
			where id = (select id from connection where provider = $1 order by id limit 1)
			returning id::text`, provider)
		if err != nil {
			t.Fatal(err)
		}
		b.visit(t, h.begin(t, "/api/v1/connections/"+c+"/reauth-session", ""), http.StatusOK,
			"needs you to sign in again")
		signIn()
	}
}

// assistants are let in to read or to change things, or refused, and sent away again.
func assistants(b *browser, h *house) {
	t := b.t
	codes := make(chan string, 2)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			codes <- r.URL.Query().Get("code")
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w,
			`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>A program</title><link rel="icon" href="data:,"><h1>Back at the program</h1>`)
	}))
	t.Cleanup(program.Close)
	client := post[struct {
		ID string `json:"client_id"`
	}](t, h, "/oauth/register", "application/json",
		`{"client_name":"An assistant with quite a long name","redirect_uris":["`+program.URL+`/back"]}`).ID
	verifier := strings.Repeat("browser-", 6)
	sum := sha256.Sum256([]byte(verifier))
	ask := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {program.URL + "/back"},
		"scope": {"read write"}, "state": {"1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {h.url + "/mcp"},
	}
	b.open(t, h, program.URL)
	b.visit(t, "/oauth/authorize?"+ask.Encode(), http.StatusOK, "Password")
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.click(t, "Sign in", "wants to access your household's data")
	b.click(t, "Deny", "Back at the program")
	if code := <-codes; code != "" {
		t.Error("a program that was refused got a code")
	}
	b.visit(t, "/account/assistants", http.StatusOK, "No connected assistants")
	b.visit(t, "/oauth/authorize?"+ask.Encode(), http.StatusOK, "wants to access your household's data")
	b.do(t, step{Do: "hasty", Name: "Allow view only"})
	b.click(t, "View and edit.*", "Allow view and edit")
	b.click(t, "View only.*", "Allow view only")
	b.click(t, "Allow view only.*", "Back at the program")
	post[map[string]any](t, h, "/oauth/token", "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {<-codes}, "code_verifier": {verifier},
		"redirect_uri": {program.URL + "/back"},
	}.Encode())
	b.visit(t, "/account/assistants", http.StatusOK, "An assistant with quite a long name")
	b.click(t, "Revoke access", "No connected assistants")
	ask.Set("redirect_uri", "https://elsewhere.example/")
	b.visit(t, "/oauth/authorize?"+ask.Encode(), http.StatusBadRequest, "did not register")
}

// trouble shows the pages after too many tries, and for a failure of the service itself.
func trouble(b *browser, h *house) {
	t := b.t
	b.open(t, h)
	b.visit(t, "/login?next=/account", http.StatusOK, "Email")
	for tries := 0; ; tries++ {
		b.fill(t, "Email", "nobody@example.com")
		b.fill(t, "Password", "not the password")
		v := b.click(t, "Sign in", "/Wrong email or password|Too many failed attempts/")
		if v.Status == http.StatusTooManyRequests {
			break
		}
		if v.Status != http.StatusUnauthorized || tries > 10 {
			t.Fatalf("try %d: %d", tries, v.Status)
		}
	}
	b.signIn(t)
	rename := func(from, to string) {
		if _, err := h.DB.Exec(t.Context(), `alter table `+from+` rename to `+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("consent", "consent_away")
	defer rename("consent_away", "consent")
	b.visit(t, "/account/assistants", http.StatusInternalServerError, "Internal error")
}

// TestTheBrowserSees shows a page with everything that must not be; each is found.
func TestTheBrowserSees(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, "phone")
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	style := htmlpage.NewFile("bad.css", "text/css",
		[]byte(`#wide { overflow-wrap: normal; } #faint { color: #999; background: #aaa; } input { font-size: 10px; } button { height: 12px; min-height: 0; padding: 0; }`))
	script := htmlpage.NewFile("bad.js", "text/javascript", []byte(`console.error("said aloud"); undefined.gone;`))
	bad := htmlpage.Parse(`<link rel="stylesheet" href="` + style.Path + `"><h1>Twice</h1><p id="wide">` +
		strings.Repeat("x", 500) + `</p><img src="{{.}}/dot.png" alt=""><script>console.error("never")</script>
<input name="nobody" type="search"><button></button><script src="/bad.js"></script><p id="faint">faint</p>`)
	mux := http.NewServeMux()
	mux.Handle("GET "+htmlpage.Stylesheet.Path, htmlpage.Stylesheet)
	mux.Handle("GET "+style.Path, style)
	mux.Handle("GET /bad.js", script)
	mux.HandleFunc("GET /bad", func(w http.ResponseWriter, _ *http.Request) {
		_ = htmlpage.Page{
			Title: "Bad", Body: bad, Data: other.URL, Script: script,
			Allow: htmlpage.Sources{Image: []string{other.URL}},
		}.Write(w)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	h := &house{url: s.URL, pages: http.NewServeMux(), seen: make(map[string]bool)}
	b.open(t, h)
	b.do(t, step{Do: "visit", URL: s.URL + "/bad"})
	v := b.do(t, step{Do: "look", Look: true})
	for _, want := range []string{
		"Content Security Policy", "a request to " + other.URL, "said aloud", "a script failed",
		"wider than the window", "not one h1", "too small", "no label", "zoom", "says nothing", "hard to read",
	} {
		if !slices.ContainsFunc(v.Faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("not noticed: %s, in %q", want, v.Faults)
		}
	}
}
