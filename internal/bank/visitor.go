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

// A Visitor makes HTTP calls to hosts whose addresses come from credentials, so a stranger may have
// chosen them. It calls only public hosts over HTTPS and follows no redirects. It opens a new
// connection for each call, so that it checks the address to which the name resolves at that
// moment. The one exception is the home address in the configuration: a server of the household, or
// a simulator.
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

// Judge returns an error if the visitor must not call this address. It does not resolve names, so a
// name may still turn out to lead to a private address when it is called.
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

// Do calls an address that Judge accepts; [Call.Path] is appended to it. Its errors are those of
// [Client.Do]. If the address is not public, the error is of class Permanent and no request was
// sent.
func (v *Visitor) Do(ctx context.Context, base *url.URL, call Call) (Answer, error) {
	if v.Judge(base) != nil {
		return Answer{}, v.client.broken(errInward)
	}
	return v.client.ask(ctx, origin(base)+strings.TrimRight(base.EscapedPath(), "/")+call.Path, call)
}

// Malformed returns the same error as [Client.Malformed].
func (v *Visitor) Malformed() *Error { return v.client.Malformed() }

var errInward = errors.New("the address must be public: it leads to this machine, a private network or nowhere")

// origin returns the scheme and the host of an address.
func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// A visit dials public addresses and its home address.
type visit struct{ home string }

func (d visit) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{Timeout: 10 * time.Second}
	if !strings.EqualFold(address, d.home) {
		n.Control = public
	}
	return n.DialContext(ctx, network, address)
}

// public rejects each resolved address that is not public, right before the connection.
func public(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !reach.Public(at.Addr()) {
		return errInward
	}
	return nil
}
