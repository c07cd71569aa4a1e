package app

import (
	"context"
	"io"
	"net/http"

	"coffer/internal/platform/schedule"
	"coffer/internal/platform/seal"

	"github.com/jackc/pgx/v5"
)

// Sealed are all columns that hold sealed values.
var Sealed = sealed

// DemoMark is the comment on databases of the demo.
const DemoMark = demoMark

// MakeDemo makes a demo under that name, unless it is there.
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
	f := &furnisher{app: a, actor: operator}
	f.sync(ctx)
	return f.err
}

// Spoken shows a line of a transcript to a person.
var Spoken = spoken

// AllTasks is all timed work.
func (a *App) AllTasks() []schedule.Task { return a.tasks() }

// Loadable returns a path as a shell loads it.
var Loadable = loadable

// Next returns the hints that commands print after their output.
var Next = next

// DropCommand is what a demo tells about its end.
func DropCommand(name string) string { return demo{name: name}.dropping() }

// BackupNow does what a server with that folder does when its clock asks.
func (a *App) BackupNow(ctx context.Context, dir string) error {
	b := *a
	b.Config.BackupDir, b.Config.BackupPassphrase = dir, seal.NewSecret("five random words are good")
	return b.scheduledBackup(ctx)
}

// MetricsHandler serves the metrics.
func (a *App) MetricsHandler() http.Handler { return a.metricsHandler() }
