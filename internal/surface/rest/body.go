package rest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

// Bodies larger than smallBody count toward a limit while their request runs. They count by their
// cost in memory: a file is passed on unchanged, while JSON becomes many small values.
const (
	smallBody  = 64 << 10
	costOfFile = 1
	costOfJSON = 16
)

// bodyShare returns the limit on bytes of large bodies that a process holds at a time: two files of
// the maximum size, one of them for one caller.
func bodyShare() *op.Share {
	return &op.Share{
		Total: 2 * maxTextBody, PerOwner: maxTextBody, Patience: 10 * time.Second,
		Own: "other large requests of this key are still running; send them one at a time, or try again in a " +
			"few seconds",
		Others: "the server is busy with large requests from other callers; try again in a few seconds",
	}
}

// An upload is a body of unknown length. It counts toward the limit once it is larger than
// smallBody.
type upload struct {
	io.ReadCloser
	claim func() error // reserves memory for it
	read  int64
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	if u.read > smallBody {
		if err := u.admit(); err != nil {
			return 0, err
		}
	}
	n, err := u.ReadCloser.Read(p)
	u.read += int64(n)
	return n, err
}

// admit reserves the memory, once.
func (u *upload) admit() error {
	if u.claim == nil {
		return nil
	}
	err := u.claim()
	if err == nil {
		u.claim = nil
	}
	return err
}

// admitBody counts the request's body toward the caller's share of memory until release is called.
// It waits until there is room, and fails if that takes too long. The body has at most limit bytes;
// cost is the memory that each byte needs.
func (g *gate) admitBody(w http.ResponseWriter, r *http.Request, a op.Actor, limit, cost int64) (release func(),
	err error,
) {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if r.ContentLength == 0 || r.ContentLength > 0 && r.ContentLength <= smallBody || limit <= smallBody {
		return func() {}, nil
	}
	owner := a.ID.String()
	if a.ID.IsZero() {
		owner = auth.Network(address(r))
	}
	if r.ContentLength > 0 {
		return g.bodies.Take(r.Context(), owner, r.ContentLength*cost)
	}
	taken := func() {}
	r.Body = &upload{ReadCloser: r.Body, claim: func() error { //nolint:contextcheck // it is the request's
		done, err := g.bodies.Take(r.Context(), owner, limit*cost)
		if err == nil {
			taken = done
		}
		return err
	}}
	return func() { taken() }, nil
}

// readBody reads the whole body into a buffer that is allocated once, because a growing buffer
// exists twice.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if u, ok := r.Body.(*upload); ok {
		_, err := io.CopyN(&b, u, smallBody+1)
		if errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		}
		if err == nil {
			err = u.admit()
		}
		if err != nil {
			return nil, unread(err, limit)
		}
		b.Grow(int(limit) + bytes.MinRead - b.Len())
	} else if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, limit)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, unread(err, limit)
	}
	return b.Bytes(), nil
}

// unread returns the error for an unreadable body.
func unread(err error, limit int64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(limit)
	}
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e
	}
	return errs.Wrap(err, errs.InvalidBody, "the body is incomplete; send it again")
}

// drain reads the rest of a body that is not needed, so that a caller that is still sending sees
// the error. It gives up on callers that send too slowly. A caller that asked for permission to
// send has not sent a body.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	// if it cannot be set, the server's own deadline applies
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.Copy(io.Discard, r.Body)
}

// patientWrite is how long a reader may take for one piece of a long answer.
const patientWrite = 30 * time.Second

// A longAnswer is sent piece by piece.
type longAnswer struct {
	w     http.ResponseWriter
	kind  string
	begun bool
}

// Write implements io.Writer.
func (l *longAnswer) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", l.kind)
		l.w.WriteHeader(http.StatusOK)
	}
	// if it cannot be set, the stream's own time limit applies
	_ = http.NewResponseController(l.w).SetWriteDeadline(time.Now().Add(patientWrite))
	return l.w.Write(p)
}

// end ends the answer. An incomplete answer must not look complete, so its connection is closed.
func (l *longAnswer) end(err error) {
	// the connection may serve other requests
	_ = http.NewResponseController(l.w).SetWriteDeadline(time.Time{})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

const jsonType = "application/json"

// formTypes are the types that a page of another site can send with a member's cookie, without a
// preflight request.
var formTypes = map[string]bool{
	"text/plain": true, "multipart/form-data": true, "application/x-www-form-urlencoded": true,
}

func bindBody(r *http.Request, o *op.Op, limit int64, args map[string]any) error {
	raw, err := readBody(r, limit)
	if err != nil {
		return err
	}
	field, wanted := o.TextBody()
	if field == "" {
		wanted = jsonType
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	inJSON := field == "" || o.TakesFile() && kind == jsonType  // a file is the raw body, or a string within JSON
	detected := o.TakesFile() && err == nil && !formTypes[kind] // the content shows its format
	if len(raw) > 0 && (err != nil || kind != wanted && !inJSON && !detected || inJSON && kind != jsonType) {
		return errs.New(errs.UnsupportedMediaType, "send the body as %s (header Content-Type: %s)", wanted, wanted)
	}
	if !inJSON {
		args[field] = o.FromBody(raw)
		return nil
	}
	parse := op.ParseObject
	if o.TakesFile() {
		parse = op.ParseFileObject
	}
	body, err := parse(raw)
	if err != nil {
		return err
	}
	if len(body) > 0 && (r.Method == http.MethodGet || r.Method == http.MethodDelete) {
		return errs.New(errs.InvalidBody, "%s takes no body; pass its parameters in the query", r.Method)
	}
	maps.Copy(args, body)
	return nil
}

func tooLarge(limit int64) error {
	if limit < 1<<20 {
		return errs.New(errs.PayloadTooLarge, "the body may have at most %d KiB", limit>>10)
	}
	return errs.New(errs.PayloadTooLarge, "the body may have at most %d MiB", limit>>20)
}
