package reach

import (
	"net/netip"
	"testing"
)

// Link-local and metadata addresses are never reached, however they are written. Plain http
// is allowed only within the home network.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ https, http bool }{
		"127.0.0.1": {true, true}, "::1": {true, true}, "10.1.2.3": {true, true}, "192.168.1.5": {true, true},
		"172.16.0.1": {true, true}, "fd00::1": {true, true}, "::ffff:192.168.1.5": {true, true},
		"8.8.8.8": {true, false}, "172.32.0.1": {true, false}, "2001:4860::1": {true, false},
		"::ffff:8.8.8.8": {true, false}, "64:ff9b::808:808": {true, false}, "::ffff:0:808:808": {true, false},
		"fe80::1": {}, "fe80::1%eth0": {}, "169.254.1.1": {}, "169.254.169.254": {}, "::ffff:169.254.169.254": {},
		"::ffff:0:a9fe:a9fe": {}, "64:ff9b::a9fe:a9fe": {}, "64:ff9b:1::a9fe:a9fe": {}, "2002:a9fe:a9fe::": {},
		"::a9fe:a9fe": {}, "100.100.100.200": {}, "fd00:ec2::254": {}, "0.0.0.0": {}, "::": {}, "224.0.0.1": {},
		"255.255.255.255": {},
	} {
		a := netip.MustParseAddr(s)
		if Allowed(a, false) != want.https || Allowed(a, true) != want.http {
			t.Errorf("%s: https %v, http %v", s, Allowed(a, false), Allowed(a, true))
		}
	}
}

// An address that a stranger gives must be public, however it is written.
func TestPublic(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"8.8.8.8": true, "2a00:1450::1": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true, "172.32.0.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "::ffff:127.0.0.1": false, "10.1.2.3": false,
		"192.168.1.5": false, "172.16.0.1": false, "fd00::1": false, "fe80::1": false, "169.254.169.254": false,
		"100.64.1.1": false, "198.18.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "64:ff9b::a00:1": false, "2002:7f00:1::": false,
		"::ffff:0:c0a8:101": false, "2001:db8::1": false, "100.100.100.200": false, "fd00:ec2::254": false,
	} {
		if Public(netip.MustParseAddr(s)) != want {
			t.Errorf("%s: public is %v", s, !want)
		}
	}
}
