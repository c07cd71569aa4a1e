// Package jobtest turns a test binary into a server that also runs jobs, so that tests can stop and
// kill real processes. It defines no kinds of jobs: each test registers its own.
package jobtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

const variable = "COFFER_TEST_SERVER"

// Main is the TestMain of a package. In a process that [Start] started it calls serve with the
// server S until the process is stopped; otherwise it runs the tests.
func Main[S any](m *testing.M, serve func(ctx context.Context, s S) error) {
	printed := os.Getenv(variable)
	if printed == "" {
		os.Exit(m.Run())
	}
	var s S
	if err := json.Unmarshal([]byte(printed), &s); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := serve(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A Process is a running server.
type Process struct {
	*exec.Cmd
	mu  sync.Mutex
	log bytes.Buffer
}

// Start runs a test binary as the server s: os.Args[0], or a binary with a deliberate defect.
func Start[S any](program string, s S) (*Process, error) {
	printed, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p := &Process{Cmd: exec.Command(program)} //nolint:noctx // a test binary; it ends when it is stopped or killed
	p.Env, p.Stderr = append(os.Environ(), variable+"="+string(printed)), p
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// Write stores what the process logs.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// Said returns what the process has logged.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// End kills the process, if it has not ended by itself.
func (p *Process) End() {
	_ = p.Process.Kill() // it may have ended
	_ = p.Wait()         // the error only says that it was killed
}

// A Hold is which worker has a job at the moment, and the job's progress.
type Hold struct {
	State   string `db:"state"`
	Done    int    `db:"done"`
	Attempt int    `db:"attempt"`
	Owner   string `db:"owner"`
}

// Holder reads which worker has the job; pid is 0 if none has.
func Holder(ctx context.Context, db *pg.DB, job id.ID) (h Hold, pid int, err error) {
	h, err = pg.One[Hold](ctx, db, `select state, done::int as done, attempt, coalesce(lease_owner, '') as owner
		from job where id = $1`, job)
	if words := strings.Fields(h.Owner); len(words) == 3 {
		_, _ = fmt.Sscan(words[1], &pid)
	}
	return h, pid, err
}
