// Package measure has what all measuring programs need: a scratch database, child processes, a lean
// HTTP client, CPU time and memory from /proc, medians and tables. It must not know what is
// measured or which figures are good. Each program knows that itself.
package measure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"coffer/internal/books/category"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

const (
	tags = 200 // as many as a household that tags its trips and projects has
	keys = 10
)

// A Scratch is a migrated database with a small household. Only this run uses it.
type Scratch struct {
	URL  string
	Key  string // an API key that can read
	Slug string // the slug of a tag

	name  string
	admin *pgx.Conn
}

// Main runs a measuring program until it ends or is interrupted, and prints its error.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// AdminURL returns the address of the PostgreSQL server on which scratch databases are created. It
// must run on this machine, because its CPU time is read from /proc.
func AdminURL() string {
	if u := os.Getenv("COFFER_TEST_DATABASE_URL"); u != "" {
		return u
	}
	return "postgres://postgres@127.0.0.1:5432/postgres"
}

// NewScratch creates a scratch database. Drop removes it.
func NewScratch(ctx context.Context) (*Scratch, error) {
	at, err := url.Parse(AdminURL())
	if err != nil {
		return nil, errors.New("COFFER_TEST_DATABASE_URL is not a URL") // the parser's message may contain the password
	}
	admin, err := pgx.Connect(ctx, at.String())
	if err != nil {
		return nil, fmt.Errorf("no PostgreSQL at COFFER_TEST_DATABASE_URL: %w", err)
	}
	s := &Scratch{name: "coffer_bench_" + strings.ToLower(rand.Text()), admin: admin}
	at.Path = s.name
	if q := at.Query(); !q.Has("sslmode") {
		// Debian's PostgreSQL offers TLS even on loopback, which would add its cost to both sides
		// of every comparison.
		q.Set("sslmode", "disable")
		at.RawQuery = q.Encode()
	}
	s.URL = at.String()
	if _, err := admin.Exec(ctx, "create database "+s.name); err != nil {
		return nil, fmt.Errorf("make a scratch database: %w", err)
	}
	if err := s.fill(ctx); err != nil {
		s.Drop(ctx)
		return nil, err
	}
	return s, nil
}

func (s *Scratch) fill(ctx context.Context) error {
	db, err := pg.Open(ctx, s.URL, pg.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil {
		return err
	}
	err = db.InTx(ctx, func(tx pg.Tx) error {
		for range keys {
			k, err := auth.New(db).Create(ctx, tx, auth.CreateKey{Name: "bench", Scope: "read_only", ActorType: "user"})
			if err != nil {
				return err
			}
			s.Key = k.Secret
		}
		for i := range tags {
			t, err := category.New().CreateTag(ctx, tx, category.CreateTag{
				Slug: fmt.Sprintf("trip:place-%03d", i), Name: new("A journey"), Description: "Everything that it cost",
				Color: "#d97706", Icon: "plane",
			})
			if err != nil {
				return err
			}
			s.Slug = t.Slug
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("fill the scratch database: %w", err)
	}
	// Otherwise autovacuum would change the statistics, and with them the query plans, in the
	// middle of the run.
	if _, err := db.Exec(ctx, "vacuum analyze"); err != nil {
		return fmt.Errorf("analyze the scratch database: %w", err)
	}
	return nil
}

// Drop removes the database, also when ctx has ended: an interrupted run must leave nothing behind.
func (s *Scratch) Drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, err := s.admin.Exec(ctx, "drop database if exists "+s.name+" with (force)"); err != nil {
		fmt.Fprintf(os.Stderr, "the scratch database %s is left behind: %v\n", s.name, err)
	}
	_ = s.admin.Close(ctx) // nothing is left to lose
}

// Backends returns the ids of the processes that serve the scratch database's clients. The query
// runs on another database, so its own backend is not among them.
func (s *Scratch) Backends(ctx context.Context) ([]int, error) {
	rows, err := s.admin.Query(ctx, `select pid from pg_stat_activity
		where datname = $1 and backend_type = 'client backend'`, s.name)
	if err != nil {
		return nil, fmt.Errorf("list backends: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, fmt.Errorf("list backends: %w", err)
	}
	return pids, nil
}

// Setting returns one of PostgreSQL's settings in the form that SHOW prints.
func (s *Scratch) Setting(ctx context.Context, name string) (string, error) {
	var v string
	if err := s.admin.QueryRow(ctx, `select current_setting($1)`, name).Scan(&v); err != nil {
		return "", fmt.Errorf("read setting %s: %w", name, err)
	}
	return v, nil
}
