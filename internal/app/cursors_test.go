package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/sim/household"
	"github.com/google/go-cmp/cmp"
)

// A formAnswer is what came of a call, by either road.
type formAnswer struct {
	reply
	fault errs.FaceError // its code is "" for success
	value any            // the body, or the structured content
	block string         // the tool's text
}

// formJSON prints arguments; bytes that are no UTF-8 stay as they are.
func formJSON(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			b.WriteString("," + formJSON(k) + ":" + formJSON(item))
		}
		return "{" + strings.TrimPrefix(b.String(), ",") + "}"
	case []any:
		for _, item := range v {
			b.WriteString("," + formJSON(item))
		}
		return "[" + strings.TrimPrefix(b.String(), ",") + "]"
	case string:
		for i, r := range v {
			if r == utf8.RuneError && !strings.HasPrefix(v[i:], "\ufffd") {
				b.WriteByte(v[i])
				continue
			}
			quoted, _ := json.Marshal(string(r))
			b.Write(quoted[1 : len(quoted)-1])
		}
		return `"` + b.String() + `"`
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func (b *formBook) serve(t *testing.T, x exchange) formAnswer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), x.method, x.path, strings.NewReader(x.body))
	r.Host = "127.0.0.1"
	r.Header.Set("X-API-Key", b.key)
	if x.body != "" {
		r.Header.Set("Content-Type", x.kind)
	}
	for k, v := range x.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return formAnswer{reply: reply{w.Code, w.Body.String(), w.Header()}}
}

func (b *formBook) rest(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	x := exchange{method: o.Method, path: "/api/v1" + o.Path, kind: "application/json"}
	query, body := url.Values{}, map[string]any{}
	for name, v := range args {
		switch in := o.In.Prop(name).In; in {
		case op.InPath:
			x.path = strings.ReplaceAll(x.path, "{"+name+"}",
				strings.ReplaceAll(url.PathEscape(fmt.Sprint(v)), ".", "%2E"))
		case op.InText:
			x.body = v.(string)
			_, x.kind = o.TextBody()
		case op.InQuery:
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			for _, item := range list {
				if object, ok := item.(map[string]any); ok {
					item = formJSON(object)
				}
				query.Add(name, fmt.Sprint(item))
			}
		default:
			body[name] = v
		}
	}
	x.path += "?" + query.Encode()
	if len(body) > 0 {
		x.body = formJSON(body)
	}
	return b.serve(t, x).read()
}

// read takes the body as JSON, and as an error where it is one.
func (a formAnswer) read() formAnswer {
	var face errs.Face
	_ = json.Unmarshal([]byte(a.body), &a.value)
	if a.status >= http.StatusBadRequest {
		_ = json.Unmarshal([]byte(a.body), &face)
	}
	a.fault = face.Error
	return a
}

// tool calls the op's tool.
func (b *formBook) tool(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	if o.IsLong() { // nobody works here, so nothing would end
		args = maps.Clone(args)
		args["wait_seconds"] = json.Number("0")
	}
	return b.callTool(t, o, args)
}

// callTool calls the op's tool with these arguments and no others.
func (b *formBook) callTool(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	a := b.serve(t, exchange{
		method: "POST", path: "/mcp/key", kind: "application/json",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `,"name":"` + o.Tool +
			`","arguments":` + formJSON(args) + `}}`,
		header: map[string]string{
			"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": modernEra,
			"Mcp-Method": "tools/call", "Mcp-Name": o.Tool,
		},
	})
	var res struct {
		IsError bool                    `json:"isError"`
		Content []struct{ Text string } `json:"content"`
		Value   any                     `json:"structuredContent"`
	}
	if m := readMessage(t, a.reply); m.Result == nil || json.Unmarshal(m.Result, &res) != nil || len(res.Content) == 0 {
		a.fault = errs.FaceError{Code: errs.InvalidBody, Message: "the transport refused it"}
		if m.Error == nil && a.status < http.StatusBadRequest || a.status >= http.StatusInternalServerError ||
			m.Error != nil && m.Error.Code == -32603 {
			t.Errorf("%s: %d %.300s", o.Tool, a.status, a.body)
		}
		return a
	}
	a.value, a.block = res.Value, res.Content[0].Text
	if res.IsError {
		var face errs.Face
		_ = json.Unmarshal([]byte(a.block), &face)
		a.fault, a.status = face.Error, face.Error.Code.Status()
	}
	return a
}

// cursorSeed fills a world with a small household, and gives every list a second page.
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

// cursorPaths are the lists with cursors, found in the menu: those that take one.
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
		// TestOwnRecords and TestInstitutions read the others
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

// ran makes a workflow with some runs, once.
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

// changed is a change with some entries.
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

// commented is a transaction with some comments.
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

// cursorGet reads a page.
func cursorGet(t *testing.T, w *world, path string, query url.Values) cursorPage {
	t.Helper()
	r := w.send(t, exchange{method: "GET", path: path + "?" + query.Encode(), key: w.key})
	var body map[string]any
	_ = json.Unmarshal([]byte(r.body), &body)
	p := cursorPage{status: r.status, code: r.code()}
	p.next, _ = body["next_cursor"].(string)
	delete(body, "notes") // they are not rows, nor are sums
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

// cursorMutant is a text near a cursor, never the cursor itself nor nothing.
func cursorMutant(rng *rand.Rand, c string, others []string) string {
	raw, _ := base64.RawURLEncoding.DecodeString(c)
	other, _ := base64.RawURLEncoding.DecodeString(others[rng.IntN(len(others))])
	encode := base64.RawURLEncoding.EncodeToString
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	at := rng.IntN(len(raw))
	out := c
	switch rng.IntN(16) {
	case 0: // a bit
		raw[at] ^= 1 << rng.IntN(8)
		out = encode(raw)
	case 1: // a byte of the head: version, filters
		raw[rng.IntN(9)] += byte(1 + rng.IntN(255))
		out = encode(raw)
	case 2: // a byte of the signature
		raw[len(raw)-1-rng.IntN(16)] += byte(1 + rng.IntN(255))
		out = encode(raw)
	case 3: // a letter
		i := rng.IntN(len(c))
		out = c[:i] + string(letters[rng.IntN(64)]) + c[i+1:]
	case 4: // cut
		out = c[:1+rng.IntN(len(c)-1)]
	case 5: // cut at the front
		out = c[1+rng.IntN(len(c)-1):]
	case 6: // longer
		out = encode(append(raw, byte(rng.IntN(256))))
	case 7: // one letter more
		out = c + string(letters[rng.IntN(64)])
	case 8: // padded, or of the other alphabet, or with white space in it
		out = []string{
			c + "=", c + "==", base64.StdEncoding.EncodeToString(raw) + "=", c[:at] + "\n" + c[at:], " " + c,
			c + "%", strings.ToLower(c), strings.ToUpper(c),
		}[rng.IntN(8)]
	case 9: // the head of one, the tail of another
		out = encode(append(slices.Clone(raw[:9]), other[9:]...))
	case 10: // the signature of another
		out = encode(append(slices.Clone(raw[:len(raw)-16]), other[len(other)-16:]...))
	case 11: // unsigned
		out = encode(append(slices.Clone(raw[:len(raw)-16]), make([]byte, 16)...))
	case 12: // two bytes change places
		i := rng.IntN(len(raw))
		raw[at], raw[i] = raw[i], raw[at]
		out = encode(raw)
	case 13: // noise
		for i := range raw {
			raw[i] = byte(rng.IntN(256))
		}
		raw[0] = 1
		out = encode(raw)
	case 14: // the last letter's unused bits
		out = c[:len(c)-1] + string(letters[strings.IndexByte(letters, c[len(c)-1])^(1+rng.IntN(3))])
	case 15: // twice, or in other words
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

// 500 mutated cursors for each list: none is taken, none is a fault of ours.
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

// A cursor is for its list, its filters and its order. The filters are those of the schema, each
// with a value that changes something.
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
	// they say how much of a page is shown, not which rows are meant
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
				query.Set(q.Name, b.account.String()) // in whose name the fixture writes
			}
			for _, e := range formOne(q.Schema).Enum {
				if e != q.Default && e != "date" && e != "desc" { // which are what is meant without
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

// cursorHousehold is an installation of its own: a database that was migrated and not copied.
func cursorHousehold(t *testing.T) *world {
	t.Helper()
	at := pgtest.EmptyURL(t)
	db, err := pg.Open(t.Context(), at, pg.Options{MaxConns: 2})
	if err == nil {
		_, err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	w := newWorldOn(t, at, app.Config{})
	cursorSeed(t, w)
	return w
}

// A cursor of one household is nothing to another, even where both have the same rows.
func TestCursorsOfAnotherHousehold(t *testing.T) {
	t.Parallel()
	ours, theirs := cursorHousehold(t), cursorHousehold(t)
	for name, path := range cursorPaths(t, ours) {
		there := cursorPaths(t, theirs)[name]
		for _, query := range []string{"", "start_date=" + cursorStart(name, "2020-01-01")} {
			if query != "" && opNamed(t, ours.Ops(), name).In.Prop("start_date") == nil {
				continue
			}
			cursor := cursorFirst(t, ours, path, cursorWith(query, ""))
			if p := cursorGet(t, theirs, there, cursorWith(query, cursor)); p.code != string(errs.InvalidCursor) {
				t.Errorf("%s %s: %d %s", name, query, p.status, p.code)
			}
		}
	}
}

// Two servers on one database give one answer: pages from both make one walk, and what one writes
// the other shows at the next request.
func TestCursorsAcrossServers(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	at := pgtest.URL(t)
	servers := []*world{newWorldOn(t, at, app.Config{}), newWorldOn(t, at, app.Config{})}
	cursorSeed(t, servers[0])
	for _, query := range []string{
		"", "sort_order=asc", "search=a", "uncategorized=true", "tags=shared",
		"start_date=2020-01-01&direction=out", "deleted=include&search=e&search_mode=words",
	} {
		whole, _ := url.ParseQuery(query)
		whole.Set("limit", "500")
		want := cursorGet(t, servers[0], "/api/v1/transactions", whole).ids
		var got []string
		for n, cursor := 0, ""; n == 0 || cursor != ""; n++ {
			part := cursorWith(query, cursor)
			part.Set("limit", "17")
			p := cursorGet(t, servers[n%2], "/api/v1/transactions", part)
			if p.status != http.StatusOK {
				t.Fatalf("%s, page %d: %+v", query, n+1, p)
			}
			got, cursor = append(got, p.ids...), p.next
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 20 {
			t.Errorf("%q: %d rows; the walk across servers (-one +two):\n%s", query, len(want), diff)
		}
	}
	for round := range 20 {
		cursorRound(t, round, servers[round%2], servers[(round+1)%2])
	}
}

// cursorRound writes on one server and reads on the other.
func cursorRound(t *testing.T, round int, here, there *world) {
	t.Helper()
	get := func(path string) reply {
		return there.send(t, exchange{method: "GET", path: "/api/v1" + path, key: there.key})
	}
	put := func(method, path, body string) reply {
		t.Helper()
		r := here.send(t, exchange{method: method, path: "/api/v1" + path, key: here.key, body: body})
		if r.status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
		return r
	}
	shows := func(what string, r reply, want string) {
		t.Helper()
		if !strings.Contains(r.body, want) {
			t.Errorf("round %d: %s is not seen: %d %.300s", round, what, r.status, r.body)
		}
	}
	var page struct{ Transactions []map[string]any }
	_ = json.Unmarshal([]byte(get("/transactions?uncategorized=false&limit=1").body), &page)
	row := page.Transactions[0]
	transaction, account, category := fmt.Sprint("/transactions/", row["id"]), fmt.Sprint("/accounts/",
		row["account_id"]), fmt.Sprint("/categories/", row["category"])
	name, slug := fmt.Sprintf("round %d", round), fmt.Sprintf("round-%d", round)

	before := get(category).header.Get("ETag")
	put("PATCH", category, `{"name":"`+name+`"}`)
	shows("a renamed category", get(transaction), `"category_display_name":"`+name+`"`)
	shows("a renamed category", get("/categories/export"), "\t"+name+"\t")
	if r := there.send(t, exchange{
		method: "PATCH", path: "/api/v1" + category, key: there.key, body: `{"name":"late"}`,
		header: map[string]string{"If-Match": before},
	}); r.code() != string(errs.PreconditionFailed) {
		t.Errorf("round %d: a stale ETag passes at the other server: %d", round, r.status)
	}
	put("PATCH", account, `{"display_name":"`+name+`"}`)
	shows("a renamed account", get(transaction), `"account_name":"`+name+`"`)
	put("POST", transaction+"/tags", `{"tag_slug":"`+slug+`"}`)
	shows("a new tag", get("/transactions?tags="+slug), fmt.Sprint(row["id"]))
	put("DELETE", "/tags/"+slug, "")
	shows("a deleted tag", get("/transactions?tags="+slug), string(errs.InvalidReference))
	if r := get(transaction); strings.Contains(r.body, slug) {
		t.Errorf("round %d: the deleted tag is still on the transaction", round)
	}
	shows("the change", get("/changes?limit=1"), "Deleted tag "+slug)

	var key struct{ ID, Key string }
	_ = json.Unmarshal([]byte(put("POST", "/api-keys", `{"name":"`+name+`","scope":"read_only"}`).body), &key)
	me := exchange{method: "GET", path: "/api/v1/keys/me", key: key.Key}
	shows("a new key", there.send(t, me), `"name":"`+name+`"`)
	shows("tools for it", reply{body: fmt.Sprint(toolNames(t, there.agent(t, key.Key)))}, "query_transactions")
	put("DELETE", "/api-keys/"+key.ID, "")
	shows("a revoked key", there.send(t, me), string(errs.RevokedAPIKey))
}
