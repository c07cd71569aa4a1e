package archive

import (
	"context"
	"fmt"
	"time"

	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// turnLock is the advisory lock of the server that backs up or migrates. The database lets go of it
// when that server's connection ends, however it ends.
const turnLock int64 = 0x636f_6666_6572_0049

// turnPause is between two looks at the lock.
const turnPause = 500 * time.Millisecond

// InTurn runs f when no other server backs up or migrates, and keeps the others from it meanwhile.
func InTurn(ctx context.Context, db *pg.DB, f func(context.Context) error) error {
	for {
		ran, err := IfFree(ctx, db, f)
		if ran || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(turnPause):
		}
	}
}

// IfFree runs f unless another server backs up or migrates now, and reports whether it ran it.
func IfFree(ctx context.Context, db *pg.DB, f func(context.Context) error) (ran bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, db.Config().ConnConfig) // its end is the end of the lock
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	free, err := pg.Value[bool](ctx, conn, `select pg_try_advisory_lock($1)`, turnLock)
	if err != nil || !free {
		return false, err
	}
	return true, f(ctx)
}
