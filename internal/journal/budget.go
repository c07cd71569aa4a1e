package journal

import (
	"context"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// everyone is the row in which all agents of the household are counted together.
var everyone = id.Must("00000000-0000-0000-0000-000000000000")

// spend counts the transactions that a change touches against what the key or the assistant may change in a day, and what all agents of the household may. It is part of the change's transaction: the row's lock makes
// the count exact over any number of servers, and a change that fails costs nothing. What a bank brings is nobody's writing. An assistant acts under its consent's id, whichever token it holds.
func spend(ctx context.Context, tx pg.Tx, cause string, touched int) error {
	actor := op.ActorOf(ctx)
	if touched == 0 || cause == Sync || actor.Type == op.System {
		return nil
	}
	type account struct {
		Whose string `db:"whose"`
		Used  int64  `db:"used"`
		Most  int64  `db:"most"`
		Ends  int64  `db:"ends"` // in seconds
	}
	over, err := pg.All[account](ctx, tx, `
		with today as (
			select (now() at time zone time_zone)::date as day, writes_per_day, extract(epoch from ((now() at time zone time_zone)::date + 1)::timestamp at time zone time_zone - now())::bigint as ends from setting),
		allowed (key_id, place, whose, most) as (
			select id, 1, 'this key may', max_writes_per_day from token where id = @actor and max_writes_per_day is not null
			union all select id, 1, 'this assistant may', max_writes_per_day from consent where id = @actor
			union all select @everyone, 2, 'the agents of this household may together', writes_per_day from today where @agent),
		counted as (
			insert into write_budget as b (key_id, day, used)
			select a.key_id, today.day, @touched from today, allowed a
			order by a.place
			on conflict (key_id, day) do update set used = b.used + excluded.used
			returning b.key_id, b.used)
		select a.whose, c.used, a.most::bigint as most, t.ends from counted c join allowed a on a.key_id = c.key_id cross join today t where c.used > a.most order by a.place`,
		pg.Args{"actor": actor.ID, "everyone": everyone, "agent": actor.Type == op.Agent, "touched": touched})
	if err != nil || len(over) == 0 {
		return err
	}
	a := over[0]
	e := errs.New(errs.RateLimited, "%s change %d transactions a day, %d are left today and this would change %d; change fewer, wait for tomorrow, or ask a person for more", a.Whose, a.Most, max(a.Most-a.Used+int64(touched), 0), touched)
	e.After = time.Duration(a.Ends+1) * time.Second
	return e
}

// ForgetBudgets drops the counts of days gone by.
func (j *Journal) ForgetBudgets(ctx context.Context) error {
	_, err := pg.Exec(ctx, j.db, `delete from write_budget where day < current_date - 7`)
	return err
}
