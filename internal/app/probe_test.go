package app_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// TestHealthFollowsServer: the health check of a container asks the address that the server uses.
// With --lan this is HTTPS on another port, as in compose.lan.yaml. Without --lan it is
// COFFER_LISTEN.
func TestHealthFollowsServer(t *testing.T) {
	t.Parallel()
	database := seal.NewSecret(pgtest.URL(t))
	for name, args := range map[string][]string{
		"lan": {"serve", "--lan", "--lan-dir", t.TempDir(), "--lan-port"}, "plain": {"serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, plain := freePort(t), freePort(t)
			port, other := strings.TrimPrefix(home, "127.0.0.1:"), strings.TrimPrefix(plain, "127.0.0.1:")
			config := app.Config{DatabaseURL: database, LANAddress: "127.0.0.1", Listen: plain}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan string, 1)
			full := args
			if name == "lan" {
				full = slices.Concat(args, []string{port})
			}
			go func() {
				out, fail, _ := runCommand(ctx, config, full...)
				ended <- out + fail
			}()
			asked := app.Config{LANAddress: "127.0.0.1", Listen: "0.0.0.0:" + other}
			fail, code := "", 1
			for deadline := time.Now().Add(2 * time.Minute); code != 0 && time.Now().Before(deadline); {
				_, fail, code = runCommand(ctx, asked, "health", "--lan-port", port)
				time.Sleep(20 * time.Millisecond)
			}
			if code != 0 {
				t.Error(fail)
			}
			cancel()
			if said := <-ended; code != 0 || name == "lan" && !strings.Contains(said, "https://"+home) {
				t.Error(said)
			}
		})
	}
	_, fail, code := runCommand(t.Context(), app.Config{Listen: freePort(t)}, "health")
	if code == 0 || !strings.Contains(fail, "no server responds at http://127.0.0.1:") {
		t.Error(fail)
	}
}

// TestDoctorAboutPlainHTTP: doctor says whether browsers keep a session over plain HTTP, according
// to COFFER_ALLOW_HTTP.
func TestDoctorAboutPlainHTTP(t *testing.T) {
	t.Parallel()
	for allowed, want := range map[bool]string{false: "keep no session", true: "read along (COFFER_ALLOW_HTTP)"} {
		config := app.Config{
			DatabaseURL: seal.NewSecret(pgtest.URL(t)), Listen: "127.0.0.1:8080", AllowHTTP: allowed,
			PublicURL: "http://umbrel.local:8080",
		}
		said := app.Doctor(t.Context(), config).String()
		if !strings.Contains(said, want) || strings.Contains(said, "keep no session") == allowed {
			t.Errorf("with %t: %s", allowed, said)
		}
	}
}
