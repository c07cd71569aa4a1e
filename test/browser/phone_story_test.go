package browser_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/household"
	"coffer/internal/surface/lan"
)

// TestOnThePhone opens the app as serve --lan serves it, over HTTPS with the household's own
// authority, which is the only one that the browser trusts. After sign-in, the first number is
// there.
func TestOnThePhone(t *testing.T) {
	t.Parallel()
	axe := built(t)
	authority, err := lan.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	port := free(t)
	h := &house{
		url:   fmt.Sprintf("https://127.0.0.1:%d", port),
		pages: http.NewServeMux(), seen: make(map[string]bool),
	}
	h.App, err = app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"), DatabaseMaxConns: 4,
		Listen: fmt.Sprintf("127.0.0.1:%d", port), PublicURL: h.url,
		LAN: &app.LAN{Authority: authority, Hosts: []string{"127.0.0.1"}},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	made := household.New(household.Options{Seed: 7, Transactions: 400, Years: 1, End: time.Now()})
	if err := h.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	admin := auth.FirstAdmin{Name: "Robin", Email: email, Password: password}
	if _, err := h.Auth.SetUp(t.Context(), admin, ""); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	serving, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, func(string) { close(serving) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-serving
	key := sha256.Sum256(authority.Certificate.RawSubjectPublicKeyInfo)
	b := newBrowser(t, "phone", base64.StdEncoding.EncodeToString(key[:]))
	b.enterAt(t, h, "/", "€")
	b.whole(t, axe)
	if v := b.do(t, step{Do: "look", Look: true}); !strings.HasPrefix(v.URL, "https://") {
		t.Errorf("it is at %s", v.URL)
	}
}
