package app_test

import (
	"bytes"
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
)

// A stage is a PostgreSQL server with room for demos.
type stage struct {
	*testing.T
	config app.Config
	conn   *pgx.Conn
}

func newStage(t *testing.T) stage {
	t.Helper()
	at := pgtest.EmptyURL(t)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return stage{t, app.Config{DatabaseURL: seal.NewSecret(at), DatabaseMaxConns: 4}, conn}
}

func (s stage) exec(sql string) {
	s.Helper()
	if _, err := s.conn.Exec(s.Context(), sql); err != nil {
		s.Fatal(err)
	}
}

// databases returns the databases whose names begin with name.
func (s stage) databases(name string) []string {
	s.Helper()
	rows, err := s.conn.Query(s.Context(), `select datname from pg_database where starts_with(datname, $1)`, name)
	if err != nil {
		s.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.Fatal(err)
	}
	return names
}

// run runs coffer demo with args until it ends or ctx is done.
func (s stage) run(ctx context.Context, args ...string) (printed string, code int) {
	var out bytes.Buffer
	c := app.CommandLine(s.config, strings.NewReader(""), &out, &out) //nolint:contextcheck // Execute gives it one
	code = app.Execute(ctx, c, append([]string{"demo"}, args...))
	return out.String(), code
}

// TestDemo makes a demo in two processes at once, beside the remains of a killed process, and drops
// it.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := "coffer_demo_" + strings.ToLower(id.Base62(12))
	left := "coffer_demo_making_" + strings.ToLower(id.Base62(12))
	s.exec(`create database ` + left)
	s.exec(`comment on database ` + left + ` is '` + app.DemoMark + `'`)
	t.Cleanup(func() {
		for _, n := range []string{name, left} {
			_, _ = s.conn.Exec(context.Background(), `drop database if exists `+n+` with (force)`)
		}
	})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := app.MakeDemo(t.Context(), s.config, name); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if got := s.databases(name); len(got) != 1 || len(s.databases(left)) != 0 {
		t.Fatalf("%v, and what was left unfinished: %v", got, s.databases(left))
	}
	s.look(name)
	if got := app.DropCommand(name); got != "coffer demo --database "+name+" --drop" {
		t.Error(got)
	}
	if got := app.DropCommand("coffer_demo"); got != "coffer demo --drop" {
		t.Error(got)
	}
	if out, code := s.run(t.Context(), "--drop", "--database", name); code != 0 || len(s.databases(name)) != 0 {
		t.Errorf("%d %s", code, out)
	}
	if out, code := s.run(t.Context(), "--drop", "--database", name); code != 0 || !strings.Contains(out, "No demo") {
		t.Errorf("%d %s", code, out)
	}
}

// look checks that every screen of the demo has content, up to today.
func (s stage) look(name string) {
	s.Helper()
	at, err := url.Parse(s.config.DatabaseURL.Reveal())
	if err != nil {
		s.Fatal(err)
	}
	at.Path = "/" + name
	c, err := pgx.Connect(s.Context(), at.String())
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // it only read
	for what, sql := range map[string]string{
		"an inbox": `select count(*) between 8 and 40 from transaction_tag x join tag g on g.id = x.tag_id
			where g.slug = 'needs-review' and x.present`,
		"today":          `select max(date) >= current_date - 2 from transaction`,
		"rules":          `select count(*) > 10 from rule`,
		"counterparties": `select count(*) > 2 from counterparty`,
		"members":        `select count(*) = 3 from login`,
		"an agent's day": `select count(*) > 3 from change where actor_type = 'agent' and actor_name = 'Evening helper'`,
		"a used key":     `select count(*) = 1 from token where actor_type = 'agent' and last_used_at is not null`,
		"an import":      `select count(*) = 1 from change where cause = 'import'`,
		"a split":        `select count(*) = 1 from transaction where is_split`,
		"comments":       `select count(*) >= 3 from comment`,
		"people who act": `select count(*) = 0 from change where actor_name not in ('Anna Berger', 'Daniel Okafor',
			'Evening helper', 'Auto-categorize', 'coffer')`,
		"the summer's house in its spending": `select count(*) > 0 and not bool_or(t.transfer or t.excluded)
			from transaction t join descriptor d on d.id = t.descriptor_id where d.name ~ 'AIRBNB . SUMMER HOUSE'`,
		"pairs of the summer's money": `select count(*) > 2 and bool_and(t.transfer)
			from transaction t join descriptor d on d.id = t.descriptor_id where d.name ~* '^summer holiday'`,
		"only transfers among what is left out": `select count(*) = 0 from transaction t join category c on c.id = t.category_id
			left join category p on p.id = c.parent_id where t.transfer and t.deleted_at is null
			and coalesce(p.kind, c.kind) <> 'transfer' and coalesce(p.slug, c.slug) <> 'loans_and_fees'`,
		"butchers outside cafés": `select count(*) = 0 from transaction t join descriptor d on d.id = t.descriptor_id
			join category c on c.id = t.category_id where d.name ~ 'METZGEREI' and c.slug = 'food_and_drink_cafes'`,
	} {
		var ok bool
		if err := c.QueryRow(s.Context(), sql).Scan(&ok); err != nil || !ok {
			s.Errorf("the demo has not %s: %v", what, err)
		}
	}
}

// TestDemoLeavesOthersAlone: coffer demo neither serves nor drops a database that it did not make,
// whether or not that database has the demo's name.
func TestDemoLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := "coffer_demo_" + strings.ToLower(id.Base62(12))
	s.exec(`create database ` + name)
	t.Cleanup(func() { _, _ = s.conn.Exec(context.Background(), `drop database if exists `+name+` with (force)`) })
	for _, args := range [][]string{
		{"--drop", "--database", name},
		{"--database", name, "--listen", "127.0.0.1:0"},
		{"--drop", "--database", "postgres"},
		{"--drop", "--database", "coffer"},
	} {
		out, code := s.run(t.Context(), args...)
		if code == 0 || len(s.databases(name)) != 1 {
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
}

// TestExampleStatement checks that the example statement ends today.
func TestExampleStatement(t *testing.T) {
	t.Parallel()
	s := stage{T: t}
	out, code := s.run(t.Context(), "statement")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	newest, _, _ := strings.Cut(lines[1], ",")
	day, err := time.ParseInLocation("02/01/2006", newest, time.Local)
	if code != 0 || len(lines) != 10 || err != nil || time.Since(day) > 25*time.Hour || time.Since(day) < 0 {
		t.Errorf("%d, %v: %s", code, err, out)
	}
	if out, code := s.run(t.Context(), "statement", "--end", "today"); code == 0 || !strings.Contains(out, "--end must be") {
		t.Errorf("%d: %s", code, out)
	}
}
