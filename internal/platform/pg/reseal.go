package pg

import (
	"context"
	"fmt"

	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
)

// A SealedColumn is a bytea column with values that seal.Ring sealed for the Place of the table,
// the column and the row's key as text. NULL means that the row has no sealed value.
type SealedColumn struct{ Table, Column, Key string }

const resealBatch = 500

// Reseal rewraps every value of the column with the ring's current key, in batches that lock only
// their own rows, and returns how many it rewrapped.
func (db *DB) Reseal(ctx context.Context, ring *seal.Ring, c SealedColumn) (int, error) {
	table, column, key := pgx.Identifier{c.Table}.Sanitize(), pgx.Identifier{c.Column}.Sanitize(), pgx.Identifier{
		c.Key,
	}.Sanitize()
	page := fmt.Sprintf(`select %[3]s::text, %[2]s from %[1]s where %[2]s is not null and %[3]s::text > $1
		order by %[3]s::text limit %[4]d for update`, table, column, key, resealBatch)
	write := fmt.Sprintf(`update %[1]s t set %[2]s = n.sealed from unnest($1::text[], $2::bytea[]) n (key, sealed)
		where t.%[3]s::text = n.key`, table, column, key)
	total, after := 0, ""
	for {
		var seen, changed int
		var last string
		err := db.InTx(ctx, func(tx Tx) error {
			seen, changed, last = 0, 0, after
			rows, err := tx.Query(ctx, page, after)
			if err != nil {
				return fmt.Errorf("read sealed values: %w", err)
			}
			var keys []string
			var values [][]byte
			var row string
			var sealed []byte
			_, err = pgx.ForEachRow(rows, []any{&row, &sealed}, func() error {
				seen, last = seen+1, row
				if !ring.Stale(sealed) {
					return nil
				}
				resealed, err := ring.Rewrap(seal.Place{Table: c.Table, Column: c.Column, Row: row}, sealed)
				if err != nil {
					return fmt.Errorf("%s.%s of row %s: %w", c.Table, c.Column, row, err)
				}
				keys, values = append(keys, row), append(values, resealed)
				return nil
			})
			if err != nil {
				return err
			}
			changed = len(keys)
			if changed == 0 {
				return nil
			}
			_, err = Exec(ctx, tx, write, keys, values)
			return err
		})
		if err != nil {
			return total, err
		}
		total, after = total+changed, last
		if seen < resealBatch {
			return total, nil
		}
	}
}

// Unopened returns the keys of the column's rows whose value the ring cannot open. It locks them.
func Unopened(ctx context.Context, tx Tx, ring *seal.Ring, c SealedColumn) ([]string, error) {
	table, column, key := pgx.Identifier{c.Table}.Sanitize(), pgx.Identifier{c.Column}.Sanitize(), pgx.Identifier{
		c.Key,
	}.Sanitize()
	rows, err := tx.Query(ctx, fmt.Sprintf(`select %[3]s::text, %[2]s from %[1]s where %[2]s is not null
		order by 1 for update`, table, column, key))
	if err != nil {
		return nil, fmt.Errorf("read sealed values: %w", err)
	}
	var lost []string
	var row string
	var sealed []byte
	_, err = pgx.ForEachRow(rows, []any{&row, &sealed}, func() error {
		if _, err := ring.Open(seal.Place{Table: c.Table, Column: c.Column, Row: row}, sealed); err != nil {
			lost = append(lost, row)
		}
		return nil
	})
	return lost, err
}
