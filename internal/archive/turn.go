package archive

import (
	"context"
	"fmt"
	"time"

	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// turnLock is the advisory lock of the server that backs up or migrates. The database releases it
// when that server's connection ends for any reason.
const turnLock int64 = 0x636f_6666_6572_0049

// turnPause is the pause between two attempts to get the lock.
const turnPause = 500 * time.Millisecond

// InTurn waits until no other server backs up or migrates, and then runs f. No other server can
// begin meanwhile.
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

// IfFree runs f unless another server is backing up or migrating. It reports whether it ran f.
func IfFree(ctx context.Context, db *pg.DB, f func(context.Context) error) (ran bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, db.Config().ConnConfig) // closing it releases the lock
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
