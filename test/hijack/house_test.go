package hijack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/notify"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"coffer/internal/sim/models"
)

const ring = "c2VjcmV0LWNhbmFyeS1vZi1lbmNyeXB0aW9uLWtleSE="

// A house is the service with a bank, and with everything that no agent may see.
type house struct {
	*app.App
	url     string
	bank    *banks.Plaid
	person  string   // a person's key
	secrets []string // in every form in which they appear here

	transactions []string // those that existed before the attack
	connections  []string
	links        []string
	rounds       int // number of attacks
}

// newHouse seeds a household, links and syncs a bank, and creates one of everything that an agent
// could damage. It calls each of before after the service is built and before anything runs.
func newHouse(t *testing.T, before ...func(*app.App)) *house {
	t.Helper()
	bank, err := banks.NewPlaid(banks.PlaidOptions{
		ClientID: "canary-client", Secret: "canary-plaid-secret",
		Household: household.Options{Seed: 3, Transactions: 150, Years: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bank.Close)
	c := app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"), DatabaseMaxConns: 8,
		RatePerMinute: 60_000_000, RateBurst: 1_000_000, AuthFailures: 1_000_000,
		EncryptionKey: seal.NewSecret(ring), Providers: app.Providers{
			"plaid": {
				"client_id": "canary-client", "secret": "canary-plaid-secret", "environment": "sandbox",
				"url": bank.URL(),
			},
		},
	}
	log := &apptest.Log{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the server's errors:\n" + log.String())
		}
	})
	a, err := app.Build(t.Context(), c, slog.New(slog.NewTextHandler(log,
		&slog.HandlerOptions{Level: slog.LevelError})))
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
	for _, f := range before {
		f(a)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Jobs.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	a.Jobs.Add(job.Kind{
		Name: "tomorrow", Unit: "things",
		Work: func(context.Context, *job.Run) (any, error) { return nil, nil },
	})
	h := &house{App: a, url: server.URL, bank: bank}
	h.person = h.newKey(t, auth.CreateKey{Name: "person", Scope: "full_access", ActorType: "user"})
	token, _ := bank.NewItem("")
	h.post(t, "/api/v1/connections", fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token))
	h.settle(t)
	h.furnish(t)
	h.secrets = []string{h.person, strings.TrimPrefix(h.person, "coffer_"), ring, "canary-plaid-secret", token}
	stored, err := pg.Values[string](t.Context(), a.DB, `select encode(credentials, 'hex') from connection
		where credentials is not null union all select encode(hash, 'hex') from token
		union all select encode(secret, 'hex') from endpoint`)
	if err != nil || len(stored) < 2 {
		t.Fatalf("%d secrets stored: %v", len(stored), err)
	}
	h.secrets = append(h.secrets, stored...)
	h.secrets = append(h.secrets, "access-sandbox-")
	for list, sql := range map[*[]string]string{
		&h.transactions: `select id::text from transaction`, &h.connections: `select id::text from connection`,
		&h.links: `select id::text from account_link`,
	} {
		if *list, err = pg.Values[string](t.Context(), a.DB, sql); err != nil || len(*list) == 0 {
			t.Fatalf("%s: %d, %v", sql, len(*list), err)
		}
	}
	return h
}

// furnish gives the household a person's report, comment, file, account link and job, a signed-in
// member, notification endpoints, and a row in quarantine.
func (h *house) furnish(t *testing.T) {
	t.Helper()
	one := func(sql string) string {
		s, err := pg.Value[string](t.Context(), h.DB, sql)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	h.post(t, "/api/v1/reports", `{"title":"What matters","body":"Do not lose this."}`)
	rows, err := pg.Values[string](t.Context(), h.DB, `select id::text from transaction order by id limit 30`)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		h.post(t, "/api/v1/transactions/"+row+"/comments", `{"content":"a person's words"}`)
	}
	h.post(t, "/api/v1/users", `{"name":"Kim","email":"kim@example.com","role":"admin"}`)
	kim := one(`select id::text from member where name = 'Kim'`)
	h.post(t, "/api/v1/users/"+kim+"/login", `{"kind":"password","password":"a person's password"}`)
	h.post(t, "/api/v1/users/"+kim+"/invitation", `{}`)
	h.signIn(t, kim)
	h.send(t, http.MethodPut, "/api/v1/rates", `{"iso_currency_code":"CHF","in":"EUR","date":"2026-01-01","rate":1.05}`)
	h.post(t, "/api/v1/accounts", `{"name":"Purse","kind":"cash","iso_currency_code":"EUR"}`)
	h.post(t, "/api/v1/connections", `{"provider":"csv","institution_name":"Paper Bank"}`)
	paper := one(`select id::text from connection where provider = 'csv'`)
	file, _ := json.Marshal("Date,Description,Amount,Transaction " +
		"ID\n2026-01-01,GROCER,-12.50,f3a91c77\n2026-01-02,RENT,-900.00,0b7d52e4\n2026-02-03,SALARY,2500.00,c41e88aa\n")
	h.post(t, "/api/v1/connections/"+paper+"/csv/import",
		`{"account":{"name":"Paper","iso_currency_code":"EUR"},"csv":`+string(file)+`}`)
	accounts, err := pg.Values[string](t.Context(), h.DB, `select id::text from account order by name, id limit 2`)
	if err != nil || len(accounts) != 2 {
		t.Fatal(accounts, err)
	}
	h.post(t, "/api/v1/account-links",
		fmt.Sprintf(`{"kind":"transfer","primary_account_id":%q,"mirror_account_id":%q,"confidence":"confirmed"}`,
			accounts[0], accounts[1]))
	h.settle(t)
	h.hang(t)
	held := id.New()
	_, err = h.DB.Exec(t.Context(), `insert into quarantine (id, short_id, connection_id, provider_id, reason)
		select $1, $2, id, $2, 'amount' from connection where provider = 'plaid'`, held, held.Short())
	if err == nil {
		err = h.DB.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := h.Jobs.Enqueue(t.Context(), tx, "tomorrow", struct{}{},
				job.Options{RunAt: time.Now().Add(24 * time.Hour)})
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	h.employ(t)
}

// hang adds endpoints: one for all events, so that everything agents do is posted, and others for
// events that no agent can cause. Those have received one notification each.
func (h *house) hang(t *testing.T) {
	t.Helper()
	h.post(t, "/api/v1/notifications/endpoints", `{"url":"https://everything.example/bell"}`)
	for n := range 5 {
		h.post(t, "/api/v1/notifications/endpoints",
			fmt.Sprintf(`{"url":"https://bell-%d.example/","events":["connection.expiring"]}`, n))
	}
	if err := h.DB.InTx(t.Context(), func(tx pg.Tx) error {
		return notify.Post(t.Context(), tx, notify.Event{Type: notify.Expiring, Subject: "once"})
	}); err != nil {
		t.Fatal(err)
	}
}

// employ gives the household agents of its own, with a model that ends every run at once. Some runs
// wait, some have plans, and some could be started.
func (h *house) employ(t *testing.T) {
	t.Helper()
	sim, err := models.New(models.Options{Script: func(models.Request) models.Answer {
		return models.Answer{Text: "Nothing to do."}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	h.send(t, http.MethodPut, "/api/v1/settings/models", fmt.Sprintf(`{"provider":"openai_compatible","base_url":%q,
		"prices":[{"model":"sim","input_usd":"0","output_usd":"0"}]}`, sim.Base(models.OpenAI)))
	for n := range 6 {
		h.post(t, "/api/v1/prompt-blocks", fmt.Sprintf(`{"slug":"manners-%d","title":"Manners","body":"Be brief."}`, n))
		h.post(t, "/api/v1/workflows", fmt.Sprintf(`{"slug":"clerk-%d","name":"Clerk","prompt":"File what waits.",
			"scope":"full_access","provider":"openai_compatible","model":"sim","enabled":%t}`, n, n%2 == 0))
		for _, status := range []string{"queued", "succeeded"} {
			run := id.New()
			_, err := h.DB.Exec(t.Context(), `
				insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, status, mode, definition,
					definition_hash, plan_state, asked_type, asked_name, finished_at)
				select $1, $2, case when $3 = 'succeeded' then id end, slug, 'manual', $3, 'planning', '{"name":"Clerk"}', 'hash',
					case when $3 = 'succeeded' then 'waiting' else 'none' end, 'user', 'person',
					case when $3 = 'succeeded' then now() end
				from workflow where slug = $4`, run, run.Short(), status, fmt.Sprintf("clerk-%d", n))
			if err == nil && status == "succeeded" {
				_, err = h.DB.Exec(t.Context(), `insert into workflow_plan (run_id, seq, tool, subject, subject_id, field, after)
					select $1, 1, 'update_transactions', 'transaction', id, 'category', category_id::text
					from transaction where category_id is not null order by id limit 1`, run)
			} else if err == nil {
				err = h.DB.InTx(t.Context(), func(tx pg.Tx) error {
					_, err := h.Jobs.Enqueue(t.Context(), tx, workflow.RunKind, map[string]any{"run": run},
						job.Options{ID: run, RunAt: time.Now().Add(24 * time.Hour)})
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (h *house) newKey(t *testing.T, in auth.CreateKey) string {
	t.Helper()
	var k auth.NewKey
	err := h.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		k, err = h.Auth.Create(t.Context(), tx, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k.Secret
}

func (h *house) post(t *testing.T, path, body string) []byte {
	t.Helper()
	return h.send(t, http.MethodPost, path, body)
}

// send makes a request as a person, which must succeed.
func (h *house) send(t *testing.T, method, path, body string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", h.person)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, answer, err)
	}
	return answer
}

// settle waits until no job is left.
func (h *house) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		open, err := pg.Value[int](t.Context(), h.DB, `select count(*) from job
			where state in ('queued', 'running') and run_at < now() + interval '1 hour'`)
		if err != nil {
			t.Fatal(err)
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d jobs do not end", open)
		}
	}
}
