package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestViewsAreOwnOrShared: only the owner sees an unshared view, and everybody sees shared ones.
// Viewers can read them.
func TestViewsAreOwnOrShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	role := func(r string) credential {
		_, session := w.session(t, r)
		return credential{session: session}
	}
	one, other, viewer := role("member"), role("member"), role("viewer")
	save := func(c credential, body string, want int) string {
		t.Helper()
		r := c.send(t, w, "POST", "/api/v1/views", body)
		if r.status != want {
			t.Fatalf("%s: %d %s", body, r.status, r.body)
		}
		var v struct{ ID string }
		_ = json.Unmarshal([]byte(r.body), &v)
		return v.ID
	}
	own := save(one, `{"name":"Mine","filters":{"search":"rewe"}}`, 201)
	shared := save(one, `{"name":"Ours","filters":{"direction":"out"},"shared":true}`, 201)
	save(other, `{"name":"Mine","filters":{}}`, 201)
	save(one, `{"name":"mine","filters":{}}`, 409)
	save(other, `{"name":"ours","filters":{},"shared":true}`, 409)
	save(viewer, `{"name":"Mine","filters":{}}`, 403)
	save(one, `{"name":"Typo","filters":{"serach":"rewe"}}`, 400)
	for _, c := range []struct {
		who           credential
		seen          string
		own, keep     int
		shared, write int
	}{
		{one, `"Mine" "Ours"`, 200, 200, 200, 200},
		{other, `"Mine" "Ours"`, 404, 404, 200, 200},
		{viewer, `"Ours"`, 404, 403, 200, 403},
		{credential{key: w.key}, `"Ours"`, 404, 404, 200, 200},
	} {
		var list struct {
			Views []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(c.who.send(t, w, "GET", "/api/v1/views", "").body), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range list.Views {
			names = append(names, fmt.Sprintf("%q", v.Name))
		}
		if got := strings.Join(names, " "); got != c.seen {
			t.Errorf("sees %s, not %s", got, c.seen)
		}
		for _, x := range []struct {
			method, id, body string
			want             int
		}{
			{"GET", own, "", c.own},
			{"PATCH", own, `{"filters":{"search":"aldi"}}`, c.keep},
			{"GET", shared, "", c.shared},
			{"PATCH", shared, `{"filters":{"direction":"in"}}`, c.write},
		} {
			if r := c.who.send(t, w, x.method, "/api/v1/views/"+x.id, x.body); r.status != x.want {
				t.Errorf("%s by one who sees %s: %d %s, not %d", x.method, c.seen, r.status, r.body, x.want)
			}
		}
	}
	if r := other.send(t, w, "DELETE", "/api/v1/views/"+own, ""); r.status != 404 {
		t.Errorf("another's view was deleted: %d", r.status)
	}
	if r := other.send(t, w, "DELETE", "/api/v1/views/"+shared, ""); r.status != 204 {
		t.Errorf("delete a shared view: %d %s", r.status, r.body)
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, session := w.session(t, "viewer")
	_, another := w.session(t, "admin")
	me, path := credential{session: session}, "/api/v1/users/me/preferences"
	get := func(c credential) string {
		r := c.send(t, w, "GET", path, "")
		validateResponse(t, exchange{method: "GET", path: path}, r)
		var p struct{ Preferences json.RawMessage }
		if err := json.Unmarshal([]byte(r.body), &p); err != nil {
			t.Fatal(r.body, err)
		}
		return string(p.Preferences)
	}
	if got := get(me); got != "{}" {
		t.Errorf("at first: %s", got)
	}
	put := func(body string) reply { return me.send(t, w, "PUT", path, body) }
	text := `{"theme":"dark","nul":"\u0000","n":1.10}`
	r := put(`{"preferences":` + text + `}`)
	if r.status != 200 || get(me) == "{}" || get(credential{session: another}) != "{}" {
		t.Errorf("saved: %d %s, then %s", r.status, r.body, get(me))
	}
	stale := r.header.Get("ETag")
	for body, want := range map[string]int{
		`{"preferences":[1]}`: 400, `{"preferences":"dark"}`: 400, `{"preferences":null}`: 400, `{}`: 400,
		`{"preferences":{"x":"` + strings.Repeat("x", 16_000) + `"}}`: 413,
		`{"preferences":{"theme":"light"}}`:                           200,
	} {
		if r := put(body); r.status != want {
			t.Errorf("%.40s: %d %s, not %d", body, r.status, r.body, want)
		}
	}
	if r := w.send(t, exchange{
		method: "PUT", path: path, body: `{"preferences":{}}`,
		header: map[string]string{"Cookie": "__Host-coffer=" + session, "If-Match": stale},
	}); r.status != 412 {
		t.Errorf("with a stale ETag: %d %s", r.status, r.body)
	}
}
