package main

import (
	"fmt"
	"io"

	"coffer/bench/measure"
)

const (
	cofferInfo = "coffer, log INFO"
	cofferWarn = "coffer, log WARN"
	bareName   = "bare net/http + pgx"
)

// A figure holds the measurements of one round. CPU times are microseconds per request.
type figure struct {
	PerSecond float64 `json:"requests_per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Server    float64 `json:"server_us"`
	Database  float64 `json:"postgresql_us"`
	Both      float64 `json:"server_and_postgresql_us"`
	Client    float64 `json:"client_us"`
	Others    float64 `json:"others"` // share of the cores that other processes used
}

// A standing is one contender's rounds with their medians.
type standing struct {
	Name   string   `json:"name"`
	Median figure   `json:"median"`
	Rate   float64  `json:"rate_over_bare"` // requests per second: the median of the ratios in each turn
	CPU    float64  `json:"cpu_over_bare"`  // CPU time of server and PostgreSQL per request: likewise
	Rounds []figure `json:"rounds"`
}

// A result is one series of rounds, all with the same number of connections.
type result struct {
	Connections int         `json:"connections"`
	Bytes       int         `json:"answer_bytes"`
	Contenders  []*standing `json:"contenders"`
	OthersMost  float64     `json:"others_most"` // the largest Others of any round
	Turns       int         `json:"turns"`       // rounds of each contender
	Discarded   int         `json:"discarded"`   // turns left out because they were too noisy
}

type report struct {
	Machine measure.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	Seconds float64         `json:"seconds_each"`
	Series  []*result       `json:"series"`
}

func newResult(connections, size int, contenders []*contender) *result {
	r := &result{Connections: connections, Bytes: size}
	for _, c := range contenders {
		r.Contenders = append(r.Contenders, &standing{Name: c.name})
	}
	return r
}

// add records a turn's figures, one per contender, and reports whether it did. It discards the turn
// if other processes used more than the share quiet of the cores in one of its rounds. The
// contenders' results play no part in that decision.
func (r *result) add(figures []figure, quiet float64) bool {
	for _, f := range figures {
		if f.Others > quiet {
			r.Discarded++
			return false
		}
	}
	for i, f := range figures {
		r.Contenders[i].Rounds = append(r.Contenders[i].Rounds, f)
	}
	r.Turns++
	return true
}

// settle computes the medians. Ratios are computed within each turn first, because its rounds ran
// right after each other, under the same conditions.
func (r *result) settle() {
	bare := r.Contenders[len(r.Contenders)-1]
	for _, c := range r.Contenders {
		middle := func(of func(figure) float64) float64 {
			values := make([]float64, len(c.Rounds))
			for i, f := range c.Rounds {
				values[i] = of(f)
			}
			return measure.Median(values)
		}
		c.Median = figure{
			PerSecond: middle(func(f figure) float64 { return f.PerSecond }),
			P50:       middle(func(f figure) float64 { return f.P50 }),
			P99:       middle(func(f figure) float64 { return f.P99 }),
			Server:    middle(func(f figure) float64 { return f.Server }),
			Database:  middle(func(f figure) float64 { return f.Database }),
			Both:      middle(func(f figure) float64 { return f.Both }),
			Client:    middle(func(f figure) float64 { return f.Client }),
			Others:    middle(func(f figure) float64 { return f.Others }),
		}
		var rates, cpus []float64
		for i, f := range c.Rounds {
			rates = append(rates, f.PerSecond/bare.Rounds[i].PerSecond)
			cpus = append(cpus, f.Both/bare.Rounds[i].Both)
			r.OthersMost = max(r.OthersMost, f.Others)
		}
		c.Rate, c.CPU = measure.Median(rates), measure.Median(cpus)
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "GET of one tag. %s.\n", r.Machine)
	fmt.Fprintf(w, "Medians of %d alternating rounds of %.0f s. Logs go to /dev/null.\n", r.Rounds, r.Seconds)
	for _, s := range r.Series {
		fmt.Fprintf(w, "\n%d keep-alive connection(s), answers of %d bytes; CPU in µs per request\n\n", s.Connections,
			s.Bytes)
		rows := [][]string{{
			"", "requests/s", "of bare", "p50 ms", "p99 ms", "server", "PostgreSQL", "both",
			"over bare", "client",
		}}
		for _, c := range s.Contenders {
			m := c.Median
			rows = append(rows, []string{
				c.Name, fmt.Sprintf("%.0f", m.PerSecond), fmt.Sprintf("%.0f %%", c.Rate*100),
				fmt.Sprintf("%.2f", m.P50), fmt.Sprintf("%.2f", m.P99),
				fmt.Sprintf("%.1f", m.Server), fmt.Sprintf("%.1f", m.Database), fmt.Sprintf("%.1f", m.Both),
				fmt.Sprintf("%.2f×", c.CPU), fmt.Sprintf("%.1f", m.Client),
			})
		}
		measure.Table(w, rows)
		first := s.Contenders[0]
		fmt.Fprintf(w, "\nGoal: %s reaches at least %.0f %% of bare's requests/s. It reached %.0f %%: %s.\n"+
			"Other processes used %.1f %% of the cores in the median round, %.1f %% in the noisiest; "+
			"%d turns were too noisy and are not counted.\n",
			first.Name, goal*100, first.Rate*100, measure.Verdict(first.Rate >= goal), first.Median.Others*100,
			s.OthersMost*100, s.Discarded)
	}
	fmt.Fprintln(w, "\nclient is the CPU time of this program's own HTTP client, which shares the cores. PostgreSQL "+
		"is the CPU time of the backends for this database, without background writers.")
}
