package browser_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// TestAddedOffline adds 200 payments on a phone that loses its network at random, and whose requests
// arrive twice or lose their answers. Each is in the books once.
func TestAddedOffline(t *testing.T) {
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	b := newBrowser(t, "phone light")
	b.kept = "worker"
	b.enterAt(t, h, "/add", "Money out")
	b.do(t, step{Do: "worker"})
	b.screen(t, "/add", "Money out")
	b.do(t, step{Do: "says", Name: "main", Text: "Haushaltskasse"})
	b.do(t, step{Do: "twice"})
	const payments = 200
	dice := rand.New(rand.NewPCG(24, 9))
	offline, sent, kept := false, 0, 0
	for i := range payments {
		if dice.IntN(5) == 0 {
			offline = !offline
			name := ""
			if offline {
				name = "offline"
			}
			b.do(t, step{Do: "network", Name: name})
		}
		if dice.IntN(20) == 0 { // the page itself comes from the device
			b.do(t, step{Do: "visit", URL: h.url + "/add"})
			b.do(t, step{Do: "see", Text: "Money out"})
		}
		v := b.do(t, step{Do: "pay", Name: fmt.Sprintf("Stall %03d", i), Value: fmt.Sprintf("%d.%02d", i/7+1, i%100)})
		if strings.Contains(v.Text, "added") {
			sent++
		} else {
			kept++
		}
	}
	b.do(t, step{Do: "network", Name: "offline"})
	if v := b.do(t, step{Do: "pay", Name: "The last", Value: "1"}); v.Text != "Waiting to send" {
		t.Errorf("without a network it says %q", v.Text)
	}
	b.do(t, step{Do: "see", Text: "Not sent yet"})
	b.do(t, step{Do: "axe", File: axe})
	b.do(t, step{Do: "targets"})
	v := b.do(t, step{Do: "look", Look: true})
	for _, f := range v.Faults {
		if !strings.Contains(f, "Failed to load resource") {
			t.Error(f)
		}
	}
	b.shot(t, v)
	b.do(t, step{Do: "network"})
	b.do(t, step{Do: "visit", URL: h.url + "/add"})
	// The page shows what waits once it knows whose it is, so its end is seen in the books.
	for end := time.Now().Add(5 * time.Minute); h.count(t, `select count(*) from transaction
		where origin = 'manual' and deleted_at is null`) <= payments && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	b.do(t, step{Do: "gone", Text: "Not sent yet"})
	if sent == 0 || kept < payments/5 {
		t.Errorf("%d were sent at once and %d kept; that is no test", sent, kept)
	}
	type line struct {
		Name  string `db:"name"`
		Count int    `db:"count"`
	}
	rows, err := pg.All[line](t.Context(), h.DB, `select d.name, count(*)::int as count from transaction t
		join descriptor d on d.id = t.descriptor_id where t.origin = 'manual' and t.deleted_at is null group by 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Count != 1 {
			t.Errorf("%s is in the books %d times", r.Name, r.Count)
		}
	}
	if len(rows) != payments+1 {
		t.Errorf("%d of %d are in the books", len(rows), payments+1)
	}
	if n := h.count(t, `select count(*) from transaction t join descriptor d on d.id = t.descriptor_id
		where d.name ~ '^Stall' and t.amount = (substr(d.name, 7)::int / 7 + 1) + (substr(d.name, 7)::int % 100) / 100.0`); n != payments {
		t.Errorf("%d have their amounts", n)
	}
	b.do(t, step{Do: "forgive", Text: ""})
}

// TestSharedStatement shares statements with the installed app, which opens them for import; and the
// app opens without a network.
func TestSharedStatement(t *testing.T) {
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	b := newBrowser(t, "phone light")
	b.kept = "worker"
	b.enterAt(t, h, "/transactions", "Transactions")
	b.do(t, step{Do: "worker"})
	b.screen(t, "/transactions", "Transactions")
	b.do(t, step{Do: "share", Name: "my bank.csv", Value: "Date,Amount,Description\n2026-01-05,-12.50,Bakery\n2026-01-06,-3.20,Kiosk\n"})
	b.do(t, step{Do: "see", Text: "my bank.csv"})
	b.do(t, step{Do: "see", Text: "Bakery"})
	b.screen(t, "/import", "Drop a bank statement here") // it is taken once
	zip := find(t, "a sample", filepath.Join("..", "..", "internal", "app", "testdata", "statements", "29-camt053.zip"))
	b.do(t, step{Do: "share", Name: "statements.zip", File: zip})
	b.do(t, step{Do: "see", Text: "statements.zip"})
	b.do(t, step{Do: "see", Text: "Import 2 transactions"})
	b.fill(t, "Account name", "Month by month")
	b.do(t, step{Do: "click", Name: "Import 2 transactions"})
	b.do(t, step{Do: "see", Text: "Imported into Month by month"})
	b.do(t, step{Do: "see", Text: "Verified: the bank’s balances from"})
	b.whole(t, axe)
	if n := h.count(t, `select count(*) from transaction t join account a on a.id = t.account_id
		where a.name = 'Month by month' and t.deleted_at is null`); n != 2 {
		t.Errorf("%d of 2 transactions are in the books", n)
	}
	b.do(t, step{Do: "network", Name: "offline"})
	b.do(t, step{Do: "visit", URL: h.url + "/budget"})
	b.do(t, step{Do: "see", Text: "Budget"})
	b.do(t, step{Do: "forgive", Text: ""})
	b.do(t, step{Do: "network"})
}
