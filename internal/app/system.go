package app

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"time"

	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/rest"
)

// system is what the service says about itself.
type system struct{ app *App }

func (s *system) ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "version.show", Route: "GET /version", Summary: "Shows which build of the service this is."}, s.version),
		op.Reading(op.Spec{Name: "setup.show", Route: "GET /headless/bootstrap", Scope: op.Open, Summary: "Shows what a new installation still lacks; nothing once it is set up."}, s.bootstrap),
	}
}

func (s *system) raw() []rest.Raw {
	out := op.SchemaOf[Health]()
	route := func(path, name, summary string, ready bool) rest.Raw {
		return rest.Raw{Route: "GET " + rest.Prefix + path, Scope: op.Open, Name: name, Summary: summary, Out: out, Handler: s.health(ready)}
	}
	return []rest.Raw{
		route("/health", "health.show", "Says whether the service can work, and what it found.", true),
		route("/health/live", "health.live", "Says that the process runs.", false),
		route("/health/ready", "health.ready", "Says whether the service can take requests.", true),
	}
}

// A VersionInfo says which build of the service this is.
type VersionInfo struct {
	Version         string `json:"version"`
	Commit          string `json:"commit"`
	BuiltAt         string `json:"built_at" doc:"Empty for a build that does not say"`
	ContractVersion string `json:"contract_version"`
	GoVersion       string `json:"go_version"`
}

func (s *system) version(context.Context, pg.Querier, op.None) (VersionInfo, error) {
	return VersionInfo{Version, Commit, BuiltAt, rest.ContractVersion, runtime.Version()}, nil
}

// A Bootstrap says what a new installation lacks. Once it is set up it says nothing more, because anyone may ask.
type Bootstrap struct {
	SetupRequired bool      `json:"setup_required" doc:"No login and no API key exists yet"`
	Database      string    `json:"database,omitempty" doc:"ok"`
	Migrations    string    `json:"migrations,omitempty" doc:"current or pending"`
	EncryptionKey string    `json:"encryption_key,omitempty" doc:"set or missing; without it no bank can be linked"`
	Providers     *[]string `json:"providers,omitempty" doc:"Bank providers that are configured"`
}

func (s *system) bootstrap(ctx context.Context, _ pg.Querier, _ op.None) (Bootstrap, error) {
	made, err := s.app.Auth.Any(ctx)
	if err != nil || made {
		return Bootstrap{}, err
	}
	b := Bootstrap{SetupRequired: true, Database: "ok", Migrations: "current", EncryptionKey: "missing", Providers: &[]string{}}
	if s.app.Ring != nil {
		b.EncryptionKey = "set"
	}
	at, err := s.app.DB.SchemaVersion(ctx)
	if at != pg.Newest() {
		b.Migrations = "pending"
	}
	return b, err
}

// A Health is what the probes answer.
type Health struct {
	Status  string            `json:"status" enum:"ok,unavailable"`
	Version string            `json:"version"`
	Checks  map[string]string `json:"checks" doc:"What was looked at: ok, or what is wrong"`
}

func (s *system) health(ready bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := Health{Status: "ok", Version: Version, Checks: map[string]string{}}
		status := http.StatusOK
		if ready {
			ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
			defer cancel()
			at, err := s.app.DB.SchemaVersion(ctx)
			switch {
			case err != nil:
				h.Checks["database"] = "does not answer"
			case at < pg.Newest():
				h.Checks["database"], h.Checks["migrations"] = "ok", "pending"
			default:
				h.Checks["database"], h.Checks["migrations"] = "ok", "ok"
			}
			if err != nil || at < pg.Newest() {
				h.Status, status = "unavailable", http.StatusServiceUnavailable
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(h) // a caller that has gone needs no answer
	})
}
