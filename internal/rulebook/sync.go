package rulebook

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/lens"
	"coffer/internal/pg"
	"coffer/internal/rule"
)

// A Page is what a sync or an import has just stored, in the transaction that it stored it in.
type Page struct {
	Run     id.ID   // the sync run, under which hits are counted
	Created []id.ID // transactions that are new
	Changed []id.ID // transactions of which the bank changed something
}

// Pass runs the rules over a page: one pipeline, each transaction once, hits counted. It answers the entries of what changed, for the change that the page is, and how many rules matched how often.
func (b *Rulebook) Pass(ctx context.Context, tx pg.Tx, page Page) (entries []journal.Entry, hits int64, err error) {
	p, err := b.active(ctx, tx)
	for err == nil && len(p.set.Rules()) > 0 {
		var l look
		if l, err = p.look(ctx, tx, page); err != nil {
			break
		}
		var to map[string]id.ID
		var gone bool
		if to, gone, err = categories(ctx, tx, l.verdicts); err != nil {
			break
		}
		if gone { // merged into another just now, and the rules with it
			was := p
			if p, err = b.active(ctx, tx); err != nil || p != was {
				continue
			}
		}
		if entries, err = b.write(ctx, tx, p, l.verdicts, to, false); err != nil {
			break
		}
		return entries, l.hits, count(ctx, tx, p, page.Run, l.counts)
	}
	return nil, 0, err
}

// A look is what a pipeline makes of a page.
type look struct {
	verdicts []verdict // of transactions that change
	counts   []int64   // of matches, by rule
	hits     int64
}

func (p *pipeline) look(ctx context.Context, tx pg.Tx, page Page) (look, error) {
	out := look{counts: make([]int64, len(p.set.Rules()))}
	l, err := lens.New(ctx, tx, p.reads(), true)
	if err != nil {
		return out, err
	}
	for _, part := range []struct {
		ids   []id.ID
		event rule.Event
	}{{page.Created, rule.Created}, {page.Changed, rule.Changed}} {
		if len(part.ids) == 0 {
			continue
		}
		// Not "= any": of a table that has just begun to grow, the planner would go through a whole index for each of them.
		err := l.Read(ctx, tx, `where t.id in (select unnest($1::uuid[])) and t.deleted_at is null order by t.id`, []any{part.ids}, func(s *lens.Stored) error {
			v := verdict{s.ID, p.set.Run(&s.Draft, rule.Pass{Event: part.event})}
			for _, hit := range v.outcome.Hits {
				out.counts[hit]++
				out.hits++
			}
			if v.changes() {
				out.verdicts = append(out.verdicts, v)
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// count adds a page's matches to those of its run.
func count(ctx context.Context, tx pg.Tx, p *pipeline, run id.ID, counts []int64) error {
	var rules []id.ID
	var hits []int64
	for i, r := range p.set.Rules() {
		if counts[i] > 0 {
			rules, hits = append(rules, r.ID), append(hits, counts[i])
		}
	}
	if len(rules) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `
		insert into rule_hit (rule_id, run_id, hits, hit_at)
		select v.rule_id, $2, v.hits, clock_timestamp() from unnest($1::uuid[], $3::bigint[]) v (rule_id, hits)
		on conflict (rule_id, run_id) do update set hits = rule_hit.hits + excluded.hits, hit_at = excluded.hit_at`, rules, run, hits)
	return err
}

// RuleHistory is the input of History.
type RuleHistory struct {
	ID     string `json:"id" minLength:"1" doc:"The rule's UUID or short id"`
	Cursor string `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// A Hit is how often a rule matched in one sync.
type Hit struct {
	RunID id.ID   `json:"sync_log_id" db:"run_id" doc:"The sync run"`
	Hits  int64   `json:"hits" db:"hits" doc:"How many transactions it matched"`
	HitAt pg.Time `json:"hit_at" db:"hit_at"`
}

// History is a page of hits, newest first.
type History struct {
	Hits       []Hit  `json:"hits"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
}

// History is how often a rule matched, by sync.
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
		select run_id, hits, hit_at from rule_hit where rule_id = $1 and (hit_at, run_id) < ($2::text::timestamptz, $3::text::uuid)
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
