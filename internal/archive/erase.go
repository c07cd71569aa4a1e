package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"coffer/internal/auth"
	"coffer/internal/id"
	"coffer/internal/pg"
)

// Erase is the input of Erase.
type Erase struct {
	ID     string `json:"id" minLength:"1" doc:"The member's UUID or short id"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show what would go"`
}

// An Erasure is what went, or would go.
type Erasure struct {
	UserID   id.ID  `json:"user_id"`
	DryRun   bool   `json:"dry_run" doc:"Nothing was erased yet"`
	Erased   []Gone `json:"erased" doc:"What belongs to the member and goes for good"`
	Unnamed  []Gone `json:"unnamed" doc:"What stays and loses the member's name"`
	Released int64  `json:"released_accounts" doc:"Accounts of the member at another's connection: they stay, as that one's"`
}

// Gone is how many rows of a table were erased or changed.
type Gone struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

const erasedName = "erased member"

var errDry = errors.New("nothing shall stay")

// askErase gives access back at the banks of whoever is to be erased, after everything that could refuse it.
func (a *Archive) askErase(ctx context.Context, q pg.Querier, in Erase) (bool, error) {
	if in.DryRun {
		return false, nil
	}
	var u auth.User
	err := a.db.InTx(ctx, func(tx pg.Tx) (err error) { // tried and taken back: what auth refuses must not have reached a bank
		if u, err = a.auth.RemoveUser(ctx, tx, in.ID); err == nil {
			err = errDry
		}
		return err
	})
	if !errors.Is(err, errDry) {
		return false, err
	}
	return true, a.feed.RevokeOf(ctx, q, u.ID)
}

// Erase takes everything that belongs to a member out of the books, for good: there is no undo, and earlier exports and backups still have it.
func (a *Archive) Erase(ctx context.Context, tx pg.Tx, in Erase, _ bool) (Erasure, error) {
	e := eraser{tx: tx, gone: map[string]int64{}, unnamed: map[string]int64{}}
	err := pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		e.tx = tx
		if !in.DryRun {
			// Whoever stores transactions writes here first, so none of them finds a wording that is about to be blanked.
			if _, err := pg.Exec(ctx, tx, `lock table descriptor in share row exclusive mode`); err != nil {
				return err
			}
		}
		u, err := a.auth.User(ctx, tx, auth.UserRef{ID: in.ID})
		if err != nil {
			return err
		}
		e.member = u.ID
		if e.gone["login"], err = pg.Value[int64](ctx, tx, `select count(*) from login where member_id = $1`, u.ID); err != nil { // which go with the next step
			return err
		}
		if _, err := a.auth.RemoveUser(ctx, tx, in.ID); err != nil {
			return err
		}
		if err := e.all(ctx); err != nil {
			return err
		}
		if in.DryRun {
			return errDry
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDry) {
		return Erasure{}, err
	}
	return Erasure{UserID: e.member, DryRun: in.DryRun, Erased: list(e.gone), Unnamed: list(e.unnamed), Released: e.released}, nil
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

// An eraser is one erasure under way.
type eraser struct {
	tx            pg.Tx
	member        id.ID
	actors        []id.ID // under which the journal knows the member: by sessions and by keys
	connections   []id.ID // theirs, of which nothing of anybody else's hangs
	accounts      []id.ID
	gone, unnamed map[string]int64
	released      int64
}

// all erases from the leaves to the root.
func (e *eraser) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{e.find, e.journal, e.transactions, e.owned, e.names} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("erase: %w", err)
		}
	}
	return nil
}

// find says what belongs to the member. An account is its owner's, else its connection's member's. What hangs on another member's sign-in at a bank would come again with the
// next sync: it stays and is that member's. A connection that holds another's accounts stays too, without its credentials, and goes to that one.
func (e *eraser) find(ctx context.Context) (err error) {
	if e.released, err = pg.Exec(ctx, e.tx, `
		update account a set owner_id = null, updated_at = clock_timestamp() from connection c where c.id = a.connection_id and a.owner_id = $1 and c.member_id <> $1`, e.member); err != nil {
		return err
	}
	if _, err = pg.Values[id.ID](ctx, e.tx, `select id from connection where member_id = $1 order by id for update`, e.member); err != nil {
		return err
	}
	e.accounts, err = pg.Values[id.ID](ctx, e.tx, `
		select a.id from account a left join connection c on c.id = a.connection_id where coalesce(a.owner_id, c.member_id) = $1 order by a.id for update of a`, e.member)
	if err != nil {
		return err
	}
	if e.connections, err = pg.Values[id.ID](ctx, e.tx, `
		select id from connection c where member_id = $1 and not exists (select from account a where a.connection_id = c.id and a.owner_id <> $1)`, e.member); err != nil {
		return err
	}
	if e.unnamed["connection"], err = pg.Exec(ctx, e.tx, `
		update connection c set member_id = (select owner_id from account a where a.connection_id = c.id and a.owner_id <> $1 order by a.id limit 1), status = 'disconnected', status_reason = 'ERASED',
			status_message = 'The member whose sign-in this was is erased; link the bank anew to sync it again.', credentials = null, next_sync_at = null, updated_at = clock_timestamp()
		where member_id = $1 and id <> all($2)`, e.member, e.connections); err != nil {
		return err
	}
	e.actors, err = pg.Values[id.ID](ctx, e.tx, `select $1::uuid union select id from token where member_id = $1`, e.member)
	return err
}

// journal erases what the journal holds of their transactions and comments, and changes of which nothing is left.
func (e *eraser) journal(ctx context.Context) error {
	changes, err := pg.Values[id.ID](ctx, e.tx, `
		select distinct change_id from entry where subject = 'transaction' and (subject_id in (select id from transaction where account_id = any($1)) or ref in (select id from comment where author_id = any($2)))`,
		e.accounts, e.actors)
	if err != nil {
		return err
	}
	if e.gone["entry"], err = pg.Exec(ctx, e.tx, `
		delete from entry where subject = 'transaction' and (subject_id in (select id from transaction where account_id = any($1)) or ref in (select id from comment where author_id = any($2)))`,
		e.accounts, e.actors); err != nil {
		return err
	}
	if e.gone["sync_log"], err = pg.Exec(ctx, e.tx, `delete from sync_log where connection_id = any($1)`, e.connections); err != nil {
		return err
	}
	for n := int64(1); n > 0; e.gone["change"] += n { // a revert goes before what it reverts, and a revert of that before it
		n, err = pg.Exec(ctx, e.tx, `
			delete from change c where c.id = any($1) and not exists (select from entry where change_id = c.id)
				and not exists (select from sync_log where change_id = c.id) and not exists (select from change r where r.reverts = c.id)`, changes)
		if err != nil {
			return err
		}
	}
	if e.unnamed["entry"], err = pg.Exec(ctx, e.tx, `
		update entry e set note = null from change c where c.id = e.change_id and c.actor_id = any($1) and e.note is not null`, e.actors); err != nil {
		return err
	}
	e.gone["comment"], err = pg.Exec(ctx, e.tx, `delete from comment where author_id = any($2) or transaction_id in (select id from transaction where account_id = any($1))`, e.accounts, e.actors)
	return err
}

// transactions erases the transactions, with what the bank wrote about them where nobody else's has the same wording.
// Wordings are blanked and not deleted: looking for who still uses each would read all transactions once for every one of them.
func (e *eraser) transactions(ctx context.Context) (err error) {
	if _, err = pg.Exec(ctx, e.tx, `
		update transaction set linked_id = null, excluded = false, transfer = false, updated_at = clock_timestamp()
		where linked_id in (select id from transaction where account_id = any($1)) and account_id <> all($1)`, e.accounts); err != nil {
		return err
	}
	e.gone["descriptor"], err = pg.Exec(ctx, e.tx, `
		update descriptor d set name = '', merchant_name = 'erased ' || d.id, folded = ''
		from (select descriptor_id from transaction group by 1 having bool_and(account_id = any($1))) u where u.descriptor_id = d.id`, e.accounts)
	if err != nil {
		return err
	}
	if err := e.referring(ctx, "transaction", "select id from transaction where account_id = any($1)", e.accounts); err != nil {
		return err
	}
	e.gone["transaction"], err = pg.Exec(ctx, e.tx, `delete from transaction where account_id = any($1)`, e.accounts)
	return err
}

// owned erases accounts, connections and the member, and whatever refers to them.
func (e *eraser) owned(ctx context.Context) (err error) {
	if err := e.referring(ctx, "account", "select unnest($1::uuid[])", e.accounts); err != nil {
		return err
	}
	if e.gone["account"], err = pg.Exec(ctx, e.tx, `delete from account where id = any($1)`, e.accounts); err != nil {
		return err
	}
	if err := e.referring(ctx, "connection", "select unnest($1::uuid[])", e.connections); err != nil {
		return err
	}
	if e.gone["connection"], err = pg.Exec(ctx, e.tx, `delete from connection where id = any($1)`, e.connections); err != nil {
		return err
	}
	if err := e.referring(ctx, "member", "select unnest($1::uuid[])", []id.ID{e.member}); err != nil {
		return err
	}
	e.gone["member"], err = pg.Exec(ctx, e.tx, `delete from member where id = $1`, e.member)
	return err
}

// referring deletes the rows of every table that refer to what is about to go, by what the catalog says: tables that are added later are not forgotten.
// References of a table to itself are seen to before.
func (e *eraser) referring(ctx context.Context, table, which string, ids []id.ID) error {
	type reference struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
	}
	all, err := pg.All[reference](ctx, e.tx, `
		select c.relname::text as table_name, a.attname::text as column_name
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
		where k.contype = 'f' and k.confrelid = $1::text::regclass and k.conrelid <> k.confrelid order by 1, 2`, table)
	if err != nil {
		return err
	}
	for _, r := range all {
		n, err := pg.Exec(ctx, e.tx, "delete from "+quote(r.Table)+" where "+quote(r.Column)+" in ("+which+")", ids)
		if err != nil {
			return err
		}
		e.gone[r.Table] += n
	}
	return nil
}

// names takes the member's name off what stays: what they did to others' transactions, and what they defined for the household.
func (e *eraser) names(ctx context.Context) (err error) {
	if e.unnamed["change"], err = pg.Exec(ctx, e.tx, `update change set actor_id = null, actor_name = $2 where actor_id = any($1)`, e.actors, erasedName); err != nil {
		return err
	}
	if e.unnamed["rule"], err = pg.Exec(ctx, e.tx, `update rule set created_by_id = null, created_by_name = $2 where created_by_id = any($1)`, e.actors, erasedName); err != nil {
		return err
	}
	if e.unnamed["job"], err = pg.Exec(ctx, e.tx, `update job set actor_id = null, actor_name = $2 where actor_id = any($1)`, e.actors, erasedName); err != nil {
		return err
	}
	e.gone["idempotency"], err = pg.Exec(ctx, e.tx, `delete from idempotency where actor_id = any($1)`, e.actors)
	return err
}
