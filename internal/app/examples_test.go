package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/household"
)

// demo fills a database with a household that has a record of every kind, with the short ids that
// the examples use.
func demo(t *testing.T, database string) {
	t.Helper()
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(database), DatabaseMaxConns: 6,
		EncryptionKey: seal.NewSecret(testRing),
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.DB.Close()
	if err := a.Seed(t.Context(), household.New(household.Options{Transactions: 300, Years: 1, Seed: 1}),
		io.Discard); err != nil {
		t.Fatal(err)
	}
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "Anna", Scope: op.Full})
	call := func(name string, args map[string]any) string {
		t.Helper()
		answer, err := a.Runner.Call(ctx, opNamed(t, a.Ops(), name),
			op.Call{Actor: op.Actor{Type: op.User, Name: "Anna", Scope: op.Full}, Surface: op.REST, Args: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var r struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(answer.Body, &r) // a list has no id
		return r.ID
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := pg.Exec(ctx, a.DB, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	call("user.create", map[string]any{"name": "Kim"})
	call("user.create", map[string]any{"name": "Lodger"})
	call("counterparty.create", map[string]any{"name": "Bakery"})
	call("counterparty.create", map[string]any{"name": "Bakery II"})
	call("counterparty.create", map[string]any{"name": "Kiosk"})
	for _, name := range []string{"Food", "Fuel"} {
		call("view.create", map[string]any{"name": name, "filters": map[string]any{"search": name}, "shared": true})
	}
	for _, category := range []string{"food_and_drink", "home"} {
		call("target.create", map[string]any{"category": category, "amount": 400, "start_month": "2026-01"})
	}
	if _, err := a.Workflows.FillPresets(ctx); err != nil {
		t.Fatal(err)
	}
	call("workflow.create", map[string]any{"slug": "toys", "name": "Toys", "prompt": "Say hello.", "scope": "read_only"})
	call("prompt-block.create", map[string]any{"slug": "ours", "title": "Ours", "body": "The kiosk sells papers."})
	for _, path := range []string{"one", "two"} {
		call("endpoint.create", map[string]any{"url": "http://127.0.0.1:9/" + path})
	}
	call("report.create", map[string]any{"title": "June", "body": "# June\n\nWe spent less."})
	call("rule.create", map[string]any{"rules": []any{map[string]any{
		"name": "Fuel", "conditions": map[string]any{"field": "name", "op": "contains", "value": "tankstelle"},
		"actions": []any{
			map[string]any{"type": "set_category", "category_slug": "transport_fuel"},
			map[string]any{"type": "add_tag", "tag_slug": "shared"},
		},
	}}})
	call("transaction.create", map[string]any{
		"account_id": mustValues[id.ID](t, a.DB, `select id from account order by id limit 1`)[0].String(),
		"date":       "2020-01-02", "amount": 12.5, "name": "Corner shop",
	})
	exec(`update transaction set short_id = case n when 1 then 'k3xK9a2Q' when 2 then 'm7Pz2LbR' else 'p9WnT4cE' end
		from (select id, row_number() over (order by date desc, id) as n from transaction limit 3) f
			where f.id = transaction.id`)
	exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, origin)
		select gen_random_uuid(), 'n4Vb8QxZ', account_id, 'manual:1', date, amount, currency, descriptor_id, 'manual'
		from transaction where short_id = 'm7Pz2LbR'`)
	call("comment.create", map[string]any{"transaction_id": "k3xK9a2Q", "content": "shared with Kim"})
	exec(records)
	call("account-link.create", map[string]any{
		"primary_account_id": "k3xK9a2Q", "mirror_account_id": "p9WnT4cE",
		"kind": "transfer",
	})
	call("account-link.create", map[string]any{
		"primary_account_id": "m7Pz2LbR", "mirror_account_id": "p9WnT4cE",
		"kind": "transfer",
	})
	working, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { _ = a.Jobs.Run(working) })
	// This job finds the pairs.
	for _, j := range mustValues[id.ID](t, a.DB, `select id from job where kind = 'link.reconcile'`) {
		if done, err := a.Jobs.Wait(ctx, j, time.Minute); err != nil || !done.Ended() {
			t.Fatalf("the pairs of the household were not found: %+v %v", done, err)
		}
	}
	stop()
	work.Wait()
	exec(`update account_link set short_id = 'k3xK9a2Q'
		where id = (select account_link_id from link_match order by id limit 1)`)
	exec(`update account_link set short_id = 'm7Pz2LbR'
		where id = (select id from account_link where short_id <> 'k3xK9a2Q' order by id desc limit 1)`)
	exec(`update link_match set short_id = 'm7Pz2LbR'
		where id = (select m.id from link_match m join account_link l on l.id = m.account_link_id
		where l.short_id = 'k3xK9a2Q' limit 1)`)
	call("counterparty.link", map[string]any{"id": "k3xK9a2Q", "transaction_ids": []any{"k3xK9a2Q"}})
	exec(`update change set short_id = 'm7Pz2LbR'
		where id = (select change_id from entry where subject = 'transaction' order by id desc limit 1)`)
}

func mustValues[T any](t *testing.T, db *pg.DB, sql string) []T {
	t.Helper()
	v, err := pg.Values[T](t.Context(), db, sql)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// records gives the records of a seeded household the short ids of the examples. k3xK9a2Q is the
// record that the examples read and change. m7Pz2LbR is another one, and p9WnT4cE is the one that
// they delete.
const records = `
	update member set short_id = case name when 'Anna Berger' then 'k3xK9a2Q' when 'Kim' then 'm7Pz2LbR'
		else 'p9WnT4cE' end where name in ('Anna Berger', 'Kim', 'Lodger');
	update connection set short_id = case provider when 'csv' then 'm7Pz2LbR' when 'plaid' then 'k3xK9a2Q'
		else 'p9WnT4cE' end;
	update counterparty set short_id = case name when 'Bakery' then 'k3xK9a2Q' when 'Kiosk' then 'p9WnT4cE'
		else 'm7Pz2LbR' end;
	update account set short_id = case n when 1 then 'k3xK9a2Q' when 2 then 'm7Pz2LbR' else 'p9WnT4cE' end
		from (select id, row_number() over (order by id) as n from account
			where type = 'depository' and currency = 'EUR' limit 3) f where f.id = account.id;
	update report set short_id = 'k3xK9a2Q';
	update notification set short_id = 'k3xK9a2Q';
	update endpoint set short_id = case when url like '%one' then 'k3xK9a2Q' else 'p9WnT4cE' end;
	update saved_view set short_id = case name when 'Food' then 'k3xK9a2Q' else 'p9WnT4cE' end;
	update target t set short_id = case c.slug when 'food_and_drink' then 'k3xK9a2Q' else 'p9WnT4cE' end
		from category c where c.id = t.category_id;
	update recurring r set short_id = f.name from (select id, (array['k3xK9a2Q','p9WnT4cE'])[row_number() over (order by id)] as name
		from recurring order by id limit 2) f where f.id = r.id;
	insert into finding (id, short_id, account_id, kind, state)
		select gen_random_uuid(), 'k3xK9a2Q', id, 'duplicate', 'open' from account order by id limit 1;
	update comment set short_id = 'm7Pz2LbR';
	insert into rate (id, short_id, currency, quoted, day, rate)
		values (gen_random_uuid(), 'k3xK9a2Q', 'CHF', 'EUR', '2026-01-01', 1.05);
	update workflow set short_id = 'p9WnT4cE' where slug = 'toys';
	update prompt_block set short_id = 'p9WnT4cE' where slug = 'ours';
	insert into workflow_run (id, short_id, workflow_slug, trigger, status, definition, definition_hash, asked_type,
		asked_name, finished_at)
		values (gen_random_uuid(), 'k3xK9a2Q', 'toys', 'manual', 'succeeded', '{"name": "Toys"}', '', 'user', 'Anna', now()),
			(gen_random_uuid(), 'm7Pz2LbR', 'toys', 'manual', 'queued', '{"name": "Toys"}', '', 'user', 'Anna', null);
	insert into workflow_run (id, short_id, workflow_slug, trigger, status, plan_state, definition, definition_hash,
		asked_type, asked_name, finished_at)
		select gen_random_uuid(), short, 'toys', 'manual', 'succeeded', 'waiting', '{"name": "Toys"}', '', 'user', 'Anna',
			now() from unnest(array['n4Vb8QxZ', 'r2Hc6WyT', 't8Ld3JfG']) short;
	insert into workflow_plan (run_id, seq, tool, arguments)
		select id, 1, 'apply_rules', '{"dry_run": true}' from workflow_run where plan_state = 'waiting';
	update rule set short_id = 'k3xK9a2Q' where name = 'Fuel';
	update change set short_id = 'k3xK9a2Q' where summary = 'Created tag reimbursable';
	insert into login (id, short_id, member_id, kind, identifier, proof)
		select gen_random_uuid(), 'p9WnT4cE', id, 'password', 'daniel', 'x' from member where name = 'Daniel Okafor';
	insert into login (id, short_id, member_id, kind, identifier, proof)
		select gen_random_uuid(), 'm7Pz2LbR', id, 'password', 'anna.berger', 'x' from member
		where short_id = 'k3xK9a2Q';
	insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type)
	values (gen_random_uuid(), 'c8LnK2dR', 'calendar', 'calendar', '', 'calendar', 'read_only', 'user');
	insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, member_id)
		select gen_random_uuid(), s, k, decode(md5(s), 'hex'), 'x', 'laptop', 'full_access', 'user', m.id
		from member m, (values ('k3xK9a2Q', 'api_key'), ('p9WnT4cE', 'api_key'), ('m7Pz2LbR', 'session')) v (s, k)
			where m.short_id = 'k3xK9a2Q';
	insert into client (id, name, kind, title, redirect_uris) values (gen_random_uuid(), 'x', 'registered', 'x', '{}');
	insert into consent (id, short_id, member_id, client_id, scope, resource, redirect_uri, code_hash, challenge,
		code_expires_at, redeemed_at)
		select gen_random_uuid(), 'm7Pz2LbR', m.id, c.id, 'read_only', '', '', '\x00', '', now(), now()
			from member m, client c where m.short_id = 'k3xK9a2Q';
	insert into job (id, short_id, kind, priority, args, unit, actor_type, actor_name, actor_scope, state, started_at,
		finished_at, result)
		values (gen_random_uuid(), 'k3xK9a2Q', 'rule.apply', 2, '{}', 'transactions', 'user', 'Anna', 4, 'succeeded',
			now(), now(), '{"changed": 1}');
	insert into job (id, short_id, kind, priority, args, unit, actor_type, actor_name, actor_scope, run_at)
		values (gen_random_uuid(), 'm7Pz2LbR', 'rule.apply', 2, '{}', 'transactions', 'user', 'Anna', 4,
			now() + interval '1 day');
	insert into sync_log (id, short_id, connection_id, trigger, job_id)
		select gen_random_uuid(), 'k3xK9a2Q', c.id, 'manual', j.id from connection c, job j
		where c.short_id = 'k3xK9a2Q' and j.short_id = 'k3xK9a2Q';
	insert into quarantine (id, short_id, connection_id, provider_id, reason)
		select gen_random_uuid(), s, c.id, s, 'x' from connection c, (values ('k3xK9a2Q'), ('p9WnT4cE')) v (s)
		where c.short_id = 'k3xK9a2Q';
	insert into webhook_event (id, short_id, provider, identity, event_type, effect, about, account, code, advice,
		payload_hash, status)
		values (gen_random_uuid(), 'k3xK9a2Q', 'plaid', 'x', 'x', '', '', '', '', '', '', 'error');`

// An instance is a household and a way to run commands on it.
type instance struct {
	config app.Config
	dir    string
}

// run runs a command as if typed at a terminal with that width; 0 means a pipe.
func (x instance) run(ctx context.Context, width int, args ...string) (out, fail string, code int) {
	var o, f bytes.Buffer
	c := app.CommandLine(x.config, strings.NewReader(""), &o, &f) //nolint:contextcheck // Execute hands it on
	c.Width = width
	for i := range args {
		if i > 0 && args[i-1] == "--file" {
			args[i] = filepath.Join(x.dir, args[i])
		}
	}
	code = app.Execute(ctx, c, args)
	return o.String(), f.String(), code
}

// working runs the jobs of households until the test ends.
func working(t *testing.T, worlds ...*world) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, w := range worlds {
		all.Go(func() { _ = w.Jobs.Run(ctx) })
	}
	t.Cleanup(func() { stop(); all.Wait() })
}

// shellWords splits a line as a shell does, but knows only the syntax that the examples need.
func shellWords(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		out = append(out, regexp.MustCompile(`'([^']*)'|"([^"]*)"`).ReplaceAllString(m, "$1$2"))
	}
	return out
}

// refused are the examples that fail in the test's household, with their error codes.
var refused = map[string]string{
	"connection.outcome": "NOT_FOUND", "connection.session": "PROVIDER_NOT_CONFIGURED",
	"provider.institutions": "PROVIDER_NOT_CONFIGURED",
	"connection.reauth":     "CONNECTION_NOT_SYNCABLE",
	"connection.repaired":   "CONNECTION_NOT_SYNCABLE", "connection.sync": "PROVIDER", "sync.start": "PROVIDER",
	"provider.test":           "PROVIDER",
	"workflow.run":            "PROVIDER_NOT_CONFIGURED",
	"workflow.eval":           "PROVIDER_NOT_CONFIGURED",
	"account.delete":          "IN_USE", // it has transactions
	"account.refresh-balance": "PROVIDER",
	"account.remove":          "CONFLICT", // its connection syncs
	"account.merge":           "CONFLICT", // both connections sync
	"review.close":            "CONFLICT", // no transaction of that payee waits for review
	"quarantine.retry":        "", "webhook.replay": "", "connection.delete": "PROVIDER_NOT_CONFIGURED",
}

var files = map[string]string{
	"statement.csv":  "Datum;Name;Betrag\n31.01.2026;Bäckerei;-1,20\n01.02.2026;Miete;-900,00\n",
	"categories.tsv": "slug\tname\n",
	"rules.yaml": "- name: Rent\n  conditions: {field: name, op: contains, value: miete}\n  category_slug: " +
		"home_rent\n",
	"operations.yaml": "- transaction_id: m7Pz2LbR\n  tags_to_add: [shared]\n",
	"report.yaml":     "title: April\nbody: |\n  # April\n\n  Nothing new.\n",
}

// later returns the place of a command in the order of the test, in which no command removes a
// record that another one needs.
func later(o *op.Op) int {
	_, verb, _ := strings.Cut(o.Name, ".")
	switch {
	case verb == "create":
		return 0
	case verb == "restore":
		return 4
	case o.Name == "connection.delete", o.Name == "user.erase", o.Name == "user.delete":
		return 6
	case o.Status == http.StatusNoContent && (verb == "delete" || verb == "revoke"):
		return 3
	case verb == "merge", o.Name == "payee.name":
		return 5
	case o.Writes:
		return 2
	}
	return 1
}

var shorts = regexp.MustCompile(`\b[0-9A-Za-z]{8}\b`)

// masked replaces values that differ between two households: ids, times and secrets.
func masked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if x != nil && regexp.MustCompile(
				`(^|_)(ids?|at|ms|token|url|key|secret|prefix|identity|qr|until)$|^(expires|progress|state|started)|^you$|^(actor|author|created_by)_name$`).MatchString(k) {
				x = "*"
			}
			if t, ok := x.(string); ok && k == "summary" {
				x = shorts.ReplaceAllString(t, "*")
			}
			out[k] = masked(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = masked(x)
		}
		return out
	}
	return v
}

func maskedText(t string) string {
	var v any
	if json.Unmarshal([]byte(t), &v) != nil {
		return shorts.ReplaceAllString(t, "*")
	}
	b, _ := json.Marshal(masked(v)) // it came from JSON, so this cannot fail
	return string(b)
}

// TestEveryExampleRunsOnBothSides runs every example of every command as help prints it, against a
// server and directly on the database. Both print the same.
func TestEveryExampleRunsOnBothSides(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	demo(t, database)
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := newWorldOn(t, pgtest.CopyURL(t, database), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	here := newWorldOn(t, pgtest.CopyURL(t, database), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	ctx := t.Context()
	working(t, here, there)
	local := instance{app.Config{
		DatabaseURL: here.Config.DatabaseURL, DatabaseMaxConns: 4,
		EncryptionKey: seal.NewSecret(testRing),
	}, dir}
	remote := instance{app.Config{Server: there.url, APIKey: seal.NewSecret(there.key)}, dir}
	ops := slices.Clone(app.Menu())
	slices.SortStableFunc(ops, func(a, b *op.Op) int { return later(a) - later(b) })
	root := app.CommandLine(app.Config{}, nil, io.Discard, io.Discard).Root()
	ran := 0
	for _, o := range ops {
		// These ops need a key, and commands on the database have none.
		if o.Route == "" || o.Own || o.Name == "key.me" || o.Name == "export.create" {
			continue
		}
		noun, verb, _ := strings.Cut(o.Name, ".")
		cmd, _, err := root.Find([]string{noun, verb})
		if err != nil || cmd.Example == "" {
			t.Errorf("%s has no example: %v", o.Name, err)
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSpace(cmd.Example), "\n") {
			args := shellWords(line)[1:]
			out, fail, code := local.run(ctx, 0, slices.Clone(args)...)
			out2, fail2, code2 := remote.run(ctx, 0, slices.Clone(args)...)
			if code != code2 || maskedText(out) != maskedText(out2) || maskedText(fail) != maskedText(fail2) {
				t.Errorf("%s\non the database (%d): %s%s\non a server (%d): %s%s", line, code, out, fail, code2, out2,
					fail2)
			}
			want, mayFail := refused[o.Name]
			if code != 0 && (!mayFail || !strings.Contains(fail, want)) {
				t.Errorf("%s: exit %d, %s", line, code, fail)
			}
			if foreign(op.Command, fail+fail2) {
				t.Errorf("%s speaks the words of REST: %s", line, fail)
			}
			ran++
		}
	}
	if ran < 130 {
		t.Errorf("only %d examples ran", ran)
	}
}
