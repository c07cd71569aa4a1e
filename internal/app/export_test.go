package app

import (
	"context"
	"io"
	"net/http"
	"time"

	"coffer/internal/app/dialog"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"coffer/internal/platform/seal"

	"github.com/jackc/pgx/v5"
)

// Sealed lists all columns that hold sealed values.
var Sealed = sealed

// DemoMark is the comment that marks databases of the demo.
const DemoMark = demoMark

// MakeDemo makes a demo with that name unless it exists.
func MakeDemo(ctx context.Context, config Config, name string) error {
	config.LogLevel = 8
	d := demo{config: config, name: name, out: io.Discard, progress: io.Discard}
	return d.keeping(ctx, func(c *pgx.Conn) error { return d.ensure(ctx, c) })
}

// FillDemo fills an empty database as coffer demo does.
func FillDemo(ctx context.Context, config Config, name string) error {
	return demo{config: config, progress: io.Discard}.fill(ctx, name)
}

// ReopenDemo opens a demo as its next start does, and syncs its banks.
func ReopenDemo(ctx context.Context, config Config, name string) error {
	banks := &sandbox{}
	defer banks.close()
	a, err := demo{config: config}.open(ctx, name, banks)
	if err != nil {
		return err
	}
	defer a.Close()
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Jobs.Run(working) }()
	defer func() { stop(); <-ended }()
	connections, err := pg.Values[id.ID](ctx, a.DB, `select id from connection where provider <> 'csv' order by id`)
	server := dialog.Asker{Ops: a.Ops(), Caller: local{a}}
	for _, c := range connections {
		var started struct{ ID id.ID }
		if err == nil {
			err = server.Ask(ctx, "connection.sync", map[string]any{"id": c.String()}, &started)
		}
		for open := []id.ID{started.ID}; err == nil && len(open) > 0; { // also wait for the jobs that follow a sync
			if _, err = a.Jobs.Wait(ctx, open[0], time.Minute); err == nil {
				open, err = pg.Values[id.ID](ctx, a.DB, `select id from job where state in ('queued', 'running')`)
			}
		}
	}
	return err
}

// Spoken formats a line of a transcript for a person.
var Spoken = spoken

// AllTasks returns all timed work.
func (a *App) AllTasks() []schedule.Task { return a.tasks() }

// Loadable returns a path that a shell can load with ".".
var Loadable = loadable

// Next returns the hints that commands print after their output.
var Next = next

// DropCommand returns the command that drops a demo.
func DropCommand(name string) string { return demo{name: name}.dropping() }

// BackupNow does what a server with that backup folder does when a backup is due.
func (a *App) BackupNow(ctx context.Context, dir string) error {
	b := *a
	b.Config.BackupDir, b.Config.BackupPassphrase = dir, seal.NewSecret("five random words are good")
	return b.scheduledBackup(ctx)
}

// MetricsHandler returns the handler that serves the metrics.
func (a *App) MetricsHandler() http.Handler { return a.metricsHandler() }
