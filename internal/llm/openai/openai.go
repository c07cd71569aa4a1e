// Package openai is the client for servers with OpenAI's chat completions format, such as Ollama,
// llama.cpp, vLLM, LM Studio, OpenRouter, Gemini and OpenAI. It must not know how the replies are
// used, nor any other format. It distinguishes these servers by their responses, not by their
// names.
package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"coffer/internal/llm"
)

// Name is the name of the format in settings.
const Name = "openai_compatible"

// Base is the default address.
const Base = "https://api.openai.com/v1"

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
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	// Every server has the format below a path, and people leave the path out.
	if u, err := url.Parse(c.BaseURL); err == nil && u.Path == "" {
		c.BaseURL += "/v1"
	}
	host, err := llm.Dial(Name, c)
	if err != nil {
		return nil, err
	}
	key := c.Key
	return &client{host: host, adapt: &llm.Adapter{Table: adaptions}, auth: func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}}, nil
}

const (
	newLimit    = "max_completion_tokens"
	noReasoning = "reasoning_effort"
	noUsage     = "stream_options"
)

// adaptions are made when a rejection requires them. max_completion_tokens is sent only then,
// because Ollama does not know it and would not limit the answer at all.
var adaptions = []llm.Adaption{
	{
		Name: newLimit, Parts: []string{"max_completion_tokens"},
		Note: "the server requires max_completion_tokens instead of max_tokens",
	},
	{
		Name: noReasoning, Parts: []string{"reasoning_effort", "tools"},
		Note: "the server doesn't allow reasoning with tools for this model, so reasoning is off",
	},
	{
		Name: noUsage, Parts: []string{"stream_options"},
		Note: "the server doesn't support stream_options, so token counts may be missing",
	},
}

type (
	request struct {
		Model     string            `json:"model"`
		Stream    bool              `json:"stream"`
		Options   *streamOptions    `json:"stream_options,omitempty"`
		MaxTokens int               `json:"max_tokens,omitempty"`
		NewLimit  int               `json:"max_completion_tokens,omitempty"`
		Reasoning string            `json:"reasoning_effort,omitempty"`
		Messages  []json.RawMessage `json:"messages"`
		Tools     []tool            `json:"tools,omitempty"`
	}
	streamOptions struct {
		Usage bool `json:"include_usage"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	message struct {
		Role    string `json:"role"`
		Call    string `json:"tool_call_id,omitempty"`
		Content string `json:"content"`
	}
)

// Ask implements llm.Client.
func (c *client) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return c.adapt.Ask(r.Model, func(made []string) (llm.Reply, error) {
		body, err := c.body(r, made)
		if err != nil {
			return llm.Reply{}, c.host.Fail(llm.Ours, llm.CodeRequest, "")
		}
		header := http.Header{}
		c.auth(header)
		return c.host.Ask(ctx, llm.Post{Path: "/chat/completions", Header: header, Body: body, Once: r.Once},
			func(a *llm.Answer) (llm.Reply, error) { return c.read(a, r) })
	})
}

func (c *client) body(r llm.Request, made []string) ([]byte, error) {
	out := request{Model: r.Model, Stream: true, MaxTokens: r.MaxTokens, Options: &streamOptions{true}}
	if slices.Contains(made, newLimit) {
		out.MaxTokens, out.NewLimit = 0, r.MaxTokens
	}
	if slices.Contains(made, noReasoning) {
		out.Reasoning = "none"
	}
	if slices.Contains(made, noUsage) {
		out.Options = nil
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	var err error
	say := func(m message) {
		var b []byte
		if b, err = json.Marshal(m); err == nil {
			out.Messages = append(out.Messages, b)
		}
	}
	if r.System != "" {
		say(message{Role: "system", Content: r.System})
	}
	for _, t := range r.Turns {
		switch {
		case t.Model != nil:
			out.Messages = append(out.Messages, t.Model)
		case t.Results != nil:
			for _, x := range t.Results {
				if x.IsError { // the format has no field for errors
					x.Content = "error: " + x.Content
				}
				say(message{Role: "tool", Call: x.Call, Content: x.Content})
			}
		default:
			say(message{Role: "user", Content: t.User})
		}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
