package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"coffer/internal/errs"
	"coffer/internal/op"
)

const shutdownGrace = 10 * time.Second

// Serve migrates, listens and serves until ctx ends, then lets running requests finish.
func (a *App) Serve(ctx context.Context, announce func(address string)) error {
	defer a.DB.Close()
	if err := a.ready(ctx, 30*time.Second); err != nil {
		return err
	}
	handler, err := a.Rest().Handler()
	if err != nil {
		return err
	}
	listener, err := listen(ctx, "COFFER_LISTEN", a.Config.Listen)
	if err != nil {
		return err
	}
	servers := []*http.Server{a.server(handler)}
	listeners := []net.Listener{listener}
	if a.Config.MetricsListen != "" {
		l, err := listen(ctx, "COFFER_METRICS_LISTEN", a.Config.MetricsListen)
		if err != nil {
			return err
		}
		servers, listeners = append(servers, a.server(a.metricsHandler())), append(listeners, l)
	}
	a.greet(ctx, listener.Addr().String())
	if announce != nil {
		announce(listener.Addr().String())
	}
	return a.run(ctx, servers, listeners)
}

func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errs.Wrap(err, errs.Unavailable,
			"%s is in use: another program, or another coffer, listens there; set %s to another address, such as "+
				"127.0.0.1:8081", address, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, nil
}

// server bounds what a slow or silent peer can hold. Answers have no deadline here: event streams
// last, and calls have their own.
func (a *App) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		ErrorLog:       slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
}

func (a *App) greet(ctx context.Context, address string) {
	docs := a.Config.address()
	if docs == "" { // open to all, or on a port of the system's choice: a browser on this machine finds it so
		_, port, _ := net.SplitHostPort(address)
		docs = "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	a.Log.Info("serving", "address", address, "version", Version, "docs", docs+"/docs")
	if a.Ring == nil {
		a.Log.Warn("COFFER_ENCRYPTION_KEY is not set: banks cannot be linked until it is; create one with: openssl " +
			"rand -base64 32")
	}
	if made, err := a.Auth.Any(ctx); err == nil && !made {
		a.Log.Info("nobody can sign in yet; create a first key on this machine with: coffer key create --name me " +
			"--scope full_access")
		if link, err := a.setupLink(ctx); err == nil {
			fmt.Fprintf(os.Stderr, "\n  Set the household up in a browser, once, within a day:\n\n    %s\n\n", link)
		} else {
			a.Log.Error("no setup link", "error", errs.LogText(err))
		}
	}
}

// run serves until ctx ends or a server fails, then stops everything in order: requests first, what
// they left to write last.
func (a *App) run(ctx context.Context, servers []*http.Server, listeners []net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, len(servers))
	var serving, behind sync.WaitGroup
	for i, s := range servers {
		serving.Go(func() {
			if err := s.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	behind.Go(func() {
		a.Auth.Run(background, func(err error) {
			a.Log.Error("last use of keys not stored", "error",
				errs.LogText(err))
		})
	})
	behind.Go(func() { a.sweep(background) })
	behind.Go(func() { a.sweepDue(background) })
	behind.Go(func() { a.sweepSessions(background) })
	// until ctx ends: streams and waits must end before requests can, and work is handed over
	// meanwhile
	behind.Go(func() {
		if err := a.Jobs.Run(ctx); err != nil {
			a.Log.Error("jobs did not stop cleanly; another server takes them over when their leases expire", "error",
				errs.LogText(err))
		}
	})
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	a.Log.Info("stopping")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	for _, s := range servers {
		if e := s.Shutdown(grace); e != nil {
			_ = s.Close() // streams of agents may last for ever; they are cut after the grace
		}
	}
	serving.Wait()
	end()
	behind.Wait()
	return err
}

// sweep removes answers that are past their window, a batch at a time, codes and sessions that are
// over, and files that nobody took. Every replica may do it: they skip each other's rows.
func (a *App) sweep(ctx context.Context) {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := op.ForgetAnswers(ctx, a.DB); err != nil && ctx.Err() == nil {
				a.Log.Error("old responses not deleted", "error", errs.LogText(err))
			}
			if err := a.Auth.Sweep(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("expired credentials not deleted", "error", errs.LogText(err))
			}
			if err := a.Feed.ForgetUploads(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old files not deleted", "error", errs.LogText(err))
			}
			if err := a.Archive.Forget(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old exports not deleted", "error", errs.LogText(err))
			}
			if err := a.LinkSessions.Forget(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old link sessions not deleted", "error", errs.LogText(err))
			}
			if err := a.Hooks.Sweep(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old webhook events not deleted", "error", errs.LogText(err))
			}
			if err := a.Journal.ForgetBudgets(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old write counts not deleted", "error", err.Error())
			}
			if err := a.Feed.ForgetLogs(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("old sync logs not deleted", "error", err.Error())
			}
		}
	}
}

// sweepDue takes on the syncs that are due, and ends the logs of those that were broken off. Every
// replica looks, each in its own rhythm; the database sees to it that each is taken on once.
func (a *App) sweepDue(ctx context.Context) {
	for {
		pause := time.NewTimer(15*time.Second + rand.N(10*time.Second)) //nolint:gosec // jitter, no secret
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
			if _, err := a.Feed.SweepDue(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("due syncs not started", "error", errs.LogText(err))
			}
			if err := a.Feed.EndLogs(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("sync logs not closed", "error", errs.LogText(err))
			}
		}
	}
}

// sweepSessions looks after members who are signing in at a bank. Every replica looks; they skip
// each other's.
func (a *App) sweepSessions(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := a.LinkSessions.Sweep(ctx); err != nil && ctx.Err() == nil {
				a.Log.Error("link sessions not updated", "error", errs.LogText(err))
			}
		}
	}
}
