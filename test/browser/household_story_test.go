package browser_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/pg"
)

// TestHouseholdStory runs the household: a key is made with a fresh sign-in, shown once and revoked; a
// session that ends loses no words; and whoever may only look finds nothing that would change anything.
func TestHouseholdStory(t *testing.T) { //nolint:tparallel // one house
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	h.member(t, "Maja", "member")
	h.member(t, "Tove", "viewer")
	h.as(t, h.agent(t, "Letters"), "/api/v1/reports", `{"title":"October","kind":"monthly","body":`+
		`"# October\n\nYou spent **less**.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- <b>plain</b>\n"}`)
	t.Run("a key", func(t *testing.T) { keyMade(t, h, axe) })                    //nolint:paralleltest // as above
	t.Run("the session ends", func(t *testing.T) { wordsKept(t, h) })            //nolint:paralleltest // as above
	t.Run("those who look", func(t *testing.T) { lookOnly(t, h) })               //nolint:paralleltest // as above
	t.Run("a report is read", func(t *testing.T) { reportRead(t, h, axe) })      //nolint:paralleltest // as above
	t.Run("a category is renamed", func(t *testing.T) { renamed(t, h, axe) })    //nolint:paralleltest // as above
	t.Run("an assistant is ended", func(t *testing.T) { agentEnded(t, h, axe) }) //nolint:paralleltest // as above
	t.Run("somebody is told", func(t *testing.T) {                               //nolint:paralleltest // as above
		somebodyTold(t, h, axe, "phone light")
	})
}

var secretKey = regexp.MustCompile(`coffer_[A-Za-z0-9]{30,}`)

func keyMade(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/household", "Members")
	h.leave(t)
	b.do(t, step{Do: "click", Name: "Make a key"})
	b.whole(t, axe)
	b.fill(t, "What it is for", "Kitchen panel")
	b.do(t, step{Do: "click", Name: "Make key"})
	b.do(t, step{Do: "see", Text: "Sign in again to go on"})
	b.whole(t, axe)
	b.fill(t, "Password of "+email, "not this one")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "the password is wrong"})
	b.do(t, step{Do: "look", Look: true}) // the refusal is an error in the log, as it must be
	b.fill(t, "Password of "+email, password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "It is shown this once"})
	b.whole(t, axe)
	secret := secretKey.FindString(b.look(t).Text)
	if code := h.keyOpens(t, secret); code != http.StatusOK {
		t.Fatalf("the key %q opens nothing: %d", secret, code)
	}
	b.do(t, step{Do: "click", Name: "I have copied it"})
	b.do(t, step{Do: "see", Text: "Kitchen panel"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(v.Text, secret) {
		t.Error("the key is shown again")
	}
	b.do(t, step{Do: "click", Name: "Revoke"})
	b.do(t, step{Do: "click", Name: "Revoke key"})
	b.do(t, step{Do: "see", Text: "opens nothing any more"})
	if code := h.keyOpens(t, secret); code != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", code)
	}
	b.whole(t, axe)
}

// wordsKept ends the session of somebody who is filling in a form: they sign in, and go on.
func wordsKept(t *testing.T, h *house) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/household", "Members")
	b.do(t, step{Do: "click", Name: "Make a key"})
	b.fill(t, "What it is for", "Half a thought")
	if _, err := pg.Exec(t.Context(), h.DB, `delete from token where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "click", Name: "Make key"})
	b.do(t, step{Do: "see", Text: "E-mail address"})
	b.fill(t, "E-mail address", email)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "A key lets one program in"})
	b.do(t, step{Do: "click", Name: "Make key"})
	b.do(t, step{Do: "see", Text: "The key “Half a thought”"})
	if v := b.do(t, step{Do: "look", Look: true}); !strings.HasSuffix(v.URL, "/household") {
		t.Errorf("came back to %s", v.URL)
	}
}

// What controls that change something begin with.
const changes = `^(Add|Make|Change|Set|Remove|Revoke|End|Erase|Delete|Undo|Redo|Agree|File|Narrow|Link|Sync|Pause|` +
	`Resume|Bring|Merge|Mark|Test|Rename|Restore|Retry|Confirm|Reject|Apply|Unlink|Drop|Write|Import|Sign in again|` +
	`Sign out|Save$|New rule|Turn|Measure|Run now|Stop)\b`

// lookOnly opens every screen as a viewer and as a member. Nothing is refused, because nothing is asked
// for that would be; the admin sees controls where they see none.
func lookOnly(t *testing.T, h *house) {
	t.Helper()
	admin := newBrowser(t, "desktop")
	admin.enterAt(t, h, "/household", "Members")
	for _, path := range []string{"/household", "/categories", "/settings", "/review"} {
		admin.screen(t, path, "coffer")
		admin.do(t, step{Do: "idle"})
		if len(admin.controls(t)) == 0 {
			t.Errorf("an admin finds nothing to change at %s", path)
		}
	}
	b := newBrowser(t, "desktop dark")
	b.enterAs(t, h, "tove@example.com", "/household", "because your role is viewer")
	for _, s := range screens {
		text := s.text
		if s.path == "/settings" || s.path == "/import" || strings.HasPrefix(s.path, "/rules") {
			text = "coffer" // what it says to those who may change it, it does not say here
		}
		b.screen(t, s.path, text)
		b.do(t, step{Do: "idle"})
		b.look(t)
		// What is their own, everyone may end.
		if found := b.controls(t); len(found) > 0 && s.path != "/me" {
			t.Errorf("a viewer finds at %s: %q", s.path, found)
		}
	}
	b.enterAs(t, h, "maja@example.com", "/household", "Only an admin of the household")
	for _, path := range []string{"/household", "/agents", "/settings"} {
		b.screen(t, path, "admin")
		b.do(t, step{Do: "idle"})
		v := b.look(t)
		if found := b.controls(t); len(found) > 0 || strings.Contains(v.Text, "Settings\n") && path != "/settings" {
			t.Errorf("a member finds at %s: %q in %s", path, found, v.Text)
		}
	}
}

func reportRead(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/reports", "October")
	b.do(t, step{Do: "click", Name: "October"})
	b.do(t, step{Do: "see", Text: "<b>plain</b>"})
	b.whole(t, axe)
	if n := h.count(t, `select count(*) from report where read_at is null`); n != 0 {
		t.Errorf("%d reports are unread after reading", n)
	}
	b.do(t, step{Do: "click", Name: "Mark as unread"})
	b.do(t, step{Do: "see", Text: "Mark as read"})
	if n := h.count(t, `select count(*) from report where read_at is null`); n != 1 {
		t.Errorf("%d reports are unread after all", n)
	}
}

func renamed(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/categories", "Groceries")
	b.do(t, step{Do: "click", Name: "Groceries"})
	b.do(t, step{Do: "see", Text: "Belongs to"})
	b.whole(t, axe)
	b.fill(t, "Name", "Food at home")
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Food at home"})
}

func agentEnded(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/agents", "Letters")
	b.do(t, step{Do: "click", Name: "End"})
	b.do(t, step{Do: "see", Text: "refused from its next request"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "End Letters"})
	b.do(t, step{Do: "see", Text: "No agent is let in"})
}

// controls are what would change something on a screen.
func (b *browser) controls(t *testing.T) []string {
	t.Helper()
	b.do(t, step{Do: "controls", Text: changes})
	var found []string
	for _, f := range b.do(t, step{Do: "look", Look: true}).Faults {
		if name, is := strings.CutPrefix(f, "a control: "); is {
			found = append(found, name)
		} else {
			t.Error(f)
		}
	}
	return found
}

// keyOpens is how the API answers someone with that key.
func (h *house) keyOpens(t *testing.T, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/keys/me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
