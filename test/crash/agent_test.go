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
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// pointFile is the variable with the name of a file. There the server reads at which point of a run
// to stop, and after how many passes.
const pointFile = "TEST_POINT_FILE"

// stopping makes a server stop at a point of a run and report it, so that the kill happens exactly
// there.
var stopping = apptest.Mutant{
	File: "internal/agents/run/point.go",
	Old:  `func at(_ string) {}`,
	New: `import (
	"fmt"
	"os"
)

func at(point string) {
	file := os.Getenv("` + pointFile + `")
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	var where string
	var passes int
	if _, err := fmt.Sscan(string(text), &where, &passes); err != nil || where != point {
		return
	}
	if passes > 1 {
		if err := os.WriteFile(file, []byte(fmt.Sprint(where, " ", passes-1)), 0o600); err != nil {
			panic(err)
		}
		return
	}
	if err := os.Rename(file, file+".reached"); err != nil {
		panic(err)
	}
	select {}
}
`,
}

// A moment is the point at which a run is killed. The last two are in the model server: before its
// answer and within it.
type moment struct {
	point  string
	passes int  // how often a run passes the point
	lost   bool // a model call is under way
	sent   bool // and the model server has received it
}

var moments = []moment{
	{"started", 1, false, false},
	{"said", 1, false, false},
	{"reserved", 5, true, false},
	{"answered", 5, true, true},
	{"settled", 5, false, false},
	{"called", 4, false, false},
	{"committed", 5, false, false},
	{"rehearsed", 1, false, false},
	{"awaited", 1, false, false},
	{"ending", 1, false, false},
	{"ended", 1, false, false},
	{"asking", 5, true, true},
	{"streaming", 5, true, true},
}

// strike starts a run of a workflow, kills its server at a point, starts it again, and waits for
// the run's end. It returns how long it took until a worker continued the run.
func (o *office) strike(ctx context.Context, slug, point string, pass int) (run id.ID, resumed time.Duration,
	err error,
) {
	if err := o.aim(point, pass); err != nil {
		return run, 0, err
	}
	status, answer, err := o.send(ctx, http.MethodPost, "/workflows/"+slug+"/run", "")
	var queued struct {
		ID id.ID `json:"id"`
	}
	if err != nil || status >= http.StatusBadRequest || json.Unmarshal(answer, &queued) != nil {
		return run, 0, fmt.Errorf("run: %d %s %w", status, answer, err)
	}
	run = queued.ID
	if err := o.reached(ctx, point); err != nil {
		return run, 0, err
	}
	if err := o.server.Kill(); err != nil {
		return run, 0, err
	}
	was, err := pg.One[cut](ctx, o.db, `select id, attempt from job where id = $1`, run)
	if err != nil {
		return run, 0, err
	}
	restarted := time.Now()
	if err := o.server.Again(ctx); err != nil {
		return run, 0, err
	}
	for time.Since(restarted) < 2*time.Minute {
		type now struct {
			On    bool `db:"on_it"`
			Ended bool `db:"ended"`
		}
		j, err := pg.One[now](ctx, o.db, `select attempt > $2 and losses = 0 as on_it,
			state not in ('queued', 'running') as ended from job where id = $1`, run, was.Attempt)
		if err != nil {
			return run, 0, err
		}
		if resumed == 0 && (j.On || j.Ended) {
			resumed = time.Since(restarted)
		}
		if j.Ended {
			return run, resumed, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return run, 0, fmt.Errorf("the run that was killed at %s does not end", point)
}

// A figure is a number that a query returns. A query that names $1 is about the run.
type figure struct {
	what string
	want int64
	sql  string
}

// always are figures of every run that has ended.
var always = []figure{
	{"jobs under way", 0, `select count(*) from job where state in ('queued', 'running')`},
	{"missing lines", 0, `select max(seq) - count(*) from workflow_line where run_id = $1`},
	{"micros that the run does not count", 0, `select (select sum(cost_micros) from model_call
		where run_id = $1)::bigint - cost_micros from workflow_run where id = $1`},
	{"micros that the month does not count", 0, `select ((select sum(cost_micros) from model_call)
		- sum(spent_micros) + sum(reserved_micros))::bigint from model_month`},
}

const (
	resumptions = `select count(*) from workflow_line where run_id = $1 and kind = 'note'
		and body ->> 'text' = 'The run was resumed.'`
	lostCalls = `select count(*) from model_call where run_id = $1 and state = 'lost'
		and cost_micros = reserved_micros and cost_micros > 0`
)

// counted adds a fault to wrong for each figure that is not as expected.
func (o *office) counted(ctx context.Context, run id.ID, wrong []string, figures []figure) ([]string, error) {
	for _, f := range slices.Concat(always, figures) {
		var args []any
		if strings.Contains(f.sql, "$1") {
			args = []any{run}
		}
		got, err := pg.Value[int64](ctx, o.db, f.sql, args...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.what, err)
		}
		if got != f.want {
			wrong = append(wrong, fmt.Sprintf("%d %s, not %d", got, f.what, f.want))
		}
	}
	return wrong, nil
}

// check lists the faults of a run that was killed once and has ended.
func (o *office) check(ctx context.Context, run id.ID, m moment, seen int) (wrong []string, err error) {
	lost, sent, resumed := 0, 5, 1
	if m.lost {
		lost = 1
	}
	if m.sent {
		sent = 6
	}
	if m.point == "ended" {
		resumed = 0
	}
	if seen != sent {
		wrong = append(wrong, fmt.Sprintf("the model was asked %d times, not %d", seen, sent))
	}
	mine := o.rows[rowsARound*o.round:][:rowsARound]
	wrong, err = o.counted(ctx, run, wrong, []figure{
		{"runs", int64(o.round + 1), `select count(*) from workflow_run`},
		{"well ended runs", 1, `select count(*) from workflow_run r join job j on j.id = r.id where r.id = $1
			and r.status = 'succeeded' and j.state = 'succeeded' and r.turns = 5 and r.report_id is not null
			and r.limit_name is null and r.error_code is null and r.plan_state = 'waiting'
			and r.finished_at is not null`},
		{"beginnings", 1, `select count(*) from workflow_line where run_id = $1 and kind = 'system'`},
		{"answers", 5, `select count(*) from workflow_line where run_id = $1 and kind = 'assistant'`},
		{"lines of tool calls", 5, `select count(*) from workflow_line where run_id = $1 and kind = 'tool_call'`},
		{"calls with a result", 5, `select count(distinct body ->> 'call') from workflow_line where run_id = $1
			and kind = 'tool_result'`},
		{"results that are errors", 0, `select count(*) from workflow_line where run_id = $1
			and kind = 'tool_result' and (body ->> 'is_error')::boolean`},
		{"ends", 1, `select count(*) from workflow_line where run_id = $1 and kind = 'end'`},
		{"notes of a resumption", int64(resumed), resumptions},
		{"changes of transactions", 2, `select count(distinct c.id) from change c join entry e on e.change_id = c.id
			where c.actor_id = $1 and e.subject = 'transaction'`},
		{"written categories", rowsARound, `select count(*) from entry e join change c on c.id = e.change_id
			where c.actor_id = $1 and e.field = 'category'`},
		{"comments", 1, `select count(*) from comment where author_id = $1 and deleted_at is null`},
		{"reports", 1, `select count(*) from report where author_id = $1`},
		{"planned entries", 1, `select count(*) from workflow_plan where run_id = $1 and subject = 'rule'`},
		{"rules", 0, `select count(*) from rule where name like 'rule of round%'`},
		{"answered calls", 5, `select count(*) from model_call where run_id = $1 and state = 'answered'`},
		{"lost calls", int64(lost), lostCalls},
		{"calls", int64(5 + lost), `select count(*) from model_call where run_id = $1`},
	})
	if err != nil {
		return nil, err
	}
	filed, err := pg.Value[int](ctx, o.db, `select count(*) from transaction t join category c on c.id = t.category_id
		where c.slug = 'health_dental' and t.category_source = 'agent' and t.short_id = any($1)`, mine)
	if err == nil && filed != rowsARound {
		wrong = append(wrong, fmt.Sprintf("%d of %d transactions have a category", filed, rowsARound))
	}
	return wrong, err
}

// books returns the meaning of the household's data.
func (o *office) books(ctx context.Context) (string, error) {
	return ledgertest.Canonical(ctx, o.db, nil, "")
}

// work is one round: a run that is killed, and checked.
func (o *office) work(ctx context.Context, m moment, pass int) (run id.ID, resumed time.Duration, wrong []string,
	err error,
) {
	before := o.sim.Count()
	if run, resumed, err = o.strike(ctx, "clerk", m.point, pass); err != nil {
		return run, resumed, nil, err
	}
	if wrong, err = o.check(ctx, run, m, o.sim.Count()-before); err != nil {
		return run, resumed, nil, err
	}
	o.mu.Lock()
	o.round++
	o.mu.Unlock()
	return run, resumed, wrong, nil
}

const offices = 10 // at the same time: a round mostly waits until a dead worker's lease has expired

func roundsOfOffices() int {
	if long() {
		return 20
	}
	return 3
}

// Servers are killed with -9 at every point of runs. Each run continues where it stopped: nothing
// is written twice or missing, every model call is counted, and one revert a run restores the
// books.
func TestKilledRunsGoOn(t *testing.T) {
	t.Parallel()
	program := apptest.Program(t, stopping)
	began := time.Now()
	var mu sync.Mutex
	var resumes []time.Duration
	hits := map[string]int{}
	var all sync.WaitGroup
	for n := range offices {
		o := newOffice(t, program, roundsOfOffices())
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), uint64(began.UnixNano())))
			books, err := o.books(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			var runs []id.ID
			for round := range roundsOfOffices() {
				m := moments[(n+round*offices)%len(moments)]
				pass := 1 + dice.IntN(m.passes)
				run, resumed, wrong, err := o.work(t.Context(), m, pass)
				if err != nil {
					t.Errorf("killed at %s %d: %v", m.point, pass, err)
					return
				}
				for _, w := range wrong {
					t.Errorf("killed at %s %d: %s", m.point, pass, w)
				}
				runs = append(runs, run)
				mu.Lock()
				resumes = append(resumes, resumed)
				hits[m.point]++
				mu.Unlock()
			}
			for _, run := range slices.Backward(runs) {
				status, answer, err := o.send(t.Context(), http.MethodPost, "/workflow-runs/"+run.String()+"/revert", `{}`)
				if err != nil || status != http.StatusOK {
					t.Errorf("revert: %d %s %v", status, answer, err)
				}
			}
			if got, err := o.books(t.Context()); err != nil || got != books {
				t.Errorf("reverting the runs did not restore the books: %v", err)
			}
			for round := range roundsOfSheets() {
				m := sheetMoments[(n+round)%len(sheetMoments)]
				resumed, wrong, err := o.workSheets(t, m, 1+dice.IntN(m.passes), round)
				if err != nil {
					t.Errorf("sheets killed at %s: %v", m.point, err)
					return
				}
				for _, w := range wrong {
					t.Errorf("sheets killed at %s: %s", m.point, w)
				}
				if got, err := o.books(t.Context()); err != nil || got != books {
					t.Errorf("reverting a run of sheets that was killed at %s did not restore the books: %v", m.point, err)
				}
				mu.Lock()
				resumes = append(resumes, resumed)
				hits["sheets "+m.point]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	if len(resumes) != offices*(roundsOfOffices()+roundsOfSheets()) || len(hits) != len(moments)+len(sheetMoments) {
		t.Fatalf("%d kills at %v", len(resumes), hits)
	}
	slices.Sort(resumes)
	if median, most := resumes[len(resumes)/2], resumes[len(resumes)-1]; median > 2*resumeGoal || most > 6*resumeGoal {
		t.Errorf("runs resumed after %v at the median and %v at most", median, most)
	}
	t.Logf("%d kills in %.0f s; resumed after %v at the median, %v at most; %v", len(resumes),
		time.Since(began).Seconds(), resumes[len(resumes)/2].Round(time.Millisecond),
		resumes[len(resumes)-1].Round(time.Millisecond), hits)
}

// apart commits the effect of a call and its lines in two transactions.
var apart = apptest.Mutant{
	File: "internal/agents/run/step.go",
	Old: `		return r.lines(ctx, tx, c, outs, say, next, began)
	})
	if err != nil {
		return err
	}
`,
	New: `		return say, nil
	})
	if err != nil {
		return err
	}
	at("apart")
	err = r.batch(ctx, job.Step{}, func(ctx context.Context, tx pg.Tx) ([]workflow.Say, error) {
		return r.lines(ctx, tx, c, outs, nil, next, began)
	})
	if err != nil {
		return err
	}
`,
}

// If calls were committed before their lines, a run that is killed in between would repeat them.
// The same check notices that.
func TestKilledRunsControl(t *testing.T) {
	t.Parallel()
	o := newOffice(t, apptest.Program(t, stopping, apart), 1)
	_, _, wrong, err := o.work(t.Context(), moment{point: "apart"}, 3) // the comment
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(wrong, "2 comments, not 1") {
		t.Fatalf("a comment was written twice on purpose, and nobody saw it: %v", wrong)
	}
	t.Log(wrong)
}
