package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A refusal is an error response of the server.
type refusal struct {
	status  int
	kind    string
	code    string
	message string
}

func invalid(format string, args ...any) *refusal {
	return &refusal{status: 400, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

// fail prints a refusal in its format.
func fail(w http.ResponseWriter, format Format, no refusal) {
	w.Header().Set("Request-Id", "req_sim")
	if format == Anthropic {
		e := map[string]any{"type": no.kind, "message": no.message}
		if no.code != "" {
			e["details"] = map[string]any{"error_code": no.code}
		}
		reply(w, no.status, map[string]any{"type": "error", "error": e, "request_id": "req_sim"})
		return
	}
	e := map[string]any{"message": no.message, "type": no.kind, "param": nil, "code": nil}
	if no.code != "" {
		e["code"] = no.code
	}
	reply(w, no.status, map[string]any{"error": e})
}

// A habit describes requests that models with a certain name reject.
type habit struct {
	format  Format
	model   string // a part of the name
	refuses func(body map[string]json.RawMessage) string
}

func has(body map[string]json.RawMessage, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return body[n] != nil })
}

func sampled(body map[string]json.RawMessage) string {
	if has(body, "temperature", "top_p", "top_k") {
		return "temperature, top_p and top_k are not supported by this model"
	}
	return ""
}

// habits are those of real models, by parts of their names, and of models that only tests use.
var habits = []habit{
	{Anthropic, "-5", sampled},
	{Anthropic, "opus-4-7", sampled},
	{Anthropic, "-5", func(b map[string]json.RawMessage) string {
		if strings.Contains(string(b["thinking"]), "budget_tokens") {
			return "thinking.budget_tokens is not supported by this model"
		}
		return ""
	}},
	{Anthropic, "-5-5", func(b map[string]json.RawMessage) string {
		if c := string(b["tool_choice"]); strings.Contains(c, `"any"`) || strings.Contains(c, `"tool"`) {
			return "tool_choice: this model does not support a forced tool"
		}
		return ""
	}},
	{Anthropic, "no-cache", func(b map[string]json.RawMessage) string {
		if strings.Contains(string(b["system"]), "cache_control") {
			return "system.0.cache_control: extra inputs are not permitted"
		}
		return ""
	}},
	{OpenAI, "gpt-5", sampled},
	{OpenAI, "gpt-5", func(b map[string]json.RawMessage) string {
		if has(b, "max_tokens") {
			return "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
				"'max_completion_tokens' instead."
		}
		return ""
	}},
	{OpenAI, "gpt-5.4", func(b map[string]json.RawMessage) string {
		if has(b, "tools") && string(b["reasoning_effort"]) != `"none"` {
			return "Function tools with reasoning_effort are not supported in chat completions. " +
				"Use /v1/responses or set reasoning_effort to 'none'."
		}
		return ""
	}},
	{OpenAI, "plain", func(b map[string]json.RawMessage) string {
		if has(b, "stream_options") {
			return "unknown field: stream_options"
		}
		return ""
	}},
	{"", "no-tools", func(b map[string]json.RawMessage) string {
		if has(b, "tools") {
			return "registry.ollama.ai/library/no-tools does not support tools"
		}
		return ""
	}},
}

// check rejects the same requests as a real server.
func (s *Server) check(r Request, body []byte) *refusal {
	if len(s.options.Models) > 0 && !slices.Contains(s.options.Models, r.Model) {
		return &refusal{404, "not_found_error", "model_not_found", "model: " + r.Model}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return invalid("%v", err)
	}
	for _, h := range habits {
		if (h.format == "" || h.format == r.Format) && strings.Contains(r.Model, h.model) {
			if why := h.refuses(members); why != "" {
				return invalid("%s", why)
			}
		}
	}
	if r.Format == Anthropic && r.MaxTokens < 1 {
		return invalid("max_tokens: field required")
	}
	if has(members, "max_tokens") && has(members, "max_completion_tokens") {
		return invalid("max_tokens and max_completion_tokens cannot both be set")
	}
	if len(r.Messages) == 0 || r.Messages[0].Role != "user" {
		return invalid("messages: the first message must be the user's")
	}
	return s.checkTurns(r)
}

func (s *Server) checkTurns(r Request) *refusal {
	var open []string
	for i, m := range r.Messages {
		if len(open) > 0 && m.Role != "tool" {
			return invalid("messages.%d: tool_use ids without tool_result: %s", i, strings.Join(open, ", "))
		}
		switch m.Role {
		case "assistant":
			if no := s.echoed(i, m); no != nil {
				return no
			}
			for _, c := range m.Calls {
				open = append(open, c.ID)
			}
		case "tool":
			for _, x := range m.Results {
				at := slices.Index(open, x.Call)
				if at < 0 {
					return invalid("messages.%d: tool_result for an unknown call: %s", i, x.Call)
				}
				open = slices.Delete(open, at, at+1)
			}
			if len(open) > 0 {
				return invalid("messages.%d: tool_use ids without tool_result: %s", i, strings.Join(open, ", "))
			}
		}
	}
	if len(open) > 0 {
		return invalid("tool_use ids without tool_result: %s", strings.Join(open, ", "))
	}
	return nil
}

// echoed checks that the model's message is sent back unchanged.
func (s *Server) echoed(i int, m Message) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range m.Calls {
		earlier, ok := s.messages[c.ID]
		if ok && earlier != canonical(m.raw) {
			return invalid("messages.%d: blocks of the assistant (signature, thought_signature) must be sent back "+
				"unchanged", i)
		}
	}
	return nil
}
