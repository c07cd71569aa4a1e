// Command start measures what a server costs before anyone uses it: the time from exec to ready,
// memory at rest, and the size of the binary. start must not know how coffer is built inside; it
// starts the real binary and observes it through HTTP and /proc.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"coffer/bench/measure"
)

const (
	readyPath   = "/api/v1/health/ready"
	connections = 8
	requests    = 1000

	goalStart  = 300.0    // ms
	goalMemory = 40 << 20 // bytes of VmRSS at rest
	goalBinary = 45 << 20
)

// A report is the result. Times are milliseconds, sizes are bytes.
type report struct {
	Machine measure.Machine `json:"machine"`
	Starts  []float64       `json:"start_ms"` // each, from exec to the first 200 of readyPath
	Median  float64         `json:"start_median_ms"`
	Most    float64         `json:"start_most_ms"`
	// The share of the machine's cores that other processes used during the starts.
	Others float64          `json:"others"`
	Fresh  []measure.Memory `json:"idle"`       // of each process, 3 s after it was ready
	Used   []measure.Memory `json:"idle_after"` // of the same processes, 5 s after 1,000 requests
	Binary int64            `json:"binary"`
}

func main() { measure.Main("start", run) }

func run(ctx context.Context) error {
	starts := flag.Int("starts", 20, "how often to start it")
	processes := flag.Int("processes", 3, "how many processes to look at for memory, one after the other")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	r, err := measureAll(ctx, *starts, *processes)
	if err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	r.print(os.Stdout)
	return nil
}

func measureAll(ctx context.Context, starts, processes int) (*report, error) {
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
	r := &report{}
	if r.Machine, err = measure.Describe(ctx, scratch); err != nil {
		return nil, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	r.Binary = info.Size()
	if err := r.startUp(ctx, binary, scratch, starts); err != nil {
		return nil, err
	}
	for range processes {
		if err := r.atRest(ctx, binary, scratch); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func serve(ctx context.Context, binary string, scratch *measure.Scratch) (*measure.Child, time.Duration, error) {
	child, err := measure.Start(ctx, binary, []string{"serve"}, func(address string) []string {
		// One key sends the thousand requests at once, which the usual limits would refuse.
		return []string{
			"COFFER_DATABASE_URL=" + scratch.URL, "COFFER_LISTEN=" + address,
			"COFFER_RATE_PER_MINUTE=1000000", "COFFER_RATE_BURST=10000",
		}
	})
	if err != nil {
		return nil, 0, err
	}
	took, err := child.Ready(ctx, readyPath)
	if err != nil {
		child.Stop()
		return nil, 0, err
	}
	return child, took, nil
}

// startUp starts the server repeatedly. It does not count the first start, which alone reads the
// binary from the disk.
func (r *report) startUp(ctx context.Context, binary string, scratch *measure.Scratch, starts int) error {
	var others []float64
	for n := range starts + 1 {
		machine, err := measure.MachineCPU()
		if err != nil {
			return err
		}
		own, begin := measure.OwnCPU(), time.Now()
		child, took, err := serve(ctx, binary, scratch)
		if err != nil {
			return err
		}
		theirs, errTheirs := strangers(machine, own, child.Pid())
		share := theirs.Seconds() / time.Since(begin).Seconds() / float64(r.Machine.Cores)
		child.Stop()
		if errTheirs != nil {
			return errTheirs
		}
		if n > 0 {
			r.Starts = append(r.Starts, float64(took.Microseconds())/1e3)
			others = append(others, share)
		}
	}
	r.Median, r.Most, r.Others = measure.Median(r.Starts), slices.Max(r.Starts), measure.Median(others)
	return nil
}

// strangers returns the CPU time that other processes, including PostgreSQL, used since then.
func strangers(machine, own time.Duration, child int) (time.Duration, error) {
	now, err := measure.MachineCPU()
	if err != nil {
		return 0, err
	}
	its, err := measure.CPU(child)
	if err != nil {
		return 0, err
	}
	return max(now-machine-(measure.OwnCPU()-own)-its, 0), nil
}

// atRest measures one process twice: when it is fresh, and after it has worked.
func (r *report) atRest(ctx context.Context, binary string, scratch *measure.Scratch) error {
	child, _, err := serve(ctx, binary, scratch)
	if err != nil {
		return err
	}
	defer child.Stop()
	memory, err := rest(ctx, child, 3*time.Second)
	if err != nil {
		return err
	}
	r.Fresh = append(r.Fresh, memory)
	load, err := measure.Connect(ctx, child.Address, measure.Get(child.Address, "/api/v1/tags/"+scratch.Slug,
		scratch.Key), connections)
	if err != nil {
		return err
	}
	round, err := load.Run(time.Minute, requests/connections)
	load.Close()
	if err != nil {
		return err
	}
	if round.Requests != requests {
		return fmt.Errorf("only %d of %d requests were answered in a minute", round.Requests, requests)
	}
	memory, err = rest(ctx, child, 5*time.Second)
	if err != nil {
		return err
	}
	r.Used = append(r.Used, memory)
	return nil
}

func rest(ctx context.Context, child *measure.Child, pause time.Duration) (measure.Memory, error) {
	select {
	case <-ctx.Done():
		return measure.Memory{}, ctx.Err()
	case <-time.After(pause):
		return measure.MemoryOf(child.Pid())
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s.\n\n", r.Machine)
	rows := [][]string{{"", "measured", "goal", ""}}
	add := func(what, measured, goal string, met bool) {
		rows = append(rows, []string{what, measured, goal, measure.Verdict(met)})
	}
	add(fmt.Sprintf("exec to ready, migrated database, median of %d", len(r.Starts)), fmt.Sprintf("%.0f ms", r.Median),
		fmt.Sprintf("%.0f ms", goalStart), r.Median <= goalStart)
	for _, m := range []struct {
		what string
		all  []measure.Memory
	}{{"VmRSS 3 s after start", r.Fresh}, {fmt.Sprintf("VmRSS 5 s after %d requests", requests), r.Used}} {
		most := largest(m.all)
		add(fmt.Sprintf("%s, largest of %d", m.what, len(m.all)), mib(most.RSS), mib(goalMemory),
			most.RSS <= goalMemory)
	}
	add("binary, stripped, static", mib(r.Binary), mib(goalBinary), r.Binary <= goalBinary)
	measure.Table(w, rows)
	fresh, used := largest(r.Fresh), largest(r.Used)
	fmt.Fprintf(w, "\nslowest start %.0f ms; others, PostgreSQL among them, used %.0f %% of the cores while it "+
		"started.\n", r.Most, r.Others*100)
	fmt.Fprintf(w, "VmRSS is heap and stacks plus mapped pages of the binary: fresh %s + %s (PSS %s), used %s + %s "+
		"(PSS %s).\n",
		mib(fresh.Anon), mib(fresh.File), mib(fresh.PSS), mib(used.Anon), mib(used.File), mib(used.PSS))
}

func largest(all []measure.Memory) measure.Memory {
	if len(all) == 0 {
		return measure.Memory{}
	}
	return slices.MaxFunc(all, func(a, b measure.Memory) int { return int(a.RSS - b.RSS) })
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
