package browser_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// TestHouseholdStory runs the household: a key is created with a fresh sign-in, shown once and
// revoked; a session that ends loses no words; and a viewer finds nothing that would change
// anything.
func TestHouseholdStory(t *testing.T) { //nolint:tparallel // one house
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	h.member(t, "Maja", "member")
	h.member(t, "Tove", "viewer")
	h.as(t, h.agent(t, "Letters"), "/api/v1/reports", `{"title":"October","kind":"monthly","body":`+
		`"# October\n\nYou spent **less**.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- <b>plain</b>\n"}`)
	t.Run("a key", func(t *testing.T) { keyMade(t, h, axe) })                  //nolint:paralleltest // as above
	t.Run("the session ends", func(t *testing.T) { wordsKept(t, h) })          //nolint:paralleltest // as above
	t.Run("those who look", func(t *testing.T) { lookOnly(t, h) })             //nolint:paralleltest // as above
	t.Run("a report is read", func(t *testing.T) { reportRead(t, h, axe) })    //nolint:paralleltest // as above
	t.Run("a category is renamed", func(t *testing.T) { renamed(t, h, axe) })  //nolint:paralleltest // as above
	t.Run("an agent is revoked", func(t *testing.T) { agentEnded(t, h, axe) }) //nolint:paralleltest // as above
	t.Run("somebody is told", func(t *testing.T) {                             //nolint:paralleltest // as above
		somebodyTold(t, h, axe, "phone light")
	})
}

var secretKey = regexp.MustCompile(`coffer_[A-Za-z0-9]{30,}`)

func keyMade(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/settings/keys", "Create API key")
	h.leave(t)
	b.do(t, step{Do: "click", Name: "Create API key"})
	b.whole(t, axe)
	b.fill(t, "Name", "Kitchen panel")
	b.do(t, step{Do: "click", Name: "Create key"})
	b.do(t, step{Do: "see", Text: "Confirm it’s you"})
	b.whole(t, axe)
	b.fill(t, "Password for "+email, "not this one")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "email or password"})
	b.do(t, step{Do: "look", Look: true}) // the refusal is an error in the log, as it must be
	b.fill(t, "Password for "+email, password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "You won’t be able to see it again"})
	b.whole(t, axe)
	secret := secretKey.FindString(b.look(t).Text)
	if code := h.keyOpens(t, secret); code != http.StatusOK {
		t.Fatalf("the key %q opens nothing: %d", secret, code)
	}
	b.do(t, step{Do: "click", Name: "Done"})
	b.do(t, step{Do: "see", Text: "Kitchen panel"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(v.Text, secret) {
		t.Error("the key is shown again")
	}
	b.do(t, step{Do: "click", Name: "Revoke"})
	b.do(t, step{Do: "click", Name: "Revoke key"})
	b.do(t, step{Do: "see", Text: "API key revoked"})
	if code := h.keyOpens(t, secret); code != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", code)
	}
	b.whole(t, axe)
}

// wordsKept ends the session of somebody who is filling in a form: they sign in, and go on.
func wordsKept(t *testing.T, h *house) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/settings/keys", "Create API key")
	b.do(t, step{Do: "click", Name: "Create API key"})
	b.fill(t, "Name", "Half a thought")
	if _, err := pg.Exec(t.Context(), h.DB, `delete from token where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "click", Name: "Create key"})
	b.do(t, step{Do: "see", Text: "Email"})
	b.fill(t, "Email", email)
	b.fill(t, "Password", password)
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Use a separate key for each program"})
	b.do(t, step{Do: "click", Name: "Create key"})
	b.do(t, step{Do: "see", Text: "API key “Half a thought”"})
	if v := b.do(t, step{Do: "look", Look: true}); !strings.HasSuffix(v.URL, "/settings/keys") {
		t.Errorf("came back to %s", v.URL)
	}
}

// The first words of controls that change something.
const changes = `^(Add|Make|Change|Set|Remove|Revoke|End|Erase|Delete|Undo|Redo|Agree|Approve|Categorize|` +
	`Create|Edit|Unlock|File|Narrow|Link|Sync|Pause|Resume|Bring|Merge|Mark|Test|Rename|Restore|` +
	`Retry|Confirm|Reject|Apply|Unlink|Drop|Write|Import|Sign in again|Sign out|Save$|New rule|` +
	`Turn|Measure|Run now|Stop|Same account|These |Not related|Connect|Reconnect|Disconnect|` +
	`Refresh|Enter|Invite|New (rule|category|tag|link)|Update|Accept|Discard|Resend)\b`

// lookOnly opens every screen as a viewer and as a member. Nothing is refused, because nothing is asked
// for that would be; the admin sees controls where they see none.
func lookOnly(t *testing.T, h *house) {
	t.Helper()
	admin := newBrowser(t, "desktop")
	admin.enterAt(t, h, "/settings/members", "Members")
	for _, path := range []string{"/settings/members", "/settings/categories", "/settings/keys", "/settings", "/review"} {
		admin.screen(t, path, "coffer")
		admin.do(t, step{Do: "idle"})
		if len(admin.controls(t)) == 0 {
			t.Errorf("an admin finds nothing to change at %s", path)
		}
	}
	b := newBrowser(t, "desktop dark")
	b.enterAs(t, h, "tove@example.com", "/settings/members", "You have view-only access")
	for _, s := range screens {
		text := s.text
		if strings.HasPrefix(s.path, "/settings") || s.path == "/import" || strings.HasPrefix(s.path, "/rules") {
			text = "coffer" // its text for members who may change it is not shown here
		}
		b.screen(t, s.path, text)
		b.do(t, step{Do: "idle"})
		b.look(t)
		// Everyone may end what is their own at /me, and everyone may have recovery codes.
		found := slices.DeleteFunc(b.controls(t), func(c string) bool { return strings.Contains(c, "recovery codes") })
		if len(found) > 0 && s.path != "/me" {
			t.Errorf("a viewer finds at %s: %q", s.path, found)
		}
	}
	b.enterAs(t, h, "maja@example.com", "/settings/members", "Only admins can make changes here")
	for _, path := range []string{"/settings", "/settings/members", "/settings/keys", "/agents/limits"} {
		b.screen(t, path, "admin")
		b.do(t, step{Do: "idle"})
		v := b.look(t)
		if found := b.controls(t); len(found) > 0 || strings.Contains(v.Text, "Export data") {
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
	b.enterAt(t, h, "/settings/categories", "Groceries")
	b.do(t, step{Do: "click", Name: "Groceries"})
	b.do(t, step{Do: "see", Text: "Parent category"})
	b.whole(t, axe)
	b.fill(t, "Name", "Food at home")
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Food at home"})
}

func agentEnded(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/agents/assistants", "Letters")
	b.do(t, step{Do: "click", Name: "Revoke access"})
	b.do(t, step{Do: "see", Text: "loses access immediately"})
	b.whole(t, axe)
	b.do(t, step{Do: "press", Name: "Revoke access"})
	b.do(t, step{Do: "see", Text: "No agents connected"})
}

// controls lists the controls of a screen that would change something.
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

// keyOpens returns the API's status for that key.
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
