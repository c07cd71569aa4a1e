package rulebook

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// A Page holds stored transactions on which rules run, in the database transaction that wrote them.
type Page struct {
	Run     id.ID   // the sync run, under which hits are counted
	Created []id.ID // transactions that are new
	Changed []id.ID // transactions that the bank changed
}

// Merge stores a page of a bank's transactions and runs the rules on them. All rules run as one
// pipeline and see each transaction once. New transactions are written only after the rules have
// run. Merge returns the entries of everything that changed, for the change that the page is part
// of, and the number of hits.
func (b *Rulebook) Merge(ctx context.Context, tx pg.Tx, run id.ID, rows []ledger.Incoming) (ledger.Merged, int64,
	error,
) {
	var seen judged
	var comments []journal.Draft
	var made []journal.Entry
	m, err := b.books.MergeJudged(ctx, tx, rows, func(ctx context.Context, tx pg.Tx,
		newRows []ledger.NewRow,
	) (edits []ledger.Edit, err error) {
		seen, err = b.judge(ctx, tx, func(p *pipeline) (look, error) { return p.lookAhead(ctx, tx, newRows) })
		if err == nil {
			edits, comments, made, err = b.effects(op.Acting(ctx, service), tx, seen)
		}
		return edits, err
	})
	if err != nil {
		return m, 0, err
	}
	commentEntries, err := journal.Write(op.Acting(ctx, service), tx, comments)
	if err != nil {
		return m, 0, err
	}
	if err := seen.count(ctx, tx, run); err != nil {
		return m, 0, err
	}
	changed, hits, err := b.Pass(ctx, tx, Page{Run: run, Changed: m.Changed})
	m.Entries = slices.Concat(made, m.Entries, commentEntries, changed)
	return m, seen.hits + hits, err
}

// Pass runs the rules on a page. All rules run as one pipeline and see each transaction once. Pass
// returns the entries of everything that changed, for the change that the page is part of, and the
// number of hits.
func (b *Rulebook) Pass(ctx context.Context, tx pg.Tx, page Page) (entries []journal.Entry, hits int64, err error) {
	if len(page.Created)+len(page.Changed) == 0 {
		return nil, 0, nil
	}
	j, err := b.judge(ctx, tx, func(p *pipeline) (look, error) { return p.look(ctx, tx, page) })
	if err != nil {
		return nil, 0, err
	}
	if entries, err = b.write(ctx, tx, j, false); err != nil {
		return nil, 0, err
	}
	return entries, j.hits, j.count(ctx, tx, page.Run)
}

// A look is the result of a pipeline for a page.
type look struct {
	verdicts []verdict // of transactions that change
	counts   []int64   // of matches, by rule
	hits     int64
}

// note adds the result of one transaction.
func (l *look) note(v verdict) {
	for _, hit := range v.outcome.Hits {
		l.counts[hit]++
		l.hits++
	}
	if v.changes() {
		l.verdicts = append(l.verdicts, v)
	}
}

// A judged is a look with its pipeline and the categories that it refers to.
type judged struct {
	look
	pipeline   *pipeline // nil without rules
	categories map[string]id.ID
}

// judge runs the rules that are enabled at this moment.
func (b *Rulebook) judge(ctx context.Context, tx pg.Tx, ask func(*pipeline) (look, error)) (judged, error) {
	p, err := b.active(ctx, tx)
	for err == nil && len(p.set.Rules()) > 0 {
		j := judged{pipeline: p}
		if j.look, err = ask(p); err != nil {
			break
		}
		var gone bool
		if j.categories, gone, err = categories(ctx, tx, j.verdicts); err != nil {
			break
		}
		if gone { // the category was just merged into another, and the merge updated the rules
			if p, err = b.active(ctx, tx); err != nil || p.version != j.pipeline.version {
				continue
			}
		}
		return j, nil
	}
	return judged{}, err
}

// look reads the page's transactions as they are stored.
func (p *pipeline) look(ctx context.Context, tx pg.Tx, page Page) (look, error) {
	out := look{counts: make([]int64, len(p.set.Rules()))}
	l, err := ruleview.New(ctx, tx, p.reads(), true)
	if err != nil {
		return out, err
	}
	for _, part := range []struct {
		ids   []id.ID
		event engine.Event
	}{{page.Created, engine.Created}, {page.Changed, engine.Changed}} {
		if len(part.ids) == 0 {
			continue
		}
		// With "= any" instead, the planner would scan a whole index for each id in a table that
		// has just begun to grow.
		err := l.Read(ctx, tx, `where t.id in (select unnest($1::uuid[])) and t.deleted_at is null and `+journal.Ruled+`
			order by t.id`, []any{part.ids}, func(s *ruleview.Stored) error {
			out.note(verdict{s.ID, p.set.Run(&s.Draft, engine.Pass{Event: part.event})})
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// lookAhead runs the rules on transactions in the form in which they will be stored.
func (p *pipeline) lookAhead(ctx context.Context, tx pg.Tx, newRows []ledger.NewRow) (look, error) {
	out := look{counts: make([]int64, len(p.set.Rules()))}
	l, err := ruleview.New(ctx, tx, p.reads(), true)
	if err != nil {
		return out, err
	}
	for _, f := range newRows {
		facts := engine.Facts{
			Name: f.Name.Plain(), MerchantName: f.MerchantName.Plain(), Detail: f.Detail.Plain(),
			Cents: f.Amount.Cents(), Currency: string(f.Currency), Pending: f.Pending,
			CategoryPrimary: f.CategoryPrimary.Plain(), CategoryDetailed: f.CategoryDetailed.Plain(),
		}
		d := l.Draft(facts, f.AccountID, f.Category, f.Date)
		if f.Written != nil {
			d.Provider, d.History = ledger.Manual, d.History || f.Written.Reviewed
		}
		out.note(verdict{f.ID, p.set.Run(d, engine.Pass{Event: engine.Created})})
	}
	return out, nil
}

// count adds a page's matches to the counts of its sync run.
func (j judged) count(ctx context.Context, tx pg.Tx, run id.ID) error {
	if j.hits == 0 {
		return nil
	}
	var rules []id.ID
	var hits []int64
	for i, r := range j.pipeline.set.Rules() {
		if j.counts[i] > 0 {
			rules, hits = append(rules, r.ID), append(hits, j.counts[i])
		}
	}
	_, err := pg.Exec(ctx, tx, `
		insert into rule_hit (rule_id, run_id, hits, hit_at)
		select v.rule_id, $2, v.hits, clock_timestamp() from unnest($1::uuid[], $3::bigint[]) v (rule_id, hits)
		on conflict (rule_id, run_id) do update set hits = rule_hit.hits + excluded.hits,
			hit_at = excluded.hit_at`, rules, run, hits)
	return err
}

// RuleHistory is the input of History.
type RuleHistory struct {
	ID     string `json:"id" minLength:"1" doc:"The rule's UUID or short id"`
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// A Hit counts how often a rule matched in one sync.
type Hit struct {
	RunID id.ID   `json:"sync_log_id" db:"run_id" doc:"The sync run"`
	Hits  int64   `json:"hits" db:"hits" doc:"Transactions it matched"`
	HitAt pg.Time `json:"hit_at" db:"hit_at"`
}

// History is a page of hits, newest first.
type History struct {
	Hits       []Hit  `json:"hits"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
}

// History returns how often a rule matched in each sync.
func (b *Rulebook) History(ctx context.Context, q pg.Querier, in RuleHistory) (History, error) {
	r, err := b.Get(ctx, q, Ref{in.ID})
	if err != nil {
		return History{}, err
	}
	pager, err := b.db.Pager(ctx, "rule history", r.ID)
	if err != nil {
		return History{}, err
	}
	at := []string{"infinity", "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	if in.Cursor != "" {
		if at, err = pager.Decode(in.Cursor, 2); err != nil {
			return History{}, err
		}
	}
	rows, err := pg.All[Hit](ctx, q, `
		select run_id, hits, hit_at from rule_hit where rule_id = $1
			and (hit_at, run_id) < ($2::text::timestamptz, $3::text::uuid)
		order by hit_at desc, run_id desc limit $4`, r.ID, at[0], at[1], in.Limit+1)
	if err != nil {
		return History{}, err
	}
	out := History{Hits: rows}
	if len(rows) > in.Limit {
		out.Hits, out.HasMore = rows[:in.Limit], true
		last := out.Hits[in.Limit-1]
		out.NextCursor, err = pager.Encode(last.HitAt.String(), last.RunID.String())
	}
	return out, err
}
