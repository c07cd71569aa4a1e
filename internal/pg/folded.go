package pg

import (
	"context"
	"database/sql"
	"fmt"

	"coffer/internal/text"
	"github.com/pressly/goose/v3"
)

// foldedVersion is the number of the step below; no SQL file has it.
const foldedVersion = 4

// foldedStep is a step in Go, because PostgreSQL's idea of lower case goes by the locale and Go's does not: every wording gets its folded text, which searches look at.
func foldedStep() *goose.Migration {
	return goose.NewGoMigration(foldedVersion, &goose.GoFunc{RunTx: addFolded}, nil)
}

func addFolded(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range []string{
		`set local statement_timeout = 0`,
		`drop index descriptor_text`, // first, or each row filled below would be written into it
		`alter table descriptor add column folded text`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	for after, more := int32(0), true; more; {
		var err error
		if after, more, err = foldSome(ctx, tx, after); err != nil {
			return fmt.Errorf("fold wordings: %w", err)
		}
	}
	for _, statement := range []string{
		`alter table descriptor alter column folded set not null`,
		`create index descriptor_folded on descriptor using gin (folded gin_trgm_ops)`, // contains, words, fuzzy
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// foldSome fills the next wordings behind that id, and answers the last it filled.
func foldSome(ctx context.Context, tx *sql.Tx, after int32) (last int32, more bool, err error) {
	rows, err := tx.QueryContext(ctx, `select id, name, merchant_name from descriptor where id > $1 order by id limit 10000`, after)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close() //nolint:errcheck // Err says what went wrong
	var ids []int32
	var folded []string
	for rows.Next() {
		var name, merchant string
		if err := rows.Scan(&last, &name, &merchant); err != nil {
			return 0, false, err
		}
		ids, folded = append(ids, last), append(folded, text.Fold(name)+"\n"+text.Fold(merchant))
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return 0, false, err
	}
	_, err = tx.ExecContext(ctx, `update descriptor d set folded = v.folded from unnest($1::int[], $2::text[]) v (id, folded) where d.id = v.id`, ids, folded)
	return last, true, err
}
