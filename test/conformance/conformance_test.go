// Package conformance runs the official MCP conformance suite (npm package
// @modelcontextprotocol/conformance) against the service's whole HTTP surface. It contains the
// fixtures that the suite calls by name. Only this test links them.
package conformance_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	modern = "2026-07-28" // the first revision without sessions
	legacy = "2025-11-25" // the last revision with sessions
)

// revisions maps the frozen requirement sets to the number of server scenarios that each must
// contain. A suite that lost its scenarios must not look like a pass.
var revisions = map[string]int{modern: 37, legacy: 30}

// TestConformance runs the suite against the service with the fixtures, with both revisions at one
// address. Every required scenario must pass.
func TestConformance(t *testing.T) {
	t.Parallel()
	suite := findSuite(t)
	for revision, want := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			run := suite.run(t, serve(t, fixtures), revision)
			if len(run.required) != want {
				t.Errorf("the suite requires %d server scenarios, want %d", len(run.required), want)
			}
			if run.passed() != len(run.required) || run.exit != 0 {
				t.Errorf("%d of %d required scenarios passed, exit code %d\n%s", run.passed(), len(run.required),
					run.exit, run.failures())
			}
			t.Logf("%s: %d of %d required scenarios; %s", revision, run.passed(), len(run.required), run.unscored())
		})
	}
}

// generic are the scenarios that need no fixture. The service without fixtures passes them.
var generic = map[string][]string{
	modern: {
		"tools-list", "dns-rebinding-protection", "server-sse-multiple-streams", "http-header-validation",
		"input-required-result-unsupported-methods", "prompts-list", "resources-list", "sep-2164-resource-not-found",
	},
	legacy: {
		"server-initialize", "ping", "tools-list", "prompts-list", "resources-list", "server-sse-multiple-streams", "dns-rebinding-protection",
		"server-session-lifecycle",
	},
}

// partly maps scenarios to those of their checks that need fixtures. The service without fixtures
// passes all their other checks.
var partly = map[string][]string{
	"server-stateless": {
		"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
		"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
		"sep-2575-server-sends-prompts-list-changed-on-subscription",
	},
	"caching": {},
}

// TestBareService runs the suite against the service without the fixtures. Scenarios that need none
// pass, but the run as a whole must fail. Otherwise TestConformance would prove nothing.
func TestBareService(t *testing.T) {
	t.Parallel()
	suite := findSuite(t)
	for revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			run := suite.run(t, serve(t, nil), revision)
			if run.exit == 0 || run.passed() > len(run.required)/2 {
				t.Errorf("control: %d of %d scenarios passed without fixtures, exit code %d", run.passed(),
					len(run.required), run.exit)
			}
			for _, name := range generic[revision] {
				if !run.ok(name) {
					t.Errorf("this needs no fixture and failed: %s", run.report(name))
				}
			}
			for name, excused := range partly {
				if len(run.checks[name]) <= len(excused) && revision == modern {
					t.Errorf("%s checked too little: %d checks", name, len(run.checks[name]))
				}
				for _, c := range run.checks[name] {
					if !c.ok() && !slices.Contains(excused, c.ID) {
						t.Errorf("%s: %s %s: %s", name, c.Status, c.ID, c.ErrorMessage)
					}
				}
			}
			t.Logf("%s: %d of %d required scenarios without fixtures: %s", revision, run.passed(), len(run.required),
				strings.Join(run.passing(), ", "))
		})
	}
}

// serve runs the real service on its own database at a loopback port, and returns the address of
// its tools. The suite cannot send the API key, so the outermost layer adds it.
func serve(t *testing.T, extend func(*mcp.Server)) string {
	t.Helper()
	// The suite sends requests faster than the usual limits allow.
	config := app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 4, RatePerMinute: 1_000_000,
		RateBurst: 1_000_000,
	}
	a, err := app.Build(t.Context(), config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	a.Tools.Extend = extend
	var key auth.NewKey
	err = a.DB.InTx(t.Context(), func(tx pg.Tx) error {
		key, err = a.Auth.Create(t.Context(), tx, auth.CreateKey{
			Name: "conformance", Scope: op.Full.String(),
			ActorType: op.Agent,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-API-Key", key.Secret)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // ends the streams that sessions keep open, for which Close would wait
		server.Close()
	})
	return server.URL + "/mcp/key"
}
