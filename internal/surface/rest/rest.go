// Package rest serves ops over HTTP: it routes requests, authenticates the caller, binds the
// arguments and writes the answer of op.Call. It does not know any use case; everything it serves
// is in the list of ops or in the short list of raw routes.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/surface/htmlpage"
)

// Prefix is the path prefix of every op.
const Prefix = op.Prefix

const (
	maxBody     = 1 << 20
	maxTextBody = 32 << 20
)

// A Raw is a route that is about HTTP itself and is therefore not an op.
type Raw struct {
	// Route is a pattern of http.ServeMux, such as "GET /health", from the root. A pattern without
	// a method accepts all methods.
	Route string
	Scope op.Scope
	// Agents means that the key may be a bearer token, and that requests are rejected if a web page
	// of another site may have made the browser send them.
	Agents bool
	// NoQuery means that the route rejects any query parameter.
	NoQuery bool
	// Query describes the query parameters; others are rejected. nil accepts any.
	Query *op.Schema
	// Resource is the address that access tokens must have been issued for; no other credentials
	// are accepted. "" accepts keys, sessions and tokens of the API.
	Resource string
	// Refused adds headers to an error response; nil for none.
	Refused  func(h http.Header, err error)
	MaxBody  int64
	Name     string     // noun.verb
	Summary  string     // a sentence for the document; "" omits the route
	Type     string     // of the answer; "" means JSON
	In       *op.Schema // of the body, for the document; nil for none
	Form     bool       // the body is a form, not JSON
	Out      *op.Schema // nil for an empty answer
	Refusals []int      // additional error statuses
	Handler  http.Handler
	// Serve replaces Handler: an error returned before anything is written becomes the usual error
	// response.
	Serve func(http.ResponseWriter, *http.Request) error
}

// A Server holds the parts of the HTTP surface.
type Server struct {
	Ops    []*op.Op
	Raw    []Raw
	Groups map[string]string // a sentence about each noun of the ops' names
	Runner *op.Runner
	Key    func(ctx context.Context, presented string) (op.Actor, error) // returns the actor of an API key
	// Session returns the actor of a session; nil if there are no sessions.
	Session func(ctx context.Context, presented string) (op.Actor, error)
	// Token returns the actor of an access token for that address; nil if there are none.
	Token func(ctx context.Context, presented, resource string) (op.Actor, error)
	// API is the address of the API, for which access tokens are issued.
	API     string
	Limits  Limits
	Bodies  *op.Share // limit on bytes of large bodies; nil means the default
	Log     *slog.Logger
	Version string
	Host    string   // the server's public name, if it has one
	Origin  string   // its scheme and host, in the form of browsers
	Base    string   // its address, as the reference shows it
	Proxies []string // networks of trusted reverse proxies
	// Plain reports whether pages warn that a request came over plain HTTP; nil for none.
	Plain func(r *http.Request) bool
	// Papers prints the documents, once for all servers in the program; nil prints them for this
	// server.
	Papers func() (Papers, error)
}

// Handler returns the handler for all routes.
func (s *Server) Handler() (http.Handler, error) {
	mux := newRoutes()
	gate, err := newGate(s)
	if err != nil {
		return nil, err
	}
	for _, o := range s.Ops {
		if o.Route != "" {
			mux.Handle(o.Method+" "+Prefix+o.Path, s.serveOp(o, gate))
		}
	}
	for _, r := range s.Raw {
		mux.Handle(r.Route, s.serveRaw(r, gate))
	}
	s.documents(mux)
	proxies, err := newProxies(s.Proxies)
	if err != nil {
		return nil, err
	}
	return proxies.behind(packing(s.entrance(mux))), nil
}

// entrance gives every request an id and every response its headers. It also replaces the plain
// text errors of the mux by the usual error body.
func (s *Server) entrance(mux *routes) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := r.Header.Get("X-Request-Id")
		if request == "" || len(request) > 64 || !id.IsBase62(strings.ReplaceAll(request, "-", "")) {
			request = id.Base62(16)
		}
		h := w.Header()
		h.Set("X-Request-Id", request)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		if strings.HasPrefix(s.Origin, "https://") { // a browser that has used HTTPS keeps using it
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if s.Plain != nil && s.Plain(r) {
			h.Set(htmlpage.Connection, htmlpage.Unprotected)
		}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
		answer := &begun{ResponseWriter: w}
		w = answer
		defer func() {
			if p := recover(); p != nil {
				s.survive(answer, r, p)
			}
		}()
		body := r.Body
		defer func() { answer.drain(r, body) }()
		handler, found := mux.find(r)
		if found {
			handler.ServeHTTP(w, r)
			return
		}
		refusal := &verdict{header: http.Header{}}
		handler.ServeHTTP(refusal, r)
		switch refusal.status {
		case http.StatusMethodNotAllowed:
			allow := refusal.header.Get("Allow")
			h.Set("Allow", allow)
			s.notFound(w, r, errs.New(errs.MethodNotAllowed, "use %s for this URL", allow))
		case http.StatusNotFound:
			s.notFound(w, r, errs.New(errs.NotFound,
				"not found; the API is under %s, documented at /docs", Prefix))
		default: // a redirect to the clean form of the path
			h.Set("Location", refusal.header.Get("Location"))
			w.WriteHeader(refusal.status)
		}
	})
}

// notFound replies to a request for an unknown address: with an HTML page to browsers and with the
// JSON error to everyone else.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request, err error) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, Prefix+"/") {
		if errs.Is(err, errs.NotFound) {
			err = errs.New(errs.NotFound, "this address may be old or incomplete")
		}
		htmlpage.Fail(w, err, RequestID(r.Context()))
		return
	}
	s.fail(w, r, err)
}

// A verdict captures the mux's reply to a request that no route matches.
type verdict struct {
	header http.Header
	status int
}

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
func (v *verdict) WriteHeader(status int)      { v.status = status }

type requestKey struct{}

// RequestID returns the id of this request in the log.
func RequestID(ctx context.Context) string {
	v, _ := ctx.Value(requestKey{}).(string)
	return v
}

func (s *Server) serveOp(o *op.Op, gate *gate) http.Handler {
	limit := int64(maxBody)
	produces := "application/json"
	cost := int64(costOfJSON)
	if field, _ := o.TextBody(); field != "" {
		limit, cost = maxTextBody, costOfFile
	}
	if o.TextOut != "" {
		produces = o.TextOut
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := acceptable(r, produces); err != nil {
			s.fail(w, r, err)
			return
		}
		actor, err := gate.enter(w, r, demand{scope: o.Scope, limit: limit, resource: s.API, may: o.Allows})
		if err != nil {
			s.fail(w, r, err)
			return
		}
		release, err := gate.admitBody(w, r, actor, limit, cost)
		if err != nil {
			drain(w, r)
			s.fail(w, r, err)
			return
		}
		defer release()
		args, err := bind(r, o, limit)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		call := op.Call{
			Actor: actor, Surface: op.REST, Args: args, RequestID: RequestID(r.Context()),
			IfMatch: unpackedTags(r.Header.Get("If-Match")), Words: reader(r),
		}
		if o.Replayable() {
			call.IdempotencyKey = r.Header.Get("Idempotency-Key")
		}
		long := &longAnswer{w: w, kind: produces}
		call.Out = long
		ctx := op.From(r.Context(), op.Origin{Address: address(r), Agent: r.UserAgent()})
		answer, err := s.Runner.Call(ctx, o, call)
		switch {
		case long.begun:
			long.end(err)
		case err != nil:
			s.write(w, r, err)
		default:
			send(w, r, answer, produces)
		}
	})
}

func (s *Server) serveRaw(raw Raw, gate *gate) http.Handler {
	if raw.MaxBody == 0 {
		raw.MaxBody = maxBody
	}
	tokens := raw.Resource != ""
	if !tokens {
		raw.Resource = s.API
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if raw.Agents {
			if err := gate.addressed(r); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		actor, err := gate.enter(w, r, demand{
			scope: raw.Scope, limit: raw.MaxBody, agents: raw.Agents, resource: raw.Resource, tokens: tokens,
			may: func(a op.Actor) error { return op.Allowed(raw.Scope, a) },
		})
		if err != nil {
			if raw.Refused != nil {
				raw.Refused(w.Header(), err)
			}
			s.fail(w, r, err)
			return
		}
		given, err := query(r)
		if err == nil && raw.NoQuery && len(given) > 0 {
			err = errs.New(errs.ValidationError, "this route takes no query parameters")
		}
		if err == nil && raw.Query != nil {
			err = raw.known(given)
		}
		if err != nil {
			s.notFound(w, r, err)
			return
		}
		release, err := gate.admitBody(w, r, actor, raw.MaxBody, costOfJSON)
		if err != nil {
			drain(w, r)
			s.fail(w, r, err)
			return
		}
		defer release()
		r = r.WithContext(op.WithActor(r.Context(), actor))
		if raw.Serve == nil {
			raw.Handler.ServeHTTP(w, r)
		} else if err := raw.Serve(w, r); err != nil {
			s.fail(w, r, op.Passing(err))
		}
	})
}

// known rejects query parameters that the route does not have.
func (raw Raw) known(given url.Values) error {
	for name, values := range given {
		switch {
		case raw.Query.Prop(name) == nil:
			return errs.Field(name, "unknown", "is not a query parameter of this route")
		case len(values) > 1:
			return errs.Field(name, "repeated", "must appear only once")
		}
	}
	return nil
}

func send(w http.ResponseWriter, r *http.Request, a op.Answer, produces string) {
	h := w.Header()
	if a.Change != nil {
		h.Set(op.ChangeHeader, a.Change.String())
	}
	if a.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if a.ETag != "" {
		h.Set("ETag", a.ETag)
		if seen := r.Header.Get("If-None-Match"); r.Method == http.MethodGet && seen != "" &&
			op.Matches(unpackedTags(seen), a.ETag, false) {
			if packed := strings.TrimSuffix(a.ETag, `"`) + packedTag; strings.Contains(seen, packed) {
				h.Set("ETag", packed)
			}
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if a.Status != http.StatusNoContent {
		if produces != "application/json" && a.Status < http.StatusBadRequest {
			produces += "; charset=utf-8"
		} else {
			produces = "application/json"
		}
		h.Set("Content-Type", produces)
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a caller that has disconnected needs no answer
}

// fail writes and logs an error that no op reported.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	face := errs.Public(err, RequestID(r.Context()))
	if s.Log != nil {
		level, text := slog.LevelInfo, ""
		if face.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
			level, text = slog.LevelError, errs.LogText(err)
		}
		s.Log.Log(r.Context(), level, "refused", "request", RequestID(r.Context()), "method", r.Method, "route",
			r.Pattern, "code", string(face.Code), "error", text)
	}
	s.write(w, r, face)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, err error) {
	face := errs.Public(s.Runner.Words.On(reader(r), err), RequestID(r.Context()))
	body, merr := json.Marshal(face.Face())
	if merr != nil {
		panic(merr) // strings always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body))) // it is sent before the rest of the request is read
	if face.Code == errs.Unavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	wait := int64(math.Ceil(face.After.Seconds()))
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(wait, 10))
	}
	if l := face.Limit; l.Name != "" {
		w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, l.Name, l.Quota, int64(l.Window.Seconds())))
		w.Header().Set("RateLimit", fmt.Sprintf(`"%s";r=0;t=%d`, l.Name, max(wait, 1)))
	}
	w.WriteHeader(face.Code.Status())
	_, _ = w.Write(body)
}

// reader returns the surface whose words errors use. The command line sets a header.
func reader(r *http.Request) op.Surface {
	if r.Header.Get(op.SurfaceHeader) == string(op.Command) {
		return op.Command
	}
	return op.REST
}

// acceptable compares the Accept header with the op's media type.
func acceptable(r *http.Request, produces string) error {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if accept == "" {
		return nil
	}
	family, _, _ := strings.Cut(produces, "/")
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err == nil && params["q"] != "0" && (kind == "*/*" || kind == family+"/*" || kind == produces) {
			return nil
		}
	}
	return errs.New(errs.NotAcceptable, "this route returns %s; accept it, or omit the Accept header", produces)
}

// bind collects the call's arguments: path variables, then the query, then the body. A name can
// come from only one of them.
func bind(r *http.Request, o *op.Op, limit int64) (map[string]any, error) {
	args := map[string]any{}
	given := map[string][]string{}
	parameters, err := query(r)
	if err != nil {
		return nil, err
	}
	for name, values := range parameters {
		if p := o.In.Prop(name); p != nil && p.In != op.InQuery {
			return nil, errs.Field(name, "place", "belongs in the %s, not in the query", p.In)
		}
		given[name] = values
	}
	if err := bindBody(r, o, limit, args); err != nil {
		return nil, err
	}
	for name := range args {
		if p := o.In.Prop(name); p != nil && p.In != op.InBody && p.In != op.InText &&
			(p.In != op.InQuery || !o.TakesFile()) {
			return nil, errs.Field(name, "place", "belongs in the %s, not in the body", p.In)
		}
	}
	for _, p := range o.In.Props {
		if p.In == op.InPath {
			given[p.Name] = []string{r.PathValue(p.Name)}
		}
	}
	return args, o.FromText(args, given)
}

// query parses the query string. [url.URL.Query] would silently drop pairs that it cannot parse,
// and a dropped filter widens the result.
func query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err == nil {
		return values, nil
	}
	if _, bad := errors.AsType[url.EscapeError](err); bad || strings.Contains(r.URL.RawQuery, ";") {
		return nil, errs.Wrap(err, errs.ValidationError, "the query string is malformed; "+
			"percent-encode the values: %% is %%25, ; is %%3B, & is %%26, + is %%2B, a space is %%20")
	}
	return nil, errs.Wrap(err, errs.ValidationError, "the query string has too many parameters")
}
