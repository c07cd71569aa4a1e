package auth

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/errs"
)

// During a flood of sign-ins from many /64s of one /48, a member from another network waits for at
// most one hash.
func TestMemberSignsInDuringFloodOfOneCustomer(t *testing.T) {
	t.Parallel()
	// The first sign-in of the flood may have been admitted before it could be counted.
	if place := placeInFlood(t, usualWidths); place > 2 {
		t.Errorf("the member was admitted as number %d of those who waited", place)
	}
}

// Check the test: if sign-ins are counted by /64 alone, every try of the flood looks like a first
// one, and the member waits for all of them.
func TestFloodCountedByOneWidthKeepsMemberWaiting(t *testing.T) {
	t.Parallel()
	if place := placeInFlood(t, usualWidths[:1]); place != flood+1 {
		t.Errorf("the member was admitted as number %d of those who waited, want the last, %d", place, flood+1)
	}
}

const flood = 30

// placeInFlood starts a flood of sign-ins that wait for the only free hash, and then the member's
// sign-in. It returns the member's position in the order of admission.
func placeInFlood(t *testing.T, widths []width) int {
	t.Helper()
	a, _ := withLogin(t)
	a.widths = widths
	a.passwords = &hasher{cost: a.passwords.cost, free: 1}
	if err := a.passwords.enter(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	begin := func(n int, name, password, address string) {
		all.Go(func() {
			_, err := a.SignIn(t.Context(), "robin@example.com", password, address)
			if name == "member" && err != nil || name == "flood" && !errs.Is(err, errs.InvalidLogin) {
				t.Errorf("%s from %s: %v", name, address, err)
			}
			mu.Lock()
			order = append(order, name)
			mu.Unlock()
		})
		for waiting := 0; waiting < n; time.Sleep(time.Millisecond) {
			a.passwords.mu.Lock()
			waiting = len(a.passwords.waiting)
			a.passwords.mu.Unlock()
		}
	}
	for n := range flood {
		// Each sign-in also comes from another /56.
		begin(n+1, "flood", "not the password", fmt.Sprintf("2001:db8:aaaa:%x00::1", n))
	}
	begin(flood+1, "member", secret, "2001:db8:bbbb:1::1")
	a.passwords.mu.Lock()
	var waiting queue
	for _, w := range a.passwords.waiting {
		waiting = append(waiting, &turn{tries: w.tries, arrived: w.arrived})
	}
	last := a.passwords.arrived
	a.passwords.mu.Unlock()
	sort.Sort(waiting)
	place := 1 + slices.IndexFunc(waiting, func(w *turn) bool { return w.arrived == last })
	a.passwords.leave()
	all.Wait()
	if got := strings.Count(strings.Join(order, " "), "member"); got != 1 {
		t.Fatalf("the member signed in %d times: %v", got, order)
	}
	return place
}

// A customer cannot avoid the limit by changing the address within the customer's own network.
func TestSignInsPerCustomer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		want    int
	}{
		{"2001:db8:aaaa:1::%x", 10},      // one /64
		{"2001:db8:aaaa:0%02x::1", 40},   // the /64s of one /56
		{"2001:db8:aaaa:%02x00::1", 160}, // the /56s of one /48
	} {
		a, _ := withLogin(t)
		admitted := 0
		for n := range 200 {
			switch _, err := a.try(t.Context(), "", fmt.Sprintf(c.pattern, n)); {
			case err == nil:
				admitted++
			case !errs.Is(err, errs.RateLimited):
				t.Fatal(err)
			}
		}
		if admitted != c.want {
			t.Errorf("%s: %d of 200 were admitted, want %d", c.pattern, admitted, c.want)
		}
	}
}
