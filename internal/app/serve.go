package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/schedule"
)

const shutdownGrace = 10 * time.Second

// Serve migrates, listens and serves until ctx ends, then lets running requests finish.
func (a *App) Serve(ctx context.Context, announce func(address string)) error {
	defer a.Close()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	s.start(ctx)
	tellSystemd(nowReady)
	a.greet(ctx, s.address())
	if announce != nil {
		announce(s.address())
	}
	// Return the memory used only during startup to the operating system now, not when the heap
	// next grows.
	debug.FreeOSMemory()
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	s.stop(ctx)
	return err
}

// Close closes the connections to the database.
func (a *App) Close() { a.DB.Close() }

// A service is an App that is serving.
type service struct {
	app       *App
	servers   []*http.Server
	listeners []net.Listener
	failed    chan error // errors of servers that stopped by themselves

	serving, behind sync.WaitGroup
	halt            context.CancelFunc // stops jobs, streams and waiting requests
	end             context.CancelFunc // stops the writes that follow requests
}

// open migrates the database and listens. It starts no work.
func (a *App) open(ctx context.Context) (*service, error) {
	if err := a.upgraded(ctx, 30*time.Second); err != nil {
		return nil, err
	}
	if err := a.Workflows.Mend(ctx); err != nil {
		return nil, err
	}
	handler, err := a.Rest().Handler()
	if err != nil {
		return nil, err
	}
	secure, err := a.Config.secure()
	if err != nil {
		return nil, err
	}
	if a.Config.LAN != nil {
		handler = a.Config.LAN.handler(handler)
	}
	s := &service{app: a, failed: make(chan error, 2)}
	if err := s.listen(ctx, "COFFER_LISTEN", a.Config.Listen, handler); err != nil {
		return nil, err
	}
	s.servers[0].TLSConfig = secure
	if a.Config.MetricsListen != "" {
		if err := s.listen(ctx, "COFFER_METRICS_LISTEN", a.Config.MetricsListen, a.metricsHandler()); err != nil {
			_ = s.listeners[0].Close() // nobody knows its address yet
			return nil, err
		}
	}
	return s, nil
}

func (s *service) listen(ctx context.Context, setting, address string, h http.Handler) error {
	l, err := listen(ctx, setting, address)
	if err != nil {
		return err
	}
	s.servers, s.listeners = append(s.servers, s.app.server(h)), append(s.listeners, l)
	return nil
}

func (s *service) address() string { return s.listeners[0].Addr().String() }

// start serves requests and runs background work. Both continue after ctx ends, until stop.
func (s *service) start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	working, halt := context.WithCancel(ctx)
	background, end := context.WithCancel(ctx)
	s.halt, s.end = halt, end
	for i, server := range s.servers {
		s.serving.Go(func() {
			serve := server.Serve
			if server.TLSConfig != nil {
				serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
			}
			if err := serve(s.listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- err
			}
		})
	}
	a := s.app
	s.behind.Go(func() {
		a.Auth.Run(background, func(err error) {
			a.Log.Error("last use of keys not stored", "error",
				errs.LogText(err))
		})
	})
	s.behind.Go(func() {
		if err := a.Jobs.Run(working, a.tasks()...); err != nil {
			a.Log.Error("jobs did not stop cleanly; another server takes them over when their leases expire", "error",
				errs.LogText(err))
		}
	})
}

// stop ends everything in order. Streams and waiting requests end first, because otherwise no
// shutdown would finish. Then requests end, and last the writes that follow them. Meanwhile other
// servers can take over the jobs.
func (s *service) stop(ctx context.Context) {
	s.app.Log.Info("stopping")
	tellSystemd(nowStopping)
	s.halt()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	for _, server := range s.servers {
		if err := server.Shutdown(grace); err != nil {
			_ = server.Close() // agents may keep a stream open forever, so it is cut after the grace period
		}
	}
	s.serving.Wait()
	s.end()
	s.behind.Wait()
}

func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errs.Wrap(err, errs.Unavailable,
			"%s is already in use by another program; set %s to another address, such as 127.0.0.1:8081",
			address, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, nil
}

// server returns an HTTP server with limits for slow or silent clients. It sets no deadline for
// responses: event streams have no end, and calls have their own deadlines.
func (a *App) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		ErrorLog:       slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
}

func (a *App) greet(ctx context.Context, address string) {
	docs := a.Config.address()
	// The address is open to all interfaces, or the system chose the port. A browser on this
	// machine reaches it at this address.
	if docs == "" {
		_, port, _ := net.SplitHostPort(address)
		docs = a.Config.scheme() + net.JoinHostPort("127.0.0.1", port)
	}
	a.Log.Info("serving", "address", address, "version", Version, "docs", docs+"/docs")
	if a.Ring == nil {
		a.Log.Warn("COFFER_ENCRYPTION_KEY is not set, so banks cannot be connected; create one: openssl " +
			"rand -base64 32")
	}
	if made, err := a.Auth.Any(ctx); err == nil && !made {
		if link, err := a.setupLink(ctx); err == nil {
			fmt.Fprintf(os.Stderr, "\n  Set up your household in a browser (link valid for one day):\n\n    "+
				"%s\n\n", link)
		} else {
			a.Log.Error("no setup link; create a key on this machine: coffer key create --name me --scope full_access",
				"error", errs.LogText(err))
		}
	}
}

const (
	sweepEvery = 10 * time.Minute
	sweepRest  = 24 * time.Hour // a server that nobody uses sweeps at least this often
)

// tasks returns all timed work. Every server does it, and skips the rows that another server is
// working on.
func (a *App) tasks() []schedule.Task {
	var swept time.Time
	var used int64
	return append(slices.Concat(a.Connections.Tasks(), a.LinkSessions.Tasks(), a.Workflows.Tasks(),
		a.Recurring.Tasks(), a.Findings.Tasks(), a.Accounts.Tasks(), a.Notify.Tasks(), a.Watch.Tasks(),
		a.backupTasks()), schedule.Task{
		Name: "sweep", Every: sweepEvery, Fault: "old records not deleted",
		Do: func(ctx context.Context) error {
			// If nobody used the database since the last sweep, there is nothing new to sweep.
			if a.DB.Stat().AcquireCount() == used && time.Since(swept) < sweepRest {
				return nil
			}
			a.sweep(ctx)
			swept, used = time.Now(), a.DB.Stat().AcquireCount()
			return nil
		},
	})
}

// sweep deletes what has expired, one batch at a time: stored responses, codes and sessions, export
// files that nobody downloaded, and old records of finished work.
func (a *App) sweep(ctx context.Context) {
	for _, s := range []struct {
		do    func(context.Context) error
		fault string
	}{
		{a.forgetAnswers, "old responses not deleted"},
		{a.Auth.Sweep, "expired credentials not deleted"},
		{a.Statements.ForgetUploads, "old files not deleted"},
		{a.Archive.Forget, "old exports not deleted"},
		{a.LinkSessions.Forget, "old link sessions not deleted"},
		{a.Hooks.Sweep, "old webhook events not deleted"},
		{a.Notify.Forget, "old notifications not deleted"},
		{a.Journal.ForgetBudgets, "old write counts not deleted"},
		{a.Connections.ForgetLogs, "old sync logs not deleted"},
		{a.Workflows.Forget, "old transcripts not deleted"},
	} {
		if err := s.do(ctx); err != nil && ctx.Err() == nil {
			a.Log.Error(s.fault, "error", errs.LogText(err))
		}
	}
}

func (a *App) forgetAnswers(ctx context.Context) error {
	_, err := op.ForgetAnswers(ctx, a.DB)
	return err
}
