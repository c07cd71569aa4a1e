package rest

import (
	"errors"
	"net/http"

	"coffer/internal/errs"
)

// survive makes an error of a panic in a handler that is no op: net/http would write what it panicked with into a log of its own. An answer that has begun is broken off.
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

// A begun knows whether the answer has begun.
type begun struct {
	http.ResponseWriter
	yes bool
}

// WriteHeader implements http.ResponseWriter.
func (b *begun) WriteHeader(status int) {
	if !b.yes {
		b.ResponseWriter.WriteHeader(status)
	}
	b.yes = b.yes || status >= http.StatusOK
}

// Write implements http.ResponseWriter.
func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, for who asks for that.
func (b *begun) Flush() {
	b.yes = true
	_ = http.NewResponseController(b.ResponseWriter).Flush() // where it cannot, all goes at the end
}

// Unwrap is for http.ResponseController.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }
