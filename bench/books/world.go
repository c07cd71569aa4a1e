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
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

const readyPath = "/api/v1/health/ready"

// A world is the database, the server and the CPU times of both.
type world struct {
	url    string
	key    string
	rows   int64
	server *measure.Child

	scratch *measure.Scratch // set if this run created the database
	admin   *pgx.Conn
	made    []string // SQL that undoes what the run created
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
	q := at.Query()
	if !q.Has("sslmode") {
		q.Set("sslmode", "disable")
	}
	// Each query runs in one process on both sides. The CPU time of parallel workers could be read
	// only after they ended, and only as one sum with all other processes that ended.
	q.Set("max_parallel_workers_per_gather", "0")
	at.RawQuery = q.Encode()
	w.url = at.String()
	if w.admin, err = pgx.Connect(ctx, w.url); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := w.keyed(ctx); err != nil {
		return err
	}
	if err := w.admin.QueryRow(ctx, `select count(*) from transaction`).Scan(&w.rows); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	w.server, err = measure.Start(ctx, o.binary, []string{"serve"}, func(address string) []string {
		return []string{
			"COFFER_DATABASE_URL=" + w.url, "COFFER_LISTEN=" + address, "COFFER_LOG_LEVEL=INFO",
			// One key makes all requests, far more than the usual limit allows. The limiter stays
			// on and counts each of them.
			"COFFER_RATE_PER_MINUTE=100000000", "COFFER_RATE_BURST=1000000",
		}
	})
	if err != nil {
		return err
	}
	if _, err = w.server.Ready(ctx, readyPath); err != nil {
		return err
	}
	return w.settle(ctx)
}

// settle waits until the server has finished the work that seeding caused. Otherwise that work
// would slow down what is measured.
func (w *world) settle(ctx context.Context) error {
	if _, err := w.admin.Exec(ctx, `update form_due set noted_at = noted_at - interval '1 hour'`); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if _, err := w.admin.Exec(ctx, `update sighting_due set noted_at = noted_at - interval '1 hour'`); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
		var busy bool
		if err := w.admin.QueryRow(ctx, `select pg_notify('coffer', 'pattern') is null or
			pg_notify('coffer', 'finding') is null or exists (select from form_due) or exists (select from sighting_due)
			or exists (select from proof_due)`).Scan(&busy); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
		if !busy {
			return nil
		}
	}
	return errors.New("the server is still busy")
}

func seed(ctx context.Context, o options, at string) error {
	cmd := exec.CommandContext(ctx, o.binary, "dev", "seed", "--transactions", strconv.Itoa(o.transactions), //nolint:gosec // the binary that this program built or was given
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
	defer conn.Close(ctx) //nolint:errcheck // nothing uses it any more
	if err := purposes(ctx, conn, o.purposes); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "vacuum analyze"); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// purposes gives a percentage of the transactions a purpose of their own, and with it a wording of
// their own. The triggers that record changed wordings are off meanwhile: they are made for a few
// changes at a time.
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

// keyed creates a key for the run; close deletes it.
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

// close ends what was started, even if ctx has ended.
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

// clocks are the CPU times of all processes at one moment.
type clocks struct {
	server   time.Duration
	backends map[int]time.Duration
	client   time.Duration // of this program, if it is not the server
	machine  time.Duration
}

// strangersSince returns the CPU time that the machine spent on other work than the measured side.
func (c clocks) strangersSince(before clocks) time.Duration {
	return c.machine - before.machine - (c.server - before.server) - (c.client - before.client) - c.databaseSince(
		before)
}

func (c clocks) databaseSince(before clocks) time.Duration {
	var sum time.Duration
	for pid, cpu := range c.backends {
		sum += cpu - before.backends[pid] // a new backend has used all its time since then
	}
	return sum
}

// clocks reads the CPU times. It counts the backends of both sides: only one side is under load,
// and the other's backends use no time. Autovacuum starts by itself, so it belongs to neither side.
func (w *world) clocks(ctx context.Context, server int) (clocks, error) {
	rows, err := w.admin.Query(ctx, `select pid from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
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
