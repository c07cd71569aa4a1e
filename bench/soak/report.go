package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"coffer/bench/measure"
)

const (
	goalSlope = 1.0 // percent of memory per hour
	// leastSpan is the shortest time over which the slope of memory is compared with the goal. Over
	// a shorter time, garbage collection alone changes memory by several percent.
	leastSpan = 30 * time.Minute
)

// A sample is what the server uses at one moment.
type sample struct {
	at                  time.Duration // since the start
	memory              float64       // bytes of VmRSS
	goroutines, handles float64
}

// look takes a sample.
func (h *house) look(ctx context.Context, began time.Time) (sample, error) {
	m, err := measure.MemoryOf(h.server.Pid())
	if err != nil {
		return sample{}, err
	}
	s := sample{at: time.Since(began), memory: float64(m.RSS)}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.server.Pid()))
	if err != nil {
		return s, err
	}
	s.handles = float64(len(files))
	s.goroutines, err = h.metric(ctx, "go_goroutines")
	return s, err
}

// metric returns the value of one of the server's metrics.
func (h *house) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.metrics+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	res, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close() //nolint:errcheck // what was looked for is found, or not
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(v, 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// slope returns the rise of a value per hour, by least squares, and its mean.
func slope(samples []sample, value func(sample) float64) (rise, mean float64) {
	var at float64
	n := float64(len(samples))
	for _, s := range samples {
		at += s.at.Hours() / n
		mean += value(s) / n
	}
	var up, across float64
	for _, s := range samples {
		x := s.at.Hours() - at
		up += x * (value(s) - mean)
		across += x * x
	}
	if across == 0 {
		return 0, mean
	}
	return up / across, mean
}

// flat compares the last fifth of the samples with the first fifth. The value may be at most a
// tenth plus five higher.
func flat(samples []sample, value func(sample) float64) (first, last float64, ok bool) {
	fifth := max(1, len(samples)/5)
	_, first = slope(samples[:fifth], value)
	_, last = slope(samples[len(samples)-fifth:], value)
	return first, last, last <= first*1.1+5
}

// report prints the results, and returns an error if a goal was missed.
func (h *house) report(w io.Writer, samples []sample, warm time.Duration) error {
	from := 0
	for from < len(samples) && samples[from].at < warm {
		from++
	}
	steady := samples[from:]
	if len(steady) < 5 {
		return fmt.Errorf("%d samples after the warm-up say nothing; let it live longer", len(steady))
	}
	memory := func(s sample) float64 { return s.memory }
	rise, mean := slope(steady, memory)
	percent, span := rise/mean*100, steady[len(steady)-1].at-steady[0].at
	missed := 0
	verdict := func(met bool) string {
		if !met {
			missed++
		}
		return measure.Verdict(met)
	}
	calm := "not judged, less than " + leastSpan.String()
	if span >= leastSpan {
		calm = verdict(percent < goalSlope)
	}
	g1, g2, gok := flat(steady, func(s sample) float64 { return s.goroutines })
	d1, d2, dok := flat(steady, func(s sample) float64 { return s.handles })
	measure.Table(w, [][]string{
		{"what", "found", "goal", "verdict"},
		{"requests of people", strconv.FormatInt(h.people.Load(), 10), "", ""},
		{"calls of tools", strconv.FormatInt(h.agents.Load(), 10), "", ""},
		{"syncs that ended well", strconv.FormatInt(h.syncs.Load(), 10), "> 0", verdict(h.syncs.Load() > 0)},
		{"turns at the bank", strconv.FormatInt(h.turns.Load(), 10), "> 0", verdict(h.turns.Load() > 0)},
		{"answers of 5xx", strconv.FormatInt(h.broken.Load(), 10), "0", verdict(h.broken.Load() == 0)},
		{"other refusals", strconv.FormatInt(h.refused.Load(), 10), "0", verdict(h.refused.Load() == 0)},
		{"memory, mean MiB", fmt.Sprintf("%.1f", mean/(1<<20)), "", ""},
		{"memory, %/h over " + span.Round(time.Second).String(), fmt.Sprintf("%+.2f", percent), "< 1", calm},
		{"goroutines, first and last fifth", fmt.Sprintf("%.0f → %.0f", g1, g2), "flat", verdict(gok)},
		{"descriptors, first and last fifth", fmt.Sprintf("%.0f → %.0f", d1, d2), "flat", verdict(dok)},
	})
	if said := h.last.Load(); said != nil {
		fmt.Fprintln(w, "the last refusal:", *said)
	}
	if missed > 0 {
		return errors.New("a goal was missed")
	}
	return nil
}
