package bank_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	"coffer/internal/bank"
)

// resolved makes every name resolve to one address until the test ends. It runs a small DNS server.
func resolved(t *testing.T, to *atomic.Pointer[netip.Addr]) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for buf := make([]byte, 2048); ; {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for end < n && buf[end] != 0 {
				end += 1 + int(buf[end])
			}
			end += 5 // the empty label, the type and the class
			at := *to.Load()
			out := slices.Clone(buf[:min(end, n)])
			copy(out[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
			kind := binary.BigEndian.Uint16(out[len(out)-4:])
			if kind == 1 && at.Is4() || kind == 28 && at.Is6() {
				raw := at.AsSlice()
				out[7] = 1
				out = append(out, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
				out = append(out, raw...)
			}
			_, _ = server.WriteTo(out, from) // a client that gets no response asks again
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	t.Cleanup(func() { net.DefaultResolver = before; _ = server.Close() })
}

// A name in credentials may resolve to this machine or a private network. It is rejected before a
// connection is opened, even if it was public when the credentials were stored.
func TestNamesThatLeadInward(t *testing.T) { //nolint:paralleltest // it replaces the resolver
	var at atomic.Pointer[netip.Addr]
	resolved(t, &at)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var arrived atomic.Int64
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			arrived.Add(1)
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	address := &url.URL{Scheme: "https", Host: net.JoinHostPort("bank.example", port), Path: "/claim/x"}
	ask := func(home string) error {
		v, err := bank.NewVisitor("toy", home)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Judge(address); err != nil {
			t.Fatalf("the name itself: %v", err)
		}
		_, err = v.Do(t.Context(), address, bank.Call{Method: http.MethodPost})
		return err
	}
	for _, inward := range []string{
		"127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
		"::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
	} {
		at.Store(new(netip.MustParseAddr(inward)))
		if e := bank.Classify(ask("")); e.Code != bank.CodeAddress || e.Class != bank.Permanent {
			t.Errorf("%s: %+v", inward, e)
		}
	}
	if n := arrived.Load(); n != 0 {
		t.Errorf("%d connections arrived", n)
	}
	at.Store(new(netip.MustParseAddr("127.0.0.1"))) // the control: the same name is allowed as the home address
	if e := bank.Classify(ask(address.Scheme + "://" + address.Host)); e.Code == bank.CodeAddress || arrived.Load() == 0 {
		t.Errorf("control: %+v, %d connections", e, arrived.Load())
	}
}

// A redirect by a host in credentials is not followed.
func TestVisitorsFollowNobody(t *testing.T) {
	t.Parallel()
	var inside atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	t.Cleanup(inner.Close)
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outer.Close)
	v, err := bank.NewVisitor("toy", outer.URL)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(outer.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Do(t.Context(), u, bank.Call{Method: http.MethodPost})
	if err != nil || got.Status != http.StatusTemporaryRedirect || inside.Load() != 0 {
		t.Errorf("%d, %v, %d calls inside", got.Status, err, inside.Load())
	}
}
