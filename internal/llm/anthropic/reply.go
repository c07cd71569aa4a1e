package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"coffer/internal/llm"
)

// whole is a response that is not streamed, and also the first message of a streamed one.
type whole struct {
	Type    string            `json:"type"`
	Content []json.RawMessage `json:"content"`
	Stop    string            `json:"stop_reason"`
	Usage   usage             `json:"usage"`
}

// A usage is the latest count of tokens. A later count replaces an earlier one, but members that it
// omits keep their value.
type usage struct {
	Input      *json.Number `json:"input_tokens"`
	CacheRead  *json.Number `json:"cache_read_input_tokens"`
	CacheWrite *json.Number `json:"cache_creation_input_tokens"`
	Output     *json.Number `json:"output_tokens"`
}

func (u usage) known() llm.Usage {
	if u.Input == nil || u.Output == nil {
		return llm.Usage{}
	}
	var n [4]int64
	for i, x := range []*json.Number{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		if x == nil {
			continue
		}
		var err error
		if n[i], err = x.Int64(); err != nil {
			return llm.Usage{}
		}
	}
	return llm.NewUsage(n[0], n[1], n[2], n[3])
}

// A part is one block of the model's message, complete or not.
type part struct {
	fields    map[string]json.RawMessage
	kind      string
	text      []byte // of text, thinking and signature; which one depends on the block
	thinking  []byte
	signature []byte
	input     []byte
	citations []json.RawMessage
	whole     bool // its end has arrived
}

// read turns an answer into a reply.
func (c *client) read(a *llm.Answer, r llm.Request) (llm.Reply, error) {
	if a.Status != http.StatusOK {
		return llm.Reply{}, c.host.Reject(a)
	}
	s := stream{host: c.host}
	if a.Streamed() {
		if err := s.read(a); err != nil {
			return llm.Reply{}, err
		}
	} else if err := s.readWhole(a); err != nil {
		return llm.Reply{}, err
	}
	out, err := s.reply(r)
	out.RequestID = llm.RequestID(a.Header)
	return out, err
}

// A stream is the part of an answer that has arrived.
type stream struct {
	host  *llm.Host
	parts []*part
	stop  string
	usage usage
	begun bool
}

func (s *stream) malformed() *llm.Error { return s.host.Fail(llm.Broken, llm.CodeMalformed, "") }

func (s *stream) readWhole(a *llm.Answer) error {
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	var w whole
	if json.Unmarshal(b, &w) != nil || w.Type != "message" {
		return s.malformed()
	}
	for _, raw := range w.Content {
		p, err := newPart(raw)
		if err != nil {
			return s.malformed()
		}
		p.whole = true
		s.parts = append(s.parts, p)
	}
	s.stop, s.usage = w.Stop, w.Usage
	return nil
}

func newPart(raw json.RawMessage) (*part, error) {
	p := &part{}
	if err := json.Unmarshal(raw, &p.fields); err != nil {
		return nil, err
	}
	if p.fields == nil {
		p.fields = map[string]json.RawMessage{}
	}
	var known struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, err
	}
	p.kind, p.text, p.thinking = known.Type, []byte(known.Text), []byte(known.Thinking)
	p.signature = []byte(known.Signature)
	if in := bytes.TrimSpace(known.Input); !bytes.Equal(in, []byte(`{}`)) {
		p.input = in // in a stream it is {} until its pieces arrive
	}
	return p, nil
}

// An event is any message of the stream.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message whole           `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Usage   usage           `json:"usage"`
	Delta   struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		JSON      string          `json:"partial_json"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Citation  json.RawMessage `json:"citation"`
		Stop      string          `json:"stop_reason"`
	} `json:"delta"`
}

func (s *stream) read(a *llm.Answer) error {
	for got, err := range a.Events() {
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(got.Data, &e) != nil {
			return s.malformed()
		}
		if e.Type == "error" {
			failed, _ := s.host.Complaint(http.StatusOK, a.Header, got.Data)
			failed.Billed, failed.RequestID = s.begun, llm.RequestID(a.Header)
			return failed
		}
		if e.Type == "message_stop" {
			return nil
		}
		if err := s.take(e); err != nil {
			return err
		}
	}
	if s.stop == "" {
		return s.malformed()
	}
	return nil
}

func (s *stream) take(e event) error {
	switch e.Type {
	case "message_start":
		s.begun, s.usage = true, e.Message.Usage
	case "content_block_start":
		p, err := newPart(e.Block)
		if err != nil || e.Index != len(s.parts) {
			return s.malformed()
		}
		s.parts = append(s.parts, p)
	case "content_block_delta", "content_block_stop":
		if e.Index < 0 || e.Index >= len(s.parts) {
			return s.malformed()
		}
		s.parts[e.Index].take(e)
	case "message_delta":
		if e.Delta.Stop != "" {
			s.stop = e.Delta.Stop
		}
		s.usage.update(e.Usage)
	}
	return nil // ping, and unknown events
}

func (u *usage) update(by usage) {
	for _, x := range []struct{ to, from **json.Number }{
		{&u.Input, &by.Input},
		{&u.CacheRead, &by.CacheRead},
		{&u.CacheWrite, &by.CacheWrite},
		{&u.Output, &by.Output},
	} {
		if *x.from != nil {
			*x.to = *x.from
		}
	}
}

func (p *part) take(e event) {
	if e.Type == "content_block_stop" {
		p.whole = true
		return
	}
	p.text = append(p.text, e.Delta.Text...)
	p.input = append(p.input, e.Delta.JSON...)
	p.thinking = append(p.thinking, e.Delta.Thinking...)
	p.signature = append(p.signature, e.Delta.Signature...)
	if e.Delta.Citation != nil {
		p.citations = append(p.citations, e.Delta.Citation)
	}
}

var stops = map[string]llm.Stop{
	"end_turn": llm.End, "stop_sequence": llm.End, "tool_use": llm.Calls, "max_tokens": llm.Cut,
	"model_context_window_exceeded": llm.Cut, "refusal": llm.Refused,
}

// reply returns the reply of a complete answer.
func (s *stream) reply(r llm.Request) (llm.Reply, error) {
	out := llm.Reply{Usage: s.usage.known(), Stop: llm.End}
	stop, known := stops[s.stop]
	switch {
	case known:
		out.Stop = stop
	case s.stop == "":
		return llm.Reply{}, s.malformed()
	default:
		out.Notes = append(out.Notes, "the server ended the response for an unknown reason")
	}
	var raw []json.RawMessage
	for _, p := range s.parts {
		switch p.kind {
		case "text":
			if len(p.text) == 0 {
				continue // the server would not accept an empty block back
			}
			out.Text += string(p.text)
		case "tool_use":
			out.Calls = append(out.Calls, p.call(r.Tools))
		}
		b, err := p.raw(r.Tools)
		if err != nil {
			return llm.Reply{}, s.malformed()
		}
		raw = append(raw, b)
	}
	if len(raw) == 0 {
		// Nor would it accept an empty message.
		raw = append(raw, json.RawMessage(`{"type":"text","text":"(no answer)"}`))
	}
	b, err := json.Marshal(raw)
	if err != nil {
		return llm.Reply{}, s.malformed()
	}
	out.Raw = b
	out.Settle(r.MaxTokens)
	return out, nil
}

func (p *part) call(tools []llm.Tool) llm.Call {
	var known struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	_ = json.Unmarshal(p.fields["id"], &known.ID) // the server reports that "" is not the id of a call
	_ = json.Unmarshal(p.fields["name"], &known.Name)
	input := string(p.input)
	if !p.whole && input == "" {
		input = "{" // invalid, because the input never arrived
	}
	return llm.NewCall(known.ID, known.Name, input, tools)
}

// raw returns the block as it is sent back. Unknown fields are unchanged. Arguments that are not
// JSON could not be sent, so {} replaces them.
func (p *part) raw(tools []llm.Tool) (json.RawMessage, error) {
	set := func(name string, v []byte) error {
		if _, ok := p.fields[name]; !ok && len(v) == 0 {
			return nil
		}
		b, err := json.Marshal(string(v))
		p.fields[name] = b
		return err
	}
	switch p.kind {
	case "text":
		if err := set("text", p.text); err != nil {
			return nil, err
		}
		if len(p.citations) > 0 {
			b, err := json.Marshal(p.citations)
			if err != nil {
				return nil, err
			}
			p.fields["citations"] = b
		}
	case "thinking":
		if err := set("thinking", p.thinking); err != nil {
			return nil, err
		}
		if err := set("signature", p.signature); err != nil {
			return nil, err
		}
	case "tool_use":
		p.fields["input"] = p.call(tools).Arguments
	}
	return json.Marshal(p.fields)
}
