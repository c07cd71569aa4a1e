package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options configure a server.
type Options struct {
	Addr   string // any free loopback port if empty
	Key    string // not checked if empty, as local servers do
	Script Script // [Dictionary] if nil
	Models []string
	// Whole makes the server ignore requests for a stream.
	Whole bool
	// Context is the maximum number of tokens of a prompt; 0 is no limit. A longer prompt is an
	// error. With Silent it is cut at the front to half of that, with 200 OK.
	Context int
	Silent  bool
	// Piece is the size of the pieces of a text or of arguments, in bytes; 16 if zero.
	Piece int
}

// A Server is a simulated model server.
type Server struct {
	options Options
	http    *http.Server
	url     string

	mu       sync.Mutex
	faults   []Fault
	requests []Request
	count    int
	calls    int               // number of ids that were made
	messages map[string]string // the model's messages, by the id of each of their calls
	order    []string          // those ids, oldest first
}

// New starts a server.
func New(o Options) (*Server, error) {
	if o.Script == nil {
		o.Script = Dictionary
	}
	l, err := net.Listen("tcp", cmp.Or(o.Addr, "127.0.0.1:0")) //nolint:noctx // it lives until Close
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, url: "http://" + l.Addr().String(), messages: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, Anthropic) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, OpenAI) })
	mux.HandleFunc("GET /v1/models", s.list)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// URL returns the address without a path, as in Anthropic's base URL.
func (s *Server) URL() string { return s.url }

// Base returns the base URL of a format.
func (s *Server) Base(f Format) string {
	if f == OpenAI {
		return s.url + "/v1"
	}
	return s.url
}

// Close stops the server and closes its connections.
func (s *Server) Close() { _ = s.http.Close() }

// Play replaces the model.
func (s *Server) Play(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Script = script
}

// Count returns how many requests were received, including rejected ones.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Requests returns the latest readable requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

const (
	kept       = 2000 // requests and messages of the model that are stored
	maxRequest = 32 << 20
)

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		fail(w, OpenAI, refusal{401, "authentication_error", "invalid_api_key", "invalid key"})
		return
	}
	data := []map[string]any{}
	for _, m := range s.options.Models {
		data = append(data, map[string]any{
			"id": m, "object": "model", "type": "model", "display_name": m, "owned_by": "modelsim", "created": 1,
			"created_at": "2026-01-01T00:00:00Z",
		})
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data, "has_more": false})
}

func (s *Server) allowed(r *http.Request) bool {
	return s.options.Key == "" || r.Header.Get("X-Api-Key") == s.options.Key ||
		r.Header.Get("Authorization") == "Bearer "+s.options.Key
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, format Format) {
	fault, number, script := s.next()
	if fault != nil && fault.instead(w, r, format) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	in, err := parse(format, body)
	in.Number, in.Header = number, r.Header.Clone()
	s.keep(in)
	switch {
	case !s.allowed(r):
		fail(w, format, refusal{401, "authentication_error", "invalid_api_key", "invalid key"})
		return
	case err != nil:
		fail(w, format, *invalid("%v", err))
		return
	}
	if no := s.check(in, body); no != nil {
		fail(w, format, *no)
		return
	}
	if no := s.fit(&in); no != nil {
		fail(w, format, *no)
		return
	}
	a := script(in)
	if a.Usage == nil {
		a = a.limit(in.MaxTokens)
	}
	if a.Fault != nil {
		fault = a.Fault
		if fault.instead(w, r, format) {
			return
		}
	}
	s.name(&a, format)
	s.deliver(w, r, in, a, fault)
}

// next counts a request and returns the fault for it, if any.
func (s *Server) next() (*Fault, int, Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	for i := range s.faults {
		f := &s.faults[i]
		switch {
		case f.Times == 0:
			continue
		case f.Skip > 0:
			f.Skip--
			continue
		case f.Times > 0:
			f.Times--
		}
		hit := *f
		return &hit, s.count, s.options.Script
	}
	return nil, s.count, s.options.Script
}

func (s *Server) keep(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) >= kept {
		s.requests = s.requests[1:]
	}
	s.requests = append(s.requests, r)
}

// name gives ids to calls.
func (s *Server) name(a *Answer, format Format) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Calls = slices.Clone(a.Calls)
	for i := range a.Calls {
		if a.Calls[i].ID == "" {
			s.calls++
			prefix := "toolu_"
			if format == OpenAI {
				prefix = "call_"
			}
			a.Calls[i].ID = fmt.Sprintf("%s%06d", prefix, s.calls)
		}
	}
}

// remember stores the model's message, to compare it with the one that is sent back. It does not
// store responses that were broken on purpose, because clients cannot send them back unchanged.
func (s *Server) remember(a Answer, message any) {
	for _, c := range a.Calls {
		if !json.Valid([]byte(c.Arguments)) {
			return
		}
	}
	b, err := json.Marshal(message)
	if err != nil || a.Stop != "" || a.cut || a.Filler > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range a.Calls {
		if len(s.order) >= kept {
			delete(s.messages, s.order[0])
			s.order = s.order[1:]
		}
		s.messages[c.ID] = canonical(b)
		s.order = append(s.order, c.ID)
	}
}

// canonical prints JSON with sorted members, so that values can be compared.
func canonical(b []byte) string {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(b)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(b)
	}
	return string(out)
}

// fit applies the maximum size of the context to a prompt.
func (s *Server) fit(r *Request) *refusal {
	size := len(r.System)
	for _, t := range r.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		size += len(m.raw)
	}
	r.PromptTokens = tokens(size)
	limit := int64(s.options.Context)
	if limit == 0 || r.PromptTokens <= limit {
		return nil
	}
	if !s.options.Silent {
		no := invalid("the request (%d tokens) exceeds the available context size (%d tokens)", r.PromptTokens, limit)
		no.code = "context_length_exceeded"
		return no
	}
	gone := size - int(limit/2)*bytesPerToken
	r.PromptTokens = limit / 2
	cut := func(text *string) {
		n := min(gone, len(*text))
		*text, gone = (*text)[n:], gone-n
	}
	cut(&r.System)
	if gone > 0 {
		for _, t := range r.Tools {
			gone -= len(t.Name) + len(t.Description) + len(t.Schema)
		}
		r.Tools = nil
	}
	for i := range r.Messages {
		if gone <= 0 {
			break
		}
		cut(&r.Messages[i].Text)
	}
	return nil
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // a client that has left
}
