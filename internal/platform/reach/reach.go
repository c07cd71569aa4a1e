// Package reach decides to which addresses the server may connect. People configure such addresses
// for models, banks and notifications. The package does not know what is sent, and opens no
// connection.
package reach

import (
	"net/netip"
	"slices"
)

// metadata are addresses, in addition to the link-local ones, at which clouds give credentials to
// any program that asks from inside.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// translated are prefixes of IPv6 addresses that contain an IPv4 address and lead to it. The value
// is the position of that address.
var translated = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"):    12,
	netip.MustParsePrefix("64:ff9b:1::/48"):  12,
	netip.MustParsePrefix("2002::/16"):       2,
	netip.MustParsePrefix("::/96"):           12,
	netip.MustParsePrefix("::ffff:0:0:0/96"): 12,
}

// Allowed reports whether the server may connect to an address. Link-local and metadata addresses
// are never allowed. Plain HTTP is only allowed to this machine and private networks.
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

// inward are networks that are not part of the public internet, because they belong to a house, a
// machine or a provider, or to nobody. Package netip knows further ones.
var inward = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

// Public reports whether an address is on the public internet. Only such addresses are safe if a
// stranger chose the address: this machine, private networks and metadata addresses are not.
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
