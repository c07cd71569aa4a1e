package notify

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// A receiver that is slow, sends a large response or redirects costs at most the time of one
// attempt and 4 kB.
func TestHostileReceivers(t *testing.T) {
	t.Parallel()
	if usual.attempt != 15*time.Second || maxAnswer != 4<<10 || usual.lease <= usual.attempt {
		t.Errorf("the limits are %v and %d bytes, with a lease of %v", usual.attempt, maxAnswer, usual.lease)
	}
	patience := 5 * time.Second // in which a good receiver answers on a busy machine too
	if os.Getenv("COFFER_TEST_LONG") != "" {
		patience = usual.attempt
	}
	var elsewhere atomic.Int64
	other := newReceiver(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	var written atomic.Int64
	drip := func(w http.ResponseWriter, each string) {
		for {
			if _, err := w.Write([]byte(each)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		fault  string // "" if the message counts as delivered
	}{
		"control": {nil, ""},
		"silent":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "timed out"},
		// the status is known, so the message was accepted, whatever the body is
		"dripping": {func(w http.ResponseWriter, _ *http.Request) { drip(w, "x") }, ""},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			chunk := []byte(strings.Repeat("x", 1<<20))
			for range 50 {
				n, err := w.Write(chunk)
				written.Add(int64(n))
				if err != nil {
					return
				}
			}
		}, ""},
		"headers": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set("X-"+strconv.Itoa(i), strings.Repeat("x", 1000))
			}
		}, "failed"},
		"redirecting": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "redirects"},
		"to metadata": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		}, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, c.answer)
			began := time.Now()
			o := send(t.Context(), message{id: "msg_1", url: r.URL, body: []byte(`{}`), secrets: [][]byte{{1}}}, patience)
			if took := time.Since(began); took > patience+30*time.Second {
				t.Errorf("it took %v", took)
			}
			if o.read > maxAnswer {
				t.Errorf("%d bytes were read", o.read)
			}
			if (c.fault == "") != (o.fault == "") || !strings.Contains(o.fault, c.fault) {
				t.Errorf("%+v", o)
			}
			r.CloseClientConnections()
		})
	}
	t.Cleanup(func() {
		if n := elsewhere.Load(); n != 0 {
			t.Errorf("%d redirects were followed", n)
		}
		if n := written.Load(); n > 20<<20 {
			t.Errorf("the receiver got rid of %d bytes", n)
		}
	})
}

// The dialler checks the address to which a name resolved. Metadata and link-local addresses are
// never allowed, and http is only allowed in private networks.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]bool{ // https, http
		"127.0.0.1": {true, true}, "::1": {true, true}, "10.1.2.3": {true, true}, "192.168.1.2": {true, true},
		"172.16.0.1": {true, true}, "fd12::1": {true, true}, "::ffff:192.168.1.2": {true, true},
		"93.184.216.34": {true, false}, "2606:2800:220:1::1": {true, false}, "::ffff:93.184.216.34": {true, false},
		"169.254.169.254": {false, false}, "169.254.1.1": {false, false}, "fe80::1": {false, false},
		"fe80::1%eth0": {false, false}, "::ffff:169.254.169.254": {false, false}, "fd00:ec2::254": {false, false},
		"100.100.100.200": {false, false}, "168.63.129.16": {false, false}, "64:ff9b::a9fe:a9fe": {false, false},
		"64:ff9b::5db8:d822": {true, false}, "2002:a9fe:a9fe::1": {false, false}, "::a9fe:a9fe": {false, false},
		"0.0.0.0": {false, false}, "::": {false, false}, "224.0.0.1": {false, false}, "255.255.255.255": {false, false},
	} {
		for i, plain := range []bool{false, true} {
			at := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
			if err := (dialler{plain}).judge("tcp", at, nil); (err == nil) != want[i] {
				t.Errorf("%s, http %v: %v", address, plain, err)
			}
		}
	}
	o := send(t.Context(), message{url: "http://169.254.169.254/", body: []byte(`{}`)}, time.Second)
	if o.fault != errForbidden.Error() {
		t.Errorf("%+v", o)
	}
}

// No forged, old or altered message passes the verification that the guide requires of receivers.
func TestForgedMessages(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	secret := []byte("0123456789abcdef0123456789abcdef")
	shown := "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	accepted, controls := 0, 0
	for i := range 10_000 {
		body := []byte(fmt.Sprintf(`{"type":"sync.failed","data":{"n":%d}}`, i))
		id, at, now := "msg_"+strconv.Itoa(i), time.Now(), time.Now()
		key := [][]byte{secret}
		if i%3 == 0 { // as during a rotation
			key = [][]byte{[]byte("another secret of thirty-two byt"), secret}
		}
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
		h.Set("webhook-signature", sign(key, id, at, body))
		if verify(shown, h, body, now) == nil {
			controls++
		}
		switch i % 6 {
		case 0:
			body[random.IntN(len(body))] ^= 1 << random.IntN(8)
		case 1:
			h.Set("webhook-id", id+"0")
		case 2:
			h.Set("webhook-timestamp", strconv.FormatInt(at.Unix()+1, 10))
		case 3:
			now = now.Add(6 * time.Minute)
		case 4:
			h.Set("webhook-signature", sign([][]byte{[]byte("a secret that is somebody else's")}, id, at, body))
		case 5:
			s := []byte(h.Get("webhook-signature"))
			for j := range s { // change the first digit of each signature
				if s[j] == ',' {
					s[j+1] = map[bool]byte{true: 'B', false: 'A'}[s[j+1] == 'A']
				}
			}
			h.Set("webhook-signature", string(s))
		}
		if verify(shown, h, body, now) == nil {
			accepted++
		}
	}
	if accepted > 0 || controls != 10_000 {
		t.Errorf("%d of 10,000 were accepted, and %d true ones", accepted, controls)
	}
}

// Two servers share the work: each attempt of each delivery is made only once.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	once, repeated := replicas(t, usual.lease)
	if repeated > 0 || once == 0 {
		t.Errorf("%d slots were used once, %d more than once", once, repeated)
	}
	if _, repeated := replicas(t, 0); repeated == 0 {
		t.Error("the control, with claims that expire at once, repeated nothing")
	}
}

func replicas(t *testing.T, lease time.Duration) (once, repeated int) {
	t.Helper()
	h := newHouse(t)
	h.limits.lease = lease
	// each message fails twice and then succeeds
	var r *receiver
	r = newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
		time.Sleep(time.Millisecond) // so that both servers work at the same time
		n := 0
		for _, m := range r.all() {
			if m.header.Get("Webhook-Id") == req.Header.Get("Webhook-Id") {
				n++
			}
		}
		if n < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	for range 4 {
		h.endpoint(CreateEndpoint{URL: r.URL})
	}
	second := New(Config{DB: h.db, Ring: h.ring, Log: slog.New(slog.DiscardHandler)})
	second.limits = h.limits
	const events = 40
	done := make(chan error, 2)
	for _, n := range []*Notifier{h.Notifier, second} {
		go func() {
			for {
				if err := n.Sweep(t.Context()); err != nil {
					done <- err
					return
				}
				left, err := pg.Value[int](t.Context(), n.db, `select count(*) from delivery where state = 'delivered'`)
				if err != nil || left == events*4 {
					done <- err
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	for i := range events {
		h.post(Event{Type: SyncFailed, Subject: strconv.Itoa(i)})
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	attempts, err := pg.Value[int](t.Context(), h.db, `select sum(attempts) from delivery`)
	if err != nil {
		t.Fatal(err)
	}
	got := len(r.all())
	t.Logf("lease %v: %d deliveries, %d attempts stored, %d messages", lease, events*4, attempts, got)
	return attempts, got - attempts
}
