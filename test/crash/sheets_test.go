package crash

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"coffer/internal/sim/models"
)

// sheetMoments are the points at which a run that works through sheets is killed. A run has three
// sheets, so most points are passed three times. There are as many as offices.
var sheetMoments = []moment{
	{"started", 1, false, false},
	{"said", 3, false, false},
	{"reserved", 3, true, false},
	{"answered", 3, true, true},
	{"settled", 3, false, false},
	{"called", 3, false, false},
	{"committed", 3, false, false},
	{"ending", 1, false, false},
	{"ended", 1, false, false},
	{"streaming", 3, true, true},
}

const sheetsARun = 3

func roundsOfSheets() int {
	if long() {
		return 10
	}
	return 1
}

// decideSheet is sure of every row but the first.
func decideSheet(s models.Sheet) models.Answer {
	var rows []models.Decision
	for _, row := range s.Rows {
		d := models.Decision{Row: row.Row, Category: "health_dental", Note: "a dentist", Sure: true}
		if row.Row == 1 {
			d = models.Decision{Row: row.Row, Note: "cannot tell"}
		}
		rows = append(rows, d)
	}
	return s.Decide(rows...)
}

// workSheets is one round: a run over all transactions in three sheets, which is killed, checked and
// reverted.
func (o *office) workSheets(t *testing.T, m moment, pass, round int) (resumed time.Duration, wrong []string, err error) {
	t.Helper()
	ctx := t.Context()
	// A workflow does not decide a second time what it has left open, so each round has its own.
	slug := fmt.Sprintf("sheets-%d", round)
	o.must(t, http.MethodPost, "/workflows", fmt.Sprintf(`{"slug":%q,"name":"Sheets","prompt":"Decide.",
		"model":"clerk","provider":"openai_compatible","scope":"full_access","dry_run":false,"report":"server",
		"max_cost_usd":"5.00","worklist":{"filter":{"tags":["needs-review"]},"size":%d,"sets":["category","comment"]}}`,
		slug, len(o.rows)/sheetsARun), nil)
	before := o.sim.Count()
	run, resumed, err := o.strike(ctx, slug, m.point, pass)
	if err != nil {
		return resumed, nil, err
	}
	seen, lost, resumptionsWanted := sheetsARun, int64(0), int64(1)
	if m.lost {
		lost = 1
	}
	if m.sent {
		seen++
	}
	if m.point == "ended" {
		resumptionsWanted = 0
	}
	if got := o.sim.Count() - before; got != seen {
		wrong = append(wrong, fmt.Sprintf("the model was asked %d times, not %d", got, seen))
	}
	all, unsure := int64(len(o.rows)), int64(sheetsARun)
	wrong, err = o.counted(ctx, run, wrong, []figure{
		{"well ended runs", 1, `select count(*) from workflow_run r join job j on j.id = r.id where r.id = $1
			and r.status = 'succeeded' and j.state = 'succeeded' and r.turns = 3 and r.report_id is not null
			and r.limit_name is null and r.error_code is null and r.plan_state = 'none' and r.finished_at is not null`},
		{"runs of the workflow", 1, `select count(*) from workflow_run where workflow_id =
			(select workflow_id from workflow_run where id = $1)`},
		{"sheets", sheetsARun, `select count(*) from workflow_line where run_id = $1 and kind = 'system'`},
		{"answers", sheetsARun, `select count(*) from workflow_line where run_id = $1 and kind = 'assistant'`},
		{"decided sheets", sheetsARun, `select count(*) from workflow_line where run_id = $1 and kind = 'decided'`},
		{"decided rows", all, `select sum(jsonb_array_length(body -> 'rows')) from workflow_line where run_id = $1
			and kind = 'decided'`},
		{"ends", 1, `select count(*) from workflow_line where run_id = $1 and kind = 'end'`},
		{"notes of a resumption", resumptionsWanted, resumptions},
		{"written categories", all - unsure, `select count(*) from entry e join change c on c.id = e.change_id
			where c.actor_id = $1 and e.field = 'category'`},
		{"filed transactions", all - unsure, `select count(*) from transaction t join category c on c.id = t.category_id
			where c.slug = 'health_dental' and t.category_source = 'agent'`},
		{"transactions that wait", unsure, `select count(*) from transaction_tag g join tag t on t.id = g.tag_id
			where t.slug = 'needs-review' and g.present`},
		{"comments", unsure, `select count(*) from comment where author_id = $1 and deleted_at is null`},
		{"rows left open", unsure, `select left_open from workflow_run where id = $1`},
		{"rows remembered", all, `select count(*) from workflow_seen where workflow_id =
			(select workflow_id from workflow_run where id = $1)`},
		{"reports", 1, `select count(*) from report where author_id = $1`},
		{"answered calls", sheetsARun, `select count(*) from model_call where run_id = $1 and state = 'answered'`},
		{"lost calls", lost, lostCalls},
	})
	if err != nil {
		return resumed, nil, err
	}
	o.must(t, http.MethodPost, "/workflow-runs/"+run.String()+"/revert", `{}`, nil)
	return resumed, wrong, nil
}
