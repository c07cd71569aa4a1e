package app_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestFullDiskIsSaid: if the database's disk is full, the failing call and the health checks say
// so. Reads continue, so the server stays in service.
func TestFullDiskIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.DB.Exec(t.Context(), `create function full_disk() returns trigger language plpgsql as
			$$ begin raise 'could not extend file: No space left on device' using errcode = '53100'; end $$;
		create trigger full_disk before insert on tag for each row execute function full_disk()`); err != nil {
		t.Fatal(err)
	}
	ready := exchange{method: "GET", path: "/api/v1/health/ready"}
	if r := w.send(t, ready); r.status != http.StatusOK || strings.Contains(r.body, "disk") {
		t.Errorf("before: %d %s", r.status, r.body)
	}
	r := w.send(t, exchange{method: "POST", path: "/api/v1/tags", key: w.key, body: `{"slug":"one"}`})
	if r.status != http.StatusServiceUnavailable || r.code() != "UNAVAILABLE" ||
		!strings.Contains(r.body, "the database's disk is full") {
		t.Errorf("a write: %d %s", r.status, r.body)
	}
	if r := w.send(t, ready); r.status != http.StatusOK || !strings.Contains(r.body, `"disk":"full`) {
		t.Errorf("after: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key}); r.status != http.StatusOK {
		t.Errorf("a read: %d %s", r.status, r.body)
	}
}
