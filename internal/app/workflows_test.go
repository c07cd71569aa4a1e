package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// TestPresetsAreValid: the presets pass the same checks as a workflow by a person. Their tools
// exist and fit their scope, their blocks exist, and their filter and schedule are valid. The
// control names a tool that does not exist.
func TestPresetsAreValid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Workflows.FillPresets(t.Context()); err != nil {
		t.Fatal(err)
	}
	slugs := mustValues[string](t, w.DB, `select slug from workflow order by slug`)
	if len(slugs) != 7 {
		t.Fatalf("presets: %q", slugs)
	}
	patch := func(slug, body string) reply {
		t.Helper()
		return w.send(t, exchange{method: "PATCH", path: "/api/v1/workflows/" + slug, key: w.key, body: body})
	}
	for _, slug := range slugs {
		if r := patch(slug, `{"max_turns":7}`); r.status != 200 || !strings.Contains(r.body, `"customized":false`) {
			t.Errorf("%s: %d %s", slug, r.status, r.body)
		}
		if r := patch(slug, `{"tools":["nothing"]}`); r.status != 400 {
			t.Errorf("control: %s accepts a tool that is not there: %d", slug, r.status)
		}
	}
}

// TestTranscript: a transcript is sent with the lines that it has. With follow, the response
// continues until the run has ended, and always contains all lines.
func TestTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ran(t)
	run := id.New()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), w.DB, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, status, definition, definition_hash,
		asked_type, asked_name) select $1, $2, id, 'ran', 'manual', 'running', '{}', '', 'user', 'Ada' from workflow
		where slug = 'ran'`, run, run.Short())
	line := func(seq int) {
		t.Helper()
		exec(`insert into workflow_line (run_id, seq, kind, body) values ($1, $2, 'note', jsonb_build_object('text', $3::text))`,
			run, seq, fmt.Sprint("line ", seq))
	}
	line(1)
	line(2)
	path := "/api/v1/workflow-runs/" + run.Short() + "/transcript"
	r := w.send(t, exchange{method: "GET", path: path, key: w.key})
	if got := strings.Count(r.body, "\n"); r.status != 200 || got != 2 ||
		r.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("transcript: %d %s %q", r.status, r.header, r.body)
	}
	if r := w.send(t, exchange{method: "GET", path: path + "?after=1", key: w.key}); strings.Count(r.body, "\n") != 1 ||
		!strings.Contains(r.body, `"text":"line 2"`) {
		t.Errorf("after the first line: %q", r.body)
	}
	for query, want := range map[string]int{"?folow=true": 400, "?follow=maybe": 400, "?after=-1": 400, "?after=1&after=2": 400} {
		if r := w.send(t, exchange{method: "GET", path: path + query, key: w.key}); r.status != want {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path+"?follow=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", w.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	lines := bufio.NewScanner(res.Body)
	seen := 0
	next := func() bool {
		t.Helper()
		if !lines.Scan() {
			return false
		}
		var l struct {
			Seq int
			At  time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Seq != seen+1 || l.At.IsZero() {
			t.Fatalf("line %q after %d: %v", lines.Text(), seen, err)
		}
		seen = l.Seq
		return true
	}
	for range 2 {
		next()
	}
	line(3)
	next()
	line(4)
	exec(`update workflow_run set status = 'succeeded', finished_at = now() where id = $1`, run)
	for next() {
	}
	if seen != 4 {
		t.Errorf("the stream ended after line %d", seen)
	}
}

// TestEraseTakesTranscripts: erasing a member erases every transcript and plan, because they may be
// about anyone. A dry run reports this first.
func TestEraseTakesTranscripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ran(t)
	made := w.send(t, exchange{method: "POST", path: "/api/v1/users", key: w.key, body: `{"name":"Kim"}`})
	var kim struct{ ID string }
	if err := json.Unmarshal([]byte(made.body), &kim); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), w.DB, `
		with run as (update workflow_run set plan_state = 'waiting', result = '{"items": 1}', asked_id = $1
			where short_id = 'ranran01' returning id),
		line as (insert into workflow_line (run_id, seq, kind, body) select id, 1, 'note', '{}' from run)
		insert into workflow_plan (run_id, seq, tool, subject, subject_id, field)
		select id, 99, 'update_transactions', 'transaction', $1, 'category' from run`, id.Must(kim.ID)); err != nil {
		t.Fatal(err)
	}
	erase := func(dry bool) string {
		t.Helper()
		r := w.send(t, exchange{
			method: "POST", path: "/api/v1/users/" + kim.ID + "/erase", key: w.key, body: fmt.Sprintf(`{"dry_run":%t}`, dry),
		})
		if r.status != 200 {
			t.Fatalf("erase: %d %s", r.status, r.body)
		}
		return r.body
	}
	said := erase(true)
	for _, want := range []string{
		`{"table":"workflow_line","rows":1}`, `{"table":"workflow_plan","rows":4}`, `{"table":"workflow_run","rows":1}`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the dry run does not say %s: %s", want, said)
		}
	}
	left := func() int {
		t.Helper()
		return mustValues[int](t, w.DB, `select (select count(*) from workflow_line) + (select count(*) from workflow_plan)
			+ (select count(*) from workflow_run where plan_state = 'waiting' or result is not null or asked_id is not null)`)[0]
	}
	if n := left(); n != 6 {
		t.Fatalf("control: %d of 6 are there after a dry run", n)
	}
	erase(false)
	if n := left(); n != 0 {
		t.Errorf("%d are left", n)
	}
}
