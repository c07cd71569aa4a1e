package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
)

// A terminal is a running program and its output.
type terminal struct {
	t     *testing.T
	lines chan string
	seen  strings.Builder
}

// openTerminal starts coffer with those arguments and variables. It stops when the test ends.
func openTerminal(t *testing.T, binary string, env []string, args ...string) *terminal {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, lines: make(chan string, 10_000)}
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			x.lines <- s.Text()
		}
		close(x.lines)
	}()
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = w.Close()
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return x
}

// until reads the output until it matches, and returns the matches.
func (x *terminal) until(pattern string) []string {
	x.t.Helper()
	wanted := regexp.MustCompile(pattern)
	late := time.After(5 * time.Minute)
	for {
		select {
		case line, ok := <-x.lines:
			if !ok {
				x.t.Fatalf("ended without %q:\n%s", pattern, x.seen.String())
			}
			x.seen.WriteString(line + "\n")
			if found := wanted.FindStringSubmatch(line); found != nil {
				return found
			}
		case <-late:
			x.t.Fatalf("never printed %q:\n%s", pattern, x.seen.String())
		}
	}
}

// TestSandboxFromTheTerminal: a new user starts the sandbox and the server, links banks from the
// terminal, and sees transactions with categories. Then the banks add transactions.
func TestSandboxFromTheTerminal(t *testing.T) {
	t.Parallel()
	binary, file := apptest.Program(t), filepath.Join(t.TempDir(), "sandbox.env")
	env := []string{
		"COFFER_DATABASE_URL=" + pgtest.URL(t), "COFFER_ENCRYPTION_KEY=" + testRing,
		"COFFER_LISTEN=" + freePort(t),
	}
	// The sandbox needs no database. With one, its model becomes the household default.
	sandbox := openTerminal(t, binary, env, "sandbox", "--plaid", "127.0.0.1:0", "--teller", "127.0.0.1:0",
		"--simplefin", "127.0.0.1:0", "--enablebanking", "127.0.0.1:0",
		"--model", "127.0.0.1:0", "--transactions", "400", "--pace", "500ms", "--env", file)
	sandbox.until("The simulated model is your default")
	sandbox.until("Stop with Ctrl-C")
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	teller := ""
	for line := range strings.Lines(string(written)) {
		variable := strings.TrimPrefix(strings.TrimSpace(line), "export ")
		env = append(env, variable)
		if at, ok := strings.CutPrefix(variable, "COFFER_TELLER_URL="); ok {
			teller = at
		}
	}
	openTerminal(t, binary, env, "serve").until("serving")
	for _, provider := range []string{"plaid", "teller"} {
		link := openTerminal(t, binary, env, "connection", "link", "--provider", provider)
		page := link.until(`(http://\S+/link/\w+)`)[1]
		link.until("Waiting for you to sign in")
		if provider == "plaid" {
			browse(t, regexp.MustCompile(`href="([^"]*/hosted/[^"]*)"`).FindStringSubmatch(browse(t, page, nil))[1],
				url.Values{})
		} else {
			told := regexp.MustCompile(`"accessToken":"([^"]*)","enrollment":\{"id":"([^"]*)"`).FindStringSubmatch(
				browse(t, teller+"/connect", url.Values{}))
			browse(t, page, url.Values{"given": {`{"access_token":"` + told[1] + `","enrollment_id":"` + told[2] +
				`"}`}})
		}
		counts := link.until(`Imported (\d+) transactions, (\d+) categorized`)
		if len(counts[1]) < 2 || len(counts[2]) < 2 {
			t.Errorf("%s: %v", provider, counts)
		}
		link.until(`[A-Z]{3}  [a-z]+_[a-z_]+ `) // it lists the newest transactions with their categories
		sandbox.until(provider + `\s+(added|posted|removed)`)
	}
	// An agent categorizes the transactions that wait for review, with the simulated model.
	run := openTerminal(t, binary, env, "workflow", "run", "review-queue").until(`^\{.*`)[0]
	var ran struct {
		ID     string `json:"short_id"`
		Status string
		Turns  int
		Cost   json.Number `json:"cost_usd"`
		Plan   struct{ State string }
	}
	if err := json.Unmarshal([]byte(run), &ran); err != nil {
		t.Fatal(err)
	}
	if ran.Status != "succeeded" || ran.Turns == 0 || ran.Plan.State != "waiting" || ran.Cost != "0.00" {
		t.Errorf("the run: %s", run)
	}
	openTerminal(t, binary, env, "workflow-run", "apply", ran.ID).until(`"applied":[1-9]`)
	openTerminal(t, binary, env, "workflow-run", "revert", ran.ID).until(`"reverted":[1-9].*"skipped":\[\]`)

	// If the sandbox cannot reach a household, it prints the commands that choose the model.
	alone := openTerminal(t, binary, nil, "sandbox", "--plaid", "127.0.0.1:0", "--teller", "127.0.0.1:0",
		"--simplefin", "127.0.0.1:0", "--enablebanking", "127.0.0.1:0",
		"--model", "127.0.0.1:0", "--transactions", "400")
	alone.until(`coffer model set --provider openai_compatible --prices`)
	alone.until("Stop with Ctrl-C")
}

// browse opens a page or posts a form to it, and follows redirects.
func browse(t *testing.T, at string, form url.Values) string {
	t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	req, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	html, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", at, res.StatusCode, err, html)
	}
	return string(html)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number was wanted
	return l.Addr().String()
}
