package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"coffer/bench/measure"
	"coffer/internal/auth"
	"coffer/internal/pg"
	"github.com/jackc/pgx/v5"
)

const readyPath = "/api/v1/health/ready"

// A world is the database, the server on it, and the clocks of both.
type world struct {
	url    string
	key    string
	rows   int64
	server *measure.Child

	scratch    *measure.Scratch // when the database is ours
	admin      *pgx.Conn
	postmaster int
	made       []string // what to undo at the end, as SQL
}

func openWorld(ctx context.Context, o options) (*world, error) {
	w := &world{url: o.database}
	if err := w.open(ctx, o); err != nil {
		w.close(ctx)
		return nil, err
	}
	return w, nil
}

func (w *world) open(ctx context.Context, o options) (err error) {
	if w.url == "" {
		if w.scratch, err = measure.NewScratch(ctx); err != nil {
			return err
		}
		w.url = w.scratch.URL
		if err := seed(ctx, o, w.url); err != nil {
			return err
		}
	}
	at, err := url.Parse(w.url)
	if err != nil || at.Hostname() != "127.0.0.1" {
		return errors.New("the database must be a URL at 127.0.0.1: its CPU time is read from /proc")
	}
	if q := at.Query(); !q.Has("sslmode") {
		q.Set("sslmode", "disable")
		at.RawQuery = q.Encode()
		w.url = at.String()
	}
	if w.admin, err = pgx.Connect(ctx, w.url); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := w.keyed(ctx); err != nil {
		return err
	}
	if err := w.admin.QueryRow(ctx, `select count(*) from transaction`).Scan(&w.rows); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	if w.postmaster, err = parent(int(w.admin.PgConn().PID())); err != nil {
		return err
	}
	w.server, err = measure.Start(ctx, o.binary, []string{"serve"}, func(address string) []string {
		return []string{
			"COFFER_DATABASE_URL=" + w.url, "COFFER_LISTEN=" + address, "COFFER_LOG_LEVEL=INFO",
			// One key makes all requests, far more than one key may; the limiter still counts each
			// of them.
			"COFFER_RATE_PER_MINUTE=100000000", "COFFER_RATE_BURST=1000000",
		}
	})
	if err != nil {
		return err
	}
	_, err = w.server.Ready(ctx, readyPath)
	return err
}

func seed(ctx context.Context, o options, at string) error {
	cmd := exec.CommandContext(ctx, o.binary, "dev", "seed", "--transactions", strconv.Itoa(o.transactions), //nolint:gosec // the binary that this program built or was told
		"--years", strconv.Itoa(o.years), "--end", "2026-06-30", "--raw")
	cmd.Env = []string{"COFFER_DATABASE_URL=" + at}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is under way on it
	if err := purposes(ctx, conn, o.purposes); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "vacuum analyze"); err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	return nil
}

// purposes gives so many in a hundred transactions a purpose, and so a wording, of their own. What
// notes changed wordings stays out of it: a household's come one by one.
func purposes(ctx context.Context, conn *pgx.Conn, percent int) error {
	if percent == 0 {
		return nil
	}
	if _, err := conn.Exec(ctx, `set session_replication_role = replica`); err != nil {
		return fmt.Errorf("purposes: %w", err)
	}
	_, err := conn.Exec(ctx, `
		with purposed as (select t.id, t.descriptor_id as was, 'Invoice NR' || lpad((row_number() over ())::text, 8, '0') ||
				' customer ' || abs(hashtext(t.provider_id)) % 100000 as detail
			from transaction t where abs(hashtext(t.provider_id)) % 100 < $1::int),
		made as (insert into descriptor (name, merchant_name, folded, form, payee, detail)
			select d.name, d.merchant_name, d.folded || e'\n' || lower(p.detail), d.form, d.payee, p.detail
			from purposed p join descriptor d on d.id = p.was returning id, detail)
		update transaction t set descriptor_id = m.id from purposed p join made m on m.detail = p.detail
		where p.id = t.id`, percent)
	if err != nil {
		return fmt.Errorf("purposes: %w", err)
	}
	return nil
}

// keyed makes a key for the run; close takes it away.
func (w *world) keyed(ctx context.Context) error {
	db, err := pg.Open(ctx, w.url, pg.Options{MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.InTx(ctx, func(tx pg.Tx) error {
		k, err := auth.New(db).Create(ctx, tx, auth.CreateKey{Name: "bench", Scope: "full_access", ActorType: "user"})
		if err != nil {
			return err
		}
		w.key = k.Secret
		w.made = append(w.made, fmt.Sprintf("delete from token where id = '%s'", k.ID))
		return nil
	})
}

// close ends what was started, also when ctx has ended.
func (w *world) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if w.server != nil {
		w.server.Stop()
	}
	if w.admin != nil {
		for _, sql := range w.made {
			if _, err := w.admin.Exec(ctx, sql); err != nil {
				fmt.Fprintf(os.Stderr, "left behind (%s): %v\n", sql, err)
			}
		}
		_ = w.admin.Close(ctx) // nothing is left to lose
	}
	if w.scratch != nil {
		w.scratch.Drop(ctx)
	}
}

func (w *world) describe(ctx context.Context) (measure.Machine, error) {
	m := measure.Machine{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: "unknown", Go: runtime.Version(),
		Cores: runtime.NumCPU(),
	}
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty",
		"--abbrev=12").Output(); err == nil {
		m.Commit = strings.TrimSpace(string(out))
	}
	m.Processor = runtime.GOARCH
	err := w.admin.QueryRow(ctx, `select current_setting('server_version'), current_setting('shared_buffers'),
		current_setting('fsync')`).Scan(&m.PostgreSQL, &m.SharedBuffers, &m.Fsync)
	return m, err
}

// clocks are how much CPU time everybody had used at one moment.
type clocks struct {
	server   time.Duration
	backends map[int]time.Duration
	ended    time.Duration // of PostgreSQL's processes that are gone: parallel workers. It has 10 ms steps
	client   time.Duration // of this program, where it is not the server
	machine  time.Duration
}

// strangersSince is what the machine was busy with beside the side that was measured.
func (c clocks) strangersSince(before clocks) time.Duration {
	return c.machine - before.machine - (c.server - before.server) - (c.client - before.client) - c.databaseSince(
		before)
}

func (c clocks) databaseSince(before clocks) time.Duration {
	sum := c.ended - before.ended
	for pid, cpu := range c.backends {
		sum += cpu - before.backends[pid] // one that has come since is counted whole
	}
	return sum
}

// clocks reads them. Backends are those of both sides, because only one of them is under load and
// the other's stand still.
func (w *world) clocks(ctx context.Context, server int) (clocks, error) {
	rows, err := w.admin.Query(ctx, `select pid from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`)
	if err != nil {
		return clocks{}, fmt.Errorf("list backends: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return clocks{}, fmt.Errorf("list backends: %w", err)
	}
	c := clocks{backends: map[int]time.Duration{}}
	for _, pid := range pids {
		if c.backends[pid], err = measure.CPU(pid); err != nil {
			return clocks{}, err
		}
	}
	if c.ended, err = childrenCPU(w.postmaster); err != nil {
		return clocks{}, err
	}
	if c.machine, err = measure.MachineCPU(); err != nil {
		return clocks{}, err
	}
	if server == os.Getpid() {
		c.server = measure.OwnCPU()
		return c, nil
	}
	c.client = measure.OwnCPU()
	c.server, err = measure.CPU(server)
	return c, err
}

// stat reads the numbers of /proc/…/stat behind the process's name; the first is field 4.
func stat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return nil, fmt.Errorf("/proc/%d/stat is not as expected", pid)
	}
	return fields[1:], nil
}

func parent(pid int) (int, error) {
	f, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(f[0])
}

// childrenCPU is what the process's children had used that have ended.
func childrenCPU(pid int) (time.Duration, error) {
	f, err := stat(pid)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, at := range []int{12, 13} { // cutime, cstime: fields 16 and 17
		n, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
