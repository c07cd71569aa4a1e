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

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

const prefix = op.Prefix

// A remote runs ops on a server, through its REST interface.
type remote struct{ server, key string }

// web does not follow redirects, because it would send the key to the redirect's target.
var web = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// elsewhere returns the error for a redirect, with its target.
func elsewhere(res *http.Response) error {
	if res.StatusCode < http.StatusMultipleChoices || res.StatusCode >= http.StatusBadRequest {
		return nil
	}
	to := "elsewhere"
	if u, err := res.Location(); err == nil {
		to = "to " + plain(u.Scheme+"://"+u.Host)
	}
	return errs.New(errs.Unavailable,
		"the server redirects %s; API keys are not sent to another address, so if it is correct, pass it "+
			"with --server",
		to)
}

// Call implements Caller.
func (r *remote) Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error) {
	path, query := prefix+o.Path, url.Values{}
	body := map[string]any{}
	var raw []byte
	for name, v := range args {
		place := op.InBody // also for an unknown name, which the server then rejects
		if p := o.In.Prop(name); p != nil {
			place = p.In
		}
		switch place {
		case op.InPath:
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(v)))
		case op.InQuery:
			if list, ok := v.([]any); ok {
				for _, item := range list {
					query.Add(name, asText(item))
				}
			} else {
				query.Set(name, asText(v))
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

// asText returns a value as a query carries it, so that FromText reads it back.
func asText(v any) string {
	if t, ok := v.(string); ok {
		return t
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // parsed values always encode
	}
	return string(b)
}

func (r *remote) send(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, errs.New(errs.ValidationError,
			"the server's address must be a URL, such as http://127.0.0.1:8080")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("X-API-Key", r.key)
	req.Header.Set(op.SurfaceHeader, string(op.Command))
	res, err := web.Do(req)
	if errors.Is(err, http.ErrSchemeMismatch) {
		return nil, errs.Wrap(err, errs.Unavailable, "the server at %s uses http, not https; use http:// in --server",
			r.server)
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return nil, errs.Wrap(err, errs.Unavailable,
			"the certificate of %s is invalid for this address, or this machine does not trust its issuer", r.server)
	}
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable,
			"the server at %s does not respond; is it running, and is --server correct?", r.server)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable, "the server's response was cut off; try again")
	}
	if err := elsewhere(res); err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusBadRequest {
		return answer, nil
	}
	var face errs.Face
	if err := json.Unmarshal(answer, &face); err != nil || face.Error.Code == "" {
		return nil, errs.New(errs.Unavailable,
			"the server at this address responds with status %d but is not coffer; is --server correct?",
			res.StatusCode)
	}
	if face.Error.Code == errs.MissingAPIKey { // the server's message names a header
		return nil, errs.New(errs.MissingAPIKey,
			"set COFFER_API_KEY to an API key of that server, or log in: coffer login --server %s", r.server)
	}
	return nil, &errs.Error{
		Code: face.Error.Code, Message: face.Error.Message, Details: face.Error.Details,
		Lookup: face.Error.Lookup,
	}
}
