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

// dropCancelled keeps a pool from reusing a connection after a call on it was canceled. The driver
// stops such a call by setting a deadline in the past. On a busy machine the driver also reads in
// the background. If the call already had its whole response, the background read still hits the
// deadline, and the next call on the connection gets a timeout that it did not cause.
func dropCancelled(cfg *pgxpool.Config) {
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &watcher{pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}, c}
	}
	cfg.PrepareConn = func(_ context.Context, c *pgx.Conn) (bool, error) {
		return c.PgConn().CustomData()[cancelledMark] == nil, nil
	}
}

// A watcher stops a canceled call on its connection and marks the connection.
type watcher struct {
	pgconn.DeadlineContextWatcherHandler
	conn *pgconn.PgConn
}

// HandleUnwatchAfterCancel is called when the canceled call ends, before anyone else can get the
// connection.
func (w *watcher) HandleUnwatchAfterCancel() {
	w.conn.CustomData()[cancelledMark] = true
	w.DeadlineContextWatcherHandler.HandleUnwatchAfterCancel()
}
