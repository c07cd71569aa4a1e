package measure

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMedianAndQuantile(t *testing.T) {
	t.Parallel()
	if got := Median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median of three: %v", got)
	}
	if got := Median([]float64{4, 1, 2, 9}); got != 3 {
		t.Errorf("median of four: %v", got)
	}
	if got := Median[float64](nil); got != 0 {
		t.Errorf("median of none: %v", got)
	}
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i
	}
	if a, b, c := Quantile(hundred, 0.5), Quantile(hundred, 0.99), Quantile(hundred, 1); a != 50 || b != 99 || c != 99 {
		t.Errorf("quantiles: %d %d %d", a, b, c)
	}
	if got := Quantile[int](nil, 0.5); got != 0 {
		t.Errorf("quantile of none: %v", got)
	}
}

// TestLoad: the client counts exactly the requests that were served, and returns the body of the
// response.
func TestLoad(t *testing.T) {
	t.Parallel()
	served := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served <- r.Header.Get("X-API-Key")
		_, _ = w.Write([]byte(`{"slug":"a"}`))
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	l, err := Connect(t.Context(), address, Get(address, "/", "secret"), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Run(time.Minute, 5)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 20 || len(served) != 20 || <-served != "secret" {
		t.Errorf("%d requests counted, %d served", r.Requests, len(served))
	}
	if r.P50 <= 0 || r.P99 < r.P50 || r.Took < r.P99 {
		t.Errorf("times: %+v", r)
	}
	if got := string(l.Answer()); got != `{"slug":"a"}` {
		t.Errorf("answer: %q", got)
	}
}

// TestLoadRefusal: a refused request takes little time. If the client counted it, the throughput
// would look too good.
func TestLoadRefusal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address := server.Listener.Addr().String()
	l, err := Connect(t.Context(), address, Get(address, "/", ""), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if r, err := l.Run(time.Minute, 1); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a 404 counts as %d requests; error %v", r.Requests, err)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const whole = "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nab"
	for n := range len(whole) {
		if done, err := complete([]byte(whole[:n])); done || err != nil {
			t.Fatalf("after %d bytes: %v, %v", n, done, err)
		}
	}
	if done, err := complete([]byte(whole)); !done || err != nil {
		t.Errorf("whole: %v, %v", done, err)
	}
	for _, bad := range []string{
		whole + "c",
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
	} {
		if _, err := complete([]byte(bad)); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// TestCPU compares the figures of /proc with a loop whose CPU time getrusage reports.
func TestCPU(t *testing.T) {
	t.Parallel()
	pid := os.Getpid()
	first, err := CPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	own := OwnCPU()
	for OwnCPU()-own < 200*time.Millisecond {
		_ = strings.Repeat("x", 1000)
	}
	spent := OwnCPU() - own
	last, err := CPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	// The kernel updates a running thread's figure only at its next tick.
	if got := last - first; got < spent-50*time.Millisecond {
		t.Errorf("/proc says %s, getrusage at least %s", got, spent)
	}
	if _, err := MachineCPU(); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	m, err := MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.RSS < 1<<20 || m.PSS < 1<<20 || m.Anon > m.RSS || m.File > m.RSS {
		t.Errorf("%+v", m)
	}
	var none int64
	if err := readSizes("/proc/self/status", map[string]*int64{"NoSuchLine": &none}); err == nil {
		t.Error("a line that is not there reads as a size")
	}
}
