package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A Definition makes a table of definitions (tags, categories, counterparties) a Subject: its rows
// are recorded and restored whole, as JSON. The owner of the table creates the Definition, so that
// only the owner's rows are written through it. The table has the columns id, deleted_at and
// updated_at. Unique names the column that identifies a live row, if there is one.
type Definition struct {
	Subject string
	Table   string
	Columns []string // the row's content, without deleted_at
	Unique  string
	Gone    string // a column that is set if another row replaces this one; "" if there is none
	// Computed lists columns that the database computes and nobody can set.
	Computed []string
	// Fits returns the records that would contradict others if they were set now; may be nil.
	Fits func(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error)
	// Carried counts the transactions that lose or get these rows when the rows are deleted or
	// restored. It is nil if the entries of such a change name the transactions.
	Carried func(ctx context.Context, q pg.Querier, ids []id.ID) (int, error)
}

// Writes returns the cost of these entries in an agent's budget beyond one write for each record.
func (d Definition) Writes(ctx context.Context, q pg.Querier, entries []Entry) (int, error) {
	var ids []id.ID
	for _, e := range entries {
		if e.Field == FieldRecord && (e.Before == nil) != (e.After == nil) {
			ids = append(ids, e.SubjectID)
		}
	}
	if d.Carried == nil || len(ids) == 0 {
		return 0, nil
	}
	return d.Carried(ctx, q, ids)
}

// Leaves reports whether this value of the field takes a row out of use.
func (d Definition) Leaves(_ string, record *string) bool {
	if record == nil {
		return true
	}
	var columns map[string]any
	return d.Gone != "" && json.Unmarshal([]byte(*record), &columns) == nil && columns[d.Gone] != nil
}

// Kind implements Subject.
func (d Definition) Kind() string { return d.Subject }

// Lock implements Subject.
func (d Definition) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`select from %s where id = any($1) order by id for update`, d.table()), ids)
	return err
}

// Read returns the current JSON of each live row. Deleted and missing rows are left out.
func (d Definition) Read(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]*string, error) {
	rows, err := q.Query(ctx, fmt.Sprintf(`select id, to_jsonb(x)::text
		from (select id, %s from %s where id = any($1)
		and deleted_at is null) x`, strings.Join(d.Columns, ", "), d.table()), ids)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Table, err)
	}
	out := make(map[id.ID]*string, len(ids))
	var u id.ID
	var record string
	_, err = pgx.ForEachRow(rows, []any{&u, &record}, func() error {
		out[u] = new(record)
		return nil
	})
	return out, err
}

// Around runs a write to these rows and returns the entries for its effects on them.
func (d Definition) Around(ctx context.Context, tx pg.Tx, ids []id.ID, source string, write func() error) ([]Entry,
	error,
) {
	before, err := d.Read(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	if err := write(); err != nil {
		return nil, err
	}
	after, err := d.Read(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, u := range ids {
		b, a := before[u], after[u]
		if b == nil && a == nil || b != nil && a != nil && *b == *a {
			continue
		}
		entries = append(entries, Entry{
			Subject: d.Subject, SubjectID: u, Field: FieldRecord, Before: b, After: a,
			AfterSource: &source,
		})
	}
	return entries, nil
}

// Recorded runs a write to these rows and records its effects and their consequences as one change.
func (d Definition) Recorded(ctx context.Context, tx pg.Tx, ids []id.ID, n Note,
	write func() ([]Entry, error),
) error {
	var more []Entry
	entries, err := d.Around(ctx, tx, ids, Source(op.ActorOf(ctx)), func() (err error) {
		more, err = write()
		return err
	})
	if err != nil {
		return err
	}
	if n.Writes, err = d.Writes(ctx, tx, entries); err != nil {
		return err
	}
	_, err = Record(ctx, tx, n, append(entries, more...))
	return err
}

// Apply implements Subject: a row becomes the record after the entry, or a tombstone if there is
// none. If a concurrent transaction takes a name first, Apply waits for that transaction and then
// skips the entry as a conflict.
func (d Definition) Apply(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error) {
	for range patience {
		free, skipped, err := d.free(ctx, tx, entries)
		if err != nil {
			return nil, err
		}
		err = pg.Savepoint(ctx, tx, func(tx pg.Tx) error { return d.set(ctx, tx, free) })
		if err == nil || !pg.Taken(err) {
			return skipped, err
		}
	}
	return nil, errs.New(errs.Conflict, "other calls are using the names to be restored; try again")
}

// patience is how often a revert checks again for names that were taken in the meantime.
const patience = 5

// free returns the entries that can be set now.
func (d Definition) free(ctx context.Context, tx pg.Tx, entries []Entry) (free []Entry, skipped []Skipped, err error) {
	for _, e := range entries {
		if e.After != nil && d.Unique != "" {
			taken, err := d.taken(ctx, tx, e)
			if err != nil {
				return nil, nil, err
			}
			if taken {
				skipped = append(skipped, Skip(e, "conflict"))
				continue
			}
		}
		free = append(free, e)
	}
	if d.Fits == nil {
		return free, skipped, nil
	}
	left, err := d.Fits(ctx, tx, free)
	if err != nil {
		return nil, nil, err
	}
	free = slices.DeleteFunc(free, func(e Entry) bool {
		return slices.ContainsFunc(left,
			func(s Skipped) bool { return s.entry == e.ID })
	})
	return free, append(skipped, left...), nil
}

// set writes the rows according to the entries.
func (d Definition) set(ctx context.Context, tx pg.Tx, entries []Entry) error {
	var ids []id.ID
	var records []*string
	for _, e := range entries {
		ids, records = append(ids, e.SubjectID), append(records, e.After)
	}
	set := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		set[i] = fmt.Sprintf("%[1]s = case when v.record is null then t.%[1]s else r.%[1]s end",
			pgx.Identifier{c}.Sanitize())
	}
	_, err := tx.Exec(ctx, fmt.Sprintf(`
		update %[1]s t set %[2]s, deleted_at = case when v.record is null then clock_timestamp() end,
			updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[]) v (id, record)
		left join lateral jsonb_populate_record(null::%[1]s, v.record::jsonb) r on true
		where t.id = v.id`, d.table(), strings.Join(set, ", ")), ids, records)
	if err != nil {
		return fmt.Errorf("set %s back: %w", d.Table, err)
	}
	return nil
}

// Rows implements maker.
func (d Definition) Rows(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]json.RawMessage, error) {
	rows, err := q.Query(ctx, fmt.Sprintf(`select id, to_jsonb(t) from %s t where id = any($1)`, d.table()), ids)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Table, err)
	}
	return collectRows(rows)
}

func collectRows(rows pgx.Rows) (map[id.ID]json.RawMessage, error) {
	out := map[id.ID]json.RawMessage{}
	var u id.ID
	var row json.RawMessage
	_, err := pgx.ForEachRow(rows, []any{&u, &row}, func() error {
		out[u] = slices.Clone(row)
		return nil
	})
	return out, err
}

// Make implements maker. An existing row stays unchanged.
func (d Definition) Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error {
	var first map[string]json.RawMessage
	if err := json.Unmarshal(rows[0], &first); err != nil {
		return fmt.Errorf("read a planned %s: %w", d.Table, err)
	}
	var columns []string
	for _, c := range slices.Sorted(maps.Keys(first)) {
		if c != "deleted_at" && !slices.Contains(d.Computed, c) {
			columns = append(columns, pgx.Identifier{c}.Sanitize())
		}
	}
	printed, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("print planned rows: %w", err)
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`
		insert into %[1]s (%[2]s, deleted_at)
		select %[2]s, clock_timestamp() from jsonb_populate_recordset(null::%[1]s, $1::text::jsonb)
		on conflict (id) do nothing`, d.table(), strings.Join(columns, ", ")), string(printed))
	if err != nil {
		return fmt.Errorf("create %s: %w", d.Table, err)
	}
	return nil
}

// taken reports whether another live row uses the name. A change has few definitions, so one query
// for each is enough.
func (d Definition) taken(ctx context.Context, tx pg.Tx, e Entry) (bool, error) {
	var record map[string]any
	if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
		return false, fmt.Errorf("read a recorded %s: %w", d.Table, err)
	}
	name := fmt.Sprint(record[d.Unique])
	var found bool
	err := tx.QueryRow(ctx, fmt.Sprintf(`select exists (select from %s
		where lower(%s) = lower($1) and id <> $2 and deleted_at is null)`,
		d.table(), pgx.Identifier{d.Unique}.Sanitize()), name, e.SubjectID).Scan(&found)
	return found, err
}

func (d Definition) table() string { return pgx.Identifier{d.Table}.Sanitize() }
