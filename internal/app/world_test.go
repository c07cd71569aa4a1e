package app_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/auth"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/pg/pgtest"
	"coffer/internal/seal"
)

var update = flag.Bool("update", false, "write the goldens anew")

// A world is the whole service on a database of its own, over real HTTP.
type world struct {
	*app.App
	url string // of the server
	key string // full_access, a person's
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, pgtest.URL(t), app.Config{})
}

func newWorldOn(t testing.TB, database string, c app.Config) *world {
	t.Helper()
	c.DatabaseURL, c.DatabaseMaxConns = seal.NewSecret(database), 8
	if c.RatePerMinute == 0 {
		c.RatePerMinute, c.RateBurst, c.AuthFailures = 60_000_000, 1_000_000, 1_000_000
	}
	a, err := app.Build(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := &world{App: a, url: server.URL}
	w.key = w.newKey(t, auth.CreateKey{Name: "me", Scope: "full_access", ActorType: "user"}).Secret
	return w
}

func (w *world) newKey(t testing.TB, in auth.CreateKey) auth.NewKey {
	t.Helper()
	var k auth.NewKey
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		k, err = w.Auth.Create(t.Context(), tx, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// An exchange is a request as a test writes it.
type exchange struct {
	method, path, key, body, kind string
	header                        map[string]string
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (w *world) send(t testing.TB, x exchange) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), x.method, w.url+x.path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	if x.key != "" {
		req.Header.Set("X-API-Key", x.key)
	}
	if x.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if x.kind != "" {
		req.Header.Set("Content-Type", x.kind)
	}
	for k, v := range x.header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, string(body), res.Header}
}

// code is the error code of a reply, or "".
func (r reply) code() string {
	var face struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.body), &face)
	return face.Error.Code
}

// call runs an op as a function, in the name of the world's key.
func (w *world) call(ctx context.Context, o *op.Op, surface op.Surface, args map[string]any) (op.Answer, error) {
	actor, err := w.Auth.Key(ctx, w.key)
	if err != nil {
		return op.Answer{}, err
	}
	return w.Runner.Call(ctx, o, op.Call{Actor: actor, Surface: surface, Args: args, RequestID: "test"})
}

func opNamed(t testing.TB, ops []*op.Op, name string) *op.Op {
	t.Helper()
	for _, o := range ops {
		if o.ID() == name {
			return o
		}
	}
	t.Fatalf("there is no op %s", name)
	return nil
}

// golden holds got against a file, or with -update writes it.
func golden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the code says; if the change is meant, run make update and review the diff\n%s", path, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "first difference in line " + json.Number(itoa(i+1)).String() + "\n- " + a[i] + "\n+ " + b[i]
		}
	}
	return "they differ in length"
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}
