// Package reach judges addresses that people configure, of models, of banks and of endpoints for
// notifications: to which of them the server may connect. It must not know what is sent, and
// opens no connection.
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

// inward are networks that belong to somebody's house, machine or provider, or to nobody, beside
// those that package netip knows.
var inward = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

// Public reports whether an address is one of the public internet, where somebody else's address
// may lead: never to this machine, a private network or a metadata address.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsLoopback() || a.IsPrivate() || !a.IsGlobalUnicast() || !Allowed(a, false) {
		return false
	}
	for prefix, at := range translated {
		if a.Is6() && prefix.Contains(a) {
			b := a.As16()
			return Public(netip.AddrFrom4([4]byte(b[at : at+4])))
		}
	}
	return !slices.ContainsFunc(inward, func(p netip.Prefix) bool { return p.Contains(a) })
}
