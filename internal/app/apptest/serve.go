package apptest

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// Serve runs a service in this process until the test ends, and returns its address. It has to stop
// cleanly.
func Serve(t testing.TB, serve func(ctx context.Context, ready func(address string)) error) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended, address := make(chan error, 1), make(chan string, 1)
	go func() { ended <- serve(ctx, func(at string) { address <- at }) }()
	select {
	case at := <-address:
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("it does not stop cleanly: %v", err)
			}
		})
		return "http://" + at
	case err := <-ended:
		stop()
		t.Fatalf("it does not serve: %v", err)
		return ""
	}
}

// Difference lists the lines that only one of two texts has.
func Difference(before, after string) string {
	var out []string
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, l := range was {
		if !slices.Contains(is, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}
