// Package anthropic is the client for servers with Anthropic's Messages format. It must not know
// what the replies are used for, nor any other format.
package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"coffer/internal/llm"
)

// Name is the name of the format in settings.
const Name = "anthropic"

// Base is the default address.
const Base = "https://api.anthropic.com"

type client struct {
	host  *llm.Host
	auth  func(http.Header) // a function, because fmt would print a key in a field
	adapt *llm.Adapter
}

// New returns a client of the configured server.
func New(c llm.Config) (llm.Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = Base
	}
	// People copy the address with the version, which the path below also contains.
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	host, err := llm.Dial(Name, c)
	if err != nil {
		return nil, err
	}
	key := c.Key
	return &client{host: host, adapt: &llm.Adapter{Table: adaptions}, auth: func(h http.Header) {
		if key != "" {
			h.Set("X-Api-Key", key)
		}
	}}, nil
}

const noCache = "no_cache"

var adaptions = []llm.Adaption{{
	Name: noCache, Parts: []string{"cache_control"},
	Note: "the server doesn't support cache_control, so prompts are not cached",
}}

type (
	request struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream"`
		System    []block   `json:"system,omitempty"`
		Tools     []tool    `json:"tools,omitempty"`
		Messages  []message `json:"messages"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	block struct {
		Type  string            `json:"type"`
		Text  string            `json:"text"`
		Cache map[string]string `json:"cache_control,omitempty"`
	}
	result struct {
		Type    string  `json:"type"`
		Call    string  `json:"tool_use_id"`
		IsError bool    `json:"is_error"`
		Content []block `json:"content"`
	}
	message struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
)

// Ask implements llm.Client.
func (c *client) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return c.adapt.Ask(r.Model, func(made []string) (llm.Reply, error) {
		body, err := json.Marshal(c.request(r, slices.Contains(made, noCache)))
		if err != nil {
			return llm.Reply{}, c.host.Fail(llm.Ours, llm.CodeRequest, "")
		}
		header := http.Header{"Anthropic-Version": {"2023-06-01"}}
		c.auth(header)
		return c.host.Ask(ctx, llm.Post{Path: "/v1/messages", Header: header, Body: body, Once: r.Once},
			func(a *llm.Answer) (llm.Reply, error) { return c.read(a, r) })
	})
}

func (c *client) request(r llm.Request, noCache bool) request {
	out := request{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true, Messages: []message{}}
	if r.System != "" {
		b := block{Type: "text", Text: r.System}
		if !noCache {
			b.Cache = map[string]string{"type": "ephemeral"} // tools and system prompt are the same in every request
		}
		out.System = []block{b}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	for _, t := range r.Turns {
		switch {
		case t.Model != nil:
			out.Messages = append(out.Messages, message{"assistant", t.Model})
		case t.Results != nil:
			var results []result
			for _, x := range t.Results {
				results = append(results, result{"tool_result", x.Call, x.IsError, texts(x.Content)})
			}
			out.Messages = append(out.Messages, message{"user", results})
		default:
			out.Messages = append(out.Messages, message{"user", texts(t.User)})
		}
	}
	return out
}

// texts returns a text as content. Content must not contain an empty block.
func texts(s string) []block {
	if s == "" {
		return []block{}
	}
	return []block{{Type: "text", Text: s}}
}
