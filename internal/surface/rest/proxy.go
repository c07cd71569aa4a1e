package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of the reverse proxies in front of the server. Only they are trusted to
// report a request's address. Anyone else could invent an address to escape limits.
type proxies []netip.Prefix

func newProxies(networks []string) (proxies, error) {
	var out proxies
	for _, n := range networks {
		p, err := netip.ParsePrefix(strings.TrimSpace(n))
		if err != nil {
			return nil, fmt.Errorf("COFFER_TRUSTED_PROXIES: %w; use networks such as 10.0.0.0/8,127.0.0.1/32", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// behind sets a request's address to the client's: the last one in X-Forwarded-For that is not one
// of our proxies.
func (p proxies) behind(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := p.client(r); at != "" {
			r.RemoteAddr = net.JoinHostPort(at, "0")
		}
		next.ServeHTTP(w, r)
	})
}

func (p proxies) client(r *http.Request) string {
	if !p.has(address(r)) {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		hop = strings.TrimSpace(hop)
		if _, err := netip.ParseAddr(hop); err != nil {
			return ""
		}
		if !p.has(hop) {
			return hop
		}
	}
	return ""
}

func (p proxies) has(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(p,
		func(n netip.Prefix) bool { return n.Contains(ip.Unmap().WithZone("")) })
}
