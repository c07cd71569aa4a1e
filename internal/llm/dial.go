package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/reach"
)

// Limits are the limits of a call. Tests shorten them.
type Limits struct {
	First    time.Duration // until the first byte of the answer: a local model reads a long prompt for minutes
	Between  time.Duration // until the next one
	Whole    time.Duration // until the last byte: one byte per second is not an answer
	Bytes    int64         // of the answer
	Retries  int           // of temporary failures that are not billed
	Patience time.Duration // the longest wait before a retry; the caller must handle a longer one
	Pause    time.Duration // before the first retry, doubled for each further one
}

// Usual are the default limits.
var Usual = Limits{
	First: 10 * time.Minute, Between: 2 * time.Minute, Whole: time.Hour, Bytes: 4 << 20, Retries: 3,
	Patience: time.Minute, Pause: 500 * time.Millisecond,
}

// A Config configures a client.
type Config struct {
	BaseURL string // "" means the provider's own address
	Key     string // "" if the server needs none
	Limits  Limits // the zero value means [Usual]
}

// A Host is the one address that a client may contact: its scheme, host and port. A Host follows no
// redirects, stores no cookies, and uses no proxy from the environment. It opens a new connection
// for each call, so that the address that a name resolves to at that moment is checked.
type Host struct {
	provider string
	base     string // without a trailing slash
	limits   Limits
	http     *http.Client
	// quote cleans a server's message. It is a function, because fmt would print a key in a field.
	quote func(string) quoted
}

// Dial returns the host of a base URL. Plain http is allowed only to loopback and private
// addresses.
func Dial(provider string, c Config) (*Host, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return nil, errs.New(errs.ProviderNotConfig, "the URL of %s must begin with https:// or http:// and "+
			"have no user name, query or fragment; set it with {model.set}", provider)
	}
	if c.Limits == (Limits{}) {
		c.Limits = Usual
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	d := dialler{address: net.JoinHostPort(u.Hostname(), port), plain: u.Scheme == "http"}
	key := c.Key
	return &Host{
		provider: provider, base: strings.TrimRight(c.BaseURL, "/"), limits: c.Limits,
		quote: func(s string) quoted { return quote(s, key) },
		http: &http.Client{
			Transport: &http.Transport{
				DialContext:            d.dial,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
				ForceAttemptHTTP2:      true,
				DisableKeepAlives:      true,
				DisableCompression:     true,
				TLSHandshakeTimeout:    10 * time.Second,
				MaxResponseHeaderBytes: 64 << 10,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// A dialler connects to one address.
type dialler struct {
	address string // host and port
	plain   bool   // plain HTTP: only to private and loopback addresses
}

var errElsewhere = errors.New("the address is not the configured one or not allowed: https cannot go to " +
	"link-local or metadata addresses, and http only to this machine and private networks")

func (d dialler) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.EqualFold(address, d.address) {
		return nil, errElsewhere
	}
	n := net.Dialer{Timeout: 10 * time.Second, Control: d.judge}
	return n.DialContext(ctx, network, address)
}

// judge checks each address that the name resolved to, right before the connection is made.
func (d dialler) judge(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !reach.Allowed(at.Addr(), d.plain) {
		return errElsewhere
	}
	return nil
}
