package bank

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

// A Visitor makes HTTP calls to hosts whose addresses are in credentials, so a stranger may have
// chosen them. It goes to public hosts over HTTPS only, follows no redirect, and opens a new
// connection for each call, so that a name is judged by what it resolves to at that moment. The one
// exception is the home address of the configuration: a server of the household, or a simulator.
type Visitor struct {
	client Client
	home   string // scheme, host and port; "" if there is none
}

// NewVisitor returns a visitor. Home may be "".
func NewVisitor(provider, home string) (*Visitor, error) {
	v := &Visitor{client: Client{provider: provider}}
	at := ""
	if home != "" {
		if _, err := NewClient(provider, home, nil); err != nil {
			return nil, err
		}
		u, err := url.Parse(home)
		if err != nil {
			return nil, err
		}
		v.home, at = origin(u), hostPort(u)
	}
	v.client.http = &http.Client{
		Transport: &http.Transport{
			DialContext:            visit{at}.dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return v, nil
}

// Judge returns an error if the visitor would not go to this address. It asks nobody, so a name may
// still turn out to lead inward when it is called.
func (v *Visitor) Judge(u *url.URL) error {
	if v.home != "" && origin(u) == v.home {
		return nil
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	at, err := netip.ParseAddr(host)
	switch {
	case u.Scheme != "https":
		return errs.New(errs.ValidationError, "the address must begin with https://")
	case err == nil && !reach.Public(at), host == "", err != nil && !strings.Contains(host, "."):
		return errInward
	}
	return nil
}

// Do makes the call to an address that was judged; [Call.Path] is added to it. Errors are those of
// [Client.Do], or of class Permanent if the address leads inward: then nothing was sent.
func (v *Visitor) Do(ctx context.Context, base *url.URL, call Call) (Answer, error) {
	if v.Judge(base) != nil {
		return Answer{}, v.client.broken(errInward)
	}
	return v.client.ask(ctx, origin(base)+strings.TrimRight(base.EscapedPath(), "/")+call.Path, call)
}

// Malformed is [Client.Malformed].
func (v *Visitor) Malformed() *Error { return v.client.Malformed() }

var errInward = errors.New("the address must be public: it leads to this machine, a private network or nowhere")

// origin is what an address says before its path.
func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// A visit dials public addresses, and its home.
type visit struct{ home string }

func (d visit) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{Timeout: 10 * time.Second}
	if !strings.EqualFold(address, d.home) {
		n.Control = public
	}
	return n.DialContext(ctx, network, address)
}

// public sees each address that a name resolved to, right before it is connected to.
func public(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !reach.Public(at.Addr()) {
		return errInward
	}
	return nil
}
