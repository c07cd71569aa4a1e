package main

import (
	"fmt"
	"io"

	"coffer/bench/measure"
)

// report prints the medians over the rounds.
func report(w io.Writer, o options, all []figures) {
	f := all[0]
	fmt.Fprintf(w, "%s\n%d transactions in pages of 500, %d rules; they made %d tags and %d entries of the journal. "+
		"%d rounds, each in a database of its own; medians.\n",
		f.machine, f.rows, o.rules, f.tags, f.entries, o.rounds)
	var strangers []float64
	for _, f := range all {
		strangers = append(strangers, f.strangers)
	}
	fmt.Fprintf(w, "Strangers (and the simulator, which runs in this program) used %.0f %% of the cores.\n\n",
		100*measure.Median(strangers))
	rows := [][]string{{"", "rows/s", "of bare", "CPU µs a row (the program's)", "of bare", "WAL bytes a row", "goal"}}
	line := func(name string, of func(figures) span, base func(figures) span, limit float64) {
		var rate, ratio, cpu, own, thrift, bytes []float64
		for _, f := range all {
			s := of(f)
			rate = append(rate, s.rate(f.rows))
			ratio = append(ratio, s.rate(f.rows)/base(f).rate(f.rows))
			cpu = append(cpu, s.cpu.Seconds()*1e6/float64(f.rows))
			own = append(own, s.own.Seconds()*1e6/float64(f.rows))
			thrift = append(thrift, base(f).cpu.Seconds()/s.cpu.Seconds())
			bytes = append(bytes, float64(s.wal)/float64(f.rows))
		}
		r := []string{
			name, fmt.Sprintf("%.0f", measure.Median(rate)), fmt.Sprintf("%.2f×", measure.Median(ratio)),
			fmt.Sprintf("%.1f (%.1f)", measure.Median(cpu), measure.Median(own)),
			fmt.Sprintf("%.2f×", measure.Median(thrift)), fmt.Sprintf("%.0f", measure.Median(bytes)), "",
		}
		if limit > 0 {
			r[6] = fmt.Sprintf("≥ %.1f×, %s", limit,
				measure.Verdict(measure.Median(ratio) >= limit && measure.Median(thrift) >= limit))
		}
		rows = append(rows, r)
	}
	bare, compare := func(f figures) span { return f.bare }, func(f figures) span { return f.compare }
	line("first sync, with rules and journal", func(f figures) span { return f.first }, bare, goal)
	line("bare COPY and merge, tags, journal; 5,000 a batch", bare, bare, 0)
	line("the same, 500 a batch", func(f figures) span { return f.bare500 }, bare, 0)
	line("unchanged re-sync of all rows", func(f figures) span { return f.again }, compare, goal)
	line("bare COPY and compare, 5,000 a batch", compare, compare, 0)
	measure.Table(w, rows)
	fmt.Fprintln(w, "\nrows that the unchanged re-sync wrote, in the worst round:")
	for i, t := range f.written {
		worst := t.Rows
		for _, other := range all {
			worst = max(worst, other.written[i].Rows)
		}
		fmt.Fprintf(w, "  %-18s %d\n", t.Table, worst)
	}
}
