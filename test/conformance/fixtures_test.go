package conformance_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixtures adds to s everything that the suite's server scenarios call, for both revisions: tools,
// resources and prompts, and completion and subscriptions as middleware. The suite fixes the names
// of features and arguments, and words in schemas that have a comment. All other text is free.
func fixtures(s *mcp.Server) {
	contentTools(s)
	sessionTools(s)
	modernTools(s)
	inputTools(s)
	resources(s)
	prompts(s)
	s.AddReceivingMiddleware(optionalMethods)
}

const anyObject = `{"type":"object"}`

// contentTools adds tools that return each kind of content, and tools whose schemas must reach the
// client unchanged.
func contentTools(s *mcp.Server) {
	picture := &mcp.ImageContent{Data: dot(), MIMEType: "image/png"}
	addStatic(s, "test_simple_text", text("one line"))
	addStatic(s, "test_image_content", picture)
	addStatic(s, "test_audio_content", &mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"})
	addStatic(s, "test_embedded_resource", embedded("test://receipt", "bread 2.40"))
	addStatic(s, "test_multiple_content_types", text("a receipt and its scan"), picture,
		embedded("test://receipt", "bread 2.40"))
	add(s, "test_error_handling", anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := result(text("this tool always fails"))
		res.IsError = true
		return res, nil
	})
	add(s, "test_tool_with_progress", anyObject, func(ctx context.Context,
		req *mcp.CallToolRequest,
	) (*mcp.CallToolResult, error) {
		for done := range 3 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(done), Total: 2,
				Message: fmt.Sprintf("part %d", done),
			})
			if err != nil {
				return nil, err
			}
		}
		return result(text("all parts done")), nil
	})
	// The suite looks for each of these keywords, and for a definition called address.
	add(s, "json_schema_2020_12_tool", `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"$defs": {"address": {"$anchor": "place", "type": "object", "properties": {"town": {"type": "string"}}}},
		"properties": {"payee": {"type": "string"}, "at": {"$ref": "#/$defs/address"}, "cash": {"type": "boolean"}, "card": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["payee"]}, {"required": ["at"]}]}],
		"if": {"properties": {"cash": {"const": true}}, "required": ["cash"]}, "then": {"required": ["at"]}, "else": {"required": ["card"]}}`, echo)
	// The suite uses the first tool whose schema names a header, and sends that argument in the
	// header too.
	add(s, "mirrored_argument",
		`{"type": "object", "properties": {"branch": {"type": "string", "x-mcp-header": "Branch"}, "count": {"type": "integer"}}}`, echo)
}

// sessionTools adds tools that call the client, which is only possible in a session.
func sessionTools(s *mcp.Server) {
	add(s, "test_tool_with_logging", anyObject, func(ctx context.Context,
		req *mcp.CallToolRequest,
	) (*mcp.CallToolResult, error) {
		for _, m := range []string{"opened the book", "read a page", "closed the book"} {
			logInfo(ctx, req, m)
		}
		return result(text("three lines logged")), nil
	})
	add(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
		sampling)
	add(s, "test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return elicit(ctx, req, argument(req, "message"),
				`{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}}}`)
		})
	// The suite compares names, types and defaults.
	add(s, "test_elicitation_sep1034_defaults", anyObject,
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return elicit(ctx, req, "Is this right?", `{"type": "object", "properties": {
			"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30}, "score": {"type": "number", "default": 95.5},
			"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}, "verified": {"type": "boolean", "default": true}}}`)
		})
	// The suite compares names and forms, and responds with these values.
	add(s, "test_elicitation_sep1330_enums", anyObject,
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return elicit(ctx, req, "Which of them?", `{"type": "object", "properties": {
			"untitledSingle": {"type": "string", "enum": ["option1", "option2"]},
			"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "Rent"}, {"const": "value2", "title": "Food"}]},
			"legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Rent", "Food"]},
			"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
			"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "Rent"}, {"const": "value2", "title": "Food"}]}}}}`)
		})
}

func sampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	res, err := req.Session.CreateMessage(ctx, sample(argument(req, "prompt"))) //nolint:staticcheck // deprecated, and required by 2025-11-25
	if err != nil {
		return failed(err), nil
	}
	if t, ok := res.Content.(*mcp.TextContent); ok {
		return result(text("the model said: " + t.Text)), nil
	}
	return result(text("the model said nothing")), nil
}

func elicit(ctx context.Context, req *mcp.CallToolRequest, message, schema string) (*mcp.CallToolResult, error) {
	res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
	if err != nil {
		return failed(err), nil
	}
	content, err := json.Marshal(res.Content)
	if err != nil {
		return nil, err
	}
	return result(text(res.Action + " with " + string(content))), nil
}

// modernTools adds the tools that the scenario server-stateless calls.
func modernTools(s *mcp.Server) {
	addStatic(s, "test_streaming_elicitation", text("the only message on its stream"))
	add(s, "test_logging_tool", anyObject, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		logInfo(ctx, req, "to be dropped, because the request names no level")
		return result(text("tried to log")), nil
	})
	add(s, "test_missing_capability", anyObject, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil { //nolint:staticcheck // the scenario names this deprecated capability
			return result(text("the client can sample")), nil
		}
		return nil, &jsonrpc.Error{
			Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this tool needs a client that can sample",
			Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
		}
	})
	// Adding a feature again notifies the subscribers, whether or not anything has changed.
	add(s, "test_trigger_tool_change", anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		addStatic(s, "test_added_tool", text("added"))
		return result(text("tools have changed")), nil
	})
	add(s, "test_trigger_prompt_change", anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		addPrompt(s, "test_added_prompt", nil,
			func(map[string]string) []mcp.Content { return []mcp.Content{text("added")} })
		return result(text("prompts have changed")), nil
	})
}

func resources(s *mcp.Server) {
	addResource(s, "test://static-text", "text/plain", &mcp.ResourceContents{Text: "rent is due on the first"})
	addResource(s, "test://static-binary", "image/png", &mcp.ResourceContents{Blob: dot()})
	addResource(s, "test://watched-resource", "text/plain", &mcp.ResourceContents{Text: "balance 12.00"})
	const before, after = "test://template/", "/data"
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: before + "{id}" + after, Name: "template",
		MIMEType: "application/json",
	},
		read(func(uri string) *mcp.ResourceContents {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
			return &mcp.ResourceContents{Text: fmt.Sprintf(`{"account":%q}`, id)}
		}))
}

func prompts(s *mcp.Server) {
	addPrompt(s, "test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("Where did the money go?")}
	})
	addPrompt(s, "test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{text("Compare " + a["arg1"] + " with " + a["arg2"] + ".")}
	})
	addPrompt(s, "test_prompt_with_embedded_resource", []string{"resourceUri"},
		func(a map[string]string) []mcp.Content {
			return []mcp.Content{embedded(a["resourceUri"], "bread 2.40"), text("Which category is this?")}
		})
	addPrompt(s, "test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{
			&mcp.ImageContent{Data: dot(), MIMEType: "image/png"},
			text("Read the total off this scan."),
		}
	})
}

type empty struct{ mcp.ResultBase }

// optionalMethods declares and implements methods that a server otherwise has only with certain
// options. Methods that 2026-07-28 removed never arrive here: the SDK rejects them before any
// middleware.
func optionalMethods(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "completion/complete":
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		case "resources/subscribe", "resources/unsubscribe":
			return &empty{}, nil
		}
		res, err := next(ctx, method, req)
		switch r := res.(type) {
		case *mcp.InitializeResult:
			declare(r.Capabilities)
			r.Capabilities.Resources.Subscribe = true
		case *mcp.DiscoverResult:
			declare(r.Capabilities)
		}
		return res, err
	}
}

func declare(c *mcp.ServerCapabilities) {
	c.Completions = &mcp.CompletionCapabilities{}
	c.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // deprecated, and required by 2025-11-25
}

func add(s *mcp.Server, name, schema string, h mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{
		Name: name, Description: "Fixture of the conformance suite",
		InputSchema: json.RawMessage(schema),
	}, h)
}

func addStatic(s *mcp.Server, name string, content ...mcp.Content) {
	add(s, name, anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return result(content...), nil
	})
}

func addResource(s *mcp.Server, uri, mimeType string, contents *mcp.ResourceContents) {
	s.AddResource(&mcp.Resource{URI: uri, Name: uri, MIMEType: mimeType}, read(func(string) *mcp.ResourceContents {
		c := *contents // the SDK fills in missing fields
		return &c
	}))
}

func addPrompt(s *mcp.Server, name string, args []string, build func(map[string]string) []mcp.Content) {
	p := &mcp.Prompt{Name: name, Description: "Fixture of the conformance suite"}
	for _, a := range args {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		res := &mcp.GetPromptResult{}
		for _, c := range build(req.Params.Arguments) {
			res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return res, nil
	})
}

func read(contents func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(req.Params.URI)}}, nil
	}
}

func echo(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return result(text(string(req.Params.Arguments))), nil
}

func logInfo(ctx context.Context, req *mcp.CallToolRequest, message string) {
	_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: message}) //nolint:staticcheck // deprecated; that one is dropped is the point of a scenario
}

func argument(req *mcp.CallToolRequest, name string) string {
	var args map[string]any
	_ = json.Unmarshal(req.Params.Arguments, &args)
	v, _ := args[name].(string)
	return v
}

func text(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }

func embedded(uri, body string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: body}}
}

func result(content ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: content} }

func failed(err error) *mcp.CallToolResult {
	res := &mcp.CallToolResult{}
	res.SetError(err)
	return res
}

// dot returns a PNG with one gray pixel.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // writing to memory cannot fail
	}
	return b.Bytes()
}

// silence returns a WAV file with one sample: eight bits, mono, 8 kHz.
func silence() []byte {
	const rate = 8000
	format := []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8)}
	var b bytes.Buffer
	for _, part := range append(append([]any{[]byte("RIFF"), uint32(38), []byte("WAVEfmt ")}, format...),
		[]byte("data"), uint32(1), []byte{128, 0}) {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err) // writing to memory cannot fail
		}
	}
	return b.Bytes()
}
