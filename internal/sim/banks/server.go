package banks

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Fault is a problem that a call gets instead of, or in addition to, a proper response.
type Fault struct {
	Path   string        // the prefix of the affected paths; "" for all
	Skip   int           // how many calls are spared first
	Times  int           // how many calls are affected; 1 if zero, all that follow if negative
	Delay  time.Duration // before anything else; the other fields say what happens then
	Reset  bool          // the connection is reset
	Cut    bool          // half of the response is sent, then the connection is closed
	Status int           // sent in place of the response
	Header http.Header   // with Status
	Body   string        // with Status; the provider's form of an error if Code is set
	Code   string        // with Status
}

// A server is the common part of all simulators: a listener, faults, and a count of calls.
type server struct {
	http  *http.Server
	url   string
	fail  func(w http.ResponseWriter, status int, code string)
	mu    sync.Mutex
	queue []Fault
	calls map[string]int
	skew  time.Duration
}

// serve listens on addr, or on any free loopback port if addr is empty.
func (s *server) serve(addr string, secure *tls.Config, h http.Handler) error {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr) //nolint:noctx // it lives as long as the simulator, which Close ends
	if err != nil {
		return err
	}
	s.calls = make(map[string]int)
	s.url = "http://" + l.Addr().String()
	if secure != nil {
		s.url = "https://" + l.Addr().String()
		l = tls.NewListener(l, secure)
	}
	s.http = &http.Server{Handler: s.trouble(h), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return nil
}

// URL returns the base URL.
func (s *server) URL() string { return s.url }

// Close stops the server and closes its connections.
func (s *server) Close() { _ = s.http.Close() }

// Script adds faults. A call gets the first fault that matches and has not been used up.
func (s *server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		if f.Times == 0 {
			f.Times = 1
		}
		s.queue = append(s.queue, f)
	}
}

// Calm removes all faults.
func (s *server) Calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = nil
}

// Calls counts the calls to paths with this prefix.
func (s *server) Calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for p, count := range s.calls {
		if strings.HasPrefix(p, path) {
			n += count
		}
	}
	return n
}

// Paid counts the calls for which the provider charges money: those that make a bank look up a
// balance.
func (s *server) Paid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for p, count := range s.calls {
		if p == "/accounts/balance/get" || strings.HasSuffix(p, "/balances") {
			n += count
		}
	}
	return n
}

// Advance moves the simulator's clock.
func (s *server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew += d
}

// Now returns the simulator's time.
func (s *server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.skew)
}

// next counts a call and returns the fault for it, if any.
func (s *server) next(path string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[path]++
	for i := range s.queue {
		f := &s.queue[i]
		if !strings.HasPrefix(path, f.Path) || f.Times == 0 {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		return *f, true
	}
	return Fault{}, false
}

func (s *server) trouble(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, hit := s.next(r.URL.Path)
		if !hit {
			h.ServeHTTP(w, r)
			return
		}
		if f.Delay > 0 {
			select {
			case <-time.After(f.Delay):
			case <-r.Context().Done():
				return
			}
		}
		switch {
		case f.Reset:
			hangUp(w, nil)
		case f.Cut:
			whole := &recorder{header: make(http.Header)}
			h.ServeHTTP(whole, r)
			hangUp(w, whole)
		case f.Status != 0:
			maps.Copy(w.Header(), f.Header)
			if f.Code != "" {
				s.fail(w, f.Status, f.Code)
				return
			}
			w.WriteHeader(f.Status)
			_, _ = w.Write([]byte(f.Body))
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// hangUp resets the connection, or announces a response and sends half of it.
func hangUp(w http.ResponseWriter, whole *recorder) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 has streams instead of connections
	}
	if whole == nil {
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		whole.body.Len())
	_, _ = out.Write(whole.body.Bytes()[:whole.body.Len()/2])
	_ = out.Flush()
}

// A recorder stores a response.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) WriteHeader(int)             {}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // a client that has left
}
