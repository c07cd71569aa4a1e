package app_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfSeveralAccountsAsTheWebAppSendsThem previews and imports a file of several accounts
// with the query that the web app sends. A test of the web app checks that it sends this query for
// the file.
func TestFilesOfSeveralAccountsAsTheWebAppSendsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(t)
	raw, err := os.ReadFile(filepath.Join("..", "bank", "statement", "ofx", "testdata", "07-two-accounts.ofx"))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := os.ReadFile(filepath.Join("testdata", "statements", "07-two-accounts.query"))
	if err != nil {
		t.Fatal(err)
	}
	query := strings.TrimSpace(string(sent))
	post := func(path, kind, body string) (out map[string]any) {
		t.Helper()
		r := w.send(t, exchange{method: http.MethodPost, path: "/api/v1/connections" + path, key: w.key, kind: kind, body: body})
		if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		return out
	}
	at := post("", "application/json", `{"provider": "csv", "institution_name": "Harbour Bank"}`)["id"].(string)
	choices, _, _ := strings.Cut(query, "&file_name=")
	if p := post("/csv/preview?"+choices, "text/csv", string(raw)); len(p["accounts"].([]any)) != 2 {
		t.Errorf("%v", p)
	}
	j := post("/"+at+"/csv/import?"+query, "text/csv", string(raw))
	for j["finished_at"] == nil {
		r := w.send(t, exchange{method: http.MethodGet, path: "/api/v1/jobs/" + j["id"].(string) + "?wait=5s", key: w.key})
		if err := json.Unmarshal([]byte(r.body), &j); err != nil || r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	if r, _ := j["result"].(map[string]any); r == nil || r["added"] != 1.0 || len(r["accounts"].([]any)) != 1 {
		t.Errorf("%v", j)
	}
}
