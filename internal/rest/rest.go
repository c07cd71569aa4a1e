// Package rest serves ops over HTTP: it routes, says who is calling, binds, and writes what op.Call answers.
// It knows no use case; everything it serves is in the list of ops or in the short list of raw routes.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/page"
)

// Prefix is the path below which every op stands.
const Prefix = "/api/v1"

const (
	maxBody     = 1 << 20
	maxTextBody = 32 << 20
)

// A Raw is a route that HTTP itself is the point of, and that is therefore no op.
type Raw struct {
	Route    string // "GET /health" as http.ServeMux writes it, from the root; without a method it takes all
	Scope    op.Scope
	Agents   bool                           // for agents: the key may come as a bearer token, and requests that a foreign web page could have made a browser send are refused
	Resource string                         // for access tokens alone, those that were made for this address; "" for keys, sessions and tokens of the API
	Refused  func(h http.Header, err error) // adds to the headers of a refusal; nil for none
	MaxBody  int64
	Name     string     // noun.verb, and
	Summary  string     // a sentence, for the document; "" leaves the route out of it
	Type     string     // of the answer; "" means JSON
	In       *op.Schema // of the body, for the document; nil for none
	Form     bool       // the body is a form, not JSON
	Out      *op.Schema // nil for an empty answer
	Refusals []int      // statuses that it refuses with, beside the usual
	Handler  http.Handler
	Serve    func(http.ResponseWriter, *http.Request) error // in place of Handler: what it returns before it has written anything is answered as every error
}

// A Server is everything that the HTTP surface needs.
type Server struct {
	Ops     []*op.Op
	Raw     []Raw
	Groups  map[string]string // what each noun of the ops' names is, in a sentence
	Runner  *op.Runner
	Key     func(ctx context.Context, presented string) (op.Actor, error)           // who presents this API key
	Session func(ctx context.Context, presented string) (op.Actor, error)           // who presents this session; nil where there are none
	Token   func(ctx context.Context, presented, resource string) (op.Actor, error) // who presents this access token at that address; nil where there are none
	API     string                                                                  // the address of what stands below Prefix, for which access tokens are made
	Limits  Limits
	Log     *slog.Logger
	Version string
	Host    string   // the name under which the world knows the server, if it has one
	Origin  string   // the scheme and host of that, as browsers write it
	Proxies []string // networks of reverse proxies whose word on where a request comes from is taken
}

// Handler is the whole surface.
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
	if err := s.documents(mux); err != nil {
		return nil, err
	}
	proxies, err := newProxies(s.Proxies)
	if err != nil {
		return nil, err
	}
	return proxies.behind(s.entrance(mux)), nil
}

// entrance gives every request its id and every answer its headers, and turns the mux's own plain refusals into the envelope.
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
		if strings.HasPrefix(s.Origin, "https://") { // whoever came by HTTPS once is not led astray later
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
		answer := &begun{ResponseWriter: w}
		w = answer
		defer func() {
			if p := recover(); p != nil {
				s.survive(answer, r, p)
			}
		}()
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
			s.lost(w, r, errs.New(errs.MethodNotAllowed, "this address takes %s", allow))
		case http.StatusNotFound:
			s.lost(w, r, errs.New(errs.NotFound, "there is nothing at this address; the API stands below %s and is described at /docs", Prefix))
		default: // a redirect to the clean form of the path
			h.Set("Location", refusal.header.Get("Location"))
			w.WriteHeader(refusal.status)
		}
	})
}

// lost answers who came to an address that is none: a person with a page, and a program as always.
func (s *Server) lost(w http.ResponseWriter, r *http.Request, err error) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, Prefix+"/") {
		page.Fail(w, err, RequestID(r.Context()))
		return
	}
	s.fail(w, r, err)
}

// A verdict takes what the mux says to a request that no route matches.
type verdict struct {
	header http.Header
	status int
}

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
func (v *verdict) WriteHeader(status int)      { v.status = status }

type requestKey struct{}

// RequestID is the id under which the log knows this request.
func RequestID(ctx context.Context) string {
	v, _ := ctx.Value(requestKey{}).(string)
	return v
}

func (s *Server) serveOp(o *op.Op, gate *gate) http.Handler {
	limit := int64(maxBody)
	produces := "application/json"
	if field, _ := o.TextBody(); field != "" {
		limit = maxTextBody
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
		args, err := bind(w, r, o, limit)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		call := op.Call{Actor: actor, Surface: op.REST, Args: args, RequestID: RequestID(r.Context()), IfMatch: r.Header.Get("If-Match")}
		if o.Replayable() {
			call.IdempotencyKey = r.Header.Get("Idempotency-Key")
		}
		answer, err := s.Runner.Call(r.Context(), o, call)
		if err != nil {
			s.write(w, r, err)
			return
		}
		send(w, r, answer, produces)
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
		r.Body = http.MaxBytesReader(w, r.Body, raw.MaxBody)
		r = r.WithContext(op.WithActor(r.Context(), actor))
		if raw.Serve == nil {
			raw.Handler.ServeHTTP(w, r)
		} else if err := raw.Serve(w, r); err != nil {
			s.fail(w, r, op.Passing(err))
		}
	})
}

func send(w http.ResponseWriter, r *http.Request, a op.Answer, produces string) {
	h := w.Header()
	if a.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if a.ETag != "" {
		h.Set("ETag", a.ETag)
		if seen := r.Header.Get("If-None-Match"); r.Method == http.MethodGet && seen != "" && op.Matches(seen, a.ETag, false) {
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
	_, _ = w.Write(a.Body) // a caller that has gone needs no answer
}

// fail writes an error that no op reported, and logs it.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	face := errs.Public(err, RequestID(r.Context()))
	if s.Log != nil {
		level, text := slog.LevelInfo, ""
		if face.Code.Status() >= http.StatusInternalServerError {
			level, text = slog.LevelError, errs.Told(err)
		}
		s.Log.Log(r.Context(), level, "refused", "request", RequestID(r.Context()), "method", r.Method, "route", r.Pattern, "code", string(face.Code), "error", text)
	}
	s.write(w, r, face)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, err error) {
	face := errs.Public(err, RequestID(r.Context()))
	body, merr := json.Marshal(face.Face())
	if merr != nil {
		panic(merr) // strings always encode
	}
	w.Header().Set("Content-Type", "application/json")
	if face.Code == errs.Unavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	if face.After > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(face.After.Seconds())), 10))
	}
	w.WriteHeader(face.Code.Status())
	_, _ = w.Write(body)
}

// acceptable holds the Accept header against what the op produces.
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
	return errs.New(errs.NotAcceptable, "this address answers %s; ask for that, or send no Accept header", produces)
}

// bind gathers the call's arguments: path variables, then the query, then the body. A name can come from one of them only.
func bind(w http.ResponseWriter, r *http.Request, o *op.Op, limit int64) (map[string]any, error) {
	args := map[string]any{}
	given := map[string][]string{}
	for name, values := range r.URL.Query() {
		if p := o.In.Prop(name); p != nil && p.In != op.InQuery {
			return nil, errs.Field(name, "place", "belongs into the %s, not into the query", p.In)
		}
		given[name] = values
	}
	if err := bindBody(w, r, o, limit, args); err != nil {
		return nil, err
	}
	for name := range args {
		if p := o.In.Prop(name); p != nil && p.In != op.InBody && p.In != op.InText && (p.In != op.InQuery || !o.TakesFile()) {
			return nil, errs.Field(name, "place", "belongs into the %s, not into the body", p.In)
		}
	}
	for _, p := range o.In.Props {
		if p.In == op.InPath {
			given[p.Name] = []string{r.PathValue(p.Name)}
		}
	}
	return args, o.FromText(args, given)
}

const jsonType = "application/json"

func bindBody(w http.ResponseWriter, r *http.Request, o *op.Op, limit int64, args map[string]any) error {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(limit)
	}
	if err != nil {
		return errs.Wrap(err, errs.InvalidBody, "the body did not arrive whole; send it again")
	}
	field, wanted := o.TextBody()
	if field == "" {
		wanted = jsonType
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	inJSON := field == "" || o.TakesFile() && kind == jsonType // a file comes as it is, or within JSON
	if len(raw) > 0 && (err != nil || kind != wanted && !inJSON || inJSON && kind != jsonType) {
		return errs.New(errs.UnsupportedMediaType, "send the body as %s (header Content-Type: %s)", wanted, wanted)
	}
	if !inJSON {
		args[field] = o.FileText(raw)
		return nil
	}
	body, err := op.ParseObject(raw)
	if err != nil {
		return err
	}
	if len(body) > 0 && (r.Method == http.MethodGet || r.Method == http.MethodDelete) {
		return errs.New(errs.InvalidBody, "a %s takes no body; give its parameters in the query", r.Method)
	}
	maps.Copy(args, body)
	return nil
}

func tooLarge(limit int64) error {
	if limit < 1<<20 {
		return errs.New(errs.PayloadTooLarge, "the body may have at most %d KiB", limit>>10)
	}
	return errs.New(errs.PayloadTooLarge, "the body may have at most %d MiB", limit>>20)
}
