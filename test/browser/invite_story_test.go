package browser_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var joinLink = regexp.MustCompile(`/join/[A-Za-z0-9]{43}`)

// TestInviteStory lets somebody into the household: an admin adds a member and hands the link over, the
// member opens it on a phone and chooses a password, another joins with a passkey, and a link that was
// ended opens nothing.
func TestInviteStory(t *testing.T) { //nolint:tparallel // one house
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	t.Run("desktop", func(t *testing.T) { invitation(t, h, axe, "desktop") })       //nolint:paralleltest // as above
	t.Run("phone dark", func(t *testing.T) { invitation(t, h, axe, "phone dark") }) //nolint:paralleltest // as above
}

func invitation(t *testing.T, h *house, axe, size string) {
	t.Helper()
	name := "Tilda " + strings.Fields(size)[0]
	address := strings.ReplaceAll(strings.ToLower(name), " ", ".") + "@example.com"
	admin := newBrowser(t, size)
	admin.enterAt(t, h, "/settings/members", "Members")
	admin.do(t, step{Do: "click", Name: "Add member"})
	admin.whole(t, axe)
	admin.fill(t, "Name", name)
	admin.fill(t, "Email", address)
	admin.do(t, step{Do: "enter"})
	admin.do(t, step{Do: "see", Text: "Invitation for " + name})
	admin.whole(t, axe)
	link := joinLink.FindString(admin.look(t).Text)
	admin.do(t, step{Do: "click", Name: "Done"})
	admin.do(t, step{Do: "see", Text: "Invitation expires"})
	admin.do(t, step{Do: "idle"})
	admin.whole(t, axe)

	member := newBrowser(t, strings.Replace(size, "desktop", "phone light", 1))
	member.open(t, h)
	member.visit(t, link, http.StatusOK, "Welcome, "+name)
	member.fill(t, "Password", "password123")
	if v := member.click(t, "Join with password", "too easy to guess"); v.Status != http.StatusBadRequest {
		t.Errorf("a common password: %d", v.Status)
	}
	member.fill(t, "Password", "a sentence of Tilda’s own")
	member.click(t, "Join with password", "Create recovery codes")
	member.visit(t, link, http.StatusNotFound, "Ask an admin of the household for a new one")

	// The admin creates a link for a member who lost access, and another that replaces it.
	admin.screen(t, "/settings/members", "Members")
	admin.do(t, step{Do: "click", Name: name})
	admin.do(t, step{Do: "see", Text: "Sessions"})
	admin.do(t, step{Do: "idle"})
	admin.whole(t, axe)
	admin.do(t, step{Do: "click", Name: "Invite " + name})
	admin.do(t, step{Do: "see", Text: "Invitation for " + name})
	link = joinLink.FindString(admin.look(t).Text)
	admin.do(t, step{Do: "click", Name: "Done"})
	admin.do(t, step{Do: "see", Text: "A new link replaces it"})
	admin.whole(t, axe)
	member.open(t, h)
	member.do(t, step{Do: "authenticator"})
	member.visit(t, link, http.StatusOK, "Use a passkey")
	member.click(t, "Use a passkey", "Create recovery codes")
	admin.screen(t, "/settings/members", "Members")
	admin.do(t, step{Do: "click", Name: name})
	admin.do(t, step{Do: "click", Name: "Invite " + name})
	admin.do(t, step{Do: "see", Text: "Invitation for " + name})
	link = joinLink.FindString(admin.look(t).Text)
	admin.do(t, step{Do: "click", Name: "Done"})
	admin.do(t, step{Do: "click", Name: "Cancel invitation"})
	admin.do(t, step{Do: "see", Text: "Invitation canceled"})
	member.open(t, h)
	member.visit(t, link, http.StatusNotFound, "Page not found")
}
