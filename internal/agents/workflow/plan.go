package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// MaxPlan is the maximum number of entries and calls of a plan. It is more than a person reads, and
// few enough to apply to the books before every call.
const MaxPlan = 5000

// The states of a plan.
const (
	planNone    = "none"
	planWaiting = "waiting"
	planApplied = "applied"
	planDropped = "dropped"
)

// The states of an entry of a plan.
const (
	entryApplied  = "applied"
	entrySkipped  = "skipped"
	entryExcepted = "excepted"
)

// A Plan is the list of changes that a run proposes.
type Plan struct {
	Entries []journal.Planned // in the order of planning
	Calls   []PlannedCall
	tools   map[int64]string // by the number of the entry
}

// A PlannedCall is a call that is made when a person applies the plan, because it starts a job.
type PlannedCall struct {
	Seq       int64
	Tool      string
	Arguments map[string]any
	Found     *int64 // how many transactions its dry run found
}

type planRow struct {
	Seq          int64           `db:"seq"`
	Tool         string          `db:"tool"`
	Subject      *string         `db:"subject"` // null: a call
	SubjectID    *id.ID          `db:"subject_id"`
	Field        *string         `db:"field"`
	Ref          *id.ID          `db:"ref"`
	Before       *string         `db:"before"`
	After        *string         `db:"after"`
	BeforeSource *string         `db:"before_source"`
	AfterSource  *string         `db:"after_source"`
	RuleID       *id.ID          `db:"rule_id"`
	Note         *string         `db:"note"`
	Step         int             `db:"step"`
	Seen         *int64          `db:"seen"`
	Row          json.RawMessage `db:"row"`
	Arguments    json.RawMessage `db:"arguments"`
	Found        *int64          `db:"found"`
}

// Plan returns the plan of a run.
func (s *Store) Plan(ctx context.Context, q pg.Querier, run id.ID) (Plan, error) {
	rows, err := pg.All[planRow](ctx, q, `
		select seq, tool, subject, subject_id, field, ref, before, after, before_source, after_source,
			rule_id, note, seen, row, step, arguments, found
		from workflow_plan where run_id = $1 order by seq`, run)
	out := Plan{tools: map[int64]string{}}
	for _, r := range rows {
		out.tools[r.Seq] = r.Tool
		if r.Subject == nil {
			c := PlannedCall{Seq: r.Seq, Tool: r.Tool, Found: r.Found}
			if err := json.Unmarshal(r.Arguments, &c.Arguments); err != nil {
				return Plan{}, fmt.Errorf("read a planned call: %w", err)
			}
			out.Calls = append(out.Calls, c)
			continue
		}
		out.Entries = append(out.Entries, journal.Planned{
			Entry: journal.Entry{
				ID: r.Seq, Subject: *r.Subject, SubjectID: *r.SubjectID, Field: *r.Field, Ref: r.Ref,
				Before: r.Before, After: r.After, BeforeSource: r.BeforeSource, AfterSource: r.AfterSource,
				RuleID: r.RuleID, Note: r.Note,
			}, Step: r.Step, Seen: r.Seen, Row: r.Row,
		})
	}
	return out, err
}

// AddPlan adds the effects of a call to the plan of a run. The plan then waits for a person, even
// if the run fails later.
func (s *Store) AddPlan(ctx context.Context, tx pg.Tx, run id.ID, tool string, entries []journal.Planned,
	calls []PlannedCall,
) error {
	if len(entries)+len(calls) == 0 {
		return nil
	}
	type row struct {
		journal.Planned
		Tool      string          `json:"tool"`
		Subject   *string         `json:"subject"`
		SubjectID *id.ID          `json:"subject_id"`
		Field     *string         `json:"field"`
		Arguments *map[string]any `json:"arguments"` // null in an entry
		Found     *int64          `json:"found"`
	}
	list := make([]row, 0, len(entries)+len(calls))
	for _, e := range entries {
		list = append(list, row{Planned: e, Tool: tool, Subject: &e.Subject, SubjectID: &e.SubjectID, Field: &e.Field})
	}
	for _, c := range calls {
		if c.Arguments == nil {
			c.Arguments = map[string]any{}
		}
		list = append(list, row{Tool: c.Tool, Arguments: &c.Arguments, Found: c.Found})
	}
	printed, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("print a plan: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `
		insert into workflow_plan (run_id, seq, tool, subject, subject_id, field, ref, before, after, before_source,
			after_source, rule_id, note, seen, row, step, arguments, found)
		select $1, (select coalesce(max(seq), 0) from workflow_plan where run_id = $1) + n, tool, subject, subject_id,
			field, ref, before, after, before_source, after_source, rule_id, note, seen, nullif(row, 'null'::jsonb),
			step, nullif(arguments, 'null'::jsonb), found
		from rows from (jsonb_to_recordset($2::text::jsonb) as (tool text, subject text, subject_id uuid, field text,
			ref uuid, before text, after text, before_source text, after_source text, rule_id uuid, note text,
			seen bigint, row jsonb, step integer, arguments jsonb, found bigint)) with ordinality v (tool, subject,
			subject_id, field, ref, before, after, before_source, after_source, rule_id, note, seen, row, step,
			arguments, found, n)`, run, string(printed))
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `update workflow_run set plan_state = $2 where id = $1`, run, planWaiting)
	return err
}

// PlanRef is the request for a page of a run's plan.
type PlanRef struct {
	ID     string `json:"id" minLength:"1" doc:"The run's UUID or short id"`
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"100" doc:"Page size"`
}

// A PlanItem is one field that a plan would change, or one call that it would make.
type PlanItem struct {
	Seq           int64                     `json:"seq" doc:"Its number in the plan, for except"`
	Tool          string                    `json:"tool" doc:"The tool that the run called"`
	Subject       string                    `json:"subject" enum:"transaction,rule,tag,category,counterparty,account,account_link,report,target,pattern,call" doc:"call: a call that is made after the other items are applied"`
	SubjectID     *id.ID                    `json:"subject_id" doc:"null for a call"`
	TransactionID *id.ID                    `json:"transaction_id" doc:"null if the subject is not a transaction"`
	Transaction   *journal.EntryTransaction `json:"transaction" doc:"null if the subject is not a transaction"`
	Field         string                    `json:"field" doc:"record: the whole record; empty for a call"`
	Category      *string                   `json:"category" doc:"For a transaction: slug of the category it has once the plan is applied, the planned one or else its current one; null if it has none"`
	Before        *text.Untrusted           `json:"before" doc:"Untrusted: slug of a category or tag, name of a counterparty, or the changed parts of a record"`
	After         *text.Untrusted           `json:"after" doc:"Untrusted, like before"`
	Note          *text.Untrusted           `json:"note" doc:"Untrusted: the run's reason"`
	Record        json.RawMessage           `json:"record" object:"any" doc:"Untrusted: the whole record that would be created or changed to; null for other items"`
	Arguments     json.RawMessage           `json:"arguments" object:"any" doc:"For a call; null for other items"`
	Found         *int64                    `json:"found" doc:"For a call: number of transactions in its dry run; null if unknown"`
}

// A PlanTotal is how much a plan would move to a category, in one currency.
type PlanTotal struct {
	Category     string         `json:"category" db:"category" doc:"Slug; empty for none"`
	Currency     money.Currency `json:"iso_currency_code" db:"currency"`
	Transactions int64          `json:"transactions" db:"transactions"`
	Amount       money.Total    `json:"amount" db:"amount" doc:"Positive is money out"`
}

// A PlanPage is a page of a run's plan.
type PlanPage struct {
	RunID        id.ID       `json:"run_id"`
	State        string      `json:"state" enum:"none,waiting,applied,dropped" doc:"waiting: a person must apply or drop it"`
	Items        []PlanItem  `json:"items"`
	Entries      int         `json:"entries" doc:"Number of fields to change"`
	Transactions int         `json:"transactions" doc:"Number of transactions to change"`
	Calls        int         `json:"calls"`
	Totals       []PlanTotal `json:"totals" doc:"Transactions by the category that they would have, and currency"`
	NextCursor   string      `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool        `json:"has_more"`
}

// Show returns a page of a run's plan. Each field occurs once, with its current and its planned
// value.
func (p *Plans) Show(ctx context.Context, q pg.Querier, in PlanRef) (PlanPage, error) {
	run, err := pg.One[plannedRun](ctx, q, plannedRuns, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return PlanPage{}, noPlan(err)
	}
	out := PlanPage{RunID: run.ID, State: run.PlanState, Items: []PlanItem{}, Totals: []PlanTotal{}}
	plan, err := p.store.Plan(ctx, q, run.ID)
	if err != nil {
		return PlanPage{}, err
	}
	net := journal.Net(plan.Entries)
	out.Entries, out.Calls, out.Transactions = len(net), len(plan.Calls), journal.Touched(entriesIn(net))
	pager, err := p.db.Pager(ctx, "plan", run.ID)
	if err != nil {
		return PlanPage{}, err
	}
	after := int64(0)
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 1)
		if err != nil {
			return PlanPage{}, err
		}
		if after, err = strconv.ParseInt(at[0], 10, 64); err != nil {
			return PlanPage{}, fmt.Errorf("read a cursor: %w", err)
		}
	}
	var page []journal.Planned
	var calls []PlannedCall
	for _, e := range net {
		if e.ID > after && len(page) <= in.Limit {
			page = append(page, e)
		}
	}
	for _, c := range plan.Calls {
		if callSeq(c) > after && len(page)+len(calls) <= in.Limit {
			calls = append(calls, c)
		}
	}
	if len(page)+len(calls) > in.Limit {
		out.HasMore = true
		if len(calls) > 0 {
			calls = calls[:len(calls)-1]
		} else {
			page = page[:len(page)-1]
		}
	}
	if out.Items, err = p.items(ctx, q, plan, page, calls); err != nil {
		return PlanPage{}, err
	}
	if err := file(ctx, q, out.Items, net, plan.categories()); err != nil {
		return PlanPage{}, err
	}
	if out.HasMore {
		last := out.Items[len(out.Items)-1]
		at := last.Seq
		if last.Subject == subjectCall {
			at += afterEntries
		}
		if out.NextCursor, err = pager.Encode(strconv.FormatInt(at, 10)); err != nil {
			return PlanPage{}, err
		}
	}
	out.Totals, err = p.totals(ctx, q, net, plan)
	return out, err
}

const (
	subjectCall = "call"
	// afterEntries puts calls after all entries in a list, because they are made after them.
	afterEntries = 1 << 32
)

func callSeq(c PlannedCall) int64 { return c.Seq + afterEntries }

func entriesIn(plan []journal.Planned) []journal.Entry {
	out := make([]journal.Entry, len(plan))
	for i, p := range plan {
		out[i] = p.Entry
	}
	return out
}

// items returns entries and calls in the form that a person reads.
func (p *Plans) items(ctx context.Context, q pg.Querier, plan Plan, page []journal.Planned, calls []PlannedCall) (
	[]PlanItem, error,
) {
	out := make([]PlanItem, 0, len(page)+len(calls))
	shown, err := journal.Show(ctx, q, page, plan.Entries)
	if err != nil {
		return nil, err
	}
	for i, e := range shown {
		item := PlanItem{
			Seq: page[i].ID, Tool: plan.tools[page[i].ID], Subject: e.Subject, SubjectID: &e.ID,
			Transaction: e.Transaction, Field: e.Field, Before: e.Before, After: e.After,
		}
		if e.Subject == journal.Transaction {
			item.TransactionID = &e.ID
		}
		if n := page[i].Note; n != nil {
			item.Note = new(text.Prose(*n, maxNote))
		}
		if e.Field == journal.FieldRecord && page[i].After != nil {
			item.Record = json.RawMessage(*page[i].After)
		}
		out = append(out, item)
	}
	for _, c := range calls {
		printed, err := json.Marshal(c.Arguments)
		if err != nil {
			return nil, fmt.Errorf("print a planned call: %w", err)
		}
		out = append(out, PlanItem{
			Seq: c.Seq, Tool: c.Tool, Subject: subjectCall, Arguments: json.RawMessage(printed), Found: c.Found,
		})
	}
	return out, nil
}

const maxNote = 1000

// file sets each item's category to the one that its transaction has after the plan is applied. A
// plan that only approves an existing category has no entry for it, but a person must still see
// what they approve.
func file(ctx context.Context, q pg.Querier, items []PlanItem, net []journal.Planned, planned map[string]string,
) error {
	moves := map[id.ID]*string{} // the new category; nil means none
	for _, e := range net {
		if e.Subject == journal.Transaction && e.Field == journal.FieldCategory {
			moves[e.SubjectID] = e.After
		}
	}
	var ids []id.ID
	var moved []bool
	var to, slugs []string
	for _, i := range items {
		if i.TransactionID == nil {
			continue
		}
		after, move := moves[*i.TransactionID]
		category := ""
		if after != nil {
			category = *after
		}
		ids, moved = append(ids, *i.TransactionID), append(moved, move)
		to, slugs = append(to, category), append(slugs, planned[category])
	}
	if len(ids) == 0 {
		return nil
	}
	type row struct {
		ID       id.ID   `db:"id"`
		Category *string `db:"category"`
	}
	rows, err := pg.All[row](ctx, q, `
		select distinct t.id, coalesce(c.slug, nullif(v.slug, '')) as category
		from unnest($1::uuid[], $2::boolean[], $3::text[], $4::text[]) v (id, moved, category, slug)
			join transaction t on t.id = v.id
			left join category c on c.id = case when v.moved then nullif(v.category, '')::uuid else t.category_id end`,
		ids, moved, to, slugs)
	if err != nil {
		return err
	}
	filed := map[id.ID]*string{}
	for _, r := range rows {
		filed[r.ID] = r.Category
	}
	for i := range items {
		if of := items[i].TransactionID; of != nil {
			items[i].Category = filed[*of]
		}
	}
	return nil
}

// categories returns the slugs of the categories that the plan creates, by id.
func (p Plan) categories() map[string]string {
	planned := map[string]string{}
	for _, e := range p.Entries {
		var record struct {
			Slug string `json:"slug"`
		}
		if e.Subject == journal.Category && e.Field == journal.FieldRecord && e.After != nil &&
			json.Unmarshal([]byte(*e.After), &record) == nil {
			planned[e.SubjectID.String()] = record.Slug
		}
	}
	return planned
}

// totals adds up what a plan would categorize, by category and currency.
func (p *Plans) totals(ctx context.Context, q pg.Querier, net []journal.Planned, plan Plan) ([]PlanTotal, error) {
	planned := plan.categories()
	var ids []id.ID
	var slugs, categories []string
	for _, e := range net {
		if e.Subject != journal.Transaction || e.Field != journal.FieldCategory {
			continue
		}
		to := ""
		if e.After != nil {
			to = *e.After
		}
		ids, categories, slugs = append(ids, e.SubjectID), append(categories, to), append(slugs, planned[to])
	}
	if len(ids) == 0 {
		return []PlanTotal{}, nil
	}
	return pg.All[PlanTotal](ctx, q, `
		select coalesce(c.slug, v.slug) as category, t.currency as currency, count(*) as transactions,
			sum(t.amount) as amount
		from unnest($1::uuid[], $2::text[], $3::text[]) v (id, category, slug) join transaction t on t.id = v.id
			left join category c on c.id = nullif(v.category, '')::uuid
		group by 1, 2 order by 3 desc, 1, 2 limit 200`, ids, categories, slugs)
}
