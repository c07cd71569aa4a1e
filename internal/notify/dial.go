package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coffer/internal/platform/reach"
)

const (
	maxAnswer  = 4 << 10  // bytes that are read of a response before the connection is closed
	maxHeaders = 16 << 10 // maximum bytes of a response's headers
	maxWait    = 24 * time.Hour
)

// A message is one attempt to send a notification to an endpoint.
type message struct {
	id      string // webhook-id, the same in every attempt
	url     string
	body    []byte
	secrets [][]byte
}

// An outcome is the result of an attempt.
type outcome struct {
	status int           // 0 if there was no response
	fault  string        // "" if the message was accepted
	after  time.Duration // how long the receiver asks the sender to wait
	gone   bool          // the receiver wants no more messages
	read   int64         // bytes of the response's body
}

// sign returns the webhook-signature header of Standard Webhooks, with one signature for each
// secret.
func sign(secrets [][]byte, id string, at time.Time, body []byte) string {
	out := make([]string, len(secrets))
	for i, secret := range secrets {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		h.Write(body)
		out[i] = "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	return strings.Join(out, " ")
}

// send makes one attempt. It follows no redirect, keeps no cookie and uses no proxy. It opens a new
// connection, so that the address is checked each time.
func send(ctx context.Context, m message, patience time.Duration) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := url.Parse(m.url)
	if err != nil {
		return outcome{fault: "the URL is invalid"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(m.body))
	if err != nil {
		return outcome{fault: "the URL is invalid"}
	}
	at := time.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "coffer")
	req.Header.Set("Webhook-Id", m.id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("Webhook-Signature", sign(m.secrets, m.id, at, m.body))
	transport := &http.Transport{
		DialContext:            dialler{plain: u.Scheme == "http"}.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaders,
		// with HTTP/2, the receiver could send megabytes before anything reads them
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return outcome{fault: reason(err)}
	}
	defer res.Body.Close()                               //nolint:errcheck // what it says is not used
	read, _ := io.CopyN(io.Discard, res.Body, maxAnswer) // an answer that breaks off is an answer
	o := judgeAnswer(res)
	o.read = read
	return o
}

// judgeAnswer evaluates a response. Only 2xx is a success, so a redirect is not.
func judgeAnswer(res *http.Response) outcome {
	o := outcome{status: res.StatusCode}
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300:
	case res.StatusCode >= 300 && res.StatusCode < 400:
		o.fault = "the endpoint redirects; use its final address"
	case res.StatusCode == http.StatusGone:
		o.fault, o.gone = "the endpoint responded 410 (unsubscribed)", true
	default:
		o.fault = "the endpoint responded " + strconv.Itoa(res.StatusCode)
	}
	if o.fault != "" {
		o.after = retryAfter(res.Header.Get("Retry-After"), time.Now())
	}
	return o
}

// retryAfter reads the header in either of its forms. It returns 0 if the header is missing or
// invalid.
func retryAfter(h string, now time.Time) time.Duration {
	if s, err := strconv.Atoi(strings.TrimSpace(h)); err == nil {
		return min(max(time.Duration(min(s, int(maxWait/time.Second)))*time.Second, 0), maxWait)
	}
	if at, err := http.ParseTime(h); err == nil {
		return min(max(at.Sub(now), 0), maxWait)
	}
	return 0
}

// reason describes an error in coffer's own words. The error's text contains the whole address,
// which may be a secret.
func reason(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.Is(err, errForbidden):
		return errForbidden.Error()
	case errors.As(err, &dns):
		return "the endpoint's host name cannot be resolved"
	case errors.As(err, &certificate):
		return "the endpoint's certificate is not valid"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the endpoint timed out"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the endpoint's host refused the connection"
	}
	return "the connection to the endpoint failed"
}

// A dialler connects to endpoints. Nothing else in this package opens connections.
type dialler struct {
	plain bool // http: only to this machine and its network
}

var errForbidden = errors.New("the address is not allowed: https cannot go to link-local or metadata " +
	"addresses, and http only to this machine and private networks")

func (d dialler) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{Control: d.judge}
	return n.DialContext(ctx, network, address)
}

// judge checks each address to which the name resolved, right before the connection.
func (d dialler) judge(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !reach.Allowed(at.Addr(), d.plain) {
		return errForbidden
	}
	return nil
}
