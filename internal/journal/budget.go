package journal

import (
	"context"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// everyone is the row that counts all agents of the household together.
var everyone = id.Must("00000000-0000-0000-0000-000000000000")

// spend counts the transactions that a change touches against the daily limits of the key or
// assistant and of all agents of the household. It is part of the change's transaction: the row's
// lock makes the count exact across servers, and a change that fails costs nothing. Transactions
// that a bank brings are not counted, nor what the service does by itself, without a key.
// An assistant is counted by its consent's id, whichever token it uses. The limit of a workflow run
// holds for the run as a whole: it is counted under the day on which the run was made. The first
// revert of one's own change is free, so that everyone can correct a mistake; further reverts are
// counted. What a person approved is not counted, nor what is only rehearsed.
func spend(ctx context.Context, tx pg.Tx, n Note, touched int) error {
	actor := op.ActorOf(ctx)
	if touched == 0 || n.Cause == Sync || actor.ID.IsZero() || n.Approved || rehearsing(ctx) != nil {
		return nil
	}
	if n.Cause == Revert && n.Reverts != nil {
		free, err := pg.Value[bool](ctx, tx, `
			select coalesce(root is null and actor_id = $2 and not exists (select from change f where f.root = c.id), false)
				from change c where c.id = $1`, n.Reverts, actor.ID)
		if err != nil || free {
			return err
		}
	}
	type account struct {
		Whose string `db:"whose"`
		Used  int64  `db:"used"`
		Most  int64  `db:"most"`
		Ends  int64  `db:"ends"` // in seconds
		Run   bool   `db:"run"`
	}
	over, err := pg.All[account](ctx, tx, `
		with today as (
			select (now() at time zone time_zone)::date as day, writes_per_day,
				extract(epoch from ((now() at time zone time_zone)::date + 1)::timestamp at time zone time_zone - now())::bigint as ends from setting),
		allowed (key_id, place, whose, most, day) as (
			select id, 1, 'this key may', max_writes_per_day, day from token, today
				where id = @actor and max_writes_per_day is not null
			union all select id, 1, 'this assistant may', max_writes_per_day, day from consent, today where id = @actor
			union all select id, 1, 'this run may', max_writes, created_at::date from workflow_run
				where id = @run::uuid and max_writes is not null
			union all select @everyone, 2, 'the agents of this household may together', writes_per_day, day from today
				where @agent),
		counted as (
			insert into write_budget as b (key_id, day, used)
			select a.key_id, a.day, @touched from allowed a
			order by a.place
			on conflict (key_id, day) do update set used = b.used + excluded.used
			returning b.key_id, b.used)
		select a.whose, c.used, a.most::bigint as most, t.ends, coalesce(a.key_id = @run::uuid, false) as run from counted c
			join allowed a on a.key_id = c.key_id cross join today t where c.used > a.most order by a.place`,
		pg.Args{
			"actor": actor.ID, "run": actor.Run, "everyone": everyone, "agent": actor.Type == op.Agent,
			"touched": touched,
		})
	if err != nil || len(over) == 0 {
		return err
	}
	a := over[0]
	if a.Run {
		return errs.New(errs.RateLimited,
			"this run may change %d transactions; %d are left, and this would change %d; change fewer, or end here",
			a.Most, max(a.Most-a.Used+int64(touched), 0), touched).Limited(LimitOfRun, int(a.Most), 0)
	}
	e := errs.New(errs.RateLimited,
		"%s change %d transactions a day; %d are left today, and this would change %d; change fewer, wait until "+
			"tomorrow, or ask a person to raise the limit", a.Whose, a.Most, max(a.Most-a.Used+int64(touched), 0),
		touched)
	e.After = time.Duration(a.Ends+1) * time.Second
	if actor.Run != nil {
		return e.Limited(LimitOfDay, int(a.Most), 24*time.Hour)
	}
	return e
}

// The names of the limits that a run's errors of code RATE_LIMITED carry.
const (
	LimitOfRun = "max_writes"
	LimitOfDay = "writes_per_day"
)

// ForgetBudgets deletes the counts of past days. A run keeps its own, because its limit does not
// begin again.
func (j *Journal) ForgetBudgets(ctx context.Context) error {
	_, err := pg.Exec(ctx, j.db, `delete from write_budget b where day < current_date - 7
		and not exists (select from workflow_run r where r.id = b.key_id)`)
	return err
}
