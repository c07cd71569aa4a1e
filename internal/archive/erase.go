package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// Erase is the input of Erase.
type Erase struct {
	ID     string `json:"id" minLength:"1" doc:"The member's UUID or short id; a member who was deleted earlier can be erased too"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show what would be erased"`
}

// An Erasure lists the data that is erased, or in a dry run would be erased.
type Erasure struct {
	UserID   id.ID  `json:"user_id"`
	DryRun   bool   `json:"dry_run" doc:"True if nothing was erased yet"`
	Erased   []Gone `json:"erased" doc:"The member's data that is erased permanently"`
	Unnamed  []Gone `json:"unnamed" doc:"Data that is kept, without the member's name"`
	Released int64  `json:"released_accounts" doc:"The member's accounts in another member's connection: they are kept and belong to that member"`
	JobID    *id.ID `json:"job_id" doc:"Job that continues the work if there is a lot to erase; poll GET /api/v1/jobs/{job_id}. Null if everything is already erased"`
}

// Gone is the number of rows of a table that are erased or changed.
type Gone struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

const (
	eraseKind  = "archive.erase"
	erasedName = "erased member"
	// eraseMost is the maximum number of rows that a call erases itself. A larger erasure would
	// take longer than the call may, and keep others waiting, so a job does it.
	eraseMost = 20_000
)

// A target lists what belongs to a member whose data is erased.
type target struct {
	Member      id.ID   `json:"member_id"`
	Actors      []id.ID `json:"actors"`      // the member, and their sessions and keys, in the journal
	Connections []id.ID `json:"connections"` // the member's connections without accounts of other members
	Accounts    []id.ID `json:"accounts"`
}

// args returns the arguments that statements of an erasure can use.
func (t target) args() pg.Args {
	return pg.Args{
		"member": t.Member, "actors": t.Actors, "connections": t.Connections, "accounts": t.Accounts,
		"batch": batchSize, "erased": erasedName,
	}
}

// A person is a member, or a deleted member whose name is still in the journal.
type person struct {
	ID      id.ID `db:"id"`
	Deleted bool  `db:"deleted"`
}

// whom returns the member that a caller named. A deleted member can still be erased, because their
// name is in the journal.
func whom(ctx context.Context, q pg.Querier, ref string) (person, error) {
	p, err := pg.One[person](ctx, q, `select id, deleted_at is not null as deleted from member
		where id = $1 or short_id = $2`, pg.RefTo(ref).IDArgs()...)
	return p, pg.Found(err, "user", "{user.list} lists them")
}

var errTried = errors.New("some rows would be left over")

// removable returns the error that auth would return for removing the member. It removes the member
// and rolls that back.
func (a *Archive) removable(ctx context.Context, tx pg.Tx, p person) error {
	err := pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		if err := a.remove(ctx, tx, p); err != nil {
			return err
		}
		return errTried
	})
	if errors.Is(err, errTried) {
		return nil
	}
	return err
}

func (a *Archive) remove(ctx context.Context, tx pg.Tx, p person) error {
	if p.Deleted {
		return nil
	}
	_, err := a.auth.RemoveUser(ctx, tx, p.ID.String())
	return err
}

// askErase revokes coffer's access at the member's banks. It first makes all checks that could
// reject the erasure.
func (a *Archive) askErase(ctx context.Context, q pg.Querier, in Erase) (bool, error) {
	if in.DryRun {
		return false, nil
	}
	p, err := whom(ctx, q, in.ID)
	if err != nil {
		return false, err
	}
	if err := a.db.InTx(ctx, func(tx pg.Tx) error { return a.removable(ctx, tx, p) }); err != nil {
		return false, err
	}
	return true, a.connections.RevokeOf(ctx, q, p.ID)
}

// Erase removes everything that belongs to a member, permanently: there is no undo, and earlier
// exports and backups still contain the data. The member is removed when the call ends. If there is
// a lot of data, a job erases the rest.
func (a *Archive) Erase(ctx context.Context, tx pg.Tx, in Erase, _ bool) (Erasure, error) {
	p, err := whom(ctx, tx, in.ID)
	if err != nil {
		return Erasure{}, err
	}
	if err := a.removable(ctx, tx, p); err != nil {
		return Erasure{}, err
	}
	t, err := find(ctx, tx, p.ID, in.DryRun)
	if err != nil {
		return Erasure{}, fmt.Errorf("erase: %w", err)
	}
	out, err := t.count(ctx, tx)
	if out.DryRun = in.DryRun; err != nil || in.DryRun {
		return out, err
	}
	if err := a.remove(ctx, tx, p); err != nil {
		return Erasure{}, err
	}
	if err := t.detach(ctx, tx); err != nil {
		return Erasure{}, err
	}
	if err := a.stopRuns(ctx, tx); err != nil {
		return Erasure{}, err
	}
	if out.rows() > a.eraseMost {
		j, err := a.jobs.Enqueue(ctx, tx, eraseKind, t, job.Options{Unique: p.ID.String()})
		out.JobID = &j.ID
		return out, err
	}
	e := eraser{target: t, links: a.links}
	return out, e.all(ctx, tx, func(f part) error {
		_, err := f(ctx, tx)
		return err
	})
}

// stopRuns stops running workflows, because the transcripts from which they continue are erased.
func (a *Archive) stopRuns(ctx context.Context, tx pg.Tx) error {
	runs, err := pg.Values[id.ID](ctx, tx, `select id from workflow_run where status in ('queued', 'running')
		order by id`)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if _, err := a.jobs.Stop(ctx, tx, run); err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

func (e Erasure) rows() (n int64) {
	for _, list := range [][]Gone{e.Erased, e.Unnamed} {
		for _, g := range list {
			n += g.Rows
		}
	}
	return n
}

// runErase is the job. Every batch searches for the remaining data, so an interrupted run can
// simply continue.
func (a *Archive) runErase(ctx context.Context, r *job.Run) (any, error) {
	var t target
	if err := r.Args(&t); err != nil {
		return nil, err
	}
	e := eraser{target: t, links: a.links}
	err := e.all(ctx, a.db, func(f part) error {
		return r.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
			n, err := f(ctx, tx)
			return job.Step{Done: n}, err
		})
	})
	if err != nil {
		return nil, err
	}
	return nil, r.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		// the job must not remember whom it erased
		_, err := pg.Exec(ctx, tx, `update job set args = '{}', unique_key = null where id = $1`, r.ID())
		return job.Step{}, err
	})
}

// find returns everything that belongs to the member. An account belongs to its owner, or else to
// the member of its connection. Accounts of another member's connection stay, because the next sync
// would create them again. Unless look is set, find locks the rows, so nobody else can change the
// owners until the transaction ends.
func find(ctx context.Context, tx pg.Tx, member id.ID, look bool) (t target, err error) {
	t.Member = member
	if !look {
		if _, err = pg.Exec(ctx, tx, `select from connection where member_id = $1
			order by id for update`, member); err != nil {
			return t, err
		}
		if _, err = pg.Exec(ctx, tx, `select from account where owner_id = $1
			or connection_id in (select id from connection where member_id = $1)
			order by id for update`, member); err != nil {
			return t, err
		}
	}
	if t.Accounts, err = pg.Values[id.ID](ctx, tx, `
		select a.id from account a left join connection c on c.id = a.connection_id
			where coalesce(a.owner_id, c.member_id) = $1 and coalesce(c.member_id, $1) = $1
			order by 1`, member); err != nil {
		return t, err
	}
	if t.Connections, err = pg.Values[id.ID](ctx, tx, `
		select id from connection c where member_id = $1
			and not exists (select from account a where a.connection_id = c.id and a.owner_id <> $1)
			order by 1`, member); err != nil {
		return t, err
	}
	t.Actors, err = pg.Values[id.ID](ctx, tx, `select $1::uuid union select id from token where member_id = $1`, member)
	return t, err
}

// count returns how many rows of each table are affected.
func (t target) count(ctx context.Context, q pg.Querier) (Erasure, error) {
	out := Erasure{UserID: t.Member}
	var err error
	if out.Released, err = pg.Value[int64](ctx, q, `select count(*) from account a
		join connection c on c.id = a.connection_id where a.owner_id = @member
		and c.member_id <> @member`, t.args()); err != nil {
		return out, err
	}
	gone, unnamed := map[string]int64{
		"account": int64(len(t.Accounts)), "connection": int64(len(t.Connections)),
		"member": 1,
	}, map[string]int64{}
	all, err := referring(ctx, q)
	if err != nil {
		return out, err
	}
	if err := t.changes(ctx, q, gone, unnamed); err != nil {
		return out, err
	}
	counts := map[string]string{
		"idempotency": "actor_id = any(@actors)", "write_budget": "key_id = any(@actors)",
		"transaction": "account_id = any(@accounts)", "entry": entryGone, "descriptor": wordingGone,
	}
	for name, conditions := range all {
		counts[name] = conditions.any()
	}
	// Transcripts and plans may contain anyone's transactions, so all of them are erased.
	counts["workflow_line"], counts["workflow_plan"] = "true", "true"
	counts["comment"] += " or author_id = any(@actors)"
	for into, list := range map[*map[string]int64]map[string]string{&gone: counts, &unnamed: named} {
		for name, where := range list {
			if (*into)[name], err = pg.Value[int64](ctx, q, "select count(*) from "+quote(name)+" x where "+where,
				t.args()); err != nil {
				return out, fmt.Errorf("count %s: %w", name, err)
			}
		}
	}
	out.Erased, out.Unnamed = list(gone), list(unnamed)
	return out, nil
}

func list(rows map[string]int64) []Gone {
	out := []Gone{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if rows[name] > 0 {
			out = append(out, Gone{name, rows[name]})
		}
	}
	return out
}

// Conditions on x for further rows to delete, besides those that refer to the member. They are
// evaluated before anything is deleted. They use exists for each row: a list of half a million ids
// would be too large for an in condition.
const (
	entryGone = `(x.subject = 'transaction' and (
		exists (select from transaction t where t.id = x.subject_id and t.account_id = any(@accounts))
		or exists (select from comment c where c.id = x.ref and c.author_id = any(@actors))) or ` + saidGone + `)`
	// Entries about the accounts, and about their account links.
	saidGone = `(x.subject = 'account' and x.subject_id = any(@accounts)
		or x.subject = 'account_link' and x.subject_id in (select id from account_link where primary_id = any(@accounts)
			or mirror_id = any(@accounts)))`
	// Wordings that no other member's transactions use: the erased member's, and unused ones.
	wordingGone = `x.merchant_name <> 'erased ' || x.id and not exists (select from transaction t
		where t.descriptor_id = x.id and t.account_id <> all(@accounts))`
)

// changes counts the journal's changes that have no entries left after the erasure. A change stays
// if another connection's sync or a remaining revert refers to it. Among the changes that stay, it
// counts those that lose the member's name.
func (t target) changes(ctx context.Context, q pg.Querier, gone, unnamed map[string]int64) error {
	type counted struct {
		Gone    int64 `db:"gone"`
		Unnamed int64 `db:"unnamed"`
	}
	n, err := pg.One[counted](ctx, q, `
		with recursive empty as (select change_id as id from entry x group by 1 having bool_and(`+entryGone+`)),
		needed as (
			select c.reverts as id from change c left join empty e on e.id = c.id where e.id is null and c.reverts is not null
			union select change_id from sync_log where connection_id <> all(@connections) and change_id is not null
			union select c.reverts from change c join needed n on n.id = c.id where c.reverts is not null),
		gone as (select id from empty except select id from needed)
		select count(g.id) as gone, count(*) filter (where g.id is null and c.actor_id = any(@actors)) as unnamed
			from change c left join gone g on g.id = c.id`, t.args())
	gone["change"], unnamed["change"] = n.Gone, n.Unnamed
	return err
}

// named are conditions on x for the rows that stay but lose the member's name.
var named = map[string]string{
	"connection": "x.member_id = @member and x.id <> all(@connections)",
	"entry": "x.note is not null and exists (select from change c where c.id = x.change_id and c.actor_id = " +
		"any(@actors)) and not (" + entryGone + ")",
	"rule":   "x.created_by_id = any(@actors)",
	"job":    "x.actor_id = any(@actors)",
	"report": "x.author_id = any(@actors)",
	// an evaluation's result contains transactions
	"workflow_run": "x.asked_id = any(@actors) or x.result is not null",
}
