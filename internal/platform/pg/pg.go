// Package pg connects to PostgreSQL: the pool, transactions with retry, rows collected by name,
// names resolved to ids, signed cursors, migrations. It does not know the meaning of any table; SQL
// is written beside the use case that needs it.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"coffer/internal/platform/errs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Querier runs statements: a DB outside a transaction, or a Tx inside one. Reading use cases take
// a Querier.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// A Tx is a running transaction. A function that takes a Tx is one step of it and never commits.
type Tx interface {
	Querier
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Args are named arguments, for statements with more than four: @name in the SQL.
type Args = pgx.NamedArgs

// A DB is one household's database.
type DB struct {
	*pgxpool.Pool
	reserve   *DB // nil if there is none
	plan      *plan
	shares    *shares
	cursorKey atomic.Pointer[[]byte]
	full      atomic.Pointer[time.Time] // when a transaction last failed for lack of space
}

// Options are the pool's few settings; the zero values are good defaults.
type Options struct {
	MaxConns         int           // 0 means 10: a household's server needs few, and PostgreSQL dislikes many
	Reserve          bool          // keep some of the connections for Reserved
	StatementTimeout time.Duration // 0 means 30 s
	// LockTimeout is how long a statement waits for a lock; 0 means 5 s, less than 0 means no
	// limit.
	LockTimeout time.Duration
	Migrations  fs.FS // nil means the migrations of this program
}

// Lock timeouts. A call gives up early with an error, because it holds a connection while it waits.
// A job can wait longer, but less than the statement timeout; reaching that would look like a
// fault. Statements on reserved connections must never wait for long.
const (
	callLocks    = 5 * time.Second
	JobLocks     = 20 * time.Second
	reserveLocks = 2 * time.Second
)

// reserved returns how many of the connections are reserved. A pool of one has none to spare.
func reserved(conns int) int {
	if conns < 2 {
		return 0
	}
	return max(1, min(3, conns*3/10))
}

// Open prepares a pool for the database at url. It does not connect yet, so that a server can start
// while PostgreSQL is unreachable.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's own message can quote the URL and with it the password.
		return nil, errors.New("COFFER_DATABASE_URL must be a PostgreSQL URL, such as " +
			"postgres://user:password@host:5432/name")
	}
	if o.MaxConns == 0 {
		o.MaxConns = 10
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = 30 * time.Second
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = callLocks
	}
	steps, err := own()
	if o.Migrations != nil {
		steps, err = newPlan(o.Migrations)
	}
	if err != nil {
		return nil, err
	}
	conns, kept := min(o.MaxConns, 1000), 0
	if o.Reserve {
		kept = reserved(conns)
	}
	cfg.MaxConns = int32(conns - kept)
	cfg.ConnConfig.ConnectTimeout = 2 * time.Second
	cfg.MaxConnIdleTime, cfg.HealthCheckPeriod = time.Minute, 15*time.Second // an idle server keeps none open
	params := cfg.ConnConfig.RuntimeParams
	params["application_name"] = "coffer"
	params["timezone"] = "UTC"
	// Our queries are short: compiling one costs more than running it.
	params["jit"] = "off"
	// The database is in memory or on flash, but PostgreSQL's default is for spinning disks. With
	// the default, PostgreSQL scans ten years of data to add up one year.
	params["random_page_cost"] = "1.1"
	params["pg_trgm.word_similarity_threshold"] = "0.45" // how similar a fuzzy match must be
	params["statement_timeout"] = fmt.Sprint(o.StatementTimeout.Milliseconds())
	params["lock_timeout"] = fmt.Sprint(max(0, o.LockTimeout.Milliseconds()))
	// A server that was killed must not keep its locks: the backend notices a dead peer within
	// these limits.
	params["idle_in_transaction_session_timeout"] = "60000"
	params["tcp_user_timeout"] = "8000"
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		return nil
	}
	dropCancelled(cfg)
	db, err := newDB(ctx, cfg, steps)
	if err != nil {
		return nil, err
	}
	if kept > 0 {
		small := cfg.Copy()
		small.MaxConns = int32(kept)
		small.ConnConfig.RuntimeParams["lock_timeout"] = fmt.Sprint(reserveLocks.Milliseconds())
		if db.reserve, err = newDB(ctx, small, steps); err != nil {
			db.Pool.Close()
			return nil, err
		}
	}
	return db, nil
}

func newDB(ctx context.Context, cfg *pgxpool.Config, p *plan) (*DB, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	return &DB{Pool: pool, plan: p, shares: newShares(int(cfg.MaxConns))}, nil
}

// Reserved returns the same database with a pool that calls and batches do not use: for
// authentication, for probes, and for the leases of jobs. Use it for short statements only. Without
// reserved connections it returns db itself.
func (db *DB) Reserved() *DB {
	if db == nil || db.reserve == nil {
		return db
	}
	return db.reserve
}

// Close closes all connections, including the reserved ones.
func (db *DB) Close() {
	db.Pool.Close()
	if db.reserve != nil {
		db.reserve.Close()
	}
}

// Conns returns how many connections are open, and how many of them are in use, including the
// reserved ones.
func (db *DB) Conns() (open, busy int) {
	s := db.Stat()
	open, busy = int(s.TotalConns()), int(s.AcquiredConns())
	if db.reserve != nil {
		more, used := db.reserve.Conns()
		open, busy = open+more, busy+used
	}
	return open, busy
}

// Wait returns when the database responds, or returns the last error after patience. If it has to
// wait, it calls waiting once.
func (db *DB) Wait(ctx context.Context, patience time.Duration, waiting func(error)) error {
	deadline := time.Now().Add(patience)
	for first := true; ; first = false {
		err := db.Ping(ctx)
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		if first {
			waiting(err)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

const attempts = 8

// InTx runs f in a transaction and commits it. If PostgreSQL reports a serialization failure or a
// deadlock, all of f runs again, so f must have no effects except through tx. If retries do not
// help, or if another transaction holds a lock for too long, the error is UNAVAILABLE: see
// Contended.
func (db *DB) InTx(ctx context.Context, f func(Tx) error) error {
	for n := 1; ; n++ {
		err := pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error { return f(tx) })
		if Full(err) {
			db.full.Store(new(time.Now()))
		}
		if err == nil || n == attempts || !Retryable(err) {
			return Contended(err)
		}
		pause := time.Duration(n*n)*2*time.Millisecond + rand.N(5*time.Millisecond) //nolint:gosec // jitter, no secret
		select {
		case <-ctx.Done():
			return Contended(err)
		case <-time.After(pause):
		}
	}
}

// Savepoint runs f so that its failure undoes only f's own effects and leaves tx usable.
func Savepoint(ctx context.Context, tx Tx, f func(Tx) error) error {
	return pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { return f(inner) })
}

// Retryable reports whether PostgreSQL asks for the transaction to be run again.
func Retryable(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01")
}

// lockTimedOut is PostgreSQL's error code for a lock that was not granted within lock_timeout.
const lockTimedOut = "55P03"

// Contended turns errors that only mean contention into an error that asks the caller to retry. It
// returns other errors and errors that are already public unchanged.
//
// A full disk has its own message, because only a person can free up space.
func Contended(err error) error {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pe.Code != lockTimedOut && pe.Code != diskFull && !Retryable(err) {
		return err
	}
	if _, public := errors.AsType[*errs.Error](err); public {
		return err
	}
	if pe.Code == diskFull {
		return errs.Wrap(err, errs.Unavailable, "the database's disk is full, so nothing can be stored; free "+
			"up space, then try again")
	}
	return errs.Wrap(err, errs.Unavailable, "another change is using the same records; try again in a moment").Later(
		2 * time.Second)
}

// diskFull is PostgreSQL's error code for a full disk.
const diskFull = "53100"

// Full reports whether err means that PostgreSQL's disk is full.
func Full(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == diskFull
}

// fullFor is how long a disk counts as full after a transaction failed for lack of space.
// Transactions that only read do not notice, and some transaction writes at least every few
// minutes.
const fullFor = 2 * time.Minute

// Full reports whether this process has recently seen the database's disk full.
func (db *DB) Full() bool {
	for _, pool := range []*DB{db, db.Reserved()} {
		if seen := pool.full.Load(); seen != nil && time.Since(*seen) < fullFor {
			return true
		}
	}
	return false
}

// TimedOut reports whether PostgreSQL stopped a statement that took too long.
func TimedOut(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "57014"
}

// Away reports whether err means that PostgreSQL cannot be reached, is shutting down or has no
// resources left, rather than that it refused a statement.
func Away(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pe.Code {
		case "57P01", "57P02", "57P03": // shutting down, crashed, starting up
			return true
		case "25P03": // its timer ended the connection, as it does when its clock is set forward
			return true
		}
		// 53: no connection, memory, file or space is left for anybody right now
		return len(pe.Code) > 1 && (pe.Code[:2] == "08" || pe.Code[:2] == "53")
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		// Our own deadline, or a caller who left, does not mean that the database is away. A
		// timeout without either means a broken connection.
		return !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
	}
	// A crash resets connections that still had unread data.
	for _, cut := range []error{io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return err != nil && pgconn.SafeToRetry(err)
}

// Violates reports whether err is a violation of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(pe.Code) > 1 && pe.Code[:2] == "23" && pe.ConstraintName == constraint
}

// Taken reports whether err is a violation of a unique constraint.
func Taken(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "23505"
}
