package app_test

import (
	"encoding/json"
	"testing"
)

// TestSmallAnswersHaveETags: small responses that clients request often have an ETag. A client with
// the current response gets 304 until a write changes the response.
func TestSmallAnswersHaveETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	get := func(path, tag string) reply {
		return w.send(t, exchange{
			method: "GET", path: "/api/v1" + path, key: w.key, header: map[string]string{"If-None-Match": tag},
		})
	}
	paths := []string{"/pulse", "/overview", "/categories", "/tags", "/accounts"}
	tags := map[string]string{}
	for _, path := range paths {
		first := get(path, "")
		tags[path] = first.header.Get("ETag")
		if r := get(path, tags[path]); tags[path] == "" || first.status != 200 || r.status != 304 || r.body != "" {
			t.Errorf("%s with its ETag %s: %d %q", path, tags[path], r.status, r.body)
		}
	}
	var accounts []struct{ ID string }
	if err := json.Unmarshal([]byte(get("/accounts", "").body), &accounts); err != nil {
		t.Fatal(err)
	}
	for _, x := range []exchange{
		{method: "POST", path: "/tags", body: `{"slug":"fresh"}`},
		{method: "POST", path: "/categories", body: `{"slug":"fresh","display_name":"Fresh"}`},
		{method: "PATCH", path: "/accounts/" + accounts[0].ID, body: `{"display_name":"Fresh"}`},
	} {
		x.path, x.key = "/api/v1"+x.path, w.key
		if r := w.send(t, x); r.status >= 300 {
			t.Fatalf("%s: %d %s", x.path, r.status, r.body)
		}
	}
	for _, path := range paths {
		if r := get(path, tags[path]); r.status != 200 {
			t.Errorf("%s after a change: %d", path, r.status)
		}
	}
	pulse := get("/pulse", "")
	var p struct {
		LastChangeID string `json:"last_change_id"`
	}
	if err := json.Unmarshal([]byte(pulse.body), &p); err != nil || len(pulse.body) >= 1000 || p.LastChangeID == "" {
		t.Errorf("the pulse has %d bytes: %s, %v", len(pulse.body), pulse.body, err)
	}
}
