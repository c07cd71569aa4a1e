package app

import (
	"context"
	"io"

	"coffer/internal/due"

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

// Spoken shows a line of a transcript to a person.
var Spoken = spoken

// AllChores is all timed work.
func (a *App) AllChores() []due.Chore { return a.chores() }

// Loadable returns a path as a shell loads it.
var Loadable = loadable

// Next returns the hints that commands print after their output.
var Next = next
