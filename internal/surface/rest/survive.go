package rest

import (
	"errors"
	"io"
	"net/http"
	"time"

	"coffer/internal/platform/errs"
)

// survive turns a panic in a raw route's handler into an error, because net/http would log the
// panic value itself. A response that has started is aborted.
func (s *Server) survive(w *begun, r *http.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	begun := w.yes
	s.fail(w, r, errs.Panicked(r.Pattern, p))
	if begun {
		panic(http.ErrAbortHandler)
	}
}

// A begun records whether the response has started.
type begun struct {
	http.ResponseWriter
	yes    bool
	status int
}

// WriteHeader implements http.ResponseWriter.
func (b *begun) WriteHeader(status int) {
	if !b.yes {
		b.ResponseWriter.WriteHeader(status)
		b.status = status
	}
	b.yes = b.yes || status >= http.StatusOK
}

// Write implements http.ResponseWriter.
func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (b *begun) Flush() {
	b.yes = true
	_ = http.NewResponseController(b.ResponseWriter).Flush() // if it cannot flush, everything is sent at the end
}

// How much of a rejected request's body is read, and for how long.
const (
	drainBytes = 64 << 20
	drainTime  = 10 * time.Second
)

// drain reads the rest of a rejected request's body. Many clients write the whole body before they
// read the response. If the connection were closed first, they would see a reset instead of the
// error. A client that waits for permission to send its body sends none after an error.
func (b *begun) drain(r *http.Request, body io.ReadCloser) {
	if b.status < http.StatusBadRequest || r.ContentLength == 0 || r.Header.Get("Expect") != "" {
		return
	}
	c := http.NewResponseController(b.ResponseWriter)
	if c.Flush() != nil || c.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return // not a connection that supports deadlines
	}
	_, _ = io.CopyN(io.Discard, body, drainBytes) // a client that disconnects needs no more
}

// Unwrap is for http.ResponseController.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }
