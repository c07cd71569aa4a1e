package auth

import (
	"container/heap"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coffer/internal/platform/errs"
	"golang.org/x/crypto/argon2"
)

// A cost is the effort of one hash: memory in KiB and passes over it.
type cost struct{ memory, passes uint32 }

// usual takes 80 to 250 ms on today's machines. That is slow for someone who guesses, and fast for
// someone who signs in once a day.
var usual = cost{memory: 46 << 10, passes: 2}

const (
	saltBytes = 16
	hashBytes = 32
	patience  = 5 * time.Second // how long a sign-in waits in the queue
)

// A hasher hashes passwords. It limits how many are hashed at a time, so that memory stays bounded
// and a core is left for other work. Callers with fewer tries go first, so a flood of sign-ins from
// many addresses cannot lock out a member at another address.
type hasher struct {
	cost  cost
	count atomic.Int64 // hashes made

	mu      sync.Mutex
	free    int
	waiting queue
	arrived int64
}

func newHasher() *hasher {
	return &hasher{cost: usual, free: max(1, min(2, runtime.GOMAXPROCS(0)/2))}
}

// hash returns the PHC string of a new password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	key, err := h.derive(ctx, password, salt, h.cost, 0)
	return phc(h.cost, salt, key), err
}

// nobody returns a PHC string that no password matches. With it, a sign-in takes as long for an
// unknown member as for a known one.
func (h *hasher) nobody() string {
	random := make([]byte, saltBytes+hashBytes)
	_, _ = rand.Read(random)
	return phc(h.cost, random[:saltBytes], random[saltBytes:])
}

// check reports whether the password matches the PHC string, and whether the password should be
// hashed again because the usual cost has changed.
func (h *hasher) check(ctx context.Context, stored, password string, tries int) (ok, stale bool, err error) {
	c, salt, want, err := parsePHC(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.derive(ctx, password, salt, c, tries)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, c != h.cost, nil
}

func (h *hasher) derive(ctx context.Context, password string, salt []byte, c cost, tries int) ([]byte, error) {
	if err := h.enter(ctx, tries); err != nil {
		return nil, err
	}
	defer h.leave()
	// A hash leaves more garbage than all other memory of the server. Without this call the memory
	// would double before the collector runs.
	defer runtime.GC()
	h.count.Add(1)
	return argon2.IDKey([]byte(password), salt, c.passes, c.memory, 1, hashBytes), nil
}

func phc(c cost, salt, key []byte) string {
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, c.memory, c.passes, enc(salt), enc(key))
}

func parsePHC(s string) (c cost, salt, key []byte, err error) {
	var version int
	parts := strings.Split(s, "$") // "", argon2id, v=, m= t= p=, salt, key
	if len(parts) == 6 && parts[1] == "argon2id" {
		_, err = fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=1", &version, &c.memory, &c.passes)
		if err == nil {
			salt, err = base64.RawStdEncoding.DecodeString(parts[4])
		}
		if err == nil {
			key, err = base64.RawStdEncoding.DecodeString(parts[5])
		}
	}
	if err != nil || version != argon2.Version || len(key) != hashBytes || c.memory > 1<<20 || c.passes == 0 ||
		c.passes > 16 {
		// The error contains no part of the stored hash.
		return cost{}, nil, nil, errors.New("a stored password hash can't be read")
	}
	return c, salt, key, nil
}

// A turn is a waiting call of enter.
type turn struct {
	tries   int
	arrived int64
	ready   chan struct{}
	place   int
}

// enter waits until a password may be hashed.
func (h *hasher) enter(ctx context.Context, tries int) error {
	h.mu.Lock()
	if h.free > 0 {
		h.free--
		h.mu.Unlock()
		return nil
	}
	h.arrived++
	t := &turn{tries: tries, arrived: h.arrived, ready: make(chan struct{})}
	heap.Push(&h.waiting, t)
	h.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-t.ready:
		return nil
	case <-late.C:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.place < 0 { // the turn came at the last moment; pass it to the next one
		h.next()
		return errs.New(errs.RateLimited, "too many people are signing in at once; try again in a moment").Later(
			patience)
	}
	heap.Remove(&h.waiting, t.place)
	return errs.New(errs.RateLimited, "too many people are signing in at once; try again in a moment").Later(patience)
}

func (h *hasher) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next()
}

// next gives the free turn to the first in the queue.
func (h *hasher) next() {
	if len(h.waiting) == 0 {
		h.free++
		return
	}
	close(heap.Pop(&h.waiting).(*turn).ready) //nolint:forcetypeassert // the heap holds turns
}

// A queue is ordered by the number of tries, then by arrival.
type queue []*turn

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].tries < q[j].tries || q[i].tries == q[j].tries && q[i].arrived < q[j].arrived
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	t := x.(*turn) //nolint:forcetypeassert // the heap holds turns
	t.place = len(*q)
	*q = append(*q, t)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	t.place = -1
	return t
}
