// Package apptest runs the program for tests, in a process of its own or in the process of the
// test. A test can kill the process as a crash would. All that the package knows about the program
// is how to start it and when it is ready.
package apptest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// port finds a free port below those that the system gives to outgoing connections. So no other
// process gets the port while the server is down.
func port(t testing.TB) int {
	t.Helper()
	for range 100 {
		n := 20_000 + rand.N(12_000) //nolint:gosec // no secret
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", n))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatal("no free port")
	return 0
}

// A Server is `coffer serve` in its own process, started again after each kill, always at the same
// address.
type Server struct {
	Address  string          // host and port
	Starting []time.Duration // how long each start took until the server was ready

	program string
	env     []string
	log     Log // across all restarts of the server
	process *exec.Cmd
}

// Start runs the program on the database, with high limits and these additional settings
// (NAME=value), and returns when it is ready.
func Start(t testing.TB, program, database string, settings ...string) *Server {
	t.Helper()
	s := &Server{program: program, Address: fmt.Sprintf("127.0.0.1:%d", port(t))}
	s.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COFFER_") })
	s.env = append(s.env,
		"COFFER_DATABASE_URL="+database, "COFFER_LISTEN="+s.Address, "COFFER_LOG_LEVEL=WARN",
		"COFFER_RATE_PER_MINUTE=10000000", "COFFER_RATE_BURST=1000000")
	s.env = append(s.env, settings...)
	t.Cleanup(func() {
		if s.Alive() {
			_ = s.process.Process.Kill() // it may have ended by itself
			_ = s.process.Wait()         // says that it was killed
		}
		if t.Failed() {
			text := s.Log()
			t.Logf("the server's log, its last part:\n%s", text[max(0, len(text)-4000):])
		}
	})
	if err := s.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Launch restarts the program and does not wait for it.
func (s *Server) Launch() error {
	s.process = exec.Command(s.program, "serve") //nolint:gosec,noctx // the program that was just built; it outlives the call
	s.process.Env, s.process.Stderr = s.env, &s.log
	return s.process.Start()
}

// Again restarts the program and returns when it is ready.
func (s *Server) Again(ctx context.Context) error {
	began := time.Now()
	if err := s.Launch(); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	for {
		err := ready(ctx, client, s.URL()+"/health/ready")
		if err == nil {
			s.Starting = append(s.Starting, time.Since(began))
			return nil
		}
		if time.Since(began) > 5*time.Minute || ctx.Err() != nil {
			return fmt.Errorf("the server is not ready after %v: %w", time.Since(began), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ready(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing of it is read
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// URL returns the base URL of the API.
func (s *Server) URL() string { return "http://" + s.Address + "/api/v1" }

// Alive reports whether the process is still running.
func (s *Server) Alive() bool { return s.process != nil && s.process.ProcessState == nil }

// Peak returns the peak resident memory of the current process, in MiB. It is known on Linux only.
func (s *Server) Peak(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Skip("the memory of a process is read from /proc")
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("the server has ended")
	return 0
}

// Log returns what the server wrote, across all restarts.
func (s *Server) Log() string {
	return s.log.String()
}

// Kill kills the process and verifies that the kill is what ended it.
func (s *Server) Kill() error {
	if err := s.process.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	_ = s.process.Wait() // its error is the signal, which the next line looks at
	if how, ok := s.process.ProcessState.Sys().(syscall.WaitStatus); !ok || how.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the server was not killed, it ended by itself: %v", s.process.ProcessState)
	}
	return nil
}

// Stop asks the process to stop, as an operator does.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(2*time.Minute, func() { _ = s.process.Process.Kill() }) // Wait then says so
	defer stuck.Stop()
	if err := s.process.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}
