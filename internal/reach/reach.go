// Package reach judges the addresses that people configure, of models and of endpoints for
// notifications: to which of them the server may connect. It must not know what is sent, and opens
// no connection.
package reach

import (
	"net/netip"
	"slices"
)

// metadata are addresses at which clouds give credentials to anyone who asks from inside, beside
// the link-local ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// translated are prefixes of IPv6 addresses that lead to the IPv4 address in their last or middle
// bytes.
var translated = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"):    12,
	netip.MustParsePrefix("64:ff9b:1::/48"):  12,
	netip.MustParsePrefix("2002::/16"):       2,
	netip.MustParsePrefix("::/96"):           12,
	netip.MustParsePrefix("::ffff:0:0:0/96"): 12,
}

// Allowed reports whether the server may connect to an address: never to link-local and metadata
// addresses, and over plain http only to this machine and private networks.
func Allowed(a netip.Addr, plain bool) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		for prefix, at := range translated {
			if prefix.Contains(a) {
				b := a.As16()
				return !plain && Allowed(netip.AddrFrom4([4]byte(b[at:at+4])), false)
			}
		}
	}
	switch {
	case !a.IsValid(), a.IsUnspecified(), a.IsLinkLocalUnicast(), a.IsMulticast(),
		a == netip.AddrFrom4([4]byte{255, 255, 255, 255}), slices.Contains(metadata, a):
		return false
	}
	return !plain || a.IsLoopback() || a.IsPrivate()
}
