package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
)

const (
	maxDocument   = 5 << 10
	documentTime  = 3 * time.Second
	shortestFresh = 5 * time.Minute
	longestFresh  = 24 * time.Hour
)

// Documents reads the descriptions of clients. The client_id of such a client is the address of its
// document. A stranger chooses that address, so there are limits: only hosts that the operator
// allows, over HTTPS, at public addresses, and only when a signed-in member is about to decide.
type Documents struct {
	hosts  []string // allowed hosts, including their subdomains; "*" for all
	client *http.Client
}

// NewDocuments returns a reader that contacts only these hosts; an empty list disables it.
func NewDocuments(hosts []string) *Documents {
	return newDocuments(hosts, everyones, nil)
}

// newDocuments is NewDocuments with another check of addresses and other settings of the transport,
// for tests on one machine.
func newDocuments(hosts []string, judge func(netip.Addr) bool, adjust func(*http.Transport)) *Documents {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == "" || h == "none" })
	// Control sees the address that is really called. A name could lead elsewhere a moment later.
	dialer := &net.Dialer{Timeout: documentTime, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !judge(at.Addr().WithZone("").Unmap()) {
			return errors.New("not an address that everyone can reach")
		}
		return nil
	}}
	transport := &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: documentTime, MaxResponseHeaderBytes: 16 << 10,
	}
	if adjust != nil {
		adjust(transport)
	}
	return &Documents{hosts, &http.Client{
		Transport: transport, Timeout: documentTime, CheckRedirect: func(*http.Request,
			[]*http.Request,
		) error {
			return http.ErrUseLastResponse
		},
	}}
}

// reserved are networks that are not public, in addition to those that package netip knows.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"),
}

// everyones reports whether an address is public on the internet.
func everyones(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(reserved,
		func(p netip.Prefix) bool { return p.Contains(ip) })
}

// On reports whether documents are read at all.
func (d *Documents) On() bool { return d != nil && len(d.hosts) > 0 }

// isDocument reports whether a client is identified by a document instead of a registration: its
// name is an address.
func isDocument(client string) bool { return strings.HasPrefix(client, "https://") }

// address returns the address of a client's document, if it may be read.
func (d *Documents) address(client string) (*url.URL, error) {
	u, err := url.Parse(client)
	switch {
	case err != nil, len(client) > maxRedirect, u.Scheme != "https", u.Host == "", u.User != nil,
		u.Port() != "" && u.Port() != "443" && !slices.Contains(d.hosts, u.Host), u.Path == "", u.Path == "/",
		strings.ContainsAny(client, "#\\ "), slices.ContainsFunc(strings.Split(u.Path, "/"),
			func(p string) bool { return p == "." || p == ".." }):
		return nil, errs.New(errs.ValidationError,
			"client_id must be the https address of a document, with a path and without a port, user or fragment")
	case !d.On():
		return nil, errs.New(errs.Forbidden,
			"programs identified by a document are disabled on this server (COFFER_OAUTH_CLIENT_HOSTS)")
	}
	name := strings.ToLower(u.Hostname())
	if !slices.ContainsFunc(d.hosts, func(h string) bool {
		return h == "*" || name == h || u.Host == h || strings.HasSuffix(name, "."+h)
	}) {
		return nil, errs.New(errs.Forbidden,
			"coffer does not read program descriptions from %s; the operator can allow a host with "+
				"COFFER_OAUTH_CLIENT_HOSTS", name)
	}
	return u, nil
}

// Read fetches a client's document and returns how long it may be cached.
func (d *Documents) Read(ctx context.Context, client string) (auth.Client, time.Duration, error) {
	u, err := d.address(client)
	if err != nil {
		return auth.Client{}, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil) //nolint:gosec // the host is allowed, and the address that is called is judged
	if err != nil {
		return auth.Client{}, 0, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "coffer")
	res, err := d.client.Do(req) //nolint:gosec // the same
	if err != nil {
		return auth.Client{}, 0, errs.Wrap(err, errs.ValidationError,
			"can't read the program's description from %s; try again later", u.Hostname())
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	kind, _, kindErr := mime.ParseMediaType(res.Header.Get("Content-Type"))
	var doc description
	switch {
	case res.StatusCode != http.StatusOK, err != nil, len(raw) > maxDocument, kindErr != nil,
		kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		err = errors.New("no document")
	default:
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		return auth.Client{}, 0, errs.Wrap(err, errs.ValidationError,
			"the address at %s is not a program's description: it must return status 200 and at most 5 KB of JSON, "+
				"without a redirect", u.Hostname())
	}
	if doc.ClientID != client || !doc.redirects() || doc.AuthMethod != "" && doc.AuthMethod != "none" {
		return auth.Client{}, 0, errs.New(errs.ValidationError,
			"the description at %s is not valid: client_id must be its own address, redirect_uris must be one to ten "+
				"addresses, and token_endpoint_auth_method must be none", u.Hostname())
	}
	return auth.Client{Name: client, Kind: auth.Document, Title: doc.title(), RedirectURIs: doc.RedirectURIs},
		freshness(res.Header), nil
}

// freshness returns how long a response is valid by its own headers, within limits.
func freshness(h http.Header) time.Duration {
	life := time.Hour
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if seconds, err := strconv.Atoi(value); err == nil && strings.EqualFold(name, "max-age") {
			life = time.Duration(min(max(seconds, 0), int(longestFresh.Seconds()))) * time.Second
		} else if strings.EqualFold(name, "no-store") || strings.EqualFold(name, "no-cache") {
			life = 0
		}
	}
	return max(life, shortestFresh)
}
