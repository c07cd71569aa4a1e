package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"coffer/bench/measure"
)

// A figure is the result of one round. CPU times are milliseconds per request.
type figure struct {
	PerSecond float64 `json:"requests_per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Server    float64 `json:"server_ms"`
	Database  float64 `json:"postgresql_ms"`
	Both      float64 `json:"server_and_postgresql_ms"`
	Others    float64 `json:"strangers"` // share of the cores that other processes used
}

func newFigure(took []time.Duration, wall time.Duration, before, after clocks) figure {
	slices.Sort(took)
	n := float64(len(took))
	server, database := ms(after.server-before.server)/n, ms(after.databaseSince(before))/n
	return figure{
		PerSecond: n / wall.Seconds(), P50: ms(measure.Quantile(took, 0.5)), P99: ms(measure.Quantile(took, 0.99)),
		Server: server, Database: database, Both: server + database,
		Others: max(after.strangersSince(before).Seconds(), 0) / wall.Seconds() / float64(runtime.NumCPU()),
	}
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// A result is one operation on both sides.
type result struct {
	Name   string   `json:"name"`
	Goal   string   `json:"goal"`
	Coffer []figure `json:"coffer"`
	Bare   []figure `json:"bare"`
	CPU    float64  `json:"cpu_over_bare"`  // server and PostgreSQL per request: the median of the ratios in each round
	Rate   float64  `json:"rate_over_bare"` // requests per second, likewise
	Met    bool     `json:"met"`
	Noisy  int      `json:"noisy_turns"` // discarded turns

	most float64 // the goal: CPU at most this, or
	rate bool    // requests per second at least this
	ms   float64 // or coffer's own CPU at most this
}

// settle computes the ratios within each round first, because both sides of a round ran under the
// same conditions.
func (r *result) settle() {
	var cpus, rates []float64
	for i := range r.Coffer {
		cpus, rates = append(cpus, r.Coffer[i].Both/r.Bare[i].Both), append(rates,
			r.Coffer[i].PerSecond/r.Bare[i].PerSecond)
	}
	r.CPU, r.Rate = measure.Median(cpus), measure.Median(rates)
	r.Met = r.CPU <= r.most
	if r.rate {
		r.Met = r.Rate >= r.most
	}
	if r.ms > 0 {
		r.Met = middle(r.Coffer, func(f figure) float64 { return f.Both }) <= r.ms
	}
}

// figure returns the measured figure of the goal.
func (r *result) figure() string {
	switch {
	case r.rate:
		return fmt.Sprintf("%.0f %%", r.Rate*100)
	case r.ms > 0:
		return fmt.Sprintf("%.0f ms", middle(r.Coffer, func(f figure) float64 { return f.Both }))
	}
	return fmt.Sprintf("%.2f×", r.CPU)
}

// missed returns an error that names every missed goal with its figure.
func (r *report) missed() error {
	var lines []string
	for _, s := range r.Results {
		if !s.Met {
			lines = append(lines, fmt.Sprintf("%s: %s, the goal is %s", s.Name, s.figure(), s.Goal))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New("goals missed:\n  " + strings.Join(lines, "\n  "))
}

func middle(rounds []figure, of func(figure) float64) float64 {
	values := make([]float64, len(rounds))
	for i, f := range rounds {
		values[i] = of(f)
	}
	return measure.Median(values)
}

type report struct {
	Machine     measure.Machine `json:"machine"`
	Rows        int64           `json:"transactions"`
	Rounds      int             `json:"rounds"`
	Seconds     float64         `json:"seconds_each"`
	Connections int             `json:"connections"`
	Results     []*result       `json:"results"`
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%d transactions. %s.\nMedians of %d alternating rounds of %.1f s, %d connections. CPU is server "+
		"+ PostgreSQL, ms per request.\n\n", r.Rows, r.Machine, r.Rounds, r.Seconds, r.Connections)
	rows := [][]string{{
		"operation", "coffer CPU", "of it server", "bare CPU", "ratio", "goal", "", "coffer rps", "p50",
		"p99", "bare rps", "p50", "p99", "rps ratio",
	}}
	for _, s := range r.Results {
		c := func(of func(figure) float64, format string) string { return fmt.Sprintf(format, middle(s.Coffer, of)) }
		b := func(of func(figure) float64, format string) string { return fmt.Sprintf(format, middle(s.Bare, of)) }
		both, server := func(f figure) float64 { return f.Both }, func(f figure) float64 { return f.Server }
		rate := func(f figure) float64 { return f.PerSecond }
		p50 := func(f figure) float64 { return f.P50 }
		p99 := func(f figure) float64 { return f.P99 }
		rows = append(rows, []string{
			s.Name, c(both, "%.3f"), c(server, "%.3f"), b(both, "%.3f"), fmt.Sprintf("%.2f×", s.CPU), s.Goal,
			measure.Verdict(s.Met),
			c(rate, "%.1f"), c(p50, "%.2f"), c(p99, "%.2f"), b(rate, "%.1f"), b(p50, "%.2f"), b(p99, "%.2f"),
			fmt.Sprintf("%.2f", s.Rate),
		})
	}
	measure.Table(w, rows)
	var others []float64
	noisy := 0
	for _, s := range r.Results {
		noisy += s.Noisy
		for _, f := range append(slices.Clone(s.Coffer), s.Bare...) {
			others = append(others, f.Others*100)
		}
	}
	fmt.Fprintf(w, "\nStrangers used %.1f %% of the cores in the middle round; %d turns were too noisy and are not "+
		"counted.\n", measure.Median(others), noisy)
}
