package models

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"
)

// A Fault is a problem that an answer has, or that is sent in place of it.
type Fault struct {
	Skip  int // how many requests are spared first
	Times int // how many requests are affected; 1 if zero, all that follow if negative

	// In place of the answer:
	Status   int         // an error with this status
	Code     string      // of that error, such as insufficient_quota or enforced_spend_limit_reached
	Type     string      // of that error; if empty, the usual one for the status
	Message  string      //
	Header   http.Header // of that error, such as Retry-After
	Body     string      // in place of an error in the format
	Redirect string      // the target address
	Silence  bool        // no response at all, until the client disconnects

	// For the answer itself:
	Delay  time.Duration // before it begins
	Drip   time.Duration // before each byte
	After  int           // how many bytes are sent before End happens; 0 for all, if End is Well
	End    End           //
	Event  string        // an error of this type within the stream, after the first events
	Gzip   bool          // compressed, although nobody requested that
	Broken bool          // each event is cut in half, so that it is not JSON
}

// An End is the way in which an answer ends.
type End int

// The ends.
const (
	Well  End = iota
	Close     // closed as if it were complete
	Drop      // the connection is closed in the middle
	Reset     // the connection is reset
	Hang      // nothing more comes
)

// Fail adds faults. A request gets the first fault that has not been used up.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		if f.Times == 0 {
			f.Times = 1
		}
		s.faults = append(s.faults, f)
	}
}

var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "api_error",
	504: "timeout_error", 529: "overloaded_error",
}

// instead sends the fault's response in place of an answer, and reports whether there is one.
func (f *Fault) instead(w http.ResponseWriter, r *http.Request, format Format) bool {
	maps.Copy(w.Header(), f.Header)
	switch {
	case f.Silence:
		<-r.Context().Done()
	case f.Redirect != "":
		w.Header().Set("Location", f.Redirect)
		w.WriteHeader(cmp.Or(f.Status, http.StatusTemporaryRedirect))
	case f.Status != 0 && f.Body != "":
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
	case f.Status != 0:
		fail(w, format, refusal{
			f.Status, cmp.Or(f.Type, kinds[f.Status], "api_error"), f.Code,
			cmp.Or(f.Message, fmt.Sprintf("status %d by script", f.Status)),
		})
	default:
		return false
	}
	return true
}

// A pipe delivers an answer piece by piece, as its fault determines.
type pipe struct {
	w     http.ResponseWriter
	r     *http.Request
	fault Fault
	zip   *gzip.Writer
	sent  int
	done  bool
}

func newPipe(w http.ResponseWriter, r *http.Request, kind string, f *Fault) *pipe {
	p := &pipe{w: w, r: r}
	if f != nil {
		p.fault = *f
	}
	if p.fault.Delay > 0 {
		p.wait(p.fault.Delay)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Request-Id", "req_sim")
	if p.fault.Gzip {
		w.Header().Set("Content-Encoding", "gzip")
		p.zip = gzip.NewWriter(w)
	}
	w.WriteHeader(http.StatusOK)
	return p
}

func (p *pipe) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.r.Context().Done():
		p.done = true
	}
}

// write sends a piece, and reports whether more may come.
func (p *pipe) write(s string) bool {
	if p.done {
		return false
	}
	last := false
	if f := p.fault; f.End != Well && p.sent+len(s) >= f.After {
		s, last = s[:max(f.After-p.sent, 0)], true
	}
	if p.fault.Drip > 0 {
		for i := range len(s) {
			p.wait(p.fault.Drip)
			if p.done {
				return false
			}
			p.send(s[i : i+1])
		}
	} else {
		p.send(s)
	}
	p.sent += len(s)
	if last {
		p.done = true
		p.end()
	}
	return !p.done
}

func (p *pipe) send(s string) {
	var err error
	if p.zip != nil {
		_, err = p.zip.Write([]byte(s))
		if err == nil {
			err = p.zip.Flush()
		}
	} else {
		_, err = p.w.Write([]byte(s))
	}
	if err != nil {
		p.done = true
		return
	}
	_ = http.NewResponseController(p.w).Flush() // the client has disconnected
}

// close ends a complete answer.
func (p *pipe) close() {
	if p.zip != nil {
		_ = p.zip.Close() // the client has disconnected
	}
}

// end ends an answer early.
func (p *pipe) end() {
	switch p.fault.End {
	case Close:
		p.close()
	case Drop:
		panic(http.ErrAbortHandler)
	case Hang:
		<-p.r.Context().Done()
	case Reset:
		conn, _, err := http.NewResponseController(p.w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	case Well:
	}
}

// event sends an event of a stream, or half of it.
func (p *pipe) event(name, data string) bool {
	if p.fault.Broken {
		data = data[:len(data)/2]
	}
	var b strings.Builder
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: " + data + "\n\n")
	return p.write(b.String())
}
