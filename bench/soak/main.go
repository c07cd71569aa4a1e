// Command soak runs a household on coffer's real server for an hour and measures the server's
// resources. People, agents and syncs work on the household, while its banks add transactions. soak
// must not know how coffer is built inside; it starts the real binary and observes it through HTTP,
// its metrics and /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"coffer/bench/measure"
	"coffer/internal/platform/pg"
)

func main() { measure.Main("soak", run) }

func run(ctx context.Context) error {
	minutes := flag.Float64("minutes", 60, "how long it lives")
	warm := flag.Float64("warm-up", 0.25, "the share of that time of which no slope is taken")
	pause := flag.Duration("pause", 20*time.Millisecond, "between two calls of each of the four who call")
	flag.Parse()
	if *minutes <= 0 || *warm < 0 || *warm > 0.9 {
		return errors.New("--minutes must be more than 0, and --warm-up at most 0.9")
	}
	scratch, err := measure.NewScratch(ctx)
	if err != nil {
		return err
	}
	defer scratch.Drop(ctx)
	machine, err := measure.Describe(ctx, scratch)
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, scratch.URL, pg.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	h, err := open(ctx, scratch, db)
	if err != nil {
		return err
	}
	defer h.close()
	length := time.Duration(*minutes * float64(time.Minute))
	fmt.Fprintf(os.Stdout, "%s\n%s of API, tools and syncs, the first %.0f %% to warm up\n", machine, length, *warm*100)
	samples, err := h.live(ctx, length, *pause)
	if err != nil {
		return err
	}
	return h.report(os.Stdout, samples, time.Duration(*warm*float64(length)))
}
