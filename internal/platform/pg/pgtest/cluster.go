package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Cluster is a PostgreSQL server of one test, which the test may crash. It waits for its disk, as
// a household's server does.
type Cluster struct {
	Env []string // more of the server's environment, from its next start on

	bin, home, data, port string
	as                    *syscall.Credential
}

// NewCluster starts a server. If no server is installed, the test is skipped, except on a build
// machine, which must have one.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	return place(t).begin(t)
}

// NewClusterOn starts a server that keeps its data in one folder and its log in another, such as on
// two disks.
func NewClusterOn(t testing.TB, disk, log string) *Cluster {
	t.Helper()
	c := place(t)
	c.data = filepath.Join(disk, "data")
	if c.as != nil {
		for _, dir := range []string{disk, log} {
			if err := os.Chown(dir, int(c.as.Uid), int(c.as.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c.begin(t, "--waldir="+filepath.Join(log, "wal"))
}

func (c *Cluster) begin(t testing.TB, options ...string) *Cluster {
	t.Helper()
	if err := c.run("initdb", append(options, "-D", c.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "--no-sync")...); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// NewStandby starts a server that follows the primary. Until Synchronize, the primary does not wait
// for it.
func NewStandby(t testing.TB, primary *Cluster) *Cluster {
	t.Helper()
	c := place(t)
	if err := c.Follow(primary); err != nil {
		t.Fatal(err)
	}
	return c
}

// place finds a folder and a port for a server.
func place(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{bin: serverPrograms()}
	if c.bin == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("pgtest: no initdb found: install postgresql")
		}
		t.Skip("pgtest: no PostgreSQL server is installed here (no initdb in /usr/lib/postgresql/*/bin nor in PATH), " +
			"and this test must crash one")
	}
	home, err := os.MkdirTemp("", "coffer-pg-") //nolint:usetesting // the server's own user must be able to reach it
	if err != nil {
		t.Fatal(err)
	}
	c.home, c.data = home, filepath.Join(home, "data")
	if os.Geteuid() == 0 { // the server refuses to run as root
		if c.as, err = owner(home); err != nil {
			t.Fatal(err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.port = port
	_ = l.Close() // frees the port for the server
	t.Cleanup(func() {
		_ = c.Crash() // it may already be down
		_ = os.RemoveAll(home)
	})
	return c
}

// serverPrograms returns the folder with the programs of the newest server; Debian keeps it out of
// PATH.
func serverPrograms() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if not a number
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// owner gives the folder to the user postgres and returns that user's credential.
func owner(home string) (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(home, int(uid), int(gid))
}

func (c *Cluster) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...) //nolint:gosec,noctx // the server's own programs; they end by themselves
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: c.as}
	cmd.Env = append(os.Environ(), c.Env...)
	log, err := os.CreateTemp("", "coffer-pg-log-") // a file, not a pipe: the server inherits it and keeps running
	if err != nil {
		return err
	}
	defer os.Remove(log.Name()) //nolint:errcheck // a few lines
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		output, _ := os.ReadFile(log.Name()) // the error itself is returned in any case
		return fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return log.Close()
}

// Start runs the server and returns when it accepts connections.
func (c *Cluster) Start() error {
	return c.run("pg_ctl", "-D", c.data, "-l", filepath.Join(c.home, "log"), "-w", "-t", "120", "start",
		"-o", fmt.Sprintf("-p %s -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=60",
			c.port))
}

// Running reports whether the server runs.
func (c *Cluster) Running() bool { return c.run("pg_ctl", "-D", c.data, "status") == nil }

// Crash stops the server at once: no transaction is finished, and the next start recovers from the
// log.
func (c *Cluster) Crash() error {
	return c.run("pg_ctl", "-D", c.data, "-m", "immediate", "-w", "stop")
}

// Follow makes the server, which must be down, a standby of the primary: a fresh copy of it that
// receives what it writes.
func (c *Cluster) Follow(primary *Cluster) error {
	if err := os.RemoveAll(c.data); err != nil {
		return err
	}
	if err := c.run("pg_basebackup", "-D", c.data, "-d", primary.URL("postgres"), "-R", "-X", "stream", "-c", "fast",
		"--no-sync"); err != nil {
		return err
	}
	return c.Start()
}

// Synchronize has commits wait until the standby has them on its disk. It returns once it has seen
// one wait, so there must be writers.
func (c *Cluster) Synchronize(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to lose
	for _, statement := range []string{
		`alter system set synchronous_standby_names = '*'`, `select pg_reload_conf()`,
	} {
		if err := run(ctx, conn, statement); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var waits bool
		if err := conn.QueryRow(ctx, `select exists (select from pg_stat_replication where sync_state = 'sync')
			and exists (select from pg_stat_activity where wait_event = 'SyncRep')`).Scan(&waits); err != nil || waits {
			return err
		}
	}
	return errors.New("pgtest: no commit waits for the standby")
}

// CaughtUp returns once a standby has on its disk all that was committed before.
func (c *Cluster) CaughtUp(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to lose
	var end string
	if err := conn.QueryRow(ctx, `select pg_current_wal_flush_lsn()::text`).Scan(&end); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var there bool
		if err := conn.QueryRow(ctx, `select exists (select from pg_stat_replication where flush_lsn >= $1::pg_lsn)`,
			end).Scan(&there); err != nil || there {
			return err
		}
	}
	return errors.New("pgtest: the standby does not receive what was committed")
}

// Promote makes a standby the primary.
func (c *Cluster) Promote() error {
	return c.run("pg_ctl", "-D", c.data, "-w", "-t", "120", "promote")
}

// URL returns the URL of the server's database of that name.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/%s?sslmode=disable", c.port, database)
}

// PairURL returns the URL of a database that is on whichever of the two is the primary.
func PairURL(one, other *Cluster, database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s,127.0.0.1:%s/%s?sslmode=disable&"+
		"target_session_attrs=read-write", one.port, other.port, database)
}

// Dump returns pg_dump's output for the database at that URL, limited by the options. If pg_dump is
// not installed, the test is skipped, except on a build machine.
func Dump(t testing.TB, url string, options ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("pg_dump")
	if err != nil && serverPrograms() != "" {
		path = filepath.Join(serverPrograms(), "pg_dump")
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("pgtest: no pg_dump found: install postgresql-client")
		}
		t.Skip("pgtest: no pg_dump is installed here")
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, append(options, "--dbname="+url)...) //nolint:gosec // PostgreSQL's own program
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v: %s", err, output.String())
	}
	return out
}
