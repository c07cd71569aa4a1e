package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coffer/internal/errs"
	"coffer/internal/op"
)

const prefix = "/api/v1"

// A remote runs ops on a server, through its REST interface.
type remote struct{ server, key string }

// web follows no redirects: it would send the key along, to whichever server an answer names.
var web = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// elsewhere says that a server sends us on, and where to.
func elsewhere(res *http.Response) error {
	if res.StatusCode < http.StatusMultipleChoices || res.StatusCode >= http.StatusBadRequest {
		return nil
	}
	to := "elsewhere"
	if u, err := res.Location(); err == nil {
		to = "to " + plain(u.Scheme+"://"+u.Host)
	}
	return errs.New(errs.Unavailable, "the server sends on %s, and keys do not follow; if that is right, give that address with --server", to)
}

// Call implements Caller.
func (r *remote) Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error) {
	path, query := prefix+o.Path, url.Values{}
	body := map[string]any{}
	var raw []byte
	for name, v := range args {
		p := o.In.Prop(name)
		switch p.In {
		case op.InPath:
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(v)))
		case op.InQuery:
			if list, ok := v.([]any); ok {
				for _, item := range list {
					query.Add(name, fmt.Sprint(item))
				}
			} else {
				query.Set(name, fmt.Sprint(v))
			}
		case op.InText:
			raw = []byte(fmt.Sprint(v))
		default:
			body[name] = v
		}
	}
	_, kind := o.TextBody()
	if kind == "" {
		kind = "application/json"
		if len(body) > 0 {
			var err error
			if raw, err = json.Marshal(body); err != nil {
				return nil, fmt.Errorf("print arguments: %w", err)
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return r.send(ctx, o.Method, path, kind, raw)
}

func (r *remote) send(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, errs.New(errs.ValidationError, "the server's address is not a URL; it looks like http://127.0.0.1:8080")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("X-API-Key", r.key)
	res, err := web.Do(req)
	if errors.Is(err, http.ErrSchemeMismatch) {
		return nil, errs.Wrap(err, errs.Unavailable, "the server at %s speaks http and not https; give its address so", r.server)
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return nil, errs.Wrap(err, errs.Unavailable, "the certificate of %s is not good for it, or this machine does not trust who signed it", r.server)
	}
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable, "the server at %s does not answer; is it running, and is --server right?", r.server)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable, "the server's answer broke off; try again")
	}
	if err := elsewhere(res); err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusBadRequest {
		return answer, nil
	}
	var face errs.Face
	if err := json.Unmarshal(answer, &face); err != nil || face.Error.Code == "" {
		return nil, errs.New(errs.Unavailable, "the address answers with status %d, but not as coffer does; is --server right?", res.StatusCode)
	}
	if face.Error.Code == errs.MissingAPIKey { // the server speaks of a header
		return nil, errs.New(errs.MissingAPIKey, "set COFFER_API_KEY to a key of that server, or get one with: coffer login --server %s", r.server)
	}
	return nil, &errs.Error{Code: face.Error.Code, Message: face.Error.Message, Details: face.Error.Details}
}
