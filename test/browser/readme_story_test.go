package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app"
)

// TestReadmeInTheApp follows the README in the web app from an empty household: the first form as it
// is, the example statement, and then Review asks what the nine transactions were for. With the
// other answer to the first form they skip Review, and the overview counts them all the same.
func TestReadmeInTheApp(t *testing.T) {
	t.Parallel()
	axe := built(t)
	var out, fail strings.Builder
	if code := app.Main([]string{"demo", "statement", "--end", "2026-10-30"}, strings.NewReader(""), &out, &fail); code != 0 {
		t.Fatal(fail.String())
	}
	file := filepath.Join(t.TempDir(), "statement.csv")
	if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, review := range []string{"", "Only from the day an account is added"} {
		h := newHouse(t)
		b := newBrowser(t, "desktop")
		b.open(t, h)
		b.found(t, h)
		b.do(t, step{Do: "see", Text: "connect a bank or import a statement"})
		if review != "" {
			b.do(t, step{Do: "choose", Name: "Review", Value: review})
		}
		b.do(t, step{Do: "click", Name: "Save"})
		b.do(t, step{Do: "see", Text: "/^Saved$/"})
		b.do(t, step{Do: "click", Name: "Transactions"})
		b.do(t, step{Do: "click", Name: "Import"})
		b.do(t, step{Do: "upload", Name: "Choose file", File: file})
		b.do(t, step{Do: "see", Text: "Import summary"})
		b.fill(t, "Account name", "Current")
		b.fill(t, "Bank", "Harbour Bank")
		b.do(t, step{Do: "click", Name: "Import 9 transactions"})
		b.do(t, step{Do: "see", Text: "Imported 9 transactions"})
		h.settle(t)
		waits := "9 to review"
		if review != "" {
			waits = "You’re all caught up"
		}
		b.screen(t, "/review", waits)
		if review == "" {
			b.reads(t, "Needs your input", "Murphy Lettings", "No suggestion yet", "Categorize")
		}
		b.screen(t, "/", "9 uncategorized transactions")
		b.do(t, step{Do: "click", Name: "9 uncategorized transactions"})
		b.reads(t, "9 transactions", "Posted", "Uncategorized")
		b.whole(t, axe)
	}
}
