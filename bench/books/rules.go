package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"coffer/internal/platform/id"
	"github.com/jackc/pgx/v5"
)

// These conditions are previewed. The expression contains no fixed text that must occur, so no
// index can help.
const (
	containsCondition = `{"field": "name", "op": "contains", "value": "starbucks"}`
	regexCondition    = `{"field": "name", "op": "matches", "value": "[0-9]{3,}.*[A-Z]$"}`
)

// previewing is coffer's side of a preview by one caller.
func previewing(condition string) func(context.Context, *world, int) (side, error) {
	return func(ctx context.Context, w *world, _ int) (side, error) {
		request := post(w.server.Address, "/api/v1/rules/preview", w.key, `{"conditions": `+condition+`}`)
		return connect(ctx, w.server.Address, w.server.Pid(), 1, func(int, int) []byte { return request })
	}
}

// streaming is the bare side of a preview: the program reads, for every row, the columns that the
// condition and the sample need. It does not look at the values.
func streaming(ctx context.Context, w *world, _ int) (side, error) {
	return bareSide(func(context.Context, *world, int) (asker, error) {
		return func(ctx context.Context, conn *pgx.Conn, _, _ int) error {
			rows, err := conn.Query(ctx, `select t.id, t.date, d.name from transaction t
				join descriptor d on d.id = t.descriptor_id where t.deleted_at is null`)
			if err != nil {
				return err
			}
			bytes := 0
			for rows.Next() {
				for _, v := range rows.RawValues() {
					bytes += len(v)
				}
			}
			return rows.Err()
		}, nil
	})(ctx, w, 1)
}

// An application is a change that both sides make in turns. It moves a fifth of all transactions
// from one category to another and back, and adds or removes a tag. So every round changes every
// row.
type application struct {
	rules   [2]id.ID
	ids     []id.ID
	targets [2]id.ID
	tag     id.ID
	turn    int
}

// applied is shared by the two sides, because each continues where the other one stopped.
var applied *application

func (w *world) application(ctx context.Context) (*application, error) {
	if applied != nil {
		return applied, nil
	}
	a := &application{}
	var limit string
	if err := w.admin.QueryRow(ctx, `select percentile_disc(0.2) within group (order by amount)::text
		from transaction where deleted_at is null`).Scan(&limit); err != nil {
		return nil, fmt.Errorf("find a fifth: %w", err)
	}
	rows, err := w.admin.Query(ctx, `select id from transaction where deleted_at is null and amount < $1::numeric
		order by id`, limit)
	if err != nil {
		return nil, err
	}
	if a.ids, err = pgx.CollectRows(rows, pgx.RowTo[id.ID]); err != nil {
		return nil, err
	}
	for i, action := range []string{"add_tag", "remove_tag"} {
		if a.targets[i], err = category(ctx, w, targets[i]); err != nil {
			return nil, err
		}
		body := fmt.Sprintf(
			`{"rules": [{"name": "bench %s", "conditions": {"field": "amount", "op": "lt", "value": %s}, "category_slug": %q, "actions": [{"type": %q, "tag_slug": "bench"}]}]}`, action, limit, targets[i], action)
		var made struct {
			Rules []struct {
				ID id.ID `json:"id"`
			} `json:"rules"`
		}
		if err := w.call(ctx, "/api/v1/rules", body, &made); err != nil {
			return nil, err
		}
		a.rules[i] = made.Rules[0].ID
	}
	if err := w.admin.QueryRow(ctx, `select id from tag where slug = 'bench'
		and deleted_at is null`).Scan(&a.tag); err != nil {
		return nil, fmt.Errorf("find the tag: %w", err)
	}
	applied = a
	return a, nil
}

// call is one request outside the measured rounds.
func (w *world) call(ctx context.Context, path, body string, into any) error {
	l, err := connect(ctx, w.server.Address, w.server.Pid(), 1, nil)
	if err != nil {
		return err
	}
	defer l.close(ctx)
	request := get(w.server.Address, path, w.key)
	if body != "" {
		request = post(w.server.Address, path, w.key, body)
	}
	if err := l.clients[0].exchange(request); err != nil {
		return err
	}
	return json.Unmarshal(l.clients[0].body, into)
}

// applying is coffer's side: it applies the rule as a job, with the journal.
type applying struct {
	w *world
	a *application
}

func applyRule(ctx context.Context, w *world, _ int) (side, error) {
	a, err := w.application(ctx)
	return &applying{w, a}, err
}

func (s *applying) pid() int { return s.w.server.Pid() }

func (s *applying) close(context.Context) {}

func (s *applying) round(ctx context.Context, _ time.Duration) ([]time.Duration, error) {
	start := time.Now()
	type job struct {
		ID     id.ID  `json:"id"`
		State  string `json:"state"`
		Result struct {
			Matched int `json:"matched"`
		} `json:"result"`
	}
	var j job
	if err := s.w.call(ctx, "/api/v1/rules/"+s.a.rules[s.a.turn%2].String()+"/apply?wait=30s", "{}", &j); err != nil {
		return nil, err
	}
	for j.State == "queued" || j.State == "running" {
		if err := s.w.call(ctx, "/api/v1/jobs/"+j.ID.String()+"?wait=30s", "", &j); err != nil {
			return nil, err
		}
	}
	if j.State != "succeeded" || j.Result.Matched != len(s.a.ids) {
		return nil, fmt.Errorf("the job %s matched %d of %d", j.State, j.Result.Matched, len(s.a.ids))
	}
	s.a.turn++
	return []time.Duration{time.Since(start)}, nil
}

// bareApplying is the bare side: one set-based update, one upsert of tags and one COPY of the same
// journal rows, in one transaction.
type bareApplying struct {
	a    *application
	conn *pgx.Conn
}

func bareApply(ctx context.Context, w *world, _ int) (side, error) {
	a, err := w.application(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, w.url)
	return &bareApplying{a, conn}, err
}

func (s *bareApplying) pid() int { return os.Getpid() }

func (s *bareApplying) close(ctx context.Context) {
	_ = s.conn.Close(context.WithoutCancel(ctx)) // nothing uses it any more
}

func (s *bareApplying) round(ctx context.Context, _ time.Duration) ([]time.Duration, error) {
	start := time.Now()
	to, from, present := s.a.targets[s.a.turn%2], s.a.targets[(s.a.turn+1)%2], s.a.turn%2 == 0
	err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `update transaction set category_id = $1, category_source = 'rule',
			updated_at = clock_timestamp() where id = any($2)`, to, s.a.ids); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			insert into transaction_tag (transaction_id, tag_id, present, source) select u, $2, $3, 'rule'
				from unnest($1::uuid[]) u
			on conflict (transaction_id, tag_id) do update set present = excluded.present,
				source = excluded.source`, s.a.ids, s.a.tag, present); err != nil {
			return err
		}
		change := id.New()
		if _, err := tx.Exec(ctx, `
			insert into change (id, short_id, cause, summary, actor_type, actor_name, transactions, entries)
				values ($1, $2, 'rule', 'bare', 'system', 'bench', $3, 2 * $3)`,
			change, change.Short(), len(s.a.ids)); err != nil {
			return err
		}
		rule, before, after, there := s.a.rules[s.a.turn%2], from.String(), to.String(), "present"
		columns := []string{
			"change_id", "subject", "subject_id", "field", "ref", "before", "after", "before_source",
			"after_source", "rule_id", "note",
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"entry"}, columns,
			pgx.CopyFromSlice(2*len(s.a.ids), func(i int) ([]any, error) {
				if i%2 == 0 {
					return []any{
						change, "transaction", s.a.ids[i/2], "category", nil, before, after, "rule", "rule", rule,
						nil,
					}, nil
				}
				return []any{
						change, "transaction", s.a.ids[i/2], "tag", s.a.tag, there, nil, "rule", "rule", rule,
						nil,
					},
					nil
			}))
		return err
	})
	s.a.turn++
	return []time.Duration{time.Since(start)}, err
}
