package models

import (
	"encoding/json"
	"net/http"
	"strings"
)

type object = map[string]any

// deliver sends an answer in the request's format.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, in Request, a Answer, f *Fault) {
	size := s.options.Piece
	if size == 0 {
		size = 16
	}
	var message any
	var whole object
	if in.Format == Anthropic {
		message = blocks(a)
		whole = object{
			"id": "msg_sim", "type": "message", "role": "assistant", "model": in.Model, "content": message,
			"stop_reason": a.stop("end_turn", "tool_use", "max_tokens"), "stop_sequence": nil,
			"usage": anthropicUsage(a.usage(in)),
		}
	} else {
		message = chatMessage(a)
		whole = object{
			"id": "chatcmpl_sim", "object": "chat.completion", "created": 1, "model": in.Model,
			"choices": []any{object{
				"index": 0, "message": message, "logprobs": nil,
				"finish_reason": a.stop("stop", "tool_calls", "length"),
			}},
			"usage": openaiUsage(a.usage(in)),
		}
	}
	s.remember(a, message)
	if !in.Stream || s.options.Whole {
		if f != nil && f.Event != "" {
			whole = object{"type": "error", "error": object{"type": f.Event, "message": "by script"}}
		}
		p := newPipe(w, r, "application/json", f)
		if p.write(text(whole)) {
			p.close()
		}
		return
	}
	p := newPipe(w, r, "text/event-stream; charset=utf-8", f)
	st := &streamer{pipe: p, request: in, answer: a, size: size}
	if in.Format == Anthropic {
		st.anthropic()
	} else {
		st.openai()
	}
	if !p.done {
		p.close()
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every value in it can be printed
	}
	return string(b)
}

// input returns a call's arguments as a value; broken arguments have none.
func input(arguments string) any {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	return object{}
}

const signature = "c2ltdWxhdGVkLXNpZ25hdHVyZQ=="

// blocks returns a message in Anthropic's format.
func blocks(a Answer) []any {
	out := []any{}
	if a.Thinking {
		out = append(out, object{"type": "thinking", "thinking": "", "signature": signature})
	}
	if message := a.Text + strings.Repeat("x", min(a.Filler, 1<<20)); message != "" {
		out = append(out, object{"type": "text", "text": message})
	}
	for _, c := range a.Calls {
		out = append(out, object{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": input(c.Arguments)})
	}
	return out
}

// chatMessage returns a message in OpenAI's format.
func chatMessage(a Answer) object {
	out := object{"role": "assistant", "content": nil}
	if message := a.Text + strings.Repeat("x", min(a.Filler, 1<<20)); message != "" {
		out["content"] = message
	} else if len(a.Calls) == 0 {
		out["content"] = ""
	}
	var calls []any
	for _, c := range a.Calls {
		call := object{
			"id": c.ID, "type": "function", "function": object{"name": c.Tool, "arguments": c.Arguments},
		}
		if a.Thinking {
			call["extra_content"] = extra()
		}
		calls = append(calls, call)
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	return out
}

func extra() object { return object{"google": object{"thought_signature": signature}} }

func anthropicUsage(u Usage) any {
	if u.Missing {
		return object{}
	}
	return object{
		"input_tokens": u.Input, "cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
		"output_tokens": u.Output,
	}
}

func openaiUsage(u Usage) any {
	if u.Missing {
		return nil
	}
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
	}
}

// A streamer sends an answer as events.
type streamer struct {
	*pipe
	request Request
	answer  Answer
	size    int
	index   int
}

// failed sends the error that a script puts into a stream, and reports whether there is one.
func (s *streamer) failed(name string) bool {
	if s.fault.Event == "" {
		return false
	}
	s.event(name, text(object{
		"type": "error", "error": object{"type": s.fault.Event, "message": "by script"},
		"choices": []any{},
	}))
	return true
}

func (s *streamer) typed(kind string, members object) bool {
	members["type"] = kind
	return s.event(kind, text(members))
}

func (s *streamer) block(start object, deltas func(send func(object) bool)) {
	s.typed("content_block_start", object{"index": s.index, "content_block": start})
	deltas(func(delta object) bool {
		return s.typed("content_block_delta", object{"index": s.index, "delta": delta})
	})
	s.typed("content_block_stop", object{"index": s.index})
	s.index++
}

func (s *streamer) anthropic() {
	a, u := s.answer, s.answer.usage(s.request)
	first := u
	first.Output = min(u.Output, 1)
	s.typed("message_start", object{"message": object{
		"id": "msg_sim", "type": "message", "role": "assistant", "model": s.request.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(first),
	}})
	s.typed("ping", object{})
	if s.failed("error") {
		return
	}
	if a.Thinking {
		s.block(object{"type": "thinking", "thinking": "", "signature": ""}, func(send func(object) bool) {
			send(object{"type": "signature_delta", "signature": signature})
		})
	}
	if a.Text != "" || a.Filler > 0 {
		s.block(object{"type": "text", "text": ""}, func(send func(object) bool) {
			say := func(part string) bool { return send(object{"type": "text_delta", "text": part}) }
			for _, part := range pieces(a.Text, s.size) {
				say(part)
			}
			filler(a.Filler, say)
		})
	}
	for _, c := range a.Calls {
		start := object{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": object{}}
		s.block(start, func(send func(object) bool) {
			for _, part := range pieces(c.Arguments, s.size) {
				send(object{"type": "input_json_delta", "partial_json": part})
			}
		})
	}
	end := object{"output_tokens": u.Output} // cumulative; omitted values stay
	if u.Missing {
		end = object{}
	}
	s.typed("message_delta", object{
		"delta": object{"stop_reason": a.stop("end_turn", "tool_use", "max_tokens"), "stop_sequence": nil},
		"usage": end,
	})
	s.typed("message_stop", object{})
}

func (s *streamer) chunk(delta object, finish any) bool {
	return s.event("", text(object{
		"id": "chatcmpl_sim", "object": "chat.completion.chunk", "created": 1, "model": s.request.Model,
		"obfuscation": "xyz", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	}))
}

func (s *streamer) openai() {
	a, u := s.answer, s.answer.usage(s.request)
	s.write(": MODELSIM PROCESSING\n\n")
	s.chunk(object{"role": "assistant", "content": nil}, nil)
	if s.failed("") {
		return
	}
	for _, part := range pieces(a.Text, s.size) {
		s.chunk(object{"content": part}, nil)
	}
	filler(a.Filler, func(part string) bool { return s.chunk(object{"content": part}, nil) })
	for i, c := range a.Calls {
		start := object{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Tool, "arguments": ""},
		}
		if a.Thinking {
			start["extra_content"] = extra()
		}
		s.chunk(object{"tool_calls": []any{start}}, nil)
		for _, part := range pieces(c.Arguments, s.size) {
			s.chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": part}}}}, nil)
		}
	}
	s.chunk(object{}, a.stop("stop", "tool_calls", "length"))
	if strings.Contains(string(s.request.Body), `"include_usage"`) && !u.Missing {
		s.event("", text(object{
			"id": "chatcmpl_sim", "object": "chat.completion.chunk", "created": 1, "model": s.request.Model,
			"choices": []any{}, "usage": openaiUsage(u),
		}))
	}
	s.event("", "[DONE]")
}
