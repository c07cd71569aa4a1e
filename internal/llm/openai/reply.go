package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/llm"
)

type (
	// A chunk is a piece of a stream, or a complete answer.
	chunk struct {
		Choices []choice        `json:"choices"`
		Usage   *usage          `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	choice struct {
		Index   int             `json:"index"`
		Delta   fields          `json:"delta"`
		Message fields          `json:"message"`
		Finish  json.RawMessage `json:"finish_reason"`
	}
	usage struct {
		Prompt  *json.Number `json:"prompt_tokens"`
		Output  *json.Number `json:"completion_tokens"`
		Details struct {
			Cached  *json.Number `json:"cached_tokens"`
			Written *json.Number `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

// known returns the usage. It subtracts the cached tokens, which this format includes in the
// prompt.
func (u *usage) known() llm.Usage {
	if u == nil || u.Prompt == nil || u.Output == nil {
		return llm.Usage{}
	}
	var n [4]int64
	for i, x := range []*json.Number{u.Prompt, u.Details.Cached, u.Details.Written, u.Output} {
		if x == nil {
			continue
		}
		var err error
		if n[i], err = x.Int64(); err != nil || n[i] < 0 {
			return llm.Usage{}
		}
	}
	if n[1] > n[0] || n[2] > n[0]-n[1] {
		return llm.Usage{} // a part cannot be larger than the whole
	}
	return llm.NewUsage(n[0]-n[1]-n[2], n[1], n[2], n[3])
}

// An answer is the part of an answer that has arrived.
type answer struct {
	host    *llm.Host
	message *record
	calls   []*call
	finish  string
	usage   *usage
	begun   bool
}

// A call is the part of a tool call that has arrived.
type call struct {
	*record
	function  *record
	arguments []byte
	index     int // in the stream
}

// read turns an answer into a reply.
func (c *client) read(a *llm.Answer, r llm.Request) (llm.Reply, error) {
	if a.Status != http.StatusOK {
		return llm.Reply{}, c.host.Reject(a)
	}
	s := answer{host: c.host, message: newRecord()}
	var err error
	if a.Streamed() {
		err = s.stream(a)
	} else {
		err = s.whole(a)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	out, err := s.reply(r)
	out.RequestID = llm.RequestID(a.Header)
	return out, err
}

func (s *answer) malformed() *llm.Error { return s.host.Fail(llm.Broken, llm.CodeMalformed, "") }

func (s *answer) whole(a *llm.Answer) error {
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	var got chunk
	if json.Unmarshal(b, &got) != nil {
		return s.malformed()
	}
	if err := s.failed(a, got, b); err != nil {
		return err
	}
	if len(got.Choices) == 0 {
		return s.malformed()
	}
	return s.take(got)
}

// failed returns the error in an answer with status 200, or nil.
func (s *answer) failed(a *llm.Answer, got chunk, raw []byte) error {
	if len(got.Error) == 0 || string(got.Error) == "null" {
		return nil
	}
	e, _ := s.host.Complaint(http.StatusOK, a.Header, raw)
	e.Billed, e.RequestID = s.begun, llm.RequestID(a.Header)
	return e
}

func (s *answer) stream(a *llm.Answer) error {
	for e, err := range a.Events() {
		if err != nil {
			return err
		}
		if bytes.Equal(bytes.TrimSpace(e.Data), []byte("[DONE]")) {
			break
		}
		var got chunk
		if json.Unmarshal(e.Data, &got) != nil {
			return s.malformed()
		}
		if err := s.failed(a, got, e.Data); err != nil {
			return err
		}
		if err := s.take(got); err != nil {
			return err
		}
	}
	return nil
}

// take adds a chunk.
func (s *answer) take(got chunk) error {
	if got.Usage != nil {
		s.usage = got.Usage
	}
	for _, c := range got.Choices {
		if c.Index != 0 {
			continue // we request only one
		}
		s.begun = true
		piece := c.Delta
		if piece == nil {
			piece = c.Message
		}
		if len(c.Finish) > 0 {
			var f string
			if json.Unmarshal(c.Finish, &f) == nil && f != "" {
				s.finish = f
			}
		}
		s.message.merge(piece, "role", "tool_calls")
		if err := s.takeCalls(piece["tool_calls"]); err != nil {
			return err
		}
	}
	return nil
}

// maxCalls is the maximum number of calls of a reply.
const maxCalls = 1000

func (s *answer) takeCalls(raw json.RawMessage) error {
	var pieces []fields
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &pieces) != nil {
		return s.malformed()
	}
	for n, piece := range pieces {
		index := n
		if v, ok := piece["index"]; ok {
			if i, err := strconv.Atoi(string(v)); err == nil {
				index = i
			}
		}
		var f fields
		if v := piece["function"]; len(v) > 0 && json.Unmarshal(v, &f) != nil {
			return s.malformed()
		}
		c := s.find(index, piece.text("id"))
		if c == nil {
			if len(s.calls) >= maxCalls {
				return s.malformed()
			}
			c = &call{record: newRecord(), function: newRecord(), index: index}
			s.calls = append(s.calls, c)
		}
		c.once(piece, "id")
		c.merge(piece, "index", "id", "type", "function")
		c.function.once(f, "name")
		c.function.merge(f, "name", "arguments")
		c.arguments = append(c.arguments, arguments(f["arguments"])...)
	}
	return nil
}

// find returns the call that a piece belongs to, or nil if the piece begins a new call. Some
// servers give every call of a turn the same index; then the ids distinguish the calls.
func (s *answer) find(index int, id string) *call {
	for _, c := range slices.Backward(s.calls) {
		if c.index != index {
			continue
		}
		if have := c.text("id"); id != "" && have != "" && have != id {
			return nil
		}
		return c
	}
	return nil
}

// arguments returns a call's arguments, which are JSON in a string. Some servers send the object
// itself.
func arguments(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// stop reads the server's reason for the end of the answer. Servers use different words, so a limit
// of tokens is recognized by a part of the word.
func stop(finish string) llm.Stop {
	f := strings.ToLower(finish)
	switch {
	case strings.Contains(f, "length") || strings.Contains(f, "max_tokens") || strings.Contains(f, "context"):
		return llm.Cut
	case f == "content_filter" || f == "refusal":
		return llm.Refused
	}
	return llm.End
}

// reply returns the reply of a complete answer.
func (s *answer) reply(r llm.Request) (llm.Reply, error) {
	if s.finish == "" || s.finish == "error" {
		return llm.Reply{}, s.malformed()
	}
	out := llm.Reply{Text: s.content(), Usage: s.usage.known(), Stop: stop(s.finish)}
	if refusal := s.message.text("refusal"); refusal != "" && out.Stop == llm.End {
		out.Stop, out.Text = llm.Refused, out.Text+refusal
	}
	used := map[string]bool{}
	for i, c := range s.calls {
		id := c.text("id")
		if id == "" || used[id] { // results could not be matched to calls
			id = "call_" + strconv.Itoa(i+1)
		}
		used[id] = true
		made := llm.NewCall(id, c.function.text("name"), string(c.arguments), r.Tools)
		out.Calls = append(out.Calls, made)
		c.set("id", id)
		c.set("type", "function")
		c.function.set("arguments", string(c.arguments))
		if made.Broken != "" || len(c.arguments) == 0 {
			c.function.set("arguments", "{}") // servers that parse them again would fail
		}
	}
	raw, err := s.raw()
	if err != nil {
		return llm.Reply{}, s.malformed()
	}
	out.Raw = raw
	out.Settle(r.MaxTokens)
	return out, nil
}

// raw returns the message as it is sent back, with all members that were received.
func (s *answer) raw() (json.RawMessage, error) {
	s.message.set("role", "assistant")
	var calls []json.RawMessage
	for _, c := range s.calls {
		f, err := json.Marshal(c.function)
		if err != nil {
			return nil, err
		}
		c.rest["function"] = f
		b, err := json.Marshal(c.record)
		if err != nil {
			return nil, err
		}
		calls = append(calls, b)
	}
	if len(calls) > 0 {
		s.message.lists["tool_calls"] = calls
	}
	if _, ok := s.message.texts["content"]; !ok && len(s.message.lists["content"]) == 0 {
		s.message.rest["content"] = json.RawMessage(`null`)
		if len(calls) == 0 {
			s.message.set("content", "")
		}
	}
	return json.Marshal(s.message)
}

// content returns the model's text. Some servers send it as a list of parts.
func (s *answer) content() string {
	var out strings.Builder
	out.WriteString(s.message.text("content"))
	for _, raw := range s.message.lists["content"] {
		var part struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(raw, &part) // a part of another kind has no text
		out.WriteString(part.Text)
	}
	return out.String()
}
