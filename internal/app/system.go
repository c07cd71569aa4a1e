package app

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"time"

	"coffer/internal/bank/all"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/settings"
	"coffer/internal/surface/rest"
)

// system describes the service itself.
type system struct{ app *App }

func (s *system) ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "version.show", Route: "GET /version",
			Summary: "Shows version information.",
		}, s.version),
		op.Reading(op.Spec{
			Name: "setup.show", Route: "GET /headless/bootstrap", Scope: op.Open,
			Summary: "Shows which setup steps are still missing; empty once setup is complete.",
		}, s.bootstrap),
	}
}

func (s *system) raw() []rest.Raw {
	out := op.SchemaOf[Health]()
	route := func(path, name, summary string, ready bool) rest.Raw {
		return rest.Raw{
			Route: "GET " + rest.Prefix + path, Scope: op.Open, NoQuery: true,
			Name: name, Summary: summary, Out: out, Handler: s.health(ready),
		}
	}
	return []rest.Raw{
		route("/health", "health.show", "Reports whether the service is working, and what it checked.", true),
		route("/health/live", "health.live", "Reports that the process is running.", false),
		route("/health/ready", "health.ready", "Reports whether the service can accept requests.", true),
	}
}

// A VersionInfo describes the build of the service.
type VersionInfo struct {
	Version         string `json:"version"`
	Commit          string `json:"commit"`
	BuiltAt         string `json:"built_at" doc:"Empty if the build has none"`
	ContractVersion string `json:"contract_version"`
	GoVersion       string `json:"go_version"`
}

func (s *system) version(context.Context, pg.Querier, op.None) (VersionInfo, error) {
	return VersionInfo{Version, Commit, BuiltAt, rest.ContractVersion, runtime.Version()}, nil
}

// A Bootstrap lists what a new installation still needs. After setup the response is empty, because
// anyone may request it.
type Bootstrap struct {
	SetupRequired bool      `json:"setup_required" doc:"Whether there is no login and no API key yet"`
	Database      string    `json:"database,omitempty" doc:"ok"`
	Migrations    string    `json:"migrations,omitempty" doc:"current or pending"`
	EncryptionKey string    `json:"encryption_key,omitempty" doc:"set or missing; banks cannot be connected without it"`
	Providers     *[]string `json:"providers,omitempty" doc:"The configured bank providers"`
}

func (s *system) bootstrap(ctx context.Context, q pg.Querier, _ op.None) (Bootstrap, error) {
	made, err := s.app.Auth.Any(ctx)
	if err != nil || made {
		return Bootstrap{}, err
	}
	b := Bootstrap{
		SetupRequired: true, Database: "ok", Migrations: "current", EncryptionKey: "missing",
		Providers: &[]string{},
	}
	if s.app.Ring != nil {
		b.EncryptionKey = "set"
	}
	at, err := s.app.DB.SchemaVersion(ctx)
	if err != nil {
		return Bootstrap{}, err
	}
	if at != s.app.DB.Newest() {
		b.Migrations = "pending"
		return b, nil
	}
	for _, name := range all.Remote("").Enum() {
		p, err := s.app.Setting.ProviderSetting(ctx, q, settings.ProviderRef{Provider: all.Remote(name)})
		if err != nil {
			return Bootstrap{}, err
		}
		// A provider is listed even if the encryption key is missing, because EncryptionKey already
		// reports that.
		if p.Source != "none" || p.Configured {
			*b.Providers = append(*b.Providers, name)
		}
	}
	return b, nil
}

// A Health is the response of the probes.
type Health struct {
	Status  string            `json:"status" enum:"ok,unavailable"`
	Version string            `json:"version"`
	Checks  map[string]string `json:"checks" doc:"Result of each check: ok, or the problem"`
}

func (s *system) health(ready bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := Health{Status: "ok", Version: Version, Checks: map[string]string{}}
		status := http.StatusOK
		if ready {
			ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
			defer cancel()
			at, err := s.app.DB.Reserved().SchemaVersion(ctx)
			switch {
			case err != nil:
				h.Checks["database"] = "does not respond"
			case at < s.app.DB.Newest():
				h.Checks["database"], h.Checks["migrations"] = "ok", "pending"
			// The server continues, but nobody has tested this version with that schema.
			case at > s.app.DB.Newest():
				h.Checks["database"] = "ok"
				h.Checks["migrations"] = "newer: another server has migrated the database; install its version here too"
			default:
				h.Checks["database"], h.Checks["migrations"] = "ok", "ok"
			}
			if s.app.DB.Full() { // reads still work, so the server stays in service
				h.Checks["disk"] = "full: nothing can be stored until there is room on the database's disk"
			}
			if err != nil || at < s.app.DB.Newest() {
				h.Status, status = "unavailable", http.StatusServiceUnavailable
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(h) // a client that has disconnected needs no response
	})
}
