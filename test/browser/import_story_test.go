package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// importStory brings a statement in whose columns were misunderstood: it is mapped, imported, imported
// again to no effect, and undone.
func importStory(t *testing.T, h *house, axe, size string) {
	t.Helper()
	file := statement(t, 60)
	before := len(h.list(t, "limit=500&search=Harbour+Tea"))
	b := newBrowser(t, size)
	b.enterAt(t, h, "/import", "Drop a bank statement")
	b.do(t, step{Do: "upload", Name: "Choose file", File: file})
	b.do(t, step{Do: "see", Text: "Import summary"})
	b.do(t, step{Do: "see", Text: "1 row can’t be read"})
	b.do(t, step{Do: "choose", Name: "Contents of Shop", Value: "Ignore"})
	b.do(t, step{Do: "choose", Name: "Contents of Reference", Value: "Description"})
	b.do(t, step{Do: "see", Text: "REF 9003"})
	b.do(t, step{Do: "choose", Name: "Contents of Reference", Value: "Ignore"})
	b.do(t, step{Do: "choose", Name: "Contents of Shop", Value: "Description"})
	b.do(t, step{Do: "see", Text: "Harbour Tea 3"})
	b.do(t, step{Do: "choose", Name: "Import into", Value: "New account"})
	b.fill(t, "Account name", "Tea money")
	b.fill(t, "Bank", "Harbour Bank")
	b.do(t, step{Do: "see", Text: "Import 60 transactions"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Import 60 transactions"})
	b.do(t, step{Do: "see", Text: "Imported into Tea money"})
	b.whole(t, axe)
	if now := len(h.list(t, "limit=500&search=Harbour+Tea")); now != before+60 {
		t.Errorf("%d payments before, %d after an import of 60", before, now)
	}

	b.do(t, step{Do: "click", Name: "Import another file"})
	b.do(t, step{Do: "upload", Name: "Choose file", File: file})
	b.do(t, step{Do: "see", Text: "Tea money"})
	b.do(t, step{Do: "choose", Name: "Import into", Value: "Tea money · Harbour Bank"})
	b.do(t, step{Do: "choose", Name: "Contents of Reference", Value: "Ignore"})
	b.do(t, step{Do: "choose", Name: "Contents of Shop", Value: "Description"})
	b.do(t, step{Do: "see", Text: "60 skipped"})
	b.do(t, step{Do: "see", Text: "This file has no new transactions"})
	b.whole(t, axe)

	b.screen(t, "/import", "Past imports")
	b.do(t, step{Do: "see", Text: "imported 60 transactions into “Tea money” · Tea money.csv"})
	b.do(t, step{Do: "click", Name: "Undo"})
	h.becomes(t, before, "limit=500&search=Harbour+Tea")
	b.do(t, step{Do: "see", Text: "Harbour Bank has no accounts because its import was undone"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Remove bank"})
	b.do(t, step{Do: "see", Text: "Harbour Bank removed"})
	b.whole(t, axe)
}

// accountsStory brings a file of two accounts into two new ones, and undoes it as one import.
func accountsStory(t *testing.T, h *house, axe string) {
	t.Helper()
	const lunches = "limit=500&search=LUNCH"
	before := len(h.list(t, lunches))
	file := filepath.Join("..", "..", "internal", "bank", "statement", "ofx", "testdata", "07-two-accounts.ofx")
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/import", "Drop a bank statement")
	b.do(t, step{Do: "upload", Name: "Choose file", File: find(t, "a sample", file)})
	b.do(t, step{Do: "see", Text: "2 accounts in this file"})
	b.fill(t, "Account name", "Lunch money")
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Import 2 transactions"})
	b.do(t, step{Do: "see", Text: "Lunch money: 1 new transaction."})
	h.becomes(t, before+2, lunches)
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Undo import"})
	h.becomes(t, before, lunches)
}

// becomes waits until a list has that many transactions.
func (h *house) becomes(t *testing.T, want int, query string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		now := len(h.list(t, query))
		if now == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d transactions, not %d", query, now, want)
		}
	}
}

// statement writes a file of that many rows and two that cannot be read, with two columns of text.
func statement(t *testing.T, rows int) string {
	t.Helper()
	var s strings.Builder
	s.WriteString("Date,Reference,Shop,Amount,Currency\n")
	for i := range rows {
		fmt.Fprintf(&s, "2026-0%d-%02d,REF %d,Harbour Tea %d,-%d.50,EUR\n", 1+i/28, 1+i%28, 9000+i, i, 2+i%7)
	}
	s.WriteString("2026-02-3O,REF 1,Harbour Tea,-4.00,EUR\n2026-02-28,REF 2,Harbour Tea,,EUR\n")
	at := filepath.Join(t.TempDir(), "Tea money.csv")
	if err := os.WriteFile(at, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestRulesAndFiles plays the stories of files and rules in one house.
func TestRulesAndFiles(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	t.Run("rule", func(t *testing.T) { ruleStory(t, h, axe, "desktop") })         //nolint:paralleltest // as above
	t.Run("rule phone", func(t *testing.T) { ruleStory(t, h, axe, "phone") })     //nolint:paralleltest // as above
	t.Run("proposals", func(t *testing.T) { proposalStory(t, h, axe) })           //nolint:paralleltest // as above
	t.Run("viewer", func(t *testing.T) { viewerLooks(t, h, axe) })                //nolint:paralleltest // as above
	t.Run("links", func(t *testing.T) { linkStory(t, h, axe, "desktop") })        //nolint:paralleltest // as above
	t.Run("links phone", func(t *testing.T) { linkStory(t, h, axe, "phone") })    //nolint:paralleltest // as above
	t.Run("import", func(t *testing.T) { importStory(t, h, axe, "desktop") })     //nolint:paralleltest // as above
	t.Run("import phone", func(t *testing.T) { importStory(t, h, axe, "phone") }) //nolint:paralleltest // as above
	t.Run("accounts of a file", func(t *testing.T) { accountsStory(t, h, axe) })  //nolint:paralleltest // as above
	t.Run("restart", func(t *testing.T) { restartStory(t, h, axe) })              //nolint:paralleltest // as above
}
