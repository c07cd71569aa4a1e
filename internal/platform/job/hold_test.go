package job

import (
	"context"
	"errors"
	"testing"
)

// A job that is claimed at the moment when the server begins to stop is halted, even if it waits
// outside a batch. Otherwise the server would wait for it until stopPatience is over.
func TestARunClaimedWhileStoppingIsHalted(t *testing.T) {
	t.Parallel()
	j := &Jobs{running: map[*Run]bool{}, closing: make(chan struct{})}
	j.close()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := &Run{jobs: j, cancel: cancel}
	j.track(r)
	if err := context.Cause(ctx); !errors.Is(err, ErrStopping) {
		t.Errorf("its context: %v", err)
	}
	if err := r.enter(ctx); !errors.Is(err, ErrStopping) {
		t.Errorf("a batch may begin: %v", err)
	}
}
