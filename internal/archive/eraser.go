package archive

import (
	"context"
	"fmt"
	"strings"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// batchSize is the maximum number of rows that one part of an erasure handles at once.
const batchSize = 2000

// A part erases a batch of rows and returns how many it erased; zero means that none are left.
type part func(context.Context, pg.Tx) (int64, error)

// An eraser is one running erasure. It always reads the remaining work from the database, so it can
// be interrupted anywhere.
type eraser struct {
	target
	links *accountlink.Links
}

// detach takes the member's accounts and connections out of use: nothing syncs them and no total
// includes them. An account in another member's connection is given to that member. The other
// accounts and connections keep their owner until the end, so that an erasure that failed can be
// requested again.
func (t target) detach(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `update account a set owner_id = null, updated_at = clock_timestamp()
		from connection c where c.id = a.connection_id and a.owner_id = @member and c.member_id <> @member`, t.args())
	if err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `update account set hidden = true where id = any(@accounts)`, t.args()); err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		update connection set status = 'disconnected', status_reason = 'ERASED', credentials = null,
			next_sync_at = null, updated_at = clock_timestamp(),
			status_message = 'The member who connected this bank was erased; connect the bank again to sync it.'
		where member_id = @member`, t.args())
	return err
}

// all erases the data from the leaves to the root. Each part runs until it finds nothing more. If
// somebody imports a file into one of the accounts meanwhile, all parts run again.
func (e *eraser) all(ctx context.Context, q pg.Querier, do func(part) error) error {
	held, err := referring(ctx, q)
	if err != nil {
		return err
	}
	parts := []part{e.some(`delete from entry where ctid = any(array(select ctid from entry x
		where ` + saidGone + ` limit @batch))`), func(ctx context.Context, tx pg.Tx) (int64,
		error,
	) {
		return e.transactions(ctx, tx, held)
	}, e.comments}
	for name, conditions := range held {
		if where := conditions.but("transaction").any(); where != "" {
			erased := e.some("delete from " + quote(name) + " where ctid = any(array(select ctid from " +
				quote(name) + " x where " + where + " limit @batch))")
			if name == "account_balance" {
				erased = e.unproved(erased)
			}
			parts = append(parts, erased)
		}
	}
	for _, s := range leftovers {
		parts = append(parts, e.some(s))
	}
	parts = append(parts, e.wordings)
	for done := false; !done; {
		for _, p := range parts {
			for n := int64(1); n > 0; {
				err := do(func(ctx context.Context, tx pg.Tx) (_ int64, err error) {
					n, err = p(ctx, tx)
					return n, err
				})
				if err != nil {
					return fmt.Errorf("erase: %w", err)
				}
			}
		}
		err := do(func(ctx context.Context, tx pg.Tx) (n int64, err error) {
			done, n, err = e.root(ctx, tx, held)
			return n, err
		})
		if err != nil {
			return fmt.Errorf("erase: %w", err)
		}
	}
	return nil
}

// some returns a part that runs one statement.
func (e *eraser) some(statement string) part {
	return func(ctx context.Context, tx pg.Tx) (int64, error) { return pg.Exec(ctx, tx, statement, e.args()) }
}

// unproved returns a part that erases balances. If the erasure fails, the accounts remain, so their
// balance checks are marked as due again.
func (e *eraser) unproved(balances part) part {
	return func(ctx context.Context, tx pg.Tx) (int64, error) {
		n, err := balances(ctx, tx)
		if err != nil || n == 0 {
			return n, err
		}
		return n, account.Due(ctx, tx, e.Accounts)
	}
}

// leftovers removes the member from rows that stay, and deletes changes without entries. The order
// matters: a change is found by its actor until it loses the name.
var leftovers = []string{
	`delete from change where ctid = any(array(select c.ctid from change c
		where not exists (select from entry where change_id = c.id)
		and not exists (select from sync_log where change_id = c.id)
			and not exists (select from change r where r.reverts = c.id)
			limit @batch))`, // deletes a revert before the change that it reverts
	`update entry set note = null
		where ctid = any(array(select e.ctid from entry e join change c on c.id = e.change_id
		where c.actor_id = any(@actors) and e.note is not null limit @batch))`,
	`update change set actor_id = null, actor_name = @erased
		where ctid = any(array(select ctid from change where actor_id = any(@actors) limit @batch))`,
	`update rule set created_by_id = null, created_by_name = @erased where created_by_id = any(@actors)`,
	`update job set actor_id = null, actor_key = null, actor_name = @erased
		where ctid = any(array(select ctid from job where actor_id = any(@actors) limit @batch))`,
	`update report set author_id = null where author_id = any(@actors)`,
	`delete from idempotency
		where ctid = any(array(select ctid from idempotency where actor_id = any(@actors) limit @batch))`,
	`delete from write_budget where key_id = any(@actors)`,
	// Messages to and from models may be about anyone, and plans too.
	`delete from workflow_line where ctid = any(array(select ctid from workflow_line limit @batch))`,
	`update workflow_run set plan_state = 'dropped' where plan_state = 'waiting'`,
	`delete from workflow_plan where ctid = any(array(select ctid from workflow_plan limit @batch))`,
	`update workflow_run set result = null where result is not null`,
	`update workflow_run set asked_id = null, asked_name = @erased where asked_id = any(@actors)`,
}

// transactions erases some transactions with their entries in the journal and all rows that refer
// to them. Transactions of other members that were matched with them count again.
func (e *eraser) transactions(ctx context.Context, tx pg.Tx, held map[string]holders) (int64, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction
		where account_id = any(@accounts) limit @batch for update`, e.args())
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	// Parts of split transactions are erased too, with the rows that refer to them.
	parts, err := pg.Values[id.ID](ctx, tx, `select id from transaction
		where parent_id = any($1) and id <> all($1)`, ids)
	if err != nil {
		return 0, err
	}
	ids = append(ids, parts...)
	others, err := pg.Values[id.ID](ctx, tx, `select id from transaction
		where linked_id = any($1) and account_id <> all($2)`, ids, e.Accounts)
	if err != nil {
		return 0, err
	}
	if _, err := pg.Exec(ctx, tx, `delete from entry where subject = 'transaction'
		and subject_id = any($1)`, ids); err != nil {
		return 0, err
	}
	for name, conditions := range held {
		for _, r := range conditions {
			if r.Parent == "transaction" {
				if _, err := pg.Exec(ctx, tx, "delete from "+quote(name)+" where "+quote(r.Column)+" = any($1)",
					ids); err != nil {
					return 0, err
				}
			}
		}
	}
	accounts, err := pg.Values[id.ID](ctx, tx, `select distinct account_id from transaction where id = any($1)`, ids)
	if err != nil {
		return 0, err
	}
	if err := account.Due(ctx, tx, accounts); err != nil {
		return 0, err
	}
	n, err := pg.Exec(ctx, tx, `delete from transaction where id = any($1)`, ids)
	if err != nil {
		return 0, err
	}
	return n, e.links.RecomputeExclusions(ctx, tx, others)
}

// comments erases some of the member's comments on other transactions, with their entries in the
// journal.
func (e *eraser) comments(ctx context.Context, tx pg.Tx) (int64, error) {
	return pg.Exec(ctx, tx, `
		with theirs as (select id, transaction_id from comment where author_id = any(@actors) limit @batch),
		entries as (delete from entry e using theirs c where e.subject = 'transaction'
			and e.subject_id = c.transaction_id and e.ref = c.id)
		delete from comment c using theirs t where t.id = c.id`, e.args())
}

// wordings blanks some wordings that no transaction uses any more. It does not delete them, because
// the foreign key check would read all deleted transactions for each wording. Every writer of
// transactions writes to this table first, so none can use a wording while it is blanked.
func (e *eraser) wordings(ctx context.Context, tx pg.Tx) (int64, error) {
	if _, err := pg.Exec(ctx, tx, `lock table descriptor in share row exclusive mode`); err != nil {
		return 0, err
	}
	return pg.Exec(ctx, tx, `
		update descriptor d set name = '', merchant_name = 'erased ' || d.id, detail = '', folded = '', form = null,
			payee = null
		where id = any(array(
			select id from descriptor x where merchant_name <> 'erased ' || id
				and not exists (select from transaction t where t.descriptor_id = x.id and t.deleted_at is null)
				and not exists (select from transaction t where t.descriptor_id = x.id and t.deleted_at is not null)
					limit @batch))`, e.args())
}

// root erases the accounts, connections and the member, and all remaining references to them. A
// connection with another member's account is given to that member. If the accounts have
// transactions again, root erases nothing, done is false, and all parts must run again.
func (e *eraser) root(ctx context.Context, tx pg.Tx, held map[string]holders) (done bool, rows int64, err error) {
	// from here on nobody can add a transaction to the accounts
	if _, err := pg.Exec(ctx, tx, `select from account where id = any(@accounts)
		order by id for update`, e.args()); err != nil {
		return false, 0, err
	}
	filled, err := pg.Value[bool](ctx, tx, `select exists (select from transaction
		where account_id = any(@accounts))`, e.args())
	if err != nil || filled {
		return false, 0, err
	}
	var statements []string
	for name, conditions := range held {
		if where := conditions.but("transaction").any(); where != "" {
			statements = append(statements, "delete from "+quote(name)+" x where "+where)
		}
	}
	statements = append(statements, `delete from account where id = any(@accounts)`,
		`update connection c set member_id = (select owner_id from account a
			where a.connection_id = c.id and a.owner_id <> @member order by a.id limit 1)
			where member_id = @member
			and id <> all(@connections)`, `delete from connection where id = any(@connections)`,
		`delete from member where id = @member`)
	for _, s := range statements {
		n, err := pg.Exec(ctx, tx, s, e.args())
		if rows += n; err != nil {
			return false, 0, err
		}
	}
	return true, rows, nil
}

// A holder is a column that refers to a transaction, an account, a connection or a member.
type holder struct {
	Table  string `db:"table_name"`
	Column string `db:"column_name"`
	Parent string `db:"parent"`
}

type holders []holder

func (r holders) but(parent string) (out holders) {
	for _, k := range r {
		if k.Parent != parent {
			out = append(out, k)
		}
	}
	return out
}

// any returns the condition on x that one of the columns refers to the member's data, or "".
func (r holders) any() string {
	of := map[string]string{
		"transaction": "exists (select from transaction t where t.id = x.%s and t.account_id = " +
			"any(@accounts))", "account": "x.%s = any(@accounts)", "connection": "x.%s = any(@connections)",
		"member": "x.%s = @member",
	}
	conditions := make([]string, len(r))
	for i, k := range r {
		conditions[i] = fmt.Sprintf(of[k.Parent], quote(k.Column))
	}
	return strings.Join(conditions, " or ")
}

// referring returns the columns of other tables that refer to the erased rows, by table. It reads
// them from the catalog, so tables that are added later are included.
func referring(ctx context.Context, q pg.Querier) (map[string]holders, error) {
	all, err := pg.All[holder](ctx, q, `
		select c.relname::text as table_name, a.attname::text as column_name, p.relname::text as parent
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
			join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
		where k.contype = 'f' and p.relname in ('transaction', 'account', 'connection', 'member')
			and c.relname not in ('transaction', 'account', 'connection', 'member')
			and p.relnamespace = 'public'::regnamespace and c.relnamespace = p.relnamespace
		order by 1, 2`)
	out := map[string]holders{}
	for _, r := range all {
		out[r.Table] = append(out[r.Table], r)
	}
	return out, err
}
