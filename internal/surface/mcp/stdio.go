package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves the tools on standard input and output until the input ends. The key is looked up
// for every call, so a revocation takes effect at once. ParseSet reads tools.
func (t *Tools) Stdio(ctx context.Context, key func(context.Context) (op.Actor, error), tools string) error {
	actor, err := key(ctx)
	if err != nil {
		return err
	}
	set, err := t.ParseSet(tools)
	if err != nil {
		return err
	}
	who := func(ctx context.Context, _ mcp.Request) (op.Actor, error) { return key(ctx) }
	return t.server(actor.Scope, who, func(mcp.Request) Set { return set }).Run(ctx, patient{&mcp.StdioTransport{}})
}

// Bridge serves the tools, prompts and resources of a running server on standard input and output,
// with that server's own results and errors.
func Bridge(ctx context.Context, server, key, tools, version string, log *slog.Logger) error {
	server = strings.TrimSuffix(server, "/")
	if err := admitted(ctx, server, key); err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "coffer", Version: version}, nil)
	// The key must not go to another server.
	road := &hearing{road: keyed{key}}
	straight := &http.Client{Transport: road, CheckRedirect: func(*http.Request,
		[]*http.Request,
	) error {
		return http.ErrUseLastResponse
	}}
	remote, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   server + "/mcp/key?" + url.Values{toolsName: {tools}}.Encode(),
		HTTPClient: straight,
	}, nil)
	if err != nil {
		return road.serverError(fmt.Errorf("connect to %s: %w", server, err))
	}
	defer remote.Close() //nolint:errcheck // the session ends either way
	local := newServer(version, remote.InitializeResult().Instructions, false, log)
	local.AddReceivingMiddleware(onlyOffered, surviving(log))
	refused := func(ctx context.Context, err error) error {
		if refusal := admitted(ctx, server, key); err != nil && refusal != nil {
			return spoken(refusal)
		}
		return err
	}
	if err := bridgeTexts(ctx, local, remote, refused); err != nil {
		return road.serverError(fmt.Errorf("list the prompts and resources of %s: %w", server, err))
	}
	for tool, err := range remote.Tools(ctx, nil) {
		if err != nil {
			return road.serverError(fmt.Errorf("list the tools of %s: %w", server, err))
		}
		local.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := remote.CallTool(ctx, &mcp.CallToolParams{
				Name:      req.Params.Name,
				Arguments: req.Params.Arguments,
			})
			if err != nil {
				if refusal := admitted(ctx, server, key); refusal != nil {
					return failure(errs.Public(refusal, ""))
				}
				return nil, err
			}
			exact(res)
			return res, nil
		})
	}
	return local.Run(ctx, patient{&mcp.StdioTransport{}})
}

// bridgeTexts offers the prompts and resources of the remote server, if it has any. Its errors pass
// through refused.
func bridgeTexts(ctx context.Context, local *mcp.Server, remote *mcp.ClientSession,
	refused func(context.Context, error) error,
) error {
	can := remote.InitializeResult().Capabilities
	if can != nil && can.Prompts != nil {
		for p, err := range remote.Prompts(ctx, nil) {
			if err != nil {
				return err
			}
			local.AddPrompt(p, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				res, err := remote.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: req.Params.Arguments})
				return res, refused(ctx, err)
			})
		}
	}
	if can == nil || can.Resources == nil {
		return nil
	}
	read := func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		res, err := remote.ReadResource(ctx, &mcp.ReadResourceParams{URI: req.Params.URI})
		return res, refused(ctx, err)
	}
	for r, err := range remote.Resources(ctx, nil) {
		if err != nil {
			return err
		}
		local.AddResource(r, read)
	}
	for r, err := range remote.ResourceTemplates(ctx, nil) {
		if err != nil {
			return err
		}
		local.AddResourceTemplate(r, read)
	}
	return nil
}

// exact rebuilds the structured content from the text block, which has the same content. The SDK's
// client reads numbers in structured content as floating point, which is not exact.
func exact(res *mcp.CallToolResult) {
	read, ok := res.StructuredContent.(map[string]any)
	if !ok || len(res.Content) == 0 {
		return
	}
	block, ok := res.Content[0].(*mcp.TextContent)
	if !ok || !json.Valid([]byte(block.Text)) {
		return
	}
	if strings.HasPrefix(block.Text, "[") { // the other fields of the content are notes
		for key, value := range read {
			if _, list := value.([]any); list && key != "notes" {
				read[key] = json.RawMessage(block.Text)
			}
		}
		return
	}
	res.StructuredContent = json.RawMessage(block.Text)
}

// admitted asks the server whether it accepts the key, and returns its error if not.
func admitted(ctx context.Context, server, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/api/v1/keys/me", http.NoBody)
	if err != nil {
		return errs.New(errs.ValidationError, "the server's address must be a URL, such as "+
			"http://127.0.0.1:8080")
	}
	res, err := keyed{key}.RoundTrip(req)
	if err != nil {
		return errs.Wrap(err, errs.Unavailable,
			"the server at %s does not respond; is it running, and is --server correct?", server)
	}
	defer res.Body.Close() //nolint:errcheck // only read from
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var face errs.Face
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&face); err != nil || face.Error.Code == "" {
		return errs.New(errs.Unavailable,
			"the server at this address responds with status %d but is not coffer; is --server correct?",
			res.StatusCode)
	}
	return &errs.Error{Code: face.Error.Code, Message: face.Error.Message, Details: face.Error.Details}
}

// A hearing stores the server's error when the server refuses a request, because the SDK's client
// reports only the name of the HTTP status.
type hearing struct {
	road    http.RoundTripper
	refusal atomic.Pointer[errs.Error]
}

// mostSaid limits how many bytes of a refusal are read.
const mostSaid = 16 << 10

func (h *hearing) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := h.road.RoundTrip(r)
	if err != nil || res.StatusCode < http.StatusBadRequest {
		return res, err
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, mostSaid)) // as much as arrived
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), res.Body), res.Body}
	var face errs.Face
	plain := strings.TrimSpace(string(body))
	switch {
	case json.Unmarshal(body, &face) == nil && face.Error.Code != "":
		h.refusal.Store(&errs.Error{Code: face.Error.Code, Message: face.Error.Message, Details: face.Error.Details})
	case plain != "" && strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain"):
		code := errs.ValidationError
		if res.StatusCode >= http.StatusInternalServerError {
			code = errs.Unavailable
		}
		h.refusal.Store(errs.New(code, "%s", plain))
	}
	return res, nil
}

// serverError returns the server's own error if it refused a request, else err.
func (h *hearing) serverError(err error) error {
	if refusal := h.refusal.Load(); refusal != nil {
		return refusal
	}
	return err
}

type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", k.key)
	return http.DefaultTransport.RoundTrip(r)
}
