package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// authorization maps the suite's scenarios for authorization servers to the number of checks that
// each must make.
var authorization = map[string]int{"authorization-server-metadata-endpoint": 2, "authorization-code-grant": 1}

// TestAuthorization runs the suite's scenarios for authorization servers against the service. The
// suite is the client, and the test plays the browser, which signs in and consents.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	suite := findSuite(t)
	base, session := authority(t)
	port := freePort(t)
	client := registered(t, base, fmt.Sprintf("http://127.0.0.1:%d/callback", port))
	dir := t.TempDir()
	output := suite.authorize(t, dir, func(asked string) error { return consent(t.Context(), asked, session) },
		"--url", base+"/oauth", "--client-id", client, "--resource", base+"/mcp", "--port", fmt.Sprint(port),
		"--output-dir", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(authorization) {
		t.Errorf("%d of %d scenarios ran\n%s", len(files), len(authorization), output)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatal(err)
		}
		for name, want := range authorization {
			if strings.Contains(file, name) && len(checks) != want {
				t.Errorf("%s made %d checks, want %d", name, len(checks), want)
			}
		}
		for _, c := range checks {
			if c.Status != "SUCCESS" {
				t.Errorf("%s: %s %s", c.ID, c.Status, c.ErrorMessage)
			}
			t.Logf("%s: %s", c.ID, c.Status)
		}
	}
}

// authority starts the real service, which knows its own loopback address, and returns the address
// and a member's session.
func authority(t *testing.T) (base, session string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	base = "http://" + server.Listener.Addr().String()
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 4,
		PublicURL: base, OAuthClientHosts: []string{"claude.ai"},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	var u auth.User
	err = a.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		u, err = a.Auth.CreateUser(t.Context(), tx, auth.CreateUser{Name: "Robin", Role: op.RoleAdmin})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, session, err = a.Auth.OpenSession(t.Context(), auth.SignIn{User: u}, "a browser")
	if err != nil {
		t.Fatal(err)
	}
	return base, session
}

// registered registers the suite as a client of the server.
func registered(t *testing.T, base, redirect string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/oauth/register",
		strings.NewReader(fmt.Sprintf(`{"client_name":"the suite","redirect_uris":[%q]}`, redirect)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	var c struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&c); err != nil || c.ID == "" {
		t.Fatalf("register: %s %v", res.Status, err)
	}
	return c.ID
}

// freePort returns a port on which nothing listens, because the suite needs one as an argument.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // free again
	return l.Addr().(*net.TCPAddr).Port
}

// authorize runs the suite, and passes the address that it prints for a person to open.
func (s suite) authorize(t *testing.T, dir string, open func(address string) error, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.program(), "authorization"}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + filepath.Dir(s.node), "HOME=" + dir, "NO_COLOR=1"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	cmd.Stderr = &all
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		all.WriteString(line + "\n")
		if strings.HasPrefix(line, "http") {
			if err := open(line); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the suite: %v\n%s", err, all.String())
	}
	return all.String()
}

var field = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// consent plays a browser in which somebody is signed in and lets the program in.
func consent(ctx context.Context, asked, session string) error {
	send := func(method, address string, form url.Values) (*http.Response, string, error) {
		req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
		if err != nil {
			return nil, "", err
		}
		req.Header.Set("Cookie", auth.SessionCookie+"="+session)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, "", err
		}
		defer res.Body.Close() //nolint:errcheck // read only
		b, err := io.ReadAll(res.Body)
		return res, string(b), err
	}
	res, page, err := send(http.MethodGet, asked, nil)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("the page: %v %w", res, err)
	}
	form := url.Values{"decision": {"allow"}}
	for _, m := range field.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	at, _, _ := strings.Cut(asked, "?")
	res, page, err = send(http.MethodPost, at, form)
	if err != nil || res.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("the decision: %v %s %w", res, page, err)
	}
	back := res.Header.Get("Location")
	_, _, err = send(http.MethodGet, back, nil)
	for end := time.Now().Add(5 * time.Minute); errors.Is(err, syscall.ECONNREFUSED) &&
		time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		_, _, err = send(http.MethodGet, back, nil) // the suite prints its question before it listens
	}
	return err
}
