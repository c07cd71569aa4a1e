package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPU returns the time that a process has spent on a core, in its own code and in the kernel for
// it. It adds up /proc/…/schedstat of all threads. utime and stime of /proc/…/stat have the same
// sum, but in steps of 10 ms. Such steps would hide a tenth of what one PostgreSQL backend uses in
// a round.
func CPU(pid int) (time.Duration, error) {
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, path := range paths {
		b, err := os.ReadFile(path) //nolint:gosec // a path below /proc, made above
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // a thread that has just ended
		}
		if err != nil {
			return 0, err
		}
		onCore, _, _ := strings.Cut(string(b), " ")
		ns, err := strconv.ParseInt(onCore, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// OwnCPU returns the time that this process has spent on a core. It is the cost of the client.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the own process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// MachineCPU returns the time that all cores together were not idle since the machine started. It
// includes the time that the host took from the machine. It has steps of 10 ms.
func MachineCPU() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, errors.New("/proc/stat does not begin with the sum of all cores")
	}
	var ticks int64
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != 3 && i != 4 {
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// A Memory is the memory of a process, in bytes.
type Memory struct {
	RSS  int64 `json:"rss"`  // all pages that are in memory
	Anon int64 `json:"anon"` // the part of RSS that is the process's own: heap and stacks
	// The part of RSS that is mapped from the binary. The kernel can drop these pages, and
	// processes share them.
	File int64 `json:"file"`
	PSS  int64 `json:"pss"` // RSS, with each shared page divided by the number of processes that share it
}

// MemoryOf reads the memory of a process from /proc.
func MemoryOf(pid int) (Memory, error) {
	var m Memory
	err := readSizes(fmt.Sprintf("/proc/%d/status", pid),
		map[string]*int64{"VmRSS": &m.RSS, "RssAnon": &m.Anon, "RssFile": &m.File})
	if err != nil {
		return Memory{}, err
	}
	err = readSizes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), map[string]*int64{"Pss": &m.PSS})
	return m, err
}

// readSizes fills in the requested lines "Name: 123 kB". A missing line is an error, because a zero
// would look like a very good result.
func readSizes(path string, want map[string]*int64) error {
	b, err := os.ReadFile(path) //nolint:gosec // the callers above name files below /proc
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		target, ok := want[name]
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, name, err)
		}
		*target = kb << 10
		delete(want, name)
	}
	if len(want) > 0 {
		return fmt.Errorf("%s lacks %d of the lines that were looked for", path, len(want))
	}
	return nil
}
