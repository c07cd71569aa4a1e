package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/archive"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/household"
)

const sealKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// house returns the application on that database, without a server.
func house(t testing.TB, database string) *app.App {
	t.Helper()
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(database), DatabaseMaxConns: 8,
		EncryptionKey: seal.NewSecret(sealKey),
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	return a
}

// lived returns a household with the given number of transactions. It has rows in every table that
// people and agents fill.
func lived(t testing.TB, transactions int) *app.App {
	t.Helper()
	a := house(t, pgtest.URL(t))
	if err := a.Seed(t.Context(), household.New(household.Options{Transactions: transactions, Years: 3, Seed: 7}),
		io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, s := range furnishing {
		if _, err := a.DB.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return a
}

// furnishing adds rows that a generated household does not have.
var furnishing = []string{
	`insert into counterparty (id, short_id, name, category_id)
		select gen_random_uuid(), 'cp' || lpad(n::text, 6, '0'), E'Größe "' || n || E'" \\ ☕',
		(select id from category where slug like '%' order by id limit 1) from generate_series(1, 20) n`,
	`update counterparty set canonical_id = (select id from counterparty where short_id = 'cp000001')
		where short_id = 'cp000020'`,
	`update transaction set counterparty_id = (select id from counterparty where short_id = 'cp000003'),
		counterparty_source = 'user' where id in (select id from transaction order by id limit 50)`,
	`update transaction set category_source = 'user', category_id = (select id from category
		order by id desc limit 1) where id in (select id from transaction order by id offset 20 limit 30)`,
	`update transaction set deleted_at = now(), deleted_source = 'user'
		where id in (select id from transaction order by id offset 60 limit 5)`,
	`update transaction set linked_id = (select id from transaction order by id offset 71 limit 1), excluded = true
		where id = (select id from transaction order by id offset 70 limit 1)`,
	`update transaction set transfer = true where id in (select id from transaction order by id offset 80 limit 4)`,
	`insert into account (id, short_id, connection_id, provider, provider_id, name, type, currency, balance_current,
		balance_as_of) select gen_random_uuid(), 'ac000001', id, provider, 'depot', 'Depot', 'investment', 'EUR',
		123456.78, '2020-02-02' from connection order by id limit 1`,
	`insert into comment (id, short_id, transaction_id, content, author_type, author_name)
		select gen_random_uuid(), 'cm' || lpad(n::text, 6, '0'),
		(select id from transaction order by id offset n limit 1), E'=cmd|'' /C calc''!A0\n"quoted" \\ ' || n, 'user',
		'me' from generate_series(1, 30) n`,
	`insert into change (id, short_id, cause, summary, actor_type, actor_name, transactions, entries)
		select gen_random_uuid(), 'ch' || lpad(n::text, 6, '0'), 'api', 'x', 'user', 'me', 1, 1
		from generate_series(1, 10) n`,
	`update change set reverts = (select id from change where short_id = 'ch000001') where short_id = 'ch000002'`,
	`insert into entry (change_id, subject, subject_id, field, before, after)
		select (select id from change where short_id = 'ch000003'), 'transaction', t.id, 'category', null,
		'groceries' from transaction t order by t.id limit 100`,
	`insert into entry (change_id, subject, subject_id, field, after) select c.id, 'tag', t.id, 'record', '{}'
		from change c, tag t where c.short_id <> 'ch000003' and t.slug = 'needs-review'`,
	`insert into rule_hit (rule_id, run_id, hits, hit_at) select id, gen_random_uuid(), 3, now() from rule`,
	`update connection set credentials = '\x0102'::bytea, cursor = 'c' where provider <> 'csv'`,
	`insert into quarantine (id, short_id, connection_id, provider_id, reason, raw)
		select gen_random_uuid(), 'qu000001', id, 'x', 'no date', '\x01'::bytea from connection order by id limit 1`,
	`insert into sync_log (id, short_id, connection_id, trigger, job_id)
		select gen_random_uuid(), 'sl000001', id, 'manual', gen_random_uuid() from connection order by id limit 1`,
	`insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence)
		select gen_random_uuid(), 'al000001', (array_agg(id order by id))[1], (array_agg(id order by id))[2],
		'mirror', 'confirmed' from account`,
	`insert into link_match (id, short_id, account_link_id, primary_id, mirror_id, day_difference)
		select gen_random_uuid(), 'lm000001', (select id from account_link), (array_agg(id order by id))[1],
		(array_agg(id order by id))[2], 1 from transaction`,
	`insert into prompt_block (id, short_id, slug, title, body)
		values (gen_random_uuid(), 'pb000001', 'ours', 'Ours', E'The "kiosk" \\ ☕')`,
	`insert into workflow (id, short_id, slug, name, description, prompt, prompt_blocks, tools, scope, trigger, schedule,
		worklist, max_cost_micros, due_at, enabled) values (gen_random_uuid(), 'wf000001', 'toys', 'Toys', '', E'Say\n"hello"',
		'{ours}', '{query_transactions}', 'full_access', 'schedule', '0 7 * * 1', '{"filter": {}, "sets": ["tags"]}', 500000,
		now(), true)`,
	`insert into model_setting (provider, base_url, prices) values ('openai_compatible', 'http://192.0.2.1/v1', '[]')`,
	`insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, status, definition, definition_hash,
		cost_micros, plan_state, asked_type, asked_name, finished_at)
		select gen_random_uuid(), 'wr000001', id, slug, 'manual', 'limit_reached', '{"name": "Toys"}', 'x', 12345, 'waiting',
		'user', 'me', now() from workflow`,
	`insert into workflow_line (run_id, seq, kind, body) select id, n, 'note', jsonb_build_object('text', E'\u2615 ' || n)
		from workflow_run, generate_series(1, 3) n`,
	`insert into workflow_plan (run_id, seq, tool, subject, subject_id, field, after) select r.id, 1,
		'update_transactions', 'transaction', t.id, 'category', 'x' from workflow_run r, (select id from transaction
		order by id limit 1) t`,
	`insert into workflow_plan (run_id, seq, tool, arguments, found) select id, 2, 'apply_rules', '{}', 7
		from workflow_run`,
	`insert into workflow_seen (workflow_id, transaction_id, state) select w.id, t.id, '\x01' from workflow w,
		(select id from transaction order by id limit 1) t`,
	`insert into model_call (id, run_id, turn, state, provider, model, month, cost_micros) select gen_random_uuid(), id, 1,
		'answered', 'anthropic', 'm', '2026-01-01', 12345 from workflow_run`,
	`insert into model_month (month, spent_micros) values ('2026-01-01', 12345)`,
	`insert into transaction_alias (account_id, provider_id, transaction_id) select account_id, 'old', id
		from transaction order by id limit 1`,
}

func canonical(t testing.TB, db *pg.DB) string {
	t.Helper()
	c, err := ledgertest.Canonical(t.Context(), db, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return c[strings.LastIndexByte(c, '\n')+1:]
}

func written(t testing.TB, a *app.App, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.Archive.Write(t.Context(), &b, format, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(ctx context.Context, a *app.App, file []byte) error {
	_, err := a.Archive.Import(ctx, bytes.NewReader(file), int64(len(file)), nil)
	return err
}

// An import restores everything that was exported, except secrets: the same canonical hash, and the
// same rows in every exported table.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	n := 3000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		n = 100_000
	}
	from := lived(t, n)
	file := written(t, from, "archive")
	to := house(t, pgtest.URL(t))
	if canonical(t, to.DB) == canonical(t, from.DB) {
		t.Fatal("the control: an empty household has the hash of a full one")
	}
	if err := load(t.Context(), to, file); err != nil {
		t.Fatal(err)
	}
	if canonical(t, to.DB) != canonical(t, from.DB) {
		t.Error("the canonical hash is another one")
	}
	first, second := contents(t, file), contents(t, written(t, to, "archive"))
	for name, text := range first {
		same := second[name] == text
		if changed := name == "manifest.json" || name == "SHA256SUMS" ||
			name == "data/connection.ndjson" || name == "data/workflow.ndjson" ||
			name == "data/model_setting.ndjson"; same == changed && name != "SHA256SUMS" {
			t.Errorf("%s: the same is %v", name, same)
		}
	}
	live, err := pg.Value[int](t.Context(), to.DB, `select count(*) from connection
		where provider <> 'csv' and status <> 'disconnected' or credentials is not null`)
	if err != nil || live > 0 {
		t.Errorf("%d connections look alive: %v", live, err)
	}
	acting, err := pg.Value[int](t.Context(), to.DB, `select (select count(*) from workflow where enabled or due_at is not null)
		+ (select count(*) from model_setting where base_url is not null)`)
	if err != nil || acting > 0 {
		t.Errorf("%d workflows or addresses of models came with the archive: %v", acting, err)
	}
	if strings.Contains(first["data/connection.ndjson"], "credentials") ||
		strings.Contains(first["data/quarantine.ndjson"], "raw") || first["data/token.ndjson"] != "" {
		t.Error("secrets are in the export")
	}
	// Sequences continue after the imported rows, and the foreign keys exist again.
	next, err := pg.Value[bool](t.Context(), to.DB, `select nextval(pg_get_serial_sequence('entry', 'id')) > max(id)
		from entry`)
	if err != nil || !next {
		t.Errorf("the sequence of entries stands before the last one: %v", err)
	}
	for _, db := range []*pg.DB{from.DB, to.DB} {
		if _, err := db.Exec(t.Context(), `delete from account`); err == nil {
			t.Error("accounts can be deleted below their transactions")
		}
	}
	// An import into a household with data is rejected.
	if err := load(t.Context(), to, file); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second import: %v", err)
	}
}

func contents(t testing.TB, file []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An archive whose content was changed together with its checksums is rejected, and nothing of it
// is stored.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	from := lived(t, 300)
	good := contents(t, written(t, from, "archive"))
	to := house(t, pgtest.URL(t))
	before := canonical(t, to.DB)
	change := func(edit func(map[string]string)) []byte {
		files := maps.Clone(good)
		edit(files)
		return zipped(t, files)
	}
	manifest := func(edit func(m *archive.Manifest)) []byte {
		return change(func(f map[string]string) {
			var m archive.Manifest
			if err := json.Unmarshal([]byte(f["manifest.json"]), &m); err != nil {
				t.Fatal(err)
			}
			edit(&m)
			resum(t, f, &m)
		})
	}
	stranger := func(table string) []byte {
		return change(func(f map[string]string) {
			file := "data/" + table + ".ndjson"
			if !strings.Contains(f[file], `"plaid"`) {
				t.Fatalf("%s has no row of plaid", table)
			}
			f[file] = strings.Replace(f[file], `"plaid"`, `"nobody"`, 1)
			var m archive.Manifest
			if err := json.Unmarshal([]byte(f["manifest.json"]), &m); err != nil {
				t.Fatal(err)
			}
			resum(t, f, &m)
		})
	}
	for name, file := range map[string][]byte{
		"no zip": []byte("hello"),
		"a changed amount": change(func(f map[string]string) {
			f["data/transaction.ndjson"] = strings.Replace(f["data/transaction.ndjson"], `"amount":`, `"amount":1`, 1)
		}),
		"a file less": change(func(f map[string]string) { delete(f, "data/tag.ndjson") }),
		"a file more": change(func(f map[string]string) { f["data/token.ndjson"] = "" }),
		"no sums":     change(func(f map[string]string) { delete(f, "SHA256SUMS") }),
		"a changed manifest": change(func(f map[string]string) {
			f["manifest.json"] = strings.Replace(f["manifest.json"], `"export"`, `"backup"`, 1)
		}),
		"a newer schema": manifest(func(m *archive.Manifest) { m.Schema = 99999 }),
		"a backup":       manifest(func(m *archive.Manifest) { m.Kind = archive.Backup }),
		"an unknown column": manifest(func(m *archive.Manifest) {
			m.Tables[0].Columns = append(m.Tables[0].Columns,
				"shoe_size")
		}),
		"fewer rows than said": manifest(func(m *archive.Manifest) { m.Tables[0].Rows++ }),
		"a dangling reference": change(func(f map[string]string) {
			f["data/category.ndjson"] = ""
			var m archive.Manifest
			if err := json.Unmarshal([]byte(f["manifest.json"]), &m); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(m.Tables, func(c archive.Content) bool { return c.Table == "category" })
			m.Tables[i].Rows = 0
			resum(t, f, &m)
		}),
		"a connection of an unknown provider": stranger("connection"),
		"an account of an unknown provider":   stranger("account"),
		"categories of an unknown provider":   stranger("category_mapping"),
	} {
		if err := load(t.Context(), to, file); err == nil {
			t.Errorf("%s: taken in", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
		if canonical(t, to.DB) != before {
			t.Fatalf("%s: something stayed", name)
		}
	}
	// The schemas of development versions had higher numbers than the first release's.
	for format, schema := range map[int]int64{1: 28, 2: 51} {
		development := manifest(func(m *archive.Manifest) { m.Version, m.Schema = format, schema })
		if err := load(t.Context(), house(t, pgtest.URL(t)), development); err != nil {
			t.Errorf("an archive of a development version, format %d: %v", format, err)
		}
	}
	// The column had another name.
	const was, is = `"csv_options":`, `"statement_options":`
	former := change(func(f map[string]string) {
		f["data/connection.ndjson"] = strings.Replace(strings.ReplaceAll(f["data/connection.ndjson"], is, was),
			was+"null", was+`{"encoding": "utf-8"}`, 1)
		f["manifest.json"] = strings.Replace(f["manifest.json"], `"statement_options"`, `"csv_options"`, 1)
		var m archive.Manifest
		if err := json.Unmarshal([]byte(f["manifest.json"]), &m); err != nil {
			t.Fatal(err)
		}
		resum(t, f, &m)
	})
	old := house(t, pgtest.URL(t))
	if err := load(t.Context(), old, former); err != nil {
		t.Errorf("an archive with the former name of a column: %v", err)
	}
	if n, err := pg.Value[int](t.Context(), old.DB, `select count(*) from connection
		where statement_options->>'encoding' = 'utf-8'`); err != nil || n == 0 {
		t.Errorf("%d connections have the options of that archive, %v", n, err)
	}
	if err := load(t.Context(), to, manifest(func(*archive.Manifest) {})); err != nil {
		t.Errorf("the control, with nothing changed: %v", err)
	}
}

// An archive is rejected if its files are larger than the manifest says, or if a line is longer
// than any row. That happens before the data is read into memory, even if the checksums are right.
func TestArchiveBombs(t *testing.T) {
	t.Parallel()
	good := contents(t, written(t, lived(t, 300), "archive"))
	to := house(t, pgtest.URL(t))
	for name, honest := range map[string]bool{"a file of the wrong size": false, "a line longer than a row": true} {
		files := maps.Clone(good)
		var m archive.Manifest
		if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil {
			t.Fatal(err)
		}
		said := map[string]int64{}
		for _, c := range m.Tables {
			said[c.File] = c.Bytes
		}
		files["data/transaction.ndjson"] = strings.Repeat(" ", 17<<20)
		resum(t, files, &m)
		if !honest {
			printed := files["manifest.json"]
			for i, c := range m.Tables {
				m.Tables[i].Bytes = said[c.File]
			}
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			files["manifest.json"] = string(b)
			files["SHA256SUMS"] = strings.Replace(files["SHA256SUMS"], sum(printed), sum(string(b)), 1)
		}
		if err := load(t.Context(), to, zipped(t, files)); err == nil || !strings.Contains(err.Error(), "its size is wrong") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// resum makes the checksums right again after a manipulation.
func resum(t testing.TB, f map[string]string, m *archive.Manifest) {
	t.Helper()
	var sums strings.Builder
	for i, c := range m.Tables {
		m.Tables[i].SHA256, m.Tables[i].Bytes = sum(f[c.File]), int64(len(f[c.File]))
		sums.WriteString(m.Tables[i].SHA256 + "  " + c.File + "\n")
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f["manifest.json"] = string(b)
	f["SHA256SUMS"] = sums.String() + sum(string(b)) + "  manifest.json\n"
}

// A sign-in method of the new household may belong to a member who is missing or deleted in the
// archive. It would lead nowhere after the import, so the import is rejected and nothing changes.
// If the archive has the member, the sign-in method stays.
func TestImportKeepsWaysIn(t *testing.T) {
	t.Parallel()
	const seeded = "019a3c5e-4000-7000-8000-000000000001"
	for name, c := range map[string]struct {
		before  string // SQL in the exported household
		refused bool
	}{
		"a member who is there":    {`update member set name = 'Ada' where id = $1`, false},
		"a member who was deleted": {`update member set deleted_at = now() where id = $1`, true},
		"a member who never was":   {`delete from member where id = $1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := house(t, pgtest.URL(t)), house(t, pgtest.URL(t))
			if _, err := from.DB.Exec(t.Context(), c.before, seeded); err != nil {
				t.Fatal(err)
			}
			if _, err := to.DB.Exec(t.Context(), `insert into login (id, short_id, member_id, kind, identifier,
				proof) values (gen_random_uuid(), 'login001', $1, 'password', 'ada@example.com',
				'x')`, seeded); err != nil {
				t.Fatal(err)
			}
			err := load(t.Context(), to, written(t, from, "archive"))
			if errs.Is(err, errs.Conflict) != c.refused || !c.refused && err != nil {
				t.Errorf("%v", err)
			}
			ways, err := pg.Value[int](t.Context(), to.DB, `select count(*) from login
				join member m on m.id = member_id where m.deleted_at is null`)
			if err != nil || ways != 1 {
				t.Errorf("%d ways in, %v", ways, err)
			}
		})
	}
}
