package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// prefix starts the name of every test database. The number of the process that created it
	// follows.
	prefix = "coffer_t_"
	// ownerLocks is the class of the advisory locks that show which processes are alive.
	ownerLocks = 720575940
	// room is how many connections must be free before another database is created. A server under
	// test opens about that many.
	room = 12
	// patience is how long a test waits for other tests to release their connections.
	patience = 3 * time.Minute
)

// held is the connection that holds the process's lock, which must last until the process ends.
// Without this reference the garbage collector would close it, and the next process would drop
// databases that are in use.
var held *pgx.Conn //nolint:unused // kept only to be referenced

// keeper returns the number of this process, which is part of the names of its databases. The
// process holds an advisory lock on that number while it lives. So the next process can distinguish
// the databases of a killed run from those in use, and drop them.
var keeper = sync.OnceValues(func() (string, error) {
	ctx := context.Background()
	c, err := connect(ctx, AdminURL(), patience)
	if err != nil {
		return "", err
	}
	held = c
	for {
		number := rand.Int32() //nolint:gosec // a name, not a secret
		var free bool
		if err := c.QueryRow(ctx, "select pg_try_advisory_lock($1, $2)", ownerLocks, number).Scan(&free); err != nil {
			return "", err
		}
		if free {
			return fmt.Sprint(number), sweep(ctx, c)
		}
	}
})

// sweep drops the databases whose process has ended.
func sweep(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "select datname from pg_database where datname like $1",
		strings.ReplaceAll(prefix, "_", `\_`)+`%\_%`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	dead := map[int32]bool{}
	for _, name := range names {
		var owner int32
		if _, err := fmt.Sscanf(strings.TrimPrefix(name, prefix), "%d_", &owner); err != nil {
			continue
		}
		gone, known := dead[owner]
		if !known {
			// The process that gets the lock sweeps; two concurrent sweepers share the work.
			if err := c.QueryRow(ctx, "select pg_try_advisory_lock($1, $2)", ownerLocks,
				owner).Scan(&gone); err != nil {
				return err
			}
			dead[owner] = gone
		}
		if gone {
			if err := run(ctx, c, "drop database if exists "+name+" with (force)"); err != nil {
				return err
			}
		}
	}
	for owner, gone := range dead {
		if gone {
			if _, err := c.Exec(ctx, "select pg_advisory_unlock($1, $2)", ownerLocks, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

// connect waits while the server has no free connection.
func connect(ctx context.Context, url string, patience time.Duration) (*pgx.Conn, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(50*time.Millisecond + rand.N(50*time.Millisecond)) { //nolint:gosec // jitter
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			return c, nil
		}
		full, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || full.Code != "53300" || time.Now().After(deadline) {
			return nil, err
		}
	}
}

// waitForRoom returns when the server has that many free connections. A test that needs several
// databases holds connections while it waits for more, so two of them could wait for each other.
// After patience it continues anyway.
func waitForRoom(ctx context.Context, c *pgx.Conn, room int, patience time.Duration) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var free int
		err := c.QueryRow(ctx, `
			select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - count(*)
			from pg_stat_activity where backend_type = 'client backend'`).Scan(&free)
		if err != nil || free >= room {
			return err
		}
	}
	return nil
}
