package job

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A batch holds jobs of one kind that are being queued.
type batch struct {
	kind   Kind
	orders []Order
	args   []string // printed
	jobs   []Job    // as they are returned
	open   []int    // indexes of the orders that have no job yet
}

func newBatch(k Kind, orders []Order) (*batch, error) {
	b := &batch{
		kind: k, orders: orders, args: make([]string, len(orders)), jobs: make([]Job, len(orders)),
		open: make([]int, len(orders)),
	}
	for i, o := range orders {
		printed, err := json.Marshal(o.Args)
		if err != nil {
			return nil, fmt.Errorf("print the job's arguments: %w", err)
		}
		b.args[i], b.open[i] = string(printed), i
	}
	return b, nil
}

// yield lowers the priority of a caller's new jobs if the caller already has several jobs. It
// rejects them if the caller would have more than mostQueued jobs waiting; jobs with a unique key
// do not count. Prompt jobs, and jobs that the service or another job enqueues, are not restricted.
func (b *batch) yield(ctx context.Context, tx pg.Tx) error {
	who := op.ActorOf(ctx)
	bulk := 0
	for _, o := range b.orders {
		if o.Unique == "" {
			bulk++
		}
	}
	if b.kind.Lane == Prompt || op.SurfaceOf(ctx) == "" || who.ID.IsZero() {
		return nil
	}
	type crowd struct {
		Live   int `db:"live"`
		Queued int `db:"queued"`
	}
	now, err := pg.One[crowd](ctx, tx, `
		select count(*) as live, count(*) filter (where state = 'queued' and unique_key is null) as queued
		from job where state in ('queued', 'running') and actor_id = $1 and run_at <= now()`, who.ID)
	if err != nil {
		return err
	}
	if bulk > 0 && now.Queued+bulk > mostQueued {
		return errs.New(errs.RateLimited,
			"this caller already has %d queued jobs; wait until some finish, or cancel some ({job.list} with "+
				"state queued lists them)", now.Queued).Later(10 * time.Second)
	}
	behind := 0
	switch {
	case now.Live >= 5:
		behind = 2
	case now.Live >= 2:
		behind = 1
	}
	for i, o := range b.orders {
		b.orders[i].Priority = min(4, o.priority()+behind)
	}
	return nil
}

// Put adds a statement to a batch that enqueues a job if the given query finds a row. It uses only
// Unique and Priority of the options. In a request, it saves the round trips of Enqueue.
func (j *Jobs) Put(ctx context.Context, b *pgx.Batch, kind string, args any, o Options, given string,
	about id.ID,
) error {
	k, ok := j.kinds[kind]
	if !ok {
		return fmt.Errorf("job: unknown kind %q", kind)
	}
	printed, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("print the job's arguments: %w", err)
	}
	made, who := id.New(), requester(op.ActorOf(ctx))
	b.Queue(`
		insert into job (id, short_id, kind, unique_key, priority, args, unit, actor_type, actor_id, actor_name,
			actor_scope, actor_key, actor_run)
		select @id, @short, @kind, @key, @priority, @args::text::jsonb, @unit, @type, @actor, @name, @scope,
			@actor_key, @actor_run where exists (`+given+`)
		on conflict (kind, unique_key) where state in ('queued', 'running') do nothing`, pgx.NamedArgs{
		"id": made, "short": made.Short(), "kind": k.Name, "key": o.Unique, "priority": o.priority(),
		"args": string(printed), "unit": k.Unit, "about": about,
		"type": who.Type, "actor": who.ID, "name": who.Name, "scope": who.Scope, "actor_key": who.Key,
		"actor_run": who.Run,
	})
	return nil
}

// insert creates jobs for the open orders, except those whose key a queued or running job has. The
// database then notifies all servers.
func (b *batch) insert(ctx context.Context, tx pg.Tx, j *Jobs) error {
	n := len(b.open)
	ids, shorts, args := make([]id.ID, n), make([]string, n), make([]string, n)
	keys, moments, priorities := make([]*string, n), make([]*pg.Time, n), make([]int, n)
	var made []row
	err := pg.Redraw(ctx, tx, "job_short_id", func(tx pg.Tx) (err error) {
		for i, at := range b.open {
			o := b.orders[at]
			if ids[i] = o.ID; o.ID.IsZero() {
				ids[i] = id.New()
			}
			shorts[i], args[i], priorities[i] = ids[i].Short(), b.args[at], o.priority()
			if o.Unique != "" {
				keys[i] = &o.Unique
			}
			if !o.RunAt.IsZero() {
				moments[i] = new(pg.At(o.RunAt))
			}
		}
		who := requester(op.ActorOf(ctx))
		made, err = pg.All[row](ctx, tx, `
			insert into job (id, short_id, kind, unique_key, priority, args, unit, actor_type, actor_id, actor_name,
				actor_scope, actor_key, actor_run, run_at)
			select v.id, v.short_id, @kind, v.unique_key, v.priority, v.args::jsonb, @unit, @type, @actor, @name,
				@scope, @key, @run, coalesce(v.run_at, now())
			from unnest(@ids::uuid[], @shorts::text[], @keys::text[], @priorities::int[], @args::text[],
				@moments::timestamptz[]) v (id, short_id, unique_key, priority, args, run_at)
			order by v.unique_key, v.id -- two who ask for the same keys wait for each other in one order
			on conflict (kind, unique_key) where state in ('queued', 'running') do nothing
			returning id, short_id, kind, state, done, total, unit, result, error_code, error_message, created_at,
				started_at, finished_at`, pg.Args{
			"kind": b.kind.Name, "unit": b.kind.Unit, "ids": ids, "shorts": shorts, "keys": keys,
			"priorities": priorities, "args": args, "moments": moments,
			"type": who.Type, "actor": who.ID, "name": who.Name, "scope": who.Scope, "key": who.Key,
			"run": who.Run,
		})
		return err
	})
	if err != nil {
		return err
	}
	at := make(map[id.ID]int, n)
	for i, u := range ids {
		at[u] = b.open[i]
	}
	filled := map[int]bool{}
	for _, r := range made {
		i := at[r.ID]
		b.jobs[i], filled[i] = j.record(ctx, r), true
	}
	b.close(filled)
	return nil
}

func (b *batch) close(filled map[int]bool) {
	var left []int
	for _, i := range b.open {
		if !filled[i] {
			left = append(left, i)
		}
	}
	b.open = left
}

func (o Options) priority() int {
	if o.Priority == 0 {
		return normal
	}
	return o.Priority
}

// An again is a job that must run after a running job has ended. It is stored in that job's row.
type again struct {
	Args     json.RawMessage `json:"args"`
	Priority int             `json:"priority"`
	asker
}

// An asker is the requester of a job as it is stored.
type asker struct {
	Type  string `json:"actor_type"`
	ID    *id.ID `json:"actor_id"`
	Name  string `json:"actor_name"`
	Scope int    `json:"actor_scope"`
	Key   *id.ID `json:"actor_key"`
	Run   *id.ID `json:"actor_run"`
}

func requester(a op.Actor) asker {
	out := asker{Type: a.Type, Name: a.Name, Scope: int(a.Scope), Key: a.Key, Run: a.Run}
	if !a.ID.IsZero() {
		out.ID = &a.ID
	}
	return out
}

// A live is a queued or running job that an order with the same key can join.
type live struct {
	row
	Key string `db:"unique_key"`
}

// join fills in the live jobs that the open orders join. If an order has Again and its job is
// running, join stores the new job in that job's row, with the current caller as its requester.
func (b *batch) join(ctx context.Context, tx pg.Tx, j *Jobs) error {
	var keys, after, next []string
	who := requester(op.ActorOf(ctx))
	for _, at := range b.open {
		o := b.orders[at]
		keys = append(keys, o.Unique)
		if !o.Again {
			continue
		}
		printed, err := json.Marshal(again{json.RawMessage(b.args[at]), o.priority(), who})
		if err != nil {
			return fmt.Errorf("print what follows the job: %w", err)
		}
		after, next = append(after, o.Unique), append(next, string(printed))
	}
	if len(after) > 0 { // if a job ends at this moment, it is not found, and the next insert creates a new one
		_, err := pg.Exec(ctx, tx, `
			update job set again = v.next::jsonb from unnest($2::text[], $3::text[]) v (unique_key, next)
			where job.kind = $1 and job.unique_key = v.unique_key and job.state = 'running'`, b.kind.Name, after, next)
		if err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	// A job that began after the previous statement also sees the data that this call is about.
	found, err := pg.All[live](ctx, tx, `
		select id, short_id, kind, state, done, total, unit, result, error_code, error_message, created_at,
			started_at, finished_at, unique_key
		from job where kind = $1 and unique_key = any($2) and state in ('queued', 'running')`, b.kind.Name, keys)
	if err != nil {
		return err
	}
	byKey := make(map[string]Job, len(found))
	for _, l := range found {
		byKey[l.Key] = j.record(ctx, l.row)
	}
	filled := map[int]bool{}
	for _, i := range b.open {
		if now, ok := byKey[b.orders[i].Unique]; ok {
			b.jobs[i], filled[i] = now, true
		}
	}
	b.close(filled)
	return nil
}

// ended completes the end of jobs of one kind in the transaction that ends them. It calls the
// kind's Ended, notifies the servers, and creates the jobs that were requested while these ran.
func (j *Jobs) ended(ctx context.Context, tx pg.Tx, kind string, all ...Ended) error {
	if tell := j.kinds[kind].Ended; tell != nil {
		if err := tell(ctx, tx, all); err != nil {
			return fmt.Errorf("notify %s of its end: %w", kind, err)
		}
	}
	if err := notifyMoved(ctx, tx); err != nil {
		return err
	}
	ids := make([]id.ID, len(all))
	for i, e := range all {
		ids[i] = e.JobID
	}
	return follow(ctx, tx, ids)
}

// follow creates the jobs that were requested while the jobs that end in this transaction ran.
func follow(ctx context.Context, tx pg.Tx, ended []id.ID) error {
	waiting, err := pg.Values[id.ID](ctx, tx, `select id from job where id = any($1) and again is not null`, ended)
	if err != nil || len(waiting) == 0 {
		return err
	}
	err = pg.Redraw(ctx, tx, "job_short_id", func(tx pg.Tx) error {
		ids, shorts := make([]id.ID, len(waiting)), make([]string, len(waiting))
		for i := range waiting {
			ids[i] = id.New()
			shorts[i] = ids[i].Short()
		}
		_, err := pg.Exec(ctx, tx, `
			insert into job (id, short_id, kind, unique_key, priority, args, unit, actor_type, actor_id, actor_name,
				actor_scope, actor_key, actor_run)
			select v.id, v.short_id, job.kind, job.unique_key, (again ->> 'priority')::smallint, again -> 'args', unit,
				again ->> 'actor_type', (again ->> 'actor_id')::uuid, again ->> 'actor_name',
					(again ->> 'actor_scope')::smallint, (again ->> 'actor_key')::uuid,
					(again ->> 'actor_run')::uuid
			from unnest($1::uuid[], $2::uuid[], $3::text[]) v (former, id, short_id) join job on job.id = v.former
			on conflict (kind, unique_key) where state in ('queued', 'running') do nothing`, waiting, ids, shorts)
		return err
	})
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `update job set again = null where id = any($1)`, waiting)
	return err
}
