// Package pgtest gives each test its own database, cloned from a migrated template in some tens of
// milliseconds. It is only for tests and does not know what they test.
package pgtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// AdminURL returns the URL of the server that tests run on; COFFER_TEST_DATABASE_URL overrides the
// default.
func AdminURL() string {
	if u := os.Getenv("COFFER_TEST_DATABASE_URL"); u != "" {
		return u
	}
	return "postgres://postgres@127.0.0.1:5432/postgres"
}

// New returns a migrated database that only this test uses. It is dropped when the test ends.
func New(t testing.TB) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), URL(t), pg.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// URL is New for programs under test, which open the database themselves.
func URL(t testing.TB) string {
	t.Helper()
	name, err := template()
	if err != nil {
		t.Fatalf("pgtest: no template database: %v (is PostgreSQL running? make db says more)", err)
	}
	return clone(t, "template "+name+" strategy file_copy")
}

// CopyURL returns a copy of the database at that URL. Nobody may be connected to it while it is
// copied.
func CopyURL(t testing.TB, of string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(of)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return clone(t, "template "+cfg.Database+" strategy file_copy")
}

// EmptyURL returns a database without a schema, for tests of migrations.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return clone(t, "")
}

func clone(t testing.TB, options string) string {
	t.Helper()
	mine, err := keeper()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := fmt.Sprintf("%s%s_%s", prefix, mine, strings.ToLower(id.Base62(16)))
	ctx := context.Background()
	err = admin(ctx, func(c *pgx.Conn) error {
		if err := waitForRoom(ctx, c, room, patience); err != nil {
			return err
		}
		return run(ctx, c, "create database "+name+" "+options)
	})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		drop := func(c *pgx.Conn) error { return run(ctx, c, "drop database if exists "+name+" with (force)") }
		if err := admin(ctx, drop); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return at(name)
}

func admin(ctx context.Context, f func(*pgx.Conn) error) error {
	c, err := connect(ctx, AdminURL(), patience)
	if err != nil {
		return err
	}
	defer c.Close(ctx) //nolint:errcheck // nothing is left to lose
	return f(c)
}

func run(ctx context.Context, c *pgx.Conn, statement string) error {
	if _, err := c.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// at returns AdminURL with another database.
func at(name string) string {
	cfg, err := pgx.ParseConfig(AdminURL())
	if err != nil {
		panic("pgtest: COFFER_TEST_DATABASE_URL: " + err.Error())
	}
	u := url.URL{
		Scheme: "postgres", Host: net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))), Path: name,
		User: url.UserPassword(cfg.User, cfg.Password), RawQuery: "sslmode=disable",
	}
	return u.String()
}

// template is created once per set of migrations, by the first test process; the others wait for
// its lock.
var template = sync.OnceValues(func() (string, error) {
	ctx := context.Background()
	h := sha256.New()
	err := fs.WalkDir(pg.Migrations(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(pg.Migrations(), path)
		h.Write(b)
		return err
	})
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("coffer_template_%x", h.Sum(nil)[:8])
	c, err := connect(ctx, AdminURL(), patience)
	if err != nil {
		return "", err
	}
	defer c.Close(ctx) //nolint:errcheck // its lock goes with it either way
	if _, err := c.Exec(ctx, "select pg_advisory_lock(7205759403792)"); err != nil {
		return "", err
	}
	var ready bool
	if err := c.QueryRow(ctx, "select exists (select from pg_database where datname = $1 and datistemplate)",
		name).Scan(&ready); err != nil || ready {
		return name, err
	}
	// A run that was stopped leaves an unfinished database. Only a finished one is marked as a
	// template.
	for _, s := range []string{"drop database if exists " + name + " with (force)", "create database " + name} {
		if _, err := c.Exec(ctx, s); err != nil {
			return "", err
		}
	}
	db, err := pg.Open(ctx, at(name), pg.Options{MaxConns: 2})
	if err != nil {
		return "", err
	}
	_, err = db.Migrate(ctx)
	db.Close()
	if err != nil {
		return "", err
	}
	_, err = c.Exec(ctx, "alter database "+name+" is_template true")
	return name, err
})
