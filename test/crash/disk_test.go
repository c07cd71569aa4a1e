package crash

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
	"github.com/jackc/pgx/v5"
)

// A disk is a small file system of its own, in memory.
type disk struct{ path string }

// newDisk needs root. Elsewhere nothing is checked.
func newDisk(t *testing.T, size string) disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: only root may mount a small file system to fill")
	}
	path, err := os.MkdirTemp("", "coffer-disk-") //nolint:usetesting // PostgreSQL's own user must be able to reach it
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", path).
		CombinedOutput(); err != nil {
		t.Skipf("NOT CHECKED: no small file system could be mounted: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", path).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
		_ = os.Remove(path)
	})
	return disk{path}
}

func (d disk) ballast() string { return filepath.Join(d.path, "ballast") }

// fill leaves no room.
func (d disk) fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(d.ballast())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // its room is all that counts
	block := make([]byte, 1<<12)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// free makes room again.
func (d disk) free(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Fatal(err)
	}
}

// metric returns the line of a server's metric, without its name.
func metric(t *testing.T, address, name string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return "none"
}

// listener is an address of this machine that nobody listens on.
func listener(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number was wanted
	return l.Addr().String()
}

func fullDisks() int {
	if long() {
		return 20
	}
	return 2
}

// PostgreSQL's disk is full, in turns that of its data, where it refuses to write, and that of its
// log, where it ends. The server lives on, says so to callers, probes and monitors, goes on by itself
// once there is room, and nothing that it acknowledged is lost.
func TestFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	data, wal := newDisk(t, "256m"), newDisk(t, "192m")
	cluster := pgtest.NewClusterOn(t, data.path, wal.path)
	admin, err := pgx.Connect(t.Context(), cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"create database coffer", "alter system set max_wal_size = '64MB'", "alter system set min_wal_size = '32MB'",
		"select pg_reload_conf()",
	} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_ = admin.Close(t.Context()) // the first crash would close it
	began, watched := time.Now(), listener(t)
	w := newTown(t, 1000, 20*time.Millisecond)
	w.settings = append(w.settings, "COFFER_METRICS_LISTEN="+watched)
	h := w.newHouse(t, apptest.Program(t), cluster.URL("coffer"))
	still := h.liveOn(rand.New(rand.NewPCG(7, 7)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var d diligent
	busy := h.load(ctx, &d)
	ready := func() (int, string) {
		status, answer, err := h.send(t.Context(), http.MethodGet, "/health/ready", "")
		if err != nil {
			t.Fatal(err)
		}
		return status, string(answer)
	}
	var said, back []time.Duration
	refused, ended := 0, 0
	for n := range fullDisks() {
		full := data
		if n%2 == 1 {
			full = wal
		}
		full.fill(t)
		from := time.Now()
		if full == wal { // rather than wait until the segment is used up
			if c, err := pgx.Connect(t.Context(), cluster.URL("postgres")); err == nil {
				_, _ = c.Exec(t.Context(), "select pg_switch_wal()") // it ends the server
				_ = c.Close(t.Context())
			}
		}
		await(t, "the probe says that nothing can be stored", func() (bool, error) {
			status, answer := ready()
			return status == http.StatusServiceUnavailable || strings.Contains(answer, `"disk":"full`), nil
		})
		said = append(said, time.Since(from))
		status, answer := ready()
		switch {
		case full == data && cluster.Running():
			refused++
			if status != http.StatusOK || metric(t, watched, "coffer_database_disk_full") != "1" {
				t.Errorf("the data's disk is full: %d %s, and coffer_database_disk_full %s", status, answer,
					metric(t, watched, "coffer_database_disk_full"))
			}
			if status, answer, err := h.send(t.Context(), http.MethodGet, "/transactions?limit=1", ""); err != nil ||
				status != http.StatusOK {
				t.Errorf("reading: %d %s %v", status, answer, err)
			}
		default:
			ended++
			await(t, "monitors see that the database is away", func() (bool, error) {
				return metric(t, watched, "coffer_database_up") == "0", nil
			})
		}
		full.free(t)
		if !cluster.Running() {
			if err := cluster.Start(); err != nil {
				t.Fatal(err)
			}
		}
		back = append(back, d.again(time.Now()))
	}
	cancel()
	busy.Wait()
	still()
	if s := d.strange.Load(); s != nil {
		t.Errorf("while a disk was full a caller got: %s", *s)
	}
	if !h.server.Alive() || len(h.server.Starting) != 1 {
		t.Error("the server did not live on")
	}
	if full := metric(t, watched, "coffer_database_up"); full != "1" {
		t.Errorf("it is back, and coffer_database_up is %s", full)
	}
	h.settle(t)
	rows, wrong := h.check(t)
	for _, text := range wrong {
		t.Error(text)
	}
	lost, err := d.lost(t.Context(), h)
	if err != nil || len(lost) > 0 {
		t.Errorf("%d acknowledged writes are lost: %.200v %v", len(lost), lost, err)
	}
	slices.Sort(said)
	slices.Sort(back)
	if most := back[len(back)-1]; most > backPatient {
		t.Errorf("no write for %v after there was room", most)
	}
	t.Logf("%d full disks in %.0f s: %d times PostgreSQL refused to write, %d times it ended; the probe said so %v after, "+
		"%v at most; %d writes acknowledged, %d lost, %d attempts refused; first success %v after there was room at the "+
		"median, %v at most; %d rows as the banks know them",
		len(back), time.Since(began).Seconds(), refused, ended, round(said[len(said)/2]), round(said[len(said)-1]),
		len(d.acked), len(lost), d.refused.Load(), round(back[len(back)/2]), round(back[len(back)-1]), rows)
}

// The disk for backups is full: the backups that are there stay whole, nothing half is left, the
// household and monitors learn that there is no recent one, and the next is made once there is room.
func TestFullBackupDisk(t *testing.T) {
	t.Parallel()
	saved, watched := newDisk(t, "4m"), listener(t)
	program, database := apptest.Program(t), pgtest.URL(t)
	const every = 10 * time.Second
	settings := []string{
		"COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "COFFER_BACKUP_DIR=" + saved.path,
		"COFFER_BACKUP_PASSPHRASE=five random words are good", "COFFER_BACKUP_EVERY=" + every.String(),
		"COFFER_BACKUP_KEEP=3", "COFFER_METRICS_LISTEN=" + watched,
	}
	h := open(t, program, database, settings...)
	newest := func() string {
		found, err := filepath.Glob(filepath.Join(saved.path, "coffer-*.age"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return ""
		}
		slices.Sort(found)
		return found[len(found)-1]
	}
	due := func() (bool, error) {
		status, answer, err := h.send(t.Context(), http.MethodGet, "/overview", "")
		var o struct{ Backup struct{ Due bool } }
		if err == nil {
			err = json.Unmarshal(answer, &o)
		}
		return status == http.StatusOK && o.Backup.Due, err
	}
	await(t, "the first backup", func() (bool, error) { return newest() != "", nil })
	saved.fill(t)
	full := time.Now()
	await(t, "the household learns of it", due)
	told := time.Since(full)
	await(t, "monitors learn of it", func() (bool, error) {
		return metric(t, watched, "coffer_backup_overdue") == "1", nil
	})
	last := newest()
	if left, err := filepath.Glob(filepath.Join(saved.path, ".coffer-*")); err != nil || len(left) > 0 {
		t.Errorf("half a backup is left: %v %v", left, err)
	}
	if !strings.Contains(h.server.Log(), "no space left on device") {
		t.Error("the log doesn't say why there is no backup")
	}
	check := exec.CommandContext(t.Context(), program, "backup", "verify", last)
	check.Env = append(append(os.Environ(), settings...), "COFFER_DATABASE_URL="+database)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("the last backup before: %v %s", err, out)
	}
	if status, answer, err := h.send(t.Context(), http.MethodGet, "/health/ready", ""); err != nil || status != http.StatusOK {
		t.Errorf("the server serves no more: %d %s %v", status, answer, err)
	}
	saved.free(t)
	free := time.Now()
	await(t, "the next backup", func() (bool, error) { return newest() != last, nil })
	made := time.Since(free)
	await(t, "the household learns that there is one", func() (bool, error) {
		yes, err := due()
		return !yes, err
	})
	t.Logf("backups every %v: overdue %v after the disk was full, the next one %v after there was room", every,
		round(told), round(made))
}
