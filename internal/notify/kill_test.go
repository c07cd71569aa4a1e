package notify

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// childEnv names the database of a child process that posts and sends notifications until it is
// killed.
const childEnv = "COFFER_TEST_NOTIFY_CHILD"

// early is set for the control, which stores the outcome before it sends the message.
const early = "COFFER_TEST_NOTIFY_EARLY"

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		if err := child(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child posts events and sends them, both without end.
func child(url string) error {
	ctx := context.Background()
	db, err := pg.Open(ctx, url, pg.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	ring, err := ringOf()
	if err != nil {
		return err
	}
	n := New(Config{DB: db, Ring: ring, Log: slog.New(slog.DiscardHandler)})
	n.limits.lease, n.limits.check = 300*time.Millisecond, 5*time.Millisecond
	life := os.Getenv("COFFER_TEST_NOTIFY_LIFE")
	go func() {
		for i := 0; ; i++ {
			_ = db.InTx(ctx, func(tx pg.Tx) error { // an error means that the event did not happen
				subject := life + "-" + strconv.Itoa(i)
				if _, err := pg.Exec(ctx, tx, `insert into cause (subject) values ($1)`, subject); err != nil {
					return err
				}
				return Post(ctx, tx, Event{Type: SyncFailed, Subject: subject})
			})
			time.Sleep(time.Duration(rand.N(8)) * time.Millisecond) // so that it is killed at different points
		}
	}()
	for {
		if os.Getenv(early) != "" {
			err = n.sweepEarly(ctx)
		} else {
			err = n.Sweep(ctx)
		}
		if err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// sweepEarly is Sweep with the defect that the test must detect.
func (n *Notifier) sweepEarly(ctx context.Context) error {
	for {
		c, err := n.claim(ctx, []id.ID{})
		if err != nil {
			return nil //nolint:nilerr // there is none
		}
		if err := n.settle(ctx, c, outcome{status: 200}); err != nil {
			return err
		}
		m, err := n.message(c)
		if err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // so that some kills happen here
		send(ctx, m, n.limits.attempt)
	}
}

// The process may be killed at any moment between posting, commit, sending and acknowledgment. No
// notification is lost or invented, and a message that arrives twice has the same id and body.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 50
	if os.Getenv("COFFER_TEST_LONG") != "" {
		kills = 500
	}
	lost, repeats := killed(t, kills, nil)
	if lost > 0 {
		t.Errorf("%d messages were lost", lost)
	}
	if repeats == 0 {
		t.Error("nothing was sent twice: no kill fell between send and acknowledgement")
	}
	if lost, _ := killed(t, 30, []string{early + "=1"}); lost == 0 {
		t.Error("the control lost nothing: the test cannot notice a loss")
	}
}

// killed runs and kills the child several times, and then lets one child finish. It returns how
// many messages were lost and how many arrived more than once.
func killed(t *testing.T, kills int, env []string) (lost, repeats int) {
	t.Helper()
	url := pgtest.URL(t)
	db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), db, `create table cause (subject text primary key)`); err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, Notifier: New(Config{DB: db, Ring: newRing(t), Log: slog.New(slog.DiscardHandler)})}
	r := newReceiver(t, nil)
	e := h.endpoint(CreateEndpoint{URL: r.URL})
	for life := range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(append(os.Environ(), childEnv+"="+url, fmt.Sprintf("COFFER_TEST_NOTIFY_LIFE=%d", life)), env...)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended already
		before := len(r.all())
		until(t, "a message", func() bool { return len(r.all()) > before+1 })
		time.Sleep(time.Duration(rand.N(15_000)) * time.Microsecond) // any moment is fine
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // returns that it was killed
	}
	until(t, "the rest", func() bool {
		if err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := pg.Value[int](t.Context(), db, `select count(*) from delivery where next_at is not null`)
		return err == nil && n == 0
	})
	type row struct {
		Subject string  `db:"subject"`
		Short   *string `db:"short_id"`
	}
	rows, err := pg.All[row](t.Context(), db, `select c.subject, n.short_id from cause c
		full join notification n using (subject)`)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, m := range r.all() {
		id := m.header.Get("Webhook-Id")
		if was, again := bodies[id]; again && was != string(m.body) {
			t.Errorf("%s was sent with two bodies", id)
		} else if again {
			repeats++
		}
		bodies[id] = string(m.body)
		if err := verify(e.Secret, m.header, m.body, m.at); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, x := range rows {
		if x.Short == nil {
			t.Errorf("%s happened and was not posted", x.Subject)
		} else if _, came := bodies["msg_"+*x.Short]; !came {
			lost++
		}
	}
	if len(bodies) > len(rows) {
		t.Errorf("%d messages about %d events", len(bodies), len(rows))
	}
	t.Logf("%d kills: %d events, %d messages, %d of them again, %d lost", kills, len(rows), len(r.all()), repeats, lost)
	return lost, repeats
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}
