package app_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// TestAnswersAreCompressed: a compressed response has the same content, and its ETag works wherever
// the ETag of the uncompressed response does.
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	ask := func(path string, header ...string) reply {
		x := exchange{method: "GET", path: path, key: w.key, header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			x.header[header[i]] = header[i+1]
		}
		return w.send(t, x)
	}
	for _, path := range []string{
		"/api/v1/categories", "/api/v1/transactions", "/api/v1/categories/export", "/api/v1/overview",
		"/openapi.json", "/docs",
	} {
		plain, packed := ask(path, "Accept-Encoding", "identity"), ask(path, "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Errorf("%s: %v; %d bytes", path, err, len(plain.body))
			continue
		}
		var b bytes.Buffer
		if _, err := io.Copy(&b, z); err != nil || b.String() != plain.body || len(packed.body) >= len(plain.body) {
			t.Errorf("%s: %d bytes become %d: %v", path, len(plain.body), len(packed.body), err)
		}
	}
	tag := ask("/api/v1/categories", "Accept-Encoding", "gzip").header.Get("ETag")
	if r := ask("/api/v1/categories", "If-None-Match", tag); r.status != 304 || r.header.Get("ETag") != tag {
		t.Errorf("If-None-Match: %s: %d with %s", tag, r.status, r.header.Get("ETag"))
	}
	made := w.send(t, exchange{method: "POST", path: "/api/v1/tags", key: w.key, body: `{"slug":"fresh"}`})
	tag = strings.TrimSuffix(made.header.Get("ETag"), `"`) + `.gz"`
	for _, want := range []int{200, 412} {
		if r := w.send(t, exchange{
			method: "PATCH", path: "/api/v1/tags/fresh", key: w.key, body: `{"display_name":"Fresh"}`,
			header: map[string]string{"If-Match": tag},
		}); r.status != want {
			t.Errorf("If-Match with the ETag of a compressed answer: %d, not %d: %s", r.status, want, r.body)
		}
	}
}

// TestWritesNameTheirChange: a write that the journal records names its change in a header. A call
// that records nothing has no such header.
func TestWritesNameTheirChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	last := func() string {
		r := w.send(t, exchange{method: "GET", path: "/api/v1/pulse", key: w.key})
		var p struct {
			ID string `json:"last_change_id"`
		}
		if err := json.Unmarshal([]byte(r.body), &p); err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	var list struct{ Transactions []struct{ ID string } }
	r := w.send(t, exchange{method: "GET", path: "/api/v1/transactions?limit=1", key: w.key})
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		t.Fatal(err)
	}
	one := "/api/v1/transactions/" + list.Transactions[0].ID
	write := func(method, path, body string, header ...string) reply {
		x := exchange{method: method, path: path, key: w.key, body: body, header: map[string]string{}}
		if len(header) > 0 {
			x.header["Idempotency-Key"] = header[0]
		}
		return w.send(t, x)
	}
	for _, x := range [][3]string{
		{"PATCH", one, `{"category":"transport"}`},
		{"POST", one + "/tags", `{"tag_slug":"once"}`},
		{"DELETE", one + "/tags/once", ``},
		{"POST", one + "/comments", `{"content":"well"}`},
		{"POST", "/api/v1/tags", `{"slug":"fresh"}`},
		{"PATCH", "/api/v1/tags/fresh", `{"display_name":"Fresh"}`},
		{"POST", "/api/v1/categories", `{"slug":"fresh","display_name":"Fresh"}`},
		{"DELETE", "/api/v1/categories/fresh", ``},
		{"POST", "/api/v1/counterparties", `{"name":"Corner shop"}`},
		{"POST", "/api/v1/rules", `{"rules":[{"name":"r","conditions":{},"actions":[{"type":"add_tag","tag_slug":"fresh"}]}]}`},
		{"POST", "/api/v1/reports", `{"title":"t","body":"b"}`},
		{"POST", "/api/v1/changes/" + "LAST" + "/revert", `{}`},
	} {
		before := last()
		r := write(x[0], strings.Replace(x[1], "LAST", before, 1), x[2])
		if got, now := r.header.Get(op.ChangeHeader), last(); r.status >= 300 || got == "" || got != now || got == before {
			t.Errorf("%s %s: %d %s names the change %q; the last one is %s", x[0], x[1], r.status, r.body, got, now)
		}
	}
	if r := write("PATCH", one, `{"category":"transport"}`); r.status != 200 ||
		r.header.Get(op.ChangeHeader) != "" {
		t.Errorf("a change of nothing: %d %s", r.status, r.header.Get(op.ChangeHeader))
	}
	if r := write("POST", one+"/tags", `{"tag_slug":"not a slug"}`); r.status != 400 || r.header.Get(op.ChangeHeader) != "" {
		t.Errorf("an error: %d %s", r.status, r.header.Get(op.ChangeHeader))
	}
	first, again := write("POST", one+"/comments", `{"content":"twice"}`, "k"),
		write("POST", one+"/comments", `{"content":"twice"}`, "k")
	if got := again.header.Get(op.ChangeHeader); got == "" || got != first.header.Get(op.ChangeHeader) ||
		again.header.Get("Idempotency-Replayed") == "" {
		t.Errorf("a repeated call names %q, the first one %q", got, first.header.Get(op.ChangeHeader))
	}
}
