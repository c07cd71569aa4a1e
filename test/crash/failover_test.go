package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/models"
	"github.com/jackc/pgx/v5"
)

// failoverPatience is how long anybody waits for the first write after a standby was promoted. On
// an idle machine none waits longer than 15 s.
const failoverPatience = 60 * time.Second

func failovers() int {
	if long() {
		return 20
	}
	return 2
}

const fileRows = 400 // of the file that is imported during each failover

// A pair is a primary and its standby. They change places.
type pair struct{ primary, standby *pgtest.Cluster }

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{primary: pgtest.NewCluster(t)}
	admin, err := pgx.Connect(t.Context(), p.primary.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "create database coffer"); err != nil {
		t.Fatal(err)
	}
	_ = admin.Close(t.Context()) // the first crash would close it
	p.standby = pgtest.NewStandby(t, p.primary)
	return p
}

func (p *pair) url() string { return pgtest.PairURL(p.primary, p.standby, "coffer") }

// fail stops the primary at once and promotes the standby.
func (p *pair) fail() error {
	if err := p.primary.Crash(); err != nil {
		return err
	}
	if err := p.standby.Promote(); err != nil {
		return err
	}
	p.primary, p.standby = p.standby, p.primary
	return nil
}

// heal makes the server that failed the standby of the other.
func (p *pair) heal(ctx context.Context) error {
	if err := p.standby.Follow(p.primary); err != nil {
		return err
	}
	return p.primary.Synchronize(ctx)
}

// clerk is a model that comments the first transaction of the file and ends.
func clerk(transaction func() string) models.Script {
	return func(r models.Request) models.Answer {
		a := models.Say("Everything is filed.")
		switch r.Turn() {
		case 0:
			a = models.Use("query_transactions", map[string]any{"limit": 5})
		case 1:
			a = models.Use("add_transaction_comment", map[string]any{"transaction_id": transaction(), "content": "Filed."})
		}
		return a.With(models.Fault{Delay: 300 * time.Millisecond})
	}
}

// until sends a request again and again until it is acknowledged, or made nothing because it was
// made already.
func (d *diligent) until(ctx context.Context, h *house, path, body string, headers ...string) []byte {
	for ctx.Err() == nil {
		status, answer, err := h.send(ctx, http.MethodPost, path, body, headers...)
		retry := again(status, answer)
		if err == nil && (status < http.StatusMultipleChoices || status == http.StatusConflict && !retry) {
			return answer
		}
		if err == nil && !retry {
			d.strange.CompareAndSwap(nil, new(fmt.Sprintf("%s: %d %s", path, status, answer)))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func (d *diligent) lost(ctx context.Context, h *house) (lost []string, err error) {
	var stored []string
	for range 50 { // connections that led to the old primary are used up, each with an error
		if stored, err = pg.Values[string](ctx, h.db, `select slug from tag where slug like 'crash-%'
			order by slug collate "C"`); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	for _, slug := range d.acked {
		if _, ok := slices.BinarySearch(stored, slug); !ok {
			lost = append(lost, slug)
		}
	}
	return lost, nil
}

// The primary is stopped at once and its standby promoted, again and again, in the middle of
// writes, syncs, imports and runs of a workflow. The server lives on and finds the new primary by
// itself; nothing that it acknowledged is lost or there twice, and all jobs end.
func TestFailoverLosesNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := newPair(t)
	w := newTown(t, 2500, 20*time.Millisecond)
	var row string
	sim, err := models.New(models.Options{Script: clerk(func() string { return row })})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	w.settings = append(w.settings, "COFFER_OPENAI_URL="+sim.Base(models.OpenAI))
	h := w.newHouse(t, apptest.Program(t), p.url())
	var d diligent
	file := func(n int) string {
		var text strings.Builder
		text.WriteString("Date,Description,Amount,Transaction ID\n")
		for i := range fileRows {
			fmt.Fprintf(&text, "2026-01-%02d,SHOP %d %d,-%d.50,f%03d-%06d\n", 1+i%28, n, i, 1+i, n, i)
		}
		body, err := json.Marshal(map[string]any{
			"account": map[string]any{"name": "Paper", "iso_currency_code": "EUR"}, "csv": text.String(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	var paper struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(d.until(t.Context(), h, "/connections",
		`{"provider":"csv","institution_name":"Paper Bank"}`), &paper); err != nil {
		t.Fatal(err)
	}
	load := "/connections/" + paper.ID + "/csv/import"
	d.until(t.Context(), h, load, file(0), "Idempotency-Key", "file-0")
	h.untilIdle(t)
	if row, err = pg.Value[string](t.Context(), h.db, `select t.short_id from transaction t
		join account a on a.id = t.account_id where a.connection_id = $1::uuid limit 1`, paper.ID); err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]string{
		"/settings/models": `{"provider":"openai_compatible","prices":[{"model":"clerk","input_usd":"1","output_usd":"5"}]}`,
		"/workflows": `{"slug":"clerk","name":"Clerk","prompt":"File it.","model":"clerk","provider":"openai_compatible",
			"scope":"full_access","dry_run":false,"report":"message","max_cost_usd":"5.00"}`,
	} {
		method := http.MethodPost
		if path == "/settings/models" {
			method = http.MethodPut
		}
		if status, answer, err := h.send(t.Context(), method, path, body); err != nil || status >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s %v", path, status, answer, err)
		}
	}

	dice := rand.New(rand.NewPCG(3, uint64(began.UnixNano())))
	still := h.liveOn(rand.New(rand.NewPCG(3, 3)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	busy := h.load(ctx, &d)
	var back, since, resumed []time.Duration
	hits := 0
	for n := 1; n <= failovers(); n++ {
		if n == 1 {
			err = p.primary.Synchronize(ctx)
		} else {
			err = p.heal(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		var begun sync.WaitGroup
		begun.Go(func() { d.until(ctx, h, "/workflows/clerk/run", "") })
		hits += h.untilSync(t)
		begun.Go(func() { d.until(ctx, h, load, file(n), "Idempotency-Key", fmt.Sprint("file-", n)) })
		time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
		crashed := time.Now()
		if err := p.fail(); err != nil {
			t.Fatal(err)
		}
		promoted := time.Now()
		for d.last.Load() < promoted.UnixNano() && time.Since(promoted) < failoverPatience {
			time.Sleep(time.Millisecond)
		}
		last := time.Unix(0, d.last.Load())
		back, since = append(back, max(0, last.Sub(promoted))), append(since, max(0, last.Sub(crashed)))
		resumed = append(resumed, h.untilHeld(t, promoted))
		begun.Wait()
		h.untilIdle(t)
	}
	cancel()
	busy.Wait()
	still()
	if s := d.strange.Load(); s != nil {
		t.Errorf("while there was no primary a caller got: %s", *s)
	}
	if status, _, err := h.send(t.Context(), http.MethodGet, "/health/ready", ""); !h.server.Alive() || err != nil ||
		status != http.StatusOK || len(h.server.Starting) != 1 {
		t.Errorf("the server did not live on: %d %v", status, err)
	}
	h.settle(t)
	rows, wrong := h.check(t)
	for _, text := range wrong {
		t.Error(text)
	}
	for what, sql := range map[string]string{
		"runs that did not succeed": `select count(*) from workflow_run r join job j on j.id = r.id
			where r.status <> 'succeeded' or j.state <> 'succeeded'`,
		"runs that did not comment once": `select count(*) from workflow_run r
			where 1 <> (select count(*) from comment c where c.author_id = r.id and c.deleted_at is null)`,
		"missing lines of runs": `select coalesce(sum(missing), 0)::bigint from (select max(seq) - count(*) as missing
			from workflow_line group by run_id) x`,
		"rows of files too many or too few": fmt.Sprintf(`select abs(count(*) - %d) from transaction t
			join account a on a.id = t.account_id where a.connection_id = '%s' and t.deleted_at is null`,
			fileRows*(failovers()+1), paper.ID),
		"jobs that failed": `select count(*) from job where state = 'failed' and kind <> 'feed.sync'`,
	} {
		n, err := pg.Value[int64](t.Context(), h.db, sql)
		if err != nil {
			t.Fatal(what, err)
		}
		if n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	runs, err := pg.Value[int](t.Context(), h.db, `select count(*) from workflow_run`)
	if err != nil || runs == 0 {
		t.Errorf("%d runs, %v", runs, err)
	}
	lost, err := d.lost(t.Context(), h)
	if err != nil || len(lost) > 0 {
		t.Errorf("%d acknowledged writes are lost: %.200v %v", len(lost), lost, err)
	}
	most := slices.Max(back)
	if most > failoverPatience {
		t.Errorf("no write for %v", most)
	}
	for _, list := range [][]time.Duration{back, since, resumed} {
		slices.Sort(list)
	}
	t.Logf("%d failovers in %.0f s, %d in the middle of a sync; %d writes acknowledged, %d lost, %d attempts refused; "+
		"first success %v after the promotion at the median, %v at most, %v and %v after the crash; jobs went on after "+
		"%v, %v at most; %d runs, %d rows as the banks know them, %d of files",
		len(back), time.Since(began).Seconds(), hits, len(d.acked), len(lost), d.refused.Load(),
		round(back[len(back)/2]), round(most), round(since[len(since)/2]), round(slices.Max(since)),
		round(resumed[len(resumed)/2]), round(slices.Max(resumed)), runs, rows, fileRows*(failovers()+1))
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// untilHeld waits until every running job has a worker that has renewed its lease since, and
// returns how long after the promotion that was.
func (h *house) untilHeld(t *testing.T, promoted time.Time) time.Duration {
	t.Helper()
	for time.Since(promoted) < 2*time.Minute {
		n, err := pg.Value[int64](t.Context(), h.db, `select count(*) from job
			where state = 'running' and renewed_at < $1`, promoted)
		if err == nil && n == 0 {
			return time.Since(promoted)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("nobody goes on with a job")
	return time.Since(promoted)
}

// untilIdle waits for the end of imports and runs.
func (h *house) untilIdle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		n, err := pg.Value[int64](t.Context(), h.db, `select count(*) from job
			where state in ('queued', 'running') and kind <> 'feed.sync'`)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	t.Error("some jobs do not end")
}

// A primary that does not wait for its standby loses what the standby has not received, and the
// comparison sees it.
func TestFailoverControl(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	h := open(t, apptest.Program(t), p.url())
	var d diligent
	d.write(t.Context(), h, "crash-first")
	if err := p.primary.CaughtUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.standby.Crash(); err != nil { // it receives nothing more
		t.Fatal(err)
	}
	d.write(t.Context(), h, "crash-second")
	if err := p.primary.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := p.standby.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.standby.Promote(); err != nil {
		t.Fatal(err)
	}
	d.write(t.Context(), h, "crash-third")
	lost, err := d.lost(t.Context(), h)
	if err != nil || len(lost) != 1 || lost[0] != "crash-second" {
		t.Errorf("of three writes one was lost on purpose, and these were found: %v %v", lost, err)
	}
}
