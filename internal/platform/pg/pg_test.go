package pg_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"
)

func TestInTxRunsAgainWhenAsked(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx := t.Context()
	if _, err := db.Exec(ctx, `create table counter (n int); insert into counter values (0)`); err != nil {
		t.Fatal(err)
	}
	var tries int
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			err := db.InTx(ctx, func(tx pg.Tx) error {
				mu.Lock()
				tries++
				mu.Unlock()
				if _, err := tx.Exec(ctx, `set transaction isolation level serializable`); err != nil {
					return err
				}
				n, err := pg.Value[int](ctx, tx, `select n from counter`)
				if err != nil {
					return err
				}
				_, err = tx.Exec(ctx, `update counter set n = $1`, n+1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n, err := pg.Value[int](ctx, db, `select n from counter`); err != nil || n != 8 {
		t.Fatalf("counter is %d (%v) after 8 increments in %d tries", n, err, tries)
	}
}

func TestTimesAreUTCWithMicroseconds(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	type row struct {
		At   pg.Time  `db:"at"`
		None *pg.Time `db:"none"`
	}
	r, err := pg.One[row](t.Context(), db, `select '2026-02-03 04:05:06.7+02'::timestamptz as at,
		null::timestamptz as none`)
	if err != nil {
		t.Fatal(err)
	}
	if r.At.String() != "2026-02-03T02:05:06.700000Z" || r.None != nil {
		t.Fatalf("got %s and %v", r.At, r.None)
	}
	back, err := pg.Value[string](t.Context(), db, `select $1::timestamptz::text`, r.At)
	if err != nil || back != "2026-02-03 02:05:06.7+00" {
		t.Fatalf("stored as %s: %v", back, err)
	}
}

// A filter is a conjunction. In any order, each condition gets its own arguments.
func TestWhere(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		var w pg.Where
		want := []int{}
		lo, hi := rapid.IntRange(0, 50).Draw(t, "lo"), rapid.IntRange(0, 50).Draw(t, "hi")
		mod := rapid.IntRange(1, 5).Draw(t, "mod")
		useRange, useMod := rapid.Bool().Draw(t, "range"), rapid.Bool().Draw(t, "mod?")
		w.If(useMod, "n % $? = 0", mod)
		w.If(useRange, "n between $? and $?", lo, hi)
		w.If(false, "no such column = $?", 1)
		for n := range 50 {
			if (!useMod || n%mod == 0) && (!useRange || n >= lo && n <= hi) {
				want = append(want, n)
			}
		}
		got, err := pg.Values[int](ctx, db, `select n from generate_series(0,
			49) n `+w.SQL()+` order by n`, w.Args()...)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s %v: got %v (%v), want %v", w.SQL(), w.Args(), got, err, want)
		}
	})
}

func TestWhereRefusesMissingArguments(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Fatal("a condition without its argument was accepted")
		}
	}()
	new(pg.Where).And("a = $?")
}

func TestCursors(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	db := pgtest.New(t)
	page := func(list string, filters any) pg.Pager {
		p, err := db.Pager(t.Context(), list, filters)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := page("things", map[string]int{"min": 1})
	good, err := p.Encode("2026-01-01", "0190b5c0-0000-7000-8000-000000000000")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := p.Decode(good, 2); err != nil || at[0] != "2026-01-01" {
		t.Fatalf("own cursor: %v %v", at, err)
	}
	for name, other := range map[string]pg.Pager{
		"other filters": page("things", map[string]int{"min": 2}),
		"other list":    page("rules", map[string]int{"min": 1}),
	} {
		if _, err := other.Decode(good, 2); !errs.Is(err, errs.InvalidCursor) {
			t.Errorf("%s accepted the cursor: %v", name, err)
		}
	}
	if _, err := p.Decode(good, 1); !errs.Is(err, errs.InvalidCursor) {
		t.Errorf("a cursor with too many values was accepted: %v", err)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(good)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		bad := append([]byte(nil), raw...)
		switch rng.IntN(3) {
		case 0:
			bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
		case 1:
			bad = bad[:rng.IntN(len(bad))]
		case 2:
			bad = append(bad, byte(rng.IntN(256)))
		}
		if _, err := p.Decode(base64.RawURLEncoding.EncodeToString(bad), 2); !errs.Is(err, errs.InvalidCursor) {
			t.Fatalf("a mutated cursor was accepted: %x (%v)", bad, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	db := pgtest.New(f)
	p, err := db.Pager(f.Context(), "things", nil)
	if err != nil {
		f.Fatal(err)
	}
	good, _ := p.Encode("a", "b")
	f.Add(good)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := p.Decode(s, 2); err == nil && s != good {
			t.Fatalf("%q was accepted", s)
		}
	})
}

func key(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), 32)))
}

// 10,000 credentials are rewrapped with another key while readers keep reading them.
func TestResealOnline(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx := t.Context()
	if _, err := db.Exec(ctx, `create table credential (id int primary key, sealed bytea)`); err != nil {
		t.Fatal(err)
	}
	place := func(id int) seal.Place {
		return seal.Place{Table: "credential", Column: "sealed", Row: fmt.Sprint(id)}
	}
	old, err := seal.NewRing(key('a'))
	if err != nil {
		t.Fatal(err)
	}
	both, err := seal.NewRing(key('b'), key('a'))
	if err != nil {
		t.Fatal(err)
	}
	const n = 10_000
	rows := make([][]any, n)
	for i := range rows {
		sealed, err := old.Seal(place(i), []byte(fmt.Sprintf("secret %d", i)))
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = []any{i, sealed}
	}
	if _, err := db.CopyFrom(ctx, pgx.Identifier{"credential"}, []string{"id", "sealed"},
		pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var reads int
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			i := rand.IntN(n)
			sealed, err := pg.Value[[]byte](ctx, db, `select sealed from credential where id = $1`, i)
			if err != nil {
				t.Error(err)
				return
			}
			if plain, err := both.Open(place(i), sealed); err != nil || string(plain) != fmt.Sprintf("secret %d", i) {
				t.Errorf("read of %d failed during the rotation: %v", i, err)
				return
			}
			reads++
		}
	})
	start := time.Now()
	done, err := db.Reseal(ctx, both, pg.SealedColumn{Table: "credential", Column: "sealed", Key: "id"})
	took := time.Since(start)
	close(stop)
	readers.Wait()
	if err != nil || done != n {
		t.Fatalf("rewrapped %d of %d: %v", done, n, err)
	}
	t.Logf("%d credentials rotated in %s with %d concurrent reads", n, took, reads)
	if took > 10*time.Second {
		t.Errorf("took %s, must stay below 10 s", took)
	}
	fresh, err := seal.NewRing(key('b'))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, n - 1} {
		sealed, _ := pg.Value[[]byte](ctx, db, `select sealed from credential where id = $1`, i)
		if _, err := fresh.Open(place(i), sealed); err != nil {
			t.Errorf("%d does not open with the new key alone: %v", i, err)
		}
		if _, err := old.Open(place(i), sealed); err == nil {
			t.Errorf("%d still opens with the old key", i)
		}
	}
	if again, err := db.Reseal(ctx, both, pg.SealedColumn{
		Table: "credential", Column: "sealed",
		Key: "id",
	}); err != nil || again != 0 {
		t.Errorf("a second run rewrapped %d: %v", again, err)
	}
}

func TestAway(t *testing.T) {
	t.Parallel()
	db, err := pg.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = pg.Value[int](t.Context(), db, `select 1`)
	if !pg.Away(err) {
		t.Errorf("an unreachable server is not recognised: %v", err)
	}
	// errors that a crash leaves on a connection
	for _, cut := range []error{syscall.ECONNRESET, syscall.EPIPE, io.ErrUnexpectedEOF} {
		if !pg.Away(fmt.Errorf("exec: %w", &net.OpError{Op: "read", Err: os.NewSyscallError("read", cut)})) {
			t.Errorf("a connection that was cut is not recognised: %v", cut)
		}
	}
	for code, away := range map[string]bool{"53200": true, "53100": true, "53300": true, "57P01": true, "25P03": true, "42P01": false} {
		if err := fmt.Errorf("query: %w", &pgconn.PgError{Code: code}); pg.Away(err) != away {
			t.Errorf("%s: away %t", code, !away)
		}
	}
	timeout := fmt.Errorf("collect: %w", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})
	if !pg.Away(timeout) || pg.Away(errors.Join(timeout, context.DeadlineExceeded)) ||
		pg.Away(errors.Join(timeout, context.Canceled)) {
		t.Error("a broken connection is taken for the call's own timeout, or for a caller who left")
	}
	live := pgtest.New(t)
	_, err = pg.Value[int](t.Context(), live, `select 1 / 0`)
	if err == nil || pg.Away(err) || errors.Is(err, pg.ErrNoRow) {
		t.Errorf("a refused statement is taken for an unreachable server: %v", err)
	}
}

// TestCancelledConnection cancels a call that already has its whole response, so that the driver
// considers the call a success. The next call must not get its connection. For comparison, a call
// that is not canceled returns its connection to the pool.
func TestCancelledConnection(t *testing.T) {
	t.Parallel()
	db, err := pg.Open(t.Context(), pgtest.EmptyURL(t), pg.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	backend := func(cancelling bool) (pid int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		rows, err := db.Query(ctx, `select pg_backend_pid()`)
		if err != nil || !rows.Next() || rows.Scan(&pid) != nil {
			t.Fatal(err, rows.Err())
		}
		if cancelling {
			cancel()
			time.Sleep(20 * time.Millisecond)
		}
		if rows.Next() || rows.Err() != nil {
			t.Fatalf("the response was incomplete: %v", rows.Err())
		}
		return pid
	}
	first := backend(false)
	if second := backend(true); second != first {
		t.Fatalf("an ordinary call ended its connection: %d after %d", second, first)
	}
	if third := backend(false); third == first {
		t.Error("the connection of a canceled call is reused")
	}
}
