// Command books measures coffer with large books. It compares coffer's real server with bare
// PostgreSQL, in turns in one run, and prints the CPU time that each request costs on both sides.
// books must not know how coffer is built inside; it starts the real binary and sends it HTTP
// requests. The bare side is in bare.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"

	"coffer/bench/measure"
)

type options struct {
	database     string
	transactions int
	years        int
	purposes     int
	rounds       int
	connections  int
	length       time.Duration
	quiet        float64
	only         *regexp.Regexp
	asJSON       bool
	goals        bool
	binary       string
}

func main() { measure.Main("books", run) }

func run(ctx context.Context) error {
	var o options
	var only string
	flag.StringVar(&o.database, "database", "",
		"URL of a database that coffer dev seed has filled; it is written to. Without it, one is made and dropped")
	flag.IntVar(&o.transactions, "transactions", 1_000_000, "how many transactions the made one gets")
	flag.IntVar(&o.years, "years", 10, "over how many years")
	flag.IntVar(&o.purposes, "purposes", 0, "how many in a hundred of them get a purpose that no other one has")
	flag.IntVar(&o.rounds, "rounds", 10, "rounds of each side, alternating")
	flag.IntVar(&o.connections, "connections", 8, "connections at once")
	flag.DurationVar(&o.length, "length", time.Second, "length of a round")
	flag.Float64Var(&o.quiet, "quiet", 1,
		"share of the cores that strangers may use in a turn; a busier turn is thrown away for both sides and repeated")
	flag.StringVar(&only, "only", "", "only operations whose name matches this")
	flag.StringVar(&o.binary, "binary", "", "measure this coffer instead of building one")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON, with every round")
	flag.BoolVar(&o.goals, "goals", true, "fail if a goal is missed; the goals are for a million transactions")
	flag.Parse()
	if flag.Arg(0) == "handler" {
		return serveHandler(ctx)
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	r, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	if !o.asJSON {
		r.print(os.Stdout)
	} else {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	if o.goals {
		return r.missed()
	}
	return nil
}

func measureAll(ctx context.Context, o options) (*report, error) {
	binary, remove, err := measure.Coffer(ctx, o.binary)
	if err != nil {
		return nil, err
	}
	defer remove()
	o.binary = binary
	w, err := openWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)
	r := &report{Rounds: o.rounds, Seconds: o.length.Seconds(), Connections: o.connections, Rows: w.rows}
	if r.Machine, err = w.describe(ctx); err != nil {
		return nil, err
	}
	all := operations()
	if o.purposes > 0 {
		all = append(all, withPurposes()...)
	}
	for _, op := range all {
		if !o.only.MatchString(op.name) {
			continue
		}
		res, err := series(ctx, o, w, op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.name, err)
		}
		r.Results = append(r.Results, res)
		fmt.Fprintf(os.Stderr, "%-45s %10s (goal %s)\n", op.name, res.figure(), op.goal)
	}
	return r, nil
}

// mostRepeats is how often a turn may be repeated, on average.
const mostRepeats = 10

// A side is one of the two sides that are compared. It makes requests until the time is over.
type side interface {
	round(ctx context.Context, length time.Duration) ([]time.Duration, error)
	pid() int // the process whose CPU time counts in addition to PostgreSQL's
	close(ctx context.Context)
}

// series measures one operation on both sides, in turns, so that other work on the machine affects
// both alike.
func series(ctx context.Context, o options, w *world, op operation) (*result, error) {
	// The bare side comes first, because its preparation takes longer than a server keeps an idle
	// connection.
	right, err := op.bare(ctx, w, o.connections)
	if err != nil {
		return nil, fmt.Errorf("bare: %w", err)
	}
	defer right.close(ctx)
	left, err := op.coffer(ctx, w, o.connections)
	if err != nil {
		return nil, fmt.Errorf("coffer: %w", err)
	}
	defer left.close(ctx)
	sides := []side{left, right}
	for _, s := range sides { // warm up plans, caches and connections
		if _, err := s.round(ctx, o.length); err != nil {
			return nil, err
		}
	}
	if op.rounds > 0 {
		o.rounds = min(o.rounds, op.rounds)
	}
	res := &result{Name: op.name, Goal: op.goal, most: op.most, rate: op.rate, ms: op.ms}
	for turn := 0; len(res.Coffer) < o.rounds; turn++ {
		if turn == o.rounds*mostRepeats {
			return nil, fmt.Errorf("the machine is too busy: only %d of %d turns were quiet enough", len(res.Coffer),
				turn)
		}
		var figures [2]figure
		for i := range sides {
			at := (turn + i) % 2 // changes which side is first
			if figures[at], err = one(ctx, w, sides[at], o.length); err != nil {
				return nil, err
			}
		}
		// Whether a turn counts depends only on the CPU time of other processes, never on the
		// turn's figures.
		if max(figures[0].Others, figures[1].Others) <= o.quiet {
			res.Coffer, res.Bare = append(res.Coffer, figures[0]), append(res.Bare, figures[1])
			continue
		}
		res.Noisy++
		select { // other processes get time to finish
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
	res.settle()
	return res, nil
}

// one runs one round of one side.
func one(ctx context.Context, w *world, s side, length time.Duration) (figure, error) {
	if err := ctx.Err(); err != nil {
		return figure{}, err
	}
	before, err := w.clocks(ctx, s.pid())
	if err != nil {
		return figure{}, err
	}
	start := time.Now()
	took, err := s.round(ctx, length)
	if err != nil {
		return figure{}, err
	}
	wall := time.Since(start)
	after, err := w.clocks(ctx, s.pid())
	if err != nil {
		return figure{}, err
	}
	if len(took) == 0 {
		return figure{}, errors.New("no request was answered")
	}
	return newFigure(took, wall, before, after), nil
}
