package job

import (
	"context"
	"fmt"
	"log/slog"

	"coffer/internal/pg"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schema is where River's tables stand, away from ours.
const schema = "river"

// Schema is the part of the database that River creates itself; migrations pass it to pg.
func Schema() pg.Step {
	all := migrator(nil).AllVersions()
	newest := all[len(all)-1].Version
	return pg.Step{
		Name: fmt.Sprintf("river %d", newest),
		Pending: func(ctx context.Context, q pg.Querier) (bool, error) {
			made, err := pg.Value[bool](ctx, q, `select to_regclass('river.river_migration') is not null`)
			if err != nil || !made {
				return !made, err
			}
			at, err := pg.Value[int](ctx, q, `select coalesce(max(version), 0)::int from river.river_migration
				where line = 'main'`)
			return at < newest, err
		},
		Run: func(ctx context.Context, db *pg.DB) error {
			_, err := migrator(db.Pool).Migrate(ctx, rivermigrate.DirectionUp, nil)
			return err
		},
	}
}

func migrator(pool *pgxpool.Pool) *rivermigrate.Migrator[pgx.Tx] {
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		Schema: schema,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err) // nothing of it comes from outside
	}
	return m
}
