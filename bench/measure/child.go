package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const patience = 20 * time.Second

// Coffer returns the binary to measure: the given one, or one built like releases, which are
// static, stripped and without paths. The caller calls remove at the end.
func Coffer(ctx context.Context, given string) (binary string, remove func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "coffer-bench-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // if this fails, the system deletes it later
	binary = filepath.Join(dir, "coffer")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", //nolint:gosec // the variable is a file that this program names
		"-o", binary, "coffer/cmd/coffer")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		remove()
		return "", nil, fmt.Errorf("build coffer (run this inside the repository): %w", err)
	}
	return binary, remove, nil
}

// A Child is a server under measurement. It listens on loopback only, and its log goes to
// /dev/null.
type Child struct {
	Address string
	Started time.Time // just before exec

	cmd *exec.Cmd
}

// Start runs path with only the variables that env returns in its environment. It picks a free
// address, passes it to env and stores it in the Child.
func Start(ctx context.Context, path string, args []string, env func(address string) []string) (*Child, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // to start what the measuring program names is the point
	cmd.Env = env(address)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	c := &Child{Address: address, Started: time.Now(), cmd: cmd}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return c, nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // the child listens there next
	return l.Addr().String(), nil
}

// Pid returns the process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Ready waits until a GET of the path returns 200, and returns the time since exec.
func (c *Child) Ready(ctx context.Context, path string) (time.Duration, error) {
	request := Get(c.Address, path, "")
	for time.Since(c.Started) < patience && ctx.Err() == nil {
		if l, err := Connect(ctx, c.Address, request, 1); err == nil {
			_, err = l.Run(time.Second, 1)
			took := time.Since(c.Started)
			l.Close()
			if err == nil {
				return took, nil
			}
		}
		// This is often enough to be exact to a millisecond. Asking more often would take CPU time
		// from the starting child.
		time.Sleep(500 * time.Microsecond)
	}
	return 0, fmt.Errorf("the server at %s was not ready within %s", c.Address, patience)
}

// Stop ends the process as an operator would, and waits for it. If the process does not end, Stop
// kills it.
func (c *Child) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended already
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		fmt.Fprintf(os.Stderr, "process %d ended with code %d\n", c.Pid(), exit.ExitCode())
	}
}
