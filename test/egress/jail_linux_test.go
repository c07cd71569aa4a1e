// Package egress runs the program as its container image does: without privileges, without other
// files, and with no network but loopback. It counts the addresses to which the program connects.
// It uses the program's own surfaces, and must not know how the program makes connections.
package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user id under which the program runs.
const nobody = "65534"

// enter runs the calling test again in its own namespaces: with no network but loopback, its own
// mounts, and processes that end with it.
func enter(t *testing.T, settings ...string) {
	t.Helper()
	words := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if err := able(words); err != nil {
		if os.Getenv("CI") != "" && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skipf("this test needs namespaces: %v", err)
	}
	words = append(words, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", "-test.timeout=8m")
	cmd := exec.CommandContext(t.Context(), "unshare", words...)
	cmd.Env = append(os.Environ(), settings...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in the namespace: %v\n%s", err, out)
	}
	t.Logf("in the namespace:\n%s", out)
}

// able returns an error that names what this machine lacks for the test.
func able(words []string) error {
	if os.Geteuid() != 0 {
		return errors.New("only root makes them")
	}
	for _, p := range []string{"unshare", "ip", "strace", "chroot"} {
		if _, err := exec.LookPath(p); err != nil {
			return err
		}
	}
	if out, err := exec.Command("unshare", append(words, "strace", "-f", "-o", "/dev/null",
		"true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("unshare or strace: %w: %s", err, out)
	}
	return nil
}

// A jail is a read-only root folder with the files of the image. Programs in it are traced.
type jail struct {
	program string // a script that runs the program in the jail, traced
	root    string
	traces  string
}

// newJail puts the program into a new root folder. The folder's resolv.conf names a DNS server that
// exists in no network, so that lookups are noticed. Without that file, Go would ask a server on
// this machine.
func newJail(t *testing.T, program string) jail {
	t.Helper()
	dir := t.TempDir()
	j := jail{
		program: filepath.Join(dir, "run"), root: filepath.Join(dir, "root"),
		traces: filepath.Join(dir, "traces"),
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf("#!/bin/sh\nexec strace -f -qq --seccomp-bpf -e trace=connect,sendto,sendmsg,sendmmsg -o "+
		"%s/$$ chroot --userspec=%s:%s --groups=%s %s /coffer \"$@\"\n",
		j.traces, nobody, nobody, nobody, j.root)
	err = errors.Join(
		os.MkdirAll(filepath.Join(j.root, "etc"), 0o755),
		os.Mkdir(j.traces, 0o700),
		os.WriteFile(filepath.Join(j.root, "etc", "resolv.conf"),
			[]byte("nameserver 192.0.2.53\noptions timeout:1 attempts:1\n"), 0o644),
		os.WriteFile(filepath.Join(j.root, "coffer"), binary, 0o755),
		os.WriteFile(j.program, []byte(run), 0o700),
		syscall.Mount(j.root, j.root, "", syscall.MS_BIND, ""),
		syscall.Mount("", j.root, "",
			syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, ""),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(j.root, syscall.MNT_DETACH) }) // the mount ends with the namespace anyway
	if err := os.WriteFile(filepath.Join(j.root, "mark"), nil, 0o600); !errors.Is(err, syscall.EROFS) {
		t.Fatalf("the jail can be written to: %v", err)
	}
	return j
}

var address = regexp.MustCompile(`inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"`)

// reached counts the connections and datagrams to this machine, and lists those to any other.
func (j jail) reached(t *testing.T) (own int, others []string) {
	t.Helper()
	j.watched(t, func(a netip.Addr, line string) {
		if a.IsLoopback() {
			own++
		} else {
			others = append(others, line)
		}
	})
	return own, others
}

// watched calls seen for each recorded connection and datagram. An unreadable address is reported
// as the zero address, which no host has.
func (j jail) watched(t *testing.T, seen func(a netip.Addr, line string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(j.traces, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing was watched: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			for _, m := range address.FindAllStringSubmatch(line, -1) {
				a, _ := netip.ParseAddr(m[1] + m[2])
				seen(a.Unmap(), strings.TrimSpace(line))
			}
		}
	}
}

// calls counts the connections and datagrams to one address.
func (j jail) calls(t *testing.T, host string) (n int) {
	t.Helper()
	j.watched(t, func(a netip.Addr, _ string) {
		if a.String() == host {
			n++
		}
	})
	return n
}

// inmates returns the ids of the processes in the jail.
func (j jail) inmates() (pids []int) {
	roots, _ := filepath.Glob("/proc/[0-9]*/root") // the pattern is valid
	for _, r := range roots {
		if to, err := os.Readlink(r); err != nil || to != j.root {
			continue // not in the jail, or ended just now
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(r))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// clear kills all processes in the jail.
func (j jail) clear() {
	for _, pid := range j.inmates() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
	}
}

// held checks that all processes in the jail run as nobody and without capabilities. It returns
// their number.
func (j jail) held(t *testing.T) int {
	t.Helper()
	pids := j.inmates()
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		four := strings.Repeat("\t"+nobody, 4)
		for _, line := range []string{
			"Uid:" + four, "Gid:" + four, "CapInh:\t0000000000000000",
			"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000",
		} {
			if !strings.Contains(string(b), "\n"+line+"\n") {
				t.Errorf("a process of the jail has not %q:\n%s", line, b)
			}
		}
	}
	return len(pids)
}
