package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
)

// TestCalendarLinks: a calendar link opens the calendar and nothing else, until it is revoked.
// Members see their own links, and admins see all. Agents cannot create any.
func TestCalendarLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	_, admin := w.session(t, "admin")
	_, member := w.session(t, "member")
	_, other := w.session(t, "member")
	_, viewer := w.session(t, "viewer")
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: op.Agent})
	made := func(c credential, body string) auth.NewCalendarLink {
		t.Helper()
		r := c.send(t, w, "POST", "/api/v1/calendar-links", body)
		var l auth.NewCalendarLink
		if err := json.Unmarshal([]byte(r.body), &l); err != nil || r.status != 201 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return l
	}
	mine, theirs, nobodys := made(credential{session: member}, `{"amounts":true}`), made(credential{session: other}, `{}`),
		made(credential{key: w.key}, `{}`)
	if !mine.Amounts || theirs.Amounts || mine.UserID == nil || nobodys.UserID != nil {
		t.Errorf("%+v %+v %+v", mine, theirs, nobodys)
	}
	for c, want := range map[credential]int{{session: viewer}: 403, {key: agent.Secret}: 403} {
		if r := c.send(t, w, "POST", "/api/v1/calendar-links", `{}`); r.status != want {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	path := func(l auth.NewCalendarLink) string {
		_, token, _ := strings.Cut(l.URL, "/calendar/")
		return "/calendar/" + token
	}
	read := func(p string) reply { return w.send(t, exchange{method: "GET", path: p}) }
	for _, l := range []auth.NewCalendarLink{mine, theirs, nobodys} {
		r := read(path(l))
		if r.status != 200 || !strings.HasPrefix(r.body, "BEGIN:VCALENDAR") ||
			r.header.Get("Content-Type") != "text/calendar; charset=utf-8" || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v %s", r.status, r.header, r.body)
		}
	}
	// The token of a link is not accepted as an API key, a session or an access token.
	token := strings.TrimSuffix(strings.TrimPrefix(path(mine), "/calendar/"), ".ics")
	for _, c := range []credential{{key: "coffer_" + token}, {session: token}, {token: token}} {
		if r := c.send(t, w, "GET", "/api/v1/accounts", ""); r.status != 401 {
			t.Errorf("%+v: %d %s", c, r.status, r.body)
		}
	}
	for _, p := range []string{"/calendar/x.ics", "/calendar/" + strings.Repeat("a", 43) + ".ics", "/calendar/" + token + "a.ics"} {
		if r := read(p); r.status != 404 {
			t.Errorf("%s: %d %s", p, r.status, r.body)
		}
	}
	for c, want := range map[credential]int{{session: member}: 1, {session: admin}: 3, {session: viewer}: 0, {key: w.key}: 3} {
		var l auth.CalendarLinks
		r := c.send(t, w, "GET", "/api/v1/calendar-links", "")
		if err := json.Unmarshal([]byte(r.body), &l); err != nil || len(l.Links) != want || strings.Contains(r.body, token) {
			t.Errorf("%d %s, want %d", r.status, r.body, want)
		}
	}
	if r := (credential{session: other}).send(t, w, "DELETE", "/api/v1/calendar-links/"+mine.ShortID, ""); r.status != 404 {
		t.Errorf("somebody else's: %d %s", r.status, r.body)
	}
	if r := (credential{session: member}).send(t, w, "DELETE", "/api/v1/calendar-links/"+mine.ShortID, ""); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := (credential{session: admin}).send(t, w, "DELETE", "/api/v1/calendar-links/"+theirs.ID.String(), ""); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
	for _, l := range []auth.NewCalendarLink{mine, theirs} {
		if r := read(path(l)); r.status != 404 {
			t.Errorf("after it was revoked: %d %s", r.status, r.body)
		}
	}
	// When the owner leaves, the link stops working.
	gone := made(credential{session: other}, `{}`)
	if _, err := w.DB.Exec(t.Context(), `update member set deleted_at = now() where id = $1`, gone.UserID); err != nil {
		t.Fatal(err)
	}
	if r := read(path(gone)); r.status != 404 {
		t.Errorf("of somebody who left: %d %s", r.status, r.body)
	}
}
