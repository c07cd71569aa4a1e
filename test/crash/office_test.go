package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/models"
)

// An office is a household with an agent whose server the test kills.
type office struct {
	*house
	sim   *models.Server
	file  string   // says where to stop
	rows  []string // short ids of transactions
	round int

	mu    sync.Mutex
	stall string // asking or streaming: where the answer of turn stalls
	turn  int
	asked int           // requests of sheets since then
	ready chan struct{} // closed when it happens
}

const rowsARound = 3

// newOffice starts a server and gives it transactions and a workflow.
func newOffice(t *testing.T, program string, rounds int) *office {
	t.Helper()
	o := &office{file: filepath.Join(t.TempDir(), "point")}
	var err error
	if o.sim, err = models.New(models.Options{Script: o.play}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.sim.Close)
	o.house = open(t, program, pgtest.URL(t), "COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"COFFER_DATABASE_MAX_CONNS=5", "COFFER_OPENAI_URL="+o.sim.Base(models.OpenAI), pointFile+"="+o.file)
	var file strings.Builder
	file.WriteString("Date,Description,Amount,Transaction ID\n")
	for n := range rowsARound * rounds {
		fmt.Fprintf(&file, "2026-01-%02d,SHOP %d,-%d.50,a%06d\n", 1+n%28, n, 1+n, n)
	}
	csv, err := json.Marshal(file.String())
	if err != nil {
		t.Fatal(err)
	}
	var paper struct {
		ID string `json:"id"`
	}
	o.must(t, http.MethodPost, "/connections", `{"provider":"csv","institution_name":"Paper Bank"}`, &paper)
	o.must(t, http.MethodPost, "/connections/"+paper.ID+"/csv/import?wait=30s",
		`{"account":{"name":"Paper","iso_currency_code":"EUR"},"csv":`+string(csv)+`}`, nil)
	o.must(t, http.MethodPut, "/settings/models", `{"provider":"openai_compatible","prices":[
		{"model":"clerk","input_usd":"1","output_usd":"5"}]}`, nil)
	o.must(t, http.MethodPost, "/workflows", `{"slug":"clerk","name":"Clerk","prompt":"File it.","model":"clerk",
		"provider":"openai_compatible","scope":"full_access","dry_run":false,"report":"message","max_cost_usd":"5.00"}`, nil)
	o.rows, err = pg.Values[string](t.Context(), o.db, `select short_id from transaction order by provider_id`)
	if err != nil || len(o.rows) != rowsARound*rounds {
		t.Fatalf("%d transactions, %v", len(o.rows), err)
	}
	return o
}

func (o *office) must(t *testing.T, method, path, body string, into any) {
	t.Helper()
	status, answer, err := o.send(t.Context(), method, path, body)
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil || status >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s %v", method, path, status, answer, err)
	}
}

// play is the model. It gives the same answer to the same request, which is needed to show that
// nothing happens twice.
func (o *office) play(r models.Request) models.Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := r.Sheet(); ok {
		o.asked++
		return o.stalled(o.asked-1, decideSheet(s))
	}
	type args = map[string]any
	mine := o.rows[rowsARound*o.round:][:rowsARound]
	var a models.Answer
	switch r.Turn() {
	case 0:
		a = models.Use("query_transactions", args{"limit": 5})
	case 1:
		a = models.Use("update_transactions", args{
			"transaction_ids": mine, "set": args{"category": "health_dental", "note": "because"},
		}).Use("add_transaction_comment", args{"transaction_id": mine[0], "content": "Filed."})
	case 2:
		a = models.Use("create_transaction_rule", args{"rules": []any{args{
			"name":       fmt.Sprint("rule of round ", o.round),
			"conditions": args{"field": "name", "op": "contains", "value": "shop"}, "category_slug": "health_dental",
		}}})
	case 3:
		a = models.Use("apply_rules", args{"dry_run": true, "wait_seconds": 5})
	default:
		a = models.Say("Everything is filed.")
	}
	return o.stalled(r.Turn(), a)
}

// stalled returns an answer that never ends or stops in the middle, if the test wants that for the
// turn.
func (o *office) stalled(turn int, a models.Answer) models.Answer {
	if o.stall == "" || turn != o.turn {
		return a
	}
	fault := models.Fault{Delay: time.Minute}
	if o.stall == "streaming" {
		fault = models.Fault{After: 150, End: models.Hang}
	}
	o.stall = ""
	close(o.ready)
	return a.With(fault)
}

// aim tells the server where to stop.
func (o *office) aim(point string, pass int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready, o.asked = make(chan struct{}), 0
	if point == "asking" || point == "streaming" {
		o.stall, o.turn = point, pass-1
		return nil
	}
	return os.WriteFile(o.file, []byte(fmt.Sprint(point, " ", pass)), 0o600)
}

// reached waits until the run has stopped at the point.
func (o *office) reached(ctx context.Context, point string) error {
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		select {
		case <-o.ready:
			if point == "streaming" {
				time.Sleep(50 * time.Millisecond) // until the first bytes are there
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(3 * time.Millisecond):
			if os.Remove(o.file+".reached") == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("no run reached the point %s", point)
}
