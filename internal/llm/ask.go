package llm

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"coffer/internal/platform/text"
)

type quoted = text.Untrusted

// A Post is one request on the wire.
type Post struct {
	Path   string
	Header http.Header
	Body   []byte
	Once   bool // no retries
}

// An Answer is a response that has begun. Its body has a maximum size and must arrive in time.
type Answer struct {
	Status int
	Header http.Header
	Body   io.Reader
}

// Streamed reports whether the answer is a stream of events. A server may ignore the request for a
// stream.
func (a *Answer) Streamed() bool {
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// Fail returns an error of this host with the server's message, which may be empty.
func (h *Host) Fail(class Class, code, message string) *Error {
	e := Fail(h.provider, class, code)
	e.Reply = h.quote(message)
	return e
}

// Ask sends a request, and read turns the answer into a reply. Temporary failures that are not
// billed are retried. If the server asks for a wait before that, Ask waits if the wait is short.
func (h *Host) Ask(ctx context.Context, p Post, read func(*Answer) (Reply, error)) (Reply, error) {
	for retries := 0; ; retries++ {
		r, err := h.once(ctx, p, read)
		if err == nil {
			r.Retries = retries
			return r, nil
		}
		if ctx.Err() != nil {
			return Reply{}, context.Cause(ctx)
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Class != Later || e.Billed || p.Once || retries >= h.limits.Retries ||
			e.RetryAfter > h.limits.Patience {
			return Reply{}, err
		}
		select {
		case <-time.After(h.pause(e.RetryAfter, retries)):
		case <-ctx.Done():
			return Reply{}, context.Cause(ctx)
		}
	}
}

// pause returns how long to wait before a retry: as long as the server asks for, else longer each
// time. A random part keeps several callers from returning at once.
func (h *Host) pause(asked time.Duration, retries int) time.Duration {
	if asked > 0 {
		return asked
	}
	ceiling := min(h.limits.Pause<<retries, 8*time.Second)
	return ceiling/2 + rand.N(ceiling/2+1) //nolint:gosec // not a secret
}

// once makes one attempt.
func (h *Host) once(ctx context.Context, p Post, read func(*Answer) (Reply, error)) (Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.limits.Whole, errTooSlow)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &watched{limits: h.limits, left: h.limits.Bytes}
	w.timer = time.AfterFunc(h.limits.First, func() { stop(errTooSlow) })
	defer w.timer.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+p.Path, bytes.NewReader(p.Body))
	if err != nil {
		return Reply{}, h.Fail(Ours, CodeRequest, "")
	}
	maps.Copy(req.Header, p.Header)
	req.Header.Set("User-Agent", "coffer")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	sent := &atomic.Bool{}
	req.Body = &noticed{req.Body, sent}
	resp, err := h.http.Do(req)
	if err != nil {
		return Reply{}, h.lost(ctx, err, sent.Load())
	}
	defer func() { _ = resp.Body.Close() }()
	w.from = resp.Body
	a := &Answer{resp.StatusCode, resp.Header, w}
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") { // we did not request it
		unzipped, err := gzip.NewReader(resp.Body)
		if err != nil {
			return Reply{}, h.lost(ctx, err, resp.StatusCode < 300)
		}
		w.from = unzipped
	}
	r, err := read(a)
	switch {
	case err == nil:
		return r, nil
	case w.over:
		e := h.Fail(Broken, CodeTooLarge, "")
		e.Status = a.Status
		return Reply{}, e
	case w.failed != nil: // ignore what read made of an incomplete answer
		return Reply{}, h.lost(ctx, w.failed, a.Status < 300)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Provider, e.Status = h.provider, a.Status
	}
	return Reply{}, err
}

var errTooSlow = errors.New("the response took too long")

// lost classifies a connection that could not be made or that ended early. Once the request has
// been sent, it is unknown whether the server works on it.
func (h *Host) lost(ctx context.Context, err error, billed bool) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := h.Fail(Later, CodeNetwork, "")
	n, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errElsewhere):
		return h.Fail(Denied, CodeAddress, "")
	case errors.Is(context.Cause(ctx), errTooSlow) || isNet && n.Timeout():
		e.Code, e.Advice = CodeTimeout, advice[CodeTimeout]
	}
	if billed {
		e.Class = Broken
	}
	e.Billed, e.Cause = billed, err
	return e
}

// noticed records when a request's body begins to be sent.
type noticed struct {
	io.ReadCloser
	sent *atomic.Bool
}

func (n *noticed) Read(b []byte) (int, error) {
	n.sent.Store(true)
	return n.ReadCloser.Read(b)
}

// watched is a body that must keep arriving, and must end in time.
type watched struct {
	from   io.Reader
	timer  *time.Timer
	limits Limits
	left   int64
	over   bool  // it was larger than the limit
	failed error // of the connection
}

func (w *watched) Read(b []byte) (int, error) {
	if w.left <= 0 {
		w.over = true
		return 0, io.ErrUnexpectedEOF
	}
	if int64(len(b)) > w.left {
		b = b[:w.left]
	}
	n, err := w.from.Read(b)
	w.left -= int64(n)
	if n > 0 {
		w.timer.Reset(w.limits.Between)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.failed = err
	}
	return n, err
}

// Wait returns how long the headers of a failed answer ask the client to wait. retry is nil unless
// the headers say explicitly whether to retry.
func Wait(header http.Header, now time.Time) (wait time.Duration, retry *bool) {
	switch header.Get("X-Should-Retry") {
	case "true":
		retry = new(true)
	case "false":
		retry = new(false)
	}
	if n, err := strconv.ParseInt(header.Get("Retry-After-Ms"), 10, 64); err == nil {
		return bounded(n, time.Millisecond), retry
	}
	s := header.Get("Retry-After")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return bounded(n, time.Second), retry
	}
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), longest), retry
	}
	return 0, retry
}

const longest = 24 * time.Hour

// bounded multiplies without overflow.
func bounded(n int64, unit time.Duration) time.Duration {
	return time.Duration(min(max(n, 0), int64(longest/unit))) * unit
}
