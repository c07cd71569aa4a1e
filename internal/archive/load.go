package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Imported describes the imported data, and what was switched off.
type Imported struct {
	Manifest
	Closed Closed
}

// Closed counts what an import switches off and a person must switch on again. An archive may be
// from a stranger, or a copy of a household that is still in use elsewhere.
type Closed struct {
	Connections int64 // connections that were not disconnected; an export has no credentials
	Workflows   int64 // workflows that were enabled
	Addresses   int64 // of model servers, which would receive the data that agents read
}

// Import imports an export into an empty household, completely or not at all.
func (a *Archive) Import(ctx context.Context, r io.ReaderAt, size int64, moved progress) (Imported, error) {
	in, err := open(r, size, Export, a.db.Newest())
	if err != nil {
		return Imported{}, err
	}
	err = a.into(ctx, in, moved)
	return Imported{in.Manifest, in.closed}, err
}

func (a *Archive) into(ctx context.Context, in *reader, moved progress) error {
	err := pgx.BeginFunc(ctx, a.db.Pool, func(tx pgx.Tx) error { return in.load(ctx, tx, moved) })
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && (pe.Code[:2] == "23" || pe.Code == "42703") {
		err = errs.Wrap(err, errs.ValidationError,
			"this archive has schema %d, which this version of coffer (%s) doesn't support: import it with "+
				"the version that wrote it (%s), then upgrade that installation", in.Schema, pe.ConstraintName,
			in.Coffer)
	}
	return err
}

// load replaces the rows of a new household with the archive's. It reads the rows back and compares
// them with the manifest before the commit. Foreign keys are dropped first and created again at the
// end, so rows may be in any order.
func (a *reader) load(ctx context.Context, tx pg.Tx, moved progress) error {
	if _, err := pg.Exec(ctx, tx, `select set_config('statement_timeout', '0', true),
		set_config('lock_timeout', '0', true)`); err != nil {
		return err
	}
	all, err := tables(ctx, tx, a.Kind)
	if err != nil {
		return err
	}
	if err := a.empty(ctx, tx, all); err != nil {
		return err
	}
	older, err := a.older(ctx, tx)
	if err != nil {
		return err
	}
	keys, err := foreignKeys(ctx, tx)
	if err != nil {
		return err
	}
	if err := keys.drop(ctx, tx); err != nil {
		return err
	}
	for _, t := range all {
		if err := t.clear(ctx, tx); err != nil {
			return err
		}
	}
	for _, c := range a.Tables {
		i := slices.IndexFunc(all, func(t table) bool { return t.name == c.Table })
		if i < 0 {
			return errs.New(errs.ValidationError,
				"this archive contains the unknown table %q; upgrade coffer first",
				c.Table)
		}
		if err := a.fill(ctx, tx, all[i], c, moved); err != nil {
			return err
		}
	}
	if !older { // an older schema may lack the tables and columns of the check
		if err := knownProviders(ctx, tx); err != nil {
			return err
		}
	}
	if a.Kind == Export {
		if a.closed, err = closeDoors(ctx, tx); err != nil {
			return err
		}
		if err := homeless(ctx, tx); err != nil {
			return err
		}
	}
	for _, t := range all {
		if err := t.finishTable(ctx, tx); err != nil {
			return err
		}
	}
	return keys.add(ctx, tx)
}

// closeDoors switches off everything imported from an export that would run by itself or send data
// to another server.
func closeDoors(ctx context.Context, tx pg.Tx) (out Closed, err error) {
	// An archive has no credentials, so no sync of these connections could succeed. The API calls
	// this status disconnected.
	if out.Connections, err = pg.Exec(ctx, tx, `
		update connection set status = 'disconnected', status_reason = 'IMPORTED',
			status_message = 'This connection came from an export, which contains no credentials; link the bank again to sync it.', next_sync_at = null
		where provider <> 'csv' and status <> 'disconnected'`); err != nil {
		return out, err
	}
	if out.Workflows, err = pg.Exec(ctx, tx, `update workflow set enabled = false, due_at = null
		where enabled or due_at is not null`); err != nil {
		return out, err
	}
	out.Addresses, err = pg.Exec(ctx, tx, `update model_setting set base_url = null, version = version + 1
		where base_url is not null`)
	return out, err
}

// knownProviders returns an error if there are rows of a provider that this version does not know,
// because it could neither sync nor show them.
func knownProviders(ctx context.Context, tx pg.Tx) error {
	some, err := pg.Value[bool](ctx, tx, `
		select exists (
			select provider from connection union all select provider from account union all select provider
				from category_mapping union all
			select provider from link_session union all select provider from webhook_event union all select provider
				from provider_setting
			except select unnest($1::text[]))`, all.Keeper("").Enum())
	if err != nil || !some {
		return err
	}
	return errs.New(errs.ValidationError,
		"this archive contains records of an unknown provider; upgrade coffer first")
}

// homeless returns an error if a sign-in method, key or session of the new household belongs to a
// member who is missing or deleted in the archive. After the import it would belong to nobody.
func homeless(ctx context.Context, tx pg.Tx) error {
	some, err := pg.Value[bool](ctx, tx, `
		select exists (select from login l
			where not exists (select from member m where m.id = l.member_id and m.deleted_at is null))
			or exists (select from token t where t.member_id is not null
				and not exists (select from member m where m.id = t.member_id
				and (m.deleted_at is null or t.revoked_at is not null)))`)
	if err != nil || !some {
		return err
	}
	return errs.New(errs.Conflict,
		"a member who is not in the archive has already signed in or created a key here: import the archive "+
			"into a new, empty database, then sign in")
}

// empty locks all tables, so that nothing is added during the import. It returns an error if the
// household already has data.
func (a *reader) empty(ctx context.Context, tx pg.Tx, all []table) error {
	for _, t := range all {
		if _, err := pg.Exec(ctx, tx, "lock table "+quote(t.name)+" in access exclusive mode"); err != nil {
			return err
		}
	}
	for _, t := range all {
		foreign := "true"
		if rows := seeded[t.name]; rows != "" {
			foreign = "not (" + rows + ")"
			if a.Kind == Backup && a.Schema < a.newest { // the columns may not exist yet
				foreign = "false"
			}
		}
		full, err := pg.Value[bool](ctx, tx, "select exists (select from "+quote(t.name)+" where "+foreign+")")
		if err != nil {
			return err
		}
		if full {
			return errs.New(errs.Conflict,
				"this household is not empty (the table %q has rows): import the archive into a new, empty database",
				t.name)
		}
	}
	return nil
}

// older reports whether the database's schema is older than this program's. It returns an error if
// the schema is not the backup's, because another server may have migrated the database since
// Restore created it.
func (a *reader) older(ctx context.Context, tx pg.Tx) (bool, error) {
	if a.Kind == Export || a.development() {
		return false, nil
	}
	at, err := pg.Value[int64](ctx, tx, `select max(version_id) from schema_version`)
	if err == nil && at != a.Schema {
		err = errs.New(errs.Conflict, "another coffer has started on this database meanwhile: restore into a new, "+
			"empty one")
	}
	return at < a.newest, err
}

// clear empties the table and disables its triggers, because the archive already contains their
// effects.
func (t table) clear(ctx context.Context, tx pg.Tx) error {
	for _, s := range []string{
		"alter table " + quote(t.name) + " disable trigger user",
		"delete from " + quote(t.name),
	} {
		if _, err := pg.Exec(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}

// fill writes the rows of a table and reads them back.
func (a *reader) fill(ctx context.Context, tx pg.Tx, t table, c Content, moved progress) error {
	t = t.as(c.Columns)
	for _, name := range c.Columns {
		if !t.has(name) {
			return errs.New(errs.ValidationError,
				"this archive has schema %d and an unknown column %q of %q: import it with the version that "+
					"wrote it (%s), then upgrade that installation", a.Schema, name, c.Table, a.Coffer)
		}
	}
	into := t.fill()
	err := a.batches(c, func(array []byte, rows int64) error {
		_, err := pg.Exec(ctx, tx, into, string(array))
		if moved != nil {
			moved(rows)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("fill %s: %w", t.name, err)
	}
	var again Content
	if err := t.print(ctx, tx, io.Discard, &again, nil); err != nil {
		return err
	}
	if again.SHA256 != c.SHA256 {
		return fmt.Errorf("archive: the stored rows of %s differ from the rows that were read", t.name)
	}
	return nil
}

// finishTable enables the triggers again, updates the planner's statistics, and makes sequences
// continue after the last number.
func (t table) finishTable(ctx context.Context, tx pg.Tx) error {
	statements := []string{"alter table " + quote(t.name) + " enable trigger user", "analyze " + quote(t.name)}
	for _, c := range t.columns {
		if c.Counted {
			statements = append(statements,
				fmt.Sprintf("select setval(pg_get_serial_sequence('%s', '%s'), coalesce(max(%s), 0) + 1, false) from "+
					"%s", t.name, c.Name, quote(c.Name), quote(t.name)))
		}
	}
	for _, s := range statements {
		if _, err := pg.Exec(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}

// A foreignKey is a reference of one table to another.
type foreignKey struct {
	Table      string `db:"table_name"`
	Name       string `db:"name"`
	Definition string `db:"definition"`
}

type references []foreignKey

func foreignKeys(ctx context.Context, q pg.Querier) (references, error) {
	return pg.All[foreignKey](ctx, q, `
		select c.relname::text as table_name, k.conname::text as name, pg_get_constraintdef(k.oid) as definition
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
		where k.contype = 'f' and n.nspname = 'public' order by 1, 2`)
}

func (r references) drop(ctx context.Context, tx pg.Tx) error {
	for _, k := range r {
		if _, err := pg.Exec(ctx, tx, "alter table "+quote(k.Table)+" drop constraint "+quote(k.Name)); err != nil {
			return err
		}
	}
	return nil
}

func (r references) add(ctx context.Context, tx pg.Tx) error {
	for _, k := range r {
		if _, err := pg.Exec(ctx, tx, "alter table "+quote(k.Table)+" add constraint "+quote(k.Name)+" "+
			k.Definition); err != nil {
			return fmt.Errorf("reference %s: %w", k.Name, err)
		}
	}
	return nil
}
