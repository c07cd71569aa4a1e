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

// Coffer returns the service to measure: the given binary, or else one that is built like releases:
// static, without paths, stripped. The caller removes it.
func Coffer(ctx context.Context, given string) (binary string, remove func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "coffer-bench-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system clears it some day
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

// A Child is a server under measurement. It listens on loopback only, and what it logs goes to
// /dev/null.
type Child struct {
	Address string
	Started time.Time // just before exec

	cmd *exec.Cmd
}

// Start runs path with the environment env and nothing else of ours. It picks a free address,
// passes it to env and keeps it in the Child.
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
	defer l.Close() //nolint:errcheck // it is closed to be listened on by another
	return l.Addr().String(), nil
}

// Pid is the process's id.
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
		// Often enough to be exact to a millisecond, seldom enough not to take the core that the
		// child starts on.
		time.Sleep(500 * time.Microsecond)
	}
	return 0, fmt.Errorf("the server at %s was not ready within %s", c.Address, patience)
}

// Stop ends the process as an operator would and waits for it; if it does not end, it is killed.
func (c *Child) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have gone already
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		fmt.Fprintf(os.Stderr, "process %d ended with code %d\n", c.Pid(), exit.ExitCode())
	}
}
