package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// cursorSeed fills a world with a small household in which every list has a second page.
func cursorSeed(t *testing.T, w *world) {
	t.Helper()
	if err := w.Seed(t.Context(), household.New(household.Options{Seed: 3, Transactions: 300, Years: 1}),
		io.Discard); err != nil {
		t.Fatal(err)
	}
	w.Jobs.Add(countKind(nil))
	for i := range 3 {
		w.enqueue(t, countWork{}, job.Options{})
		w.newKey(t, auth.CreateKey{Name: fmt.Sprint("key ", i), Scope: "read_only", ActorType: "user"})
		w.synced(t)
		w.loggedIn(t, seededMember)
		w.quarantined(t)
	}
	cursorRules(t, w, 3)
	w.sweep(t)
}

// cursorPaths returns the paths of all ops in the menu that take a cursor.
func cursorPaths(t *testing.T, w *world) map[string]string {
	t.Helper()
	account, err := pg.Value[id.ID](t.Context(), w.DB, `select account_id from account_balance group by account_id
		order by count(*) desc, account_id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	commented, changed := w.commented(t), w.changed(t)
	w.ran(t)
	paths := map[string]string{}
	for _, o := range app.Menu() {
		// TestOwnRecords and TestInstitutions cover the lists that are left out here.
		if o.In.Prop("cursor") != nil && o.Route != "" && !o.Own && o.Name != "provider.institutions" {
			subject := account.Short()
			if o.Group() == "rule" {
				subject = systemRule
			}
			if o.Group() == "account-link" {
				subject = busiestLink(t, w)
			}
			if o.Group() == "workflow-run" {
				subject = "ranran01"
			}
			paths[o.ID()] = "/api/v1" + strings.NewReplacer("{id}", subject, "{user_id}", seededMember,
				"{transaction_id}", commented, "{change_id}", changed, "{slug}", "ran").Replace(o.Path)
		}
	}
	for _, name := range []string{
		"transaction.list", "change.list", "key.list", "account.balances", "rule.list",
		"rule.history", "comment.list", "annotation.list",
	} {
		if paths[name] == "" {
			t.Errorf("control: %s takes no cursor", name)
		}
	}
	return paths
}

// ran creates a workflow with some runs, once.
func (w *world) ran(t *testing.T) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), w.DB, `
		with made as (
			insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger)
			values (gen_random_uuid(), 'ranranra', 'ran', 'Ran', '', 'Say hello.', 'read_only', 'manual')
			on conflict do nothing returning id)
		insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, status, definition, definition_hash,
			asked_type, asked_name, finished_at)
		select gen_random_uuid(), 'ranran0' || n, id, 'ran', 'manual', 'succeeded', '{"name": "Ran"}', '', 'user', 'Ada',
			now()
		from made, generate_series(1, 3) n`); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), w.DB, `
		insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
			first_date, last_date, next_date, occurrences, sure, price_changes)
		select gen_random_uuid(), 'recur00' || n, a.id, 'EUR', 'out', 'monthly', n, array[n::bigint], true, 10,
			'2026-01-01', '2026-03-01', '2026-04-01', 3, false,
			jsonb_build_array(jsonb_build_object('date', current_date, 'before', 9, 'after', 10, 'percent', 11,
				'provisional', false))
		from generate_series(1, 3) n, (select id from account order by id limit 1) a on conflict do nothing`); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), w.DB, `
		insert into workflow_plan (run_id, seq, tool, arguments)
		select id, n, 'apply_rules', '{}' from workflow_run, generate_series(1, 3) n where short_id = 'ranran01'
		on conflict do nothing`); err != nil {
		t.Fatal(err)
	}
}

// changed returns a change with some entries.
func (w *world) changed(t *testing.T) string {
	t.Helper()
	some, err := pg.Values[string](t.Context(), w.DB, `select short_id from transaction where deleted_at is null
		order by id limit 3`)
	if err != nil {
		t.Fatal(err)
	}
	var operations []any
	for _, s := range some {
		operations = append(operations, map[string]any{
			"transaction_id": s,
			"tags_to_add":    []any{"seen-" + strings.ToLower(id.Base62(8))},
		})
	}
	args := map[string]any{"operations": operations}
	if _, err := w.call(t.Context(), opNamed(t, w.Ops(), "transaction.change"), op.REST, args); err != nil {
		t.Fatal(err)
	}
	largest, err := pg.Value[string](t.Context(), w.DB, `select short_id from change order by entries desc, id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return largest
}

// commented returns a transaction with some comments.
func (w *world) commented(t *testing.T) string {
	t.Helper()
	first, err := pg.Value[string](t.Context(), w.DB, `select short_id from transaction order by id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"One.", "Two.", "Three."} {
		args := map[string]any{"transaction_id": first, "content": words}
		if _, err := w.call(t.Context(), opNamed(t, w.Ops(), "comment.create"), op.REST, args); err != nil {
			t.Fatal(err)
		}
	}
	return first
}

type cursorPage struct {
	status int
	code   string
	next   string
	ids    []string
}

// cursorGet reads a page of a list.
func cursorGet(t *testing.T, w *world, path string, query url.Values) cursorPage {
	t.Helper()
	r := w.send(t, exchange{method: "GET", path: path + "?" + query.Encode(), key: w.key})
	var body map[string]any
	_ = json.Unmarshal([]byte(r.body), &body)
	p := cursorPage{status: r.status, code: r.code()}
	p.next, _ = body["next_cursor"].(string)
	delete(body, "notes") // notes and sums are not rows
	delete(body, "yearly")
	if _, ok := body["recurring"]; ok {
		delete(body, "groups")
	}
	for _, v := range body {
		rows, _ := v.([]any)
		for _, row := range rows {
			row, _ := row.(map[string]any)
			p.ids = append(p.ids, fmt.Sprint(row["id"], row["day"], row["sync_log_id"]))
		}
	}
	return p
}

func cursorFirst(t *testing.T, w *world, path string, query url.Values) string {
	t.Helper()
	query.Set("limit", "1")
	p := cursorGet(t, w, path, query)
	if p.next == "" {
		t.Fatalf("%s has no second page: %+v", path, p)
	}
	return p.next
}

// cursorMutant returns a text similar to a cursor, but never the cursor itself and never "".
func cursorMutant(rng *rand.Rand, c string, others []string) string {
	raw, _ := base64.RawURLEncoding.DecodeString(c)
	other, _ := base64.RawURLEncoding.DecodeString(others[rng.IntN(len(others))])
	encode := base64.RawURLEncoding.EncodeToString
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	at := rng.IntN(len(raw))
	out := c
	switch rng.IntN(16) {
	case 0: // flip a bit
		raw[at] ^= 1 << rng.IntN(8)
		out = encode(raw)
	case 1: // change a byte of the head: version, filters
		raw[rng.IntN(9)] += byte(1 + rng.IntN(255))
		out = encode(raw)
	case 2: // change a byte of the signature
		raw[len(raw)-1-rng.IntN(16)] += byte(1 + rng.IntN(255))
		out = encode(raw)
	case 3: // change a letter
		i := rng.IntN(len(c))
		out = c[:i] + string(letters[rng.IntN(64)]) + c[i+1:]
	case 4: // cut at the end
		out = c[:1+rng.IntN(len(c)-1)]
	case 5: // cut at the front
		out = c[1+rng.IntN(len(c)-1):]
	case 6: // append text
		out = encode(append(raw, byte(rng.IntN(256))))
	case 7: // append a letter
		out = c + string(letters[rng.IntN(64)])
	case 8: // add padding, use the other alphabet, or add white space
		out = []string{
			c + "=", c + "==", base64.StdEncoding.EncodeToString(raw) + "=", c[:at] + "\n" + c[at:], " " + c,
			c + "%", strings.ToLower(c), strings.ToUpper(c),
		}[rng.IntN(8)]
	case 9: // the head of this cursor with the tail of another
		out = encode(append(slices.Clone(raw[:9]), other[9:]...))
	case 10: // the head of this cursor with the signature of another
		out = encode(append(slices.Clone(raw[:len(raw)-16]), other[len(other)-16:]...))
	case 11: // without a signature
		out = encode(append(slices.Clone(raw[:len(raw)-16]), make([]byte, 16)...))
	case 12: // swap two bytes
		i := rng.IntN(len(raw))
		raw[at], raw[i] = raw[i], raw[at]
		out = encode(raw)
	case 13: // random bytes
		for i := range raw {
			raw[i] = byte(rng.IntN(256))
		}
		raw[0] = 1
		out = encode(raw)
	case 14: // change the unused bits of the last letter
		out = c[:len(c)-1] + string(letters[strings.IndexByte(letters, c[len(c)-1])^(1+rng.IntN(3))])
	case 15: // repeat it, or use other text
		out = []string{
			c + c, `["2026-01-01"]`, "eyJvZmZzZXQiOjB9", "0", "-1", "null", "AA", "AQ",
			strings.Repeat("A", 1024), "' or 1=1 --", "../" + c,
		}[rng.IntN(11)]
	}
	if out == c || out == "" {
		return cursorMutant(rng, c, others)
	}
	return out
}

// TestCursorsMutated tries 500 mutated cursors on each list. The server accepts none and never
// fails with an internal error.
func TestCursorsMutated(t *testing.T) { //nolint:tparallel // the group waits for its parallel parts, so that their counts can be compared
	t.Parallel()
	w := newWorld(t)
	cursorSeed(t, w)
	paths := cursorPaths(t, w)
	var all []string
	cursors := map[string]string{}
	for name, path := range paths {
		cursors[name] = cursorFirst(t, w, path, url.Values{})
		all = append(all, cursors[name])
	}
	var tried atomic.Int64
	t.Run("lists", func(t *testing.T) {
		for name, path := range paths {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(5, uint64(len(name))))
				for range max(500, 2000/len(paths)) {
					mutant := cursorMutant(rng, cursors[name], all)
					if slices.Contains(all, mutant) && mutant == cursors[name] {
						continue
					}
					tried.Add(1)
					if p := cursorGet(t, w, path, url.Values{
						"limit":  {"1"},
						"cursor": {mutant},
					}); p.status != http.StatusBadRequest ||
						p.code != string(errs.InvalidCursor) {
						t.Errorf("%q: %d %s", mutant, p.status, p.code)
					}
				}
				// A text that is too long for a cursor is rejected as one. Input that is not text
				// is rejected before it is read.
				for _, odd := range []string{
					strings.Repeat("A", 1025), strings.Repeat("A", 100_000),
					cursors[name] + "\x00", "\xff\xfe",
				} {
					if p := cursorGet(t, w, path, url.Values{"cursor": {odd}}); p.status != http.StatusBadRequest ||
						p.code != string(errs.InvalidCursor) &&
							(p.code != string(errs.ValidationError) || len(odd) > 1024) {
						t.Errorf("%.20q…: %d %s", odd, p.status, p.code)
					}
				}
				if p := cursorGet(t, w, path, url.Values{
					"limit":  {"1"},
					"cursor": {cursors[name]},
				}); p.status != http.StatusOK || len(p.ids) != 1 {
					t.Errorf("control: the cursor itself: %+v", p)
				}
			})
		}
	})
	t.Logf("%d mutated cursors over HTTP", tried.Load())
	if tried.Load() < 2000 {
		t.Error("control: too few")
	}
}

// TestCursorsAreBound: a cursor is valid only for its list, its filters and its order. The test
// tries every filter of the schema, with a value that changes the result.
func TestCursorsAreBound(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 60)
	w := &b.world
	if _, err := b.DB.Exec(t.Context(), `insert into account_balance (account_id, day, current) select $1, d, 1
		from generate_series(date '2026-01-01', '2026-01-20', '1 day') d`, b.account); err != nil {
		t.Fatal(err)
	}
	// Two groups wait for review.
	if _, err := b.DB.Exec(t.Context(), `
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from transaction t, tag g where g.slug = 'needs-review'
		on conflict (transaction_id, tag_id) do update set present = true;
		with p as (insert into counterparty (id, short_id, name) values (gen_random_uuid(), 'grouped0', 'Grouped') returning id)
		update transaction t set counterparty_id = p.id from p where t.id = (select id from transaction order by id limit 1)`); err != nil {
		t.Fatal(err)
	}
	cursorRules(t, w, 3)
	for range 2 {
		b.enqueue(t, countWork{}, job.Options{})
		b.synced(t)
		b.loggedIn(t, seededMember)
		b.quarantined(t)
		b.linked(t)
	}
	link := b.linked(t)
	for range 3 {
		b.matched(t, link)
	}
	paths := cursorPaths(t, w)
	// These parameters change how much of a page is shown, not which rows it has.
	free := []string{"limit", "cursor", "fields", "format", "count_only", "totals", "similar"}
	filters := 0
	for name, path := range paths {
		path = strings.ReplaceAll(path, "{id}", b.account.Short())
		cursor := cursorFirst(t, w, path, url.Values{})
		for other, there := range paths {
			if p := cursorGet(t, w, there, url.Values{
				"limit":  {"1"},
				"cursor": {cursor},
			}); (p.code == string(errs.InvalidCursor)) != (other != name) || p.status >= 500 {
				t.Errorf("a cursor of %s for %s: %d %s", name, other, p.status, p.code)
			}
		}
		for _, q := range opNamed(t, b.ops, name).In.Props {
			if q.In != op.InQuery || slices.Contains(free, q.Name) {
				continue
			}
			filters++
			query := url.Values{}
			query.Set(q.Name, fmt.Sprint(b.common.valid(t)(formPlace{
				op:   opNamed(t, b.ops, name),
				path: []string{q.Name}, prop: q,
			})))
			if q.Name == "start_date" {
				query.Set(q.Name, cursorStart(name, query.Get(q.Name)))
			}
			if q.Name == "actor_id" {
				query.Set(q.Name, b.account.String()) // the id of the fixture's actor
			}
			for _, e := range formOne(q.Schema).Enum {
				if e != q.Default && e != "date" && e != "desc" { // the defaults of other parameters
					query.Set(q.Name, e)
				}
			}
			query.Set("cursor", cursor)
			if p := cursorGet(t, w, path, query); p.status != http.StatusBadRequest ||
				p.code != string(errs.InvalidCursor) {
				t.Errorf("%s: a cursor without %s, used with it: %d %s", name, query.Encode(), p.status, p.code)
			}
			query.Del("cursor")
			query.Set("limit", "1")
			if p := cursorGet(t, w, path, query); p.status != http.StatusOK {
				t.Errorf("control: %s with %s: %d %s", name, query.Encode(), p.status, p.code)
			} else if p.next != "" {
				if p = cursorGet(t, w, path, url.Values{"cursor": {p.next}}); p.code != string(errs.InvalidCursor) {
					t.Errorf("%s: a cursor with %s, used without: %d %s", name, query.Encode(), p.status, p.code)
				}
			}
		}
		most := *opNamed(t, b.ops, name).In.Prop("limit").Max
		for _, q := range []string{"limit=7", fmt.Sprint("limit=", most)} {
			query, _ := url.ParseQuery(q)
			query.Set("cursor", cursor)
			if p := cursorGet(t, w, path, query); p.status != http.StatusOK {
				t.Errorf("%s: another page size: %d %s", name, p.status, p.code)
			}
		}
	}
	path := paths["transaction.list"]
	cursor := cursorFirst(t, w, path, url.Values{})
	for query, want := range map[string]string{
		"sort_by=amount": "INVALID_CURSOR", "sort_by=name": "INVALID_CURSOR",
		"sort_by=created_at": "INVALID_CURSOR", "sort_order=asc": "INVALID_CURSOR", "sort_by=date": "",
		"sort_order=desc": "", "fields=minimal": "",
	} {
		if p := cursorGet(t, w, path, cursorWith(query, cursor)); p.code != want ||
			(p.status == http.StatusOK) != (want == "") {
			t.Errorf("%s: %d %s, want %q", query, p.status, p.code, want)
		}
	}
	t.Logf("%d lists, %d filters", len(paths), filters)
}
