package agents_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/platform/pg"
)

// TestSheetSpeed: building and rehearsing a sheet takes about as long with large books as with
// small ones. The measured time includes the batch that stores the sheet.
func TestSheetSpeed(t *testing.T) { //nolint:paralleltest // it measures
	size := 20_000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		size = 1_000_000
	}
	h := newHouseOf(t, nil, size)
	// Rules categorized a third of the transactions, and people a thirtieth.
	if _, err := pg.Exec(t.Context(), h.DB, `update transaction set
		category_id = (select id from category where slug = 'food_and_drink_groceries'),
		category_source = case when hashtext(id::text) % 30 = 0 then 'user' else 'rule' end
		where hashtext(id::text) % 3 = 0`); err != nil {
		t.Fatal(err)
	}
	d := queue()
	d.DryRun, d.Report = true, "none"
	got, lines, _ := h.sheets(d)
	if got.Status != workflow.Succeeded || got.Turns < 8 {
		t.Fatalf("%+v %s", got, deref(got.Error))
	}
	var built, rehearsed []time.Duration
	var sent []int
	for i, l := range lines {
		switch l.Kind {
		case workflow.LineUser:
			if i > 3 { // the first sheets wait until the data is read from the disk
				built = append(built, l.At.Time().Sub(lines[i-2].At.Time()))
			}
		case workflow.LineResult:
			var b struct {
				TookMS int64 `json:"took_ms"`
			}
			if err := json.Unmarshal(l.Body, &b); err != nil {
				t.Fatal(err)
			}
			rehearsed = append(rehearsed, time.Duration(b.TookMS)*time.Millisecond)
		}
	}
	for _, r := range h.sim.Requests() {
		sent = append(sent, len(r.Body))
	}
	slices.Sort(built)
	slices.Sort(rehearsed)
	slices.Sort(sent)
	t.Logf("%d transactions: a sheet is built in %v (median %v), rehearsed in %v (median %v); its request has %d bytes "+
		"(median; largest %d)", size, built[0], built[len(built)/2], rehearsed[0], rehearsed[len(rehearsed)/2],
		sent[len(sent)/2], sent[len(sent)-1])
	// The fastest time counts, because other tests run on the same machine.
	if built[0] > 100*time.Millisecond || rehearsed[0] > 150*time.Millisecond || sent[len(sent)-1] > 16_000 {
		t.Error("a sheet is slower or larger than it may be")
	}
}
