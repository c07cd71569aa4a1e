package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Median returns the middle value, or the mean of the two middle values. Without values it returns
// zero.
func Median[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Quantile returns the smallest value that the share q of the values does not exceed. The values
// must be sorted. Without values it returns zero.
func Quantile[T cmp.Ordered](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return *new(T)
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// A Machine describes where a figure was measured. Without that, the figure has no meaning.
type Machine struct {
	Date          string `json:"date"`
	Commit        string `json:"commit"`
	Go            string `json:"go"`
	Cores         int    `json:"cores"`
	Processor     string `json:"processor"`
	PostgreSQL    string `json:"postgresql"`
	SharedBuffers string `json:"shared_buffers"`
	Fsync         string `json:"fsync"`
}

// Describe describes the machine and the scratch database's server.
func Describe(ctx context.Context, s *Scratch) (Machine, error) {
	m := Machine{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(ctx), Go: runtime.Version(),
		Cores: runtime.NumCPU(), Processor: processor(),
	}
	for name, target := range map[string]*string{
		"server_version": &m.PostgreSQL, "shared_buffers": &m.SharedBuffers,
		"fsync": &m.Fsync,
	} {
		v, err := s.Setting(ctx, name)
		if err != nil {
			return Machine{}, err
		}
		*target = v
	}
	return m, nil
}

// String returns one line for the head of a table.
func (m Machine) String() string {
	return fmt.Sprintf("%s, commit %s, %s, %d cores (%s), PostgreSQL %s (shared_buffers %s, fsync %s)",
		m.Date, m.Commit, m.Go, m.Cores, m.Processor, m.PostgreSQL, m.SharedBuffers, m.Fsync)
}

func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown" // a copy of the source without Git history
	}
	return strings.TrimSpace(string(out))
}

func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if name, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

// Table writes rows in columns. The first row is the header.
func Table(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
		if i == 0 {
			rule := make([]string, len(row))
			for j, cell := range row {
				rule[j] = strings.Repeat("-", len(cell))
			}
			fmt.Fprintln(t, strings.Join(rule, "\t")+"\t")
		}
	}
	_ = t.Flush() // if writing fails, nobody reads the table
}

// Verdict reports whether a goal was met.
func Verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
