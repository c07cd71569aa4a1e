// Command screens measures how long people wait for the web app: from an empty browser to usable
// rows, jumping, searching, scrolling and categorizing. screens must not know how coffer is built
// inside; it starts the real binary with the web app in it, and observes it through Chromium.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"coffer/bench/measure"
)

const (
	email     = "robin@example.com"
	password  = "three lamps and a ladder"
	readyPath = "/api/v1/health/ready"
	inbox     = 1500 // transactions that wait for review
)

func main() { measure.Main("screens", run) }

// A sample is what the browser measured: milliseconds in each round.
type sample struct {
	What  string    `json:"what"`
	Goal  float64   `json:"goal"`
	Times []float64 `json:"times"`
}

func run(ctx context.Context) error {
	transactions := flag.Int("transactions", 100_000, "how many transactions the household has")
	years := flag.Int("years", 5, "over how many years")
	rounds := flag.Int("rounds", 5, "how often each is measured")
	flag.Parse()
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "surface", "web", "dist", "app", "index.html")); err != nil {
		return errors.New("the web app is not built: run make web first")
	}
	binary, remove, err := measure.Coffer(ctx, "")
	if err != nil {
		return err
	}
	defer remove()
	scratch, err := measure.NewScratch(ctx)
	if err != nil {
		return err
	}
	defer scratch.Drop(ctx)
	machine, err := measure.Describe(ctx, scratch)
	if err != nil {
		return err
	}
	key, err := furnish(ctx, binary, scratch.URL, *transactions, *years)
	if err != nil {
		return err
	}
	server, err := measure.Start(ctx, binary, []string{"serve"}, func(address string) []string {
		return []string{"COFFER_DATABASE_URL=" + scratch.URL, "COFFER_LISTEN=" + address}
	})
	if err != nil {
		return err
	}
	defer server.Stop()
	if _, err := server.Ready(ctx, readyPath); err != nil {
		return err
	}
	if err := fillInbox(ctx, server.Address, key); err != nil {
		return err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	samples, err := look(ctx, root, server.Address, *rounds)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s.\n%d transactions over %d years, %d of them to review; load before: %s\n\n", machine,
		*transactions, *years, inbox, strings.Join(strings.Fields(string(load))[:3], " "))
	return report(os.Stdout, samples)
}

func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

// furnish fills the database, creates an admin who signs in with a password, and returns an API
// key.
func furnish(ctx context.Context, binary, database string, transactions, years int) (string, error) {
	coffer := func(stdin string, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, binary, args...) //nolint:gosec // the binary that is measured
		cmd.Env = []string{"COFFER_DATABASE_URL=" + database, "HOME=" + os.TempDir()}
		cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("coffer %s: %w", args[0], err)
		}
		return out, nil
	}
	if _, err := coffer("", "dev", "seed", "--raw", "--transactions", strconv.Itoa(transactions), "--years",
		strconv.Itoa(years)); err != nil {
		return "", err
	}
	if _, err := coffer(password+"\n", "setup", "--name", "Robin", "--email", email); err != nil {
		return "", err
	}
	out, err := coffer("", "key", "create", "--json", "--name", "bench", "--scope", "full_access")
	if err != nil {
		return "", err
	}
	var made struct{ Key string }
	if err := json.Unmarshal(out, &made); err != nil {
		return "", err
	}
	return made.Key, nil
}

// fillInbox marks the newest transactions for review.
func fillInbox(ctx context.Context, address, key string) error {
	for cursor, n := "", 0; n < inbox; n += 500 {
		var page struct {
			Transactions []struct{ ID string }
			NextCursor   string `json:"next_cursor"`
		}
		path := "transactions?limit=500&fields=id&cursor=" + cursor
		if err := call(ctx, http.MethodGet, address, key, path, nil, &page); err != nil {
			return err
		}
		ids := make([]string, 0, len(page.Transactions))
		for _, t := range page.Transactions {
			ids = append(ids, t.ID)
		}
		body := map[string]any{"transaction_ids": ids, "set": map[string]any{"tags_to_add": []string{"needs-review"}}}
		if err := call(ctx, http.MethodPost, address, key, "transactions/bulk", body, nil); err != nil {
			return err
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	return nil
}

func call(ctx context.Context, method, address, key, path string, body, out any) error {
	var in io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = strings.NewReader(string(b))
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+address+"/api/v1/"+path, in)
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode >= http.StatusBadRequest {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 2000))
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, said)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// look drives Chromium with the packages that the browser tests install.
func look(ctx context.Context, root, address string, rounds int) ([]sample, error) {
	dir := filepath.Join(root, "test", "browser")
	nodes, err := filepath.Glob(filepath.Join(dir, "node_modules", "node-linux-*", "bin", "node"))
	if err != nil || len(nodes) == 0 {
		return nil, errors.New("the browser tests' packages are missing: run make node first")
	}
	cmd := exec.CommandContext(ctx, nodes[0], "speed.mjs", "http://"+address, email, password, strconv.Itoa(rounds)) //nolint:gosec // what npm installed
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the browser: %w", err)
	}
	var samples []sample
	err = json.Unmarshal(out, &samples)
	return samples, err
}

func report(w io.Writer, samples []sample) error {
	rows := [][]string{{"", "median", "least", "most", "goal", ""}}
	missed := 0
	for _, s := range samples {
		least, most := s.Times[0], s.Times[0]
		for _, t := range s.Times {
			least, most = min(least, t), max(most, t)
		}
		median := measure.Median(s.Times)
		goal, verdict := "", ""
		if s.Goal > 0 {
			goal, verdict = fmt.Sprintf("≤ %.0f ms", s.Goal), measure.Verdict(median <= s.Goal)
			if median > s.Goal {
				missed++
			}
		}
		ms := func(f float64) string { return fmt.Sprintf("%.1f ms", f) }
		rows = append(rows, []string{s.What, ms(median), ms(least), ms(most), goal, verdict})
	}
	measure.Table(w, rows)
	if missed > 0 {
		return fmt.Errorf("%d goals are missed", missed)
	}
	return nil
}
