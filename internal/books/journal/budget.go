package journal

import (
	"context"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// everyone is the id of the row that counts all agents of the household together.
var everyone = id.Must("00000000-0000-0000-0000-000000000000")

// cost returns the number of writes that a change costs: one for each transaction and each record
// that its entries are about, plus n.Writes. The report of a workflow run costs nothing: it is the
// purpose of the run, each run has only one, and the run must be able to write it even when its
// limit is used up.
func cost(ctx context.Context, n Note, entries []Entry) int {
	run := op.ActorOf(ctx).Run != nil
	subjects := make(map[id.ID]bool, len(entries))
	for _, e := range entries {
		if !run || e.Subject != Report {
			subjects[e.SubjectID] = true
		}
	}
	return len(subjects) + n.Writes
}

// spend counts a change's cost against two daily limits: that of the key or assistant, and that of
// all agents of the household. It runs in the change's transaction. So the lock on the row makes
// the count exact across servers, and a change that fails costs nothing. An assistant is counted by
// its consent's id, whichever token it uses. The limit of a workflow run applies to the run as a
// whole, so it is counted under the day on which the run was created. Four kinds of changes are not
// counted: those by banks, those that the service makes on its own, those that a person approved,
// and rehearsals. A dry run only adds up its cost.
func spend(ctx context.Context, tx pg.Tx, n Note, touched int) error {
	actor := op.ActorOf(ctx)
	if touched == 0 || n.Cause == Sync || actor.ID.IsZero() || n.Approved || rehearsing(ctx) != nil {
		return nil
	}
	if free, err := corrects(ctx, tx, n, actor.ID); err != nil || free {
		return err
	}
	if t := trying(ctx); t != nil {
		t.writes += int64(touched)
		return nil
	}
	type account struct {
		Whose string `db:"whose"`
		Used  int64  `db:"used"`
		Quota int64  `db:"quota"`
		Ends  int64  `db:"ends"` // in seconds
		Run   bool   `db:"run"`
	}
	over, err := pg.All[account](ctx, tx, `
		with today as (
			select (now() at time zone time_zone)::date as day, writes_per_day,
				extract(epoch from ((now() at time zone time_zone)::date + 1)::timestamp at time zone time_zone - now())::bigint as ends from setting),
		allowed (key_id, place, whose, quota, day) as (
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
		select a.whose, c.used, a.quota::bigint as quota, t.ends, coalesce(a.key_id = @run::uuid, false) as run from counted c
			join allowed a on a.key_id = c.key_id cross join today t where c.used > a.quota order by a.place`,
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
			"this run is limited to %d writes (one per transaction and record); %d are left and this call "+
				"needs %d; change fewer, or stop here",
			a.Quota, max(a.Quota-a.Used+int64(touched), 0), touched).Limited(LimitOfRun, int(a.Quota), 0)
	}
	e := errs.New(errs.RateLimited,
		"%s make %d writes a day (one per transaction and record); %d are left today and this call needs %d; "+
			"change fewer, wait until tomorrow, or ask a person to raise the limit", a.Whose, a.Quota,
		max(a.Quota-a.Used+int64(touched), 0), touched)
	e.After = time.Duration(a.Ends+1) * time.Second
	if actor.Run != nil {
		return e.Limited(LimitOfDay, int(a.Quota), 24*time.Hour)
	}
	return e
}

// corrects reports whether a change undoes a change by the same actor. Such an undo is free, so
// that everyone can correct a mistake. Only the first undo of one's own change is free, and the
// first redo of one's own undo. Otherwise a caller could repeat the pair forever.
func corrects(ctx context.Context, tx pg.Tx, n Note, actor id.ID) (bool, error) {
	if n.Cause != Revert || n.reverts == nil {
		return false, nil
	}
	return pg.Value[bool](ctx, tx, `
		select coalesce(actor_id = $2 and case
			when root is null then not exists (select from change f where f.root = c.id)
			else undoes and not exists (select from change f where f.root = c.root and f.reverts = c.id) end, false)
		from change c where c.id = $1`, n.reverts.ID, actor)
}

// The names of the limits in a run's errors with the code RATE_LIMITED.
const (
	LimitOfRun = "max_writes"
	LimitOfDay = "writes_per_day"
)

// ForgetBudgets deletes counts that are older than a week. The count of a workflow run is kept,
// because its limit never starts again.
func (j *Journal) ForgetBudgets(ctx context.Context) error {
	_, err := pg.Exec(ctx, j.db, `delete from write_budget b where day < current_date - 7
		and not exists (select from workflow_run r where r.id = b.key_id)`)
	return err
}
