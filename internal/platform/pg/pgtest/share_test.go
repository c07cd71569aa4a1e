package pgtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// If the server has no free connection, a test waits until one is released. A test that wants a
// database waits until there is room for a server beside it.
func TestWaitsForConnections(t *testing.T) {
	t.Parallel()
	cluster := NewCluster(t)
	ctx := t.Context()
	var taken []*pgx.Conn
	for {
		c, err := connect(ctx, cluster.URL("postgres"), 0)
		if err != nil {
			break
		}
		taken = append(taken, c)
	}
	if len(taken) < room {
		t.Fatalf("the server is full after %d connections", len(taken))
	}
	// Releasing connections ends the wait, which shows that it really waited.
	got := make(chan error)
	go func() {
		c, err := connect(ctx, cluster.URL("postgres"), time.Minute)
		if err == nil {
			err = waitForRoom(ctx, c, room, time.Minute)
		}
		got <- err
	}()
	for i, c := range taken {
		select {
		case err := <-got:
			if i < room {
				t.Fatalf("it continued with %d connections released: %v", i, err)
			}
			return
		default:
			if err := c.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

// The next process drops the databases of a killed process, and keeps those of a live one.
func TestSweepsWhatTheKilledLeft(t *testing.T) {
	t.Parallel()
	cluster := NewCluster(t)
	ctx := t.Context()
	open := func() *pgx.Conn {
		c, err := connect(ctx, cluster.URL("postgres"), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.WithoutCancel(ctx)) })
		return c
	}
	living, next := open(), open()
	if _, err := living.Exec(ctx, "select pg_advisory_lock($1, 7)", ownerLocks); err != nil {
		t.Fatal(err)
	}
	kept := []string{prefix + "7_a", prefix + "7_b", prefix + "older", "another"}
	for _, name := range slices.Concat(kept, []string{prefix + "8_a", prefix + "8_b", prefix + "9_a"}) {
		if err := run(ctx, next, "create database "+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(ctx, next); err != nil {
		t.Fatal(err)
	}
	rows, err := next.Query(ctx,
		"select datname from pg_database where datname not like 'template_' and datname <> 'postgres' order by 1")
	if err != nil {
		t.Fatal(err)
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(kept)
	if fmt.Sprint(left) != fmt.Sprint(kept) {
		t.Errorf("%v are left, want %v", left, kept)
	}
}
