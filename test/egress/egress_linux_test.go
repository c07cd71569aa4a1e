package egress

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inside is the variable that names the program to run in the namespace.
const inside = "COFFER_TEST_INSIDE"

// modelHost is the configured host of the model. It is an address of this machine that nothing else
// has, so calls to it can be distinguished from calls to a bank.
const modelHost = "127.0.0.77"

// bellHost is the host of the notifications' endpoint, for the same reason.
const bellHost = "127.0.0.78"

// TestEgress: the program serves a household's typical day. It connects only to its database and to
// the configured banks and model. It needs no privileges, no other files and no shell.
func TestEgress(t *testing.T) {
	t.Parallel()
	program := os.Getenv(inside)
	if program == "" {
		enter(t, inside+"="+apptest.Program(t))
		return
	}
	if out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	control(t, program)
	j := newJail(t, program)
	w := newWalk(t, j)
	w.banks(t)
	w.books(t)
	w.tools(t)
	if n := j.calls(t, modelHost); n != 0 {
		t.Errorf("%d connections to the model before a workflow ran", n)
	}
	w.agents(t)
	w.exports(t)
	if n := j.calls(t, bellHost); n != 0 {
		t.Errorf("%d connections to the endpoint before there was one", n)
	}
	w.notifications(t)
	bell := j.calls(t, bellHost)
	if bell == 0 {
		t.Error("the endpoint was not reached, so the watch proves nothing")
	}
	model := j.calls(t, modelHost)
	if model == 0 {
		t.Error("the model was not reached, so the watch proves nothing")
	}
	if n := j.held(t); n != 2 {
		t.Errorf("%d processes in the jail: the server and the sandbox are 2", n)
	}
	own, others := j.reached(t)
	if len(others) > 0 {
		t.Errorf("%d connections to other machines:\n%s", len(others), strings.Join(others, "\n"))
	}
	if own == 0 {
		t.Error("not even the database was reached, so the watch proves nothing")
	}
	t.Logf("%d requests; %d connections to loopback, %d of them to the model and %d to the endpoint, %d elsewhere",
		w.requests, own, model, bell, len(others))
}

// control makes the same program in the same jail call another address and another name. The test
// must detect both.
func control(t *testing.T, program string) {
	t.Helper()
	for server, want := range map[string]string{
		"https://198.51.100.7":      `"198.51.100.7"`,
		"https://telemetry.example": `"192.0.2.53"`,
	} {
		j := newJail(t, program)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, j.program, "tag", "list")
		cmd.Env = append(os.Environ(), "COFFER_SERVER="+server, "COFFER_API_KEY=coffer_control")
		said, err := cmd.CombinedOutput()
		cancel()
		if _, others := j.reached(t); err == nil || len(others) == 0 || !strings.Contains(others[0], want) {
			t.Fatalf("calling %s was not noticed: %q, %v: %s", server, others, err, said)
		}
	}
}

// A walk is a household served in the jail, together with a sandbox of banks.
type walk struct {
	server   *apptest.Server
	key      string
	client   *http.Client
	requests int
}

func newWalk(t *testing.T, j jail) *walk {
	t.Helper()
	database := pgtest.NewCluster(t).URL("postgres")
	sandbox := exec.Command(j.program, "sandbox", "--seed=5", "--transactions=400", "--pace=200ms",
		"--model="+modelHost+":9403")
	sandbox.Stderr = os.Stderr
	if err := sandbox.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sandbox.Process.Kill() // it may have ended already
		_ = sandbox.Wait()         // returns an error because it was killed
	})
	w := &walk{client: &http.Client{Timeout: time.Minute}}
	w.server = apptest.Start(t, j.program, database,
		"COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"COFFER_PLAID_CLIENT_ID=sandbox", "COFFER_PLAID_SECRET=sandbox", "COFFER_PLAID_ENVIRONMENT=sandbox",
		"COFFER_PLAID_URL=http://127.0.0.1:9401",
		"COFFER_TELLER_APPLICATION_ID=app_sandbox", "COFFER_TELLER_ENVIRONMENT=sandbox",
		"COFFER_TELLER_URL=http://127.0.0.1:9402", "COFFER_OPENAI_URL=http://"+modelHost+":9403/v1")
	t.Cleanup(j.clear) // must run before the cleanups above, or the processes would outlive their tracer
	db, err := pg.Open(t.Context(), database, pg.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		k, err := auth.New(db).Create(t.Context(), tx, auth.CreateKey{
			Name: "walk", Scope: "full_access",
			ActorType: "user",
		})
		w.key = k.Secret
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// call makes a request to the server or to a full address, which must succeed.
func (w *walk) call(t *testing.T, method, path, body string, into any) []byte {
	t.Helper()
	w.requests++
	if strings.HasPrefix(path, "/") {
		path = w.server.URL() + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", w.key)
	req.Header.Set("Plaid-Client-Id", "sandbox") // for the sandbox; the server ignores it
	req.Header.Set("Plaid-Secret", "sandbox")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or the error says why not
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %.500s %v", method, path, res.StatusCode, b, err)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s %s: %v: %.500s", method, path, err, b)
		}
	}
	return b
}

// banks links one of the sandbox's banks and syncs it twice, with new transactions in between.
func (w *walk) banks(t *testing.T) {
	t.Helper()
	w.call(t, "GET", "/health/ready", "", nil)
	var made struct {
		Token string `json:"public_token"`
		ID    string `json:"id"`
	}
	w.call(t, "POST", "http://127.0.0.1:9401/sandbox/public_token/create", `{"institution_id":"ins_1"}`, &made)
	w.call(t, "POST", "/connections", fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, made.Token),
		&made)
	for range 2 {
		var job struct {
			State string `json:"state"`
		}
		if w.call(t, "POST", "/connections/"+made.ID+"/sync?wait=30s", "", &job); job.State != "succeeded" {
			t.Fatalf("the sync has %s", job.State)
		}
	}
}

// books reads and writes as people do.
func (w *walk) books(t *testing.T) {
	t.Helper()
	var list struct {
		Transactions []struct {
			ID string `json:"id"`
		} `json:"transactions"`
	}
	w.call(t, "GET", "/transactions?limit=20", "", &list)
	if len(list.Transactions) != 20 {
		t.Fatalf("%d transactions were synced", len(list.Transactions))
	}
	first := "/transactions/" + list.Transactions[0].ID
	w.call(t, "POST", "/tags", `{"slug":"walk","name":"On the way"}`, nil)
	w.call(t, "POST", first+"/tags", `{"tag_slug":"walk"}`, nil)
	w.call(t, "POST", first+"/comments", `{"content":"See https://telemetry.example/logo.png"}`, nil)
	w.call(t, "POST", "/rules",
		`{"rules":[{"name":"all","conditions":{"field":"amount","op":"gt","value":0},"actions":[{"type":"add_tag","tag_slug":"walk"}]}]}`, nil)
	w.call(t, "POST", "/rules/apply?wait=30s", `{}`, nil)
	w.call(t, "POST", "/reports", `{"title":"A report","body":"![pixel](https://telemetry.example/pixel.png)"}`, nil)
	for _, path := range []string{
		"/health", "/version", "/overview", "/accounts", "/connections", "/transactions/summary", "/transactions/count",
		first, first + "/annotations", first + "/explain",
		"/categories", "/counterparties", "/tags", "/rules", "/reports", "/changes", "/settings", "/settings/providers",
		"/sync/health", "/sync/logs", "/jobs", "/account-links",
	} {
		w.call(t, "GET", path, "", nil)
	}
	w.call(t, "GET", "http://"+w.server.Address+"/login", "", nil)
}

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Api-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// tools makes tool calls as an agent does.
func (w *walk) tools(t *testing.T) {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "walk", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{
			Endpoint: "http://" + w.server.Address + "/mcp/key", HTTPClient: &http.Client{Transport: withKey(w.key)},
			DisableStandaloneSSE: true,
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is left to be lost
	for _, name := range []string{
		"get_overview", "query_transactions", "transaction_summary", "list_tags",
		"trigger_sync",
	} {
		w.requests++
		if res, err := s.CallTool(t.Context(), &mcp.CallToolParams{
			Name:      name,
			Arguments: map[string]any{},
		}); err != nil || res.IsError {
			t.Fatalf("%s: %v %+v", name, err, res)
		}
	}
}

// agents runs two workflows of the household with the sandbox's model: a worklist and a
// conversation.
func (w *walk) agents(t *testing.T) {
	t.Helper()
	w.call(t, "PATCH", "/settings/agents", `{"default_provider":"openai_compatible","default_model":"dictionary"}`, nil)
	for _, slug := range []string{"review-queue", "weekly-digest"} {
		var run struct {
			ID     string `json:"id"`
			Status string `json:"status"`
			Turns  int    `json:"turns"`
		}
		w.call(t, "POST", "/workflows/"+slug+"/run?wait=30s", "", &run)
		w.call(t, "GET", "/workflow-runs/"+run.ID, "", &run)
		if run.Status != "succeeded" || run.Turns == 0 {
			t.Fatalf("%s: %+v", slug, run)
		}
		if lines := w.call(t, "GET", "/workflow-runs/"+run.ID+"/transcript", "", nil); bytes.Contains(lines,
			[]byte(modelHost)) {
			t.Errorf("the transcript of %s names the model's address", slug)
		}
	}
}

// notifications adds an endpoint that at first redirects to another address, and waits until it
// receives a notification about a report.
func (w *walk) notifications(t *testing.T) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", bellHost+":0")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 10)
	var calls atomic.Int64
	bell := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(rw http.ResponseWriter,
		r *http.Request,
	) {
		if calls.Add(1) == 1 {
			http.Redirect(rw, r, "https://telemetry.example/", http.StatusTemporaryRedirect)
			return
		}
		got <- r.Header.Get("Webhook-Id")
	})}
	t.Cleanup(func() { _ = bell.Close() })
	go func() { _ = bell.Serve(l) }() // it ends with the test
	var made struct {
		ID string `json:"id"`
	}
	w.call(t, "POST", "/notifications/endpoints", fmt.Sprintf(`{"url":"http://%s/hook"}`, l.Addr()), &made)
	var tested struct {
		Delivered bool `json:"delivered"`
	}
	if w.call(t, "POST", "/notifications/endpoints/"+made.ID+"/test", "", &tested); tested.Delivered {
		t.Error("a redirect counts as delivered")
	}
	w.call(t, "POST", "/reports", `{"title":"A report","body":"See https://telemetry.example/"}`, nil)
	select {
	case id := <-got:
		if !strings.HasPrefix(id, "msg_") {
			t.Errorf("the message is called %q", id)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("the endpoint got nothing")
	}
}

// exports exports the household's data.
func (w *walk) exports(t *testing.T) {
	t.Helper()
	var job struct {
		Result struct {
			URL string `json:"url"`
		} `json:"result"`
	}
	w.call(t, "POST", "/exports?wait=30s", `{"format":"csv"}`, &job)
	_, path, found := strings.Cut(job.Result.URL, "/exports/")
	if !found {
		t.Fatalf("no link to the export: %+v", job)
	}
	if file := w.call(t, "GET", "http://"+w.server.Address+"/exports/"+path, "", nil); !bytes.HasPrefix(file,
		[]byte("PK")) && !bytes.Contains(file, []byte("amount")) {
		t.Errorf("the export begins with %.100q", file)
	}
}
