package app_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// exported requests an export over REST, waits for its job, and returns the job and the link.
func (w *world) exported(t *testing.T, format string) (short, link string) {
	t.Helper()
	r := w.send(t, exchange{
		method: "POST", path: "/api/v1/exports?wait=30s", key: w.key,
		body: fmt.Sprintf(`{"format": %q}`, format),
	})
	short, link = jobLink(t, r)
	if r.status != 200 || link == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return short, link
}

func jobLink(t *testing.T, r reply) (short, link string) {
	t.Helper()
	var j struct {
		ShortID string `json:"short_id"`
		Result  struct {
			URL *string `json:"url"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(r.body), &j); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	if j.Result.URL == nil {
		return j.ShortID, ""
	}
	return j.ShortID, *j.Result.URL
}

// TestExportLinks: only the caller who requested an export can use its link. The link works once,
// and the database does not store it.
func TestExportLinks(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{PublicURL: "https://coffer.example/"})
	w.work(t)
	short, link := w.exported(t, "archive")
	token, ok := strings.CutPrefix(link, "https://coffer.example/exports/")
	if !ok || len(token) < 40 {
		t.Fatalf("the link is %q", link)
	}
	at := "/exports/" + token
	for kind, key := range map[string]string{
		"another's":  w.newKey(t, auth.CreateKey{Name: "other", Scope: "full_access", ActorType: "user"}).Secret,
		"an agent's": w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: "agent"}).Secret,
		"a reader's": w.newKey(t, auth.CreateKey{Name: "reader", Scope: "read_only", ActorType: "user"}).Secret,
	} {
		for _, path := range []string{"/api/v1/jobs/" + short, "/api/v1/jobs", "/api/v1/jobs/" + short + "/events"} {
			if r := w.send(t, exchange{method: "GET", path: path, key: key}); r.status != 200 ||
				strings.Contains(r.body, "/exports/") || strings.Contains(r.body, token) {
				t.Errorf("%s key, %s: %d %s", kind, path, r.status, r.body)
			}
		}
	}
	if _, again := jobLink(t, w.send(t, exchange{
		method: "GET", path: "/api/v1/jobs/" + short,
		key: w.key,
	})); again != link {
		t.Errorf("the one who asked is shown %q then", again)
	}
	tables, err := pg.Values[string](t.Context(), w.DB, `select tablename::text from pg_tables
		where schemaname = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		if found, err := pg.Value[bool](t.Context(), w.DB,
			`select exists (select from `+name+` x where x::text like '%' || $1 || '%')`, token); err != nil || found {
			t.Errorf("the link stands in %s: %v", name, err)
		}
	}
	if r := w.send(t, exchange{method: "HEAD", path: at}); r.status != 405 {
		t.Errorf("HEAD: %d", r.status)
	}
	var file atomic.Pointer[string]
	var won, lost atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			switch r := w.send(t, exchange{method: "GET", path: at}); r.status {
			case 200:
				won.Add(1)
				file.Store(&r.body)
			case 404:
				lost.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 99 {
		t.Fatalf("%d got the file, %d did not", won.Load(), lost.Load())
	}
	z, err := zip.NewReader(bytes.NewReader([]byte(*file.Load())), int64(len(*file.Load())))
	if err != nil || len(z.File) < 10 {
		t.Errorf("the file: %v", err)
	}
	if left, err := pg.Value[int](t.Context(), w.DB, `select count(*) from export_part`); err != nil || left > 0 {
		t.Errorf("%d pieces are left: %v", left, err)
	}
}

// TestExportsEnd: an unused link expires, and its file is deleted.
func TestExportsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(t)
	for _, format := range []string{"csv", "hledger", "beancount"} {
		_, link := w.exported(t, format)
		if r := w.send(t, exchange{method: "GET", path: link}); r.status != 200 || r.body == "" ||
			!strings.Contains(r.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: %d", format, r.status)
		}
	}
	_, link := w.exported(t, "csv")
	if err := w.Archive.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		n, err := pg.Value[int](t.Context(), w.DB, `select count(*) from export_part`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if count() != 1 {
		t.Error("the control: a file was swept away before its time")
	}
	if _, err := w.DB.Exec(t.Context(), `update export set expires_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if r := w.send(t, exchange{method: "GET", path: link}); r.status != 404 {
		t.Errorf("after its time: %d", r.status)
	}
	if err := w.Archive.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if count() != 0 {
		t.Error("the file is still there")
	}
}

// TestExportsOfOneCallerAreJoined: however often a caller asks for an export, coffer writes one
// file of each format at a time and keeps one. Another credential has its own exports.
func TestExportsOfOneCallerAreJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.newKey(t, auth.CreateKey{Name: "other", Scope: "full_access", ActorType: "user"}).Secret
	ask := func(key, format string) string {
		t.Helper()
		r := w.send(t, exchange{
			method: "POST", path: "/api/v1/exports", key: key,
			body: fmt.Sprintf(`{"format": %q}`, format),
		})
		short, _ := jobLink(t, r)
		if r.status != 202 || short == "" {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return short
	}
	first := ask(w.key, "archive")
	seen := map[string]bool{first: true}
	for range 30 {
		seen[ask(w.key, "archive")] = true
	}
	if len(seen) != 1 {
		t.Errorf("one caller has %d exports of one format at once", len(seen))
	}
	if ask(w.key, "csv") == first || ask(other, "archive") == first {
		t.Error("another format, or another caller, is joined as well")
	}
	files := func(want int) {
		t.Helper()
		if n, err := pg.Value[int](t.Context(), w.DB, `select count(*) from export`); err != nil || n != want {
			t.Errorf("%d files, want %d: %v", n, want, err)
		}
	}
	files(3)
	w.work(t)
	_, old := w.exported(t, "archive")
	for range 3 {
		w.exported(t, "archive")
	}
	files(3) // the files of the other format and of the other caller stay
	if r := w.send(t, exchange{method: "GET", path: old}); r.status != 404 {
		t.Errorf("a file that another one took the place of: %d", r.status)
	}
	_, link := w.exported(t, "archive")
	if r := w.send(t, exchange{method: "GET", path: link}); r.status != 200 {
		t.Errorf("the last one: %d", r.status)
	}
}
