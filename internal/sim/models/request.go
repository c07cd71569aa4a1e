package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A Format is a wire format.
type Format string

// The formats.
const (
	Anthropic Format = "anthropic"
	OpenAI    Format = "openai_compatible"
)

// A Request is a conversation as the model sees it, the same for both formats.
type Request struct {
	Format       Format
	Model        string
	System       string
	Tools        []Tool
	Messages     []Message
	MaxTokens    int
	Stream       bool
	Number       int // of the request at this server, from 1
	PromptTokens int64
	Header       http.Header
	Body         json.RawMessage // as received
}

// A Tool is a tool that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// A Message is one turn: of the user, of the assistant, or the results of its calls.
type Message struct {
	Role    string // user, assistant or tool
	Text    string
	Calls   []Call   // of the assistant
	Results []Result // of tools
	raw     json.RawMessage
}

// A Call is a tool call. Its arguments are text, so that they can be broken.
type Call struct {
	ID        string // made by the server if empty
	Tool      string
	Arguments string
}

// A Result is the result of a call.
type Result struct {
	Call    string
	Content string
	IsError bool
}

// Results returns the results of the last turn's calls. It returns none if the last turn is the
// user's.
func (r Request) Results() []Result {
	if len(r.Messages) == 0 {
		return nil
	}
	return r.Messages[len(r.Messages)-1].Results
}

// Turn returns how many answers of the model there are in this conversation.
func (r Request) Turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// User returns all texts of the user.
func (r Request) User() string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == "user" {
			out = append(out, m.Text)
		}
	}
	return strings.Join(out, "\n")
}

// Tool returns the tool of that name.
func (r Request) Tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// wire has the members of a request in both formats.
type wire struct {
	Model     string            `json:"model"`
	Stream    bool              `json:"stream"`
	System    json.RawMessage   `json:"system"`
	Messages  []json.RawMessage `json:"messages"`
	MaxTokens *int              `json:"max_tokens"`
	NewLimit  *int              `json:"max_completion_tokens"`
	Tools     []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
		Function    struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

func parse(format Format, body []byte) (Request, error) {
	var w wire
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	r := Request{Format: format, Model: w.Model, Stream: w.Stream, Body: body}
	for _, n := range []*int{w.MaxTokens, w.NewLimit} {
		if n != nil {
			r.MaxTokens = *n
		}
	}
	for _, t := range w.Tools {
		if format == OpenAI {
			r.Tools = append(r.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
		} else {
			r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.Schema})
		}
	}
	r.System = contentText(w.System)
	for _, raw := range w.Messages {
		m, err := parseMessage(format, raw)
		if err != nil {
			return Request{}, err
		}
		switch {
		case m.Role == "system" || m.Role == "developer":
			r.System += m.Text
		case len(r.Messages) > 0 && m.Role == "tool" && r.Messages[len(r.Messages)-1].Role == "tool":
			last := &r.Messages[len(r.Messages)-1]
			last.Results = append(last.Results, m.Results...)
		default:
			r.Messages = append(r.Messages, m)
		}
	}
	return r, nil
}

// contentText returns the text of a content, which is a string or a list of blocks.
func contentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &blocks) // null, or something else without text
	for _, b := range blocks {
		s += b.Text
	}
	return s
}

func parseMessage(format Format, raw json.RawMessage) (Message, error) {
	var w struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Call    string          `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Message{}, fmt.Errorf("a message can't be read: %w", err)
	}
	m := Message{Role: w.Role, Text: contentText(w.Content), raw: raw}
	if format == OpenAI {
		for _, c := range w.Calls {
			m.Calls = append(m.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		if w.Role == "tool" {
			m.Results, m.Text = []Result{{w.Call, m.Text, strings.HasPrefix(m.Text, "error: ")}}, ""
		}
		return m, nil
	}
	m.raw = w.Content
	var blocks []struct {
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Call    string          `json:"tool_use_id"`
		IsError bool            `json:"is_error"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(w.Content, &blocks) // a string has no blocks
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			m.Calls = append(m.Calls, Call{b.ID, b.Name, string(b.Input)})
		case "tool_result":
			m.Role = "tool"
			m.Results = append(m.Results, Result{b.Call, contentText(b.Content), b.IsError})
		}
	}
	return m, nil
}
