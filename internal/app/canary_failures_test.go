package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/surface/rest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// canaryTrouble fails in the way that in.What names, with a secret in the panic or the error.
func canaryTrouble(ctx context.Context, q pg.Querier, in canaryInput) error {
	switch in.What {
	case "panic":
		panic("no such token " + in.Secret)
	case "panic with an error":
		panic(errors.New("no such token " + in.Secret))
	case "panic with a struct":
		panic(in)
	case "uuid":
		_, err := pg.Value[string](ctx, q, `select $1::uuid::text`, in.Secret)
		return err
	case "number":
		_, err := pg.Values[int](ctx, q, `select $1::text::int`, in.Secret)
		return err
	case "argument":
		_, err := pg.Exec(ctx, q, `select $1::int`, in.Secret)
		return err
	case "enum":
		_, err := pg.All[canaryInput](ctx, q, `select $1::text::date as what, '' as secret`, in.Secret)
		return err
	case "json":
		_, err := pg.One[canaryInput](ctx, q, `select $1::text::jsonb as what, '' as secret`, `{"a":`+in.Secret)
		return err
	case "unique":
		_, err := pg.Exec(ctx, q, `insert into attempt (bucket, tries, free_at, expires_at)
			select $1, 1, now(), now() from generate_series(1, 2)`, in.Secret)
		return err
	}
	_, err := pg.Exec(ctx, q, `insert into token (id, short_id, hash, kind, scope, name, prefix, actor_type)
		values (gen_random_uuid(), $1, $1::text::bytea, $1, $1, $1, $1, $1)`, in.Secret)
	return err
}

var canaryTroubles = []string{
	"panic", "panic with an error", "panic with a struct", "uuid", "number", "argument",
	"enum", "json", "unique", "check",
}

// TestCanariesInFailures: a secret in the text of a panic or a database error is never shown or
// logged. The failures happen in an op by route and by tool, in a raw route, in a job, and in the
// protocol of the tools.
func TestCanariesInFailures(t *testing.T) {
	t.Parallel()
	secret := canaries()[0].value
	w := newToolWorld(t, func(s *mcp.Server) {
		s.AddTool(&mcp.Tool{Name: "trouble", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				panic("no such token " + secret)
			})
	})
	watch := &canaryWatch{exact: []string{w.key}}
	read := op.Reading(op.Spec{
		Name: "tag.trouble", Route: "GET /trouble", Tool: "get_trouble", Scope: op.Read,
		Summary: "Goes wrong.",
	}, func(ctx context.Context, q pg.Querier, in canaryInput) (op.None, error) {
		return op.None{}, canaryTrouble(ctx, q, in)
	})
	write := op.Writing(op.Spec{
		Name: "tag.worse", Route: "POST /trouble", Tool: "make_trouble", Scope: op.Full,
		Summary: "Goes wrong.",
	}, func(ctx context.Context, tx pg.Tx, in canaryInput) (op.None, error) {
		return op.None{}, canaryTrouble(ctx, tx, in)
	})
	w.Tools.Ops = append(w.Tools.Ops, read, write)
	surface := w.Rest()
	surface.Ops = append(surface.Ops, read, write)
	surface.Raw = append(surface.Raw, rest.Raw{
		Route: "GET /trouble", Scope: op.Open,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			panic("no such token " + r.URL.Query().Get("secret"))
		}),
	})
	handler, err := surface.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(w.Log.Handler(), slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	w.Jobs.Add(job.Kind{Name: "trouble", Unit: "secrets", Work: func(ctx context.Context, run *job.Run) (any, error) {
		var in canaryInput
		if err := run.Args(&in); err != nil {
			return nil, err
		}
		return nil, canaryTrouble(ctx, w.DB, canaryInput{What: in.What, Secret: secret})
	}})
	w.work(t)
	session := w.agent(t, w.key)
	for _, what := range canaryTroubles {
		args := map[string]any{"what": what, "secret": secret}
		body, _ := json.Marshal(args)
		r := w.send(t, exchange{
			method: http.MethodGet,
			path:   "/api/v1/trouble?what=" + strings.ReplaceAll(what, " ", "+") + "&secret=" + secret, key: w.key,
		})
		watch.answer(t, what, r)
		if r.status != http.StatusInternalServerError {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
		watch.answer(t, what, w.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/trouble", key: w.key,
			body: string(body), header: map[string]string{"Idempotency-Key": id.Base62(20)},
		}))
		for _, tool := range []string{"get_trouble", "make_trouble", "trouble"} {
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
			said, _ := json.Marshal(res)
			watch.clean(t, "the tool's answer to "+what, string(said)+fmt.Sprint(err))
		}
		w.canaryJob(t, what)
	}
	r := w.send(t, exchange{method: http.MethodGet, path: "/trouble?secret=" + secret})
	watch.answer(t, "a raw route", r)
	if r.code() != "INTERNAL_ERROR" {
		t.Errorf("a raw route that panics returns %d %s", r.status, r.body)
	}
	for _, said := range []string{
		"panic in tag.trouble", "panic in job trouble", "SQLSTATE 22P02",
		"canary_failures_test.go",
	} {
		if !strings.Contains(w.log.String(), said) {
			t.Errorf("the log does not say %q", said)
		}
	}
	watch.everything(t, w)
}

func (w *toolWorld) canaryJob(t *testing.T, what string) {
	t.Helper()
	var made job.Job
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		made, err = w.Jobs.Enqueue(t.Context(), tx, "trouble", canaryInput{What: what}, job.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Jobs.Wait(t.Context(), made.ID, time.Minute); err != nil || got.State != job.Failed {
		t.Errorf("%s: %+v, %v", what, got, err)
	}
}

// TestCanariesInConfiguration builds the program from wrong settings that contain secrets. The
// error contains none of them.
func TestCanariesInConfiguration(t *testing.T) {
	t.Parallel()
	watch, tried := &canaryWatch{}, 0
	good := pgtest.AdminURL()
	for _, c := range canaries() {
		for name, config := range map[string]app.Config{
			"database URL": {DatabaseURL: seal.NewSecret(c.value)},
			"database password": {DatabaseURL: seal.NewSecret(
				"postgres://coffer:" + c.value + "@127.0.0.1:notaport/coffer")},
			"database settings": {DatabaseURL: seal.NewSecret("host=127.0.0.1 port=x password='" + c.value + "'")},
			"database option": {DatabaseURL: seal.NewSecret(
				"postgres://coffer@127.0.0.1/coffer?sslmode=none&password=" + c.value)},
			"encryption key": {DatabaseURL: seal.NewSecret(good), EncryptionKey: seal.NewSecret(c.value + "!")},
			"old encryption key": {
				DatabaseURL: seal.NewSecret(good), EncryptionKey: seal.NewSecret(testRing),
				EncryptionKeysOld: []string{c.value + "!"},
			},
			"Plaid environment": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"plaid": {"client_id": "client", "secret": c.value, "environment": "none"}},
			},
			"Plaid without client": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"plaid": {"secret": c.value, "environment": "sandbox"}},
			},
			"Plaid address": {
				DatabaseURL: seal.NewSecret(good),
				Providers: app.Providers{"plaid": {
					"client_id": "client", "secret": "s", "environment": "sandbox",
					"url": "https://me:" + c.value + "@plaid.example",
				}},
			},
			"SimpleFIN address": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"simplefin": {"url": "https://me:" + c.value + "@simplefin.example"}},
			},
			"Enable Banking without application": {
				DatabaseURL: seal.NewSecret(good), Providers: app.Providers{"enablebanking": {"key": c.value}},
			},
			"Enable Banking key in place of file": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"enablebanking": {"application": "a", "key": c.value}},
			},
			"key in place of file": {
				DatabaseURL: seal.NewSecret(good),
				Providers: app.Providers{"teller": {
					"application_id": "a", "environment": "production",
					"private_key": c.value,
				}},
			},
		} {
			tried++
			a, err := app.Build(t.Context(), config, slog.New(slog.DiscardHandler))
			if err == nil {
				a.DB.Close()
				if name != "database URL" { // some secrets are valid as a database URL
					t.Errorf("%s with %s is taken", name, c.kind)
				}
				continue
			}
			watch.clean(t, name+" with "+c.kind, fmt.Sprintf("%v %+v %#v", err, config.Providers, config.EncryptionKey))
		}
	}
	t.Logf("%d wrong configurations", tried)
}
