// Command login measures what a flood of sign-ins does to everyone else: how long other calls take,
// what memory the flood costs, and whether a member can still sign in. login must not know how
// coffer is built inside; it starts the real binary and observes it through HTTP and /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/bench/measure"
)

const (
	email    = "robin@example.com"
	password = "correct horse battery staple"
	pause    = 50 * time.Millisecond // between two calls of the API
)

func main() { measure.Main("login", run) }

func run(ctx context.Context) error {
	lasts := flag.Duration("for", time.Minute, "how long the flood lasts; the quiet before it lasts half as long")
	rate := flag.Int("rate", 50, "sign-ins a second")
	addresses := flag.Int("addresses", 200, "from so many addresses")
	flag.Parse()
	binary, remove, err := measure.Coffer(ctx, "")
	if err != nil {
		return err
	}
	defer remove()
	scratch, err := measure.NewScratch(ctx)
	if err != nil {
		return err
	}
	defer scratch.Drop(context.WithoutCancel(ctx))
	env := []string{"COFFER_DATABASE_URL=" + scratch.URL, "COFFER_TRUSTED_PROXIES=127.0.0.1/32"}
	setup := exec.CommandContext(ctx, binary, "setup", "--name", "Robin", "--email", email) //nolint:gosec // the binary that was just built
	setup.Env, setup.Stdin = env, strings.NewReader(password+"\n")
	if out, err := setup.CombinedOutput(); err != nil {
		return fmt.Errorf("set up: %w: %s", err, out)
	}
	server, err := measure.Start(ctx, binary, []string{"serve"},
		func(address string) []string { return append(env, "COFFER_LISTEN="+address) })
	if err != nil {
		return err
	}
	defer server.Stop()
	if _, err := server.Ready(ctx, "/api/v1/health/ready"); err != nil {
		return err
	}
	f := &flood{
		base: "http://" + server.Address, pid: server.Pid(), key: scratch.Key, rate: *rate,
		addresses: *addresses, statuses: map[int]int{},
	}
	return f.measure(ctx, *lasts)
}

type flood struct {
	base, key             string
	pid, rate, addresses  int
	mu                    sync.Mutex
	statuses              map[int]int // number of sign-ins by status
	failed                int         // calls of the API with another status than 200
	member, memberRefused int         // sign-ins of a member, from another address than the attacker's
	slowest               time.Duration
}

func (f *flood) measure(ctx context.Context, lasts time.Duration) error {
	before, err := measure.MemoryOf(f.pid)
	if err != nil {
		return err
	}
	quiet := f.calls(ctx, lasts/2, nil)
	during, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { f.attack(during) })
	all.Go(func() { f.robin(during) })
	var peak measure.Memory
	loud := f.calls(ctx, lasts, func() {
		if m, err := measure.MemoryOf(f.pid); err == nil && m.RSS > peak.RSS {
			peak = m
		}
	})
	all.Wait()
	if len(quiet) == 0 || len(loud) == 0 {
		return errors.New("no call was answered")
	}
	a, b := measure.Quantile(quiet, 0.99), measure.Quantile(loud, 0.99)
	fmt.Fprintf(os.Stdout, "API call, p50 and p99   quiet %s %s   flooded %s %s   p99 %.1f times\n",
		round(measure.Quantile(quiet, 0.5)), round(a), round(measure.Quantile(loud, 0.5)), round(b),
		float64(b)/float64(a))
	fmt.Fprintf(os.Stdout, "calls not answered 200  %d of %d\n", f.failed, len(loud)+len(quiet)+f.failed)
	fmt.Fprintf(os.Stdout, "sign-ins by status      %v\n", f.statuses)
	fmt.Fprintf(os.Stdout, "memory                  %d MiB before, %d MiB at most\n", before.RSS>>20, peak.RSS>>20)
	fmt.Fprintf(os.Stdout, "a member meanwhile      %d times in, %d times not, %s at most\n", f.member, f.memberRefused,
		round(f.slowest))
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// calls requests the list of tags repeatedly and returns how long each call took, sorted.
func (f *flood) calls(ctx context.Context, lasts time.Duration, each func()) []time.Duration {
	var took []time.Duration
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; <-tick.C {
		start := time.Now()
		if status := f.send(ctx, http.MethodGet, "/api/v1/tags", "", "192.0.2.1"); status == http.StatusOK {
			took = append(took, time.Since(start))
		} else {
			f.failed++
		}
		if each != nil {
			each()
		}
	}
	slices.Sort(took)
	return took
}

// attack guesses passwords, for Robin's account and for one that does not exist.
func (f *flood) attack(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(time.Second / time.Duration(f.rate))
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		who := []string{email, "nobody@example.com"}[n%2]
		from := fmt.Sprintf("198.51.%d.%d", n%f.addresses/100, n%f.addresses%100)
		all.Go(func() {
			status := f.send(context.WithoutCancel(ctx), http.MethodPost, "/auth/login",
				fmt.Sprintf(`{"email":%q,"password":"guess number %d"}`, who, n), from)
			f.mu.Lock()
			f.statuses[status]++
			f.mu.Unlock()
		})
		<-tick.C
	}
}

// robin signs in from time to time.
func (f *flood) robin(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		if status := f.send(context.WithoutCancel(ctx), http.MethodPost, "/auth/login",
			fmt.Sprintf(`{"email":%q,"password":%q}`, email, password), "203.0.113.9"); status == http.StatusOK {
			f.member++
		} else {
			f.memberRefused++
		}
		f.slowest = max(f.slowest, time.Since(start))
		select {
		case <-ctx.Done():
		case <-time.After(8 * time.Second):
		}
	}
}

var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// send returns the status, or 0 without a response.
func (f *flood) send(ctx context.Context, method, path, body, from string) int {
	req, err := http.NewRequestWithContext(ctx, method, f.base+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	if body == "" {
		req.Header.Set("X-API-Key", f.key)
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("X-Forwarded-For", from)
	res, err := client.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
