package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"github.com/jackc/pgx/v5"
)

// A Definition makes a table of definitions (tags, categories, counterparties) a Subject: its rows are recorded whole, as JSON, and set back whole.
// Its owner makes it, so that only the owner's rows are ever written through it. The table has the columns id, deleted_at and updated_at; unique says which column names a live row, if one does.
type Definition struct {
	Subject string
	Table   string
	Columns []string // what makes a row's meaning, without deleted_at
	Unique  string
	Gone    string // a column that is set in a row which another one stands for; "" where there is none
	// Fits says which of these records would contradict the others if they became so now; may be nil.
	Fits func(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error)
}

// Leaves says whether a row that becomes this record goes out of use.
func (d Definition) Leaves(record *string) bool {
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

// Read is the rows as they are now: the JSON of each live one, and nothing of those that are deleted or were never made.
func (d Definition) Read(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]*string, error) {
	rows, err := q.Query(ctx, fmt.Sprintf(`select id, to_jsonb(x)::text from (select id, %s from %s where id = any($1) and deleted_at is null) x`, strings.Join(d.Columns, ", "), d.table()), ids)
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

// Around runs a write of these rows and answers the entries for what it did to them.
func (d Definition) Around(ctx context.Context, tx pg.Tx, ids []id.ID, source string, write func() error) ([]Entry, error) {
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
		entries = append(entries, Entry{Subject: d.Subject, SubjectID: u, Field: FieldRecord, Before: b, After: a, AfterSource: &source})
	}
	return entries, nil
}

// Recorded runs a write of these rows and records what it did to them, with what followed from it, as one change.
func (d Definition) Recorded(ctx context.Context, tx pg.Tx, ids []id.ID, summary string, write func() ([]Entry, error)) error {
	var more []Entry
	entries, err := d.Around(ctx, tx, ids, Source(op.ActorOf(ctx)), func() (err error) {
		more, err = write()
		return err
	})
	if err != nil {
		return err
	}
	_, err = Record(ctx, tx, Note{Summary: summary}, append(entries, more...))
	return err
}

// Apply implements Subject: a row becomes the record after, or a tombstone when there is none.
func (d Definition) Apply(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error) {
	var skipped []Skipped
	var free []Entry
	for _, e := range entries {
		if e.After != nil && d.Unique != "" {
			taken, err := d.taken(ctx, tx, e)
			if err != nil {
				return nil, err
			}
			if taken {
				skipped = append(skipped, Skip(e, "conflict"))
				continue
			}
		}
		free = append(free, e)
	}
	if d.Fits != nil {
		left, err := d.Fits(ctx, tx, free)
		if err != nil {
			return nil, err
		}
		skipped = append(skipped, left...)
		free = slices.DeleteFunc(free, func(e Entry) bool { return slices.ContainsFunc(left, func(s Skipped) bool { return s.entry == e.ID }) })
	}
	var ids []id.ID
	var records []*string
	for _, e := range free {
		ids, records = append(ids, e.SubjectID), append(records, e.After)
	}
	set := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		set[i] = fmt.Sprintf("%[1]s = case when v.record is null then t.%[1]s else r.%[1]s end", pgx.Identifier{c}.Sanitize())
	}
	_, err := tx.Exec(ctx, fmt.Sprintf(`
		update %[1]s t set %[2]s, deleted_at = case when v.record is null then clock_timestamp() end, updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[]) v (id, record)
		left join lateral jsonb_populate_record(null::%[1]s, v.record::jsonb) r on true
		where t.id = v.id`, d.table(), strings.Join(set, ", ")), ids, records)
	if err != nil {
		return nil, fmt.Errorf("set %s back: %w", d.Table, err)
	}
	return skipped, nil
}

// taken says whether another live row has taken the name since. Definitions are few in any one change, so one query each is enough.
func (d Definition) taken(ctx context.Context, tx pg.Tx, e Entry) (bool, error) {
	var record map[string]any
	if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
		return false, fmt.Errorf("read a recorded %s: %w", d.Table, err)
	}
	name := fmt.Sprint(record[d.Unique])
	var found bool
	err := tx.QueryRow(ctx, fmt.Sprintf(`select exists (select from %s where lower(%s) = lower($1) and id <> $2 and deleted_at is null)`,
		d.table(), pgx.Identifier{d.Unique}.Sanitize()), name, e.SubjectID).Scan(&found)
	return found, err
}

func (d Definition) table() string { return pgx.Identifier{d.Table}.Sanitize() }
