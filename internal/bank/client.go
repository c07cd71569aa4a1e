package bank

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"coffer/internal/platform/errs"
)

const (
	callTimeout = 30 * time.Second
	maxAnswer   = 16 << 20
	maxWait     = 24 * time.Hour
)

// A Client makes HTTP calls to one host for a provider. It limits the time and the size of each
// call. It does not follow redirects, keep cookies, use proxies from the environment or log
// contents.
type Client struct {
	provider string
	base     string
	http     *http.Client
}

// A Call is one request.
type Call struct {
	Method  string
	Path    string // including the query
	Header  http.Header
	Body    []byte
	Timeout time.Duration // 30 s if zero
}

// An Answer is a response, with any status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NewClient returns a client for the base URL. The URL must use HTTPS, except on this machine,
// where simulators run.
func NewClient(provider, base string, secure *tls.Config) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" &&
		u.Path != "/" {
		return nil, errs.New(errs.ProviderNotConfig,
			"the base URL of %s must be scheme, host and port only, such as https://sandbox.%s.com", provider, provider)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		return nil, errs.New(errs.ProviderNotConfig, "the base URL of %s must begin with https://", provider)
	}
	return &Client{provider, u.Scheme + "://" + u.Host, &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:        secure,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        60 * time.Second,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Do makes the call. Its error is an [*Error], usually of class Later: there was no response, or it
// was incomplete.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	return c.ask(ctx, c.base+call.Path, call)
}

func (c *Client) ask(ctx context.Context, address string, call Call) (Answer, error) {
	if call.Timeout == 0 {
		call.Timeout = callTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, call.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, call.Method, address, bytes.NewReader(call.Body))
	if err != nil {
		return Answer{}, &Error{
			Provider: c.provider, Class: Ours, Code: CodeUnknown,
			Advice: "this is a bug in coffer; please report it",
		}
	}
	maps.Copy(req.Header, call.Header)
	req.Header.Set("User-Agent", "coffer")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.broken(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxAnswer {
		body.Grow(int(n) + bytes.MinRead) // pages have about 0.5 MiB: growing in steps would copy them again and again
	}
	if _, err := body.ReadFrom(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return Answer{}, c.broken(err)
	}
	if body.Len() > maxAnswer {
		return Answer{}, c.Malformed()
	}
	return Answer{resp.StatusCode, resp.Header, body.Bytes()}, nil
}

// Malformed returns the error for a response that does not follow the protocol.
func (c *Client) Malformed() *Error {
	return &Error{
		Provider: c.provider, Class: Later, Code: CodeMalformed,
		Advice: "the provider sent an unreadable response; coffer will retry",
	}
}

// broken classifies a network failure. It drops the URL, which names accounts and must not be
// logged.
func (c *Client) broken(err error) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, errInward) {
		return &Error{
			Provider: c.provider, Class: Permanent, Code: CodeAddress, Advice: "the provider's address must be public",
			Cause: errInward,
		}
	}
	e := &Error{
		Provider: c.provider, Class: Later, Code: CodeNetwork,
		Advice: "the provider can't be reached; coffer will retry", Cause: err,
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		e.Code, e.Advice = CodeTimeout, "the provider timed out; coffer will retry"
	}
	return e
}

// RetryAfter returns how long the response asks the client to wait, 0 if it does not say.
func (a Answer) RetryAfter(now time.Time) time.Duration {
	s := a.Header.Get("Retry-After")
	wait := time.Duration(0)
	if n, err := strconv.Atoi(s); err == nil {
		wait = time.Duration(min(n, int(maxWait/time.Second))) * time.Second
	} else if t, err := http.ParseTime(s); err == nil {
		wait = min(t.Sub(now), maxWait)
	}
	return max(wait, 0)
}
