package pg_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"
)

// lazy returns a database that is never connected to.
func lazy(t *testing.T, o pg.Options) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// now calls Enter without waiting.
func now(db *pg.DB, use pg.Use, caller string) (func(), bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	leave, err := db.Enter(ctx, use, caller)
	return leave, err == nil
}

// The number of connections that each use gets if it wants all connections.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ conns, caller, calls, jobs, together int }{
		{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {3, 2, 2, 2, 2}, {4, 2, 2, 2, 3}, {7, 4, 4, 4, 5}, {10, 5, 5, 5, 7},
	} {
		most := func(take func(db *pg.DB, n int) bool) int {
			db := lazy(t, pg.Options{MaxConns: c.conns})
			n := 0
			for n < 100 && take(db, n) {
				n++
			}
			return n
		}
		enter := func(use func(n int) pg.Use, caller func(n int) string) func(*pg.DB, int) bool {
			return func(db *pg.DB, n int) bool {
				_, ok := now(db, use(n), caller(n))
				return ok
			}
		}
		only := func(u pg.Use) func(int) pg.Use { return func(int) pg.Use { return u } }
		many := func(n int) string { return fmt.Sprint("caller ", n) }
		one := func(int) string { return "caller" }
		nobody := func(int) string { return "" }
		got := []int{
			most(enter(only(pg.Reading), one)), most(enter(only(pg.Writing), many)),
			most(enter(only(pg.Working), nobody)),
			most(func(db *pg.DB, n int) bool {
				_, ok := now(db, pg.Writing, many(n))
				if !ok {
					_, ok = now(db, pg.Working, "")
				}
				return ok
			}),
		}
		if want := []int{c.caller, c.calls, c.jobs, c.together}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of %d connections one caller, writing calls, jobs, both together have %v; want %v", c.conns, got,
				want)
		}
		if n := most(enter(only(pg.Reading), many)); n != 100 {
			t.Errorf("of %d connections: reads of many callers are limited to %d", c.conns, n)
		}
	}
}

// After any sequence of entering and leaving, no caller waits that fits, and no caller is admitted
// that does not fit.
func TestSharesAreNeverLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db := lazy(t, pg.Options{MaxConns: 7})
		var in []func()
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if len(in) > 0 && rapid.Bool().Draw(rt, "leave") {
				n := rapid.IntRange(0, len(in)-1).Draw(rt, "who")
				in[n]()
				in = append(in[:n], in[n+1:]...)
				continue
			}
			use := rapid.SampledFrom([]pg.Use{pg.Reading, pg.Writing, pg.Working}).Draw(rt, "use")
			caller := ""
			if use != pg.Working {
				caller = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "caller")
			}
			if leave, ok := now(db, use, caller); ok {
				in = append(in, leave)
			}
		}
		for _, leave := range in {
			leave()
		}
		if n := db.Waiting(); n != 0 {
			rt.Fatalf("%d still wait", n)
		}
		for range 4 { // the caller's whole share is free again
			if _, ok := now(db, pg.Writing, "a"); !ok {
				rt.Fatal("a slot was lost")
			}
		}
	})
}

// A caller without running calls goes before callers that have some. A caller that waits too long
// gets an error with what to do.
func TestSharesAreFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := lazy(t, pg.Options{MaxConns: 7})
		var greedy []func()
		for range 4 {
			leave, ok := now(db, pg.Writing, "greedy")
			if !ok {
				t.Fatal("the first four do not fit")
			}
			greedy = append(greedy, leave)
		}
		order := make(chan string, 2)
		wait := func(name, caller string) {
			go func() {
				leave, err := db.Enter(t.Context(), pg.Writing, caller)
				if err != nil {
					order <- name + ": " + err.Error()
					return
				}
				order <- name
				leave()
			}()
			synctest.Wait()
		}
		wait("the fifth of the greedy one", "greedy")
		wait("another's first", "modest")
		greedy[0]()
		if first := <-order; first != "another's first" {
			t.Errorf("%s came first", first)
		}
		if second := <-order; second != "the fifth of the greedy one" {
			t.Errorf("%s came second", second)
		}
		refused := func(caller string) *errs.Error {
			_, err := db.Enter(t.Context(), pg.Writing, caller)
			e, _ := errors.AsType[*errs.Error](err)
			if e == nil || e.After <= 0 {
				t.Fatalf("%v does not say when to retry", err)
			}
			return e
		}
		leave, _ := now(db, pg.Writing, "modest")
		defer leave()
		if e := refused("third"); e.Code != errs.Unavailable {
			t.Errorf("with all slots of writers taken: %v", e)
		}
		greedy[0], _ = now(db, pg.Reading, "greedy")
		if e := refused("greedy"); e.Code != errs.RateLimited {
			t.Errorf("with all of the caller's own slots taken: %v", e)
		}
		for _, leave := range greedy {
			leave()
		}
	})
}

// Reserved connections work when all others are taken, and count toward the maximum.
func TestReserve(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for conns, kept := range map[int]int{1: 0, 2: 1, 4: 1, 8: 2, 10: 3, 40: 3} {
		db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: conns, Reserve: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := int(db.Config().MaxConns); got != conns-kept {
			t.Errorf("of %d connections %d are for calls, want %d", conns, got, conns-kept)
		}
		if kept > 0 {
			if got := int(db.Reserved().Config().MaxConns); got != kept {
				t.Errorf("of %d connections %d are kept, want %d", conns, got, kept)
			}
			var all []*pgxpool.Conn
			for range conns - kept {
				c, err := db.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
			if _, err := pg.Value[int](t.Context(), db.Reserved(), `select 1`); err != nil {
				t.Errorf("with %d connections: %v", conns, err)
			}
			for _, c := range all {
				c.Release()
			}
		}
		db.Close()
	}
}

// A caller that meets contention is asked to retry; this is not a server fault.
func TestContended(t *testing.T) {
	t.Parallel()
	db, err := pg.Open(t.Context(), pgtest.URL(t), pg.Options{MaxConns: 4, LockTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	again := func(what string, err error) {
		t.Helper()
		e, ok := errors.AsType[*errs.Error](err)
		if !ok || e.Code != errs.Unavailable || e.After <= 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	held, released := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		err := db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := pg.Exec(t.Context(), tx, `select from instance for update`)
			close(held)
			<-released
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	runs := 0
	again("a lock that somebody holds", db.InTx(t.Context(), func(tx pg.Tx) error {
		runs++
		_, err := pg.Exec(t.Context(), tx, `select from instance for update`)
		return err
	}))
	if runs != 1 {
		t.Errorf("the transaction waited %d times for the same lock", runs)
	}
	_, err = pg.Exec(t.Context(), db, `update instance set seal_check = seal_check`)
	again("a lock outside a transaction", pg.Contended(err))
	close(released)
	group.Wait()
	for _, code := range []string{"40001", "40P01"} {
		runs = 0
		again(code, db.InTx(t.Context(), func(pg.Tx) error {
			runs++
			return fmt.Errorf("exec: %w", &pgconn.PgError{Code: code})
		}))
		if runs < 5 {
			t.Errorf("%s: gave up after %d runs", code, runs)
		}
	}
	if err := pg.Contended(&pgconn.PgError{Code: "23505"}); errs.Is(err, errs.Unavailable) {
		t.Error("a violated constraint is taken for contention")
	}
	if own := errs.New(errs.Conflict, "x"); !errors.Is(pg.Contended(own), own) {
		t.Error("a public error was replaced")
	}
}
