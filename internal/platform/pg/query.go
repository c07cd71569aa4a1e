package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrNoRow is the error of One and Value if the statement returns no row.
var ErrNoRow = errors.New("no row")

// All collects every row by column name into a T, whose fields have `db` tags. Without an error it
// never returns nil, so that JSON shows [].
func All[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	if out == nil {
		out = []T{}
	}
	return out, nil
}

// One collects the first row by column name, or returns ErrNoRow.
func One[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return *new(T), fmt.Errorf("query: %w", err)
	}
	return first(pgx.CollectOneRow(rows, pgx.RowToStructByName[T]))
}

// Value returns the first column of the first row, or ErrNoRow.
func Value[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return *new(T), fmt.Errorf("query: %w", err)
	}
	return first(pgx.CollectOneRow(rows, pgx.RowTo[T]))
}

// Values returns the first column of every row.
func Values[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	return out, nil
}

// Exec runs a statement and returns the number of rows that it changed.
func Exec(ctx context.Context, q Querier, sql string, args ...any) (int64, error) {
	tag, err := q.Exec(ctx, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("exec: %w", err)
	}
	return tag.RowsAffected(), nil
}

// OrNull converts a text for a column that has null instead of an empty text.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func first[T any](v T, err error) (T, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return *new(T), ErrNoRow
	}
	if err != nil {
		return *new(T), fmt.Errorf("collect: %w", err)
	}
	return v, nil
}

var _ Querier = (*DB)(nil)
