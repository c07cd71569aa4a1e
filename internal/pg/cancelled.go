package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// cancelledMark marks a connection in its custom data.
const cancelledMark = "cancelled"

// dropCancelled keeps a pool from using a connection again after a call on it was cancelled. The
// driver stops such a call by a deadline in the past. On a busy machine it also reads in the
// background. If the call had its whole answer by then, the background read still meets the
// deadline, and its timeout waits for the next call, which did nothing wrong.
func dropCancelled(cfg *pgxpool.Config) {
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &watcher{pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}, c}
	}
	cfg.PrepareConn = func(_ context.Context, c *pgx.Conn) (bool, error) {
		return c.PgConn().CustomData()[cancelledMark] == nil, nil
	}
}

// A watcher stops what a cancelled call does on its connection, and marks the connection.
type watcher struct {
	pgconn.DeadlineContextWatcherHandler
	conn *pgconn.PgConn
}

// HandleUnwatchAfterCancel is called where the cancelled call ends, so nobody else has the
// connection yet.
func (w *watcher) HandleUnwatchAfterCancel() {
	w.conn.CustomData()[cancelledMark] = true
	w.DeadlineContextWatcherHandler.HandleUnwatchAfterCancel()
}
