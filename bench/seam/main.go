// Command seam measures the cost of coffer's stack between the socket and a use case. It compares
// coffer with a bare net/http handler that runs the same queries. seam must not know how coffer is
// built inside; it starts the real binary and sends it HTTP requests.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"coffer/bench/measure"
)

const (
	readyPath = "/api/v1/health/ready"
	goal      = 0.60 // share of the bare handler's requests per second
	unbounded = 1 << 24

	mostRepeats = 8
)

type options struct {
	rounds int
	length time.Duration
	warm   time.Duration
	quiet  float64
	asJSON bool
}

func main() { measure.Main("seam", run) }

func run(ctx context.Context) error {
	var o options
	flag.IntVar(&o.rounds, "rounds", 10, "rounds of each contender, alternating")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of a round")
	flag.DurationVar(&o.warm, "warm", 2*time.Second, "load before the first round, to each contender")
	flag.Float64Var(&o.quiet, "quiet", 1,
		"share of the cores that strangers may use in a turn; a busier turn is thrown away for all contenders and "+
			"repeated")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON, with every round")
	flag.Parse()
	if flag.Arg(0) == "bare" {
		return serveBare(ctx)
	}
	r, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	if o.asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	r.print(os.Stdout)
	return nil
}

// A contender is one server under load.
type contender struct {
	name  string
	child *measure.Child
	load  *measure.Load
}

func measureAll(ctx context.Context, o options) (*report, error) {
	binary, remove, err := measure.Coffer(ctx, "")
	if err != nil {
		return nil, err
	}
	defer remove()
	scratch, err := measure.NewScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer scratch.Drop(ctx)
	machine, err := measure.Describe(ctx, scratch)
	if err != nil {
		return nil, err
	}
	contenders, err := startAll(ctx, binary, scratch)
	defer func() {
		for _, c := range contenders {
			c.child.Stop()
		}
	}()
	if err != nil {
		return nil, err
	}
	// The client needs only one core. With more, it would wake threads for nothing and take CPU
	// time from the measured servers.
	runtime.GOMAXPROCS(1)
	r := &report{Machine: machine, Rounds: o.rounds, Seconds: o.length.Seconds()}
	for _, connections := range []int{8, 1} {
		s, err := series(ctx, o, scratch, contenders, connections)
		if err != nil {
			return nil, fmt.Errorf("%d connections: %w", connections, err)
		}
		r.Series = append(r.Series, s)
	}
	return r, nil
}

// startAll starts the servers. With an error it also returns those that it started, so they can be
// stopped.
func startAll(ctx context.Context, binary string, scratch *measure.Scratch) ([]*contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	coffer := func(level string) func(string) []string {
		return func(address string) []string {
			return []string{
				"COFFER_DATABASE_URL=" + scratch.URL, "COFFER_LISTEN=" + address, "COFFER_LOG_LEVEL=" + level,
				fmt.Sprintf("COFFER_DATABASE_MAX_CONNS=%d", poolSize),
				// All requests use one key, and exceed a key's usual limit by far. The limiter
				// still counts each of them.
				"COFFER_RATE_PER_MINUTE=100000000", "COFFER_RATE_BURST=1000000",
			}
		}
	}
	var all []*contender
	for _, c := range []struct {
		name, path string
		args       []string
		env        func(string) []string
	}{
		{cofferInfo, binary, []string{"serve"}, coffer("INFO")},
		{cofferWarn, binary, []string{"serve"}, coffer("WARN")},
		{bareName, self, []string{"bare"}, func(address string) []string {
			return []string{bareURL + "=" + scratch.URL, bareListen + "=" + address}
		}},
	} {
		child, err := measure.Start(ctx, c.path, c.args, c.env)
		if err != nil {
			return all, err
		}
		all = append(all, &contender{name: c.name, child: child})
		if _, err := child.Ready(ctx, readyPath); err != nil {
			return all, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return all, nil
}

// series measures all contenders with that many connections, in turns, so that other work on the
// machine affects all of them alike.
func series(ctx context.Context, o options, scratch *measure.Scratch, contenders []*contender,
	connections int,
) (*result, error) {
	path := "/api/v1/tags/" + scratch.Slug
	var first []byte
	for _, c := range contenders {
		load, err := measure.Connect(ctx, c.child.Address, measure.Get(c.child.Address, path, scratch.Key), connections)
		if err != nil {
			return nil, err
		}
		defer load.Close() //nolint:gocritic // three of them, needed until the last round
		c.load = load
		if _, err := load.Run(o.warm, unbounded); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if first == nil {
			first = bytes.Clone(load.Answer())
		} else if !bytes.Equal(first, load.Answer()) {
			return nil, fmt.Errorf("%s answers something other than %s: they would not be doing the same work", c.name,
				contenders[0].name)
		}
	}
	if len(first) == 0 {
		return nil, errors.New("the answers are empty")
	}
	s := newResult(connections, len(first), contenders)
	for turn := 0; s.Turns < o.rounds; turn++ {
		if turn == o.rounds*mostRepeats {
			return nil, fmt.Errorf("the machine is too busy: only %d of %d turns were quiet enough", s.Turns, turn)
		}
		figures, err := oneTurn(ctx, o, scratch, contenders, turn)
		if err != nil {
			return nil, err
		}
		if s.add(figures, o.quiet) {
			continue
		}
		select { // other processes get time to finish
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
	s.settle()
	return s, nil
}

// oneTurn is one round of each contender.
func oneTurn(ctx context.Context, o options, scratch *measure.Scratch, contenders []*contender, turn int) ([]figure,
	error,
) {
	figures := make([]figure, len(contenders))
	for i := range contenders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := (turn + i) % len(contenders) // changes which contender is first after a pause
		var err error
		if figures[at], err = one(ctx, o, scratch, contenders[at]); err != nil {
			return nil, fmt.Errorf("%s: %w", contenders[at].name, err)
		}
	}
	return figures, nil
}

// one runs one round of one contender.
func one(ctx context.Context, o options, scratch *measure.Scratch, c *contender) (figure, error) {
	before, err := look(ctx, scratch, c)
	if err != nil {
		return figure{}, err
	}
	run, err := c.load.Run(o.length, unbounded)
	if err != nil {
		return figure{}, err
	}
	after, err := look(ctx, scratch, c)
	if err != nil {
		return figure{}, err
	}
	var database time.Duration
	for pid, cpu := range after.backends {
		database += cpu - before.backends[pid] // a new backend has used all its time since then
	}
	server, own := after.server-before.server, after.own-before.own
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(run.Requests) }
	others := after.machine - before.machine - server - database - own
	return figure{
		PerSecond: float64(run.Requests) / run.Took.Seconds(),
		P50:       float64(run.P50.Nanoseconds()) / 1e6, P99: float64(run.P99.Nanoseconds()) / 1e6,
		Server: each(server), Database: each(database), Both: each(server + database), Client: each(own),
		Others: max(others.Seconds(), 0) / run.Took.Seconds() / float64(runtime.NumCPU()),
	}, nil
}

// A view is the CPU time that every process had used at one moment.
type view struct {
	server, own, machine time.Duration
	backends             map[int]time.Duration
}

// look reads the CPU times. It includes the backends of all contenders, because only one contender
// is under load and the others' backends use no time.
func look(ctx context.Context, scratch *measure.Scratch, c *contender) (view, error) {
	pids, err := scratch.Backends(ctx)
	if err != nil {
		return view{}, err
	}
	v := view{backends: map[int]time.Duration{}}
	for _, pid := range pids {
		if v.backends[pid], err = measure.CPU(pid); err != nil {
			return view{}, err
		}
	}
	if v.server, err = measure.CPU(c.child.Pid()); err != nil {
		return view{}, err
	}
	if v.machine, err = measure.MachineCPU(); err != nil {
		return view{}, err
	}
	v.own = measure.OwnCPU()
	return v, nil
}
