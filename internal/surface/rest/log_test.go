package rest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// A browser that leaves a page cancels its requests. That is not a failure of the server, and an operator
// who watches for errors must not be woken by it.
func TestCancelledCallIsNotLoggedAsError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		level string
	}{
		"cancelled": {op.Passing(context.Canceled), "level=INFO"},
		"broken":    {errors.New("disk on fire"), "level=ERROR"},
	} {
		var log bytes.Buffer
		s := &Server{Log: slog.New(slog.NewTextHandler(&log, nil)), Runner: &op.Runner{}}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/transactions", http.NoBody)
		s.fail(httptest.NewRecorder(), r, c.err)
		if !strings.Contains(log.String(), c.level) {
			t.Errorf("%s: the log has %q, want %s", name, log.String(), c.level)
		}
	}
}
